"""Files of places and spans: a table of disagreements, the same as a spreadsheet, and the spans for pygamma.

The columns of the table, which people fill in and programs read, are document, start, end_inclusive, kind, boundary,
one for each annotator (``4-5 LOC``, several spans separated by ``;``, empty: nothing, ``-``: not annotated), votes and
context; with several sequences, the sequence comes after the document. The spreadsheet has an empty column for a
comment, too.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

from clueval.exceptions import FileError, UsageError
from clueval.reports.tsv import guarded
from clueval.reports.workbook import ROWS, require_package, whole_workbook
from clueval.studies.annotators.places import Disagreement, marks_of, written
from clueval.studies.annotators.study import Study, sequences_of
from clueval.visible import visible_lines
from clueval.writing import make_folder, whole_file

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


def _safe(value: str | int) -> str:
    """Return a cell that no spreadsheet runs; the dash of a document that is not annotated stays."""
    if isinstance(value, int) or value == "-":
        return str(value)
    return guarded(value[:LONGEST])


def write_tsv(path: Path, rows: Iterable[Disagreement], names: Sequence[str], sequences: int = 1) -> None:
    """Write the table, whole or not at all. Raises `FileError`."""
    with whole_file(path) as file:
        file.write("\t".join(map(guarded, header(names, sequences))) + "\n")
        for row in rows:
            file.write("\t".join(_safe(value) for value in cells(row, names, sequences)) + "\n")


def write_xlsx(path: Path, rows: Iterable[Disagreement], names: Sequence[str], sequences: int = 1) -> None:
    """Write the workbook, whole or not at all; text stays text and never becomes a formula.

    Raises `MissingExtra` without XlsxWriter, `FileError` if the file cannot be written, `UsageError` for more rows
    than a sheet holds.
    """
    require_package()
    with whole_workbook(path) as book:
        sheet = book.add_worksheet("disagreements")
        bold = book.add_format({"bold": True})
        for column, name in enumerate((*header(names, sequences), "comment")):
            sheet.write_string(0, column, visible_lines(name), bold)
        number = 0
        for number, row in enumerate(rows, 1):
            if number >= ROWS:
                raise UsageError(
                    f"a sheet holds {ROWS - 1:,} rows, but there are more disagreements", advice="use tsv=..."
                )
            for column, value in enumerate(cells(row, names, sequences)):
                if isinstance(value, int):
                    sheet.write_number(number, column, value)
                else:
                    sheet.write_string(number, column, visible_lines(value[:LONGEST]))
        sheet.freeze_panes(1, 0)
        sheet.autofilter(0, 0, number, len(header(names, sequences)))


def write_folder(folder: Path, study: Study) -> int:
    """Write a file for each shared document and return their number. Raises `FileError`."""
    make_folder(folder)
    written: set[str] = set()
    annotators = study.annotators
    for group in study.groups():
        document = next(each for each in group if each is not None)
        stem = "".join(c if c.isalnum() or c in "-_." else "_" for c in document.id).lstrip(".") or "_"
        if stem in written:
            raise FileError(
                f"two documents would have the file name {stem}.csv", file=str(folder), document=document.id
            )
        written.add(stem)
        sequences = sequences_of(group)
        with whole_file(folder / f"{stem}.csv") as file:
            writer = csv.writer(file, lineterminator="\n")
            for name, each in zip(annotators.names, group, strict=False):
                for sequence in sequences if each is not None else ():
                    assert each is not None
                    for start, end, label in sorted(marks_of(each.layers.get(sequence, ()))):
                        shown = f"{sequence}:{label}" if len(sequences) > 1 else label
                        writer.writerow([name, shown, start, end])
    return len(written)
