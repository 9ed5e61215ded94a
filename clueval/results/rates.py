"""The rates of a report, computed for many corpora: without each unit, resampled, with units swapped.

A rate is a number of a report that is recognised by its name. The rates of headlines, and of other entries with the
four counts, follow from `Counts`; means over labels follow from the `Counts` of the labels; for all others the metric
makes a report of each corpus.

A unit weighs in a rate what it adds to the gold or the predicted spans of the rate's entry. These numbers are columns:
each has a number for those units, or rows of equal ones, that have spans of the entry, so that all columns together are
as large as the reports on all rows alone.
"""

from __future__ import annotations

import math
import re
from array import array
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import chain
from operator import mul
from typing import Any, TypeVar

from clueval.core.bag import pairs_in
from clueval.core.metric import AnyMetric
from clueval.core.tally import Tally, f_measure, rate
from clueval.results.units import CountsByUnit
from clueval.statistics.jackknife import effective_number

Path = tuple[str, ...]

Entry = tuple[Path, Sequence[str]]
"""The path of a dictionary of a report, and the names of its rates."""

Column = Mapping[int, float]
"""A number in each row of counts in which it is not 0."""

Row = tuple[tuple[int, float], ...]
"""The counts of a row that are not 0, with the numbers of their columns."""

# Names

_WORDS = r"precision|recall|accuracy|rate|f\d+(?:\.\d+)?"
_RATE = re.compile(rf"(?:^|_)(?:{_WORDS})(?:_|$)")
_PLAIN = frozenset((int, float, str, type(None)))
"""Types of most values of a report; whether a value is a mapping takes longer to ask."""


@cache
def _is_name_of_rate(name: str) -> bool:
    return _RATE.search(name) is not None


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
    return (type(value) is float or value is None) and _is_name_of_rate(name)


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

_ReadWithout = tuple[list[int], Mapping[Path, Mapping[str, Sequence[float]]], list[int]]
"""Rows without whose units rates may differ, the rates without units that differ, and which of these each row has."""


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
        self._without: dict[tuple[tuple[int, ...], int], _ReadWithout] = {}
        self.everywhere = self.times(self.parts[0])
        self.total = self.sums(self.everywhere)
        self.report = metric.scores(self.tally(enumerate(self.total)), layers)
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
        sums = [0] * len(self.keys)
        for row, number in zip(self.rows, times, strict=True):
            for key, count in pairs_in(row):
                sums[key] += count * number
        return sums

    def tally(self, counts: Iterable[tuple[int, int]]) -> Tally:
        """Return the tally of these counts, each with the number of its key."""
        return Tally({self.keys[key]: count for key, count in counts if count})

    def scored(self, tallies: Iterable[Tally], entries: Sequence[Entry]) -> list[array[float]]:
        """Return each rate of some entries in each corpus; NaN where it is undefined.

        The rates of an entry that is not in the report, because the corpus has no span of it, are 0/0.
        """
        paths = [(*path, name) for path, names in entries for name in names]
        rates = array("d")
        for tally in tallies:
            values = _rates_in(self.metric.scores(tally, self.layers), entries)
            if math.isnan(sum(values)):
                for place, value in enumerate(values):
                    if math.isnan(value) and self.sizes.are_zero(paths[place], tally):
                        values[place] = self.nothing.get(paths[place][-1], math.nan)
            rates.extend(values)
        return [rates[place :: len(paths)] for place in range(len(paths))]

    def without(
        self, keys: Sequence[int], times: Sequence[int], entry: Entry
    ) -> tuple[Sequence[int], list[Sequence[float]]]:
        """Return what `EntryRates.without` does, for an entry whose rates follow from the counts of some keys.

        All entries that are in a report on these keys are read at once, because a report costs more than reading it.
        """
        place = tuple(keys), id(times)
        if place not in self._without or not self._without[place][1].get(entry[0], {}).keys() >= {*entry[1]}:
            among = {*keys}
            parts = {
                number: part
                for number, row in enumerate(self.rows)
                if (part := tuple((key, count) for key, count in pairs_in(row) if key in among))
            }
            distinct, places = _distinct_items([*parts.values(), ()])
            whole = dict.fromkeys(keys, 0)
            for number, part in parts.items():
                for key, count in part:
                    whole[key] += count * times[number]
            entries = dict(entries_of(self.metric.scores(self.tally(whole.items()), self.layers)))
            entries[entry[0]] = tuple(dict.fromkeys([*entry[1], *entries.get(entry[0], ())]))
            rests = ({**whole, **{key: whole[key] - count for key, count in part}} for part in distinct)
            rates = iter(self.scored((self.tally(rest.items()) for rest in rests), [*entries.items()]))
            of_paths = {path: {name: next(rates) for name in names} for path, names in entries.items()}
            self._without[place] = list(parts), of_paths, places
        rows, by_path, places = self._without[place]
        of_entry = by_path[entry[0]]
        return rows, [[of_entry[name][number] for number in places] for name in entry[1]]

    @cached_property
    def nothing(self) -> Mapping[str, float]:
        """What the metric makes of 0/0 in each rate, by its name."""
        report = self.metric.scores(Tally(), self.layers)
        entries = list(entries_of(report))
        names = [name for _, of_entry in entries for name in of_entry]
        return dict(zip(reversed(names), reversed(_rates_in(report, entries)), strict=True))

    @cached_property
    def weighted(self) -> Sequence[int]:
        """The sum of each key over all rows, each with another weight."""
        return self.sums(range(1, len(self.rows) + 1))

    @cached_property
    def wholes(self) -> list[tuple[Sequence[int], Mapping[str, Any]]]:
        """The sums of all parts, and last of all rows with different weights, each with its report."""
        sums = [*(self.sums(self.times(part)) for part in self.parts), self.weighted]
        return [(counts, self.metric.scores(self.tally(enumerate(counts)), self.layers)) for counts in sums]

    @cached_property
    def keys_named(self) -> Mapping[Any, Sequence[int]]:
        """The numbers of the keys that have each name, such as a label."""
        numbers: dict[Any, list[int]] = {}
        for number, key in enumerate(self.keys):
            for name in dict.fromkeys(key[1:] or key):
                numbers.setdefault(name, []).append(number)
        return numbers

    @cached_property
    def sizes(self) -> EntrySizes:
        """What units weigh in each rate."""
        return EntrySizes(self)


