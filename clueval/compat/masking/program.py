"""What the ways of counting of other programs have in common: their counts add, and they see characters."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, compress, pairwise
from typing import NamedTuple

from clueval.core.case import Where, counted
from clueval.core.document import Document, Pair
from clueval.core.metric import DocumentMetric
from clueval.core.span import Span
from clueval.core.tally import Tally
from clueval.metrics.masking import Masking
from clueval.metrics.masking.exposure import Examination
from clueval.metrics.masking.metric import ANNOTATORS
from clueval.metrics.masking.text import MaskedText, Range


@dataclass(frozen=True)
class OtherProgram(DocumentMetric):
    """A metric that counts as another program does, with the settings of `Masking`.

    It counts documents without the spans that a filter leaves out, all layers together.
    """

    metric: Masking = field(compare=False)

    @property
    def whole(self) -> str:
        return "documents"

    def count_documents(self, pairs: Sequence[Pair], sequence: str, where: Where) -> Tally:
        tally = Tally()
        for pair in pairs:
            if where:
                pair = replace(
                    pair, gold=_filtered(pair.gold, where), predicted=_filtered(pair.predicted, where)
                )
            tally.update(self.count(pair))
        return tally

    def count(self, pair: Pair) -> Tally:
        """Count one document."""
        raise NotImplementedError


def _filtered(document: Document, where: Where) -> Document:
    layers = {
        name: list(compress(spans, counted(spans, document, where)))
        for name, spans in document.layers.items()
    }
    return replace(document, layers=layers)


LabelledRange = tuple[int, int, str]
"""Start and end (half-open) in characters, and the label."""


class LabelledSides(NamedTuple):
    """The text of a document, its gold spans by one annotator, its predicted spans, its number of sentences."""

    text: str
    gold: Sequence[LabelledRange]
    predicted: Sequence[LabelledRange]
    sentences: int


def labelled_sides(metric: Masking, pair: Pair) -> LabelledSides:
    """Return both sides: all gold spans of the first annotator, those to keep, too, and all predicted spans."""
    gold, predicted = pair.sides
    name = _first_layer(metric, gold)
    text = MaskedText.of(gold, "punctuation", (), in_characters=True)
    other, _ = metric.masking_spans(predicted, name, predicted.layers.get(name, ()), None)
    return LabelledSides(
        text.characters,
        _ranges(gold.layers.get(name, ()), gold, text),
        _ranges(other, predicted, text),
        len(gold.sentences),
    )


def examination_of(metric: Masking, pair: Pair) -> Examination | None:
    """Return the examination of all annotators, or of the first layer of mentions, in characters."""
    name = ANNOTATORS if metric.annotators else _first_layer(metric, pair.gold)
    return metric.examine(pair, name, {}, in_characters=True)


def _first_layer(metric: Masking, gold: Document) -> str:
    named = [name for name in metric.annotators if name in gold.layers]
    return next(iter(named or metric.of_mentions(gold.layers)), "")


def _ranges(spans: Sequence[Span], document: Document, text: MaskedText) -> list[LabelledRange]:
    placed = [text.placed(span, document) for span in spans]
    return [(span.start, span.end, span.label) for span in placed]


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
