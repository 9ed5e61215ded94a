"""Findings as a spreadsheet: a sheet for each side, and one with the scores.

Colours and fonts in the context show which side has marked a piece: green and bold for both sides, red and
underlined for the span itself only, orange and italic for the other side only. The comment of the cell lists
the labels of all spans in the context. The column ``comment`` is empty, for the user. The header stays
visible, and every column has a filter. Text is written as text: nothing becomes a formula, a number or a
link.

A sheet holds 1,048,575 findings; further ones are on another sheet, ``gold 2``. A cell holds 32,767
characters; a longer text ends with the number of characters cut off. Memory does not grow with the rows,
except for their comments.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from io import RawIOBase
from pathlib import Path
from traceback import walk_tb
from typing import IO, Any

from clueval.exceptions import FileError, MissingExtra
from clueval.findings.context import Context, Mark
from clueval.findings.rows import LONGEST_CELL, RowColumns, shortened, split_first
from clueval.findings.table import Finding, joined
from clueval.metrics.tables import of_known
from clueval.reports.table import Rate
from clueval.visible import visible_lines
from clueval.writing import is_written_through, scratch_folder, whole_bytes

ROWS = 1_048_576
"""The number of rows of a sheet, including the header."""

_STYLES: dict[Mark, dict[str, Any]] = {
    "both": {"font_color": "#00734D", "bold": True},
    "own": {"font_color": "#B3261E", "bold": True, "underline": 1},
    "other": {"font_color": "#A35A00", "italic": True},
    "neither": {"font_color": "#333333"},
}

_WIDTHS = {"text": 28, "other_text": 28, "context": 90, "comment": 30, "document": 16, "metadata": 16}
_SIDES = ("gold", "predicted")

_LEAST_SHARE = 80
"""The least number of characters of a piece, if pieces must be cut."""


def require_package() -> None:
    """Raise `MissingExtra` without XlsxWriter."""
    try:
        import xlsxwriter  # noqa: F401
    except ImportError:
        raise MissingExtra(
            "a spreadsheet needs the package XlsxWriter", advice="pip install 'clueval[report]'"
        ) from None


def write(path: Path, findings: Iterable[Finding], report: Mapping[str, Any] | None = None) -> dict[str, int]:
    """Write the workbook, whole or not at all, and return the number of findings of each side.

    `report` is the output of `Result.to_dict`, for the sheet with the scores. Raises `MissingExtra` without
    XlsxWriter, `FileError` if the file cannot be written.
    """
    require_package()
    columns, findings = split_first(findings)
    with whole_workbook(path) as book:
        scores = _scores_sheet(book, report) if report is not None else None
        sheets = {side: _Sheets(book, side, columns) for side in _SIDES}
        for finding in findings:
            sheets[finding.side or "gold"].add(finding)
        first = next((side for side in _SIDES if sheets[side].findings), "gold")
        sheets[first].first.activate()
        if scores is not None and not any(each.findings for each in sheets.values()):
            scores.activate()
        for each in sheets.values():
            each.finish()
        return {side: each.findings for side, each in sheets.items()}


@contextmanager
def whole_workbook(path: Path) -> Iterator[Any]:
    """Open a workbook that gets its name only when all of it is written; after an error nothing is left."""
    if is_written_through(path):  # a device or pipe: no temporary file next to it
        with whole_bytes(path) as file, _workbook(file, path, {"in_memory": True}) as book:
            yield book
        return
    with scratch_folder(path) as folder, whole_bytes(path) as file:
        options = {"constant_memory": True, "in_memory": False, "tmpdir": str(folder)}
        with _workbook(file, path, options) as book:
            yield book


@contextmanager
def _workbook(file: IO[bytes], path: Path, options: dict[str, Any]) -> Iterator[Any]:
    """Open a workbook that is written to an open file at the end, unless an error occurs first."""
    import xlsxwriter
    from xlsxwriter.exceptions import XlsxWriterException

    as_text = dict.fromkeys(("strings_to_formulas", "strings_to_urls", "strings_to_numbers"), False)
    sink = _Sink(file)
    book = xlsxwriter.Workbook(sink, {**as_text, **options})
    try:
        yield book
        book.close()
    except BaseException as error:
        sink.is_open = False
        _give_up_archives(error)
        cause = error.args[0] if error.args else None
        if isinstance(error, XlsxWriterException):
            if isinstance(cause, OSError):
                raise cause from None
            raise FileError(f"cannot be written: {error}", file=str(path)) from error
        raise
    finally:
        for sheet in book.worksheets() if book.constant_memory else ():
            with suppress(OSError):  # the disk is full, which has already been reported
                sheet._opt_close()


def _give_up_archives(error: BaseException) -> None:
    """Let no zip archive that was being written when the error came print a traceback in its destructor."""
    from zipfile import ZipFile

    for frame, _ in walk_tb(error.__traceback__):
        for value in frame.f_locals.values():
            if isinstance(value, ZipFile):
                value.fp = None


class _Sink(RawIOBase):
    """The file that a zip archive is written to. After an error it accepts all data and discards it.

    The writer of zip archives ends its file in its destructor, which cannot report an error.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._place = file, 0
        self.is_open = True

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        if self.is_open:
            self._file.write(data)
        self._place += len(data)
        return len(data)

    def tell(self) -> int:
        return self._place

    def seekable(self) -> bool:
        return self._file.closed or self._file.seekable()

    def seek(self, place: int, whence: int = 0, /) -> int:
        if self.is_open:
            self._file.seek(place, whence)
        self._place = place
        return place

    def flush(self) -> None:
        if self.is_open and not self._file.closed:  # a destructor flushes, too
            self._file.flush()


