"""The workbook of a report (.xlsx): by default a sheet of the rows of the places, and a sheet of the tables.

A workbook is a zip archive of XML files (ECMA-376). Rows are written one after the other, so memory holds the packed
archive. Text is text: no cell is a formula or a link, and what a cell cannot hold is cut. The same report gives the
same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from io import BytesIO
from itertools import chain, islice, zip_longest
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from clueval.files.errors import visible_lines
from clueval.reports import Content, Sheet
from clueval.reports.place import MarkedText, MarkKind, segments
from clueval.reports.table import Dot, Find, Rate, Table, caption, ends_of, plain, shown

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

_PLAIN, _BOLD, _RATE, _WRAPPED = range(4)
"""The styles of cells, as `_STYLES` has them."""

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_STYLES = (
    f'<styleSheet xmlns="{_MAIN}"><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font>'
    '<font><b/><sz val="11"/><name val="Calibri"/></font></fonts>'
    '<fills count="2"><fill><patternFill patternType="none"/></fill>'
    '<fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border/></borders>'
    '<cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="4"><xf xfId="0"/>'
    '<xf xfId="0" fontId="1" applyFont="1"/>'
    '<xf xfId="0" numFmtId="10" applyNumberFormat="1"/>'
    '<xf xfId="0" applyAlignment="1"><alignment vertical="top" wrapText="1"/></xf></cellXfs>'
    '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
)


def write_workbook(report: Content, file: IO[bytes]) -> None:
    """Write the workbook of a report to a file that is open."""
    whole = BytesIO()
    book = ZipFile(whole, "w", ZIP_DEFLATED)
    try:
        has_header: dict[str, bool] = {}
        for sheet in report.sheets():
            has_rows = sheet.rows is not None
            for number, part in enumerate(_rows(sheet, report) if has_rows else [_lines(sheet)], 1):
                has_header[f"{sheet.name} {number}" if number > 1 else sheet.name] = has_rows
                _add(book, f"xl/worksheets/sheet{len(has_header)}.xml", part)
        for name, content in _parts(has_header).items():
            _add(book, name, [content])
        book.close()
    except BaseException:
        book.fp = None  # an archive that was interrupted cannot be ended, and would say so instead
        raise
    file.write(whole.getbuffer())


def _add(book: ZipFile, name: str, parts: Iterable[str]) -> None:
    info = ZipInfo(name)  # its time is always the same
    info.compress_type = ZIP_DEFLATED
    with book.open(info, "w", force_zip64=True) as member:
        member.write(b'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n')
        for part in parts:
            member.write(part.encode())


def _parts(has_header: Mapping[str, bool]) -> dict[str, str]:
    """Return the files of a workbook besides its sheets, whose names are given."""
    sheets, types, links, titles = [], [], [], []
    for n, name in enumerate(has_header, 1):
        sheets.append(f'<sheet name="{name}" sheetId="{n}" r:id="rId{n}"/>')
        types.append(
            f'<Override PartName="/xl/worksheets/sheet{n}.xml" ContentType="{_KIND}.worksheet+xml"/>'
        )
        links.append(_link(n, "worksheet", f"worksheets/sheet{n}.xml"))
        if has_header[name]:
            title = f'<definedName name="_xlnm.Print_Titles" localSheetId="{n - 1}">'
            titles.append(f"{title}'{name}'!$1:$1</definedName>")
    links.append(_link(len(has_header) + 1, "styles", "styles.xml"))
    defined = f"<definedNames>{''.join(titles)}</definedNames>" if titles else ""
    return {
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{"".join(sheets)}</sheets>'
        f"{defined}</workbook>",
        "xl/styles.xml": _STYLES,
        "xl/_rels/workbook.xml.rels": _links(links),
        "_rels/.rels": _links([_link(1, "officeDocument", "xl/workbook.xml")]),
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_KIND}.sheet.main+xml"/>'
        f'<Override PartName="/xl/styles.xml" ContentType="{_KIND}.styles+xml"/>{"".join(types)}</Types>',
    }


def _link(number: int, what: str, target: str) -> str:
    return f'<Relationship Id="rId{number}" Type="{_OFFICE}/{what}" Target="{target}"/>'


def _links(links: Iterable[str]) -> str:
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{"".join(links)}</Relationships>'


def _rows(sheet: Sheet, report: Content) -> Iterator[Iterator[str]]:
    """Yield the sheets of rows, which must be read one after the other."""
    rows = iter(sheet.rows or ())
    for first in rows:
        yield _sheet_of_rows(sheet.columns, chain([first], islice(rows, MOST_ROWS - 1)), report)


def _sheet_of_rows(columns: Sequence[str], values: Iterable[Sequence[Any]], report: Content) -> Iterator[str]:
    """Yield a sheet of rows: a header that stays, filters, a list of choices, pages as wide as the sheet."""
    kinds, number = report.kinds, 1

    def rows() -> Iterator[str]:
        nonlocal number
        yield _row([_cell(name, _BOLD) for name in columns])
        for row in values:
            number += 1
            yield _row(
                [
                    "" if value in ("", None)
                    else _coloured(value, kinds) if isinstance(value, list)
                    else _cell(value, _WRAPPED)
                    for value in row
                ]
            )  # fmt: skip

    def end() -> Iterator[str]:
        yield f'<autoFilter ref="A1:{_column(len(columns))}{number}"/>'
        choices = ",".join(value for value, _ in report.choices)
        can_be_listed = choices.isprintable() and 0 < len(choices) <= 255 and '"' not in choices
        if "choice" in columns and can_be_listed:
            column = _column(columns.index("choice") + 1)
            yield '<dataValidations count="1"><dataValidation type="list" allowBlank="1" '
            yield f'sqref="{column}2:{column}{number}"><formula1>"{escape(choices, quote=False)}"</formula1>'
            yield "</dataValidation></dataValidations>"
        yield '<pageSetup paperSize="9" fitToHeight="0" orientation="landscape"/>'  # A4

    widths = [_WIDTHS.get(name, 13) for name in columns]
    view = '<pane xSplit="1" ySplit="1" topLeftCell="B2" activePane="bottomRight" state="frozen"/>'
    return _sheet(widths, rows(), end(), view, '<sheetPr><pageSetUpPr fitToPage="1"/></sheetPr>')


def _sheet(
    widths: Sequence[int], rows: Iterable[str], end: Iterable[str] = (), view: str = "", head: str = ""
) -> Iterator[str]:
    columns = (f'<col min="{n}" max="{n}" width="{w}" customWidth="1"/>' for n, w in enumerate(widths, 1))
    yield f'<worksheet xmlns="{_MAIN}">{head}<sheetViews><sheetView workbookViewId="0">{view}</sheetView>'
    yield f"</sheetViews><cols>{''.join(columns)}</cols><sheetData>"
    yield from rows
    yield "</sheetData>"
    yield from end
    yield "</worksheet>"


def _with_ends(table: Table) -> Table:
    """Return a table in which the ends of intervals have columns of their own."""
    rows = [[cell.cell if isinstance(cell, Find) else cell for cell in row] for row in table.rows]
    ends = {n for row in rows for n, cell in enumerate(row) if ends_of(cell) != (None, None)}
    names = [[name, f"{name} ≥", f"{name} ≤"] if n in ends else [name] for n, name in enumerate(table.header)]
    cells = [
        [[cell, *map(Rate, ends_of(cell))] if n in ends else [cell] for n, cell in enumerate(row)]
        for row in rows
    ]
    return table._replace(
        header=[*chain.from_iterable(names)], rows=[[*chain.from_iterable(row)] for row in cells]
    )


def _widths(tables: Iterable[Table]) -> list[int]:
    """Return the widths of columns that tables below each other share: those of their longest cells, up to 40."""
    rows = (row for table in tables for row in (table.header, *table.rows))
    columns = zip_longest(*rows, fillvalue="")
    return [min(40, 3 + max(len(shown(cell)) for cell in column)) for column in columns]


def _lines(sheet: Sheet) -> Iterator[str]:
    """Return a sheet of lines and tables below each other."""
    tables = list(map(_with_ends, sheet.tables))

    def rows() -> Iterator[list[str]]:
        for line in filter(None, sheet.lines):
            yield [_cell(line)]
        for table in tables:
            yield []
            yield [_cell(caption(table), _BOLD)]
            yield [_cell(name, _BOLD) for name in table.header]
            for row in table.rows:
                yield [_cell(plain(cell), _RATE if isinstance(cell, Rate | Dot) else _PLAIN) for cell in row]
        if sheet.foot:
            yield []
            yield [_cell(sheet.foot)]

    return _sheet(_widths(tables) or [30], map(_row, rows()))


def _row(cells: Sequence[str]) -> str:
    """Return a row; empty cells keep the place of the others."""
    return f"<row>{''.join([cell or '<c/>' for cell in cells])}</row>"


def _cell(value: object, style: int = _PLAIN) -> str:
    if value is None or value == "":
        return ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f'<c s="{style}"><v>{value}</v></c>'
    return f'<c s="{style}" t="inlineStr"><is>{_text(_cut(visible_lines(str(value))))}</is></c>'


def _coloured(texts: Iterable[MarkedText], kinds: Sequence[MarkKind]) -> str:
    """Return texts as a cell, in which marked pieces have the colour of their style."""
    runs, size = [], 0
    for number, text in enumerate(texts):
        pieces = [(" / ", "")] if number else []
        for piece, style in chain(pieces, segments(text, kinds)):
            if piece:
                shown = visible_lines(piece)
                size += len(shown)
                look = f'<rPr><b/><color rgb="{_COLOURS[style]}"/></rPr>' if style else ""
                runs.append((look, shown))
    if size > LONGEST_CELL:
        return _cell("".join(shown for _, shown in runs), _WRAPPED)
    content = "".join([f"<r>{look}{_text(shown)}</r>" for look, shown in runs])
    return f'<c s="{_WRAPPED}" t="inlineStr"><is>{content}</is></c>' if content else ""


_ESCAPE = re.compile("_(?=x[0-9A-Fa-f]{4}_)")


def _text(text: str) -> str:
    """Return text as XML; what programs read as the number of a character stays as it is.

    >>> _text("a<b _x0041_ ")
    '<t xml:space="preserve">a&lt;b _x005F_x0041_ </t>'
    """
    if "_x" in text:
        text = _ESCAPE.sub("_x005F_", text)
    return f'<t xml:space="preserve">{escape(text, quote=False)}</t>'


def _column(number: int) -> str:
    """Return the name of a column, which count from 1.

    >>> _column(1), _column(26), _column(27)
    ('A', 'Z', 'AA')
    """
    name = ""
    while number:
        number, rest = divmod(number - 1, 26)
        name = chr(ord("A") + rest) + name
    return name


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_CELL else f"{text[: LONGEST_CELL - 30]}… ({len(text):,} characters)"
