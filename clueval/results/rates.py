"""The rates of a report, computed for many corpora: without each unit, resampled, with units swapped.

A rate is a number of a report that is recognised by its name. Most rates follow from `Counts` of spans: those that
`headlines` has, and those of entries with the four counts. Means over labels follow from the rates of the labels; all
others are computed by the metric, from the counts of all keys of its tallies.

Counts add up, so it is enough to know what one of each key adds to them. A unit weighs in a rate what it adds to the
gold or the predicted spans of the rate's entry. These numbers are columns: each has a number for those units, or rows
of equal ones, in which it is not 0.
"""

from __future__ import annotations

import math
import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import chain, repeat
from operator import mul, sub
from typing import Any, NamedTuple, TypeVar

from clueval.core.bag import pairs_in
from clueval.core.metric import AnyMetric, Counts, Tally, f_measure
from clueval.metrics import LABELS_BELOW, PLAIN, Path, entry_at
from clueval.results.units import CountsByUnit
from clueval.statistics.jackknife import effective_number

Entry = tuple[Path, Sequence[str]]
"""The path of a dictionary of a report, and the names of its rates."""

Column = Mapping[int, float]
"""A number in each row of counts in which it is not 0."""

Numbers = Sequence[float]
"""Counts from which the rates of an entry follow, in columns."""

# Names

_WORDS = r"precision|recall|accuracy|rate|f\d+(?:\.\d+)?"
_RATE = re.compile(rf"(?:^|_)(?:{_WORDS})(?:_|$)")


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
        if type(value) not in PLAIN and isinstance(value, Mapping):
            yield from _dictionaries(value, (*path, name))


def entries_of(report: Mapping[str, Any]) -> Iterator[Entry]:
    """Yield the paths of all dictionaries of a report that have rates, with the names of these."""
    for path, entry in _dictionaries(report):
        names = tuple(name for name, value in entry.items() if is_rate(name, value))
        if names:
            yield path, names


Measures = dict[str, Sequence[float]]
"""The numbers of entries, by their paths."""


def measures_of(metric: AnyMetric, layers: Sequence[str], tally: Tally) -> tuple[Measures, Measures]:
    """Return the counts behind rates, and the gold and the predicted spans of entries.

    A metric has them as `headlines` and `sizes`, or entries of its report have numbers of these names.
    """
    counts: Measures = {}
    sizes: Measures = {}
    for path, entry in _dictionaries(metric.scores(tally, layers)):
        numbers = [entry.get(name) for name in Counts._fields]
        for measures, width in ((sizes, 2), (counts, 4)):
            if all(isinstance(number, int | float) for number in numbers[:width]):
                measures[".".join(path)] = numbers[:width]  # type: ignore[assignment]  # numbers
    counts |= metric.headlines(tally, layers)
    sizes |= metric.sizes(tally, layers)
    return counts, sizes


Item = TypeVar("Item")


def sizes_at(path: Path, sizes: Mapping[str, Item]) -> Item | None:
    """Return the sizes that count for a rate or an entry; None if there are no sizes.

    They are its own, those of the nearest entry above that has sizes, or of its ``micro``; otherwise the first of all.
    """
    for end in range(len(path), -1, -1):
        for entry in (path[:end], (*path[:end], "micro")):
            if (of_entry := sizes.get(".".join(entry))) is not None:
                return of_entry
    return next(iter(sizes.values()), None)


# One metric in one sequence

_Linear = Mapping[str, dict[int, Sequence[float]]]
"""What one of each key adds to the numbers of an entry, by the path of the entry; without zeros."""

Terms = tuple[tuple[int, float], ...]
"""What a column is the sum of: the numbers of keys, and what one of each adds."""


