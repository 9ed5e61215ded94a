"""Leaks: the mentions of a document that are not protected, and what a page shows of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain, islice, pairwise
from typing import Any, NamedTuple

from clueval.metrics.masking.counts import by_entity
from clueval.metrics.masking.exposure import Examination, Judged
from clueval.metrics.masking.flags import Range
from clueval.metrics.masking.masked_words import Surface
from clueval.metrics.masking.mention import Mention, Risk

AROUND = 60
"""How many characters of context a page shows on either side of a mention."""

MOST_SHOWN = 400
"""How many characters of a mention a page shows; of a longer one, as many from its beginning as from its end."""

_IN_ONE_LINE = str.maketrans("\t\n\r", "   ")
"""Line ends and tabs are blanks on a page, which shows every text in one line; positions stay the same."""

MOST_SIBLINGS = 30
"""How many other mentions of the entity a page shows with a leak."""


@dataclass(frozen=True, slots=True)
class ShownPiece:
    """A piece of a context; `style` is ``masked``, ``exposed`` or empty, `is_own` marks the mention itself."""

    text: str
    style: str
    is_own: bool


@dataclass(frozen=True, slots=True)
class Sibling:
    """Another mention of the entity of a leak, with its context."""

    start: int
    end: int
    status: str
    context: tuple[ShownPiece, ...]


@dataclass(frozen=True, slots=True)
class Leak:
    """A mention that is not protected.

    Positions are characters of the document. `mentions` and `protected` are the mentions of its entity and those
    of them that are protected; `same_words` and `same_words_protected` the mentions with the same words. `text` is
    the text of the mention, `context` and `siblings` are for a page.
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
    context: tuple[ShownPiece, ...] = ()
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
    def is_in_part(self) -> bool:
        """Whether other mentions of the entity are protected."""
        return self.protected > 0

    def order(self, risk: Risk) -> tuple[Any, ...]:
        """The sort key: riskiest class first, then entities that are protected elsewhere, then the longest."""
        place = (self.document, self.start, self.end, self.annotator)
        return (risk(self.kind), not self.is_in_part, -self.characters_exposed, *place)


@dataclass(frozen=True, slots=True)
class StringLeak:
    """Words of a mention elsewhere in the text, unmasked and in no mention."""

    document: str
    start: int
    end: int
    text: str
    context: tuple[ShownPiece, ...] = ()

    @property
    def place(self) -> tuple[str, int, int]:
        """The sort key: by document, then by position."""
        return self.document, self.start, self.end

    def to_dict(self) -> dict[str, Any]:
        return {"document": self.document, "start": self.start, "end": self.end}


def leaks_of(examination: Examination) -> Iterator[Leak]:
    """Yield the leaks of one document."""
    context = cache(partial(context_of, examination))
    for annotator, found in examination.judged.items():
        counted = [one for one in found if one.mention.counted]
        entities = {
            entity: _MentionsOfEntity(members, sum(one.is_protected for one in members))
            for entity, members in by_entity(counted).items()
        }
        words = Counter(one.mention.surface for one in counted)
        protected = Counter(one.mention.surface for one in counted if one.is_protected)
        for one in counted:
            if not one.is_protected:
                members = entities[one.mention.entity]
                same = (words[one.mention.surface], protected[one.mention.surface])
                yield _leak(examination, annotator, one, members, same, context)


class _MentionsOfEntity(NamedTuple):
    """The mentions of an entity, and how many of them are protected."""

    mentions: Sequence[Judged]
    protected: int


_ContextOf = Callable[[Range], tuple[ShownPiece, ...]]