# Sizes

_Place = str | tuple[Path, str]
"""An entry, as the path of its sizes; or the path of an entry and the kind of its rates, as that of its counts."""

_Measures = Mapping[_Place, Sequence[float]]

_ROUNDING = 1e-9

_DIGITS = 12
"""To how many decimals a product of a rate and a size is rounded."""


class EntrySizes:
    """What units weigh in the rates of each entry of a report, and the counts from which the rates follow."""

    def __init__(self, rates: Rates) -> None:
        self._rates = rates
        whole, weighted = (rates.tally(enumerate(sums)) for sums in (rates.total, rates.weighted))
        self._whole, self._weighted = self._measure(whole), self._measure(weighted)
        self._path_of = {".".join(place[0]): place[0] for place in self._whole if isinstance(place, tuple)}
        brief = [
            {place for place, numbers in self._in_brief(tally).items() if measured.get(place) == numbers}
            for tally, measured in ((whole, self._whole), (weighted, self._weighted))
        ]
        self._brief = set.intersection(*brief)
        # gold and predicted spans may be equal in all units here, but with more of each key they are not
        more = rates.tally((key, count + (key + 1) ** 2) for key, count in enumerate(rates.total))
        self._apart = {place for place, sizes in self._measure(more).items() if sizes[0] != sizes[1]}
        self._columns: dict[tuple[str | None, tuple[int, ...]], Column] = {}
        self._shared: dict[tuple[tuple[int, float], ...], Column] = {}
        self._weights: dict[int, tuple[int, float]] = {}
        self._last: tuple[Tally | None, _Measures] = None, {}

    def _measure(self, tally: Tally) -> _Measures:
        """Return the gold and the predicted spans of entries, by their paths, and the counts of kinds of rates.

        Counts are those of a headline, or the rates times the sizes.
        """
        metric, layers = self._rates.metric, self._rates.layers
        headlines = metric.headlines(tally, layers)
        measured: dict[_Place, Sequence[float]] = {}
        measured.update(metric.sizes(tally, layers))
        for path, entry in _dictionaries(metric.scores(tally, layers)):
            text = ".".join(path)
            sizes = entry.get("gold"), entry.get("predicted")
            if text not in measured and all(isinstance(size, int | float) for size in sizes):
                measured[text] = sizes  # type: ignore[assignment]  # numbers
            for name in entry:
                if not name.startswith("precision"):
                    continue
                kind = name.removeprefix("precision")
                if kind_of(name) != kind or f"recall{kind}" not in entry:
                    continue
                if text in headlines and kind in ("", "_strict"):
                    measured[path, kind] = headlines[text]
                elif text in measured:
                    rates = (entry[f"{rate_name}{kind}"] or 0.0 for rate_name in ("recall", "precision"))
                    measured[path, kind] = (*measured[text], *map(_round, map(mul, rates, measured[text])))
        return measured

    def _in_brief(self, tally: Tally) -> _Measures:
        """Return those of the numbers of `_measure` that need no report, and others that may differ from it."""
        metric, layers = self._rates.metric, self._rates.layers
        measured: dict[_Place, Sequence[float]] = {}
        for text, counts in metric.headlines(tally, layers).items():
            measured[text] = counts[:2]
            if text in self._path_of:
                measured.update({(self._path_of[text], kind): counts for kind in ("", "_strict")})
        measured.update(metric.sizes(tally, layers))
        return measured

    def _rows(self, place: _Place) -> Mapping[int, Sequence[float]]:
        """Return the numbers of a place in each row in which one is not 0."""
        return (self._rows_in_brief if place in self._brief else self._all_rows).get(place, {})

    @cached_property
    def _rows_in_brief(self) -> Mapping[_Place, Mapping[int, Sequence[float]]]:
        return self._by_row(self._in_brief)

    @cached_property
    def _all_rows(self) -> Mapping[_Place, Mapping[int, Sequence[float]]]:
        return self._by_row(self._measure)

    def _by_row(self, measure: Callable[[Tally], _Measures]) -> dict[_Place, dict[int, Sequence[float]]]:
        by_place: dict[_Place, dict[int, Sequence[float]]] = {}
        for number, row in enumerate(self._rates.rows):
            for place, numbers in measure(self._rates.tally(pairs_in(row))).items():
                if any(numbers):
                    by_place.setdefault(place, {})[number] = numbers
        return by_place

    def counts(self, entry: Path, kind: str) -> Mapping[int, Sequence[float]] | None:
        """Return the counts from which the rates of a kind follow, by row, without zeros; None if they have none.

        The product of a rate and a size is no count, unless the size is the denominator of the rate: those of a mean
        over labels do not add up.
        """
        place = entry, kind
        if place not in self._whole:
            return None
        rows = self._rows(place)
        for times, whole in (
            (self._rates.everywhere, self._whole[place]),
            (range(1, len(self._rates.rows) + 1), self._weighted.get(place, ())),
        ):
            columns = zip(*rows.values(), strict=True) if rows else ((),) * len(whole)
            of_rows = [times[row] for row in rows]
            sums = [math.fsum(map(mul, column, of_rows)) for column in columns]
            if len(sums) != len(whole) or not all(map(_are_close, sums, whole)):
                return None
        return rows

    def _place_of(self, path: Path) -> str | None:
        """Return the entry whose sizes count for a rate.

        It is the rate's own, the nearest one above that has sizes, or its ``micro``; otherwise the first of all.
        """
        for end in range(len(path) - 1, -1, -1):
            for entry in (path[:end], (*path[:end], "micro")):
                if (place := ".".join(entry)) in self._whole:
                    return place
        return next((place for place in self._whole if isinstance(place, str)), None)

    def column(self, path: Path, sides: tuple[int, ...]) -> Column:
        """Return the spans of some sides that a rate is about; equal columns are one object.

        If no entry has sizes, every unit in which something was counted weighs the same.
        """
        place = self._place_of(path)
        if (place, sides) not in self._columns:
            if place is None:
                column: Column = {row: 1 for row, counts in enumerate(self._rates.rows) if counts}
            else:
                sums = {row: sum(sizes[side] for side in sides) for row, sizes in self._rows(place).items()}
                column = {row: size for row, size in sums.items() if size}
            self._columns[place, sides] = self._shared.setdefault(tuple(column.items()), column)
        return self._columns[place, sides]

    def weighing(self, path: Path) -> Column:
        """Return what each row weighs for a rate: gold spans for recall, predicted ones for precision, else both."""
        sides = {"recall": (0,), "precision": (1,)}
        return self.column(path, next((sides[name] for name in sides if path[-1].startswith(name)), (0, 1)))

    def weights(self, path: Path) -> tuple[int, float]:
        """Return the number of units in which the denominator of a rate is not 0, and the effective number."""
        column = self.weighing(path)
        if id(column) not in self._weights:
            times = [self._rates.everywhere[row] for row in column]
            self._weights[id(column)] = sum(times), effective_number(list(column.values()), times)
        return self._weights[id(column)]

    def tells_sides_apart(self, path: Path) -> bool:
        """Return whether a rate is about other spans on the gold side than on the predicted side."""
        return self._place_of(path) in self._apart

    def are_zero(self, path: Path, tally: Tally) -> bool:
        """Return whether nothing that a rate is about is in a tally."""
        place = self._place_of(path)
        if place is None:
            return not tally
        if self._last[0] is not tally:  # all paths are asked of one tally before the next
            self._last = tally, self._measure(tally)
        return not any(self._last[1].get(place, ()))