class Rates:
    """The rates of what one metric counted in one sequence of some units.

    Attributes:
        keys: the keys of the tallies.
        rows: the rows of counts that differ, see `CountsByUnit`.
        row_of: the number of the row of each unit.
        whole: the numbers of all units.
        times: how many of all units, and of those of each part, such as a run of a system, have each row.
        reports: the reports on all units, and on those of each part.
        report: the report on all units.
        paths: the paths of all rates.
    """

    def __init__(
        self, metric: AnyMetric, layers: Sequence[str], counts: CountsByUnit, parts: Iterable[range] = ()
    ) -> None:
        self.metric, self.layers = metric, layers
        self.keys, self.rows, self.row_of = list(counts.keys), list(counts.rows), counts.row_of
        self._rows_of_keys: list[list[int]] = [[] for _ in self.keys]  # number, count, number, count, ...
        for number, row in enumerate(self.rows):
            for key, count in pairs_in(row):
                self._rows_of_keys[key].extend((number, count))
        self.whole = range(len(self.row_of))
        self.times: dict[range, list[int]] = {}
        self.reports: dict[range, Mapping[str, Any]] = {}
        for part in (self.whole, *parts):
            counted = Counter(self.row_of[part.start : part.stop])
            times = self.times[part] = [counted[row] for row in range(len(self.rows))]
            self.reports[part] = metric.scores(self._total(times), layers)
        self.report = self.reports[self.whole]
        self.paths = [(*path, name) for path, names in entries_of(self.report) for name in names]
        self._columns: dict[Terms, Column] = {}
        self._kept = 0  # numbers in these
        self._weights: dict[tuple[Terms | None, Terms | None], tuple[int, float]] = {}

    def tally(self, counts: Sequence[float]) -> Tally:
        """Return the tally of these counts of all keys."""
        return Tally({key: count for key, count in zip(self.keys, counts, strict=True) if count})

    def _total(self, times: Sequence[int]) -> Tally:
        """Return the sum of the tallies, given how many units have each row."""
        return self.tally(
            [sum([count * times[row] for row, count in pairs_in(rows)]) for rows in self._rows_of_keys]
        )

    def scored(self, corpora: Iterable[Sequence[int]], paths: Sequence[Path]) -> list[array[float]]:
        """Return each of some rates, given the counts of all keys in some corpora; NaN where it is undefined.

        A rate that is not in the report, because the corpus has no span of it, is 0/0.
        """
        by_entry: dict[Path, list[str]] = {}
        for *entry, name in paths:
            by_entry.setdefault(tuple(entry), []).append(name)
        rates = array("d")
        for counts in corpora:
            report = self.metric.scores(self.tally(counts), self.layers)
            for path, names in by_entry.items():
                of_entry = entry_at(report, path)
                values = [of_entry.get(name, self.nothing.get(name)) for name in names]
                rates.extend([math.nan if value is None else value for value in values])
        return [rates[number :: len(paths)] for number in range(len(paths))]

    @cached_property
    def empty_report(self) -> Mapping[str, Any]:
        """The report on no counts."""
        return self.metric.scores(Tally(), self.layers)

    @cached_property
    def nothing(self) -> Mapping[str, float | None]:
        """What the metric makes of 0/0 in each rate, by its name."""
        values: dict[str, float | None] = {}
        for path, names in entries_of(self.empty_report):
            entry = entry_at(self.empty_report, path)
            values |= {name: entry[name] for name in names if name not in values}
        return values

    # Counts and sizes

    @cached_property
    def _added(self) -> tuple[_Linear, _Linear]:
        """What one of each key adds to the counts and to the sizes of the entries of the report on all units."""
        counts, sizes = measures_of(self.metric, self.layers, self._total(self.times[self.whole]))
        linear: tuple[_Linear, _Linear] = {path: {} for path in counts}, {path: {} for path in sizes}
        for key, name in enumerate(self.keys):
            of_key = measures_of(self.metric, self.layers, Tally({name: 1}))
            for by_path, measures in zip(linear, of_key, strict=True):
                for path, numbers in measures.items():
                    if any(numbers) and path in by_path:
                        by_path[path][key] = numbers
        return linear

    def column(self, terms: Terms) -> Column:
        """Return the sum of some terms in each row; the last columns are kept, since entries share them."""
        if terms not in self._columns:
            by_row: dict[int, float] = {}
            for key, number in terms:
                for row, count in pairs_in(self._rows_of_keys[key]):
                    by_row[row] = by_row.get(row, 0) + number * count
            if any(number < 0 for _, number in terms):  # otherwise no sum is 0
                by_row = {row: number for row, number in by_row.items() if number}
            if self._kept > _MOST_KEPT:
                self._columns.clear()
                self._kept = 0
            self._columns[terms] = by_row
            self._kept += len(by_row)
        return self._columns[terms]

    def weight_terms(self, path: Path) -> Terms | None:
        """Return what a unit weighs in a rate: gold spans for recall, predicted ones for precision, else both.

        None if no entry has sizes: then every unit in which something was counted weighs the same.
        """
        of_keys = sizes_at(path, self._added[1])
        if of_keys is None:
            return None
        sums = ((key, sum(sizes[_sides_of(path)])) for key, sizes in of_keys.items())
        return tuple((key, size) for key, size in sums if size)

    def denominator_terms(self, path: Path) -> Terms | None:
        """Return what is not 0 where the denominator of a rate is not, as `weight_terms` does.

        A unit with spans may have nothing in a denominator: a metric may count errors under another label than that of
        the span, or the words, entities or positions of spans. With weights as without.
        """
        counted = self.rates_of.get((*path[:-1], path[-1].removeprefix("weighted_")))
        if isinstance(counted, Share):
            return counted.terms[0]
        if not isinstance(counted, CountedRates):
            return self.weight_terms(path)
        return tuple(chain.from_iterable(counted.terms[_sides_of(path)]))

    def weighing(self, terms: Terms | None) -> Column:
        """Return what each row weighs, given the terms."""
        if terms is None:
            return {row: 1 for row, counts in enumerate(self.rows) if counts}
        return self.column(terms)

    def weights(self, path: Path) -> tuple[int, float]:
        """Return the number of units in which the denominator of a rate is not 0, and the effective number."""
        terms, times = (self.denominator_terms(path), self.weight_terms(path)), self.times[self.whole]
        if terms not in self._weights:
            denominator, weight = map(self.weighing, terms)
            units = Counter[float]()
            for row, size in weight.items():
                units[size] += times[row]
            effective = effective_number([*units], [*units.values()])
            self._weights[terms] = sum(map(times.__getitem__, denominator)), effective
        return self._weights[terms]

    def golds(self, path: Path) -> Column | None:
        """Return the gold spans that a rate is about; None if it is about the same ones on both sides."""
        of_keys = sizes_at(path[:-1], self._added[1])
        if of_keys is None or all(gold == predicted for gold, predicted in of_keys.values()):
            return None
        return self.column(_terms(of_keys, 0))

    # Entries

    @cached_property
    def rates_of(self) -> Mapping[Path, EntryRates]:
        """Each rate by its path, with those that follow from the same counts."""
        groups: dict[tuple[Path, str], list[Path]] = {}
        # an entry may be that of a label called as another one and its rate, such as A.recall
        with_counts = self._added[0].keys() - {".".join(path[:-1]) for path in self.paths}
        for path in self.paths:
            kind = path[-1] if ".".join(path) in with_counts else kind_of(path[-1])
            groups.setdefault((path[:-1], kind), []).append(path)
        rates: dict[Path, EntryRates] = {}
        means = []
        for (entry, kind), paths in groups.items():
            # a label may be called as a mean is
            has_labels = any(entry_at(self.report, (*entry[:-1], *section)) for section in _LABELS)
            if has_labels and entry[-1:] in _MEANS and entry[-2:-1] not in _LABELS:
                means.append(paths)
            elif (counted := self._counted_rates(entry, kind, paths)) is not None:
                rates |= dict.fromkeys(paths, counted)
        for paths in means:
            if (members := self._labels_behind(paths, rates)) is not None:
                by_gold = _MEANS[paths[0][-2:-1]]
                mean = self._if_reported(MeanRates(self, paths, members, by_gold=by_gold))
                rates |= {} if mean is None else dict.fromkeys(paths, mean)
        keys = [((key, 1),) for key in range(len(self.keys))]
        scored = ScoredRates(self, [path for path in self.paths if path not in rates], keys)
        return rates | dict.fromkeys(scored.paths, scored)

    def _counted_rates(self, entry: Path, kind: str, paths: Sequence[Path]) -> EntryRates | None:
        """Return the rates of an entry that follow from counts; None if these are not known."""
        counts, _ = self._added
        of_keys = counts.get(".".join(paths[0])) if kind == paths[0][-1] else None
        if of_keys is not None:
            columns = [_terms(of_keys, side) for side in range(3)]
            if entry[-2:-1] in _LABELS:  # a mean is over the labels that occur
                columns.append(self.weight_terms((*entry, "f1")) or ())
            return self._if_reported(Share(self, paths, columns))
        of_keys = counts.get(".".join(entry if kind in ("", "_strict") else (*entry, kind[1:])))
        if of_keys is None or not all(_NAME.fullmatch(path[-1]) for path in paths):
            return None
        return self._if_reported(CountedRates(self, paths, [_terms(of_keys, side) for side in range(4)]))

    def _if_reported(self, rates: EntryRates) -> EntryRates | None:
        """Return rates if they are those of the report on all units, since a metric may give others these names."""
        (values,) = zip(*rates.values([rates.total(self.times[self.whole])]), strict=True)
        for path, value in zip(rates.paths, values, strict=True):
            reported = entry_at(self.report, path[:-1])[path[-1]]
            if not (math.isnan(value) if reported is None else math.isclose(value, reported, abs_tol=1e-9)):
                return None
        return rates

    def _labels_behind(
        self, paths: Sequence[Path], rates: Mapping[Path, EntryRates]
    ) -> Sequence[MemberOfMean] | None:
        """Return the rates of labels whose means some rates are; None if these do not follow from counts."""
        members = []
        for section in _LABELS:
            place = (*paths[0][:-2], *section)
            always = entry_at(self.empty_report, place)
            for label in entry_at(self.report, place):
                of_label = [(*place, label, path[-1]) for path in paths]
                if of_label[0] not in rates:
                    return None
                label_rates = rates[of_label[0]]
                members.append(
                    MemberOfMean(label_rates, list(map(label_rates.paths.index, of_label)), label in always)
                )
        return members or None


