"""Leaks: mentions that are not protected, and words of mentions elsewhere in the text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from clueval.metrics.masking.flags import Range
from clueval.metrics.masking.mention import Risk
from clueval.studies.masking.excerpt import NO_EXCERPT, Excerpt, ShownPiece

MOST_SIBLINGS = 30
"""How many other mentions of the entity a page shows with a leak."""


Order = tuple[tuple[int, str], bool, int, str, int, int, str]
"""The sort key of a leak: riskiest class first, then entities that are protected elsewhere, then the longest."""


@dataclass(frozen=True, slots=True)
class Sibling:
    """Another mention of the entity of a leak."""

    start: int
    end: int
    status: str
    excerpt: Excerpt

    @property
    def context(self) -> tuple[ShownPiece, ...]:
        """The text around it."""
        return self.excerpt.pieces((self.start, self.end))


@dataclass(frozen=True, slots=True)
class Leak:
    """A mention that is not protected.

    Positions are characters of the document. `mentions` and `protected` are the mentions of its entity and those
    of them that are protected; `same_words` and `same_words_protected` the mentions with the same words. `text` is
    the text of the mention. `excerpt` and `siblings` are for a page, and only leaks that it may show have them.
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
    excerpt: Excerpt = NO_EXCERPT
    siblings: tuple[Sibling, ...] = ()

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
        }

    @property
    def context(self) -> tuple[ShownPiece, ...]:
        """The text around it."""
        return self.excerpt.pieces((self.start, self.end))

    @property
    def is_in_part(self) -> bool:
        """Whether other mentions of the entity are protected."""
        return self.protected > 0

    def order(self, risk: Risk) -> Order:
        """The sort key."""
        place = self.document, self.start, self.end, self.annotator
        return order_of(risk(self.kind), self.protected, self.characters_exposed, place)


def order_of(risk: tuple[int, str], protected: int, exposed: int, place: tuple[str, int, int, str]) -> Order:
    """Return the sort key of a leak, with the key of its class; its place are document, start, end and annotator."""
    return risk, not protected, -exposed, *place


@dataclass(frozen=True, slots=True)
class StringLeak:
    """Words of a mention elsewhere in the text, unmasked and in no mention.

    Those that a page may show have an `excerpt`.
    """

    document: str
    start: int
    end: int
    text: str
    excerpt: Excerpt = NO_EXCERPT

    @property
    def context(self) -> tuple[ShownPiece, ...]:
        """The text around it."""
        return self.excerpt.pieces((self.start, self.end))

    @property
    def place(self) -> tuple[str, int, int]:
        """The sort key: by document, then by position."""
        return self.document, self.start, self.end

    def to_dict(self) -> dict[str, Any]:
        return {"document": self.document, "start": self.start, "end": self.end}


class Inconsistent(NamedTuple):
    """An entity with several replacements in one document; `start` and `text` are its first protected mention's."""

    document: str
    start: int
    text: str
    replacements: tuple[str, ...]
