"""Located mentions: the answers of language models name spans by their texts, whose places in gold's text are found.

Each step looks for the mentions that the steps before it have not found, and forgives what they forgive: ``exact``;
``space`` (NFC, runs of white space as one); ``quotes`` (the form of quotes and dashes); ``case``; ``fuzzy=X`` (the most
similar words, of a similarity of at least X). Occurrences are explained at `occurrences`. A mention
takes

* ``free``: the first occurrence that no other mention covers or crosses (see below), whatever the labels;
* ``first``: the first occurrence;
* ``all``: each text takes all its occurrences, once for each of its labels.

Positions that an answer gives stand if the text there is the mention. In gold of tokens, a mention gets the tokens of
which it covers more than half the characters. A mention without a place becomes a span of a pair beside the text, which
counts as a false positive.

In "Ann met Ann at Annex", the mentions Ann, Ann, Ann are at [0,3) and [8,11), and the third has no place.

With ``free``, a mention does not lie inside another mention of the answer while a free occurrence of its text exists.
The mentions are placed longest text first, equal lengths step by step and in the order of the answer. A mention takes
the first occurrence that no placed mention covers or crosses. If no step before ``fuzzy`` finds one, it takes the first
occurrence that no equal text has taken, inside another mention, for gold is nested there. Texts are equal if all folds
of the steps make them equal, and their lengths are those of the folded texts. So the answer that names the mentions of
gold gets their places, in any order, if gold is flat, each occurrence of a mention's text that is not inside another
mention is a mention, and equal texts have equal labels; without the last condition, in the order of the text.

In "Anna Schmidt klagt. Anna gewinnt.", the mentions Anna, Anna Schmidt are at [20,24) and [0,12).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import ClassVar

from clueval.core.alignment import MAX_CELLS, has_characters
from clueval.core.count import LOCATED
from clueval.core.document import BY_ID, MENTION, NO_ANSWER, OFFSETS, UNPARSABLE, Document, Pair
from clueval.core.span import NOTHING, Regions, Span, by_position
from clueval.files.errors import UsageError
from clueval.transforms.changes import EachPair, Note, beside, require_same_id, with_notes
from clueval.transforms.characters import TextPositions, without_blanks
from clueval.transforms.occurrences import FUZZY, LocationSteps, Occurrences, Range, folded
from clueval.transforms.options import ALL, FIRST, FREE
from clueval.transforms.projection import project

COUNTED = ("exact", "space", "case", "fuzzy", "moved", "unlocatable", "ambiguous", "unparsable")
"""What notes always count; of mentions, the number of ``answers``, too; of texts with tags, those that ``differ``."""


@dataclass(frozen=True)
class Locating(EachPair):
    """A step that gives mentions their places in the text of gold.

    Notes count the mentions by the step that found them, those with other positions than the answer gives
    (``moved``), those without a place (``unlocatable``), those whose text occurs more often than it is mentioned
    (``ambiguous``; with ``all``, there are none), the ``answers``, those that could not be read (``unparsable``), and
    the documents without an answer (``missing``).

    Attributes:
        occurrence: ``free``, ``first`` or ``all``; see the module.
        steps: the steps in which mentions are looked for.

    Raises `UsageError` for a gold document without text.
    """

    comes_first: ClassVar[bool] = True

    occurrence: str = FREE
    steps: LocationSteps = field(default_factory=LocationSteps.of)

    @property
    def signature(self) -> tuple[str, str]:
        return LOCATED, f"{self.occurrence}({self.steps})"

    @property
    def zeros(self) -> list[Note]:
        return [(name,) for name in dict.fromkeys([*COUNTED, "answers", *self.steps.names])]

    def of_pair(self, pair: Pair) -> Iterator[Pair]:
        gold, predicted = pair.gold, pair.predicted
        require_same_id(gold, predicted, predicted.metadata.get(BY_ID))
        if not has_characters(gold):
            raise UsageError(
                "gold has no text in which mentions could be located",
                **gold.in_errors,
                advice="use a format of gold that has the text",
            )
        notes: Counter[Note] = Counter([("missing" if NO_ANSWER in predicted.metadata else "answers",)])
        notes[("unparsable",)] += int(predicted.metadata.get(UNPARSABLE, "0"))
        search, folds = _Search(TextPositions.of(gold), self.steps), self.steps.folds[-1]
        located: dict[str, list[Span]] = {}
        lost: dict[str, list[Span]] = {}
        for layer, spans in predicted.layers.items():
            texts = [str(span.features.get(MENTION, "")).strip() for span in spans]
            mentions = [
                _Mention(span, text, folded(text, folds).text, [], [])
                for span, text in zip(spans, texts, strict=True)
            ]
            notes.update(search.locate(mentions, self.occurrence))
            located[layer] = sorted(_spans(mentions, self.occurrence == ALL), key=by_position)
            lost[layer] = [mention.span for mention in mentions if not mention.places]
        placed = replace(gold, layers=located, tags=NOTHING, lines=None, file=predicted.file, ordered=False)
        yield with_notes(replace(pair, predicted=placed), LOCATED, notes)
        yield from beside(lost, gold, predicted.file)


@dataclass(slots=True, eq=False)
class _Mention:
    """A mention: its span, text and given positions, and its places in characters and in positions of gold.

    Its `key` is the text with all folds; mentions with the same key are equal.
    """

    span: Span
    text: str
    key: str
    ranges: list[Range]
    places: list[Range]

    @property
    def offsets(self) -> Range | None:
        return self.span.features.get(OFFSETS)

    def take_offsets(self, characters: TextPositions) -> None:
        """Take the given positions if the text there is the mention."""
        if self.offsets is None or not 0 <= self.offsets[0] < self.offsets[1] or not self.text:
            return
        start, end = (offset - characters.first for offset in self.offsets)
        passage = characters.text[max(start, 0) : end]
        if start >= 0 and passage.strip() == self.text:
            start += len(passage) - len(passage.lstrip())
            place = start, start + len(self.text)
            tokens = characters.positions_of(*place)
            if tokens is not None:
                self.ranges, self.places = [place], [tokens]


class _Search:
    """The search for the mentions of an answer in a text, step by step."""

    def __init__(self, characters: TextPositions, steps: LocationSteps) -> None:
        self.characters, self.steps = characters, steps
        self._finders: list[Occurrences] = []

    def finder(self, number: int) -> Occurrences:
        """Return the occurrences for a step, which are prepared when a mention has not been found before."""
        if number == len(self._finders):
            self._finders.append(Occurrences(self.characters.text, self.steps.folds[number]))
        return self._finders[number]

    def with_positions(self, ranges: Iterable[Range]) -> list[tuple[Range, Range]]:
        """Return the ranges with their positions in gold, without those that have none."""
        positions = ((place, self.characters.positions_of(*place)) for place in ranges)
        return [(place, tokens) for place, tokens in positions if tokens is not None]

    def locate(self, mentions: Sequence[_Mention], occurrence: str) -> Counter[Note]:
        """Give the mentions of a layer their places, and return what is counted."""
        for mention in mentions:
            mention.take_offsets(self.characters)
        waiting = [mention for mention in mentions if not mention.places]
        notes: Counter[Note] = Counter({("exact",): len(mentions) - len(waiting)})
        free = _FreePlaces(self, mentions)
        for step, is_ambiguous in (
            free.take() if occurrence == FREE else self._first_or_all(mentions, occurrence)
        ):
            notes[(step,)] += 1
            notes[("ambiguous",)] += is_ambiguous
        for mention in waiting:
            notes[("unlocatable",)] += not mention.places
            notes[("moved",)] += mention.offsets is not None and bool(mention.places)
        return notes

    def _first_or_all(self, mentions: Sequence[_Mention], occurrence: str) -> Iterator[tuple[str, bool]]:
        """Give each mention the first occurrence of its text, or all; yield as `_FreePlaces.take` does."""
        for number, step in enumerate(self.steps.names):
            if all(mention.places for mention in mentions):
                break
            finder = self.finder(number)
            by_key: dict[str, list[_Mention]] = {}
            for mention in mentions:
                by_key.setdefault(finder.key(mention.text), []).append(mention)
            for key, equal in by_key.items():
                waiting = [mention for mention in equal if not mention.places]
                if not waiting:
                    continue
                nearest = finder.nearest(key, self.steps.least) if step == FUZZY else None
                occurrences = finder.of(key) if step != FUZZY else [] if nearest is None else [nearest]
                places = self.with_positions(occurrences)
                taken = places if occurrence == ALL else places[:1]
                both = [place for place, _ in taken], [token for _, token in taken]  # the mentions share them
                for mention in waiting if taken else ():
                    mention.ranges, mention.places = both
                    yield step, occurrence == FIRST and len(places) > len(equal)


class _FreePlaces:
    """The places that the mentions of an answer take with ``free``, as the module says.

    Costs O(n log n) for n mentions and occurrences, after these are found.
    """

    def __init__(self, search: _Search, mentions: Sequence[_Mention]) -> None:
        self._search, self._mentions = search, mentions
        self._within = bytearray(len(search.characters.text) + 1)
        """1 for each offset between two characters of one mention."""
        self._ranges: set[Range] = set()
        self._places_of_text: dict[str, set[Range]] = {}
        self._occurrences: dict[tuple[int, str], list[tuple[Range, Range]]] = {}
        self._tried: Counter[tuple[int, str, bool]] = Counter()
        """How many of the first occurrences of a text are taken, for a step, inside mentions or not."""
        self._dissimilar: set[str] = set()
        """The mentions that have no similar words left."""

    def take(self) -> Iterator[tuple[str, bool]]:
        """Give the mentions their places; yield, for each, the step and whether its text occurs more often."""

        def length(mention: _Mention) -> int:
            return len(mention.key)

        names = self._search.steps.names
        times = Counter(mention.key for mention in self._mentions)
        for mention in self._mentions:
            if mention.places:
                self._add(mention.key, mention.ranges[0])
        for _, equally_long in groupby(sorted(self._mentions, key=length, reverse=True), length):
            waiting = [mention for mention in equally_long if not mention.places]
            for number, inside in _passes(names):
                for mention in waiting:
                    taken = self._place(mention, number, inside)
                    if taken is None:
                        continue
                    place, tokens, occurrences = taken
                    mention.ranges, mention.places = [place], [tokens]
                    self._add(mention.key, place)
                    yield names[number], occurrences > times[mention.key]
                waiting = [mention for mention in waiting if not mention.places]
                if not waiting:
                    break

    def _add(self, key: str, place: Range) -> None:
        start, end = place
        self._within[start + 1 : end] = b"\1" * (end - start - 1)
        self._ranges.add(place)
        self._places_of_text.setdefault(key, set()).add(place)

    def _is_free(self, place: Range) -> bool:
        """Return whether no mention covers or crosses a range; it may cover mentions. Costs O(1)."""
        return not self._within[place[0]] and not self._within[place[1]] and place not in self._ranges

    def _place(self, mention: _Mention, number: int, inside: bool) -> tuple[Range, Range, int] | None:
        """Return the place that a step gives a mention, its positions, and the number of occurrences."""
        finder = self._search.finder(number)
        key = finder.key(mention.text)
        if self._search.steps.names[number] == FUZZY:
            return self._similar(mention, finder, key)
        places = self._occurrences.get((number, key))
        if places is None:
            places = self._occurrences[number, key] = self._search.with_positions(finder.of(key))
        of_text = self._places_of_text.get(mention.key, set())
        at = self._tried[number, key, inside]
        while at < len(places) and (places[at][0] in of_text if inside else not self._is_free(places[at][0])):
            at += 1
        self._tried[number, key, inside] = at
        return (*places[at], len(places)) if at < len(places) else None

    def _similar(self, mention: _Mention, finder: Occurrences, key: str) -> tuple[Range, Range, int] | None:
        """Return the most similar words that no mention covers or crosses, else those that no equal text touches."""
        if key in self._dissimilar:
            return None
        equal = Regions(self._places_of_text.get(mention.key, ()))

        def is_apart(words: Range) -> bool:
            return not equal.touch(Span(*words))

        least = self._search.steps.least
        place = finder.nearest(key, least, is_apart)
        if place is not None and not self._is_free(place):
            free = finder.nearest(key, least, lambda words: self._is_free(words) and is_apart(words))
            place = free or place
        tokens = None if place is None else self._search.characters.positions_of(*place)
        if place is None or tokens is None:
            self._dissimilar.add(key)
            return None
        return place, tokens, 0


def _passes(steps: Sequence[str]) -> Iterator[tuple[int, bool]]:
    """Yield the number of a step, and whether places inside other mentions are taken.

    >>> list(_passes(["exact", "space", "fuzzy"]))
    [(0, False), (1, False), (0, True), (1, True), (2, False)]
    """
    for is_fuzzy, numbers in groupby(range(len(steps)), lambda number: steps[number] == FUZZY):
        several = list(numbers)
        yield from ((number, False) for number in several)
        if not is_fuzzy:
            yield from ((number, True) for number in several)


def _spans(mentions: Sequence[_Mention], once: bool) -> Iterator[Span]:
    """Yield the spans of the mentions that have places; with `once`, equal ones once."""
    yielded: set[tuple[object, ...]] = set()
    for mention in mentions:
        labels = mention.span.labels
        features = {
            key: mention.span.features[key] for key in mention.span.features if key not in (MENTION, OFFSETS)
        }
        if once and (id(mention.places), labels) in yielded:  # another mention of this text
            continue
        yielded.add((id(mention.places), labels))
        for start, end in mention.places:
            if not once or (start, end, labels) not in yielded:
                yielded.add((start, end, labels))
                yield Span(start, end, labels, features, line=mention.span.line)


@dataclass(frozen=True)
class InlineAnswers(EachPair):
    """A step for texts with tags, as language models give them back: it moves their spans to the text of gold.

    The text without its tags need not be that of gold: it is projected as `projection` says. A span without a place
    stands beside the text.

    Notes are those of `Locating`: spans with a place are ``exact``, the others ``unlocatable``, tags that were left
    out ``unparsable``, and answers whose text has other characters than gold's, except white space, ``differ``.

    Attributes:
        max_cells: the greatest product of the lengths of two texts.
    """

    max_cells: int = MAX_CELLS

    comes_first: ClassVar[bool] = True
    signature: ClassVar[tuple[str, str]] = (LOCATED, "aligned")
    zeros: ClassVar[Sequence[Note]] = tuple((name,) for name in (*COUNTED, "differ"))

    def of_pair(self, pair: Pair) -> Iterator[Pair]:
        require_same_id(pair.gold, pair.predicted, pair.predicted.metadata.get(BY_ID))
        gold, answer = pair.gold, _trimmed(pair.predicted)
        projection = project(gold, answer, max_cells=self.max_cells)
        lost = {
            layer: [
                replace(span, features={**span.features, MENTION: answer.text_of(span)}) for span in spans
            ]
            for layer, spans in projection.lost.items()
        }
        texts = {"".join(TextPositions.of(side).text.split()) for side in (gold, answer)}
        notes: dict[Note, int] = {
            ("differ",): len(texts) - 1,
            ("exact",): sum(map(len, projection.document.layers.values())),
            ("unlocatable",): len(projection.unprojected),
            ("unparsable",): int(answer.metadata.get(UNPARSABLE, "0")),
        }
        yield with_notes(replace(pair, predicted=projection.document), LOCATED, notes)
        yield from beside(lost, gold, answer.file)


def _trimmed(document: Document) -> Document:
    text, first = document.text or "", document.start

    def trimmed(span: Span) -> Span:
        without_edges = without_blanks(span, text, first)
        return without_edges if len(without_edges) and span.parts is None else span

    layers = {layer: list(map(trimmed, spans)) for layer, spans in document.layers.items()}
    return replace(document, layers=layers)
