"""What the ways of counting of other programs have in common: their counts add, and they see characters."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, compress, pairwise
from typing import Any, ClassVar, NamedTuple, Self

from clueval.core.span import Span
from clueval.first.metrics.counting import Tally
from clueval.first.metrics.masking import Masking
from clueval.first.metrics.masking.exposure import Examination
from clueval.first.metrics.masking.metric import ANNOTATORS
from clueval.first.metrics.masking.text import MaskedText
from clueval.first.metrics.masking.weights import Range
from clueval.first.metrics.metric import Side
from clueval.spans.document import Document
from clueval.spans.filters import Filter, parse_where
from clueval.studies.masking.found import CONVENTION
from clueval.transforms.group import Group


class OtherProgram(ABC):
    """An observer that counts as another program does; `counted` is what it has counted."""

    program: ClassVar[str]

    def __init__(self, metric: Masking, where: Filter | None = None) -> None:
        self.metric = metric
        self.counted: Tally = Tally()
        self._where = parse_where(()) if where is None else where

    @property
    def name(self) -> str:
        return f"{CONVENTION}{self.program}"

    def see(self, group: Group) -> None:
        """Count a document without the spans that the filter leaves out."""
        where = self._where.on_layers([*group.gold.layers, *group.predicted.layers])
        if where:
            gold, predicted = (_filtered(document, where) for document in (group.gold, group.predicted))
            group = replace(group, gold=gold, predicted=predicted)
        self.counted.update(self.count(group))

    def sent(self) -> Tally:
        """What it has counted."""
        return self.counted

    def join(self, sent: Tally) -> None:
        """Add what another process has counted."""
        self.counted.update(sent)

    @abstractmethod
    def count(self, group: Group) -> Tally:
        """Count one document."""

    @abstractmethod
    def section(self) -> Mapping[str, Any]:
        """Return the figures of the program."""

    def include(self, other: Self) -> None:
        """Add what another one has counted."""
        self.counted.update(other.counted)


def _filtered(document: Document, where: Filter) -> Document:
    layers = {
        name: list(compress(spans, where.counted(spans, document))) for name, spans in document.layers.items()
    }
    return replace(document, layers=layers)


def share(part: float, whole: float) -> float:
    """Return ``part / whole``; 0/0 is 0."""
    return part / whole if whole else 0.0


LabelledRange = tuple[int, int, str]
"""Start and end (half-open) in characters, and the label."""


class LabelledSides(NamedTuple):
    """The text of a document, its gold spans by one annotator, its predicted spans, its number of sentences."""

    text: str
    gold: Sequence[LabelledRange]
    predicted: Sequence[LabelledRange]
    sentences: int


def labelled_sides(metric: Masking, group: Group) -> LabelledSides:
    """Return both sides: all gold spans of the first annotator, those to keep, too, and all predicted spans."""
    gold, predicted = group.gold, group.predicted
    name = _first_layer(metric, gold)
    text = MaskedText.of(gold, "punctuation", (), in_characters=True)
    own = gold.layers.get(name, ())
    other, _ = metric.masking_spans(_side(predicted, name), name)
    return LabelledSides(
        text.characters,
        list(_ranges(own, gold, text)),
        list(_ranges(other, predicted, text)),
        len(gold.sentences),
    )


def examination_of(metric: Masking, group: Group) -> Examination | None:
    """Return the examination of all annotators, or of the first layer of mentions, in characters."""
    name = ANNOTATORS if metric.annotators else _first_layer(metric, group.gold)
    return metric.examine(_side(group.gold, name), _side(group.predicted, name), in_characters=True)


def _first_layer(metric: Masking, gold: Document) -> str:
    named = [name for name in metric.annotators if name in gold.layers]
    return next(iter(named or metric.layer_choice.of_mentions(gold.layers)), "")


def _side(document: Document, name: str) -> Side:
    return Side(document.layers.get(name, ()), document=document, sequence=name)


def _ranges(spans: Sequence[Span], document: Document, text: MaskedText) -> Iterator[LabelledRange]:
    for span in spans:
        ranges = text.ranges_of(span, document)
        yield ranges[0][0], ranges[-1][1], span.label


class TextTokens:
    """The tokens of a text: the runs of characters that match a pattern such as ``\\w+``.

    They are found in ranges that may lie in each other, without a look at each token of each range.
    """

    def __init__(self, pattern: re.Pattern[str], text: str) -> None:
        places = [match.span() for match in pattern.finditer(text)]
        self._starts = [start for start, _ in places]
        self._ends = [end for _, end in places]

    def within(self, ranges: Iterable[Range]) -> Iterator[tuple[Range, int]]:
        """Yield the tokens in the ranges, or the parts of tokens, and in how many of the ranges each is."""
        changes: Counter[int] = Counter()
        parts: Counter[Range] = Counter()
        for start, end in ranges:
            first, past = bisect_right(self._ends, start), bisect_left(self._starts, end)
            if start >= end or first >= past:
                continue
            whole = range(first + (self._starts[first] < start), past - (self._ends[past - 1] > end))
            for token in {first, past - 1}.difference(whole[:1], whole[-1:]):
                parts[max(start, self._starts[token]), min(end, self._ends[token])] += 1
            if whole:
                changes[whole.start] += 1
                changes[whole.stop] -= 1
        yield from parts.items()
        number = 0
        for first, past in pairwise(sorted(changes)):
            number += changes[first]
            for token in range(first, past) if number else ():
                yield (self._starts[token], self._ends[token]), number


class Covers:
    """Ranges, to tell whether one of them holds another range."""

    def __init__(self, ranges: Collection[Range]) -> None:
        ordered = sorted(ranges)
        self._starts = [start for start, _ in ordered]
        self._reach = list(accumulate((end for _, end in ordered), max))

    def holds(self, start: int, end: int) -> bool:
        """Return whether one range begins at `start` or before, and ends at `end` or after."""
        number = bisect_right(self._starts, start)
        return number > 0 and self._reach[number - 1] >= end
