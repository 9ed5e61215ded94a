"""The rates of a report, computed for many corpora at once: without each unit, resampled, with units swapped.

Rates that depend on the same columns are a group. A group is given the sum of each of its columns in each corpus
and returns each of its rates in each corpus. `groups_of` finds the groups of a report: entries that a recipe
computes, means over labels, and all others, which the metric scores corpus by corpus.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from clueval.evaluation.units.columns import Column, Times, UnitColumns, summed
from clueval.evaluation.units.recipes import Path, Recipe, entries, entry_at, is_rate, recipe_of, sizes_of
from clueval.metrics.counting import Tally, rate

Value = float | None
Sums = Sequence[Sequence[int]]
"""For each column, its sum in each corpus."""

Sizes = tuple[Column, Column]
"""The gold and the predicted spans in each kind of unit."""


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


@dataclass(frozen=True, slots=True)
class EntryRates:
    """The rates of one entry, by a recipe."""

    paths: Sequence[Path]
    columns: Sequence[Column]
    spans: Sizes
    recipe: Recipe
    latest: list[tuple[Times, list[list[Value]]]] = field(default_factory=list, compare=False, repr=False)

    def sizes(self, path: Path) -> Sizes:
        return self.spans

    def values(self, sums: Sums) -> list[list[Value]]:
        return self.recipe.function(*sums)  # type: ignore[return-value]  # floats, none of which is None

    def without_each(self, times: Times) -> list[list[Value]]:
        """Compute each rate once for all kinds that have the same counts here, and once for the same `times`."""
        if self.latest and self.latest[0][0] is times:
            return self.latest[0][1]
        totals = [summed(column, times) for column in self.columns]
        rows = list(zip(*self.columns, strict=True))
        different = dict.fromkeys(rows)
        sums = [
            [total - count for count in column]
            for total, column in zip(totals, zip(*different, strict=True), strict=True)
        ]
        found = []
        for values in self.values(sums):
            by_row = dict(zip(different, values, strict=True))
            found.append(list(map(by_row.__getitem__, rows)))
        self.latest[:] = [(times, found)]
        return found


@dataclass(frozen=True, slots=True)
class MeanRates:
    """Means of the rates of labels: of those labels that occur; weighted by gold spans if `weighted`."""

    paths: Sequence[Path]
    labels: Sequence[EntryRates]
    spans: Sizes
    weighted: bool

    @property
    def columns(self) -> Sequence[Column]:
        return [column for label in self.labels for column in (*label.spans, *label.columns)]

    def sizes(self, path: Path) -> Sizes:
        return self.spans

    def values(self, sums: Sums) -> list[list[Value]]:
        place = 0
        weights: list[Sequence[int]] = []
        rates = []
        for label in self.labels:
            weights.append(self._weights(*sums[place : place + 2]))
            rates.append(label.values(sums[place + 2 : place + 2 + len(label.columns)]))
            place += 2 + len(label.columns)
        return _means(rates, weights)

    def without_each(self, times: Times) -> list[list[Value]]:
        weights = []
        for label in self.labels:
            totals = [summed(column, times) for column in label.spans]
            weights.append(
                self._weights(
                    *(
                        [total - count for count in column]
                        for total, column in zip(totals, label.spans, strict=True)
                    )
                )
            )
        return _means([label.without_each(times) for label in self.labels], weights)

    def _weights(self, gold: Sequence[int], predicted: Sequence[int]) -> Sequence[int]:
        if self.weighted:
            return gold
        return [bool(one or other) for one, other in zip(gold, predicted, strict=True)]


def _means(rates: Sequence[list[list[Value]]], weights: Sequence[Sequence[int]]) -> list[list[Value]]:
    """The weighted means of the labels' rates, for each rate and corpus."""
    by_corpus = list(zip(*weights, strict=True))
    wholes = [math.fsum(row) for row in by_corpus]
    means: list[list[Value]] = []
    for by_label in zip(*rates, strict=True):
        rows = zip(zip(*by_label, strict=True), by_corpus, wholes, strict=True)
        means.append(
            [
                rate(math.fsum([v * w for v, w in zip(row, own, strict=True) if v and w]), whole)
                for row, own, whole in rows
            ]
        )
    return means