def _sides_of(path: Path) -> slice:
    """Return which numbers of spans a rate is about: gold's for recall, predicted's for precision, else both."""
    if "recall" in path[-1]:
        return slice(1)
    return slice(1, 2) if "precision" in path[-1] else slice(2)


def _terms(of_keys: Mapping[int, Sequence[float]], side: int) -> Terms:
    return tuple((key, numbers[side]) for key, numbers in of_keys.items() if numbers[side])


_MOST_KEPT = 40_000
"""How many numbers are kept in columns, which other entries share."""


# One entry


class Without(NamedTuple):
    """Some rates without single units.

    Attributes:
        rows: those whose units change the rates; all others have the last place.
        places: the place of each of these rows.
        units: how many units have each place.
        rests: the counts that are left, by place; empty for means and for rates that the metric computes.
        rates: each rate without a unit, by place.
    """

    rows: Sequence[int]
    places: Sequence[int]
    units: Sequence[int]
    rests: Sequence[Numbers]
    rates: Sequence[Sequence[float]]


def _without(
    rows: Sequence[int],
    places: Sequence[int],
    times: Sequence[int],
    rests: Sequence[Numbers],
    rates: Sequence[Sequence[float]],
) -> Without:
    """Return rates without single units, given how many of these have each row."""
    units = [0] * len(rates[0])
    for row, place in zip(rows, places, strict=True):
        units[place] += times[row]
    units[-1] = sum(times) - sum(units)
    return Without(rows, places, units, rests, rates)


