"""Columns: for each count of a report, its value in each kind of unit.

Units with equal counts are one kind. Counts of reports are sums of counts of the tally. Which ones is found out by
scoring tallies whose numbers are powers of 16: the digits of a count of that report name the keys that it is made
of, and how often. What does not add up like this (a count that is no whole number, or depends on several keys) has
no column.

>>> from clueval.metrics.exact import Exact
>>> tallies = [Tally({("gold", "PER"): 2, ("tp_gold", "PER"): 1}), Tally({("gold", "LOC"): 3})]
>>> columns = UnitColumns(Exact(), ("label",), tallies)
>>> columns.of([("micro", "gold")])
[[2, 3]]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import add, mul
from typing import Any

from clueval.evaluation.units.recipes import Path, entry_at
from clueval.metrics.counting import Tally
from clueval.metrics.metric import Metric

Column = list[int]
"""The value of a count in each kind of unit."""


class Times(list[int]):
    """How many units there are of each kind; `sums` has the columns whose sums are known, by their ids."""

    def __init__(self, numbers: Iterable[int]) -> None:
        super().__init__(numbers)
        self.sums: dict[int, tuple[Column, int]] = {}


_AT_A_TIME = 60
"""Digits in one number; floats can hold the square of the largest."""


class UnitColumns:
    """The units of one sequence as one metric counts them.

    `kinds` are the tallies that differ, `kind_of` has the number of the kind of each unit, and `report` is the
    report on all units together.
    """

    def __init__(self, metric: Metric, layers: Sequence[str], tallies: Sequence[Tally]) -> None:
        self.metric, self.layers = metric, layers
        numbers: dict[frozenset[tuple[Any, int]], int] = {}
        self.kinds: list[Tally] = []
        self.kind_of: list[int] = []
        for tally in tallies:
            counts = frozenset(tally.items())
            if counts not in numbers:
                numbers[counts] = len(self.kinds)
                self.kinds.append(tally)
            self.kind_of.append(numbers[counts])
        self.by_key = self._columns_of_keys()
        self.times = self.times_of(range(len(tallies)))
        self.total = Tally({key: summed(column, self.times) for key, column in self.by_key.items()})
        self.report = metric.scores(self.total, layers)
        self._keys = list(self.by_key)
        self._made: dict[tuple[tuple[int, int], ...], Column] = {}
        self._probes: list[Mapping[str, Any]] | None = None

    def times_of(self, members: range) -> Times:
        """Return how many of these units are of each kind."""
        times = Times([0] * len(self.kinds))
        for kind in self.kind_of[members.start : members.stop]:
            times[kind] += 1
        return times

    def of(self, paths: Sequence[Path]) -> list[Column] | None:
        """Return the columns of these counts; None if one of them has none. Equal columns are the same object."""
        found = []
        for path in paths:
            digits = self._digits(path)
            if digits is None:
                return None
            column = self._made.get(digits)
            if column is None:
                column = self._made[digits] = self._added(digits)
            if summed(column, self.times) != entry_at(self.report, path[:-1]).get(path[-1]):
                return None
            found.append(column)
        return found

    def column_of_key(self, key: tuple[Any, ...]) -> Column:
        """Return the column of a key of the tally; zeros if no unit has it."""
        return self.by_key.get(key) or [0] * len(self.kinds)

    def _columns_of_keys(self) -> dict[tuple[Any, ...], Column]:
        by_key: dict[tuple[Any, ...], Column] = {}
        for number, tally in enumerate(self.kinds):
            for key, count in tally.items():
                if count:
                    if key not in by_key:
                        by_key[key] = [0] * len(self.kinds)
                    by_key[key][number] = count
        return by_key

    def _digits(self, path: Path) -> tuple[tuple[int, int], ...] | None:
        """The numbers of the keys that a count is made of, each with its factor."""
        found = []
        for first, report in zip(range(0, len(self._keys), _AT_A_TIME), self._probed(), strict=True):
            count = entry_at(report, path[:-1]).get(path[-1], 0)
            if type(count) is not int or count < 0:
                return None
            for place, digit in enumerate(reversed(f"{count:x}") if count else ()):
                if digit != "0":
                    found.append((first + place, int(digit, 16)))
        return tuple(found)

    def _probed(self) -> Sequence[Mapping[str, Any]]:
        """The reports on tallies of powers of 16, `_AT_A_TIME` keys at a time."""
        if self._probes is None:
            nothing = dict.fromkeys(self._keys, 0)
            self._probes = []
            for first in range(0, len(self._keys), _AT_A_TIME):
                keys = self._keys[first : first + _AT_A_TIME]
                powers = {key: 16**place for place, key in enumerate(keys)}
                try:
                    self._probes.append(self.metric.scores(Tally({**nothing, **powers}), self.layers))
                except (ArithmeticError, ValueError):  # numbers that large are none that the metric knows
                    self._probes.append({})
        return self._probes

    def _added(self, digits: Sequence[tuple[int, int]]) -> Column:
        parts = [
            self.by_key[self._keys[place]]
            if factor == 1
            else [factor * count for count in self.by_key[self._keys[place]]]
            for place, factor in digits
        ]
        return added(parts) if parts else [0] * len(self.kinds)


def added(columns: Sequence[Column]) -> Column:
    """Return the sum of some columns; the column itself if it is only one."""
    found = columns[0]
    for column in columns[1:]:
        found = list(map(add, found, column))
    return found


def summed(column: Column, times: Times) -> int:
    """Return the sum of a column over units, given how many there are of each kind; computed once."""
    known = times.sums.get(id(column))
    if known is None:
        known = times.sums[id(column)] = column, sum(map(mul, column, times))
    return known[1]
