"""Located mentions: the answers of language models name spans by their texts, whose places in gold's text are found.

Each step looks for the mentions that the steps before it have not found, and forgives what they forgive: ``exact``;
``space`` (NFC, runs of white space as one); ``quotes`` (the form of quotes and dashes); ``case``; ``fuzzy=X`` (the most
similar words, of a similarity of at least X). Occurrences are explained at `clueval.transforms.occurrences`. A mention
takes

* ``in-order``: the k-th mention of a text its k-th occurrence, whatever the labels;
* ``first``: the first occurrence;
* ``all``: each text takes all its occurrences, once for each of its labels.

Positions that an answer gives stand if the text there is the mention. In gold of tokens, a mention gets the tokens of
which it covers more than half the characters. A mention without a place becomes a span of `Group.unplaced`, which
counts as a false positive.

In "Ann met Ann at Annex", the mentions Ann, Ann, Ann are at [0,3) and [8,11), and the third has no place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from clueval.exceptions import TextMismatch, UsageError
from clueval.spans.document import Document
from clueval.spans.features import BY_ID, MENTION, OFFSETS, UNPARSABLE
from clueval.spans.ranges import Regions
from clueval.spans.span import Frozen, Span
from clueval.transforms.characters import Characters, has_characters, without_blanks
from clueval.transforms.group import LOCATED, Group
from clueval.transforms.occurrences import Occurrences, Range
from clueval.transforms.preparing import FUZZY, LocationSteps
from clueval.transforms.projection import project

COUNTED = ("exact", "space", "case", "fuzzy", "moved", "unlocatable", "ambiguous", "unparsable")
"""The numbers that `prepared` always has; of mentions, the number of ``answers``, too."""


class Locating:
    """A transform that gives mentions their places in the text of gold.

    `prepared` counts the mentions by the step that found them, those with other positions than the answer gives
    (``moved``), those without a place (``unlocatable``), those whose text occurs more often than it is mentioned
    (``ambiguous``; with ``all``, there are none), the ``answers``, and those that could not be read (``unparsable``).
    """

    def __init__(self, occurrence: str, steps: LocationSteps) -> None:
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
            mentions = [_Mention.of(span) for span in spans]
            self._locate(mentions, finders, characters)
            located[layer] = sorted(_spans(mentions, self._occurrence == "all"), key=_position)
            lost[layer] = [mention.span for mention in mentions if not mention.places]
        placed = replace(gold, layers=located, tags=Frozen(), lines=None, file=predicted.file)
        return replace(group, predicted=placed, unplaced=unplaced_document(lost, gold, predicted.file))

    def _locate(
        self, mentions: Sequence[_Mention], finders: list[Occurrences], characters: Characters
    ) -> None:
        """Give the mentions their places, and count them. `finders` gets those of the steps that are needed."""
        for mention in mentions:
            mention.stand(characters)
            self.prepared[("exact",)] += bool(mention.places)
        for number, name in enumerate(self._steps.names):
            if all(mention.places for mention in mentions):
                break
            if number == len(finders):
                finders.append(Occurrences(characters.text, self._folds[number]))
            finder = finders[number]
            keys: dict[str, list[_Mention]] = {}
            for mention in mentions:
                keys.setdefault(finder.key(mention.text), []).append(mention)
            for key, those in keys.items():
                waiting = [mention for mention in those if not mention.places]
                if not waiting:
                    continue
                if name == FUZZY:
                    self._take_nearest(waiting, those, key, finder, characters)
                else:
                    self._take_occurrences(name, waiting, those, finder.of(key), characters)
        for mention in mentions:
            self.prepared[("unlocatable",)] += not mention.places
            self.prepared[("moved",)] += (
                mention.offsets is not None and bool(mention.places) and not mention.stands
            )

    def _take_occurrences(
        self,
        step: str,
        waiting: Sequence[_Mention],
        those: Sequence[_Mention],
        found: Sequence[Range],
        characters: Characters,
    ) -> None:
        """Give the `waiting` mentions of a text the occurrences `found`; `those` are all mentions of the text."""
        places = [
            (place, tokens) for place in found if (tokens := characters.positions_of(*place)) is not None
        ]
        if self._occurrence == "in-order":
            free = places
            if len(waiting) < len(those):
                taken = Regions(place for mention in those for place in mention.ranges)
                free = [each for each in places if not taken.touch(Span(*each[0]))]
            taking = [
                (mention, ([place], [tokens]))
                for mention, (place, tokens) in zip(waiting, free, strict=False)
            ]
        else:
            own = places if self._occurrence == "all" else places[:1]
            both = [place for place, _ in own], [tokens for _, tokens in own]  # the mentions share them
            taking = [(mention, both) for mention in waiting if own]
        for mention, several in taking:
            mention.ranges, mention.places = several
        self.prepared[(step,)] += len(taking)
        if self._occurrence != "all" and len(places) > len(those):
            self.prepared[("ambiguous",)] += len(taking)

    def _take_nearest(
        self,
        waiting: Sequence[_Mention],
        those: Sequence[_Mention],
        key: str,
        finder: Occurrences,
        characters: Characters,
    ) -> None:
        for mention in waiting:
            others = those if self._occurrence == "in-order" else ()
            taken = Regions(place for other in others for place in other.ranges)
            place = finder.nearest(key, self._steps.least, taken)
            tokens = None if place is None else characters.positions_of(*place)
            if place is None or tokens is None:
                return  # nor is there one for the next mention of this text
            mention.ranges, mention.places = [place], [tokens]
            self.prepared[(FUZZY,)] += 1


@dataclass(slots=True, eq=False)
class _Mention:
    """A mention: its span, text and given positions, and its places in characters and in positions of gold."""

    span: Span
    text: str
    offsets: Range | None
    ranges: list[Range]
    places: list[Range]
    stands: bool = False

    @classmethod
    def of(cls, span: Span) -> _Mention:
        return cls(span, str(span.features.get(MENTION, "")).strip(), span.features.get(OFFSETS), [], [])

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
