"""Folded texts: what is compared when mentions are looked for, with the places of its characters in the text.

Folds: ``space`` (Unicode's form NFC, and each run of white space as one blank), ``quotes`` (all single quotes, double
quotes and dashes are the same) and ``case`` (no difference between upper and lower case).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

_QUOTES = str.maketrans(
    dict.fromkeys("‘’‚‛′`´ʼ＇", "'") | dict.fromkeys("“”„‟″«»＂", '"') | dict.fromkeys("‐‑‒–—―−", "-")
)

_SECOND = frozenset(
    map(
        chr,
        (
            *range(0x1161, 0x1176),
            *range(0x11A8, 0x11C3),
            *(
                0x9BE,
                0x9D7,
                0xB3E,
                0xB56,
                0xB57,
                0xBBE,
                0xBD7,
                0xCC2,
                0xCD5,
                0xCD6,
                0xD3E,
                0xD57,
                0xDCF,
                0xDDF,
            ),
            *(
                0xFB5,
                0xFB7,
                0x102E,
                0x1B35,
                0x11127,
                0x1133E,
                0x11357,
                0x114B0,
                0x114BA,
                0x114BD,
                0x115AF,
                0x11930,
            ),
        ),
    )
)
"""The characters of combining class 0 that NFC can join to the one before them: those of Hangul, and others."""


_BLANKS = re.compile(r"[^\S ]|  ")
"""White space that is not a single blank."""


class Folded(NamedTuple):
    """A folded text. Each of its characters comes from the range between its start and its end in the original.

    Several characters of one range belong together, as the two that ``ß`` becomes.
    """

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    def range_of(self, first: int, last: int) -> tuple[int, int] | None:
        """Return the range of some characters in the original; None if they begin or end inside of a range."""
        begins = first == 0 or self.starts[first] != self.starts[first - 1]
        ends = last == len(self.text) or self.starts[last] != self.starts[last - 1]
        return (self.starts[first], self.ends[last - 1]) if begins and ends else None


def folded(text: str, folds: Collection[str]) -> Folded:
    """Return a text with these folds.

    >>> folded("Groß  B", ["space", "case"])
    Folded(text='gross b', starts=[0, 1, 2, 3, 3, 4, 6], ends=[1, 2, 3, 4, 4, 6, 7])
    """
    if "space" not in folds or _is_plain(text):
        plain = text.translate(_QUOTES) if "quotes" in folds else text
        if "case" not in folds or text.isascii():
            plain = plain.lower() if "case" in folds else plain
            return Folded(plain, range(len(text)), range(1, len(text) + 1))
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for start, end, piece in _pieces(text, "space" in folds):
        if "quotes" in folds:
            piece = piece.translate(_QUOTES)
        if "case" in folds:
            piece = piece.casefold()
        pieces.append(piece)
        starts += [start] * len(piece)
        ends += [end] * len(piece)
    return Folded("".join(pieces), starts, ends)


def _is_plain(text: str) -> bool:
    """Return whether the fold ``space`` changes nothing."""
    return _BLANKS.search(text) is None and unicodedata.is_normalized("NFC", text)


def _pieces(text: str, space: bool) -> Iterator[tuple[int, int, str]]:
    """Yield the parts of a text that are folded alone: characters or, with `space`, what NFC joins, and white space."""
    if not space:
        yield from ((at, at + 1, character) for at, character in enumerate(text))
        return
    normal = unicodedata.is_normalized("NFC", text)
    at = 0
    while at < len(text):
        end = at + 1
        if text[at].isspace():
            while end < len(text) and text[end].isspace():
                end += 1
            yield at, end, " "
        else:
            while not normal and end < len(text) and _joins(text[end]):
                end += 1
            yield at, end, text[at:end] if normal else unicodedata.normalize("NFC", text[at:end])
        at = end


def _joins(character: str) -> bool:
    return unicodedata.combining(character) > 0 or character in _SECOND
