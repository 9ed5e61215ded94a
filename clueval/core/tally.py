"""Counts and rates: every metric counts first and divides last.

A metric counts in a `collections.Counter` whose keys are tuples of strings and integers. Tallies can be added
in any order, the empty tally is zero, and processes can send them to each other. Rates are computed from the
sums only. **0/0 is 0** in every rate of this module, as in conlleval and (with a warning) seqeval.

Floats are added by `math.fsum`, which rounds once, so that a sum is the same whatever the order of its
parts and under every version of Python (the built-in `sum` compensates for rounding from Python 3.12 on).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from operator import mul
from typing import Any, NamedTuple


class Tally(Counter[tuple[Any, ...]]):
    """Counts by key; the class of each metric documents its keys."""

    def __init__(self, counts: Mapping[Any, float] | Iterable[Any] = ()) -> None:
        if counts:  # one is made for each case, and an empty Counter takes several times as long
            self.update(counts)


EPSILON = 1e-12
"""Rates that are equal may be computed with this difference."""

RATES = ("precision", "recall", "f1")
"""The names of the usual rates in reports."""


def add_to(total: Tally, tally: Tally, times: int) -> None:
    """Add a tally, taken a number of times, to a total."""
    for key, number in tally.items():
        total[key] = total.get(key, 0) + number * times


def added(tallies: Iterable[tuple[Tally, int]]) -> Tally:
    """Return the sum of tallies, each taken a number of times."""
    total = Tally()
    for tally, times in tallies:
        add_to(total, tally, times)
    return total


def rate(part: float, whole: float) -> float:
    """Return ``part / whole``; 0/0 is 0."""
    return part / whole if whole else 0.0


def f_measure(precision: float, recall: float, beta: float = 1.0) -> float:
    """Return the weighted harmonic mean of precision and recall (van Rijsbergen 1979); 0 if both are 0."""
    weight = beta * beta
    return rate((1 + weight) * precision * recall, weight * precision + recall)


class Counts(NamedTuple):
    """The number of spans of each side, and the number of true positives **of that side**.

    CLUEval classifies the spans of each side separately, so `tp_gold` and `tp_predicted` may differ. Metrics
    that pair one to one have the same number in both. `gold` and `predicted` are the supports.
    """

    gold: float = 0
    predicted: float = 0
    tp_gold: float = 0
    tp_predicted: float = 0

    @classmethod
    def total(cls, counts: Iterable[Counts]) -> Counts:
        """Add counts; each sum is rounded once, and sums of whole numbers stay whole."""
        columns = list(zip(*counts, strict=True))
        sums = zip(map(sum, columns), columns, strict=True)
        return cls(*[math.fsum(column) if isinstance(total, float) else total for total, column in sums])

    @property
    def precision(self) -> float:
        return rate(self.tp_predicted, self.predicted)

    @property
    def recall(self) -> float:
        return rate(self.tp_gold, self.gold)

    def f(self, beta: float = 1.0) -> float:
        return f_measure(self.precision, self.recall, beta)

    def report(self) -> dict[str, float]:
        """Return the nine numbers of a PRF entry: the rates as fractions, then the counts."""
        precision, recall = self.precision, self.recall
        return prf(self, precision, recall, f_measure(precision, recall))


def prf(counts: Counts, precision: float, recall: float, f1: float) -> dict[str, float]:
    """Return a PRF entry with the given rates and counts."""
    gold, predicted, tp_gold, tp_predicted = counts
    return {
        "precision": precision,
        "recall": recall,
        "f1": f1,
        "gold": gold,
        "predicted": predicted,
        "tp_gold": tp_gold,
        "fn": gold - tp_gold,
        "tp_predicted": tp_predicted,
        "fp": predicted - tp_predicted,
    }


def counts_by_label(total: Tally) -> dict[str, Counts]:
    """Return the counts of each label from a tally with the keys ``(count, label)``, labels in order."""
    names = Counts._fields
    labels = sorted({key[1] for key in total if key[0] in names})
    return {label: Counts(*[total.get((name, label), 0) for name in names]) for label in labels}


def averages_of(per_label: Mapping[str, Counts], *, is_weighted: bool = True) -> dict[str, Any]:
    """Return the report of some labels.

    ``micro`` has the sums of the counts, divided. ``macro`` has the means of the labels' rates (f1: the mean of the
    f1s), and ``weighted``, unless it is not wanted, their means weighted by gold support; both have the sums of the
    counts. ``per_label`` has the entry of each label.
    """
    total = Counts.total(per_label.values())
    reports = {label: counts.report() for label, counts in per_label.items()}
    averages = {"micro": total.report(), "macro": _average(total, reports.values())}
    if is_weighted:
        averages["weighted"] = _average(
            total, reports.values(), [counts.gold for counts in per_label.values()]
        )
    return {**averages, "per_label": reports}


def _average(
    total: Counts, entries: Collection[Mapping[str, float]], weights: Sequence[float] | None = None
) -> dict[str, float]:
    """Return the means of the labels' rates, weighted by `weights` if there are any, and the sums of the counts."""
    whole = len(entries) if weights is None else math.fsum(weights)

    def mean(name: str) -> float:
        rates = [entry[name] for entry in entries]
        return rate(math.fsum(rates if weights is None else map(mul, rates, weights)), whole)

    return prf(total, mean("precision"), mean("recall"), mean("f1"))
