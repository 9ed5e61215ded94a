"""Columns: for each count of a report, its value in each kind of unit in which it is not 0.

Units with equal counts are one kind. Counts of reports are sums of counts of the tally. Which ones is found out by
scoring tallies whose numbers are powers of 16: the digits of a count of that report name the keys that it is made
of, and how often. What does not add up like this (a count that is no whole number, or depends on several keys) has
no column.

>>> from clueval.metrics.exact import Exact
>>> tallies = [Tally({("gold", "PER"): 2, ("tp_gold", "PER"): 1}), Tally({("gold", "LOC"): 3})]
>>> columns = UnitColumns(Exact(), ("label",), tallies)
>>> columns.of([("micro", "gold")])
[Column(kinds=[0, 1], counts=[2, 3])]
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import mul
from typing import Any

from clueval.evaluation.units.recipes import Path, entry_at
from clueval.metrics.counting import Tally
from clueval.metrics.metric import Metric


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


Digits = tuple[tuple[int, int], ...]
"""The numbers of keys of the tally, each with a factor."""

_AT_A_TIME = 60
"""Digits in one number; floats can hold the square of the largest."""


class UnitColumns:
    """The units of one sequence as one metric counts them.

    `kinds` are the tallies that differ, `kind_of` has the number of the kind of each unit, and `report` is the
    report on all units together.
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
        self._groups = _by_rarest_part(self.by_key)
        self._keys = list(chain.from_iterable(self._groups.values()))
        self._made: dict[Digits, Column] = {}
        self._known: dict[Path, list[tuple[int, int]] | None] | None = None

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
        """Return the column of a key of the tally; without values if no unit has it."""
        return self.by_key.get(key) or Column([], [])

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

    def _digits(self, path: Path) -> Digits | None:
        """The numbers of the keys that a count is made of, each with its factor; None if it is no such sum."""
        if self._known is None:
            self._known = self._probed()
        digits = self._known.get(path, ())
        return None if digits is None else tuple(digits)

    def _probed(self) -> dict[Path, list[tuple[int, int]] | None]:
        """The digits of the numbers in reports on powers of 16, each on `_AT_A_TIME` keys alone, without zeros.

        A metric may report a label only if it has some keys, so keys of one label are scored together.
        """
        group_of = {key: group for group in self._groups.values() for key in group}
        known: dict[Path, list[tuple[int, int]] | None] = {}
        for first in range(0, len(self._keys), _AT_A_TIME):
            keys = self._keys[first : first + _AT_A_TIME]
            try:
                cut = dict.fromkeys([*group_of[keys[0]], *group_of[keys[-1]]], 0)
                powers = {key: 16**n for n, key in enumerate(keys)}
                report = self.metric.scores(Tally({**cut, **powers}), self.layers)
            except (ArithmeticError, LookupError, ValueError):  # numbers that the metric cannot have counted
                continue
            for path, count in _numbers(report):
                found = known.setdefault(path, [])
                if type(count) is not int or count < 0:
                    known[path] = None
                elif count and found is not None:
                    places = enumerate(reversed(f"{count:x}"), first)
                    found += [(place, int(digit, 16)) for place, digit in places if digit != "0"]
        return known

    def _added(self, digits: Digits) -> Column:
        parts = []
        for place, factor in digits:
            part = self.by_key[self._keys[place]]
            parts.append(
                part if factor == 1 else Column(part.kinds, [factor * count for count in part.counts])
            )
        return added(parts)


def _by_rarest_part(keys: Collection[tuple[Any, ...]]) -> dict[Any, list[tuple[Any, ...]]]:
    """Return the keys by that of their parts that the fewest keys have, such as a label.

    >>> _by_rarest_part([("gold", "A"), ("gold", "B"), ("gold", "C"), ("fn", "A"), ("fn", "B"), ("fn", "C")])
    {'A': [('gold', 'A'), ('fn', 'A')], 'B': [('gold', 'B'), ('fn', 'B')], 'C': [('gold', 'C'), ('fn', 'C')]}
    """
    often = Counter(chain.from_iterable(keys))
    found: dict[Any, list[tuple[Any, ...]]] = {}
    for key in keys:
        found.setdefault(min(key, key=often.__getitem__), []).append(key)
    return found


def _numbers(report: Mapping[str, Any], path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield all values of a report that are no dictionaries, with their paths."""
    for name, value in report.items():
        if isinstance(value, Mapping):
            yield from _numbers(value, (*path, name))
        else:
            yield (*path, name), value


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
