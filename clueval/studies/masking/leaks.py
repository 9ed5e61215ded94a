"""Leaks: mentions that are not protected, and words of mentions elsewhere in the text, with the text around them.

`ListingMasking` is the metric, which counts what there is to list of a document as it counts all else, so that leaks
come from other processes, and add up, as counts do.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from sys import intern
from typing import Any, NamedTuple

from clueval.core.bag import NO_LAYER, Bag
from clueval.core.document import Pair
from clueval.core.metric import Tally
from clueval.core.span import NO_LABEL, Ranges, Span, intersect, joined_ranges
from clueval.metrics.masking import Masking
from clueval.metrics.masking.exposure import Examination, FoundWords, Judged, Masks, Mention, Risk, shown
from clueval.metrics.masking.text import Range, without
from clueval.reports.language import phrase
from clueval.reports.place import ANY_LAYER, Mark, MarkedText, fingerprint, positions
from clueval.studies.decisions import PlaceDecision, PlaceKey

MOST_SIBLINGS = 2
"""How many other mentions of the entity are shown with a leak."""

AROUND = 60
"""How many characters of context are shown on either side of a mention."""

MOST_SHOWN = 400
"""How many characters of a mention are shown; of a longer one, as many from its beginning as from its end."""

MASKED, LEAK = range(2)
"""The kinds of marks in a context."""

STRING = "string"
"""The status of words of a mention elsewhere in the text."""

COUNTS = ("mentions", "protected", "same_words", "same_words_protected")
"""The numbers of mentions of a leak that JSON and tables have."""

_LISTED = "listed"
"""The key of a tally that has what is listed of a document begins so."""

_IN_ONE_LINE = str.maketrans("\t\n\r", "   ")


def in_one_line(text: str) -> str:
    """Return a text with blanks for tabs and line ends; positions stay the same."""
    return text if text.isprintable() else text.translate(_IN_ONE_LINE)


# --- contexts


class Excerpts:
    """The parts of a text around its leaks, which share them, since contexts overlap.

    Attributes:
        parts: where each part begins, and its characters.
        masked: the ranges that are masked in them.
        end: where the text ends.
    """

    __slots__ = ("end", "masked", "parts")

    def __init__(self) -> None:
        self.parts: Sequence[tuple[int, str]] = ()
        self.masked: Ranges = ()
        self.end = 0

    def take(self, examination: Examination, places: Iterable[Range]) -> None:
        """Take the parts around these places, in characters, out of a text."""
        text = examination.text.characters
        windows = joined_ranges(window for place in places for window in _windows(place, len(text)))
        self.parts = [(start, text[start:end]) for start, end in windows]
        self.masked = tuple(intersect(windows, examination.masks.characters))
        self.end = len(text)

    def context(self, place: Range, exposed: Ranges | None = None) -> MarkedText:
        """Return the text around a place in one line, from blank to blank, with what is masked and what is exposed.

        `exposed` are the characters of the place that can be read; None: all that are not masked.
        """
        marks: list[Mark] = []
        whole, is_cut = "", (False, False)
        windows = list(_windows(place, self.end))
        for start, end in windows:
            part, text = self.parts[bisect_right(self.parts, start, key=itemgetter(0)) - 1]
            text = text[start - part : end - part]
            if (start, end) == windows[0] and start > 0:
                blank = max(0, text.find(" ", 0, place[0] - start)) + 1
                start, text, is_cut = start + blank, text[blank:], (True, False)
            if (start, end) != windows[0] and len(windows) > 1:
                whole += " … "
            if end == windows[-1][1] and end < self.end:
                blank = text.rfind(" ", max(0, place[1] - start))
                text, is_cut = text if blank < 0 else text[:blank], (is_cut[0], True)
            shift, window = len(whole) - start, [(start, start + len(text))]
            masked = intersect(window, self.masked)
            readable = intersect(window, [place] if exposed is None else exposed)
            if exposed is None and masked:
                readable = without(readable, masked)
            marks += [
                Mark(
                    kind, part[0] + shift, part[1] + shift, note=f"{phrase('character')} {positions([part])}"
                )
                for kind, ranges in ((MASKED, masked), (LEAK, readable))
                for part in ranges
            ]
            whole += text
        return MarkedText(in_one_line(whole), marks, is_cut)


def _windows(place: Range, end: int) -> Iterator[Range]:
    """Yield what is shown around a place: of a long one, the beginning and the end."""
    first, last = max(0, place[0] - AROUND), min(end, place[1] + AROUND)
    if place[1] - place[0] <= MOST_SHOWN:
        yield first, last
    else:
        yield first, place[0] + MOST_SHOWN // 2
        yield place[1] - MOST_SHOWN // 2, last


# --- what is listed


@dataclass(frozen=True, slots=True)
class StringLeak:
    """Words of a mention elsewhere in the text, unmasked and in no mention, or in a placeholder, which is `text` then.

    Positions are characters of the document, those that the placeholder stands for, and `annotator` is `ANY_LAYER`.
    `fingerprint` is that of the place, and `decision` what was decided about it, None if no decisions were read.
    """

    document: str
    annotator: str
    start: int
    end: int
    text: str
    fingerprint: str
    excerpts: Excerpts = field(compare=False, repr=False)
    decision: PlaceDecision | None

    @property
    def at(self) -> PlaceKey:
        """The key of its place."""
        return self.document, self.annotator, self.start, self.end

    def to_dict(self) -> dict[str, Any]:
        """Return the leak for JSON; it has positions, no text."""
        return {"document": self.document, "start": self.start, "end": self.end, **self._decision_cells()}

    def _decision_cells(self) -> dict[str, Any]:
        """Return what was decided; nothing if no decisions were read."""
        if self.decision is None:
            return {}
        return {"fingerprint": self.fingerprint, **self.decision._asdict()}

    @property
    def context(self) -> MarkedText:
        """The text around it."""
        return self.excerpts.context((self.start, self.end))

    @property
    def contexts(self) -> Sequence[MarkedText]:
        """The text around it, and around what belongs to it."""
        return [self.context]


@dataclass(frozen=True, slots=True)
class Leak(StringLeak):
    """A mention that is not protected.

    `text` is the text of the mention, `mentions` and `protected` are the mentions of its entity and those of them that
    are protected; `same_words` and `same_words_protected` the mentions with the same words. `entity` is the number of
    its entity in the document, `siblings` where the first other mentions of this are.
    """

    kind: str
    status: str
    exposed: Ranges
    mentions: int
    protected: int
    same_words: int
    same_words_protected: int
    characters_exposed: int
    words_exposed: int
    label: str
    entity: int
    siblings: Sequence[Range]

    @property
    def is_in_part(self) -> bool:
        """Whether other mentions of the entity are protected."""
        return self.protected > 0

    def order(self, risk: Risk) -> tuple[Any, ...]:
        """The sort key: riskiest class first, then entities that are protected elsewhere, then the longest."""
        place = self.document, self.start, self.end, self.annotator
        return risk(self.kind), not self.protected, -self.characters_exposed, *place

    def to_dict(self) -> dict[str, Any]:
        """Return the leak for JSON; it has positions, no text."""
        return {
            **{name: getattr(self, name) for name in ("document", "annotator", "start", "end")},
            "class": self.kind,
            "status": self.status,
            "exposed": [list(part) for part in self.exposed],
            **{name: getattr(self, name) for name in COUNTS},
            **self._decision_cells(),
        }

    @property
    def context(self) -> MarkedText:
        """The text around it."""
        return self.excerpts.context((self.start, self.end), self.exposed)

    @property
    def contexts(self) -> Sequence[MarkedText]:
        """The text around it, then around the first other mentions of its entity."""
        return [self.context, *map(self.excerpts.context, self.siblings)]


class Inconsistent(NamedTuple):
    """An entity with several replacements in one document; `start` and `text` are its first protected mention's."""

    document: str
    start: int
    text: str
    replacements: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Listed:
    """What is listed of one document in one sequence: its leaks, its masks without need, inconsistent replacements."""

    document: str
    sequence: str
    leaks: Sequence[Leak] = ()
    string_leaks: Sequence[StringLeak] = ()
    needless: Sequence[str] = ()
    inconsistent: Sequence[Inconsistent] = ()


