"""Text from a corpus and names of files in a form that is safe to print.

A character that could control a terminal, reverse the direction of the text, break a line or be invisible is
written as an escape: ``\\u001b`` for ESC. So are lone surrogates, which no file can contain.
"""

from __future__ import annotations

import re

STEERING = (
    "[\x00-\x1f\x7f-\x9f"  # controls: C0, DEL, C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # direction
    "\u2028\u2029"  # ends of lines and paragraphs
    "\u200b\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff"  # invisible, or no characters
    "\U000e0000-\U000e00ff"  # invisible tags
    "\ud800-\udfff]"  # lone surrogates
)
"""The pattern of a character that is always written as an escape; it is compiled when text is first searched."""

_BLANKS = frozenset("\xa0\xad\u1680\u202f\u205f\u3000").union(map(chr, range(0x2000, 0x200B)))
"""Blanks of other widths, and the soft hyphen: they are harmless and frequent in German texts."""


def visible(text: str) -> str:
    """Return the text in one line, with escapes for all non-printing characters except blanks.

    >>> visible("Anna\\x1b[31m"), visible("a\\tb\\n")
    ('Anna\\\\u001b[31m', 'a\\\\u0009b\\\\u000a')
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in _BLANKS else escape(c) for c in text)


LONGEST_LABEL = 60
"""The number of characters of a label that are shown."""


def cut_label(label: str, longest: int = LONGEST_LABEL) -> str:
    """Return a label as it is shown: a label longer than `longest` is cut there and ends with ``…``.

    >>> cut_label("PER"), len(cut_label("x" * 1000))
    ('PER', 61)
    """
    return label if len(label) <= longest else f"{label[:longest]}…"


def visible_lines(text: str) -> str:
    """Return the text with escapes for all characters of `STEERING` except line feeds and tabs.

    Zero-width joiners stay, because some scripts need them.

    >>> visible_lines("a\\tb\\n\\x1b")
    'a\\tb\\n\\\\u001b'
    """
    return text if text.isprintable() else re.sub(_STEERING_INSIDE, lambda match: escape(match[0]), text)


def escaped_in_json(text: str) -> str:
    """Return JSON with equivalent escapes for the characters of `STEERING`, except line feeds and tabs.

    >>> escaped_in_json('["\\u202e"]')
    '["\\\\u202e"]'
    """
    return text if text.isprintable() else re.sub(_STEERING_INSIDE, lambda match: _in_json(match[0]), text)


_STEERING_INSIDE = f"(?![\t\n]){STEERING}"


def escape(character: str) -> str:
    """Return the escape for a character, with its code point in hexadecimal digits."""
    number = ord(character)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def _in_json(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4))
