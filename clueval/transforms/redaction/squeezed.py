"""A text without differences in white space, and where its characters stand in the text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_VISIBLE = re.compile(r"\S+")
WORD = re.compile(r"\w+|[^\w\s]")
"""A word, or one sign."""


@dataclass(frozen=True, slots=True)
class SqueezedText:
    """A text whose runs of white space are one blank, or nothing, and whose ends are stripped.

    `places` has the place of each character in the text as it was.
    """

    text: str
    places: Sequence[int]

    @classmethod
    def of(cls, text: str, *, joined: bool) -> SqueezedText:
        """Return the squeezed text; with `joined`, white space is left out altogether.

        >>> SqueezedText.of(" a  b", joined=False)
        SqueezedText(text='a b', places=[1, 2, 4])
        """
        pieces: list[str] = []
        places: list[int] = []
        for match in _VISIBLE.finditer(text):
            if pieces and not joined:
                pieces.append(" ")
                places.append(places[-1] + 1)
            pieces.append(match[0])
            places.extend(range(*match.span()))
        return cls("".join(pieces), places)

    def range_of(self, start: int, end: int) -> tuple[int, int]:
        """Return the range of a non-empty range of characters in the text as it was."""
        return self.places[start], self.places[end - 1] + 1


def squeeze(text: str, *, joined: bool) -> str:
    """Return a text with its runs of white space as one blank, or without them; the ends stay."""
    return re.sub(r"\s+", "" if joined else " ", text)


def words_in(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the ranges of the words and signs between two places."""
    return [match.span() for match in WORD.finditer(text, start, end)]


def without_equal_ends(
    text: str, own: Sequence[tuple[int, int]], other_text: str, other: Sequence[tuple[int, int]]
) -> Sequence[tuple[int, int]]:
    """Return the words of one text without those at its ends that the other text has there, too."""
    mine = [text[start:end] for start, end in own]
    others = [other_text[start:end] for start, end in other]
    most = min(len(mine), len(others))
    first = next((n for n in range(most) if mine[n] != others[n]), most)
    last = next((n for n in range(most - first) if mine[-1 - n] != others[-1 - n]), most - first)
    return own[first : len(own) - last]