def _are_close(first: float, second: float) -> bool:
    return math.isclose(first, second, rel_tol=_ROUNDING, abs_tol=_ROUNDING)


def _round(number: float) -> float:
    value = round(number, _DIGITS)
    return int(value) if value.is_integer() else value


# One entry

Numbers = Sequence[float]
"""Counts from which the rates of an entry follow, in columns."""


class EntryRates:
    """Rates of one entry of a report that follow from the same counts.

    Attributes:
        names: of the rates.
        width: the number of columns of counts.
        rows: the counts of each row that has some; units in which they are the same do not differ.
    """

    names: Sequence[str]
    width: int
    rows: Mapping[int, Row]

    def values(self, counts: Sequence[Numbers]) -> list[Sequence[float]]:
        """Return each rate in each corpus, given its counts; NaN where it is undefined."""
        raise NotImplementedError

    def total(self, times: Sequence[int]) -> list[float]:
        """Return the sum of the counts, given how many units have each row."""
        columns: list[list[float]] = [[] for _ in range(self.width)]
        for number, row in self.rows.items():
            for column, count in row:
                columns[column].append(count * times[number])
        return list(map(_sum, columns))

    def without(self, times: Sequence[int]) -> tuple[Sequence[int], list[Sequence[float]]]:
        """Return the rows without whose units the rates may differ, given how many units have each row.

        And each rate without a unit of each of these rows, and last without another unit.
        """
        total = self.total(times)
        rows, places = _distinct_items([*self.rows.values(), ()])
        rates = self.values([_subtract(total, row) for row in rows])
        return list(self.rows), [[values[place] for place in places] for values in rates]


