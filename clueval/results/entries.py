"""The rates of single entries of a report, and the counts from which they follow.

The rates of the headlines of a metric, and of other entries with the four counts, follow from `Counts`; means over
labels follow from the `Counts` of the labels; all others are computed by the metric.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import chain
from operator import mul

from clueval.core.bag import pairs_in
from clueval.core.tally import Tally, f_measure, rate
from clueval.results.rates import Entry, Path, Rates, entry_at, kind_of

Numbers = Sequence[float]
"""Counts from which the rates of an entry follow, in columns."""

Row = tuple[tuple[int, float], ...]
"""The counts of a row that are not 0, with the numbers of their columns."""


class EntryRates:
    """Rates of one entry of a report that follow from the same counts.

    Attributes:
        names: of the rates.
        width: the number of columns of counts.
        rows: the counts of each row that has some; units in which they are the same do not differ.
    """

    names: Sequence[str]
    width: int
    rows: Mapping[int, Row]

    def values(self, counts: Sequence[Numbers]) -> list[Sequence[float]]:
        """Return each rate in each corpus, given its counts; NaN where it is undefined."""
        raise NotImplementedError

    def total(self, times: Sequence[int]) -> list[float]:
        """Return the sum of the counts, given how many units have each row."""
        columns: list[list[float]] = [[] for _ in range(self.width)]
        for number, row in self.rows.items():
            for column, count in row:
                columns[column].append(count * times[number])
        return list(map(_sum, columns))

    @property
    def changing(self) -> Sequence[int]:
        """The rows without whose units the rates may differ."""
        return list(self.rows)

    def without(self, times: Sequence[int]) -> list[Sequence[float]]:
        """Return each rate without a unit of each row of `changing`, and last without another one.

        `times` says how many units have each row.
        """
        total = self.total(times)
        places: dict[Row, int] = {}
        of_rows = [places.setdefault(row, len(places)) for row in [*self.rows.values(), ()]]
        found = self.values([_less(total, row) for row in places])
        return [list(map(values.__getitem__, of_rows)) for values in found]

    def without_each(self, times: Sequence[int]) -> list[Sequence[float]]:
        """Return each rate without a unit of each row, given how many units have each."""
        found: list[Sequence[float]] = []
        for *values, rest in self.without(times):
            of_rows = dict(zip(self.changing, values, strict=True))
            found.append([of_rows.get(row, rest) for row in range(len(times))])
        return found


def _less(total: Numbers, row: Row) -> Numbers:
    rest = list(total)
    for column, count in row:
        rest[column] -= count
    return rest


class CountedRates(EntryRates):
    """Rates that follow from `Counts`; `nothing` is what each is if both sides are empty."""

    width = 4

    def __init__(
        self, names: Sequence[str], counts: Mapping[int, Sequence[float]], nothing: Sequence[float]
    ) -> None:
        self.names, self._nothing = names, nothing
        self.rows = {number: _row(row) for number, row in counts.items()}

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
        self.width = 4 * len(labels)

    @cached_property
    def rows(self) -> Mapping[int, Row]:  # type: ignore[override]  # it takes time, and not every test needs it
        found: dict[int, list[tuple[int, float]]] = {}
        for number, label in enumerate(self._labels):
            for row, counts in label.rows.items():
                found.setdefault(row, []).extend((4 * number + column, count) for column, count in counts)
        return {row: tuple(found[row]) for row in sorted(found)}

    def _weight(self, counts: Numbers) -> float:
        gold, predicted, *_ = counts
        return gold if self._by_gold else int(gold + predicted > 0)

    def values(self, counts: Sequence[Numbers]) -> list[Sequence[float]]:
        weights, by_label = [], []
        for number, label in enumerate(self._labels):
            own = [row[4 * number : 4 * number + 4] for row in counts]
            weights.append(list(map(self._weight, own)))
            by_label.append(label.values(own))
        wholes = [_sum(of_labels) for of_labels in zip(*weights, strict=True)]
        found: list[Sequence[float]] = []
        for place in range(len(self.names)):
            parts = [map(mul, values[place], own) for values, own in zip(by_label, weights, strict=True)]
            sums = map(math.fsum, zip(*parts, strict=True))
            found.append([rate(part, whole) for part, whole in zip(sums, wholes, strict=True)])
        return found

    def without(self, times: Sequence[int]) -> list[Sequence[float]]:
        """Add to the sum over labels what changes in those that a row has, so that each row costs its own labels."""
        wholes: list[float] = []  # the weight of each label
        parts: list[list[float]] = [[] for _ in self.names]  # its rates times its weight
        changes: dict[int, list[tuple[float, Sequence[float]]]] = {row: [] for row in self.rows}
        for label in self._labels:
            total = label.total(times)
            counts = [total, *(_less(total, row) for row in label.rows.values())]
            weights = list(map(self._weight, counts))
            own = [list(map(mul, values, weights)) for values in label.values(counts)]
            wholes.append(weights[0])
            for of_rate, products in zip(parts, own, strict=True):
                of_rate.append(products[0])
            for place, row in enumerate(label.rows, 1):
                terms = [term for products in own for term in (products[place], -products[0])]
                changes[row].append((weights[place] - weights[0], terms))
        whole, sums = _sum(wholes), list(map(_exact, parts))
        found: list[list[float]] = [[] for _ in self.names]
        for of_row in [*changes.values(), []]:
            rest = _sum([whole, *(change for change, _ in of_row)])
            for place, values in enumerate(found):
                changed = chain(*(terms[2 * place : 2 * place + 2] for _, terms in of_row))
                values.append(rate(math.fsum([*sums[place], *changed]), rest))
        return [*found]


class ScoredRates(EntryRates):
    """Rates that the metric computes; units that differ have other counts of a key on which a rate depends.

    If the rates of a part of the units depend on other keys, too, all keys count.
    """

    def __init__(self, rates: Rates, entry: Entry) -> None:
        _, self.names = entry
        self._rates, self._entry = rates, entry
        every = range(len(rates.keys))
        self._keys: Sequence[int]
        self._own: Sequence[int]  # those of which the rates are computed
        self._keys, self._own = rates.keys_of(entry)
        if not rates.follow_from(self._own, entry):
            self._own = every
        if not rates.follow_from(self._keys, entry, self._own):
            self._keys = self._own = every
        columns = {key: column for column, key in enumerate(self._keys)}
        self.width = len(columns)
        found = [
            tuple((columns[key], count) for key, count in pairs_in(row) if key in columns)
            for row in rates.rows
        ]
        self.rows = {number: row for number, row in enumerate(found) if row}

    def values(self, counts: Sequence[Numbers]) -> list[Sequence[float]]:
        """Score the counts; those of keys on which no rate depends stay as they are in all units."""
        places: dict[tuple[float, ...], int] = {}
        of_corpora = [places.setdefault(tuple(row), len(places)) for row in counts]
        found = self._rates.scored(map(self._tally, places), [self._entry])
        return [list(map(values.__getitem__, of_corpora)) for values in found]

    def _tally(self, counts: Numbers) -> Tally:
        every = {key: self._rates.total[key] for key in self._own}
        every.update(zip(self._keys, counts, strict=True))  # type: ignore[arg-type]  # counts of keys are whole
        return Tally({self._rates.keys[key]: count for key, count in every.items() if count})

    @cached_property
    def changing(self) -> list[int]:
        return sorted({*chain(*map(self._rates.rows_with.__getitem__, self._own))})

    def without(self, times: Sequence[int]) -> list[Sequence[float]]:
        own = {*self._own}
        places: dict[tuple[tuple[int, int], ...], int] = {}
        rows = [self._rates.rows[row] for row in self.changing]
        parts = [tuple((key, count) for key, count in pairs_in(row) if key in own) for row in [*rows, ()]]
        of_rows = [places.setdefault(part, len(places)) for part in parts]
        whole = dict.fromkeys(self._own, 0)
        for number, part in zip(self.changing, parts, strict=False):
            for key, count in part:
                whole[key] += count * times[number]
        rest = ({**whole, **{key: whole[key] - count for key, count in part}} for part in places)
        tallies = (Tally({self._rates.keys[key]: count for key, count in of.items() if count}) for of in rest)
        found = self._rates.scored(tallies, [self._entry])
        return [list(map(values.__getitem__, of_rows)) for values in found]


def _row(counts: Sequence[float]) -> Row:
    return tuple((column, count) for column, count in enumerate(counts) if count)


def _sum(numbers: Sequence[float]) -> float:
    return math.fsum(numbers) if any(isinstance(number, float) for number in numbers) else sum(numbers)


def _exact(numbers: Sequence[float]) -> list[float]:
    """Return few numbers that have the same sum, without any rounding."""
    found: list[float] = []
    while part := math.fsum([*numbers, *(-each for each in found)]):
        found.append(part)
    return found


# Which rates follow from which counts

_NAME = re.compile(r"(precision|recall|f(\d+(?:\.\d+)?))(_\w+)?")
"""The names of rates that may follow from `Counts`: what each is, its beta, and its ending."""

_MEANS = {"macro": False, "weighted": True}
"""The names of entries whose rates are means over the entries of ``per_label``, and whether gold weighs these."""

_ROUNDING = 1e-12


def entry_rates(rates: Rates, path: Path) -> EntryRates:
    """Return the rates of an entry that follow from the same counts as the one at a path."""
    entry, name = path[:-1], path[-1]
    names = rates.names_of[entry]
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
