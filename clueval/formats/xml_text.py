"""XML: a reader of events, whose errors have file and line, and the escapes of characters that are written."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NoReturn

from clueval.files.errors import FormatError

if TYPE_CHECKING:
    from pyexpat import XMLParserType


ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})
"""The escapes of characters in a text."""

_IN_ATTRIBUTES = {**ESCAPES, ord('"'): "&quot;", ord("\n"): "&#10;", ord("\t"): "&#9;"}


def quoted(value: str) -> str:
    """Return the text of an attribute, with its quotation marks.

    >>> print(quoted('"a" & b'))
    "&quot;a&quot; &amp; b"
    """
    return f'"{value.translate(_IN_ATTRIBUTES)}"'


_FORBIDDEN = "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
"""The characters that XML 1.0 (2.2) does not allow, not even as a character reference."""


def forbidden(text: str) -> re.Match[str] | None:
    """Return a match of the first character that XML cannot contain, or None."""
    return re.search(_FORBIDDEN, text)


NAME = r"[^\W\d][\w:.\-]*+"  # possessive, without backtracking, so that each line costs linear time
_ATTRIBUTE = re.compile(rf"(?<![\w:.\-])({NAME})\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")


def attributes(tag: str) -> dict[str, str]:
    """Return the attributes of an XML tag, decoded.

    >>> attributes('<text id="d1" title="R&amp;D">')
    {'id': 'd1', 'title': 'R&D'}
    """
    return {name: unescape(double or single) for name, double, single in _ATTRIBUTE.findall(tag)}


_ENTITY = re.compile("&(?:(amp|lt|gt|quot|apos)|#([0-9]{1,7})|#[xX]([0-9a-fA-F]{1,6}));")
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


def unescape(text: str) -> str:
    """Decode the five entities of XML and character references; other ampersands stay unchanged.

    >>> unescape("R&amp;D &#167; & &co;")
    'R&D § & &co;'
    """
    return _ENTITY.sub(_character, text) if "&" in text else text


def _character(match: re.Match[str]) -> str:
    name, decimal, hexadecimal = match.groups()
    if name:
        return _NAMED[name]
    code = int(decimal) if decimal else int(hexadecimal, 16)
    return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else match[0]


class EventReader(ABC):
    """Reads a file once. A document type declaration is refused, so that the only entities are those of XML.

    `_path` has the names of the open elements, without the one that starts or ends.
    """

    def __init__(self, file: str, document: str | None = None) -> None:
        self._file, self._document = file, document
        self._path: list[str] = []
        from xml.parsers import expat  # columns have entities, too, but no parser

        parser: XMLParserType = expat.ParserCreate()
        self._parser = parser
        parser.buffer_text = True
        parser.StartElementHandler = self._open_element
        parser.EndElementHandler = self._close_element
        parser.CharacterDataHandler = self._text
        parser.StartDoctypeDeclHandler = lambda *_: self._refuse(
            "a document type declaration (DTD)", "remove it"
        )

    def read(self, data: str) -> None:
        """Handle all events of the content of the file. Raises `FormatError` with the line."""
        from xml.parsers import expat

        try:
            self._parser.Parse(data, True)
        except expat.ExpatError as error:
            problem = expat.ErrorString(error.code)
            is_undefined = problem == expat.errors.XML_ERROR_UNDEFINED_ENTITY
            raise FormatError(
                f"not well-formed XML: {problem}, column {error.offset + 1}",
                file=self._file,
                line=error.lineno,
                advice="only &amp; &lt; &gt; &quot; &apos; and character references are defined"
                if is_undefined
                else None,
            ) from None
        except UnicodeEncodeError as error:
            raise FormatError(
                f"half of a surrogate pair, U+{ord(data[error.start]):04X}",
                file=self._file,
                line=data.count("\n", 0, error.start) + 1,
            ) from None

    def _open_element(self, name: str, attributes: dict[str, str]) -> None:
        self._start(name, attributes)
        self._path.append(name)

    def _close_element(self, name: str) -> None:
        self._path.pop()
        self._end(name)

    @property
    def _line(self) -> int:
        return self._parser.CurrentLineNumber

    @abstractmethod
    def _start(self, name: str, attributes: dict[str, str]) -> None:
        """Handle the start of an element."""

    def _end(self, name: str) -> None:  # noqa: B027  # not every format needs it
        """Handle the end of an element."""

    @abstractmethod
    def _text(self, text: str) -> None:
        """Handle a part of the text."""

    def _refuse(self, problem: str, advice: str | None = None) -> NoReturn:
        raise FormatError(
            problem,
            file=self._file,
            line=self._line,
            document=self._document,
            advice=advice,
        )