@dataclass(frozen=True, slots=True)
class ScoredRates:
    """Rates that the metric computes: every corpus is scored as a whole."""

    paths: Sequence[Path]
    source: UnitColumns

    @property
    def columns(self) -> Sequence[Column]:
        return list(self.source.by_key.values()) or [[0] * len(self.source.kinds)]

    def sizes(self, path: Path) -> Sizes:
        return _sizes(self.source, path[:-1])

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

    def _scored(self, total: Tally) -> list[Value]:
        counts = Tally({key: count for key, count in total.items() if count})
        report = self.source.metric.scores(counts, self.source.layers)
        return [entry_at(report, path[:-1]).get(path[-1]) for path in self.paths]


def _turned(rows: Sequence[list[Value]]) -> list[list[Value]]:
    return list(map(list, zip(*rows, strict=True)))


def groups_of(source: UnitColumns, wanted: Path | None = None) -> Iterator[RateGroup]:
    """Yield the groups of all rates of a report, or the one group that has the rate that is `wanted`."""
    others: list[Path] = []
    is_right = _Checks(source)
    per_label: dict[Path, list[EntryRates] | None] = {}
    for path, entry in entries(source.report):
        found = [(*path, name) for name, value in entry.items() if is_rate(name, value)]
        if wanted is not None and wanted not in found:
            continue
        is_mean = path[-1:] in (("macro",), ("weighted",)) and entry_at(source.report, _beside(path))
        group: EntryRates | MeanRates | None
        if is_mean:
            group = _mean_group(source, path, per_label)
        else:
            of_labels = per_label.get(path[:-1]) or ()
            known = (each for each in of_labels if each.paths[0][:-1] == path)
            group = next(known, None) or _entry_group(source, path)
        if group is not None and {*group.paths} == {*found} and is_right(group):
            yield group
        else:
            others += found if wanted is None else [wanted]
    if others:
        yield ScoredRates(others, source)


def _entry_group(source: UnitColumns, path: Path) -> EntryRates | None:
    recipe = recipe_of(entry_at(source.report, path))
    columns = None if recipe is None else source.of([(*path, name) for name in recipe.counts])
    if recipe is None or columns is None:
        return None
    return EntryRates([(*path, name) for name in recipe.rates], columns, _sizes(source, path), recipe)


def _mean_group(
    source: UnitColumns, path: Path, per_label: dict[Path, list[EntryRates] | None]
) -> MeanRates | None:
    place = _beside(path)
    if place not in per_label:
        groups = [_entry_group(source, (*place, label)) for label in entry_at(source.report, place)]
        per_label[place] = None if None in groups else [group for group in groups if group is not None]
    labels = per_label[place]
    paths = [(*path, name) for name in ("precision", "recall", "f1")]
    return MeanRates(paths, labels, _sizes(source, path), path[-1] == "weighted") if labels else None


def _beside(path: Path) -> Path:
    """Where the entries of the labels stand that an average is over."""
    return (*path[:-1], "per_label")


class _Checks:
    """Whether a group computes what the metric does: for all units, and without the first, a middle, the last kind."""

    def __init__(self, source: UnitColumns) -> None:
        last = len(source.kinds) - 1
        self._left_out = sorted({0, last // 2, last} & {*range(last + 1)})
        self._times = source.times
        self._reports: list[Mapping[str, object]] = [source.report]
        for number in self._left_out:
            rest = Tally(source.total)
            rest.subtract(source.kinds[number])
            self._reports.append(source.metric.scores(+rest, source.layers))

    def __call__(self, group: RateGroup) -> bool:
        sums = []
        for column in group.columns:
            total = summed(column, self._times)
            sums.append([total, *(total - column[number] for number in self._left_out)])
        return all(
            value == entry_at(report, path[:-1]).get(path[-1], value)
            for values, path in zip(group.values(sums), group.paths, strict=True)
            for value, report in zip(values, self._reports, strict=True)
        )


def _sizes(source: UnitColumns, path: Path) -> Sizes:
    found = sizes_of(source.report, path)
    gold, predicted = (None, None) if found is None else map(source.of, found)
    if gold is None or predicted is None:  # every unit in which something was counted weighs the same
        every = [int(any(tally.values())) for tally in source.kinds]
        return every, every
    return _together(gold), _together(predicted)


def _together(columns: Sequence[Column]) -> Column:
    return columns[0] if len(columns) == 1 else list(map(sum, zip(*columns, strict=True)))
