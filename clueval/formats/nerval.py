"""Nerval's files: one token per line, a blank, a BIO, BIOES or BILOU tag; the whole file is one text.

The rules of the format stand in ``formats.md``.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from clueval.core.document import Document, Sentence
from clueval.core.span import DEFAULT_LAYER, Frozen, Span
from clueval.core.tags import OUTSIDE, split_tag
from clueval.files.errors import FileError, FormatError, TagError
from clueval.files.opening import is_file, is_folder, lines
from clueval.formats.file_format import FileFormat
from clueval.formats.input_file import InputFile
from clueval.formats.options import FormatOptions

_OPENING = frozenset("BSU")
_BLANKS = re.compile(r"[ \t]+")


@dataclass(slots=True)
class _NervalSpan:
    """A span that may still become longer, in characters of the text."""

    label: str
    start: int
    end: int
    line: int


def read_nerval(file: InputFile, options: FormatOptions) -> Document:
    """Return the document of a file, which is held as a whole. Positions are characters.

    Its spans may be nested, and are in the order of their starts. An ill-formed tag is ignored and counted; if
    ``invalid`` is ``"error"``, it is an error.

    Raises `FormatError` with file and line for a line that is not a token and a tag, and for a file without
    tokens; `TagError` for an invalid tag.
    """
    numbers, words, tags = _columns(file.held_lines(), file.name)
    starts = list(accumulate((len(word) + 1 for word in words), initial=0))  # a blank follows each word
    spans: list[_NervalSpan] = []
    open_spans: dict[str, _NervalSpan] = {}
    ill_formed: list[tuple[int, str]] = []  # their lines and tags
    for number, tag in enumerate(tags):
        if tag == OUTSIDE:
            open_spans.clear()
            continue
        start, end, line = starts[number], starts[number + 1] - 1, numbers[number]
        try:
            prefix, label = split_tag(tag)
        except TagError as error:
            raise TagError(error.problem, file=file.name, line=line, advice=error.advice) from None
        if prefix in _OPENING:
            open_spans[label] = _NervalSpan(label, start, end, line)
            spans.append(open_spans[label])
        elif label in open_spans:
            open_spans[label].end = end
        else:
            ill_formed.append((line, tag))
    if options.invalid == "error" and ill_formed:
        line, tag = ill_formed[0]
        raise TagError(
            f"tag {tag!r} continues no span", file=file.name, line=line, advice="begin a span with B-"
        )
    file.repaired[DEFAULT_LAYER] += len(ill_formed)
    labels = {span.label: Frozen({DEFAULT_LAYER: span.label}) for span in spans}
    return Document(
        "1",
        {DEFAULT_LAYER: [Span(each.start, each.end, labels[each.label], line=each.line) for each in spans]},
        text=" ".join(words),
        unit="character",
        sentences=[Sentence(starts[first], starts[last] - 1) for first, last in pairwise(_breaks(numbers))],
        file=file.name,
    )


def _breaks(numbers: Sequence[int]) -> list[int]:
    """Return where sentences begin among the lines that are not blank, and the number of these lines.

    `numbers` are the numbers of these lines; a missing number is a blank line.
    """
    if numbers[-1] - numbers[0] == len(numbers) - 1:
        return [0, len(numbers)]
    gaps = (i for i, (line, following) in enumerate(pairwise(numbers), 1) if following > line + 1)
    return [0, *gaps, len(numbers)]


def _columns(
    lines: Iterable[tuple[int, str]], file: str
) -> tuple[Sequence[int], Sequence[str], Sequence[str]]:
    """Return the numbers of the lines that are not blank, their tokens and their tags."""
    numbered = [(line, text) for line, text in lines if text]
    table = "\n".join([text for _, text in numbered])
    if numbered and "\t" not in table:
        # Each line end becomes a field: if exactly every third field is a line end, every line has two
        # fields.
        flat = table.replace("\n", " \n ").split(" ")
        if (
            len(flat) == 3 * len(numbered) - 1
            and flat[2::3].count("\n") == len(numbered) - 1
            and "" not in flat
        ):
            return [line for line, _ in numbered], flat[::3], flat[1::3]
    rows = [(line, *fields) for line, text in numbered if (fields := _fields(text, file, line))]
    if not rows:
        raise _malformed("the file has no tokens", file, 1)
    numbers, words, tags = zip(*rows, strict=True)
    return numbers, words, tags


def _fields(text: str, file: str, line: int) -> tuple[str, str] | None:
    """Return the token and the tag of a line, or None if it is blank. Several blanks or tabs count as one."""
    fields = _BLANKS.split(text.strip(" \t"))
    if fields == [""]:
        return None
    if len(fields) != 2:
        raise _malformed(
            f"the line has {len(fields)} field{'s' * (len(fields) != 1)} instead of 2", file, line
        )
    return fields[0], fields[1]


def _malformed(problem: str, file: str, line: int) -> FormatError:
    return FormatError(problem, file=file, line=line, advice="expected: a token, a blank, a tag")


NERVAL = FileFormat(
    name="nerval",
    holds="Nerval's files: a token, a blank, a tag; the file is one text",
    read=lambda file, options: iter([read_nerval(file, options)]),
    single=True,
    options=frozenset({"invalid"}),
    scheme="nerval",
    invalid=("discard", "error"),
)

# Pairs of files

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
    below = cache(lambda: _files_below(folder))  # only where a name needs it
    pairs = [
        (_file_named(gold, folder, below, path, line), _file_named(predicted, folder, below, path, line))
        for line, (gold, predicted) in _rows(path)
    ]
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


def _file_named(
    name: str, folder: Path, below: Callable[[], dict[str, list[Path]]], table: Path, line: int
) -> Path:
    """Return the file with a name in the line of a table, in its folder or below."""
    if is_file(folder / name):
        return folder / name
    files = below().get(name, [])
    if len(files) == 1:
        return files[0]
    raise FileError(
        f"several files below {folder} are called {name!r}"
        if files
        else f"the file {name!r} is not in {folder}",
        file=str(table),
        line=line,
        advice="name it with its path in the folder" if files else "correct the table, or name its folder",
    )


def _files_below(folder: Path) -> dict[str, list[Path]]:
    """Return the files in a folder and below it, by name."""
    files: dict[str, list[Path]] = {}
    for path in sorted(folder.rglob("*")):
        if is_file(path):
            files.setdefault(path.name, []).append(path)
    return files
