"""An observer that collects the leaks of all documents, and what else a page shows of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from itertools import chain, islice
from sys import intern
from typing import Any

from clueval.core.ranges import intersect
from clueval.first.metrics.masking import Masking
from clueval.first.metrics.masking.counts import by_entity
from clueval.first.metrics.masking.exposure import Examination, Judged, replacements_of
from clueval.first.metrics.masking.mention import Mention, Risk, risk_by
from clueval.first.metrics.masking.text import MaskedText
from clueval.first.metrics.metric import Side
from clueval.studies.masking.leak import (
    MOST_SIBLINGS,
    NO_EXCERPT,
    Excerpt,
    Inconsistent,
    Leak,
    Sibling,
    StringLeak,
    in_one_line,
    windows_of,
)
from clueval.studies.masking.review import fingerprints_of, fingerprints_of_strings
from clueval.transforms.group import Group

MOST_LEAKS = 10_000
"""Of how many leaks, and string leaks, a page shows the text around them."""


class WatchedMasking(Masking):
    """The metric, which keeps the examinations that it has made counts of, until `taken` hands them over."""

    def examine(self, gold: Side, predicted: Side, *, in_characters: bool = False) -> Examination | None:
        found = super().examine(gold, predicted, in_characters=in_characters)
        if found is not None:
            self.__dict__.setdefault("_examined", []).append(found)
        return found

    def taken(self) -> list[Examination]:
        """Return the examinations since the last call."""
        found: list[Examination] = self.__dict__.pop("_examined", [])
        return found


class LeakCollector:
    """Sees all that is counted and keeps the leaks; the metric has counted it before."""

    name = "leaks"

    def __init__(self, metric: WatchedMasking) -> None:
        self._metric = metric
        self._first_leaks, self._first_strings = FirstPlaces(), FirstPlaces()
        self.leaks: list[Leak] = []
        self.string_leaks: list[StringLeak] = []
        self.needless: Counter[str] = Counter()
        self.inconsistent: list[Inconsistent] = []

    def see(self, group: Group) -> None:
        """Collect from a document; a string leak of several sequences is one."""
        examined, risk = self._metric.taken(), risk_by(self._metric.risk_order)
        for examination in examined:
            self.leaks += leaks_of(examination, risk, self._first_leaks)
            self.needless.update(needless_of(examination))
            self.inconsistent += inconsistent_of(examination)
        strings = chain.from_iterable(string_leaks_of(each, self._first_strings) for each in examined)
        self.string_leaks += {leak.place: leak for leak in strings}.values()

    def sent(self) -> Any:
        """What it has seen."""
        return self.leaks, self.string_leaks, self.needless, self.inconsistent

    def join(self, sent: Any) -> None:
        """Add what another process has seen."""
        leaks, string_leaks, needless, inconsistent = sent
        self.leaks += leaks
        self.string_leaks += string_leaks
        self.needless.update(needless)
        self.inconsistent += inconsistent

    def section(self) -> Mapping[str, Any]:
        """Return nothing: leaks are no figures."""
        return {}


class FirstPlaces:
    """Keeps the sort keys that may be among the first `most`, and some more.

    >>> first = FirstPlaces(1)
    >>> [first.may_have(key) for key in (5, 3, 4, 2)]
    [True, True, False, True]
    """

    def __init__(self, most: int = MOST_LEAKS) -> None:
        self._most = most
        self._keys: list[Any] = []
        self._last: Any = None

    def may_have(self, key: Any) -> bool:
        """Return whether a key may be among the first, and keep it if so."""
        if self._last is not None and key > self._last:
            return False
        self._keys.append(key)
        if len(self._keys) >= 2 * self._most:
            self._keys.sort()
            del self._keys[self._most :]
            self._last = self._keys[-1]
        return True


def leaks_of(examination: Examination, risk: Risk, first: FirstPlaces) -> Iterator[Leak]:
    """Yield the leaks of one document; those that may be among the first have the text around them."""
    excerpt, text = cache(partial(_excerpt, examination)), examination.text
    for annotator, found in examination.judged.items():
        counted = [one for one in found if one.mention.counted]
        exposed = [one for one in counted if one.exposed]
        if not exposed:
            continue
        protected = [one for one in counted if one.is_protected]
        fingerprints = fingerprints_of(examination, found)
        entities, protected_of = by_entity(counted), Counter([one.mention.entity for one in protected])
        words, protected_words = (
            Counter([one.mention.words for one in some]) for some in (counted, protected)
        )
        for one in exposed:
            mention, members = one.mention, entities[one.mention.entity]
            start, end = text.place(mention.start, mention.end)
            leak = Leak(
                examination.document.id,
                annotator,
                start,
                end,
                mention.kind,
                one.status,
                tuple(examination.exposed_in(mention)),
                len(members),
                protected_of[mention.entity],
                words[mention.words],
                protected_words[mention.words],
                one.exposed,
                mention.label,
                text.characters[start:end],
                one.words_exposed,
                mention.entity,
                fingerprint=fingerprints[mention.start, mention.end],
            )
            if first.may_have(leak.order(risk)):
                others = islice((other for other in members if other is not one), MOST_SIBLINGS)
                siblings = tuple(_sibling(other, text, excerpt) for other in others)
                leak = replace(leak, excerpt=excerpt(mention.start, mention.end), siblings=siblings)
            yield leak


def _sibling(one: Judged, text: MaskedText, excerpt: Callable[[int, int], Excerpt]) -> Sibling:
    mention = one.mention
    place = text.place(mention.start, mention.end)
    return Sibling(*place, one.status, excerpt(mention.start, mention.end))


def string_leaks_of(examination: Examination, first: FirstPlaces) -> Iterator[StringLeak]:
    """Yield the string leaks of one document; those that may be among the first have the text around them."""
    document, text = examination.document.id, examination.text
    found = examination.string_leaks
    for own, spans in zip(found, fingerprints_of_strings(examination) if found else (), strict=True):
        start, end = text.place(*own)
        excerpt = _excerpt(examination, *own) if first.may_have((document, start, end)) else NO_EXCERPT
        yield StringLeak(document, start, end, intern(text.characters[start:end]), excerpt, spans)


def needless_of(examination: Examination) -> Iterator[str]:
    """Yield the texts of the masks that have no character of a mention."""
    for mask in examination.masks:
        if mask.counted and not examination.mentioned.within(mask.ranges):
            yield in_one_line(examination.text.between(mask.ranges))


def inconsistent_of(examination: Examination) -> Iterator[Inconsistent]:
    """Yield the entities of one document that have several replacements."""
    listed = [(annotator, one.mention, what) for annotator, one, what in replacements_of(examination)]
    numbers = Counter(
        [key[:2] for key in {(annotator, mention.entity, what) for annotator, mention, what in listed}]
    )
    several = {key for key, number in numbers.items() if number > 1}
    found: dict[tuple[str, int], tuple[Mention, set[str]]] = {}
    for annotator, mention, what in listed if several else ():
        if (annotator, mention.entity) in several:
            _, different = found.setdefault((annotator, mention.entity), (mention, set()))
            different.add(what)
    for mention, different in found.values():
        start, end = examination.text.place(mention.start, mention.end)
        text = examination.text.characters[start:end]
        yield Inconsistent(examination.document.id, start, text, tuple(sorted(different)))


def _excerpt(examination: Examination, start: int, end: int) -> Excerpt:
    """Return the text around positions; if nothing in them is exposed, all that is not masked is shown as exposed."""
    text, masked = examination.text, examination.masked_characters
    own = text.place(start, end)
    windows = windows_of(own, (0, len(text.characters)))
    inside = [(max(own[0], first), min(own[1], last)) for first, last in windows]
    if examination.exposed.between(start, end):
        exposed = examination.exposed_characters(map(text.positions, inside))
    else:
        exposed = examination.readable_characters(inside)
    return Excerpt(
        tuple([(first, text.characters[first:last]) for first, last in windows]),
        intersect(windows, masked),
        exposed,
        windows[-1][1] < len(text.characters),
    )
