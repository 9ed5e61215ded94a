"""What a page shows of the text around a mention, kept as text and ranges until it is shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import NamedTuple

from clueval.metrics.masking.flags import Range

AROUND = 60
"""How many characters of context a page shows on either side of a mention."""

MOST_SHOWN = 400
"""How many characters of a mention a page shows; of a longer one, as many from its beginning as from its end."""

_IN_ONE_LINE = str.maketrans("\t\n\r", "   ")
"""Line ends and tabs are blanks on a page, which shows every text in one line; positions stay the same."""


@dataclass(frozen=True, slots=True)
class ShownPiece:
    """A piece of a context; `style` is ``masked``, ``exposed`` or empty, `is_own` marks the mention itself."""

    text: str
    style: str
    is_own: bool


class Excerpt(NamedTuple):
    """The text around a range: `windows` has the start of each part of it and its text.

    A long range has two windows, of its beginning and of its end. `masked` are the runs of masked characters, and
    `exposed` those of exposed characters of the range itself, by position; `is_cut`: text before it or after it is
    left out.
    """

    windows: tuple[tuple[int, str], ...] = ()
    masked: tuple[Range, ...] = ()
    exposed: tuple[Range, ...] = ()
    is_cut: tuple[bool, bool] = (False, False)

    def pieces(self, own: Range) -> tuple[ShownPiece, ...]:
        """Return the text in pieces: masked, exposed, or neither; `own` is the range."""
        between, cut = [ShownPiece("…", "", is_own=True)], [ShownPiece("…", "", is_own=False)]
        found = [
            between * (number > 0) + self._pieces(start, text, own)
            for number, (start, text) in enumerate(self.windows)
        ]
        return (*cut * self.is_cut[0], *chain(*found), *cut * self.is_cut[1])

    def _pieces(self, first: int, text: str, own: Range) -> list[ShownPiece]:
        last = first + len(text)
        inside = max(own[0], first), min(own[1], last)
        masked, exposed = clipped(self.masked, (first, last)), clipped(self.exposed, inside)
        styles = dict.fromkeys((start for start, _ in exposed), "exposed")
        styles |= dict.fromkeys((start for start, _ in masked), "masked")
        ends = {end for _, end in (*masked, *exposed)}
        places = sorted({first, last, *inside, *styles, *ends})
        found, style = [], ""
        for start, end in pairwise(places):
            style = styles.get(start, "" if start in ends else style)
            is_own = own[0] <= start < own[1]
            found.append(ShownPiece(in_one_line(text[start - first : end - first]), style, is_own))
        return found


NO_EXCERPT = Excerpt()


def in_one_line(text: str) -> str:
    """Return a text with blanks for tabs and line ends."""
    return text.translate(_IN_ONE_LINE)


def windows_of(text: str, own: Range, whole: Range) -> list[Range]:
    """Return the ranges that an excerpt of `own` shows: of a long range, the beginning and the end.

    `whole` is the range of the document in `text`. An excerpt begins and ends at a blank if one is near.
    """
    first, last = max(whole[0], own[0] - AROUND), min(whole[1], own[1] + AROUND)
    if first > whole[0]:
        first = max(first, text.find(" ", first, own[0]))
    if last < whole[1]:
        blank = text.rfind(" ", own[1], last)
        last = last if blank < 0 else blank + 1
    if own[1] - own[0] <= MOST_SHOWN:
        return [(first, last)]
    return [(first, own[0] + MOST_SHOWN // 2), (own[1] - MOST_SHOWN // 2, last)]


def clipped(ranges: Iterable[Range], window: Range) -> list[Range]:
    """Return the parts of ranges that lie in a window."""
    first, last = window
    return [(max(start, first), min(end, last)) for start, end in ranges if start < last and end > first]
