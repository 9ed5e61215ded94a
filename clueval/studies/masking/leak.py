"""Leaks: mentions that are not protected, and words of mentions elsewhere in the text, with the text around them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from clueval.findings.decisions import ANY_LAYER, PlaceDecision, PlaceKey
from clueval.first.metrics.masking.mention import Risk
from clueval.first.metrics.masking.weights import Range

MOST_SIBLINGS = 30
"""How many other mentions of the entity a page shows with a leak."""

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


Order = tuple[tuple[int, str], bool, int, str, int, int, str]
"""The sort key of a leak: riskiest class first, then entities that are protected elsewhere, then the longest."""


class _Placed:
    """What lies at a place, with the text around it."""

    __slots__ = ()
    start: int
    end: int
    excerpt: Excerpt

    @property
    def context(self) -> tuple[ShownPiece, ...]:
        """The text around it."""
        return self.excerpt.pieces((self.start, self.end))


@dataclass(frozen=True, slots=True)
class Sibling(_Placed):
    """Another mention of the entity of a leak."""

    start: int
    end: int
    status: str
    excerpt: Excerpt


def decided(leak: Leak | StringLeak) -> dict[str, Any]:
    """Return what was decided about a leak, for JSON and tables; nothing if no decisions were read."""
    if leak.decision is None:
        return {}
    choice, state, comment, reviewer = leak.decision
    said = {"choice": choice, "state": state, "comment": comment, "reviewer": reviewer}
    return {"fingerprint": leak.fingerprint, **said}


@dataclass(frozen=True, slots=True)
class Leak(_Placed):
    """A mention that is not protected.

    Positions are characters of the document. `mentions` and `protected` are the mentions of its entity and those
    of them that are protected; `same_words` and `same_words_protected` the mentions with the same words. `text` is
    the text of the mention, `entity` the number of its entity in the document. `excerpt` and `siblings` are for a page,
    and only leaks that it may show have them. `fingerprint` is that of its place, and `decision` what was decided about
    it, None if no decisions were read (see `clueval.studies.masking.review`).
    """

    document: str
    annotator: str
    start: int
    end: int
    kind: str
    status: str
    exposed: tuple[Range, ...]
    mentions: int
    protected: int
    same_words: int
    same_words_protected: int
    characters_exposed: int
    label: str
    text: str
    words_exposed: int
    entity: int
    excerpt: Excerpt = NO_EXCERPT
    siblings: tuple[Sibling, ...] = ()
    fingerprint: str = ""
    decision: PlaceDecision | None = None

    def to_dict(self) -> dict[str, Any]:
        """The leak for JSON; it has positions, no text."""
        return {
            "document": self.document,
            "annotator": self.annotator,
            "start": self.start,
            "end": self.end,
            "class": self.kind,
            "status": self.status,
            "exposed": [list(one) for one in self.exposed],
            "mentions": self.mentions,
            "protected": self.protected,
            "same_words": self.same_words,
            "same_words_protected": self.same_words_protected,
            **decided(self),
        }

    @property
    def key(self) -> PlaceKey:
        """The key of its place."""
        return self.document, self.annotator, self.start, self.end

    @property
    def is_in_part(self) -> bool:
        """Whether other mentions of the entity are protected."""
        return self.protected > 0

    def order(self, risk: Risk) -> Order:
        """The sort key."""
        place = self.document, self.start, self.end, self.annotator
        return risk(self.kind), not self.protected, -self.characters_exposed, *place


@dataclass(frozen=True, slots=True)
class StringLeak(_Placed):
    """Words of a mention elsewhere in the text, unmasked and in no mention.

    Those that a page may show have an `excerpt`.
    """

    document: str
    start: int
    end: int
    text: str
    excerpt: Excerpt = NO_EXCERPT
    fingerprint: str = ""
    decision: PlaceDecision | None = None

    @property
    def key(self) -> PlaceKey:
        """The key of its place."""
        return self.document, ANY_LAYER, self.start, self.end

    @property
    def place(self) -> tuple[str, int, int]:
        """The sort key: by document, then by position."""
        return self.document, self.start, self.end

    def to_dict(self) -> dict[str, Any]:
        return {"document": self.document, "start": self.start, "end": self.end, **decided(self)}


class Inconsistent(NamedTuple):
    """An entity with several replacements in one document; `start` and `text` are its first protected mention's."""

    document: str
    start: int
    text: str
    replacements: tuple[str, ...]
