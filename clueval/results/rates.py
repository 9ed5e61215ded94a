"""The rates of a report, computed for many corpora: without each unit, resampled, with units swapped.

A rate is a number of a report that is recognised by its name. The metric scores the counts of each corpus, and the
rates are read off its report.

A unit weighs in a rate what it adds to the gold or the predicted spans of the rate's entry. These numbers are columns:
each has a number for those units, or rows of equal ones, that have spans of the entry, so that all columns together are
as large as the reports on all rows alone.
"""

from __future__ import annotations

import math
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import chain
from operator import mul
from typing import Any

from clueval.core.bag import pairs_in
from clueval.core.metric import AnyMetric
from clueval.core.tally import Counts, Tally
from clueval.results.units import CountsByUnit
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
        rows: the rows of counts that differ, see `CountsByUnit`.
        row_of: the number of the row of each unit.
        parts: the numbers of all units, and of those of each part, such as a run of a system.
        total: how often each key was counted in all units.
        report: the report on all units.
        entries: the paths of the entries of the report that have rates, with the names of these.
        names_of: the same as a dictionary.
        paths: the paths of all rates.
    """

    def __init__(
        self, metric: AnyMetric, layers: Sequence[str], counts: CountsByUnit, parts: Sequence[range] = ()
    ) -> None:
        self.metric, self.layers = metric, layers
        self.parts = [range(len(counts.row_of)), *parts]
        self.keys = list(counts.keys)
        self.rows = list(counts.rows)
        self.row_of = counts.row_of
        self._times: dict[range, list[int]] = {}
        self.total = self.sums(self.times(range(len(self.row_of))))
        self.report = metric.scores(self.tally(self.total), layers)
        self.entries = list(entries_of(self.report))
        self.names_of = dict(self.entries)
        self.paths = [(*path, name) for path, names in self.entries for name in names]

    # Counts

    def times(self, units: range) -> Sequence[int]:
        """Return how many of these units have each row."""
        if units not in self._times:
            counted = Counter(self.row_of[units.start : units.stop])
            self._times[units] = [counted[row] for row in range(len(self.rows))]
        return self._times[units]

    def sums(self, times: Sequence[int]) -> list[int]:
        """Return the sum of each key, given how many units have each row."""
        found = [0] * len(self.keys)
        for row, number in zip(self.rows, times, strict=True):
            for key, count in pairs_in(row):
                found[key] += count * number
        return found

    def tally(self, counts: Iterable[int]) -> Tally:
        """Return the tally with these counts of the keys."""
        return Tally({key: count for key, count in zip(self.keys, counts, strict=True) if count})

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

    @cached_property
    def wholes(self) -> list[tuple[list[int], Mapping[str, Any]]]:
        """The sums of all parts, and of all rows with different weights, each with its report."""
        sums = [self.sums(self.times(part)) for part in self.parts]
        sums.append(self.sums(range(1, len(self.rows) + 1)))
        return [(of, self.metric.scores(self.tally(of), self.layers)) for of in sums]

    @cached_property
    def rows_with(self) -> Sequence[Sequence[int]]:
        """The numbers of the rows that have each key."""
        found: list[list[int]] = [[] for _ in self.keys]
        for number, row in enumerate(self.rows):
            for key, _ in pairs_in(row):
                found[key].append(number)
        return found

    @cached_property
    def keys_named(self) -> Mapping[Any, Sequence[int]]:
        """The numbers of the keys that have each name, such as a label."""
        found: dict[Any, list[int]] = {}
        for number, key in enumerate(self.keys):
            for name in dict.fromkeys(key[1:] or key):
                found.setdefault(name, []).append(number)
        return found

    def follow_from(self, keys: Sequence[int], entry: Entry, others: Sequence[int] | None = None) -> bool:
        """Return whether the rates of an entry follow from the counts of some keys in each of `wholes`.

        Other keys are left out; with `others`, these are as in the total, and only parts are compared.
        """
        always = {} if others is None else {key: self.total[key] for key in others}
        return all(
            self.of_entry({**always, **{key: counts[key] for key in keys}}, entry)
            == repr(_read(report, [entry]))
            for counts, report in (self.wholes if others is None else self.wholes[:-1])
        )

    def keys_of(self, entry: Entry) -> tuple[list[int], list[int]]:
        """Return the numbers of the keys on which the rates of an entry depend: with more of one, or none, they differ.

        And those of all labels on which they depend: without a unit, rates may depend on more of their keys.
        """
        every = list(self.keys_named.values())
        of_label: Sequence[int] = self.keys_named.get(entry[0][-1], ()) if entry[0] else ()
        if of_label and self.follow_from(of_label, entry):
            every = [of_label]
        named = sorted({*chain(*self._changing(entry, every))})
        return [key for (key,) in self._changing(entry, [[key] for key in named])], named

    def _changing(self, entry: Entry, groups: Sequence[Sequence[int]]) -> list[Sequence[int]]:
        """Return the groups of keys that change the rates of an entry; the halves of those that do are tested."""
        among = sorted({*chain(*groups)})
        wholes = [{key: counts[key] for key in among} for counts, _ in self.wholes[:-1]]
        before = [self.of_entry(whole, entry) for whole in wholes]
        found: list[Sequence[int]] = []
        waiting = [groups]
        while waiting:
            some = waiting.pop()
            keys = list(chain(*some))
            if keys and any(
                self.of_entry(changed, entry) != old
                for whole, old in zip(wholes, before, strict=True)
                for changed in _changed(whole, keys)
            ):
                if len(some) == 1:
                    found += some
                else:
                    waiting += [some[len(some) // 2 :], some[: len(some) // 2]]
        return found

    def of_entry(self, counts: Mapping[int, int], entry: Entry) -> str:
        """Return the rates of an entry, given how often each key was counted, as text: NaN is equal to NaN."""
        tally = Tally({self.keys[key]: count for key, count in counts.items() if count})
        return repr(_read(self.metric.scores(tally, self.layers), [entry]))

    @cached_property
    def sizes(self) -> EntrySizes:
        """What units weigh in each rate."""
        return EntrySizes(self)


class EntrySizes:
    """What units weigh in the rates of each entry of a report, and the counts from which the rates follow."""

    def __init__(self, rates: Rates) -> None:
        self._rates = rates
        whole, weighted = rates.total, rates.sums(range(1, len(rates.rows) + 1))
        self._headlines = {*rates.metric.headlines(rates.tally(whole), rates.layers)}
        known, other = self._measured(rates.tally(whole)), self._measured(rates.tally(weighted))
        found: dict[_Place, dict[int, Sequence[float]]] = {place: {} for place in known}
        for number, row in enumerate(rates.rows):
            alone = Tally({rates.keys[key]: count for key, count in pairs_in(row)})
            for place, numbers in self._measured(alone).items():
                if place in found and any(numbers):
                    found[place][number] = numbers
        times = rates.times(range(len(rates.row_of)))
        self._counts = {
            place: rows
            for place, rows in found.items()
            if isinstance(place, tuple)
            and _add_up(rows, times, known[place])
            and _add_up(rows, range(1, len(rates.rows) + 1), other.get(place, ()))
        }
        numbered: dict[frozenset[tuple[int, float]], int] = {}
        self._columns_of: dict[str, tuple[int, int]] = {}
        for place, rows in found.items():
            if isinstance(place, str):
                gold, predicted = (
                    frozenset((number, sizes[side]) for number, sizes in rows.items() if sizes[side])
                    for side in (0, 1)
                )
                self._columns_of[place] = (
                    numbered.setdefault(gold, len(numbered)),
                    numbered.setdefault(predicted, len(numbered)),
                )
        self._columns = [dict(sorted(column)) for column in numbered]
        self._sums: dict[tuple[int, ...], Column] = {}
        self._last: tuple[Tally | None, Mapping[_Place, Sequence[float]]] = (None, {})
        # gold and predicted spans may be equal in all units here, but with more of each key they are not
        more = rates.tally(count + number**2 for number, count in enumerate(whole, 1))
        self._apart = {place for place, sizes in self._measured(more).items() if sizes[0] != sizes[1]}

    def _measured(self, tally: Tally) -> dict[_Place, Sequence[float]]:
        """Return the gold and the predicted spans of entries, by their paths, and the counts of kinds of rates.

        Counts are those of a headline, or the rates times the sizes.
        """
        metric, layers = self._rates.metric, self._rates.layers
        headlines = metric.headlines(tally, layers)
        found: dict[_Place, Sequence[float]] = {}
        found.update(metric.sizes(tally, layers))
        for path, entry in _dictionaries(metric.scores(tally, layers)):
            text = ".".join(path)
            if text not in found and all(
                isinstance(entry.get(name), int | float) for name in Counts._fields[:2]
            ):
                found[text] = entry["gold"], entry["predicted"]
            for name in entry:
                if not name.startswith("precision"):
                    continue
                kind = name.removeprefix("precision")
                if kind_of(name) != kind or f"recall{kind}" not in entry:
                    continue
                if text in headlines and kind in ("", "_strict"):
                    found[path, kind] = headlines[text]
                elif text in found:
                    rates = (entry[f"{each}{kind}"] or 0.0 for each in ("recall", "precision"))
                    found[path, kind] = (*found[text], *map(_rounded, map(mul, rates, found[text])))
        return found

    def column(self, numbers: tuple[int, ...]) -> Column:
        """Return the sum of some columns."""
        if numbers not in self._sums:
            found: dict[int, float] = {}
            for number in numbers:
                if number == _EVERY:
                    found = {row: 1 for row, counts in enumerate(self._rates.rows) if counts}
                    break
                for row, size in self._columns[number].items():
                    found[row] = found.get(row, 0) + size
            self._sums[numbers] = found
        return self._sums[numbers]

    def counts(self, entry: Path, kind: str) -> Mapping[int, Sequence[float]] | None:
        """Return the counts from which the rates of a kind follow, by row, without zeros; None if they have none."""
        return self._counts.get((entry, kind))

    def of(self, path: Path) -> tuple[int, ...]:
        """Return the numbers of the columns of the gold and the predicted spans that a rate is about.

        They are those of its entry, of the nearest one above that has both, or of its ``micro``; otherwise of the first
        that the metric names. If there is none, every unit in which something was counted weighs the same.
        """
        place = self._place_of(path)
        return (_EVERY, _EVERY) if place is None else self._columns_of[place]

    def _place_of(self, path: Path) -> str | None:
        for end in range(len(path) - 1, -1, -1):
            for entry in (path[:end], (*path[:end], "micro")):
                if (place := ".".join(entry)) in self._columns_of:
                    return place
        return next(iter(self._columns_of), None)

    def tells_sides_apart(self, path: Path) -> bool:
        """Return whether a rate is about other spans on the gold side than on the predicted side."""
        return self._place_of(path) in self._apart

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
        place = self._place_of(path)
        if place is None:
            return not tally
        if self._last[0] is not tally:  # all paths are asked of one tally before the next
            self._last = tally, self._measured(tally)
        return not any(self._last[1].get(place, ()))


_Place = str | tuple[Path, str]
"""An entry, as the path of its sizes; or the path of an entry and the kind of its rates, as that of its counts."""

_EVERY = -1
"""The number of the column in which every unit in which something was counted weighs the same."""

_ROUNDING = 1e-9

_DIGITS = 12
"""To how many decimals a product of a rate and a size is rounded."""


def _are_close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=_ROUNDING, abs_tol=_ROUNDING)


def _rounded(number: float) -> float:
    found = round(number, _DIGITS)
    return int(found) if found.is_integer() else found


def _add_up(rows: Mapping[int, Sequence[float]], times: Sequence[int], whole: Sequence[float]) -> bool:
    """Return whether the numbers of rows, each as often as `times` says, add up to those of a corpus.

    The product of a rate and a size does not, unless the size is the denominator of the rate: a mean over labels is no
    rate of counts.
    """
    columns = zip(*rows.values(), strict=True) if rows else ((),) * len(whole)
    of_rows = [times[row] for row in rows]
    sums = [math.fsum(map(mul, column, of_rows)) for column in columns]
    return len(sums) == len(whole) and all(map(_are_close, sums, whole))


def _changed(counts: Mapping[int, int], keys: Sequence[int]) -> Iterator[dict[int, int]]:
    """Yield counts without some keys, and with more of each, but of no two as many."""
    yield {**counts, **dict.fromkeys(keys, 0)}
    yield {**counts, **{key: counts[key] + number for number, key in enumerate(keys, 1)}}


def _dictionaries(report: Mapping[str, Any], path: Path = ()) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield the dictionaries of a report, with their paths."""
    yield path, report
    for name, value in report.items():
        if type(value) not in _PLAIN and isinstance(value, Mapping):
            yield from _dictionaries(value, (*path, name))


_PLAIN = frozenset((int, float, str, type(None)))
"""Types of most values of a report; whether a value is a mapping takes longer to ask."""


@cache
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