class ListingMasking(Masking):
    """The metric, whose tallies also have what is listed, as keys, until `taken_out` takes them out."""

    def count_examined(self, examination: Examination, pair: Pair, sequence: str) -> Tally:
        tally = super().count_examined(examination, pair, sequence)
        if sequence != NO_LAYER:
            inconsistent = _inconsistent_entities(examination) if tally["replacements", "several"] else ()
            tally[_LISTED, _listed(examination, sequence, inconsistent)] = 1
        return tally


def taken_out(bag: Bag) -> list[Listed]:
    """Return what is listed of all documents, and take it out of the tallies of a bag."""
    listed: list[Listed] = []
    for tallies in bag.tallies.values():
        for tally in tallies.values():
            keys = [key for key in tally if key[0] == _LISTED]
            listed += [each for key in keys for each in [key[1]] * tally.pop(key)]
    return listed


def _listed(examination: Examination, sequence: str, inconsistent: Iterable[Inconsistent]) -> Listed:
    """Return what is listed of a document, with its entities that have several replacements."""
    document, text, masks = examination.document.id, examination.text, examination.masks
    excerpts = Excerpts()
    leaks = [leak for annotator in examination.judged for leak in _leaks(examination, annotator, excerpts)]
    strings = []
    for found, spans in string_fingerprints(examination):
        first, last = text.place(found.start, found.end)
        words = intern(found.replacement or text.characters[first:last])
        strings.append(StringLeak(document, ANY_LAYER, first, last, words, spans, excerpts, None))
    if leaks or strings:
        places = [place for leak in leaks for place in ((leak.start, leak.end), *leak.siblings)]
        excerpts.take(examination, [*places, *((leak.start, leak.end) for leak in strings)])
    needless = [
        in_one_line(text.between(span.fragments))
        for number, span in enumerate(masks.spans)
        if (masks.counted is None or masks.counted[number])
        and not examination.mentioned.within(span.fragments)
    ]
    return Listed(document, sequence, leaks, strings, needless, list(inconsistent))


