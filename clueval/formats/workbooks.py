"""The rows of a workbook (.xlsx): texts and numbers as text, whatever program has saved it. Needs the extra ``report``.

A workbook is a zip archive of XML files (ECMA-376). openpyxl reads it, and would build trees and rows of any size. So
the parts that it needs are read here first, with limits on their bytes and marks, and openpyxl gets these parts alone.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from datetime import date, time
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple

from clueval.files.errors import CluevalError, FormatError, extra
from clueval.files.opening import MAX_DEPTH, MAX_MEMBERS
from clueval.formats.input_file import InputFile

if TYPE_CHECKING:
    from pyexpat import XMLParserType

_ROOTS = ("Types", "Relationships", "workbook", "styleSheet", "sst", "worksheet")
"""The elements that are the roots of the parts that are read; the others, such as comments and pictures, are not."""

_STREAMED = {"worksheet": "row", "sst": "si"}
"""The parts that openpyxl reads piece by piece, and their pieces; it holds a tree of everything else."""

_MAX_BYTES, _MAX_MARKS, _MAX_CELLS = 1 << 26, 2_500_000, 4_000_000
"""Limits of a workbook: the unpacked bytes, the elements and attributes, the rows and cells with the empty ones."""

_MOST_HELD = 100_000
"""The most marks outside such pieces; each becomes an object of about a kilobyte."""

_MOST_IN_PIECE = 200_000
"""The most marks in such a piece: a row has at most 16,384 cells."""

_ROWS = 1 << 20
"""The rows that a sheet can have; openpyxl makes all rows above one with a greater number."""

_ADVICE = "save it as .xlsx again, or as a table with tabs, .tsv"


class SheetRow(NamedTuple):
    """A row of a sheet; `cells` has what is not empty, by the number of the column from 0."""

    sheet: str
    number: int
    cells: Mapping[int, str]


def rows_of_workbook(file: InputFile) -> list[SheetRow]:
    """Return the rows of all sheets that are not empty.

    Raises `FileError`, `FormatError` for what is no workbook or exceeds a limit, `MissingExtra` without openpyxl.
    """
    with extra("reading a workbook needs the package openpyxl", "pip install 'clueval[report]'"):
        from openpyxl import load_workbook
    data = file.raw()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles and extensions, which are not read
            book = load_workbook(_parts(data, file.name), read_only=True, data_only=True, keep_links=False)
            return list(_rows(file.name, book))
    except (CluevalError, MemoryError):
        raise
    except Exception as error:  # openpyxl lets every kind of error through; its text may be that of a cell
        raise FormatError(
            f"is no workbook that can be read ({type(error).__name__})", file=file.name, advice=_ADVICE
        ) from None


def _rows(file: str, book: Any) -> Iterator[SheetRow]:
    texts: dict[str, str] = {}  # many cells may have one long text
    cells_left = _MAX_CELLS
    for sheet in book.worksheets:
        sheet.reset_dimensions()  # what a file says of its own size may be wrong
        for number, values in enumerate(sheet.iter_rows(values_only=True), 1):
            cells_left -= len(values) + 1
            if number > _ROWS:
                raise _workbook_too_long("rows", f"{file}, sheet {sheet.title}", _ROWS)
            if cells_left < 0:
                raise _workbook_too_long("rows and cells", file, _MAX_CELLS)
            cells = {column: _text(value, texts) for column, value in enumerate(values) if value is not None}
            if any(cells.values()):
                yield SheetRow(sheet.title, number, {column: text for column, text in cells.items() if text})


def _text(value: object, texts: dict[str, str]) -> str:
    """Return the value of a cell as text; `texts` has those that were changed before.

    >>> [_text(value, {}) for value in (3378.0, 1.5, True, False, date(2026, 1, 31), "a_x005F_x0041_")]
    ['3378', '1.5', '1', '', '2026-01-31', 'a_x0041_']
    """
    if isinstance(value, str):
        if value not in texts:  # how programs write characters that XML cannot hold
            text = re.sub("_x000([9AD])_", lambda match: chr(int(match[1], 16)), value)
            texts[value] = text.replace("_x005F_", "_")
        return texts[value]
    if isinstance(value, bool):
        return "1" if value else ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value.isoformat() if isinstance(value, date | time) else str(value)


def _parts(data: bytes, file: str) -> BytesIO:
    """Return an archive with the parts of a workbook that are read."""
    from zipfile import ZipFile

    scanned = _Parts(file)
    buffer = BytesIO()
    with ZipFile(BytesIO(data)) as archive, ZipFile(buffer, "w") as copy:
        names = [name for name in archive.namelist() if name.lower().endswith((".xml", ".rels"))]
        if len(names) > MAX_MEMBERS:
            raise _workbook_too_long("parts", file, MAX_MEMBERS)
        for name in names:
            with archive.open(name) as part:
                content = scanned.content(name, part)
            if content is not None:
                copy.writestr(name, content)
    if not scanned.has_workbook:
        raise FormatError("the archive is no workbook", file=file, advice="save it as .xlsx again")
    if scanned.sheets > len(names):  # each sheet is read, however often its part is named
        raise _workbook_too_long("sheets, the number of its parts", file, len(names))
    buffer.seek(0)
    return buffer


class _Parts:
    """Reads the parts of a workbook, one after the other, and counts their bytes and marks: elements and attributes."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._bytes, self._marks, self._held = _MAX_BYTES, _MAX_MARKS, _MOST_HELD
        self.has_workbook = False
        self.sheets = 0

    def content(self, name: str, part: Any) -> bytes | None:
        """Return a part, or None for one that is not read."""
        from xml.parsers import expat

        self._part = f"{self._file}!{name}"
        self._root, self._depth, self._piece, self._in_piece = "", 0, 0, 0
        self._parser: XMLParserType = expat.ParserCreate()
        self._parser.StartDoctypeDeclHandler = self._refuse_declaration
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        blocks: list[bytes] = []
        try:
            while block := part.read(1 << 16):
                self._parser.Parse(block, False)
                if self._root not in ("", *_ROOTS):
                    return None
                self._bytes -= len(block)
                self._require_few()
                blocks.append(block)
            self._parser.Parse(b"", True)
        except expat.ExpatError as error:
            problem = expat.ErrorString(error.code)
            raise FormatError(f"not well-formed XML: {problem}", file=self._part, line=error.lineno) from None
        self.has_workbook |= self._root == "workbook"
        return b"".join(blocks)

    def _require_few(self) -> None:
        if self._bytes < 0:
            raise _workbook_too_long("unpacked bytes", self._file, _MAX_BYTES)
        if self._marks < 0:
            raise _workbook_too_long("elements and attributes", self._file, _MAX_MARKS)
        if self._held < 0:
            raise _workbook_too_long("elements and attributes outside rows", self._file, _MOST_HELD)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(":")[2]
        self._root = self._root or local
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._error(f"elements are nested more than {MAX_DEPTH} deep")
        if self._root not in _ROOTS:
            return
        size = 1 + len(attributes)
        self._marks -= size
        if self._piece:
            self._in_piece += size
            if self._in_piece > _MOST_IN_PIECE:
                raise self._error(f"a row has more than {_MOST_IN_PIECE:,} elements and attributes")
        elif local == _STREAMED.get(self._root):
            self._piece, self._in_piece = self._depth, 0
        else:
            self.sheets += self._root == "workbook" and local == "sheet"
            self._held -= size

    def _end(self, _: str) -> None:
        if self._depth == self._piece:
            self._piece = 0
        self._depth -= 1

    def _refuse_declaration(self, *_: object) -> None:
        raise self._error("a document type declaration is not read")

    def _error(self, problem: str) -> FormatError:
        line = self._parser.CurrentLineNumber
        return FormatError(problem, file=self._part, line=line, advice="save the workbook as .xlsx again")


def _workbook_too_long(what: str, file: object, most: int) -> FormatError:
    """Return the error for a workbook with more than `most` of something."""
    return FormatError(
        f"has more than {most:,} {what}", file=str(file), advice="save the sheet as a table with tabs, .tsv"
    )
