"""Spreadsheets that are written whole or not at all, and printed on pages as wide as their tables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import RawIOBase
from pathlib import Path
from traceback import walk_tb
from typing import IO, Any

from clueval.files.errors import FileError, UsageError, extra
from clueval.files.writing import is_written_through, scratch_folder, whole_bytes

ROWS = 1_048_576
"""The number of rows of a sheet, including the header."""


def require_package() -> None:
    """Raise `MissingExtra` without XlsxWriter."""
    with extra("a spreadsheet needs the package XlsxWriter", "pip install 'clueval[report]'"):
        import xlsxwriter  # noqa: F401


def require_name(path: Path) -> None:
    """Raise `UsageError` for the name of a workbook that spreadsheet programs do not open: ``errors.xls``."""
    if path.suffix.lower() != ".xlsx" and not is_written_through(path):
        raise UsageError(
            f"a spreadsheet is written in the format of .xlsx files, not as {path.name!r}",
            advice=f"name it {path.with_suffix('.xlsx').name}",
        )


def fit_to_width(sheet: Any) -> None:
    """Print a sheet on pages of A4, as wide as the sheet, with its name and their numbers below."""
    sheet.set_landscape()
    sheet.set_paper(9)  # A4
    sheet.set_margins(left=0.4, right=0.4, top=0.5, bottom=0.6)
    sheet.fit_to_pages(1, 0)
    sheet.set_footer("&L&A&R&P / &N")


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
