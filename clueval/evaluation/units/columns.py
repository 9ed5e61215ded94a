"""Columns: for each count of a tally, its value in each kind of unit in which it is not 0; and the rates of a report.

Units with equal counts are one kind.

>>> from clueval.first.metrics.exact import Exact
>>> tallies = [Tally({("gold", "PER"): 2, ("tp_gold", "PER"): 1}), Tally({("gold", "LOC"): 3})]
>>> columns = UnitColumns(Exact(), ("label",), tallies)
>>> columns.of([("gold", "PER"), ("gold", "LOC")])
Column(kinds=[0, 1], counts=[2, 3])
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import mul
from typing import Any

from clueval.first.metrics.counting import Tally
from clueval.first.metrics.metric import Metric
from clueval.first.metrics.rates import DeclaredRates, Key, Keys

Path = tuple[str, ...]

_RATE = re.compile(r"(?:^|_)(?:precision|recall|accuracy|rate|f\d+(?:\.\d+)?)(?:_|$)")
"""The names of rates."""


@dataclass(frozen=True, slots=True)
class Column:
    """The value of a count in each kind of unit: the kinds in which it is not 0, in ascending order, and its values."""

    kinds: list[int]
    counts: list[int]

    def at(self, kind: int) -> int:
        """Return the value in a kind of unit."""
        place = bisect_left(self.kinds, kind)
        return self.counts[place] if self.kinds[place : place + 1] == [kind] else 0

    def items(self) -> Iterator[tuple[int, int]]:
        """Yield the kinds in which the count is not 0, with its values."""
        return zip(self.kinds, self.counts, strict=True)


class Times(list[int]):
    """How many units there are of each kind; `sums` has the columns whose sums are known, by their ids."""

    def __init__(self, numbers: Iterable[int]) -> None:
        super().__init__(numbers)
        self.sums: dict[int, tuple[Column, int]] = {}


class UnitColumns:
    """The units of one sequence as one metric counts them.

    `kinds` are the tallies that differ, `kind_of` has the number of the kind of each unit, `report` is the
    report on all units together, and `declared` has what the metric declares of its rates, by their place.
    """

    def __init__(self, metric: Metric, layers: Sequence[str], tallies: Sequence[Tally]) -> None:
        self.metric, self.layers = metric, layers
        different = {id(tally): tally for tally in tallies}  # units with equal counts often share one
        kinds: dict[int, int] = {}
        numbers: dict[frozenset[tuple[Any, int]], int] = {}
        self.kinds: list[Tally] = []
        for place, tally in different.items():
            kinds[place] = numbers.setdefault(frozenset(tally.items()), len(numbers))
            if kinds[place] == len(self.kinds):
                self.kinds.append(tally)
        self.kind_of = list(map(kinds.__getitem__, map(id, tallies)))
        self.by_key = self._columns_of_keys()
        self.times = self.times_of(range(len(tallies)))
        self.total = Tally({key: summed(column, self.times) for key, column in self.by_key.items()})
        self.report = metric.scores(self.total, layers)
        rates = metric.needs.rates
        declared = () if rates is None else rates(self.by_key, layers)
        self.declared: dict[Path, DeclaredRates] = {each.path: each for each in declared}
        self._made: dict[tuple[Key, ...], Column] = {}

    def times_of(self, members: range) -> Times:
        """Return how many of these units are of each kind."""
        times = Times([0] * len(self.kinds))
        for kind in self.kind_of[members.start : members.stop]:
            times[kind] += 1
        return times

    def of(self, keys: Keys) -> Column:
        """Return the column of the sum of these counts of the tally. Columns of the same keys are the same object."""
        own = tuple(keys)
        if own not in self._made:
            self._made[own] = added([self.by_key[key] for key in own if key in self.by_key])
        return self._made[own]

    def _columns_of_keys(self) -> dict[tuple[Any, ...], Column]:
        by_key: dict[tuple[Any, ...], Column] = {}
        for number, tally in enumerate(self.kinds):
            for key, count in tally.items():
                if count:
                    if key not in by_key:
                        by_key[key] = Column([], [])
                    by_key[key].kinds.append(number)
                    by_key[key].counts.append(count)
        return by_key


def is_rate(name: str, value: object) -> bool:
    """Return whether a number of a report is a rate, by its name.

    >>> is_rate("recall_strict", 0.5), is_rate("documents_with_recall", 3), is_rate("f0.5", 0.5)
    (True, False, True)
    """
    return (type(value) is float or value is None) and _RATE.search(name) is not None


def entries(report: Mapping[str, Any], path: Path = ()) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield all dictionaries of a report that have a rate, with their paths."""
    if any(is_rate(name, value) for name, value in report.items()):
        yield path, report
    for name, value in report.items():
        if isinstance(value, Mapping):
            yield from entries(value, (*path, name))


def entry_at(report: Mapping[str, Any], path: Path) -> Mapping[str, Any]:
    """Return the dictionary at a path of a report; an empty one if there is none."""
    found: Any = report
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def added(columns: Sequence[Column]) -> Column:
    """Return the sum of some columns; the column itself if it is only one."""
    if len(columns) == 1:
        return columns[0]
    found: defaultdict[int, int] = defaultdict(int)
    for column in columns:
        for kind, count in column.items():
            found[kind] += count
    kinds = sorted(found)
    return Column(kinds, list(map(found.__getitem__, kinds)))


def counts_by_kind(columns: Iterable[Column]) -> dict[int, dict[int, int]]:
    """Return for each kind of unit the counts that are not 0, by the place of their column."""
    found: dict[int, dict[int, int]] = {}
    for place, column in enumerate(columns):
        for kind, count in column.items():
            found.setdefault(kind, {})[place] = count
    return found


def summed(column: Column, times: Times) -> int:
    """Return the sum of a column over units, given how many there are of each kind; computed once."""
    known = times.sums.get(id(column))
    if known is None:
        numbers = map(times.__getitem__, column.kinds)
        known = times.sums[id(column)] = column, sum(map(mul, column.counts, numbers))
    return known[1]