class EntryRates:
    """Rates that follow from the same counts.

    Attributes:
        paths: of the rates.
        terms: what each of the counts is the sum of.
    """

    _last: tuple[Sequence[int], Without] | None = None

    def __init__(self, rates: Rates, paths: Sequence[Path], terms: Sequence[Terms]) -> None:
        self.paths, self.terms, self._rates = paths, terms, rates
        self._nothing = [
            math.nan if (value := rates.nothing.get(path[-1], 0.0)) is None else value for path in paths
        ]

    @cached_property
    def _rows(self) -> tuple[Sequence[int], Sequence[int], Sequence[Numbers]]:
        """The rows that have counts, the place of each one's counts, and the counts that differ, by place."""
        columns = [self._rates.column(terms) for terms in self.terms]
        rows = dict.fromkeys(chain.from_iterable(columns))
        counts = zip(*(map(column.get, rows, repeat(0)) for column in columns), strict=True)
        distinct, places = _distinct_items(counts)
        return array("i", rows), array("i", places), distinct

    def counts(self) -> Mapping[int, Numbers]:
        """Return the counts of each row that has some."""
        rows, places, distinct = self._rows
        return {row: distinct[place] for row, place in zip(rows, places, strict=True)}

    def values(self, counts: Sequence[Numbers]) -> list[Sequence[float]]:
        """Return each rate in each corpus, given its counts; NaN where it is undefined."""
        raise NotImplementedError

    def differing(self, path: Path, rows: Iterable[Sequence[int]]) -> Sequence[int]:
        """Return the units whose counts behind a rate are not the same in all their rows."""
        counts = self.counts()
        return [
            unit for unit, of_unit in enumerate(rows) if len({counts.get(row, ()) for row in of_unit}) > 1
        ]

    def total(self, times: Sequence[int]) -> list[float]:
        """Return the sum of the counts, given how many units have each row."""
        columns = map(self._rates.column, self.terms)
        return [_sum([count * times[row] for row, count in column.items()]) for column in columns]

    def without(self, times: Sequence[int]) -> Without:
        """Return the rates without single units, given how many units have each row; the last are kept."""
        if self._last is None or self._last[0] is not times:
            self._last = times, self._without(times)
        return self._last[1]

    def _without(self, times: Sequence[int]) -> Without:
        (rows, places, distinct), total = self._rows, self.total(times)
        rests = [*([*map(sub, total, counts)] for counts in distinct), total]
        return _without(rows, places, times, rests, self.values(rests))

    def forget(self) -> None:
        """Do not keep what can be computed again."""
        self.__dict__.pop("_rows", None)
        self._last = None


