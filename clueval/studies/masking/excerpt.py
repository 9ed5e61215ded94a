"""What a page shows of the text around a mention, kept as text and ranges until it is shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from clueval.metrics.masking.weights import Range

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

    A long range has two windows, of its beginning and of its end. `masked` are the runs of masked characters in them,
    and `exposed` those of exposed characters of the range itself, by position; they may go on beyond the windows.
    `goes_on`: the document has more text after it.
    """

    windows: tuple[tuple[int, str], ...] = ()
    masked: Sequence[Range] = ()
    exposed: Sequence[Range] = ()
    goes_on: bool = False

    def pieces(self, own: Range) -> tuple[ShownPiece, ...]:
        """Return the text in pieces: masked, exposed, or neither; `own` is the range.

        The text begins and ends at a blank if one is near, unless it is that of the whole document.
        """
        between, cut = [ShownPiece("…", "", is_own=True)], [ShownPiece("…", "", is_own=False)]
        found: list[ShownPiece] = []
        for number, (start, text) in enumerate(self.windows):
            first, last = start, start + len(text)
            if number == 0 and start > 0:
                first += max(0, text.find(" ", 0, own[0] - start))
            if number == len(self.windows) - 1 and self.goes_on:
                blank = text.rfind(" ", own[1] - start)
                last = last if blank < 0 else start + blank + 1
            found += between * (number > 0) + self._pieces((first, last), text[first - start :], own)
        return (*cut * (self.windows[0][0] > 0), *found, *cut * self.goes_on) if self.windows else ()

    def _pieces(self, window: Range, text: str, own: Range) -> list[ShownPiece]:
        """Return the pieces of a window, at whose start the text begins."""
        first, last = window
        inside = max(own[0], first), min(own[1], last)
        masked, exposed = _clipped(self.masked, window), _clipped(self.exposed, inside)
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


def windows_of(own: Range, whole: Range) -> tuple[Range, ...]:
    """Return the ranges of the windows around `own`: of a long range, the beginning and the end.

    `whole` is the range of the document.
    """
    first, last = max(whole[0], own[0] - AROUND), min(whole[1], own[1] + AROUND)
    if own[1] - own[0] <= MOST_SHOWN:
        return ((first, last),)
    return (first, own[0] + MOST_SHOWN // 2), (own[1] - MOST_SHOWN // 2, last)


def _clipped(ranges: Iterable[Range], window: Range) -> list[Range]:
    """Return the parts of ranges that lie in a window."""
    first, last = window
    return [(max(start, first), min(end, last)) for start, end in ranges if start < last and end > first]
