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
from itertools import chain
from operator import mul
from typing import Any

from clueval.core.metric import AnyMetric
from clueval.core.tally import Counts, Tally
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
        parts: the numbers of all units, and of those of each part, such as a run of a system.
        total: how often each key was counted in all units.
        report: the report on all units.
        entries: the paths of the entries of the report that have rates, with the names of these.
        paths: the paths of all rates.
    """

    def __init__(
        self, metric: AnyMetric, layers: Sequence[str], counts: CountsByUnit, parts: Sequence[range] = ()
    ) -> None:
        self.metric, self.layers = metric, layers
        self.parts = [range(len(counts.row_of)), *parts]
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

    def keys_of(self, path: Path) -> Sequence[int]:
        """Return the numbers of the keys on which a rate depends: with one more of it, or none, it is another."""
        return sorted(self._keys_of[path])

    @cached_property
    def _keys_of(self) -> dict[Path, set[int]]:
        found: dict[Path, set[int]] = {path: set() for path in self.paths}
        for whole in [self.sums(self.times(part)) for part in self.parts]:
            values = _read(self.metric.scores(self.tally(whole), self.layers), self.entries)
            for key, count in enumerate(whole):
                for other in {0, count + 1} - {count}:
                    counts = [*whole[:key], other, *whole[key + 1 :]]
                    changed = _read(self.metric.scores(self.tally(counts), self.layers), self.entries)
                    for path, old, new in zip(self.paths, values, changed, strict=True):
                        if new != old and not (math.isnan(new) and math.isnan(old)):
                            found[path].add(key)
        return found

    @cached_property
    def sizes(self) -> EntrySizes:
        """What units weigh in each rate."""
        return EntrySizes(self)


class EntrySizes:
    """What units weigh in the rates of each entry of a report, and the counts from which the rates follow.

    These numbers add up over the keys of the tally. So each key is added to the whole, to see what it adds to which.
    """

    def __init__(self, rates: Rates) -> None:
        self._rates = rates
        places = [path[:end] for path, _ in rates.entries for end in range(len(path) + 1)]
        self._paths = {".".join(path): path for place in places for path in (place, (*place, "micro"))}
        self._kinds = [
            (path, kind)
            for path, names in rates.entries
            for kind in dict.fromkeys(map(kind_of, names))
            if {f"precision{kind}", f"recall{kind}"} <= {*names}
        ]
        whole = rates.tally(rates.total)
        self._headlines = {*rates.metric.headlines(whole, rates.layers)}
        before = self._measured(whole)
        together = self._measured(
            rates.tally(count + _MANY * key for key, count in enumerate(rates.total, 1))
        )
        adding: dict[_Place, list[list[_Change]]] = {place: [[] for _ in of] for place, of in before.items()}
        for key in range(len(rates.keys)):
            counts = list(rates.total)
            counts[key] += _MANY
            after = self._measured(rates.tally(counts))
            for place, numbers in before.items():
                for column, one, two in zip(adding[place], numbers, after.get(place, numbers), strict=True):
                    if one != two:
                        each = round((two - one) / _MANY, _DIGITS)
                        column.append((key, int(each) if each.is_integer() else each))
        for place in [place for place in adding if isinstance(place, tuple)]:
            if not self._add_up(adding[place], before[place], together.get(place, ())):
                del adding[place]
        numbered: dict[tuple[_Change, ...], int] = {}
        self._columns_of = {
            place: tuple(numbered.setdefault(tuple(changes), len(numbered)) for changes in columns)
            for place, columns in adding.items()
        }
        self._changes = list(numbered)
        self._columns: dict[tuple[int, ...], Column] = {}

    @staticmethod
    def _add_up(
        columns: Sequence[Sequence[_Change]], before: Sequence[float], after: Sequence[float]
    ) -> bool:
        """Return whether numbers change by the sum of what all keys add, each key as often as its number says.

        The product of a rate and a size does not, unless the size is the denominator of the rate: a mean over labels
        is no rate of counts.
        """
        sums = [
            number + sum(_MANY * (key + 1) * each for key, each in changes)
            for number, changes in zip(before, columns, strict=True)
        ]
        return len(sums) == len(after) and all(map(_are_close, sums, after))

    def _measured(self, tally: Tally) -> dict[_Place, Sequence[float]]:
        """Return the gold and the predicted spans of entries, by their paths, and the counts of kinds of rates.

        Counts are those of a headline, or the rates times the sizes.
        """
        metric, layers = self._rates.metric, self._rates.layers
        report, headlines = metric.scores(tally, layers), metric.headlines(tally, layers)
        found: dict[_Place, Sequence[float]] = {}
        found.update(metric.sizes(tally, layers))
        for text, path in self._paths.items():
            entry = entry_at(report, path)
            if text not in found and all(
                isinstance(entry.get(name), int | float) for name in Counts._fields[:2]
            ):
                found[text] = entry["gold"], entry["predicted"]
        for path, kind in self._kinds:
            entry, text = entry_at(report, path), ".".join(path)
            if text in headlines and kind in ("", "_strict"):
                found[path, kind] = headlines[text]
            elif text in found:
                rates = (entry[f"{name}{kind}"] or 0.0 for name in ("recall", "precision"))
                found[path, kind] = (*found[text], *map(mul, rates, found[text]))
        return found

    @cached_property
    def _by_key(self) -> list[list[tuple[int, int]]]:
        """The rows that have each key, and how often it was counted there."""
        found: list[list[tuple[int, int]]] = [[] for _ in self._rates.keys]
        for number, row in enumerate(self._rates.rows):
            for key, count in row:
                found[key].append((number, count))
        return found

    def column(self, numbers: tuple[int, ...]) -> Column:
        """Return the sum of some columns."""
        if numbers not in self._columns:
            found: dict[int, float] = {}
            if _EVERY in numbers:
                found = {number: 1 for number, row in enumerate(self._rates.rows) if row}
            for key, size in chain.from_iterable(
                self._changes[number] for number in numbers if number != _EVERY
            ):
                for row, count in self._by_key[key]:
                    found[row] = found.get(row, 0) + size * count
            self._columns[numbers] = found
        return self._columns[numbers]

    def counts(self, entry: Path, kind: str) -> list[Counts] | None:
        """Return the counts from which the rates of a kind follow, in each row; None if they have none."""
        place = entry, kind
        is_headline = ".".join(entry) in self._headlines and kind in ("", "_strict")
        is_known = place in self._columns_of and (is_headline or place in self._held)
        return self._counts(place) if is_known else None

    def _counts(self, place: _Place) -> list[Counts]:
        columns = [self.column((number,)) for number in self._columns_of[place]]
        rows = range(len(self._rates.rows))
        return [Counts(*(column.get(row, 0) for column in columns)) for row in rows]

    @cached_property
    def _held(self) -> set[_Place]:
        """The kinds of rates whose counts are what the keys add in every unit alone, too."""
        found = {place: self._counts(place) for place in self._columns_of if isinstance(place, tuple)}
        for number, row in enumerate(self._rates.rows):
            keys = dict(row)
            alone = self._measured(
                self._rates.tally(keys.get(key, 0) for key in range(len(self._rates.keys)))
            )
            for place in [
                place for place, counts in found.items() if counts[number] != alone.get(place, Counts())
            ]:
                if not all(map(_are_close, found[place][number], alone.get(place, Counts()))):
                    del found[place]
        return {*found}

    def of(self, path: Path) -> tuple[int, ...]:
        """Return the numbers of the columns of the gold and the predicted spans that a rate is about.

        They are those of its entry, of the nearest one above that has both, or of its ``micro``; otherwise of the first
        that the metric names. If there is none, every unit in which something was counted weighs the same.
        """
        for end in range(len(path) - 1, -1, -1):
            for entry in (path[:end], (*path[:end], "micro")):
                if (found := self._columns_of.get(".".join(entry))) is not None:
                    return found
        return next(
            (of for place, of in self._columns_of.items() if isinstance(place, str)), (_EVERY, _EVERY)
        )

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

    def are_zero(self, path: Path, tally: Tally) -> bool:
        """Return whether nothing that a rate is about is in a tally."""
        numbers, keys = self.of(path), self._rates.keys
        if _EVERY in numbers:
            return not tally
        return not any(
            sum(size * tally[keys[key]] for key, size in self._changes[number]) for number in numbers
        )


_Change = tuple[int, float]
"""A key, and what it adds to a number each time that it is counted."""

_Place = str | tuple[Path, str]
"""An entry, as the path of its sizes; or the path of an entry and the kind of its rates, as that of its counts."""

_EVERY = -1
"""The number of the column in which every unit in which something was counted weighs the same."""

_MANY = 1 << 20
"""How often a key is added: so often that sums of fractions are exact to the last digits."""

_ROUNDING = 1e-9

_DIGITS = 12
"""To how many decimals what a key adds is rounded."""


def _are_close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=_ROUNDING, abs_tol=_ROUNDING)


def kind_of(name: str) -> str:
    """Return what is left of the name of a rate: ``precision_strict`` and ``f1_strict`` are of one kind.

    >>> kind_of("document_recall"), kind_of("f1")
    ('document_', '')
    """
    return re.sub(r"precision|recall|accuracy|rate|f\d+(\.\d+)?", "", name)


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