class CountedRates(EntryRates):
    """Rates that follow from `Counts`."""

    def values(self, counts: Sequence[Numbers]) -> list[Sequence[float]]:
        zero = math.nan if any(map(math.isnan, self._nothing)) else 0.0
        recalls = [tp_gold / gold if gold else zero for gold, _, tp_gold, _ in counts]
        precisions = [
            tp_predicted / predicted if predicted else zero for _, predicted, _, tp_predicted in counts
        ]
        empty = [place for place, (gold, predicted, *_) in enumerate(counts) if not gold and not predicted]
        rates: list[Sequence[float]] = []
        for path, nothing in zip(self.paths, self._nothing, strict=True):
            name = path[-1]
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


class Share(EntryRates):
    """A rate that is the recall of its own `Counts`."""

    def values(self, counts: Sequence[Numbers]) -> list[Sequence[float]]:
        (nothing,) = self._nothing
        return [
            [
                tp_gold / gold if gold else 0.0 if predicted else nothing
                for gold, predicted, tp_gold, *_ in counts
            ]
        ]


class MemberOfMean(NamedTuple):
    """One of the rates, or of several, of which a mean is made; `always`: it is one of them without spans, too."""

    rates: EntryRates
    numbers: Sequence[int]
    always: bool

    def values_in(self, by_rate: Sequence[Sequence[float]]) -> list[Sequence[float]]:
        """Return its own of some rates."""
        return [by_rate[number] for number in self.numbers]


class MeanRates(EntryRates):
    """Means of the rates of members that occur; `by_gold`: weighted by their gold spans."""

    def __init__(
        self, rates: Rates, paths: Sequence[Path], members: Sequence[MemberOfMean], *, by_gold: bool
    ) -> None:
        super().__init__(rates, paths, list(chain.from_iterable(member.rates.terms for member in members)))
        self._members, self._by_gold = members, by_gold

    def _weight(self, counts: Numbers, always: bool) -> float:
        return counts[0] if self._by_gold else int(always or any(counts))

    def values(self, counts: Sequence[Numbers]) -> list[Sequence[float]]:
        weights, by_member, first = [], [], 0
        for member in self._members:
            past = first + len(member.rates.terms)
            of_member = [row[first:past] for row in counts]
            first = past
            weights.append([self._weight(row, member.always) for row in of_member])
            by_member.append(member.values_in(member.rates.values(of_member)))
        wholes = [_sum(of_members) for of_members in zip(*weights, strict=True)]
        means: list[Sequence[float]] = []
        for place, nothing in enumerate(self._nothing):
            parts = [
                map(mul, values[place], of_member)
                for values, of_member in zip(by_member, weights, strict=True)
            ]
            sums = map(math.fsum, zip(*parts, strict=True))
            means.append(
                [part / whole if whole else nothing for part, whole in zip(sums, wholes, strict=True)]
            )
        return means

    def _without(self, times: Sequence[int]) -> Without:
        """Add to the sums over members what changes in those that a row has, so that each row costs its own labels."""
        wholes: list[float] = []  # the weight of each member
        parts: list[list[float]] = [[] for _ in self.paths]  # its rates times its weight
        # what changes without a unit, by row and member
        changes = defaultdict[int, list[tuple[float, Sequence[float]]]](list)
        for member in self._members:
            without = member.rates.without(times)
            weights: list[float] = [1] * len(without.units)
            if self._by_gold or not member.always:
                weights = [self._weight(rest, member.always) for rest in without.rests]
            by_rate = [list(map(mul, rates, weights)) for rates in member.values_in(without.rates)]
            wholes.append(weights[-1])
            for of_rate, products in zip(parts, by_rate, strict=True):
                of_rate.append(products[-1])
            less = [-products[-1] for products in by_rate]
            of_places = [
                (weight - weights[-1], [*products, *less])
                for weight, *products in zip(weights, *by_rate, strict=True)
            ]
            for row, place in zip(without.rows, without.places, strict=True):
                changes[row].append(of_places[place])
        whole, sums = _sum(wholes), list(map(_exact_parts, parts))
        means: list[list[float]] = [[] for _ in self.paths]
        for of_row in [*changes.values(), []]:
            rest = whole + sum([weight for weight, _ in of_row])
            for number, values in enumerate(means):
                terms = [change for _, by_rate in of_row for change in by_rate[number :: len(means)]]
                values.append(math.fsum(sums[number] + terms) / rest if rest else self._nothing[number])
        return _without(array("i", changes), range(len(changes)), times, (), means)


