"""The rows of a workbook (.xlsx): texts and numbers as text, whatever program has saved it.

A workbook is a zip archive of XML files (ECMA-376), read with the limits of archives; a document type declaration is
refused. Names of elements may have a prefix, texts may stand in the cells or in a table of their own, and of formatted
text the pieces are joined.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from clueval.exceptions import FormatError
from clueval.formats.xml_text import EventReader
from clueval.reading.archives import MARK, Member, members_of
from clueval.textfiles import raw_blocks, raw_content


class SheetRow(NamedTuple):
    """A row of a sheet; `cells` has what is not empty, by the number of the column from 0."""

    sheet: str
    number: int
    cells: Mapping[int, str]


def rows_of(path: Path) -> Iterator[SheetRow]:
    """Yield the rows of all sheets. Raises `FileError` and, for what is no workbook, `FormatError`."""
    next(raw_blocks(path), None)  # a file that cannot be read is an error, whatever it is
    book = _Names(path, "xl/workbook.xml", "sheet", "name", "id").found
    targets = dict(_Names(path, "xl/_rels/workbook.xml.rels", "Relationship", "Id", "Target").found)
    shared = "xl/sharedStrings.xml"
    texts = _Texts(path, shared).found if shared in members_of(path) else []
    for name, relation in book:
        target = targets.get(relation, "")
        member = target.removeprefix("/") if target.startswith("/") else str(PurePosixPath("xl") / target)
        for number, cells in _SheetCells(path, member, texts).found:
            yield SheetRow(name, number, cells)


class _Part(EventReader):
    """One XML file of a workbook; `_path` and names are without prefixes."""

    def __init__(self, path: Path, member: str) -> None:
        if member not in members_of(path):
            raise FormatError(
                f"the workbook has no {member}", file=str(path), advice="save it as .xlsx again"
            )
        whole = Member(f"{path}{MARK}{member}")
        super().__init__(str(whole))
        try:
            text = raw_content(whole).decode("utf-8")
        except UnicodeDecodeError as error:
            raise FormatError(f"not UTF-8: {error.reason}", file=str(whole)) from None
        self.read(text)

    def _open_element(self, name: str, attributes: dict[str, str]) -> None:
        local = {key.rpartition(":")[2]: value for key, value in attributes.items()}
        super()._open_element(name.rpartition(":")[2], local)

    def _close_element(self, name: str) -> None:
        super()._close_element(name.rpartition(":")[2])

    def _text(self, text: str) -> None:
        pass


class _Names(_Part):
    """Pairs of attributes of one kind of element."""

    def __init__(self, path: Path, member: str, element: str, first: str, second: str) -> None:
        self._wanted = element, first, second
        self.found: list[tuple[str, str]] = []
        super().__init__(path, member)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        element, first, second = self._wanted
        if name == element:
            self.found.append((attributes.get(first, ""), attributes.get(second, "")))


class _Written(_Part):
    """Collects the text in elements of `_holders`, except how it is pronounced."""

    _holders: tuple[str, ...] = ("t",)

    def __init__(self, path: Path, member: str) -> None:
        self._pieces: list[str] = []
        super().__init__(path, member)

    def _text(self, text: str) -> None:
        if self._path and self._path[-1] in self._holders and "rPh" not in self._path:
            self._pieces.append(text)

    def _taken(self) -> str:
        """Return the text since the last call; characters that XML cannot hold are written ``_x0001_``."""
        text = "".join(self._pieces)
        self._pieces.clear()
        return re.sub("_x([0-9A-Fa-f]{4})_", lambda found: chr(int(found[1], 16)), text)


class _Texts(_Written):
    """The table of texts."""

    def __init__(self, path: Path, member: str) -> None:
        self.found: list[str] = []
        super().__init__(path, member)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        pass

    def _end(self, name: str) -> None:
        if name == "si":
            self.found.append(self._taken())


class _SheetCells(_Written):
    """The rows of a sheet, with their numbers."""

    _holders = ("t", "v")

    def __init__(self, path: Path, member: str, texts: list[str]) -> None:
        self.found: list[tuple[int, dict[int, str]]] = []
        self._texts, self._row, self._column, self._kind = texts, 0, -1, ""
        super().__init__(path, member)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "row":
            self._row = self._position(attributes.get("r", str(self._row + 1)))
            self._column = -1
            self.found.append((self._row, {}))
        elif name == "c":
            letters = re.match("[A-Z]{1,3}", attributes.get("r", ""))
            self._column = _number_of(letters[0]) if letters else self._column + 1
            self._kind = attributes.get("t", "n")
            self._pieces.clear()

    def _end(self, name: str) -> None:
        if name != "c" or not self.found:
            return
        text = self._taken()
        if self._kind == "s" and text:
            number = self._position(text)
            if number >= len(self._texts):
                self._refuse(f"there is no text {number}")
            text = self._texts[number]
        elif self._kind == "n" and re.fullmatch(r"[0-9.]+(E\+?[0-9]{1,2})?", text) and text.count(".") < 2:
            text = str(int(float(text))) if float(text).is_integer() else text
        if text:
            self.found[-1][1][self._column] = text

    def _position(self, text: str) -> int:
        if not re.fullmatch("[0-9]{1,7}", text):
            self._refuse(f"{text[:40]!r} is not a number")
        return int(text)


def _number_of(letters: str) -> int:
    """Return the number of a column.

    >>> _number_of("A"), _number_of("AB")
    (0, 27)
    """
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number - 1
