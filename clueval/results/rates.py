"""The rates of a report, computed for many corpora: without each unit, resampled, with units swapped.

A rate is a number of a report that is recognised by its name. Most rates follow from `Counts` of spans: those that
`headlines` has, and those of entries with the four counts. Means over labels follow from the rates of the labels; all
others are computed by the metric, from those keys of its tallies on which they depend.

Counts add up, so it is enough to know what one of each key adds to them. A unit weighs in a rate what it adds to the
gold or the predicted spans of the rate's entry. These numbers are columns: each has a number for those units, or rows
of equal ones, in which it is not 0.
"""

from __future__ import annotations

import math
import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import chain, compress, repeat
from operator import mul, sub
from typing import Any, NamedTuple, TypeVar

from clueval.core.bag import pairs_in
from clueval.core.metric import AnyMetric
from clueval.core.tally import Counts, Tally, f_measure, rate
from clueval.results.units import CountsByUnit
from clueval.statistics.jackknife import effective_number

Path = tuple[str, ...]

Entry = tuple[Path, Sequence[str]]
"""The path of a dictionary of a report, and the names of its rates."""

Column = Mapping[int, float]
"""A number in each row of counts in which it is not 0."""

Row = tuple[tuple[int, float], ...]
"""The counts of a row that are not 0, with the numbers of their columns."""

Numbers = Sequence[float]
"""Counts from which the rates of an entry follow, in columns."""

# Names

_WORDS = r"precision|recall|accuracy|rate|f\d+(?:\.\d+)?"
_RATE = re.compile(rf"(?:^|_)(?:{_WORDS})(?:_|$)")
_PLAIN = frozenset((int, float, str, type(None)))
"""Types of most values of a report; whether a value is a mapping takes longer to ask."""


@cache
def kind_of(name: str) -> str:
    """Return what is left of the name of a rate: ``precision_strict`` and ``f1_strict`` are of one kind.

    >>> kind_of("document_recall"), kind_of("f1")
    ('document_', '')
    """
    return re.sub(_WORDS, "", name)


def is_rate(name: str, value: object) -> bool:
    """Return whether a number of a report is a rate, by its name.

    >>> is_rate("recall_strict", 0.5), is_rate("documents_with_recall", 3), is_rate("f0.5", 0.5)
    (True, False, True)
    """
    return (type(value) is float or value is None) and _RATE.search(name) is not None


