"""The rates of a report, computed for many corpora at once: without each unit, resampled, with units swapped.

Rates that depend on the same columns are a group: those of an entry that follow from its counts by a recipe, those that
follow from sums over labels, such as their mean, and all others, for which the metric scores every corpus. A metric can
say itself how rates that do not follow from the counts in its report follow from its tally (`Needs.rates`). Whatever a
group computes is compared with what the metric does; if it is something else, the metric scores every corpus.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, repeat
from operator import mul, or_
from typing import NamedTuple

from clueval.evaluation.units.columns import Column, Times, UnitColumns, added, summed
from clueval.evaluation.units.recipes import Path, entries, entry_at, is_rate, recipe_of, sizes_of
from clueval.metrics.counting import KeyRates, Tally

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
class EntryRates(RateGroup):
    """The rates of one entry, which follow from its counts. `is_defined`: no rate is ever undefined."""

    paths: Sequence[Path]
    sizes: Mapping[Path, Sizes]
    part: Part
    is_defined: bool = True

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
class SummedRates(RateGroup):
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
    is_right, known = _Checks(source), _Entries(source)
    for path, entry in entries(source.report):
        found = {(*path, name) for name, value in entry.items() if is_rate(name, value)}
        if wanted is not None and wanted not in found:
            continue
        group = (
            (known.mean_at(path) if path[-1:] in _ENDINGS else None) or known.sum_at(path) or known.at(path)
        )
        if group is not None and {*group.paths} <= found and is_right(group):
            found -= {*group.paths}
            if wanted is None or wanted in group.paths:
                yield group
        others += sorted(found) if wanted is None else found & {wanted}
    if others:
        yield ScoredRates(others, {path: _sizes_in(source, path[:-1]) for path in others}, source)


class _Entries:
    """The entries of a report whose rates follow from their counts, or from sums over labels."""

    def __init__(self, source: UnitColumns) -> None:
        self._source = source
        self._found: dict[Path, EntryRates | None] = {}
        self._summed: dict[Path, SummedRates] = {}
        own = source.metric.needs.rates
        for found in own(source.by_key) if own is not None else ():
            places = self._places(found.path, found.rates)
            if isinstance(found, KeyRates):
                self._found[found.path] = EntryRates(*places, self._part(found.keys, found.function))
            else:
                parts = [self._part(keys, function) for keys, function in found.parts]
                self._summed[found.path] = SummedRates(*places, parts, found.function)

    def at(self, path: Path) -> EntryRates | None:
        """Return the entry at a path; None if no recipe computes it."""
        if path not in self._found:
            recipe = recipe_of(entry_at(self._source.report, path))
            columns = None if recipe is None else self._source.of([(*path, name) for name in recipe.counts])
            self._found[path] = (
                None
                if recipe is None or columns is None
                else EntryRates(
                    *self._places(path, recipe.rates), Part(columns, recipe.function), recipe.is_defined
                )
            )
        return self._found[path]

    def sum_at(self, path: Path) -> SummedRates | None:
        """Return the rates at a path that follow from sums over parts of the tally, if the metric says so."""
        return self._summed.get(path)

    def mean_at(self, path: Path) -> SummedRates | None:
        """Return the mean over labels at a path, if there are labels beside it and recipes compute them all."""
        for beside in ((*path[:-1], name) for name in _OF_LABELS):
            labels = [self.at((*beside, label)) for label in entry_at(self._source.report, beside)]
            known = [label for label in labels if label is not None and label.is_defined]
            if not known or len(known) < len(labels):
                continue
            nothing = self._source.metric.scores(Tally(), self._source.layers)
            if entry_at(nothing, beside):  # settings name labels, which count though they do not occur
                return None
            names = [place[-1] for place in known[0].paths]
            empty = list(map(entry_at(nothing, path).get, names))
            parts = [_weighed(label, path[-1] == "weighted") for label in known]
            return SummedRates(*self._places(path, names), parts, partial(_means, empty))
        return None

    def _places(self, path: Path, rates: Sequence[str]) -> tuple[list[Path], dict[Path, Sizes]]:
        """The paths of the rates of an entry, and the spans that each is about."""
        paths = [(*path, name) for name in rates]
        return paths, dict.fromkeys(paths, _sizes_in(self._source, path))

    def _part(self, keys: Sequence[tuple[object, ...]], function: Function) -> Part:
        return Part(list(map(self._source.column_of_key, keys)), function)


def _weighed(label: EntryRates, by_gold: bool) -> Part:
    """The weight of a label, which is 1 if it occurs or its gold spans, and its rates times this weight."""

    def function(gold: Sequence[int], predicted: Sequence[int], *columns: Sequence[int]) -> list[list[Value]]:
        weights = gold if by_gold else list(map(bool, map(or_, gold, predicted)))
        return [[*weights], *(list(map(mul, rates, weights)) for rates in label.part.function(*columns))]

    return Part([*label.sizes[label.paths[0]], *label.columns], function)


def _means(nothing: Sequence[Value], wholes: Sequence[float], *sums: Sequence[float]) -> list[list[Value]]:
    """Divide sums over labels by the sums of their weights; the means are `nothing` if no label occurs."""
    return [
        [part / whole if whole else empty for part, whole in zip(parts, wholes, strict=True)]
        for parts, empty in zip(sums, nothing, strict=True)
    ]


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
            sums.append([total, *(total - column.at(number) for number in self._left_out)])
        return all(
            value == entry_at(report, path[:-1]).get(path[-1], value)
            for values, path in zip(group.values(sums), group.paths, strict=True)
            for value, report in zip(values, self._reports, strict=True)
        )


def _sizes_in(source: UnitColumns, path: Path) -> Sizes:
    """Return the gold and the predicted spans of the entry at this path."""
    found = sizes_of(source.report, path)
    gold, predicted = (None, None) if found is None else map(source.of, found)
    if gold is None or predicted is None:  # every unit in which something was counted weighs the same
        counted = [kind for kind, tally in enumerate(source.kinds) if any(tally.values())]
        every = Column(counted, [1] * len(counted))
        return every, every
    return added(gold), added(predicted)