class CountedRates(EntryRates):
    """Rates that follow from `Counts`; `nothing` is what each is if both sides are empty."""

    width = 4

    def __init__(
        self, names: Sequence[str], counts: Mapping[int, Sequence[float]], nothing: Sequence[float]
    ) -> None:
        self.names, self._nothing = names, nothing
        self.rows = {
            number: tuple((column, count) for column, count in enumerate(row) if count)
            for number, row in counts.items()
        }

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
    """Means of the rates of labels that occur; `by_gold`: weighted by their gold spans. They are 0 without labels."""

    def __init__(self, labels: Sequence[CountedRates], by_gold: bool) -> None:
        self.names, self._labels, self._by_gold = labels[0].names, labels, by_gold
        self.width = 4 * len(labels)
        rows: dict[int, list[tuple[int, float]]] = {}
        for number, label in enumerate(labels):
            for row, counts in label.rows.items():
                rows.setdefault(row, []).extend((4 * number + column, count) for column, count in counts)
        self.rows = {row: tuple(rows[row]) for row in sorted(rows)}

    def _weight(self, counts: Numbers) -> float:
        gold, predicted, *_ = counts
        return gold if self._by_gold else int(gold + predicted > 0)

    def values(self, counts: Sequence[Numbers]) -> list[Sequence[float]]:
        weights, by_label = [], []
        for number, label in enumerate(self._labels):
            label_counts = [row[4 * number : 4 * number + 4] for row in counts]
            weights.append(list(map(self._weight, label_counts)))
            by_label.append(label.values(label_counts))
        wholes = [_sum(of_labels) for of_labels in zip(*weights, strict=True)]
        means: list[Sequence[float]] = []
        for place in range(len(self.names)):
            parts = [
                map(mul, values[place], label_weights)
                for values, label_weights in zip(by_label, weights, strict=True)
            ]
            sums = map(math.fsum, zip(*parts, strict=True))
            means.append([rate(part, whole) for part, whole in zip(sums, wholes, strict=True)])
        return means

    def without(self, times: Sequence[int]) -> tuple[Sequence[int], list[Sequence[float]]]:
        """Add to the sum over labels what changes in those that a row has, so that each row costs its own labels."""
        wholes: list[float] = []  # the weight of each label
        parts: list[list[float]] = [[] for _ in self.names]  # its rates times its weight
        changes: dict[int, list[tuple[float, Sequence[float]]]] = {row: [] for row in self.rows}
        for label in self._labels:
            total = label.total(times)
            counts = [total, *(_subtract(total, row) for row in label.rows.values())]
            weights = list(map(self._weight, counts))
            by_rate = [list(map(mul, values, weights)) for values in label.values(counts)]
            wholes.append(weights[0])
            for of_rate, products in zip(parts, by_rate, strict=True):
                of_rate.append(products[0])
            for place, row in enumerate(label.rows, 1):
                terms = [term for products in by_rate for term in (products[place], -products[0])]
                changes[row].append((weights[place] - weights[0], terms))
        whole, sums = _sum(wholes), list(map(_exact_parts, parts))
        means: list[list[float]] = [[] for _ in self.names]
        for of_row in [*changes.values(), []]:
            rest = _sum([whole, *(change for change, _ in of_row)])
            for place, values in enumerate(means):
                changed = chain(*(terms[2 * place : 2 * place + 2] for _, terms in of_row))
                values.append(rate(math.fsum([*sums[place], *changed]), rest))
        return list(self.rows), [*means]