def _dictionaries(report: Mapping[str, Any], path: Path = ()) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield the dictionaries of a report, with their paths."""
    yield path, report
    for name, value in report.items():
        if type(value) not in _PLAIN and isinstance(value, Mapping):
            yield from _dictionaries(value, (*path, name))


def entries_of(report: Mapping[str, Any]) -> Iterator[Entry]:
    """Yield the paths of all dictionaries of a report that have rates, with the names of these."""
    for path, entry in _dictionaries(report):
        names = tuple(name for name, value in entry.items() if is_rate(name, value))
        if names:
            yield path, names


def entry_at(report: Mapping[str, Any], path: Path) -> Mapping[str, Any]:
    """Return the dictionary at a path of a report; an empty one if there is none."""
    value: Any = report
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def _rates_in(report: Mapping[str, Any], entries: Iterable[Entry]) -> list[float]:
    """Return the rates of some entries of a report; NaN for one that is undefined, or is not there."""
    rates: list[float] = []
    for path, names in entries:
        entry = entry_at(report, path)
        rates += [math.nan if (value := entry.get(name)) is None else value for name in names]
    return rates


# One metric in one sequence


class Rates:
    """The rates of what one metric counted in one sequence of some units.

    Attributes:
        keys: the keys of the tallies.
        rows: the rows of counts that differ, see `CountsByUnit`.
        row_of: the number of the row of each unit.
        parts: the numbers of all units, and of those of each part, such as a run of a system.
        everywhere: how many of all units have each row.
        total: how often each key was counted in all units.
        report: the report on all units.
        entries: the paths of the entries of the report that have rates, with the names of these.
        paths: the paths of all rates.
    """

    def __init__(
        self, metric: AnyMetric, layers: Sequence[str], counts: CountsByUnit, parts: Sequence[range] = ()
    ) -> None:
        self.metric, self.layers = metric, layers
        self.keys, self.rows, self.row_of = list(counts.keys), list(counts.rows), counts.row_of
        self.parts = [range(len(self.row_of)), *parts]
        self._times: dict[range, list[int]] = {}
        self._entries: dict[tuple[Path, str], EntryRates] = {}
        self._scored_entries: dict[Path, ScoredEntry] = {}
        self.everywhere = self.times(self.parts[0])
        self.total = self.sums(self.everywhere)
        self.report = self.report_on(enumerate(self.total))
        self.entries = list(entries_of(self.report))
        self.paths = [(*path, name) for path, names in self.entries for name in names]

    def times(self, units: range) -> Sequence[int]:
        """Return how many of these units have each row."""
        if units not in self._times:
            counted = Counter(self.row_of[units.start : units.stop])
            self._times[units] = [counted[row] for row in range(len(self.rows))]
        return self._times[units]

    def sums(self, times: Sequence[int]) -> list[int]:
        """Return the sum of each key, given how many units have each row."""
        return [sum([count * times[row] for row, count in pairs_in(rows)]) for rows in self.rows_of_keys]

    @cached_property
    def rows_of_keys(self) -> Sequence[Sequence[int]]:
        """The rows that have each key, and how often: number, count, number, count, ..."""
        rows: list[list[int]] = [[] for _ in self.keys]
        for number, row in enumerate(self.rows):
            for key, count in pairs_in(row):
                rows[key].extend((number, count))
        return rows

    def tally(self, counts: Iterable[tuple[int, int]]) -> Tally:
        """Return the tally of these counts, each with the number of its key."""
        return Tally({self.keys[key]: count for key, count in counts if count})

    def report_on(self, counts: Iterable[tuple[int, int]]) -> Mapping[str, Any]:
        """Return the report on these counts, each with the number of its key."""
        return self.metric.scores(self.tally(counts), self.layers)

    def scored(self, tallies: Iterable[Tally], entries: Sequence[Entry]) -> list[array[float]]:
        """Return each rate of some entries in each corpus; NaN where it is undefined.

        The rates of an entry that is not in the report, because the corpus has no span of it, are 0/0.
        """
        paths = [(*path, name) for path, names in entries for name in names]
        rates = array("d")
        for tally in tallies:
            values = _rates_in(self.metric.scores(tally, self.layers), entries)
            undefined = [place for place, value in enumerate(values) if math.isnan(value)]
            if undefined:
                are_zero = self.sizes.are_zero([paths[place] for place in undefined], tally)
                for place in compress(undefined, are_zero):
                    values[place] = self.nothing.get(paths[place][-1], math.nan)
            rates.extend(values)
        return [rates[place :: len(paths)] for place in range(len(paths))]

    @cached_property
    def empty_report(self) -> Mapping[str, Any]:
        """The report on no counts."""
        return self.metric.scores(Tally(), self.layers)

    @cached_property
    def nothing(self) -> Mapping[str, float]:
        """What the metric makes of 0/0 in each rate, by its name."""
        values: dict[str, float] = {}
        for path, names in entries_of(self.empty_report):
            for name, value in zip(names, _rates_in(self.empty_report, [(path, names)]), strict=True):
                values.setdefault(name, value)
        return values

    @cached_property
    def wholes(self) -> list[tuple[Sequence[int], Mapping[str, Any]]]:
        """The sums of all parts, and last of all rows with different weights, each with its report."""
        weighted = self.sums(range(1, len(self.rows) + 1))
        sums = [*(self.sums(self.times(part)) for part in self.parts[1:]), weighted]
        reports = [(counts, self.report_on(enumerate(counts))) for counts in sums]
        return [(self.total, self.report), *reports]

    @cached_property
    def sizes(self) -> EntrySizes:
        """What units weigh in each rate."""
        return EntrySizes(self)

    @cached_property
    def _keys_of_entries(self) -> tuple[Mapping[Path, Sequence[int]], Sequence[int]]:
        """The keys of which one alone changes an entry, by its path, and those that change none."""
        empty = {path: _plain_values(entry) for path, entry in _dictionaries(self.empty_report)}
        by_entry: dict[Path, list[int]] = {}
        others = []
        for key in range(len(self.keys)):
            changed = [
                path
                for path, entry in _dictionaries(self.report_on([(key, 1)]))
                if _plain_values(entry) != empty.get(path)
            ]
            for path in changed:
                by_entry.setdefault(path, []).append(key)
            if not changed:
                others.append(key)
        return by_entry, others

    def keys_behind(self, path: Path, names: Sequence[str]) -> Sequence[int]:
        """Return the keys from whose counts the rates of an entry follow; maybe some more."""
        by_entry, others = self._keys_of_entries
        keys = by_entry.get(path, [])
        for candidates in (keys, sorted([*keys, *others])):
            if self.follow_from(candidates, (path, names)):
                return candidates
        return range(len(self.keys))

    def follow_from(self, keys: Sequence[int], entry: Entry, others: Sequence[int] | None = None) -> bool:
        """Return whether the rates of an entry follow from the counts of some keys in each of `wholes`.

        Other keys are left out; with `others`, these are as in the total, and only parts are compared. This is a test
        on a few sums, not a proof: a metric whose rates depend on other keys, but not in these sums, passes, too.
        """
        always = {key: self.total[key] for key in others or ()}
        return all(
            self.text_of({**always, **{key: counts[key] for key in keys}}, entry)
            == repr(_rates_in(report, [entry]))
            for counts, report in (self.wholes if others is None else self.wholes[:-1])
        )

    def text_of(self, counts: Mapping[int, int], entry: Entry) -> str:
        """Return the rates, given how often each key was counted, as text: NaN is equal to NaN."""
        return repr(_rates_in(self.report_on(counts.items()), [entry]))

    # Entries

    def rates_of(self, path: Path) -> EntryRates:
        """Return the rates of an entry that follow from the same counts as the one at a path."""
        entry, kind = path[:-1], kind_of(path[-1])
        if (entry, kind) not in self._entries:
            report = entry_at(self.report, entry)
            names = [name for name, value in report.items() if is_rate(name, value) and kind_of(name) == kind]
            rates: EntryRates | None = self._means(entry, names)
            rates = rates or self._counted_rates(entry, kind, names)
            if rates is None:
                if entry not in self._scored_entries:
                    self._scored_entries[entry] = ScoredEntry(self, entry)
                rates = ScoredRates(self._scored_entries[entry], names)
            self._entries[entry, kind] = rates
        return self._entries[entry, kind]

    def _counted_rates(self, path: Path, kind: str, names: Sequence[str]) -> CountedRates | None:
        """Return rates that follow from `Counts`; None if these do not."""
        nothing = [self.nothing.get(name, math.nan) for name in names]
        if not all(map(_NAME.fullmatch, names)) or any(map(math.isnan, nothing)):
            return None
        place = self.sizes.place_of_counts(path, kind)
        if place is None:
            return None
        rates = CountedRates(names, self.sizes, place, nothing)
        by_name = rates.values(self.sizes.totals(place))
        reported = [_rates_in(report, [(path, names)]) for _, report in (self.wholes[0], self.wholes[-1])]
        return rates if all(map(_are_equal, zip(*by_name, strict=True), reported)) else None

    def _means(self, path: Path, names: Sequence[str]) -> MeanRates | None:
        """Return rates that are means of those of labels; None if these are not."""
        if not path or path[-1] not in _MEANS or path[-2:-1] in (("per_label",), ("per_type",)):
            return None  # the last is a label of this name
        is_weighted = _MEANS[path[-1]]
        labels: list[tuple[EntryRates, bool]] = []
        for section in ("per_label", "per_type"):
            place = (*path[:-1], section)
            always = entry_at(self.empty_report, place)
            for name in entry_at(self.report, place):
                labels.append((self.rates_of((*place, name, names[0])), name in always))
        if not labels or any(rates.names != labels[0][0].names for rates, _ in labels):
            return None
        if is_weighted and not all(isinstance(rates, CountedRates) for rates, _ in labels):
            return None
        means = MeanRates(labels, is_weighted, [self.nothing.get(name, math.nan) for name in names])
        values = [of_rate[-1] for of_rate in means.without(self.times(self.parts[-1])).rates]
        _, report = self.wholes[len(self.parts) - 1]
        return means if _are_equal(values, _rates_in(report, [(path, names)])) else None


def _plain_values(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if type(value) in _PLAIN}


def _are_equal(values: Sequence[float], reported: Sequence[float]) -> bool:
    return all(abs(value - of_report) <= _CLOSE for value, of_report in zip(values, reported, strict=True))


# Sizes

_Place = tuple[str, int]
"""The path of an entry, and 2 for its sizes, or 4 for its counts."""

_Measures = Mapping[_Place, Sequence[float]]

_Name = tuple[bool, tuple[tuple[int, float], ...]]
"""What a column is made of, so that equal columns are made once: whether of keys, and what one of each key adds, or
the numbers of rows."""

_ROUNDING = 1e-9


class EntrySizes:
    """What units weigh in the rates of each entry of a report, and the counts from which the rates follow."""

    def __init__(self, rates: Rates) -> None:
        self._rates = rates
        (total, _), *_, (weighted, _) = rates.wholes
        self._sums = [(sums, self._measure(rates.tally(enumerate(sums)))) for sums in (total, weighted)]
        self._whole = self._sums[0][1]
        self._columns: dict[_Name, Column] = {}
        self._kept = 0  # numbers in these
        self._names: dict[tuple[_Place, int], _Name] = {}
        self._units: dict[tuple[_Name, _Name], Counter[tuple[float, ...]]] = {}  # how many have which sizes
        self._weighing: dict[tuple[_Name, _Name, tuple[int, ...]], Column] = {}
        self._linear: dict[_Place, bool] = {}

    def _measure(self, tally: Tally) -> _Measures:
        """Return the gold and the predicted spans of entries, by their paths, and the counts behind their rates."""
        metric, layers = self._rates.metric, self._rates.layers
        measures: dict[_Place, Sequence[float]] = {}
        for path, entry in _dictionaries(metric.scores(tally, layers)):
            numbers = [entry.get(name) for name in Counts._fields]
            for width in (2, 4):
                if all(isinstance(number, int | float) for number in numbers[:width]):
                    measures[".".join(path), width] = numbers[:width]  # type: ignore[assignment]  # numbers
        measures |= {(path, 2): sizes for path, sizes in metric.sizes(tally, layers).items()}
        measures |= {(path, 4): counts for path, counts in metric.headlines(tally, layers).items()}
        return measures

    @cached_property
    def _of_keys(self) -> Mapping[_Place, Mapping[int, Sequence[float]]]:
        """What one of each key adds to the numbers of each place."""
        return _by_place(enumerate(map(self._measure, (Tally({key: 1}) for key in self._rates.keys))))

    @cached_property
    def _of_rows(self) -> Mapping[_Place, Mapping[int, Sequence[float]]]:
        """The numbers of each place in each row."""
        return _by_place(
            enumerate(self._measure(self._rates.tally(pairs_in(row))) for row in self._rates.rows)
        )

    def _adds_up(self, place: _Place) -> bool:
        """Return whether the numbers of a place are sums of what its keys add."""
        if place not in self._linear:
            keys = self._of_keys.get(place, {})
            self._linear[place] = all(
                _have_sums(keys, sums, whole)
                for (sums, _), whole in zip(self._sums, self.totals(place), strict=True)
            )
        return self._linear[place]

    def _source(self, place: _Place) -> Mapping[int, Sequence[float]]:
        """Return what one of each key adds to the numbers of a place or, if that is not enough, those of each row."""
        return (self._of_keys if self._adds_up(place) else self._of_rows).get(place, {})

    def _name(self, place: _Place, side: int) -> _Name:
        """Return the name of a column, which is that of all equal ones: what it is a sum of."""
        if (place, side) not in self._names:
            numbers = self._source(place).items()
            terms = [(number, value) for number, of_all in numbers if (value := of_all[side])]
            self._names[place, side] = self._adds_up(place), tuple(terms)
        return self._names[place, side]

    def column(self, place: _Place, side: int) -> Column:
        """Return one of the numbers of a place, by row; the last ones are kept."""
        name = self._name(place, side)
        if name not in self._columns:
            of_keys, numbers = name
            by_row: dict[int, float] = {} if of_keys else dict(numbers)
            for key, number in numbers if of_keys else ():
                for row, count in pairs_in(self._rates.rows_of_keys[key]):
                    by_row[row] = by_row.get(row, 0) + number * count
            if any(number < 0 for _, number in numbers):  # otherwise no sum is 0
                by_row = {row: number for row, number in by_row.items() if number}
            self._columns[name] = by_row
            self._kept += len(by_row)
            while self._kept > _MOST_KEPT and len(self._columns) > 1:
                self._kept -= len(self._columns.pop(next(iter(self._columns))))
            return by_row
        return self._columns[name]

    def place_of_counts(self, entry: Path, kind: str) -> _Place | None:
        """Return the place of the counts from which the rates of a kind follow; None if they have none."""
        path = ".".join(entry)
        place = path if kind in ("", "_strict") else f"{path}.{kind[1:]}", 4
        if place not in self._whole:
            return None
        times = self._rates.everywhere, range(1, len(self._rates.rows) + 1)
        is_sum = self._adds_up(place) or all(
            map(_have_sums, [self._source(place)] * 2, times, self.totals(place))
        )
        return place if is_sum else None

    def totals(self, place: _Place) -> list[Numbers]:
        """Return the numbers of a place in all units, and in all rows with different weights."""
        return [measures.get(place, (0,) * place[1]) for _, measures in self._sums]

    def _place_of(self, path: Path) -> _Place | None:
        """Return the entry whose sizes count for a rate.

        It is the rate's own, the nearest one above that has sizes, or its ``micro``; otherwise the first of all.
        """
        for end in range(len(path) - 1, -1, -1):
            for entry in (path[:end], (*path[:end], "micro")):
                if (place := (".".join(entry), 2)) in self._whole:
                    return place
        return next((place for place in self._whole if place[1] == 2), None)

    def weighing(self, path: Path) -> Column:
        """Return what each row weighs for a rate: gold spans for recall, predicted ones for precision, else both.

        If no entry has sizes, every unit in which something was counted weighs the same. Equal columns are one object.
        """
        place, sides = self._place_of(path), _sides_of(path[-1])
        if place is None:
            return {row: 1 for row, counts in enumerate(self._rates.rows) if counts}
        name = *self._names_of(place), sides
        if name not in self._weighing:
            sums = ((row, sum(sizes[side] for side in sides)) for row, sizes in self._sizes(place))
            self._weighing[name] = {row: size for row, size in sums if size}
        return self._weighing[name]

    def _names_of(self, place: _Place) -> tuple[_Name, _Name]:
        return self._name(place, 0), self._name(place, 1)

    def _sizes(self, place: _Place) -> Iterator[tuple[int, tuple[float, ...]]]:
        return _merged([self.column(place, side) for side in (0, 1)])

    def weights(self, path: Path) -> tuple[int, float]:
        """Return the number of units in which the denominator of a rate is not 0, and the effective number."""
        place, sides = self._place_of(path), _sides_of(path[-1])
        if place is None:
            number = sum(self._rates.everywhere[row] for row in self.weighing(path))
            return number, float(number)
        names = self._names_of(place)
        if names not in self._units:
            units = Counter[tuple[float, ...]]()
            for row, sizes in self._sizes(place):
                units[sizes] += self._rates.everywhere[row]
            self._units[names] = units
        of_sizes = Counter[float]()
        for sizes, number in self._units[names].items():
            of_sizes[sum(sizes[side] for side in sides)] += number
        del of_sizes[0]
        return of_sizes.total(), effective_number([*of_sizes], [*of_sizes.values()])

    def golds(self, path: Path) -> Column | None:
        """Return the gold spans that a rate is about; None if it is about the same ones on both sides."""
        place = self._place_of(path)
        if place is None or all(gold == predicted for gold, predicted in self._source(place).values()):
            return None
        return self.column(place, 0)

    def are_zero(self, paths: Iterable[Path], tally: Tally) -> list[bool]:
        """Return for each rate whether nothing that it is about is in a tally."""
        measures = self._measure(tally)
        places = map(self._place_of, paths)
        return [not tally if place is None else not any(measures.get(place, ())) for place in places]


_MOST_KEPT = 160_000
"""How many numbers are kept in columns, which other entries share."""


def _sides_of(name: str) -> tuple[int, ...]:
    return (0,) if name.startswith("recall") else (1,) if name.startswith("precision") else (0, 1)


def _by_place(measures: Iterable[tuple[int, _Measures]]) -> dict[_Place, dict[int, Sequence[float]]]:
    by_place: dict[_Place, dict[int, Sequence[float]]] = {}
    for number, of_number in measures:
        for place, numbers in of_number.items():
            if any(numbers):
                by_place.setdefault(place, {})[number] = numbers
    return by_place


def _have_sums(numbers: Mapping[int, Sequence[float]], times: Sequence[int], sums: Sequence[float]) -> bool:
    """Return whether numbers, each of them a number of times, have these sums."""
    columns = zip(*numbers.values(), strict=True) if numbers else ((),) * len(sums)
    of_numbers = [times[number] for number in numbers]
    return all(
        math.isclose(math.fsum(map(mul, column, of_numbers)), whole, rel_tol=_ROUNDING, abs_tol=_ROUNDING)
        for column, whole in zip(columns, sums, strict=True)
    )


# One entry


class Without(NamedTuple):
    """The rates of an entry without single units.

    Attributes:
        places: the place of those rows whose units change the rates; all others have the last place.
        units: how many units have each place.
        rests: the counts that are left, by place.
        rates: each rate without a unit, by place.
    """

    places: Mapping[int, int]
    units: Sequence[int]
    rests: Sequence[Numbers]
    rates: Sequence[Sequence[float]]


def _units_by_place(places: Mapping[int, int], times: Sequence[int], number: int) -> list[int]:
    """Return how many units have each of a number of places, given how many have each row."""
    units = [0] * number
    for row, place in places.items():
        units[place] += times[row]
    units[-1] = sum(times) - sum(units)
    return units


class EntryRates:
    """Rates of one entry of a report that follow from the same counts.

    Attributes:
        names: of the rates.
    """

    names: Sequence[str]
    _last: tuple[Sequence[int], Without] | None = None

    @property
    def columns(self) -> Sequence[Column]:
        """The counts."""
        raise NotImplementedError

    @property
    def telling(self) -> Sequence[Column]:
        """Those of the counts that tell whether units differ."""
        return self.columns

    @property
    def rows(self) -> Mapping[int, Row]:
        """The counts of each row that has some."""
        return _rows_of([column.items() for column in self.columns])

    @cached_property
    def telling_rows(self) -> Mapping[int, Row]:
        """Those of the counts of each row that tell whether units differ."""
        return _rows_of([column.items() for column in self.telling])

    def values(self, counts: Sequence[Numbers]) -> list[Sequence[float]]:
        """Return each rate in each corpus, given its counts; NaN where it is undefined."""
        raise NotImplementedError

    def total(self, times: Sequence[int]) -> list[float]:
        """Return the sum of the counts, given how many units have each row."""
        return [_sum([count * times[row] for row, count in column.items()]) for column in self.columns]

    def without(self, times: Sequence[int]) -> Without:
        """Return the rates without single units, given how many units have each row; the last are kept."""
        if self._last is None or self._last[0] is not times:
            self._last = times, self._without(times)
        return self._last[1]

    def _without(self, times: Sequence[int]) -> Without:
        rows, total = self.rows, self.total(times)
        distinct, places = _distinct_items([*rows.values(), ()])
        rests = [_subtract(total, row) for row in distinct]
        of_rows = dict(zip(rows, places, strict=False))
        return Without(of_rows, _units_by_place(of_rows, times, len(distinct)), rests, self.values(rests))

    def forget(self) -> None:
        """Keep nothing that can be computed again."""
        self._last = None


class CountedRates(EntryRates):
    """Rates that follow from `Counts`; `nothing` is what each is if both sides are empty."""

    def __init__(
        self, names: Sequence[str], sizes: EntrySizes, place: _Place, nothing: Sequence[float]
    ) -> None:
        self.names, self._sizes, self._place, self._nothing = names, sizes, place, nothing

    @property
    def columns(self) -> Sequence[Column]:
        return [self._sizes.column(self._place, number) for number in range(4)]

    def _without(self, times: Sequence[int]) -> Without:
        counts = dict(_merged(self.columns))
        distinct, places = _distinct_items([*counts.values(), (0, 0, 0, 0)])
        of_rows = dict(zip(counts, places, strict=False))
        units = _units_by_place(of_rows, times, len(distinct))
        total = [_sum([*map(mul, column, units)]) for column in zip(*distinct, strict=True)]
        rests = [[*map(sub, total, row)] for row in distinct]
        return Without(of_rows, units, rests, self.values(rests))

    def values(self, counts: Sequence[Numbers]) -> list[Sequence[float]]:
        recalls = [rate(tp_gold, gold) for gold, _, tp_gold, _ in counts]
        precisions = [rate(tp_predicted, predicted) for _, predicted, _, tp_predicted in counts]
        empty = [place for place, (gold, predicted, *_) in enumerate(counts) if not gold and not predicted]
        rates: list[Sequence[float]] = []
        for name, nothing in zip(self.names, self._nothing, strict=True):
            values = precisions if name.startswith("precision") else recalls
            if name.startswith("f"):
                beta = float(_NAME.fullmatch(name)[2])  # type: ignore[index]  # its rates have such names
                values = [f_measure(*both, beta) for both in zip(precisions, recalls, strict=True)]
            if empty and nothing:
                values = list(values)
                for place in empty:
                    values[place] = nothing
            rates.append(values)
        return rates


class MeanRates(EntryRates):
    """Means of the rates of labels that occur; `by_gold`: weighted by their gold spans.

    `labels` are the rates of each, with whether it always occurs; `nothing` is what each mean is without labels.
    """

    def __init__(
        self, labels: Sequence[tuple[EntryRates, bool]], by_gold: bool, nothing: Sequence[float]
    ) -> None:
        self.names, self._labels = labels[0][0].names, labels
        self._by_gold, self._nothing = by_gold, nothing

    @property
    def columns(self) -> Sequence[Column]:
        return list(chain.from_iterable(label.columns for label, _ in self._labels))

    @property
    def telling(self) -> Sequence[Column]:
        return list(chain.from_iterable(label.telling for label, _ in self._labels))

    def _weight(self, counts: Numbers, always: bool) -> float:
        return counts[0] if self._by_gold else int(always or any(counts))

    def values(self, counts: Sequence[Numbers]) -> list[Sequence[float]]:
        weights, by_label, first = [], [], 0
        for label, always in self._labels:
            label_counts = [row[first : first + len(label.columns)] for row in counts]
            first += len(label.columns)
            weights.append([self._weight(row, always) for row in label_counts])
            by_label.append(label.values(label_counts))
        wholes = [_sum(of_labels) for of_labels in zip(*weights, strict=True)]
        means: list[Sequence[float]] = []
        for place, nothing in enumerate(self._nothing):
            parts = [
                map(mul, values[place], label_weights)
                for values, label_weights in zip(by_label, weights, strict=True)
            ]
            sums = map(math.fsum, zip(*parts, strict=True))
            means.append(
                [part / whole if whole else nothing for part, whole in zip(sums, wholes, strict=True)]
            )
        return means

    def _without(self, times: Sequence[int]) -> Without:
        """Add to the sum over labels what changes in those that a row has, so that each row costs its own labels."""
        wholes: list[float] = []  # the weight of each label
        parts: list[list[float]] = [[] for _ in self.names]  # its rates times its weight
        # what changes without a unit, by row and label
        changes = defaultdict[int, list[tuple[float, Sequence[float]]]](list)
        for label, always in self._labels:
            without = label.without(times)
            weights = [self._weight(rest, always) for rest in without.rests]
            by_rate = [list(map(mul, rates, weights)) for rates in without.rates]
            wholes.append(weights[-1])
            for of_rate, products in zip(parts, by_rate, strict=True):
                of_rate.append(products[-1])
            less = [-products[-1] for products in by_rate]
            of_places = [
                (weight - weights[-1], [*products, *less])
                for weight, *products in zip(weights, *by_rate, strict=True)
            ]
            for row, place in without.places.items():
                changes[row].append(of_places[place])
        whole, sums = _sum(wholes), list(map(_exact_parts, parts))
        means: list[list[float]] = [[] for _ in self.names]
        for of_row in [*changes.values(), []]:
            rest = whole + sum([weight for weight, _ in of_row])
            for number, values in enumerate(means):
                terms = [change for _, by_rate in of_row for change in by_rate[number :: len(means)]]
                values.append(math.fsum(sums[number] + terms) / rest if rest else self._nothing[number])
        places = dict(zip(changes, range(len(changes)), strict=True))
        return Without(places, _units_by_place(places, times, len(changes) + 1), (), means)


class ScoredEntry(EntryRates):
    """All rates of an entry that the metric computes, from the counts of the keys on which they depend."""

    def __init__(self, rates: Rates, path: Path) -> None:
        self.rates, self.path = rates, path
        self.names = [name for name, value in entry_at(rates.report, path).items() if is_rate(name, value)]
        self.keys = rates.keys_behind(path, self.names)

    @property
    def columns(self) -> Sequence[Column]:
        return self.columns_of(self.keys)

    def columns_of(self, keys: Iterable[int]) -> list[Column]:
        """Return the counts of some keys."""
        return [dict(pairs_in(self.rates.rows_of_keys[key])) for key in keys]

    def values(self, counts: Iterable[Numbers]) -> list[Sequence[float]]:
        rows, places = _distinct_items(map(tuple, counts))
        tallies = (self.rates.tally(zip(self.keys, row, strict=True)) for row in rows)  # type: ignore[arg-type]  # whole numbers
        by_rate = self.rates.scored(tallies, [(self.path, self.names)])
        return [[values[place] for place in places] for values in by_rate]


class ScoredRates(EntryRates):
    """Some rates of a `ScoredEntry`; units that differ have other counts of a key on which one of these depends.

    If the rates of a part of the units depend on other keys, too, all keys count.
    """

    def __init__(self, entry: ScoredEntry, names: Sequence[str]) -> None:
        self.names, self._all = names, entry
        self._places = [entry.names.index(name) for name in names]

    @property
    def columns(self) -> Sequence[Column]:
        return self._all.columns

    @property
    def telling(self) -> Sequence[Column]:
        """The counts of keys on which the rates depend: with more of one, or none, they differ."""
        rates, entry = self._all.rates, (self._all.path, self.names)
        keys = _keys_that_matter(rates, entry, self._all.keys)
        follow = rates.follow_from(keys, entry, self._all.keys)
        return self._all.columns_of(keys if follow else range(len(rates.keys)))

    def values(self, counts: Sequence[Numbers]) -> list[Sequence[float]]:
        by_rate = self._all.values(counts)
        return [by_rate[number] for number in self._places]

    def _without(self, times: Sequence[int]) -> Without:
        without = self._all.without(times)
        return without._replace(rates=[without.rates[number] for number in self._places])


def _keys_that_matter(rates: Rates, entry: Entry, among: Sequence[int]) -> Sequence[int]:
    """Return those of some keys that change the rates of an entry; the halves of those that do are tested."""
    wholes = [{key: counts[key] for key in among} for counts, _ in rates.wholes[:-1]]
    before = [(whole, rates.text_of(whole, entry)) for whole in wholes]
    changing: list[int] = []
    waiting = [among]
    while waiting:
        keys = waiting.pop()
        if not keys or not any(
            rates.text_of(changed, entry) != text
            for whole, text in before
            for changed in (  # without the keys, and with more of each, but of no two as many
                {**whole, **dict.fromkeys(keys, 0)},
                {**whole, **{key: whole[key] + number for number, key in enumerate(keys, 1)}},
            )
        ):
            continue
        if len(keys) == 1:
            changing += keys
        else:
            waiting += [keys[len(keys) // 2 :], keys[: len(keys) // 2]]
    return changing


def _rows_of(columns: Iterable[Iterable[tuple[int, float]]]) -> Mapping[int, Row]:
    """Return the counts of each row that has some, given the rows of each column."""
    rows: dict[int, list[tuple[int, float]]] = {}
    for number, column in enumerate(columns):
        for row, count in column:
            rows.setdefault(row, []).append((number, count))
    return {row: tuple(counts) for row, counts in rows.items()}


def _merged(columns: Sequence[Column]) -> Iterator[tuple[int, tuple[float, ...]]]:
    """Yield each row that is in one of few columns, with its number in each."""
    rows = dict.fromkeys(chain.from_iterable(columns))
    return zip(rows, zip(*(map(column.get, rows, repeat(0)) for column in columns), strict=True), strict=True)


Item = TypeVar("Item", bound=Hashable)


def _distinct_items(items: Iterable[Item]) -> tuple[list[Item], list[int]]:
    """Return the items that differ, and the place of each item among them."""
    numbers: dict[Item, int] = {}
    places = [numbers.setdefault(item, len(numbers)) for item in items]
    return list(numbers), places


def _subtract(total: Numbers, row: Row) -> Numbers:
    rest = list(total)
    for column, count in row:
        rest[column] -= count
    return rest


def _sum(numbers: Sequence[float]) -> float:
    total = sum(numbers)
    return math.fsum(numbers) if isinstance(total, float) else total


def _exact_parts(numbers: Sequence[float]) -> list[float]:
    """Return few numbers that have the same sum, without any rounding."""
    parts: list[float] = []
    while part := math.fsum([*numbers, *(-number for number in parts)]):
        parts.append(part)
    return parts


# Which rates follow from which counts

_NAME = re.compile(r"(precision|recall|f(\d+(?:\.\d+)?))(_\w+)?")
"""The names of rates that may follow from `Counts`: what each is, its beta, and its ending."""

_MEANS = {"macro": False, "weighted": True}
"""The names of entries whose rates are means over the entries of ``per_label``, and whether gold weighs these."""

_CLOSE = 1e-12
