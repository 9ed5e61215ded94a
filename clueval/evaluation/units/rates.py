"""The rates of a report, computed for many corpora at once: without each unit, resampled, with units swapped.

Rates that depend on the same columns are a group. A group is given the sum of each of its columns in each corpus
and returns each of its rates in each corpus. `clueval.evaluation.units.groups` finds the groups of a report: entries
that a recipe computes, means over labels, and all others, which the metric scores corpus by corpus.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice, repeat
from operator import or_
from typing import NamedTuple, Protocol

from clueval.evaluation.units.columns import Column, Times, UnitColumns, added, summed
from clueval.evaluation.units.recipes import Path, Recipe, entry_at, sizes_of
from clueval.metrics.counting import Tally

Value = float | None
Sums = Sequence[Sequence[int]]
"""For each column, its sum in each corpus."""

Sizes = tuple[Column, Column]
"""The gold and the predicted spans in each kind of unit."""


class Without(NamedTuple):
    """Values of a rate without one unit, each with the number of units without which it has this value."""

    values: Sequence[Value]
    times: Sequence[int]


class RateGroup(Protocol):
    """Rates that depend on the same columns."""

    @property
    def paths(self) -> Sequence[Path]:
        """Where the rates stand in the report."""
        ...

    @property
    def columns(self) -> Sequence[Column]: ...

    def sizes(self, path: Path) -> Sizes:
        """Return the gold and the predicted spans, as far as a rate is about them."""
        ...

    def values(self, sums: Sums) -> list[list[Value]]:
        """Return for each rate its value in each corpus; None where it is undefined."""
        ...

    def without_each(self, times: Times) -> list[list[Value]]:
        """Return for each rate its value without one unit of each kind; `times` is how many there are of each.

        The value of a kind of which there is no unit means nothing.
        """
        ...

    def different(self, times: Times) -> list[Without]:
        """Return for each rate its values without one unit; units with equal counts may share one."""
        ...


@dataclass(frozen=True, slots=True)
class EntryRates:
    """The rates of one entry, by a recipe."""

    paths: Sequence[Path]
    columns: Sequence[Column]
    spans: Sizes
    recipe: Recipe
    latest: list[tuple[Times, DifferentRows]] = field(default_factory=list, compare=False, repr=False)

    def sizes(self, path: Path) -> Sizes:
        return self.spans

    def values(self, sums: Sums) -> list[list[Value]]:
        return self.recipe.function(*sums)

    def without_each(self, times: Times) -> list[list[Value]]:
        """Compute each rate once for all kinds that have the same counts here, and once for the same `times`."""
        rows = self.rows(times)
        places = dict(zip(rows.kinds, rows.places, strict=True))
        return [[values[places.get(kind, 0)] for kind in range(len(times))] for values in rows.values]

    def different(self, times: Times) -> list[Without]:
        _, _, numbers, found = self.rows(times)
        first = 0 if numbers[0] else 1  # the row without counts is left out if no unit has it
        return [Without(values[first:], numbers[first:]) for values in found]

    def rows(self, times: Times) -> DifferentRows:
        """Return the rows of counts that differ, and each rate without a unit that has such a row."""
        if self.latest and self.latest[0][0] is times:
            return self.latest[0][1]
        kinds = sorted({kind for column in self.columns for kind in column.kinds})
        rows = list(zip(*(counts_in(kinds, column) for column in self.columns), strict=True))
        different = dict.fromkeys([(0,) * len(self.columns), *rows])
        numbered = dict(zip(different, range(len(different)), strict=True))
        places = list(map(numbered.__getitem__, rows))
        numbers = [0] * len(different)
        for kind, place in zip(kinds, places, strict=True):
            numbers[place] += times[kind]
        numbers[0] = sum(times) - sum(numbers)
        sums = []
        for column, counts in zip(self.columns, zip(*different, strict=True), strict=True):
            total = summed(column, times)
            sums.append([total - count for count in counts])
        found = DifferentRows(kinds, places, numbers, self.values(sums))
        self.latest[:] = [(times, found)]
        return found


class DifferentRows(NamedTuple):
    """The rows of counts that differ; the first has none.

    `kinds` are the kinds of units that have counts, `places` their rows, `numbers` says how many units have each row,
    `values` are each rate without a unit of each row.
    """

    kinds: Sequence[int]
    places: Sequence[int]
    numbers: Sequence[int]
    values: list[list[Value]]


def counts_in(kinds: Sequence[int], column: Column) -> Sequence[int]:
    """Return the values of a column in these kinds, which include all in which it is not 0."""
    if len(kinds) == len(column.kinds):
        return column.counts
    return list(map(dict(column.items()).get, kinds, repeat(0)))


@dataclass(frozen=True, slots=True)
class MeanRates:
    """Means of the rates of labels: of those labels that occur; weighted by gold spans if `weighted`.

    `empty` has the value of each mean if no label occurs.
    """

    paths: Sequence[Path]
    labels: Sequence[EntryRates]
    spans: Sizes
    weighted: bool
    empty: Sequence[Value]

    @property
    def columns(self) -> Sequence[Column]:
        return [column for label in self.labels for column in (*label.spans, *label.columns)]

    def sizes(self, path: Path) -> Sizes:
        return self.spans

    def values(self, sums: Sums) -> list[list[Value]]:
        """Compute the means as metrics do: each sum is rounded once."""
        place = 0
        weights: list[Sequence[int]] = []
        rates = []
        for label in self.labels:
            weights.append(self._weights(*sums[place : place + 2]))
            rates.append(label.values(sums[place + 2 : place + 2 + len(label.columns)]))
            place += 2 + len(label.columns)
        by_corpus = list(zip(*weights, strict=True))
        wholes = [sum(row) for row in by_corpus]
        means: list[list[Value]] = []
        for empty, *by_label in zip(self.empty, *rates, strict=True):
            rows = zip(zip(*by_label, strict=True), by_corpus, wholes, strict=True)
            means.append(
                [
                    math.fsum([v * w for v, w in zip(row, own, strict=True) if v and w]) / whole
                    if whole
                    else empty
                    for row, own, whole in rows
                ]
            )
        return means

    def without_each(self, times: Times) -> list[list[Value]]:
        """Add to the sum over all labels what changes in the labels of each kind of unit: the last bits may differ from
        those of `values`.
        """
        whole, wholes = 0, [0] * len(times)
        parts: list[list[float]] = [[] for _ in self.paths]
        changes = [[0.0] * len(times) for _ in self.paths]
        for label in self.labels:
            rows = label.rows(times)
            places = dict(zip(rows.kinds, rows.places, strict=True))
            kinds = sorted({*rows.kinds, *label.spans[0].kinds, *label.spans[1].kinds})
            weight, *weights = self._weights(
                *(
                    [total, *(total - own for own in counts_in(kinds, column))]
                    for total, column in ((summed(column, times), column) for column in label.spans)
                )
            )
            whole += weight
            for kind, without in zip(kinds, weights, strict=True):
                wholes[kind] += without - weight
            for of_labels, of_kinds, values in zip(parts, changes, rows.values, strict=True):
                part = (values[0] or 0.0) * weight
                of_labels.append(part)
                for kind, without in zip(kinds, weights, strict=True):
                    of_kinds[kind] += (values[places.get(kind, 0)] or 0.0) * without - part
        means: list[list[Value]] = []
        for of_labels, of_kinds, empty in zip(parts, changes, self.empty, strict=True):
            total = math.fsum(of_labels)
            means.append(
                [
                    (total + change) / (whole + more) if whole + more else empty
                    for change, more in zip(of_kinds, wholes, strict=True)
                ]
            )
        return means

    def different(self, times: Times) -> list[Without]:
        return [Without(values, times) for values in self.without_each(times)]

    def _weights(self, gold: Sequence[int], predicted: Sequence[int]) -> Sequence[int]:
        if self.weighted:
            return gold
        return list(map(bool, map(or_, gold, predicted)))


@dataclass(frozen=True, slots=True)
class SummedRates:
    """Rates that follow from sums over `parts`, whose values are added; each sum is rounded once."""

    paths: Sequence[Path]
    parts: Sequence[EntryRates]
    spans: Sizes
    function: Callable[..., list[list[Value]]]

    @property
    def columns(self) -> Sequence[Column]:
        return [column for part in self.parts for column in part.columns]

    def sizes(self, path: Path) -> Sizes:
        return self.spans

    def values(self, sums: Sums) -> list[list[Value]]:
        columns, found = iter(sums), []
        for part in self.parts:
            found.append(part.values(list(islice(columns, len(part.columns)))))
        return self.function(
            *(list(map(math.fsum, zip(*one, strict=True))) for one in zip(*found, strict=True))
        )

    def without_each(self, times: Times) -> list[list[Value]]:
        """Add to each sum what changes in the parts of each kind of unit: the last bits may differ from `values`."""
        found = [part.rows(times) for part in self.parts]
        sums = []
        for by_part in zip(*(rows.values for rows in found), strict=True):
            changes = [0.0] * len(times)
            for rows, values in zip(found, by_part, strict=True):
                for kind, place in zip(rows.kinds, rows.places, strict=True):
                    changes[kind] += (values[place] or 0.0) - (values[0] or 0.0)
            total = math.fsum([values[0] or 0.0 for values in by_part])
            sums.append([total + change for change in changes])
        return self.function(*sums)

    def different(self, times: Times) -> list[Without]:
        return [Without(values, times) for values in self.without_each(times)]


@dataclass(frozen=True, slots=True)
class ScoredRates:
    """Rates that the metric computes: every corpus is scored as a whole."""

    paths: Sequence[Path]
    source: UnitColumns

    @property
    def columns(self) -> Sequence[Column]:
        return list(self.source.by_key.values()) or [Column([], [])]

    def sizes(self, path: Path) -> Sizes:
        return sizes_in(self.source, path[:-1])

    def values(self, sums: Sums) -> list[list[Value]]:
        keys = list(self.source.by_key)
        corpora = (Tally(dict(zip(keys, counts, strict=False))) for counts in zip(*sums, strict=True))
        return _turned([self._scored(total) for total in corpora])

    def without_each(self, times: Times) -> list[list[Value]]:
        columns = self.source.by_key.items()
        total = Tally({key: summed(column, times) for key, column in columns})
        nothing: list[Value] = [None] * len(self.paths)
        rows = []
        for tally, number in zip(self.source.kinds, times, strict=True):
            rest = Tally(total)
            rest.subtract(tally)
            rows.append(self._scored(rest) if number else nothing)
        return _turned(rows)

    def different(self, times: Times) -> list[Without]:
        return [Without(values, times) for values in self.without_each(times)]

    def _scored(self, total: Tally) -> list[Value]:
        counts = Tally({key: count for key, count in total.items() if count})
        report = self.source.metric.scores(counts, self.source.layers)
        return [entry_at(report, path[:-1]).get(path[-1]) for path in self.paths]


def _turned(rows: Sequence[list[Value]]) -> list[list[Value]]:
    return list(map(list, zip(*rows, strict=True)))


def sizes_in(source: UnitColumns, path: Path) -> Sizes:
    """Return the gold and the predicted spans of the entry at this path."""
    found = sizes_of(source.report, path)
    gold, predicted = (None, None) if found is None else map(source.of, found)
    if gold is None or predicted is None:  # every unit in which something was counted weighs the same
        counted = [kind for kind, tally in enumerate(source.kinds) if any(tally.values())]
        every = Column(counted, [1] * len(counted))
        return every, every
    return added(gold), added(predicted)
