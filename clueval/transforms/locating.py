"""Located mentions: the answers of language models name spans by their texts, whose places in gold's text are found.

Each step looks for the mentions that the steps before it have not found, and forgives what they forgive: ``exact``;
``space`` (NFC, runs of white space as one); ``quotes`` (the form of quotes and dashes); ``case``; ``fuzzy=X`` (the most
similar words, of a similarity of at least X). Occurrences are explained at `clueval.transforms.occurrences`. A mention
takes

* ``free``: the first occurrence that no other mention covers or crosses (see below), whatever the labels;
* ``first``: the first occurrence;
* ``all``: each text takes all its occurrences, once for each of its labels.

Positions that an answer gives stand if the text there is the mention. In gold of tokens, a mention gets the tokens of
which it covers more than half the characters. A mention without a place becomes a span of `Group.unplaced`, which
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
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from clueval.core.ranges import Regions
from clueval.core.span import Frozen, Span
from clueval.files.errors import TextMismatch, UsageError
from clueval.spans.document import Document
from clueval.spans.features import BY_ID, MENTION, OFFSETS, UNPARSABLE
from clueval.transforms.characters import Characters, has_characters, without_blanks
from clueval.transforms.group import LOCATED, Group
from clueval.transforms.occurrences import Occurrences, Range, folded
from clueval.transforms.projection import project

FREE, FUZZY = "free", "fuzzy"

COUNTED = ("exact", "space", "case", "fuzzy", "moved", "unlocatable", "ambiguous", "unparsable")
"""The numbers that `prepared` always has; of mentions, the number of ``answers``, too."""


class Locating:
    """A transform that gives mentions their places in the text of gold.

    `prepared` counts the mentions by the step that found them, those with other positions than the answer gives
    (``moved``), those without a place (``unlocatable``), those whose text occurs more often than it is mentioned
    (``ambiguous``; with ``all``, there are none), the ``answers``, and those that could not be read (``unparsable``).
    """

    def __init__(self, occurrence: str, steps: Any) -> None:
        self._occurrence, self._steps, self._folds = occurrence, steps, steps.folds
        self.signature = (LOCATED, f"{occurrence}({steps})")
        self.prepared: Counter[tuple[Any, ...]] = Counter(
            {(name,): 0 for name in (*COUNTED, "answers", *steps.names)}
        )

    def __call__(self, group: Group) -> Group:
        gold = group.gold
        predicted = _of_the_same_id(group.predicted, gold)
        if not has_characters(gold):
            raise UsageError(
                "gold has no text in which mentions could be located",
                **gold.in_errors,
                advice="use a format of gold that has the text",
            )
        self.prepared[("answers",)] += 1
        self.prepared[("unparsable",)] += int(predicted.metadata.get(UNPARSABLE, "0"))
        characters = Characters.of(gold)
        finders: list[Occurrences] = []
        located: dict[str, list[Span]] = {}
        lost: dict[str, list[Span]] = {}
        for layer, spans in predicted.layers.items():
            mentions = [_Mention.of(span, self._folds[-1]) for span in spans]
            self._locate(mentions, finders, characters)
            located[layer] = sorted(_spans(mentions, self._occurrence == "all"), key=_position)
            lost[layer] = [mention.span for mention in mentions if not mention.places]
        placed = replace(gold, layers=located, tags=Frozen(), lines=None, file=predicted.file)
        return replace(group, predicted=placed, unplaced=unplaced_document(lost, gold, predicted.file))

    def _locate(
        self, mentions: Sequence[_Mention], finders: list[Occurrences], characters: Characters
    ) -> None:
        """Give the mentions their places, and count them. `finders` gets those of the steps that are needed."""

        def finder(number: int) -> Occurrences:
            if number == len(finders):
                finders.append(Occurrences(characters.text, self._folds[number]))
            return finders[number]

        for mention in mentions:
            mention.stand(characters)
            self.prepared[("exact",)] += bool(mention.places)
        if self._occurrence == FREE:
            for step, is_ambiguous in _FreePlaces(mentions, self._steps, finder, characters).take():
                self.prepared[(step,)] += 1
                self.prepared[("ambiguous",)] += is_ambiguous
        else:
            self._take_first_or_all(mentions, finder, characters)
        for mention in mentions:
            self.prepared[("unlocatable",)] += not mention.places
            self.prepared[("moved",)] += (
                mention.offsets is not None and bool(mention.places) and not mention.stands
            )

    def _take_first_or_all(
        self, mentions: Sequence[_Mention], finder: Callable[[int], Occurrences], characters: Characters
    ) -> None:
        """Give each mention the first occurrence of its text, or all."""
        for number, step in enumerate(self._steps.names):
            if all(mention.places for mention in mentions):
                break
            keys: dict[str, list[_Mention]] = {}
            for mention in mentions:
                keys.setdefault(finder(number).key(mention.text), []).append(mention)
            for key, those in keys.items():
                waiting = [mention for mention in those if not mention.places]
                if not waiting:
                    continue
                if step == FUZZY:
                    nearest = finder(number).nearest(key, self._steps.least)
                    found = [] if nearest is None else [nearest]
                else:
                    found = finder(number).of(key)
                places = _with_positions(found, characters)
                own = places if self._occurrence == "all" else places[:1]
                both = [place for place, _ in own], [tokens for _, tokens in own]  # the mentions share them
                for mention in waiting if own else ():
                    mention.ranges, mention.places = both
                    self.prepared[(step,)] += 1
                    self.prepared[("ambiguous",)] += self._occurrence == "first" and len(places) > len(those)


def _with_positions(found: Iterable[Range], characters: Characters) -> list[tuple[Range, Range]]:
    """Return the ranges with their positions in gold, without those that have none."""
    positions = ((place, characters.positions_of(*place)) for place in found)
    return [(place, tokens) for place, tokens in positions if tokens is not None]


class _FreePlaces:
    """The places that the mentions of an answer take with ``free``, as the module says.

    Costs O(n log n) for n mentions and occurrences, after these are found.
    """

    def __init__(
        self,
        mentions: Sequence[_Mention],
        steps: Any,
        finder: Callable[[int], Occurrences],
        characters: Characters,
    ) -> None:
        self._mentions, self._steps, self._finder, self._characters = mentions, steps, finder, characters
        self._placed = _TakenPlaces(len(characters.text))
        self._found: dict[tuple[int, str], _TextOccurrences] = {}
        self._dissimilar: set[str] = set()
        """The mentions that have no similar words left."""

    def take(self) -> Iterator[tuple[str, bool]]:
        """Give the mentions their places; yield, for each, the step and whether its text occurs more often."""
        times = Counter(mention.key for mention in self._mentions)
        for mention in self._mentions:
            if mention.places:
                self._placed.add(mention.key, mention.ranges[0])
        by_length = sorted(self._mentions, key=_length, reverse=True)
        for _, equally_long in groupby(by_length, _length):
            waiting = [mention for mention in equally_long if not mention.places]
            for number, inside in _passes(self._steps.names):
                for mention in waiting:
                    taken = self._place(mention, number, inside)
                    if taken is None:
                        continue
                    place, tokens, occurrences = taken
                    mention.ranges, mention.places = [place], [tokens]
                    self._placed.add(mention.key, place)
                    yield self._steps.names[number], occurrences > times[mention.key]
                waiting = [mention for mention in waiting if not mention.places]
                if not waiting:
                    break

    def _place(self, mention: _Mention, number: int, inside: bool) -> tuple[Range, Range, int] | None:
        """Return the place that a step gives a mention, its positions, and the number of occurrences."""
        finder = self._finder(number)
        key = finder.key(mention.text)
        if self._steps.names[number] == FUZZY:
            return self._similar(mention, finder, key)
        if (number, key) not in self._found:
            self._found[number, key] = _TextOccurrences(_with_positions(finder.of(key), self._characters))
        found = self._found[number, key]
        taken = found.inside(self._placed, mention.key) if inside else found.free(self._placed)
        return None if taken is None else (*taken, len(found.places))

    def _similar(self, mention: _Mention, finder: Occurrences, key: str) -> tuple[Range, Range, int] | None:
        """Return the most similar words that no mention covers or crosses, else those that no equal text touches."""
        if key in self._dissimilar:
            return None
        equal = self._placed.regions(mention.key)
        place = finder.nearest(key, self._steps.least, lambda words: not equal.touch(Span(*words)))
        if place is not None and not self._placed.is_free(place):
            free = finder.nearest(
                key,
                self._steps.least,
                lambda words: self._placed.is_free(words) and not equal.touch(Span(*words)),
            )
            place = place if free is None else free
        tokens = None if place is None else self._characters.positions_of(*place)
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


class _TakenPlaces:
    """The places that mentions have taken in a text."""

    def __init__(self, size: int) -> None:
        self._within = bytearray(size + 1)
        """1 for each offset between two characters of one mention."""
        self._ranges: set[Range] = set()
        self._of_text: dict[str, set[Range]] = {}

    def add(self, key: str, place: Range) -> None:
        start, end = place
        self._within[start + 1 : end] = b"\1" * (end - start - 1)
        self._ranges.add(place)
        self._of_text.setdefault(key, set()).add(place)

    def is_free(self, place: Range) -> bool:
        """Return whether no mention covers or crosses a range; it may cover mentions. Costs O(1)."""
        return not self._within[place[0]] and not self._within[place[1]] and place not in self._ranges

    def has(self, key: str, place: Range) -> bool:
        """Return whether a mention of this text has taken a range."""
        return place in self._of_text.get(key, ())

    def regions(self, key: str) -> Regions:
        """Return the ranges of all mentions of this text."""
        return Regions(self._of_text.get(key, ()))


class _TextOccurrences:
    """The occurrences of a text with their positions in gold, and how many of the first ones are no longer free."""

    def __init__(self, places: Sequence[tuple[Range, Range]]) -> None:
        self.places = places
        self._free = self._inside = 0

    def free(self, placed: _TakenPlaces) -> tuple[Range, Range] | None:
        """Return the first occurrence that no mention covers or crosses."""
        while self._free < len(self.places) and not placed.is_free(self.places[self._free][0]):
            self._free += 1
        return self.places[self._free] if self._free < len(self.places) else None

    def inside(self, placed: _TakenPlaces, key: str) -> tuple[Range, Range] | None:
        """Return the first occurrence that no mention of the same text has taken."""
        while self._inside < len(self.places) and placed.has(key, self.places[self._inside][0]):
            self._inside += 1
        return self.places[self._inside] if self._inside < len(self.places) else None


@dataclass(slots=True, eq=False)
class _Mention:
    """A mention: its span, text and given positions, and its places in characters and in positions of gold.

    Its `key` is the text with all folds; mentions with the same key are equal.
    """

    span: Span
    text: str
    key: str
    offsets: Range | None
    ranges: list[Range]
    places: list[Range]
    stands: bool = False

    @classmethod
    def of(cls, span: Span, folds: Collection[str]) -> _Mention:
        text = str(span.features.get(MENTION, "")).strip()
        return cls(span, text, folded(text, folds).text, span.features.get(OFFSETS), [], [])

    def stand(self, characters: Characters) -> None:
        """Take the given positions if the text there is the mention."""
        if self.offsets is None or not 0 <= self.offsets[0] < self.offsets[1] or not self.text:
            return
        start, end = (offset - characters.first for offset in self.offsets)
        given = characters.text[max(start, 0) : end]
        if start >= 0 and given.strip() == self.text:
            start += len(given) - len(given.lstrip())
            place = start, start + len(self.text)
            tokens = characters.positions_of(*place)
            if tokens is not None:
                self.ranges, self.places, self.stands = [place], [tokens], True


def _spans(mentions: Sequence[_Mention], once: bool) -> Iterator[Span]:
    """Yield the spans of the mentions that have places; with `once`, equal ones once."""
    seen: set[tuple[object, ...]] = set()
    for mention in mentions:
        labels = mention.span.labels
        if once and (id(mention.places), labels) in seen:  # another mention of this text
            continue
        seen.add((id(mention.places), labels))
        for start, end in mention.places:
            key = start, end, labels
            if not once or key not in seen:
                seen.add(key)
                yield Span(start, end, mention.span.labels, line=mention.span.line)


def _length(mention: _Mention) -> int:
    return len(mention.key)


def _position(span: Span) -> Range:
    return span.start, span.end


def _of_the_same_id(predicted: Document, gold: Document) -> Document:
    """Return the predicted document with the id of gold; an id that is a number may be the number of the answer.

    That is not so in a batch, whose answers have ids.
    """
    own = predicted.metadata.get(BY_ID, predicted.id)
    if own != gold.id and (BY_ID in predicted.metadata or own.isdecimal() == gold.id.isdecimal()):
        raise TextMismatch(
            f"gold has document {gold.id!r} where predicted has the answer {own!r}",
            file=gold.file,
            advice="give both in the same order, or pair them by their ids with pair_by='id'",
        )
    return predicted


def unplaced_document(
    lost: Mapping[str, Sequence[Span]], gold: Document, file: str | None
) -> Document | None:
    """Return a document of spans without a place; its text is made of the texts of the mentions, one after another.

    It has the id and the unit of gold. None if there are no spans.
    """
    if not any(lost.values()):
        return None
    words: list[str] = []
    layers: dict[str, list[Span]] = {}
    size = 0
    for layer, spans in lost.items():
        layers[layer] = []
        for span in spans:
            text = str(span.features.get(MENTION, "")).strip()
            tokens = (text.split() or [""]) if gold.unit == "token" else [text]
            length = len(tokens) if gold.unit == "token" else len(text)
            layers[layer].append(Span(size, size + length, span.labels, {MENTION: text}, line=span.line))
            words += tokens
            size += length + (gold.unit == "character")
    if gold.unit == "token":
        return Document(gold.id, layers, tokens=words, file=file)
    return Document(gold.id, layers, text="\n".join(words), unit="character", file=file)


def without_unplaced(group: Group) -> Group:
    """Return the group with the predicted spans that have no place, but only a text, as those of `Group.unplaced`."""
    predicted = group.predicted
    lost = {
        layer: [span for span in spans if MENTION in span.features]
        for layer, spans in predicted.layers.items()
    }
    placed = {
        layer: [span for span in spans if MENTION not in span.features]
        for layer, spans in predicted.layers.items()
    }
    unplaced = unplaced_document(lost, replace(predicted, id=group.gold.id), predicted.file)
    return replace(group, predicted=replace(predicted, layers=placed), unplaced=unplaced)


class InlineAnswers:
    """A transform for texts with tags, as language models give them back: it moves their spans to the text of gold.

    The text without its tags need not be that of gold: it is projected as `clueval.transforms.projection` says. A span
    without a place becomes one of `Group.unplaced`.

    `prepared` has the numbers of `Locating`: spans with a place are ``exact``, the others ``unlocatable``, and tags
    that were left out ``unparsable``.
    """

    def __init__(self, max_cells: int) -> None:
        self._max_cells = max_cells
        self.signature = (LOCATED, "aligned")
        self.prepared: Counter[tuple[Any, ...]] = Counter({(name,): 0 for name in COUNTED})

    def __call__(self, group: Group) -> Group:
        gold, answer = group.gold, _trimmed(group.predicted)
        projection = project(gold, answer, max_cells=self._max_cells)
        lost = {
            layer: [
                replace(span, features=Frozen({**span.features, MENTION: answer.text_of(span)}))
                for span in spans
            ]
            for layer, spans in projection.lost.items()
        }
        self.prepared[("exact",)] += sum(map(len, projection.document.layers.values()))
        self.prepared[("unlocatable",)] += len(projection.unprojected)
        self.prepared[("unparsable",)] += int(answer.metadata.get(UNPARSABLE, "0"))
        unplaced = unplaced_document(lost, gold, answer.file)
        return replace(group, predicted=projection.document, unplaced=unplaced)


def _trimmed(document: Document) -> Document:
    text, first = document.text or "", document.start

    def trimmed(span: Span) -> Span:
        found = without_blanks(span, text, first)
        return found if len(found) and span.parts is None else span

    layers = {layer: list(map(trimmed, spans)) for layer, spans in document.layers.items()}
    return replace(document, layers=layers)
