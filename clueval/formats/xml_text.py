"""Shared code of the XML formats: parsing with errors that have file and line, and escapes for writing.

Expat is imported, and the pattern compiled, only when they are used, because the recognition of formats
imports this module for files of all formats.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clueval.exceptions import FormatError

if TYPE_CHECKING:
    from pyexpat import XMLParserType

ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})
"""The escapes of characters in a text."""

_FORBIDDEN = "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
"""The characters that XML 1.0 (2.2) does not allow, not even as a character reference."""


def forbidden(text: str) -> re.Match[str] | None:
    """Return a match of the first character that XML cannot contain, or None."""
    return re.search(_FORBIDDEN, text)


def parser() -> XMLParserType:
    """Return a parser that passes text in pieces that are as long as possible."""
    from xml.parsers import expat

    made = expat.ParserCreate()
    made.buffer_text = True
    return made


def parse(parser: XMLParserType, data: str, file: str) -> None:
    """Parse a whole text. Raises `FormatError` with the line for XML that is not well-formed."""
    from xml.parsers import expat

    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        problem = expat.ErrorString(error.code)
        raise FormatError(
            f"not well-formed XML: {problem}, column {error.offset + 1}",
            file=file,
            line=error.lineno,
            advice="only &amp; &lt; &gt; &quot; &apos; and character references are defined"
            if problem == expat.errors.XML_ERROR_UNDEFINED_ENTITY
            else None,
        ) from None
    except UnicodeEncodeError as error:
        raise FormatError(
            f"half of a surrogate pair, U+{ord(data[error.start]):04X}",
            file=file,
            line=data.count("\n", 0, error.start) + 1,
        ) from None