class ScoredRates(EntryRates):
    """Rates that the metric computes; units that differ have other counts of a key on which a rate depends.

    If the rates of a part of the units depend on other keys, too, all keys count.
    """

    def __init__(self, rates: Rates, entry: Entry) -> None:
        self.names = entry[1]
        self._rates, self._entry = rates, entry
        every: Sequence[int] = range(len(rates.keys))
        keys, scored_keys = self._keys_behind()  # the rates are computed from `scored_keys`
        if not self._follow_from(scored_keys):
            scored_keys = every
        if not self._follow_from(keys, scored_keys):
            keys = scored_keys = every
        self._keys, self._scored_keys = keys, scored_keys
        self.width = len(keys)
        columns = {key: column for column, key in enumerate(keys)}
        self.rows = {}
        for number, row in enumerate(rates.rows):
            of_keys = tuple((columns[key], count) for key, count in pairs_in(row) if key in columns)
            if of_keys:
                self.rows[number] = of_keys

    def values(self, counts: Sequence[Numbers]) -> list[Sequence[float]]:
        """Score the counts; those of keys on which no rate depends stay as they are in all units."""
        rates = self._rates
        rows, places = _distinct_items(map(tuple, counts))
        rest: dict[int, Any] = {key: rates.total[key] for key in self._scored_keys}  # whole numbers
        tallies = (rates.tally({**rest, **dict(zip(self._keys, row, strict=True))}.items()) for row in rows)
        by_rate = rates.scored(tallies, [self._entry])
        return [[values[place] for place in places] for values in by_rate]

    def without(self, times: Sequence[int]) -> tuple[Sequence[int], list[Sequence[float]]]:
        every = range(len(self._rates.keys))  # if most keys count, the reports serve other entries, too
        keys = self._scored_keys if 2 * len(self._scored_keys) < len(every) else every
        return self._rates.without(keys, times, self._entry)

    def _keys_behind(self) -> tuple[Sequence[int], Sequence[int]]:
        """Return the numbers of the keys on which the rates depend: with more of one, or none, they differ.

        And those of all labels on which they depend: without a unit, rates may depend on more of their keys.
        """
        path = self._entry[0]
        groups = list(self._rates.keys_named.values())
        of_label: Sequence[int] = self._rates.keys_named.get(path[-1], ()) if path else ()
        if of_label and self._follow_from(of_label):
            groups = [of_label]
        named = sorted({*chain(*self._groups_that_matter(groups))})
        return [key for (key,) in self._groups_that_matter([[key] for key in named])], named

    def _follow_from(self, keys: Sequence[int], others: Sequence[int] | None = None) -> bool:
        """Return whether the rates follow from the counts of some keys in each of `Rates.wholes`.

        Other keys are left out; with `others`, these are as in the total, and only parts are compared.
        """
        wholes = self._rates.wholes if others is None else self._rates.wholes[:-1]
        always = {key: self._rates.total[key] for key in others or ()}
        return all(
            self._text_of({**always, **{key: counts[key] for key in keys}})
            == repr(_rates_in(report, [self._entry]))
            for counts, report in wholes
        )

    def _groups_that_matter(self, groups: Sequence[Sequence[int]]) -> list[Sequence[int]]:
        """Return the groups of keys that change the rates; the halves of those that do are tested."""
        among = sorted({*chain(*groups)})
        wholes = [{key: counts[key] for key in among} for counts, _ in self._rates.wholes[:-1]]
        before = [(whole, self._text_of(whole)) for whole in wholes]
        changing: list[Sequence[int]] = []
        waiting = [groups]
        while waiting:
            some = waiting.pop()
            keys = list(chain(*some))
            if not keys or not any(
                self._text_of(changed) != text
                for whole, text in before
                for changed in (  # without the keys, and with more of each, but of no two as many
                    {**whole, **dict.fromkeys(keys, 0)},
                    {**whole, **{key: whole[key] + number for number, key in enumerate(keys, 1)}},
                )
            ):
                continue
            if len(some) == 1:
                changing += some
            else:
                waiting += [some[len(some) // 2 :], some[: len(some) // 2]]
        return changing

    def _text_of(self, counts: Mapping[int, int]) -> str:
        """Return the rates, given how often each key was counted, as text: NaN is equal to NaN."""
        rates = self._rates
        return repr(_rates_in(rates.metric.scores(rates.tally(counts.items()), rates.layers), [self._entry]))


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
    return math.fsum(numbers) if any(isinstance(number, float) for number in numbers) else sum(numbers)


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


def entry_rates(rates: Rates, path: Path) -> EntryRates:
    """Return the rates of an entry that follow from the same counts as the one at a path."""
    entry, kind = path[:-1], kind_of(path[-1])
    report = entry_at(rates.report, entry)
    names = [name for name, value in report.items() if is_rate(name, value) and kind_of(name) == kind]
    nothing = [rates.nothing.get(name, math.nan) for name in names]
    if all(map(_NAME.fullmatch, names)) and not any(map(math.isnan, nothing)):
        before, last = entry[:-1], entry[-1]
        labels = entry_at(rates.report, (*before, "per_label")) if last in _MEANS else ()
        entries = [(*before, "per_label", label) for label in labels] or [entry]
        counts = [rates.sizes.counts(label_path, kind) for label_path in entries]
        counted = [CountedRates(names, of_entry, nothing) for of_entry in counts if of_entry is not None]
        if len(counted) == len(entries):
            counted_rates = MeanRates(counted, _MEANS[last]) if labels else counted[0]
            whole = counted_rates.values([counted_rates.total(rates.everywhere)])
            if all(
                report[name] is not None and abs(report[name] - value) <= _CLOSE
                for name, (value,) in zip(names, whole, strict=True)
            ):
                return counted_rates
    return ScoredRates(rates, (entry, names))