class _Sheets:
    """The sheets of one side; a new one is added when the last is full."""

    def __init__(self, book: Any, side: str, columns: RowColumns) -> None:
        self._book, self._side, self._columns = book, side, columns
        self._styles = {mark: book.add_format(style) for mark, style in _STYLES.items()}
        self._wrap = book.add_format({"text_wrap": True, "valign": "top"})
        self._top = book.add_format({"valign": "top"})
        self._header = book.add_format({"bold": True, "bg_color": "#E8EDF2", "bottom": 1})
        self._names = [*columns.names, "comment"]
        self._number = 0
        self.findings = 0
        self.first = self._open()

    def _open(self) -> Any:
        self._number += 1
        self._row = 0
        self._sheet = self._book.add_worksheet(
            self._side if self._number == 1 else f"{self._side} {self._number}"
        )
        for number, name in enumerate(self._names):
            self._sheet.set_column(number, number, _WIDTHS.get(name, 11))
            self._sheet.write_string(0, number, shortened(visible_lines(name)), self._header)
        self._sheet.freeze_panes(1, 0)
        self._sheet.set_landscape()
        self._sheet.repeat_rows(0)
        return self._sheet

    def add(self, finding: Finding) -> None:
        if self._row == ROWS - 1:
            self.finish()
            self._open()
        self._row += 1
        self.findings += 1
        cells = self._columns.cells(finding)
        for number, value in enumerate(cells):
            self._sheet.write_string(self._row, number, shortened(visible_lines(str(value))), self._top)
        place = len(cells)
        self._write_context(place, finding.context)
        self._sheet.write_comment(self._row, place, _comment(finding), {"x_scale": 2})
        self._sheet.write_blank(self._row, place + 1, None, self._wrap)

    def _write_context(self, column: int, context: Context) -> None:
        fragments = list(_fragments(context))
        if len(fragments) > 1:
            parts = [part for text, mark in fragments for part in (self._styles[mark], text)]
            self._sheet.write_rich_string(self._row, column, *parts, self._wrap)
        else:
            self._sheet.write_string(self._row, column, "".join(text for text, _ in fragments), self._wrap)

    def finish(self) -> None:
        self._sheet.autofilter(0, 0, self._row, len(self._names) - 1)


def _fragments(context: Context) -> Iterator[tuple[str, Mark]]:
    """Return the context as non-empty texts with their marks, together no longer than a cell."""
    pieces: list[tuple[str, Mark]] = [("… ", "neither")] if context.cut_before else []
    for number, piece in enumerate(context.pieces):
        blank = context.joiner if number < len(context.pieces) - 1 else ""
        pieces.append((visible_lines(piece.text or "‸") + blank, piece.mark))
    if context.cut_after:
        pieces.append((" …", "neither"))
    whole = sum(len(text) for text, _ in pieces) <= LONGEST_CELL
    yield from pieces if whole else _fitting(pieces)


def _fitting(pieces: list[tuple[str, Mark]]) -> list[tuple[str, Mark]]:
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


def _scores_sheet(book: Any, report: Mapping[str, Any]) -> Any:
    """Write the tables of a report one below the other, and its signature."""
    sheet = book.add_worksheet("scores")
    bold = book.add_format({"bold": True})
    header = book.add_format({"bold": True, "bg_color": "#E8EDF2", "bottom": 1, "align": "right"})
    percent = book.add_format({"num_format": "0.00%"})
    count = book.add_format({"num_format": "#,##0.###"})
    sheet.set_column(0, 0, 30)
    sheet.set_column(1, 20, 11)
    row = 0
    sheet.write_string(row, 0, f"signature: {visible_lines(report['signature'])}")
    for table in of_known(report):
        row += 2
        sheet.write_string(row, 0, visible_lines(table.title), bold)
        row += 1
        for column, name in enumerate(table.header):
            sheet.write_string(row, column, shortened(visible_lines(name)), header)
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
