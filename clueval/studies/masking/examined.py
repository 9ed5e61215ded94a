"""What a report lists of a document whose characters were examined.

This is the plain way to the leaks of a document; `clueval.studies.masking.token_leaks` is a faster one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import islice
from typing import NamedTuple

from clueval.metrics.masking.counts import by_entity
from clueval.metrics.masking.exposure import Examination, Judged
from clueval.metrics.masking.flags import Range
from clueval.metrics.masking.masked_words import Surface
from clueval.metrics.masking.mention import Mention
from clueval.metrics.masking.replacements import replacements_of
from clueval.studies.masking.excerpt import NO_EXCERPT, Excerpt, in_one_line, windows_of
from clueval.studies.masking.first_places import ShownLeaks
from clueval.studies.masking.leak import MOST_SIBLINGS, Inconsistent, Leak, Sibling, StringLeak


def leaks_of(examination: Examination, shown: ShownLeaks) -> Iterator[Leak]:
    """Yield the leaks of one document."""
    excerpt = cache(partial(_excerpt, examination))
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
                leak = _leak(examination, annotator, one, members, same)
                if shown.has_leak(leak.order(shown.risk)):
                    others = islice((other for other in members.mentions if other is not one), MOST_SIBLINGS)
                    siblings = tuple(_sibling(other, excerpt) for other in others)
                    leak = replace(leak, excerpt=excerpt((leak.start, leak.end)), siblings=siblings)
                yield leak


class _MentionsOfEntity(NamedTuple):
    """The mentions of an entity, and how many of them are protected."""

    mentions: Sequence[Judged]
    protected: int


_ExcerptOf = Callable[[Range], Excerpt]


def _leak(
    examination: Examination,
    annotator: str,
    one: Judged,
    members: _MentionsOfEntity,
    same: tuple[int, int],
) -> Leak:
    mention = one.mention
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
    )


def _sibling(one: Judged, excerpt: _ExcerptOf) -> Sibling:
    mention = one.mention
    return Sibling(mention.start, mention.end, one.status, excerpt((mention.start, mention.end)))


def string_leaks_of(examination: Examination, shown: ShownLeaks) -> Iterator[StringLeak]:
    """Yield the string leaks of one document."""
    document = examination.document.id
    for start, end in examination.string_leaks:
        is_shown = shown.has_string(document, start, end)
        excerpt = _excerpt(examination, (start, end)) if is_shown else NO_EXCERPT
        yield StringLeak(document, start, end, examination.words.text[start:end], excerpt)


def needless_of(examination: Examination) -> Iterator[str]:
    """Yield the texts of the masks that have no character of a mention."""
    text = examination.words.text
    for mask in examination.masks:
        if mask.counted and not examination.mentioned.within(mask.ranges):
            yield in_one_line("".join(text[start:end] for start, end in mask.ranges))


def inconsistent_of(examination: Examination) -> Iterator[Inconsistent]:
    """Yield the entities of one document that have several replacements."""
    found: dict[tuple[str, Surface], tuple[Mention, set[str]]] = {}
    for annotator, one, replacement in replacements_of(examination):
        _, different = found.setdefault((annotator, one.mention.entity), (one.mention, set()))
        different.add(replacement)
    for mention, different in found.values():
        if len(different) > 1:
            text = examination.words.text[mention.start : mention.end]
            yield Inconsistent(examination.document.id, mention.start, text, tuple(sorted(different)))


def _excerpt(examination: Examination, own: Range) -> Excerpt:
    """Return the text around a range; if nothing in it is exposed, all of it that is not masked is shown as exposed."""
    text, masked = examination.words.text, examination.masked
    exposed = examination.exposed if examination.exposed.between(*own) else examination.readable
    windows = windows_of(own, (0, len(text)))
    inside = tuple((max(own[0], first), min(own[1], last)) for first, last in windows)
    return Excerpt(
        tuple((first, text[first:last]) for first, last in windows),
        masked.runs(windows),
        exposed.runs(inside),
        windows[-1][1] < len(text),
    )
