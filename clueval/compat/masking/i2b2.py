"""The figures of the evaluation scripts of the i2b2 2014 and the n2c2 tracks on de-identification.

*strict* compares start, end and label; *relaxed* allows the ends to differ by 2 (nearest first, one to one); *token*
compares the tokens ``[a-zA-Z0-9]+`` of the spans with their labels, so that ``Öhler`` is ``hler``; *binary* ignores
labels. Spans of a document are sets. Micro averages are over all spans; macro averages are the mean over documents
with its population standard deviation. 0/0 is 0.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Any, ClassVar

from clueval.compat.masking.program import LabelledRange, OtherProgram, TextTokens, labelled_sides
from clueval.core.document import Pair
from clueval.core.tally import Tally, rate
from clueval.metrics.masking.text import Range

NEAR = 2
"""How far apart the ends of spans may be in the relaxed comparison."""

NAMES = ("token", "strict", "relaxed", "binary_token", "binary_strict")
_TOKEN = re.compile("[a-zA-Z0-9]+")


class I2b2Figures(OtherProgram):
    """Counts as the scripts do; the key of a count is the comparison and the counts of a document."""

    name: ClassVar[str] = "convention i2b2"

    def count(self, pair: Pair) -> Tally:
        text, gold, predicted, _ = labelled_sides(self.metric, pair)
        every = TextTokens(_TOKEN, text)
        tokens = tuple(set(_tokens(every, side)) for side in (gold, predicted))
        tally = Tally()
        for name, own, other in (
            ("token", *tokens),
            ("strict", set(gold), set(predicted)),
            ("binary_token", *({one[:2] for one in side} for side in tokens)),
            ("binary_strict", {one[:2] for one in gold}, {one[:2] for one in predicted}),
        ):
            tally[name, len(own & other), len(other - own), len(own - other)] += 1  # type: ignore[operator]
        found = _relaxed(set(gold), set(predicted))
        tally["relaxed", found, len(set(predicted)) - found, len(set(gold)) - found] += 1
        return tally

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        by_name: dict[str, Counter[tuple[int, int, int]]] = {name: Counter() for name in NAMES}
        for (name, *counts), number in total.items():
            by_name[name][counts[0], counts[1], counts[2]] += number
        return {name: _figures(documents) for name, documents in by_name.items()}


def _tokens(tokens: TextTokens, spans: Collection[LabelledRange]) -> Iterator[LabelledRange]:
    by_label: dict[str, list[Range]] = {}
    for start, end, label in spans:
        by_label.setdefault(label, []).append((start, end))
    for label, ranges in by_label.items():
        for (start, end), _ in tokens.within(ranges):
            yield start, end, label


def _relaxed(gold: Collection[LabelledRange], predicted: Collection[LabelledRange]) -> int:
    """Return how many pairs have the same start and label and near ends, nearest first, one to one."""
    theirs = set(predicted)
    near = sorted(
        (abs(end - other), start, label, end, other)
        for start, end, label in gold
        for other in range(end - NEAR, end + NEAR + 1)
        if (start, other, label) in theirs
    )
    own: set[LabelledRange] = set()
    others: set[LabelledRange] = set()
    for _, start, label, end, other in near:
        if (start, end, label) not in own and (start, other, label) not in others:
            own.add((start, end, label))
            others.add((start, other, label))
    return len(own)


def _figures(documents: Counter[tuple[int, int, int]]) -> dict[str, float]:
    tp, fp, fn = (sum(counts[i] * number for counts, number in documents.items()) for i in range(3))
    found: dict[str, float] = {"tp": tp, "fp": fp, "fn": fn}
    found |= {"micro_precision": rate(tp, tp + fp), "micro_recall": rate(tp, tp + fn)}
    for name, wrong in (("precision", 1), ("recall", 2)):
        values = Counter({counts: rate(counts[0], counts[0] + counts[wrong]) for counts in documents})
        found |= _mean(f"macro_{name}", [(values[counts], number) for counts, number in documents.items()])
    return found


def _mean(name: str, values: list[tuple[float, int]]) -> dict[str, float]:
    """Return the mean and the population standard deviation of values with their frequencies."""
    number = sum(n for _, n in values)
    mean = rate(math.fsum(value * n for value, n in values), number)
    variance = rate(math.fsum((value - mean) ** 2 * n for value, n in values), number)
    return {name: mean, f"{name}_sd": math.sqrt(variance)}
