"""The rates of single entries of a report, and the counts from which they follow, for tests that swap units.

The rates of the headlines of a metric, and of other entries with the four counts, follow from `Counts`; means over
labels follow from the `Counts` of the labels; all others are computed by the metric.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import chain
from operator import mul, sub

from clueval.core.tally import Counts, Tally, f_measure, rate
from clueval.second.results.rates import Entry, Path, Rates, entry_at

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
    """Rates that the metric computes; units that differ have other counts of a key on which a rate depends."""

    def __init__(self, rates: Rates, entry: Entry) -> None:
        path, self.names = entry
        self._rates, self._entry = rates, entry
        self._keys = sorted({key for name in self.names for key in rates.keys_of((*path, name))})
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

_DIGITS = 9
"""Rates times their denominators are rounded to this many decimals, so that they are whole numbers where they can."""


def entry_rates(rates: Rates, path: Path) -> EntryRates:
    """Return the rates of an entry that follow from the same counts as the one at a path."""
    entry, name = path[:-1], path[-1]
    names = next(names for place, names in rates.entries if place == entry)
    kind = _kind(name)
    of_kind = [each for each in names if _kind(each) == kind]
    found: EntryRates | None = None
    if {f"precision{kind}", f"recall{kind}"} <= {*of_kind} and all(map(_NAME.fullmatch, of_kind)):
        before, last = entry[:-1], entry[-1]
        if last in _MEANS:
            labels = [
                (*before, "per_label", label) for label in entry_at(rates.report, (*before, "per_label"))
            ]
            of_labels = _counted(rates, labels, of_kind)
            found = MeanRates(of_labels, _MEANS[last]) if of_labels else None
        else:
            found = next(iter(_counted(rates, [entry], of_kind)), None)
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


def _kind(name: str) -> str:
    """Return what is left of the name of a rate: ``precision_strict`` and ``f1_strict`` are of one kind.

    >>> _kind("document_recall"), _kind("f1")
    ('document_', '')
    """
    return re.sub(r"precision|recall|accuracy|rate|f\d+(\.\d+)?", "", name)


def _counted(rates: Rates, entries: Sequence[Path], names: Sequence[str]) -> list[CountedRates]:
    """Return the rates of some entries that follow from `Counts`; none if one of the entries has no counts."""
    kind = _kind(names[0])
    nothing = [rates.nothing.get(name, math.nan) for name in names]
    if any(map(math.isnan, nothing)) or None in _counts_at(rates, entries, kind, rates.tally(rates.total)):
        return []
    by_row = [_counts_at(rates, entries, kind, rates.tally_of(row)) for row in rates.rows]
    return [
        CountedRates(names, [counts or Counts() for counts in of_entry], nothing)
        for of_entry in zip(*by_row, strict=True)
    ]


def _counts_at(rates: Rates, entries: Sequence[Path], kind: str, tally: Tally) -> list[Counts | None]:
    """Return the counts of entries: those of headlines, or those in the report, or rates times the entry's sizes."""
    headlines = rates.metric.headlines(tally, rates.layers) if kind in ("", "_strict") else {}
    found = [headlines.get(".".join(entry)) for entry in entries]
    if None in found:
        report = rates.metric.scores(tally, rates.layers)
        sizes = rates.metric.sizes(tally, rates.layers)
        for place, path in enumerate(entries):
            entry: Mapping[str, float] = entry_at(report, path)
            if found[place] is None and {*Counts._fields} <= entry.keys():
                found[place] = Counts(*(entry[field] for field in Counts._fields))
            elif found[place] is None and ".".join(path) in sizes:
                gold, predicted = sizes[".".join(path)]
                correct = entry[f"recall{kind}"] * gold, entry[f"precision{kind}"] * predicted
                found[place] = Counts(gold, predicted, *(round(number, _DIGITS) for number in correct))
    return found
