"""Lists that a text holds: JSON, a literal of Python, or a list as NumPy prints it.

Tables that are written as JSON often have the list of a cell as a text. Such a text is brought into the form of JSON
and parsed; nothing in it is run.
"""

from __future__ import annotations

import json
import re
from typing import Any

_PIECE = re.compile(
    r"""
    (?P<string> '(?>(?:[^'\\]|\\.)*)(?:'|\Z) | "(?>(?:[^"\\]|\\.)*)(?:"|\Z) )
  | (?P<name> \b(?:None|True|False)\b )
  | (?P<between> \}\s*+(?=\{) )
  | (?P<open> \( )
  | (?P<close> (?:,\s*+)?[\])}] )
    """,
    re.DOTALL | re.VERBOSE,
)
"""What a literal of Python and JSON write differently; `between` has no comma where NumPy prints a list of objects."""

_NAMES = {"None": "null", "True": "true", "False": "false"}
_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|(.))", re.DOTALL
)
_ESCAPED = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\n": ""} | {
    itself: itself for itself in "\\'\"/"
}
_UNFINISHED = "xuUN"
"""Letters after which a literal of Python needs more."""

_SHORTENED = re.compile(r"[\s\[,]\.\.\.[\s\],]")
_decoder = json.JSONDecoder(strict=False)


def literal_in(text: str) -> Any:
    """Return the value of a text. Raises ValueError, whose message says what is wrong, for anything but a literal.

    >>> literal_in("[{'start': 0, 'label': 'O\\\\'Neil'}\\n {'start': 4, 'label': None}]")
    [{'start': 0, 'label': "O'Neil"}, {'start': 4, 'label': None}]
    >>> literal_in("[(0, 4, 'PER'),]")
    [[0, 4, 'PER']]
    """
    plain = (
        text.replace("'", '"') if '"' not in text and "\\" not in text else text
    )  # most texts are, and it is fast
    try:
        return json.loads(plain)
    except (ValueError, RecursionError):
        pass
    try:
        return _decoder.decode(_PIECE.sub(_in_json, text.strip()))
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    except (ValueError, OverflowError):
        shortened = _SHORTENED.search(text) is not None
        raise ValueError("NumPy has shortened it with ..." if shortened else "it is not a literal") from None


def _in_json(piece: re.Match[str]) -> str:
    text = piece[0]
    if piece["string"]:
        return json.dumps(_ESCAPE.sub(_character, text[1:-1]))
    if piece["name"]:
        return _NAMES[text]
    if piece["between"]:
        return "},"
    return "[" if piece["open"] else text[-1].replace(")", "]")


def _character(escape: re.Match[str]) -> str:
    """Return what an escape stands for. Raises ValueError or OverflowError for what is none, or above the last one."""
    *numbers, octal, letter = escape.groups()
    if letter is None:
        return chr(int(octal, 8) if octal else int(next(filter(None, numbers)), 16))
    if letter in _UNFINISHED:
        raise ValueError("an escape is not finished")
    return _ESCAPED.get(letter, escape[0])
