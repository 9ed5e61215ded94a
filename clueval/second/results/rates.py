"""The rates of a report, computed for many corpora: without each unit, resampled, with units swapped.

A rate is a number of a report that is recognised by its name. The metric scores the counts of each corpus, and the
rates are read off its report.

A unit weighs in a rate what it adds to the gold or the predicted spans of the rate's entry. These numbers add up over
the keys of a tally, so that adding one to each count of the whole shows what each key adds to which entry, and which
entries depend on it.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import Any

from clueval.core.metric import AnyMetric, Sizes
from clueval.core.tally import Tally
from clueval.second.results.units import CountsByUnit, pairs
from clueval.statistics.jackknife import effective_number

Path = tuple[str, ...]

Entry = tuple[Path, Sequence[str]]
"""The path of a dictionary of a report, and the names of its rates."""

Column = Mapping[int, float]
"""A number in each row of counts in which it is not 0."""

UNDEFINED = math.nan

_RATE = re.compile(r"(?:^|_)(?:precision|recall|accuracy|rate|f\d+(?:\.\d+)?)(?:_|$)")
"""The names of rates."""


@cache
def _is_name_of_rate(name: str) -> bool:
    return _RATE.search(name) is not None


def is_rate(name: str, value: object) -> bool:
    """Return whether a number of a report is a rate, by its name.

    >>> is_rate("recall_strict", 0.5), is_rate("documents_with_recall", 3), is_rate("f0.5", 0.5)
    (True, False, True)
    """
    return (type(value) is float or value is None) and _is_name_of_rate(name)


def entries_of(report: Mapping[str, Any], path: Path = ()) -> Iterator[Entry]:
    """Yield the paths of all dictionaries of a report that have rates, with the names of these."""
    names = tuple(name for name, value in report.items() if is_rate(name, value))
    if names:
        yield path, names
    for name, value in report.items():
        if isinstance(value, Mapping):
            yield from entries_of(value, (*path, name))


def entry_at(report: Mapping[str, Any], path: Path) -> Mapping[str, Any]:
    """Return the dictionary at a path of a report; an empty one if there is none."""
    found: Any = report
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}


class Rates:
    """The rates of what one metric counted in one sequence of some units.

    Attributes:
        keys: the keys of the tallies.
        rows: the rows of counts that differ, each as numbers of keys with counts.
        row_of: the number of the row of each unit.
        total: how often each key was counted in all units.
        report: the report on all units.
        entries: the paths of the entries of the report that have rates, with the names of these.
        paths: the paths of all rates.
    """

    def __init__(self, metric: AnyMetric, layers: Sequence[str], counts: CountsByUnit) -> None:
        self.metric, self.layers = metric, layers
        self.keys = list(counts.keys)
        self.rows = [list(pairs(row)) for row in counts.rows]
        self.row_of = counts.row_of
        self.total = self.sums(self.times(range(len(self.row_of))))
        self.report = metric.scores(self.tally(self.total), layers)
        self.entries = list(entries_of(self.report))
        self.paths = [(*path, name) for path, names in self.entries for name in names]

    # Counts

    def times(self, units: range) -> list[int]:
        """Return how many of these units have each row."""
        found = [0] * len(self.rows)
        for row in self.row_of[units.start : units.stop]:
            found[row] += 1
        return found

    def sums(self, times: Sequence[int]) -> list[int]:
        """Return the sum of each key, given how many units have each row."""
        found = [0] * len(self.keys)
        for row, number in zip(self.rows, times, strict=True):
            for key, count in row:
                found[key] += count * number
        return found

    def tally(self, counts: Iterable[int]) -> Tally:
        """Return the tally with these counts of the keys."""
        return Tally({key: count for key, count in zip(self.keys, counts, strict=True) if count})

    def tally_of(self, row: Iterable[tuple[int, int]]) -> Tally:
        """Return the tally of a row."""
        return Tally({self.keys[key]: count for key, count in row})

    def without_each(self, sums: Sequence[int], rows: Iterable[int]) -> Iterator[Tally]:
        """Yield these sums without a unit of each of some rows."""
        for row in rows:
            rest = list(sums)
            for key, count in self.rows[row]:
                rest[key] -= count
            yield self.tally(rest)

    # Rates

    def scored(self, tallies: Iterable[Tally], entries: Sequence[Entry]) -> list[array[float]]:
        """Return each rate of some entries in each corpus; NaN where it is undefined.

        The rates of an entry that is not in the report, because the corpus has no span of it, are 0/0.
        """
        paths = [(*path, name) for path, names in entries for name in names]
        found = array("d")
        for tally in tallies:
            values = _read(self.metric.scores(tally, self.layers), entries)
            if math.isnan(sum(values)):
                for place, value in enumerate(values):
                    if math.isnan(value) and self.sizes.are_zero(paths[place], tally):
                        values[place] = self.nothing.get(paths[place][-1], UNDEFINED)
            found.extend(values)
        return [found[place :: len(paths)] for place in range(len(paths))]

    @cached_property
    def nothing(self) -> Mapping[str, float]:
        """What the metric makes of 0/0 in each rate, by its name."""
        report = self.metric.scores(Tally(), self.layers)
        entries = list(entries_of(report))
        names = [name for _, of_entry in entries for name in of_entry]
        return dict(zip(reversed(names), reversed(_read(report, entries)), strict=True))

    def keys_of(self, path: Path) -> list[int]:
        """Return the numbers of the keys on which a rate depends: with one more of it, or none, it is another."""
        return self._keys_of[path]

    @cached_property
    def _keys_of(self) -> dict[Path, list[int]]:
        found: dict[Path, list[int]] = {path: [] for path in self.paths}
        values = _read(self.report, self.entries)
        for key, count in enumerate(self.total):
            for changed in (count + 1, 0):
                counts = [*self.total[:key], changed, *self.total[key + 1 :]]
                report = self.metric.scores(self.tally(counts), self.layers)
                for path, old, new in zip(self.paths, values, _read(report, self.entries), strict=True):
                    if new != old and not (math.isnan(new) and math.isnan(old)) and found[path][-1:] != [key]:
                        found[path].append(key)
        return found

    @cached_property
    def sizes(self) -> EntrySizes:
        """What units weigh in each rate."""
        return EntrySizes(self)


class EntrySizes:
    """What units weigh in the rates of each entry of a report."""

    def __init__(self, rates: Rates) -> None:
        self._rates = rates
        tally = rates.tally(rates.total)
        own = rates.metric.sizes(tally, rates.layers)
        places = [path[:end] for path, _ in rates.entries for end in range(len(path) + 1)]
        places += [(*path, "micro") for path in places]
        self._in_report = {
            ".".join(path): path
            for path in places
            if _has_sizes(entry_at(rates.report, path)) and ".".join(path) not in own
        }
        self._first = next(iter(own), None)
        self._try_keys(self._measured(tally, rates.report))
        self._weighing: dict[tuple[int, ...], Column] = {}

    def _measured(self, tally: Tally, report: Mapping[str, Any]) -> dict[str, Sizes]:
        """Return the gold and the predicted spans of all entries that have them."""
        entries = {text: entry_at(report, path) for text, path in self._in_report.items()}
        found = {text: (entry["gold"], entry["predicted"]) for text, entry in entries.items() if entry}
        return {**found, **self._rates.metric.sizes(tally, self._rates.layers)}

    def _try_keys(self, before: Mapping[str, Sizes]) -> None:
        """Add one to each count of the whole, and see which sizes change, and by how much."""
        rates = self._rates
        adding: dict[str, tuple[list[_Change], list[_Change]]] = {text: ([], []) for text in before}
        for key in range(len(rates.keys)):
            counts = list(rates.total)
            counts[key] += 1
            tally = rates.tally(counts)
            for text, sizes in self._measured(tally, rates.metric.scores(tally, rates.layers)).items():
                for side, size in enumerate(sizes):
                    if text in before and size != before[text][side]:
                        adding[text][side].append((key, size - before[text][side]))
        numbers: dict[tuple[_Change, ...], int] = {}
        self._of_entry = {
            text: tuple(numbers.setdefault(tuple(changes), len(numbers)) for changes in sides)
            for text, sides in adding.items()
        }
        self._changes = list(numbers)

    @cached_property
    def _columns(self) -> list[Column]:
        """The sizes of each row that differ."""
        columns: list[dict[int, float]] = [{} for _ in self._changes]
        by_key: list[list[tuple[dict[int, float], float]]] = [[] for _ in self._rates.keys]
        for column, changes in zip(columns, self._changes, strict=True):
            for key, size in changes:
                by_key[key].append((column, size))
        for number, row in enumerate(self._rates.rows):
            for key, count in row:
                for column, size in by_key[key]:
                    column[number] = column.get(number, 0) + size * count
        return [*columns, {number: 1 for number, row in enumerate(self._rates.rows) if row}]

    def of(self, path: Path) -> tuple[int, ...]:
        """Return the numbers of the columns of the gold and the predicted spans that a rate is about.

        They are those of its entry, of the nearest one above that has both, or of its ``micro``; otherwise of the first
        that the metric names. If there is none, every unit in which something was counted weighs the same.
        """
        for end in range(len(path) - 1, -1, -1):
            for entry in (path[:end], (*path[:end], "micro")):
                if (found := self._of_entry.get(".".join(entry))) is not None:
                    return found
        every = len(self._changes), len(self._changes)
        return every if self._first is None else self._of_entry[self._first]

    def tells_sides_apart(self, path: Path) -> bool:
        """Return whether a rate is about other spans on the gold side than on the predicted side."""
        gold, predicted = self.of(path)
        return gold != predicted

    def weighing(self, path: Path) -> tuple[int, ...]:
        """Return the numbers of the columns whose sum is what a unit weighs for a rate.

        It weighs as much as its gold spans for recall, its predicted ones for precision, both for other rates.
        """
        gold, predicted = self.of(path)
        if path[-1].startswith("recall"):
            return (gold,)
        return (predicted,) if path[-1].startswith("precision") else (gold, predicted)

    def column(self, numbers: tuple[int, ...]) -> Column:
        """Return the sum of some columns."""
        if numbers not in self._weighing:
            found: dict[int, float] = {}
            for number in numbers:
                for row, size in self._columns[number].items():
                    found[row] = found.get(row, 0) + size
            self._weighing[numbers] = found
        return self._weighing[numbers]

    def are_zero(self, path: Path, tally: Tally) -> bool:
        """Return whether nothing that a rate is about is in a tally."""
        numbers, keys = self.of(path), self._rates.keys
        if len(self._changes) in numbers:
            return not tally
        return not any(
            sum(size * tally[keys[key]] for key, size in self._changes[number]) for number in numbers
        )


_Change = tuple[int, float]
"""A key, and what it adds to a number each time that it is counted."""


def _has_sizes(entry: Mapping[str, Any]) -> bool:
    return isinstance(entry.get("gold"), int | float) and isinstance(entry.get("predicted"), int | float)


def _read(report: Mapping[str, Any], entries: Iterable[Entry]) -> list[float]:
    """Return the rates of some entries of a report; NaN for one that is undefined, or is not there."""
    found: list[float] = []
    for path, names in entries:
        entry: Any = report
        for name in path:
            entry = entry.get(name, _NOTHING)
        for name in names:
            value = entry.get(name)
            found.append(UNDEFINED if value is None else value)
    return found


_NOTHING: Mapping[str, Any] = {}


class Weights:
    """How many units there are, and how many of them are effective, for each rate of a report."""

    def __init__(self, rates: Rates, times: Sequence[int]) -> None:
        self._sizes, self._times = rates.sizes, times
        self._known: dict[tuple[int, ...], tuple[int, float]] = {}

    def of(self, path: Path) -> tuple[int, float]:
        """Return the number of units in which the denominator is not 0, and the effective number."""
        numbers = self._sizes.weighing(path)
        if numbers not in self._known:
            column = self._sizes.column(numbers)
            times = [self._times[row] for row in column]
            self._known[numbers] = sum(times), effective_number(list(column.values()), times)
        return self._known[numbers]
