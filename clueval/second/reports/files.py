"""The files of a report: the ending of the name chooses the form, and a file is written whole or not at all.

A workbook has a sheet of the rows of the places, with colours in place of squares and a list of choices, and a sheet of
the tables. No cell is a formula or a link, and what a cell cannot hold is cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from typing import IO, Any

from clueval.files.errors import extra
from clueval.files.visible import visible_lines
from clueval.files.writing import whole_bytes, whole_file
from clueval.second.reports.content import Content
from clueval.second.reports.endings import form_of
from clueval.second.reports.forms import data_rows, render, write_rows
from clueval.second.reports.language import in_language
from clueval.second.reports.page import page_parts
from clueval.second.reports.place import DECISION_COLUMNS, KEY_COLUMNS, MarkedText, MarkKind, segments
from clueval.second.reports.table import Find, Rate, caption, plain


def write(report: Content, path: Path, *, lang: str = "", text_lang: str = "") -> None:
    """Write a report to a file; see `Report.write`."""
    form = form_of(path)
    with in_language(lang, text_lang):
        if form == "workbook":
            with whole_bytes(path) as raw:
                _write_workbook(report, raw)
            return
        with whole_file(path) as file:
            if form == "page":
                file.writelines(page_parts(report))
            elif form in ("csv", "tsv"):
                write_rows(report, file, form)
            else:
                file.write(render(report, form, lang=lang) + "\n")


# --- workbooks

MOST_ROWS = 1_048_575
"""The number of rows that a sheet has below its header; further ones are on another sheet."""

LONGEST_CELL = 32_767

_WIDTHS = {"text": 80, "context": 80, "what": 50, "comment": 28, "choice": 14, "document": 16}
_COLOURS = {
    "above": "FFB3261E",
    "below": "FFA35A00",
    "both": "FF00734D",
    "masked": "FF5B636D",
    "leak": "FFB3261E",
}
"""The colours of marked pieces by their style: only the first side, only another, or both."""


def require_openpyxl() -> None:
    """Raise `MissingExtra` without the package that writes workbooks."""
    with extra("a workbook needs the package openpyxl", "pip install 'clueval[report]'"):
        import openpyxl  # noqa: F401


def _write_workbook(report: Content, file: IO[bytes]) -> None:
    require_openpyxl()
    from openpyxl import Workbook

    book = Workbook(write_only=True)
    rows = data_rows(report) if report.choices or report.facets else iter(())
    for number in range(1, 1000):
        part = islice(rows, MOST_ROWS)
        first = next(part, None)
        if first is None:
            break
        _write_places(book.create_sheet(f"places {number}" if number > 1 else "places"), first, part, report)
    _write_tables(book.create_sheet("scores"), report)
    whole = BytesIO()  # an archive that is not finished would be ended when the file is closed
    book.save(whole)
    file.write(whole.getbuffer())


def _write_places(
    sheet: Any, first: dict[str, Any], others: Iterator[dict[str, Any]], report: Content
) -> None:
    """Write a sheet of rows: a header that stays, filters, a list of choices, pages as wide as the sheet."""
    from openpyxl.styles import Alignment
    from openpyxl.utils import get_column_letter
    from openpyxl.worksheet.datavalidation import DataValidation

    for n, name in enumerate(first, 1):
        sheet.column_dimensions[get_column_letter(n)].width = _WIDTHS.get(name, 13)
    sheet.freeze_panes, sheet.print_title_rows = "B2", "1:1"
    sheet.page_setup.orientation, sheet.page_setup.paperSize = "landscape", 9  # A4
    sheet.sheet_properties.pageSetUpPr.fitToPage, sheet.page_setup.fitToHeight = True, 0
    sheet.append([_cell(sheet, name, is_bold=True) for name in first])
    model, number = _cell(sheet, ""), 1
    model.alignment = Alignment(vertical="top", wrap_text=True)
    kinds = report.kinds
    for row in chain([first], others):
        number += 1
        values = (_coloured(v, kinds) if isinstance(v, list) else v for v in row.values())
        cells = [None if value in ("", None) else _cell(sheet, value) for value in values]
        for cell in filter(None, cells):
            cell._style = model._style  # to set an alignment takes a third of the time of the workbook
        sheet.append(cells)
    sheet.auto_filter.ref = f"A1:{get_column_letter(len(first))}{number}"
    choices = ",".join(value for value, _ in report.choices)
    if choices.isprintable() and 0 < len(choices) <= 255 and '"' not in choices:  # what a list can hold
        column = get_column_letter(len(KEY_COLUMNS) + 1 + DECISION_COLUMNS.index("choice"))
        allowed = DataValidation(type="list", formula1=f'"{choices}"', allow_blank=True)
        allowed.add(f"{column}2:{column}{number}")
        sheet.data_validations.append(allowed)


def _write_tables(sheet: Any, report: Content) -> None:
    sheet.column_dimensions["A"].width = 30
    for line in filter(None, (report.title, report.verdict(), *report.facts(), *report.remarks())):
        sheet.append([_cell(sheet, line)])
    for table in report.tables():
        sheet.append([])
        sheet.append([_cell(sheet, caption(table), is_bold=True)])
        sheet.append([_cell(sheet, name, is_bold=True) for name in table.header])
        for row in table.rows:
            cells = [cell.cell if isinstance(cell, Find) else cell for cell in row]
            sheet.append([_cell(sheet, plain(cell), is_rate=isinstance(cell, Rate)) for cell in cells])
    sheet.append([])
    sheet.append([_cell(sheet, str(report.signature))])


def _cell(sheet: Any, value: object, *, is_bold: bool = False, is_rate: bool = False) -> Any:
    """Return a cell; text is text, whatever it begins with."""
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Font

    cell = WriteOnlyCell(sheet, _cut(visible_lines(value)) if isinstance(value, str) else value)
    if isinstance(value, str):
        cell.data_type = "s"
    if is_bold:
        cell.font = Font(bold=True)
    if is_rate:
        cell.number_format = "0.00%"
    return cell


def _coloured(texts: Iterable[MarkedText], kinds: Sequence[MarkKind]) -> Any:
    """Return texts for a cell, in which marked pieces have the colour of their style."""
    from openpyxl.cell.rich_text import CellRichText, TextBlock
    from openpyxl.cell.text import InlineFont

    found = CellRichText()
    for number, text in enumerate(texts):
        found += [" / "] if number else []
        for piece, style in filter(itemgetter(0), segments(text, kinds)):
            shown = visible_lines(piece)
            found.append(TextBlock(InlineFont(b=True, color=_COLOURS[style]), shown) if style else shown)
    return found if len(str(found)) <= LONGEST_CELL else _cut(str(found))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_CELL else f"{text[: LONGEST_CELL - 30]}… ({len(text):,} characters)"
