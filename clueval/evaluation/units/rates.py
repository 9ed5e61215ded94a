"""The rates of a report, computed for many corpora at once: without each unit, resampled, with units swapped.

Rates that depend on the same columns are a group: those of an entry that follow from counts, those that follow from
sums over labels, such as their mean, and all others, for which the metric scores every corpus. The metric declares
which are which (`clueval.first.metrics.rates`). A rate is recognised by its name.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, repeat
from typing import NamedTuple

from clueval.evaluation.units.columns import (
    Column,
    Path,
    Times,
    UnitColumns,
    entries,
    entry_at,
    is_rate,
    summed,
)
from clueval.first.metrics.counting import Tally
from clueval.first.metrics.rates import DeclaredRates, EntryRates

Value = float | None
Sums = Sequence[Sequence[int]]
"""For each column, its sum in each corpus."""

Sizes = tuple[Column, Column]
"""The gold and the predicted spans in each kind of unit."""

Function = Callable[..., list[list[Value]]]
"""Returns columns of numbers, given columns of numbers: one in each corpus."""

_OF_LABELS = ("per_label", "per_type")
_ENDINGS = [("macro",), ("weighted",)]


class RateGroup(ABC):
    """Rates that depend on the same columns; `paths` are their places in the report.

    `sizes` has for each rate the gold and the predicted spans that it is about.
    """

    __slots__ = ()
    paths: Sequence[Path]
    sizes: Mapping[Path, Sizes]

    @property
    @abstractmethod
    def columns(self) -> Sequence[Column]: ...

    @abstractmethod
    def values(self, sums: Sums) -> list[list[Value]]:
        """Return for each rate its value in each corpus; None where it is undefined."""

    @abstractmethod
    def without_each(self, times: Times) -> list[list[Value]]:
        """Return for each rate its value without one unit of each kind; `times` is how many there are of each.

        The value of a kind of which there is no unit means nothing.
        """

    def different(self, times: Times) -> tuple[list[list[Value]], Sequence[int]]:
        """Return for each rate its values without one unit, and the number of units without which it has each value."""
        return self.without_each(times), times


class DifferentRows(NamedTuple):
    """The rows of counts that differ; the first has none.

    `kinds` are the kinds of units that have counts, `places` their rows, `numbers` says how many units have each row,
    `values` are each number without a unit of each row.
    """

    kinds: Sequence[int]
    places: Sequence[int]
    numbers: Sequence[int]
    values: list[list[Value]]


@dataclass(frozen=True, slots=True)
class Part:
    """Numbers that follow from some columns: rates, or what is added to that of other parts."""

    columns: Sequence[Column]
    function: Function

    def rows(self, times: Times) -> DifferentRows:
        """Return the rows of counts that differ, and each number without a unit that has such a row."""
        kinds = sorted({kind for column in self.columns for kind in column.kinds})
        rows = list(zip(*(_counts_in(kinds, column) for column in self.columns), strict=True))
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
        return DifferentRows(kinds, places, numbers, self.function(*sums))


def _counts_in(kinds: Sequence[int], column: Column) -> Sequence[int]:
    """Return the values of a column in these kinds, which include all in which it is not 0."""
    if len(kinds) == len(column.kinds):
        return column.counts
    return list(map(dict(column.items()).get, kinds, repeat(0)))


@dataclass(frozen=True, slots=True)
class RatesOfCounts(RateGroup):
    """Rates that follow from counts."""

    paths: Sequence[Path]
    sizes: Mapping[Path, Sizes]
    part: Part

    @property
    def columns(self) -> Sequence[Column]:
        return self.part.columns

    def values(self, sums: Sums) -> list[list[Value]]:
        return self.part.function(*sums)

    def without_each(self, times: Times) -> list[list[Value]]:
        """Compute each rate once for all kinds that have the same counts here."""
        rows = self.part.rows(times)
        places = dict(zip(rows.kinds, rows.places, strict=True))
        return [[values[places.get(kind, 0)] for kind in range(len(times))] for values in rows.values]

    def different(self, times: Times) -> tuple[list[list[Value]], Sequence[int]]:
        _, _, numbers, found = self.part.rows(times)
        first = 0 if numbers[0] else 1  # the row without counts is left out if no unit has it
        return [values[first:] for values in found], numbers[first:]


@dataclass(frozen=True, slots=True)
class RatesOfSums(RateGroup):
    """Rates that follow from sums over `parts`, whose numbers are added; each sum is rounded once."""

    paths: Sequence[Path]
    sizes: Mapping[Path, Sizes]
    parts: Sequence[Part]
    function: Function

    @property
    def columns(self) -> Sequence[Column]:
        return [column for part in self.parts for column in part.columns]

    def values(self, sums: Sums) -> list[list[Value]]:
        columns = iter(sums)
        found = [part.function(*islice(columns, len(part.columns))) for part in self.parts]
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
                first = values[0] or 0.0
                for kind, place in zip(rows.kinds, rows.places, strict=True):
                    changes[kind] += (values[place] or 0.0) - first
            total = math.fsum([values[0] or 0.0 for values in by_part])
            sums.append([total + change for change in changes])
        return self.function(*sums)


@dataclass(frozen=True, slots=True)
class ScoredRates(RateGroup):
    """Rates that the metric computes: every corpus is scored as a whole."""

    paths: Sequence[Path]
    sizes: Mapping[Path, Sizes]
    source: UnitColumns

    @property
    def columns(self) -> Sequence[Column]:
        return list(self.source.by_key.values()) or [Column([], [])]

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
    for path, entry in entries(source.report):
        found = {(*path, name) for name, value in entry.items() if is_rate(name, value)}
        if wanted is not None and wanted not in found:
            continue
        declared = source.declared.get(path)
        if declared is not None and declared.rates:
            group = _group_of(source, declared)
            found -= {*group.paths}
            if wanted is None or wanted in group.paths:
                yield group
        others += sorted(found) if wanted is None else found & {wanted}
    if others:
        yield ScoredRates(others, {path: _sizes_of(source, path[:-1]) for path in others}, source)


def _group_of(source: UnitColumns, declared: DeclaredRates) -> RateGroup:
    paths = [(*declared.path, name) for name in declared.rates]
    sizes: dict[Path, Sizes] = dict.fromkeys(paths, (source.of(declared.gold), source.of(declared.predicted)))
    if isinstance(declared, EntryRates):
        return RatesOfCounts(paths, sizes, Part(list(map(source.of, declared.counts)), declared.function))
    parts = [Part(list(map(source.of, counts)), function) for counts, function in declared.parts]
    return RatesOfSums(paths, sizes, parts, declared.function)


def _sizes_of(source: UnitColumns, path: Path) -> Sizes:
    """Return the gold and the predicted spans of an entry: see `clueval.first.metrics.rates.EntryRates`."""
    around = [path[:end] for end in range(len(path), -1, -1) if path[:end] in source.declared]
    for place in (*around, *source.declared):
        declared = source.declared[place]
        return source.of(declared.gold), source.of(declared.predicted)
    counted = [kind for kind, tally in enumerate(source.kinds) if any(tally.values())]
    every = Column(counted, [1] * len(counted))  # every unit in which something was counted weighs the same
    return every, every
