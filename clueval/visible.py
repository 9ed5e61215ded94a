"""Text from a corpus, and names of files, as they are shown to people.

A character that could control a terminal, reverse the direction of the text, break a line or stand in a text
unseen is written as an escape: ``\\u001b`` for ESC. So are lone surrogates, which no file can hold.
"""

from __future__ import annotations

import re

STEERING = re.compile(
    "[\x00-\x1f\x7f-\x9f"  # controls: C0, DEL, C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # direction
    "\u2028\u2029"  # ends of lines and paragraphs
    "\u200b\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff"  # invisible, or no characters
    "\U000e0000-\U000e00ff"  # invisible tags
    "\ud800-\udfff]"  # lone surrogates
)
"""The characters that are nowhere shown as they are."""

_BLANKS = frozenset("\xa0\xad\u1680\u202f\u205f\u3000").union(map(chr, range(0x2000, 0x200B)))
"""Blanks of other widths, and the soft hyphen: no harm comes of them, and German texts are full of them."""


def visible(text: str) -> str:
    """Text in one line, with an escape for every character that does not print, save blanks.

    >>> visible("Anna\\x1b[31m"), visible("a\\tb\\n")
    ('Anna\\\\u001b[31m', 'a\\\\u0009b\\\\u000a')
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in _BLANKS else escape(c) for c in text)


def visible_lines(text: str) -> str:
    """Text in lines and columns, with an escape for every character of `STEERING` but line feeds and tabs.

    Joiners stay, which some scripts cannot be written without.

    >>> visible_lines("a\\tb\\n\\x1b")
    'a\\tb\\n\\\\u001b'
    """
    return text if text.isprintable() else _STEERING_INSIDE.sub(lambda match: escape(match[0]), text)


def escaped_in_json(text: str) -> str:
    """JSON in which the characters of `STEERING` are written as escapes, which mean the same; line feeds stay.

    >>> escaped_in_json('["\\u202e"]')
    '["\\\\u202e"]'
    """
    return text if text.isprintable() else _STEERING_INSIDE.sub(lambda match: _in_json(match[0]), text)


_STEERING_INSIDE = re.compile(f"(?![\t\n]){STEERING.pattern}")


def escape(character: str) -> str:
    """One character by its number."""
    number = ord(character)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def _in_json(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4))
