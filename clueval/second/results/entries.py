"""The rates of single entries of a report, and the counts from which they follow, for tests that swap units.

The rates of the headlines of a metric, and of other entries with the four counts, follow from `Counts`; means over
labels follow from the `Counts` of the labels; all others are computed by the metric.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import chain
from operator import mul, sub

from clueval.core.tally import Counts, Tally, f_measure, rate
from clueval.second.results.rates import Entry, Path, Rates, entry_at, kind_of

Numbers = tuple[float, ...]
"""Counts from which the rates of an entry follow."""


class EntryRates:
    """Rates of one entry of a report that follow from the same counts.

    Attributes:
        names: of the rates.
        counts: the counts of each row; units in which they are the same do not differ.
    """

    names: Sequence[str]
    counts: Sequence[Numbers]

    def values(self, counts: Sequence[Numbers]) -> list[Sequence[float]]:
        """Return each rate in each corpus, given its counts; NaN where it is undefined."""
        raise NotImplementedError

    def total(self, times: Sequence[int]) -> Numbers:
        """Return the sum of the counts, given how many units have each row."""
        return tuple([_sum(list(map(mul, column, times))) for column in zip(*self.counts, strict=True)])

    def without_each(self, times: Sequence[int]) -> list[Sequence[float]]:
        """Return each rate without a unit of each row, given how many units have each."""
        total = self.total(times)
        places: dict[Numbers, int] = {}
        of_rows = [places.setdefault(row, len(places)) for row in self.counts]
        found = self.values([tuple(map(sub, total, row)) for row in places])
        return [list(map(values.__getitem__, of_rows)) for values in found]


class CountedRates(EntryRates):
    """Rates that follow from `Counts`; `nothing` is what each is if both sides are empty."""

    def __init__(self, names: Sequence[str], counts: Sequence[Counts], nothing: Sequence[float]) -> None:
        self.names, self.counts, self._nothing = names, counts, nothing

    def values(self, counts: Sequence[Numbers]) -> list[Sequence[float]]:
        recalls = [rate(tp_gold, gold) for gold, _, tp_gold, _ in counts]
        precisions = [rate(tp_predicted, predicted) for _, predicted, _, tp_predicted in counts]
        empty = [place for place, (gold, predicted, *_) in enumerate(counts) if not gold and not predicted]
        found: list[Sequence[float]] = []
        for name, nothing in zip(self.names, self._nothing, strict=True):
            values = precisions if name.startswith("precision") else recalls
            if name.startswith("f"):
                beta = float(_NAME.fullmatch(name)[2])  # type: ignore[index]  # its rates have such names
                values = [f_measure(*both, beta) for both in zip(precisions, recalls, strict=True)]
            if empty and nothing:
                values = list(values)
                for place in empty:
                    values[place] = nothing
            found.append(values)
        return found


class MeanRates(EntryRates):
    """Means of the rates of labels that occur; `by_gold`: weighted by their gold spans. They are 0 without labels."""

    def __init__(self, labels: Sequence[CountedRates], by_gold: bool) -> None:
        self.names, self._labels, self._by_gold = labels[0].names, labels, by_gold
        self.counts = [
            tuple(chain(*of_labels)) for of_labels in zip(*(each.counts for each in labels), strict=True)
        ]

    def values(self, counts: Sequence[Numbers]) -> list[Sequence[float]]:
        weights, by_label = [], []
        for number, label in enumerate(self._labels):
            own = [row[4 * number : 4 * number + 4] for row in counts]
            weights.append([gold if self._by_gold else int(gold + other > 0) for gold, other, *_ in own])
            by_label.append(label.values(own))
        wholes = [_sum(of_labels) for of_labels in zip(*weights, strict=True)]
        found: list[Sequence[float]] = []
        for place in range(len(self.names)):
            parts = [map(mul, values[place], own) for values, own in zip(by_label, weights, strict=True)]
            sums = map(math.fsum, zip(*parts, strict=True))
            found.append([rate(part, whole) for part, whole in zip(sums, wholes, strict=True)])
        return found


class ScoredRates(EntryRates):
    """Rates that the metric computes; units that differ have other counts of a key on which a rate depends.

    If the rates of a part of the units depend on other keys, too, all keys count.
    """

    def __init__(self, rates: Rates, entry: Entry) -> None:
        path, self.names = entry
        self._rates, self._entry = rates, entry
        self._keys: Sequence[int] = sorted(
            {key for name in self.names for key in rates.keys_of((*path, name))}
        )
        sums = [rates.sums(rates.times(part)) for part in rates.parts]
        values = self.values([tuple([of_part[key] for key in self._keys]) for of_part in sums])
        if repr(values) != repr(list(map(list, rates.scored(map(rates.tally, sums), [entry])))):
            self._keys = range(len(rates.keys))
        self.counts = [tuple(map(dict(row).get, self._keys, [0] * len(self._keys))) for row in rates.rows]

    def values(self, counts: Sequence[Numbers]) -> list[Sequence[float]]:
        """Score the counts; those of keys on which no rate depends stay as they are in all units."""
        places: dict[Numbers, int] = {}
        of_corpora = [places.setdefault(row, len(places)) for row in counts]
        found = self._rates.scored(map(self._tally, places), [self._entry])
        return [list(map(values.__getitem__, of_corpora)) for values in found]

    def _tally(self, counts: Numbers) -> Tally:
        every = list(self._rates.total)
        for key, count in zip(self._keys, counts, strict=True):
            every[key] = count  # type: ignore[call-overload]  # the counts of keys are whole
        return self._rates.tally(every)

    def without_each(self, times: Sequence[int]) -> list[Sequence[float]]:
        tallies = self._rates.without_each(self._rates.sums(times), range(len(times)))
        return list(self._rates.scored(tallies, [self._entry]))


def _sum(numbers: Sequence[float]) -> float:
    return math.fsum(numbers) if any(isinstance(number, float) for number in numbers) else sum(numbers)


# Which rates follow from which counts

_NAME = re.compile(r"(precision|recall|f(\d+(?:\.\d+)?))(_\w+)?")
"""The names of rates that may follow from `Counts`: what each is, its beta, and its ending."""

_MEANS = {"macro": False, "weighted": True}
"""The names of entries whose rates are means over the entries of ``per_label``, and whether gold weighs these."""

_ROUNDING = 1e-12


def entry_rates(rates: Rates, path: Path) -> EntryRates:
    """Return the rates of an entry that follow from the same counts as the one at a path."""
    entry, name = path[:-1], path[-1]
    names = next(names for place, names in rates.entries if place == entry)
    kind = kind_of(name)
    of_kind = [each for each in names if kind_of(each) == kind]
    found: EntryRates | None = None
    nothing = [rates.nothing.get(each, math.nan) for each in of_kind]
    if all(map(_NAME.fullmatch, of_kind)) and not any(map(math.isnan, nothing)):
        before, last = entry[:-1], entry[-1]
        labels = entry_at(rates.report, (*before, "per_label")) if last in _MEANS else ()
        entries = [(*before, "per_label", label) for label in labels] or [entry]
        counts = [rates.sizes.counts(each, kind) for each in entries]
        counted = [CountedRates(of_kind, of_entry, nothing) for of_entry in counts if of_entry is not None]
        if len(counted) == len(entries):
            found = MeanRates(counted, _MEANS[last]) if labels else counted[0]
    if found is not None and _agrees(found, rates, entry):
        return found
    return ScoredRates(rates, (entry, of_kind))


def _agrees(found: EntryRates, rates: Rates, entry: Path) -> bool:
    """Return whether the rates of all units are those of the report."""
    report = entry_at(rates.report, entry)
    whole = found.values([found.total(rates.times(range(len(rates.row_of))))])
    return all(
        report[name] is not None and abs(report[name] - value) <= _ROUNDING
        for name, (value,) in zip(found.names, whole, strict=True)
    )