class ScoredRates(EntryRates):
    """The rates that the metric computes, from the counts of all keys."""

    def values(self, counts: Sequence[Numbers]) -> list[Sequence[float]]:
        rows, places = _distinct_items(map(tuple, counts))
        by_rate = self._rates.scored(rows, self.paths)  # type: ignore[arg-type]  # whole numbers
        return [[values[place] for place in places] for values in by_rate]

    def differing(self, path: Path, rows: Iterable[Sequence[int]]) -> Sequence[int]:
        hashes = self._hashes[path[:-1]]
        return [unit for unit, of_unit in enumerate(rows) if len({hashes[row] for row in of_unit}) > 1]

    @cached_property
    def _hashes(self) -> Mapping[Path, Sequence[int]]:
        """By entry and row, the hash of the numbers of the entry if all units and one more, with this row, are scored.

        The entry of a unit alone does not show its counts: not every threshold, for instance, occurs in every unit.
        """
        hashes: dict[Path, list[int]] = {path[:-1]: [] for path in self.paths}
        total = self.total(self._rates.times[self._rates.whole])
        for row in self._rates.rows:
            counts = total.copy()
            for key, count in pairs_in(row):
                counts[key] += count
            report = self._rates.metric.scores(self._rates.tally(counts), self._rates.layers)
            for path, of_rows in hashes.items():
                values = [item for item in entry_at(report, path).items() if type(item[1]) in PLAIN]
                of_rows.append(hash(repr(values)))  # as text, NaN is equal to NaN
        return hashes

    def _without(self, times: Sequence[int]) -> Without:
        """Take the units of one row after another from the sum, since all keys of all rows would not fit in memory."""
        total = self.total(times)
        numbers = [row for row, counts in enumerate(self._rates.rows) if counts and times[row]]

        def rests() -> Iterator[list[float]]:
            for row in numbers:
                rest = total.copy()
                for key, count in pairs_in(self._rates.rows[row]):
                    rest[key] -= count
                yield rest
            yield total

        by_rate = self._rates.scored(rests(), self.paths)  # type: ignore[arg-type]  # whole numbers
        return _without(numbers, range(len(numbers)), times, (), by_rate)


def _distinct_items(items: Iterable[tuple[float, ...]]) -> tuple[list[tuple[float, ...]], list[int]]:
    """Return the items that differ, and the place of each item among them."""
    numbers: dict[tuple[float, ...], int] = {}
    places = [numbers.setdefault(item, len(numbers)) for item in items]
    return list(numbers), places


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

_MEANS: Mapping[Path, bool] = {("macro",): False, ("weighted",): True}
"""The names of entries whose rates are means over the entries of labels, and whether gold weighs these."""

_LABELS = [(section,) for section in LABELS_BELOW]
"""The sections of the entries of labels."""