def _leaks(examination: Examination, annotator: str, excerpts: Excerpts) -> Iterator[Leak]:
    text, masks, of_view = examination.text, examination.masks, examination.judged[annotator]
    counted = [judged for judged in of_view if judged.mention.counted]
    exposed = [judged for judged in counted if judged.exposed]
    if not exposed:
        return
    spans = fingerprints(masks, of_view)
    members: dict[int, list[Mention]] = {judged.mention.entity: [] for judged in exposed}
    protected: Counter[int] = Counter()
    words = {judged.mention.words: [0, 0] for judged in exposed}
    for mention, _, is_exposed, *_ in counted:
        if mention.entity in members:
            members[mention.entity].append(mention)
            protected[mention.entity] += not is_exposed
        if mention.words in words:
            words[mention.words][0] += 1
            words[mention.words][1] += not is_exposed
    for judged in exposed:
        mention, span = judged.mention, judged.mention.span
        start, end = text.place(span.start, span.end)
        entity = members[mention.entity]
        siblings = [other.span for other in entity[: MOST_SIBLINGS + 1] if other is not mention]
        yield Leak(
            examination.document.id,
            annotator,
            start,
            end,
            text.characters[start:end],
            spans[span.start, span.end],
            excerpts,
            None,
            mention.kind,
            judged.status,
            tuple(masks.exposed_in(mention)),
            len(entity),
            protected[mention.entity],
            words[mention.words][0],
            words[mention.words][1],
            judged.exposed,
            judged.words_exposed,
            mention.label,
            mention.entity,
            [text.place(sibling.start, sibling.end) for sibling in siblings[:MOST_SIBLINGS]],
        )


def _inconsistent_entities(examination: Examination) -> Iterator[Inconsistent]:
    for of_view in examination.judged.values():
        replaced: dict[int, tuple[Mention, set[str]]] = {}
        for judged in of_view:
            if judged.mention.counted and not judged.exposed:
                replacement = examination.masks.replacement(judged.mention)
                if replacement is not None:
                    replaced.setdefault(judged.mention.entity, (judged.mention, set()))[1].add(replacement)
        for mention, replacements in replaced.values():
            if len(replacements) > 1:
                start, end = examination.text.place(mention.span.start, mention.span.end)
                text = examination.text.characters[start:end]
                yield Inconsistent(examination.document.id, start, text, tuple(sorted(replacements)))


# --- fingerprints: of the mentions with a range, and the masks that share positions with it


def fingerprints(masks: Masks, judged: Iterable[Judged]) -> dict[Range, str]:
    """Return the fingerprints of the leaks among the mentions of one annotator, by positions."""
    mentions: dict[Range, list[Mention]] = {}
    exposed: dict[Range, None] = {}
    for mention, _, is_exposed, *_ in judged:
        place = mention.span.start, mention.span.end
        mentions.setdefault(place, []).append(mention)
        if is_exposed and mention.counted:
            exposed[place] = None
    return {
        place: _fingerprint_of(
            masks, *place, [(mention.ranges, mention.label) for mention in mentions[place]]
        )
        for place in exposed
    }


def string_fingerprints(examination: Examination) -> Iterator[tuple[FoundWords, str]]:
    """Yield the string leaks with their fingerprints.

    Gold's spans concerned are the first mentions with these words; they have no labels, which differ between layers.
    """
    places: dict[tuple[str, ...], Ranges] = {}
    for of_view in examination.judged.values() if examination.string_leaks else ():
        for mention, *_ in of_view:
            places[mention.words] = min(mention.ranges, places.get(mention.words, mention.ranges))
    for found in examination.string_leaks:
        strings = found.strings or [examination.text.strings_of(((found.start, found.end),))]
        gold = [(places[string], NO_LABEL) for string in strings]
        yield found, _fingerprint_of(examination.masks, found.start, found.end, gold)


def _fingerprint_of(masks: Masks, start: int, end: int, mentions: Iterable[tuple[Ranges, str]]) -> str:
    """Return the fingerprint of a range of positions, given ranges and labels of the mentions concerned."""

    def placed(ranges: Ranges) -> Ranges:
        return tuple(masks.text.place(*part) for part in ranges)

    gold = [("gold", placed(ranges), label) for ranges, label in mentions]
    predicted = [
        ("predicted", placed(mask.fragments), shown(mask))
        for mask in (masks.on(Span(start, end)) if masks.masked.between(start, end) else ())
        if any(first < end and last > start for first, last in mask.fragments)
    ]
    return fingerprint([*gold, *predicted])
