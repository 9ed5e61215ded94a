"""Disagreements as a spreadsheet: the columns of the table, and an empty one for a comment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from clueval.exceptions import UsageError
from clueval.reports.workbook import ROWS, require_package, whole_workbook
from clueval.studies.annotators.disagreement import Disagreement
from clueval.studies.annotators.rows import LONGEST, cells, header
from clueval.visible import visible_lines


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