def _leak(
    examination: Examination,
    annotator: str,
    one: Judged,
    members: _MentionsOfEntity,
    same: tuple[int, int],
    context: _ContextOf,
) -> Leak:
    mention = one.mention
    others = islice((other for other in members.mentions if other is not one), MOST_SIBLINGS)
    return Leak(
        examination.document.id,
        annotator,
        mention.start,
        mention.end,
        mention.kind,
        one.status,
        tuple(examination.exposed_in(mention)),
        len(members.mentions),
        members.protected,
        *same,
        one.exposed,
        mention.label,
        examination.words.text[mention.start : mention.end],
        context((mention.start, mention.end)),
        tuple(_sibling(other, context) for other in others),
    )


def _sibling(one: Judged, context: _ContextOf) -> Sibling:
    mention = one.mention
    return Sibling(mention.start, mention.end, one.status, context((mention.start, mention.end)))


def string_leaks_of(examination: Examination) -> Iterator[StringLeak]:
    """Yield the string leaks of one document."""
    for start, end in examination.string_leaks:
        text = examination.words.text[start:end]
        yield StringLeak(examination.document.id, start, end, text, context_of(examination, (start, end)))


def needless_of(examination: Examination) -> Iterator[str]:
    """Yield the texts of the masks that have no character of a mention."""
    for mask in examination.masks:
        if mask.counted and not examination.mentioned.within(mask.ranges):
            yield "".join(examination.words.text[start:end] for start, end in mask.ranges).translate(
                _IN_ONE_LINE
            )


def replacements_by_entity(
    replacements: Iterator[tuple[str, Judged, str]],
) -> Mapping[tuple[str, Surface], tuple[Mention, Counter[str]]]:
    """Group the replacements of protected mentions by annotator and entity, with the entity's first mention."""
    found: dict[tuple[str, Surface], tuple[Mention, Counter[str]]] = {}
    for annotator, one, replacement in replacements:
        _, counter = found.setdefault((annotator, one.mention.entity), (one.mention, Counter()))
        counter[replacement] += 1
    return found


def context_of(examination: Examination, own: Range) -> tuple[ShownPiece, ...]:
    """Return the text around a range in pieces: masked, exposed (not masked, in the range), or neither.

    Of a range of more than `MOST_SHOWN` characters, only the beginning and the end are shown.
    """
    text = examination.words.text
    first, last = _reach(text, own)
    windows = [(first, last)]
    if own[1] - own[0] > MOST_SHOWN:
        windows = [(first, own[0] + MOST_SHOWN // 2), (own[1] - MOST_SHOWN // 2, last)]
    between = [ShownPiece("…", "", is_own=True)]
    pieces = [between * (number > 0) + _pieces(examination, one, own) for number, one in enumerate(windows)]
    cut = ShownPiece("…", "", is_own=False)
    return (*([cut] if first else []), *chain(*pieces), *([cut] if last < len(text) else []))


def _pieces(examination: Examination, window: Range, own: Range) -> list[ShownPiece]:
    """Return the pieces of a part of the context of a range; if nothing in the range is exposed, all of it is."""
    text, masked, own_range = examination.words.text, examination.masked, range(*own)
    inside = max(own[0], window[0]), min(own[1], window[1])
    exposed = examination.exposed if examination.exposed.between(*own) else examination.readable
    cuts = chain(window, inside, *exposed.runs((inside,)), *masked.runs((window,)))
    places = sorted({place for place in cuts if window[0] <= place <= window[1]})
    return [
        ShownPiece(
            text[start:end].translate(_IN_ONE_LINE),
            "masked"
            if masked.bytes[start]
            else "exposed"
            if start in own_range and exposed.bytes[start]
            else "",
            start in own_range,
        )
        for start, end in pairwise(places)
    ]


def _reach(text: str, own: Range) -> Range:
    """Return the range of the context, which begins and ends at a blank if one is near."""
    first, last = max(0, own[0] - AROUND), min(len(text), own[1] + AROUND)
    if first:
        first = max(first, text.find(" ", first, own[0]))
    if last < len(text):
        blank = text.rfind(" ", own[1], last)
        last = last if blank < 0 else blank + 1
    return first, last
