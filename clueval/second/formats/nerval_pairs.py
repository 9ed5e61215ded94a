"""The table of pairs of files that Nerval reads."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from clueval.files.errors import FileError, FormatError
from clueval.textfiles import is_file, is_folder, lines

HEADER = ("Annotation", "Prediction")
"""The header of a table of pairs: the gold file, then the predicted one."""


def read_mapping(path: Path, folder: Path) -> list[tuple[Path, Path]]:
    """Return the pairs of files in a table, gold and predicted, as paths below `folder`, in order.

    The table is a CSV file with the header ``Annotation,Prediction``. A name is a path relative to the folder
    or, as in Nerval, the name of a file in the folder or any of its subfolders.

    Raises `FormatError` with the line for another header, a row without exactly two names and a table without
    pairs; `FileError` with the line for a file that does not exist or a name that several files have.
    """
    if not is_folder(folder):
        raise FileError("there is no such folder", file=str(folder))
    find = _Finder(path, folder)
    pairs = [(find(gold, line), find(predicted, line)) for line, (gold, predicted) in _rows(path)]
    if not pairs:
        raise FormatError("the table names no pair of files", file=str(path), line=1)
    return pairs


def _rows(path: Path) -> Iterator[tuple[int, tuple[str, str]]]:
    """Yield the rows after the header, with their line numbers."""
    reader = csv.reader(text for _, text in lines(path))
    rows = _parsed(reader, path)
    header = tuple(next(rows, ()))
    if header != HEADER:
        raise FormatError(
            f"the header is {','.join(header)!r}",
            file=str(path),
            line=1,
            advice=f"expected {','.join(HEADER)}",
        )
    for row in rows:
        if not any(row):
            continue
        if len(row) != 2 or not all(row):
            raise FormatError(
                f"the row has {sum(map(bool, row))} name{'s' * (sum(map(bool, row)) != 1)} instead of 2",
                file=str(path),
                line=reader.line_num,
                advice=f"expected {','.join(HEADER)}",
            )
        yield reader.line_num, (row[0], row[1])


def _parsed(reader: Any, path: Path) -> Iterator[list[str]]:
    """Yield the rows of a CSV reader. Raises `FormatError` with the line for text that is not CSV."""
    try:
        yield from reader
    except csv.Error as error:
        problem, advice = f"not CSV: {error}", f"expected {','.join(HEADER)}"
        raise FormatError(problem, file=str(path), line=reader.line_num, advice=advice) from None


class _Finder:
    """Finds the files of a table in its folder; lists the subfolders only if necessary."""

    def __init__(self, table: Path, folder: Path) -> None:
        self._table, self._folder = table, folder
        self._by_name: defaultdict[str, list[Path]] | None = None

    def __call__(self, name: str, line: int) -> Path:
        direct = self._folder / name
        if is_file(direct):
            return direct
        found = self._below(name)
        if len(found) == 1:
            return found[0]
        raise FileError(
            f"several files below {self._folder} are called {name!r}"
            if found
            else f"the file {name!r} is not in {self._folder}",
            file=str(self._table),
            line=line,
            advice="name it with its path in the folder"
            if found
            else "correct the table, or name its folder",
        )

    def _below(self, name: str) -> list[Path]:
        if self._by_name is None:
            self._by_name = defaultdict(list)
            for path in sorted(self._folder.rglob("*")):
                if is_file(path):
                    self._by_name[path.name].append(path)
        return self._by_name.get(name, [])
