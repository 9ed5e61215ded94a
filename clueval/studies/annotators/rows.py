"""Disagreements as a table of tab-separated values, which people fill in and programs read.

The columns are document, start, end_inclusive, kind, boundary, one for each annotator (``4-5 LOC``, several spans
separated by ``;``, empty: nothing, ``-``: not annotated), votes and context; with several sequences, the sequence
comes after the document.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from clueval.reports.tsv import guarded
from clueval.studies.annotators.disagreement import Disagreement, written
from clueval.writing import whole_file

LONGEST = 32_767
"""The greatest number of characters in a cell, as in spreadsheets."""


def header(names: Sequence[str], sequences: int = 1) -> list[str]:
    """Return the names of the columns."""
    place = [
        "document",
        *(["sequence"] if sequences > 1 else []),
        "start",
        "end_inclusive",
        "kind",
        "boundary",
    ]
    return [*place, *names, "votes", "context"]


def cells(row: Disagreement, names: Sequence[str], sequences: int = 1) -> list[str | int]:
    """Return the cells of a disagreement."""
    return [
        row.document,
        *([row.sequence] if sequences > 1 else []),
        row.start,
        row.end - 1,
        row.kind,
        row.boundary or "",
        *(written(row.readings[name]) for name in names),
        row.votes,
        row.context,
    ]


def lines(rows: Iterable[Disagreement], names: Sequence[str], sequences: int = 1) -> Iterator[str]:
    """Yield the header and a line for each disagreement."""
    yield "\t".join(map(guarded, header(names, sequences)))
    for row in rows:
        yield "\t".join(_safe(value) for value in cells(row, names, sequences))


def _safe(value: str | int) -> str:
    """Return a cell that no spreadsheet runs; the dash of a document that is not annotated stays."""
    if isinstance(value, int) or value == "-":
        return str(value)
    return guarded(value[:LONGEST])


def write_tsv(path: Path, rows: Iterable[Disagreement], names: Sequence[str], sequences: int = 1) -> None:
    """Write the table, whole or not at all. Raises `FileError`."""
    with whole_file(path) as file:
        file.writelines(f"{line}\n" for line in lines(rows, names, sequences))
