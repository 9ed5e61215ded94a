"""Findings as a spreadsheet: a sheet for each side, one with the places (see `places`), and one with the scores.

Colours and fonts in the context show which side has marked a piece: green and bold for both sides, red and
underlined for the span itself only, orange and italic for the other side only. The comment of the cell lists the
labels of all spans in the context. On the sheet of places the colours of the gold side are those of the span itself.
The column ``comment`` is empty, for the user, if there are no decisions. The header stays visible and is printed on
each page, every column has a filter. A printed page is as wide as the columns up to the text of the span. Positions
and lines are numbers, and so are metadata that are whole numbers; metadata like 2026-01-31 are dates. All other text
is written as text: nothing becomes a formula or a link.

A sheet holds 1,048,575 findings; further ones are on another sheet, ``gold 2``. A cell holds 32,767
characters; a longer text ends with the number of characters cut off. Memory does not grow with the rows,
except for their comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from itertools import chain
from math import ceil
from pathlib import Path
from typing import Any

from clueval.files.visible import visible_lines
from clueval.findings.context import Context, Mark
from clueval.findings.drawing import drawn
from clueval.findings.places import ErrorPlace, places
from clueval.findings.rows import (
    BETWEEN,
    FIRST,
    LONGEST_CELL,
    LONGEST_OTHER,
    RowColumns,
    comment,
    shortened,
    split_first,
)
from clueval.findings.table import Finding, joined
from clueval.first.metrics.tables import of_known
from clueval.reports.table import Rate, Table
from clueval.reports.workbook import ROWS, fit_to_width, require_package, whole_workbook

_STYLES: dict[Mark, dict[str, Any]] = {
    "both": {"font_color": "#00734D", "bold": True},
    "own": {"font_color": "#B3261E", "bold": True, "underline": 1},
    "other": {"font_color": "#A35A00", "italic": True},
    "neither": {"font_color": "#333333"},
}

_WIDTHS = {
    "comment": 28,
    "choice": 14,
    "context": 80,
    "text": 28,
    "other_text": 28,
    "label": 16,
    "document": 16,
    "metadata": 16,
    "reasons": 16,
    "gold": 34,
    "predicted": 34,
    "entity": 28,
    "leaks_by_class": 28,
}
_PRINTED_TO = "text"
"""The last column that is printed, if the sheet has it: a page with all columns could not be read."""

_SIDES = ("gold", "predicted")

_TALLEST = 409
"""The greatest height of a row."""

_WRAPPED = ("text", "reasons", "gold", "predicted")

_Typed = str | int | date
"""A cell, written as what it is."""

Fragment = tuple[str, Mark]
"""A piece of a context and the style that it has."""

_LEAST_SHARE = 80
"""The least number of characters of a piece, if pieces must be cut."""


def write(
    path: Path,
    findings: Iterable[Finding],
    report: Mapping[str, Any] | None = None,
    tables: Iterable[Table] = (),
) -> dict[str, int]:
    """Write the workbook, whole or not at all, and return the number of findings of each side.

    `report` is the output of `Result.to_dict`, for the sheet with the scores, which begins with `tables`. Raises
    `MissingExtra` without XlsxWriter, `FileError` if the file cannot be written.
    """
    require_package()
    columns, findings = split_first(findings)
    with whole_workbook(path) as book:
        scores = None
        if report is not None:
            signature = [f"signature: {report['signature']}"]
            scores = tables_sheet(book, "scores", signature, chain(tables, of_known(report)))
        sheets = {side: RowSheets(book, side, columns.names) for side in _SIDES}
        together = RowSheets(book, "places", _PLACE_COLUMNS)
        for place in places(findings):
            for finding in place.findings:
                cells = _typed(columns, finding)
                texts = comment(finding), _fragments(finding.context), _comment(finding)
                sheets[finding.side or "gold"].add(cells, *texts)
            together.add(_place_cells(place), comment(place.findings[0]), _place_fragments(place), None)
        first = next((side for side in _SIDES if sheets[side].rows), "gold")
        sheets[first].first.activate()
        if scores is not None and not together.rows:
            scores.activate()
        for each in (*sheets.values(), together):
            each.finish()
        return {side: each.rows for side, each in sheets.items()}


class RowSheets:
    """The sheets of one kind of rows; a new one is added when the last is full.

    `names` are those of the columns: the first is for the reader, who may choose among `choices`, the second shows
    text with its marks, the others have cells.
    """

    def __init__(self, book: Any, name: str, names: Sequence[str], choices: Sequence[str] = ()) -> None:
        self._book, self._name, self._names, self._choices = book, name, names, choices
        self._styles = {mark: book.add_format(style) for mark, style in _STYLES.items()}
        self._wrap = book.add_format({"text_wrap": True, "valign": "top"})
        self._top = book.add_format({"valign": "top"})
        self._header = book.add_format({"bold": True, "bg_color": "#E8EDF2", "bottom": 1})
        self._date = book.add_format({"valign": "top", "num_format": "yyyy-mm-dd"})
        self._number = 0
        self.rows = 0
        self.first = self._open()

    def _open(self) -> Any:
        self._number += 1
        self._row = 0
        self._sheet = self._book.add_worksheet(
            self._name if self._number == 1 else f"{self._name} {self._number}"
        )
        for number, name in enumerate(self._names):
            self._sheet.set_column(number, number, _WIDTHS.get(name, 11))
            self._sheet.write_string(0, number, shortened(visible_lines(name)), self._header)
        self._sheet.freeze_panes(1, 0)
        fit_to_width(self._sheet)
        self._sheet.repeat_rows(0)
        return self._sheet

    def add(
        self, cells: Sequence[_Typed], comment: str, context: Iterable[Fragment], note: str | None
    ) -> None:
        """Add a row: the comment, the context with its note, and the cells."""
        if self._row == ROWS - 1:
            self.finish()
            self._open()
        self._row += 1
        self.rows += 1
        fragments = list(context)
        self._set_height(fragments, cells)
        if comment:
            self._sheet.write_string(self._row, 0, shortened(visible_lines(comment)), self._wrap)
        else:
            self._sheet.write_blank(self._row, 0, None, self._wrap)
        self._write_context(fragments)
        if note is not None:
            self._sheet.write_comment(self._row, 1, note, {"x_scale": 2})
        for number, value in enumerate(cells, len(FIRST)):
            if isinstance(value, str):
                self._sheet.write_string(
                    self._row, number, shortened(visible_lines(value)), self._style(number)
                )
            elif isinstance(value, date):
                self._sheet.write_datetime(self._row, number, value, self._date)
            else:
                self._sheet.write_number(self._row, number, value, self._top)

    def _set_height(self, context: Iterable[Fragment], cells: Sequence[_Typed]) -> None:
        """Set the height of a row whose text has several lines; not all programs do it themselves."""
        texts = {"context": "".join(text for text, _ in context)}
        named = zip(self._names[len(FIRST) :], cells, strict=True)
        texts |= {name: str(cell) for name, cell in named if name in _WRAPPED}
        lines = max(ceil(1.1 * len(text) / _WIDTHS[name]) for name, text in texts.items())
        if lines > 1:
            self._sheet.set_row(self._row, min(15 * lines, _TALLEST))

    def _style(self, number: int) -> Any:
        return self._wrap if self._names[number] in _WRAPPED else self._top

    def _write_context(self, fragments: list[Fragment]) -> None:
        if len(fragments) > 1:
            parts = [part for text, mark in fragments for part in (self._styles[mark], text)]
            self._sheet.write_rich_string(self._row, 1, *parts, self._wrap)
        else:
            self._sheet.write_string(self._row, 1, "".join(text for text, _ in fragments), self._wrap)

    def finish(self) -> None:
        last = len(self._names) - 1
        self._sheet.autofilter(0, 0, self._row, last)
        printed = self._names.index(_PRINTED_TO) if _PRINTED_TO in self._names else last
        self._sheet.print_area(0, 0, self._row, printed)
        if self._choices and self._row:
            choice = {"validate": "list", "source": list(self._choices)}
            self._sheet.data_validation(1, 0, self._row, 0, choice)


def _typed(columns: RowColumns, finding: Finding) -> list[_Typed]:
    """Return the cells of a finding; metadata that are numbers or dates become these."""
    cells: list[_Typed] = list(columns.cells(finding))
    last = len(cells) - 1
    for place in range(last - len(columns.metadata), last):
        cells[place] = _number_or_date(str(cells[place]))
    return cells


def _number_or_date(text: str) -> _Typed:
    """Return the number or the date that is written like this, otherwise the text.

    >>> _number_or_date("2004"), _number_or_date("007"), _number_or_date("2004-02-30")
    (2004, '007', '2004-02-30')
    """
    if re.fullmatch(r"0|-?[1-9][0-9]{0,14}", text):
        return int(text)
    if re.fullmatch(r"(19|20)[0-9]{2}-[0-9]{2}-[0-9]{2}", text):
        with suppress(ValueError):
            return date.fromisoformat(text)
    return text


_PLACE_COLUMNS = (
    *FIRST,
    *("document", "sentence", "start", "end_inclusive", "errors", "reasons", "gold", "predicted"),
)


def _place_cells(place: ErrorPlace) -> list[_Typed]:
    drawing = drawn(place)
    spans = [
        BETWEEN.join(
            f"{joined(bar.labels)} {shortened(''.join(drawing.pieces[bar.first : bar.last]).strip(), LONGEST_OTHER)}"
            for bar in drawing.bars
            if bar.row == row
        )
        for row in range(2)
    ]
    return [
        place.document,
        BETWEEN.join(dict.fromkeys(name for each in place.findings for name in each.sentences)),
        place.start,
        place.end,
        len(place.findings),
        BETWEEN.join(dict.fromkeys(each.reason for each in place.findings)),
        *spans,
    ]


def _place_fragments(place: ErrorPlace) -> Iterator[Fragment]:
    drawing = drawn(place)
    pieces: list[Fragment] = [("… ", "neither")] if drawing.cut_before else []
    for text, over in zip(drawing.pieces, drawing.over(), strict=True):
        rows = {drawing.bars[number].row for number in over}
        mark: Mark = "both" if len(rows) == 2 else "own" if 0 in rows else "other" if rows else "neither"
        pieces.append((visible_lines(text or "‸"), mark))
    if drawing.cut_after:
        pieces.append((" …", "neither"))
    yield from short(pieces)


def _fragments(context: Context) -> Iterator[Fragment]:
    """Return the context as non-empty texts with their marks, together no longer than a cell."""
    pieces: list[Fragment] = [("… ", "neither")] if context.cut_before else []
    for number, piece in enumerate(context.pieces):
        blank = context.joiner if number < len(context.pieces) - 1 else ""
        pieces.append((visible_lines(piece.text or "‸") + blank, piece.mark))
    if context.cut_after:
        pieces.append((" …", "neither"))
    yield from short(pieces)


def short(pieces: list[Fragment]) -> list[Fragment]:
    """Return pieces that fit into a cell together."""
    whole = sum(len(text) for text, _ in pieces) <= LONGEST_CELL
    return pieces if whole else _fitting(pieces)


def _fitting(pieces: list[Fragment]) -> list[Fragment]:
    """Return pieces that are too long for a cell, each cut to its share; very many pieces lose the colours."""
    share = LONGEST_CELL // len(pieces)
    if share < _LEAST_SHARE:
        return [(shortened("".join(text for text, _ in pieces)), "neither")]
    return [(shortened(text, share), mark) for text, mark in pieces]


def _comment(finding: Finding) -> str:
    """Return the labels of all spans in the context."""
    own = f"{finding.side or 'this span'}: {joined(finding.labels)} {finding.text!r}"
    name = {"gold": "predicted", "predicted": "gold"}.get(finding.side or "", "other side")
    spans = zip(finding.other_texts, finding.other_labels, strict=True)
    others = [f"{name}: {joined(labels)} {shortened(text, 200)!r}" for text, labels in spans]
    text = "\n".join([shortened(own, 1000), *(others[:20] or [f"{name}: nothing"])])
    more = f"\n… and {len(others) - 20} more" if len(others) > 20 else ""
    return shortened(visible_lines(text) + more, 20_000)


def tables_sheet(book: Any, name: str, lines: Sequence[str], tables: Iterable[Table]) -> Any:
    """Write lines of text, then tables, one below the other, on a new sheet, and return it."""
    sheet = book.add_worksheet(name)
    bold = book.add_format({"bold": True})
    header = book.add_format({"bold": True, "bg_color": "#E8EDF2", "bottom": 1, "align": "right"})
    percent = book.add_format({"num_format": "0.00%"})
    count = book.add_format({"num_format": "#,##0.###"})
    first = book.add_format({"bold": True, "bg_color": "#E8EDF2", "bottom": 1})
    fit_to_width(sheet)
    sheet.set_column(0, 0, 30)
    sheet.set_column(1, 20, 11)
    for number, line in enumerate(lines):
        sheet.write_string(number, 0, shortened(visible_lines(line)))
    row = len(lines) - 1
    for table in tables:
        row += 2
        sheet.write_string(row, 0, visible_lines(table.title), bold)
        row += 1
        for column, name in enumerate(table.header):
            sheet.write_string(row, column, shortened(visible_lines(name)), header if column else first)
        for cells in table.rows:
            row += 1
            for column, value in enumerate(cells):
                if isinstance(value, Rate):
                    if value.value is not None:
                        sheet.write_number(row, column, value.value, percent)
                elif isinstance(value, str):
                    sheet.write_string(row, column, shortened(visible_lines(value)))
                else:
                    sheet.write_number(row, column, value, count)
    return sheet
