"""Tests of several systems on the same gold: is one better than another, and by how much?

Every score has an interval in each system, and the difference to the first system, the baseline, has a p-value by
paired approximate randomisation, an interval, and the difference that this test set can show. Several runs of a system
are tested by t, with the spread over units and over runs. `clueval.statistics` has the formulas.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, NamedTuple

from clueval.core.count import DOCUMENT
from clueval.files.errors import UsageError
from clueval.results.entries import EntryRates, entry_rates
from clueval.results.intervals import UNDEFINED, UNDEFINED_WITHOUT
from clueval.results.options import Trust
from clueval.results.rates import Path, Rates, entry_at
from clueval.results.units import CountsByUnit, Units
from clueval.statistics.distributions import t_below
from clueval.statistics.jackknife import (
    Interval,
    degrees_of_freedom,
    detectable,
    difference_jackknife,
    effective_number,
    logit_interval,
    logit_jackknife,
    rounded,
    spread_of,
    standard_deviation,
    standard_error,
)
from clueval.statistics.resampling import (
    MOST_FOR_ALL_SWAPS,
    SWAP,
    all_swapped_sums,
    exact_p,
    holm,
    sampled_p,
    weighted_sums,
)

# Systems that can be compared


@dataclass(frozen=True, slots=True)
class ComparedUnits:
    """The units of all runs of all systems that are compared.

    Attributes:
        runs: by the name of each system, the units of each run.
        keys: the keys of the units that are compared.
        left_out: the number of units of each system that are not in all results with the same text.
    """

    runs: Mapping[str, Sequence[Units]]
    keys: Sequence[str]
    left_out: Mapping[str, int]


def comparable(systems: Mapping[str, Sequence[Units | None]]) -> ComparedUnits:
    """Return the units of systems, each with its runs, that can be compared; None: a result has no counts by unit.

    Documents are compared if all results have them, with the same number of positions; other units must all be the
    same. Raises `UsageError` for results that differ in metrics, sequences, units or texts.
    """
    known = {name: [require_for_tests(units, name) for units in runs] for name, runs in systems.items()}
    named = [(name, units) for name, runs in known.items() for units in runs]
    first_name, first = named[0]
    for name, units in named:
        _require_same_counting(first, units, f"{first_name} and {name}")
        if units.by != DOCUMENT:
            _require_same_units(first, units, f"{first_name} and {name}")
    texts = [dict(zip(units.keys, units.positions, strict=True)) for _, units in named]
    keys = [key for key, size in texts[0].items() if all(other.get(key) == size for other in texts[1:])]
    if len(keys) < 2:
        raise UsageError(
            f"a test needs several units, and the systems have {len(keys) or 'no'} {first.by} in common",
            advice="score the same documents",
        )
    left_out = {
        name: len({*chain(*(units.keys for units in runs))} - {*keys}) for name, runs in known.items()
    }
    return ComparedUnits(known, keys, left_out)


def require_for_tests(units: Units | None, name: str) -> Units:
    """Return the units of a result of this name. Raises `UsageError` if there are none, or only one."""
    if units is None or units.by is None:
        raise UsageError(
            f"{name} has no counts by unit",
            advice="score again with resample_by='document', and save the result",
        )
    if len(units.keys) < 2:
        raise UsageError(
            f"a test needs several units, and {name} has {len(units.keys) or 'no'} {units.by}",
            advice="score again with resample_by='sentence', and save the result",
        )
    return units


def _require_same_counting(first: Units, other: Units, names: str) -> None:
    """Raise `UsageError` if the other result lacks a metric or a sequence of the first, or has other units."""
    metrics = {metric.name: metric for metric in other.metrics}
    for metric in first.metrics:
        if metrics.get(metric.name) != metric:
            raise UsageError(
                f"{names} were not both counted by metric {metric.name!r} with the same settings",
                advice="score both with the same options",
            )
    for metric_name, sequence in first.counts:
        if (metric_name, sequence) not in other.counts:
            raise UsageError(
                f"{names} do not both have the layer {sequence!r}", advice="score both with the same options"
            )
    if first.by != other.by:
        raise UsageError(
            f"units of {names} are {first.by} and {other.by}", advice="use the same resample_by for both"
        )


def _require_same_units(first: Units, other: Units, names: str) -> None:
    missing = sorted({*first.keys} ^ {*other.keys})
    if missing:
        raise UsageError(
            f"{names} have different units: {missing[0]!r} is in only one of them"
            + (f", as are {len(missing) - 1} more" if len(missing) > 1 else ""),
            advice="score the same documents",
        )
    own = dict(zip(first.keys, first.positions, strict=True))
    for key, size in zip(other.keys, other.positions, strict=True):
        if own[key] != size:
            raise UsageError(
                f"{names} have different texts: unit {key!r} has {own[key]} and {size} positions",
                advice="score the same documents",
            )


# One rate of one system


class TestedRate:
    """One rate of one system.

    Attributes:
        scores: of the runs; empty if the rate is undefined in one of them.
        score: their mean, None if it is undefined.
        without: the mean without each unit, None if it is undefined without one of them.
        sizes: what each unit weighs, over all runs.
        rows: the numbers of the rows of each unit in all runs.
        times: how many units have each row, by run.
    """

    __test__ = False  # no test of pytest, whatever the name begins with

    def __init__(self, rates: Rates, entry: EntryRates, path: Path, runs: Sequence[range]) -> None:
        self._entry = entry
        self.times = [rates.times(run) for run in runs]
        self.rows = list(zip(*(rates.row_of[run.start : run.stop] for run in runs), strict=True))
        self.scores = [_score(rates, entry, path, times) for times in self.times]
        self.score: float | None = math.fsum(self.scores) / len(runs)
        if math.isnan(self.score):
            self.score, self.scores = None, []
        by_run = [entry.without_each(times)[entry.names.index(path[-1])] for times in self.times]
        means = [
            math.fsum([values[row] for values, row in zip(by_run, rows, strict=True)]) / len(runs)
            for rows in self.rows
        ]
        self.without = None if any(map(math.isnan, means)) else means
        weights = rates.sizes.column(rates.sizes.weighing(path))
        self.sizes = [sum([weights.get(row, 0) for row in rows]) for rows in self.rows]

    def interval(self, confidence: float) -> Interval:
        """Return the interval of the score, or of the mean of the scores of the runs."""
        units, effective = sum(map(bool, self.sizes)), effective_number(self.sizes)
        if self.score is None or self.without is None:
            reason = UNDEFINED if self.score is None else UNDEFINED_WITHOUT
            return Interval(None, None, None, units, effective, reason)
        if len(self.scores) == 1 or units < 2 or not 0 < self.score < 1:
            return logit_jackknife(self.score, self.without, units, effective, confidence)
        spread = spread_of(standard_error(self.without), effective, [self.scores])
        se = math.sqrt(spread.variance)
        return logit_interval(self.score, se, spread.df, units, effective, confidence)

    def units_that_differ(self, other: TestedRate) -> list[int]:
        """Return the units whose counts behind the rate are not the same in all runs of both systems."""
        counts = self._entry.rows
        return [
            unit
            for unit, (own, others) in enumerate(zip(self.rows, other.rows, strict=True))
            if len({counts.get(row, ()) for row in {*own, *others}}) > 1
        ]

    def shares(self, other: TestedRate) -> Iterator[tuple[float, int]]:
        """Yield for each unit how much of the difference to another system depends on it; nothing if undefined."""
        if self.score is None or other.score is None or self.without is None or other.without is None:
            return
        difference = other.score - self.score
        for unit, change in enumerate(_differences(self.without, other.without)):
            yield difference - change, unit


def _score(rates: Rates, entry: EntryRates, path: Path, times: Sequence[int]) -> float:
    """Return a rate of a run; NaN if it is undefined."""
    report = entry_at(rates.metric.scores(rates.tally(rates.sums(times)), rates.layers), path[:-1])
    if report:
        return math.nan if report.get(path[-1]) is None else report[path[-1]]
    (value,) = entry.values([entry.total(times)])[entry.names.index(path[-1])]
    return value


def _differences(own: Sequence[float], other: Sequence[float]) -> list[float]:
    """Return the differences of the scores of two systems, one by one."""
    return [two - one for one, two in zip(own, other, strict=True)]


def _effective(own: TestedRate, other: TestedRate) -> float:
    """Return the effective number of units of two systems together."""
    return effective_number([one + two for one, two in zip(own.sizes, other.sizes, strict=True)])


# All rates of all systems


class DropTest(NamedTuple):
    """A test of whether a score has fallen: its name and its p-value, None if it cannot be computed."""

    test: str
    p: float | None


class Comparing:
    """Tests of systems that can be compared; paths begin with the metric and the sequence.

    `detect` is a difference: the number of units that it takes to show it is computed. `several_golds` says that gold
    was chosen for each system, which the error for different gold spans names.
    """

    def __init__(
        self,
        compared: ComparedUnits,
        trust: Trust,
        detect: float | None = None,
        *,
        several_golds: bool = False,
    ) -> None:
        self._names, self._trust, self._detect = [*compared.runs], trust, detect
        self._several_golds = several_golds
        self._runs = list(chain.from_iterable(compared.runs.values()))
        self._keys = compared.keys
        self._members: list[list[range]] = []
        starts = iter(range(0, len(self._runs) * len(self._keys), len(self._keys)))
        for runs in compared.runs.values():
            firsts = islice(starts, len(runs))
            self._members.append([range(start, start + len(self._keys)) for start in firsts])
        numbered = [{key: number for number, key in enumerate(units.keys)} for units in self._runs]
        self._places = [[numbers[key] for key in self._keys] for numbers in numbered]
        self._rates: dict[tuple[str, str], Rates] = {}
        self._entries: dict[Path, EntryRates] = {}
        self._swapped: dict[tuple[int, int], list[list[float]]] = {}

    def reports(self) -> dict[str, dict[str, Any]]:
        """Return the reports on all systems together, which name every label that one of them has."""
        return {
            name: {sequence: self._source(name, sequence).report for sequence in sequences}
            for name, sequences in self._runs[0].sequences.items()
        }

    def require_rate(self, text: str, path: Path) -> None:
        """Raise `UsageError` for a number that is no rate."""
        if path[2:] not in self._source(*path[:2]).paths:
            raise UsageError(f"{text} is not a rate", advice="compare precision, recall, F1 or another rate")

    def score(self, text: str, path: Path) -> dict[str, Any]:
        """Return what is said about one score: its value in each system, and the difference to the first one."""
        baseline, *others = tested = self._tested(path)
        values = [self._value(name, one) for name, one in zip(self._names, tested, strict=True)]
        against = [
            {"system": name, **self._difference(path, baseline, one, number)}
            for number, (name, one) in enumerate(zip(self._names[1:], others, strict=True), 1)
        ]
        with_p = [entry for entry in against if entry["p"] is not None]
        for entry, p in zip(with_p, holm([entry["p"] for entry in with_p]), strict=True):
            entry["p_holm"] = rounded(p)
        return {"score": text, "values": values, "against_baseline": against}

    def drop_test(self, path: Path, allowed: float) -> DropTest:
        """Return the test of the hypothesis that a score of the second system is at most `allowed` below the first.

        By randomisation if no drop is allowed; otherwise by t, one-sided.
        """
        own, other = self._tested(path)
        test = "t" if allowed else "randomisation"
        if own.score is None or other.score is None:
            return DropTest(test, None)
        difference = other.score - own.score
        if not allowed:
            p = self._p(path, (own, other), 1, difference, own.units_that_differ(other))
            return DropTest(test, rounded(p))
        if own.without is None or other.without is None:
            return DropTest(test, None)
        se, above = standard_error(_differences(own.without, other.without)), difference + allowed
        t = above / se if se else math.copysign(math.inf, above)
        return DropTest(test, rounded(t_below(t, degrees_of_freedom(_effective(own, other)))))

    def most(self, paths: Iterable[Path], number: int = 20) -> Iterator[dict[str, Any]]:
        """Yield the units that the differences of the F1s among these scores depend on most."""
        for path in paths:
            if not path[-1].startswith("f1"):
                continue
            own, *others = self._tested(path)
            for name, other in zip(self._names[1:], others, strict=True):
                differ = {*own.units_that_differ(other)}
                largest = sorted(own.shares(other), key=lambda share: (-abs(share[0]), share[1]))[:number]
                units = [
                    (self._keys[unit], share, self._runs[0].positions[self._places[0][unit]])
                    for share, unit in largest
                    if unit in differ
                ]
                yield {"score": ".".join(path), "system": name, "units": units}

    def _source(self, metric_name: str, sequence: str) -> Rates:
        """Return the rates of one metric in one sequence of all runs."""
        place = metric_name, sequence
        if place not in self._rates:
            together = CountsByUnit(0)
            for units, places in zip(self._runs, self._places, strict=True):
                counts = units.counts[place]
                rows = list(map(together.row, counts.tallies()))
                together.row_of += [rows[counts.row_of[number]] for number in places]
            first = self._runs[0]
            (metric,) = (metric for metric in first.metrics if metric.name == metric_name)
            layers = first.sequences[metric_name][sequence]
            self._rates[place] = Rates(metric, layers, together, list(chain(*self._members)))
        return self._rates[place]

    def _tested(self, path: Path) -> list[TestedRate]:
        rates = self._source(*path[:2])
        entry = self._entry(path)
        self._require_gold(rates, path[2:])
        return [TestedRate(rates, entry, path[2:], runs) for runs in self._members]

    def _entry(self, path: Path) -> EntryRates:
        """Return the rates of the entry of a rate; those of an entry are computed once."""
        if path not in self._entries:
            entry = entry_rates(self._source(*path[:2]), path[2:])
            for name in entry.names:
                self._entries.setdefault((*path[:-1], name), entry)
        return self._entries[path]

    def _require_gold(self, rates: Rates, path: Path) -> None:
        """Raise `UsageError` if a unit has other gold spans in another system."""
        if not rates.sizes.tells_sides_apart(path):
            return
        golds = rates.sizes.column(rates.sizes.of(path)[:1])
        for number, row in enumerate(rates.row_of):
            unit = number % len(self._keys)
            if golds.get(row, 0) != golds.get(rates.row_of[unit], 0):
                raise self._different_gold(self._keys[unit])

    def _different_gold(self, unit: str) -> UsageError:
        """The error for a unit that has other gold spans in another system."""
        problem = f"the systems have different gold spans in unit {unit!r}"
        if self._several_golds:
            return UsageError(
                f"{problem}: of several golds, each system was scored against the one nearest to it",
                advice="score all systems against the same gold, without any_of and alternatives",
            )
        return UsageError(problem, advice="score them against the same gold")

    def _value(self, name: str, one: TestedRate) -> dict[str, Any]:
        found: dict[str, Any] = {"system": name, "value": one.score}
        interval = one.interval(self._trust.confidence)
        found |= {"low": rounded(interval.low), "high": rounded(interval.high)}
        if interval.reason is not None:
            found["reason"] = interval.reason
        if interval.bound:
            found["bound"] = True
        deviation = standard_deviation(one.scores)
        if deviation is not None:
            found |= {
                "sd": rounded(deviation),
                "runs": len(one.scores),
                "min": min(one.scores),
                "max": max(one.scores),
            }
        return found

    def _difference(self, path: Path, own: TestedRate, other: TestedRate, system: int) -> dict[str, Any]:
        differ = own.units_that_differ(other)
        by_runs = max(len(one.times) for one in (own, other)) > 1
        difference = None if own.score is None or other.score is None else other.score - own.score
        p: float | None = None
        if difference is None:
            ends, df = Interval(None, None, None, len(differ), None, f"{UNDEFINED} in a system"), 1.0
        elif by_runs:
            ends, p, df = self._by_runs(difference, own, other, len(differ))
        else:
            ends, df = self._by_units(difference, own, other, len(differ))
            p = self._p(path, (own, other), system, difference, differ)
        shown = None if ends.se is None or ends.low is None else detectable(ends.se, df)
        found = {
            "difference": rounded(difference),
            "low": rounded(ends.low),
            "high": rounded(ends.high),
            "p": rounded(p),
            "p_holm": rounded(p),
            "test": "t" if by_runs else "randomisation",
            "exact": not by_runs and len(differ) <= MOST_FOR_ALL_SWAPS,
            "units_that_differ": len(differ),
            "detectable": rounded(shown),
        }
        if ends.reason is not None:
            found["reason"] = ends.reason
        if self._detect is not None:
            needed = (
                None if shown is None else math.ceil(len(self._keys) * (shown / self._detect) ** 2 - 1e-9)
            )
            found["units_needed"] = needed
        return found

    def _by_units(
        self, difference: float, own: TestedRate, other: TestedRate, differ: int
    ) -> tuple[Interval, float]:
        """The interval of the difference of two single runs, and its degrees of freedom."""
        effective = _effective(own, other)
        df = degrees_of_freedom(effective)
        if own.without is None or other.without is None:
            return Interval(None, None, None, differ, effective, UNDEFINED_WITHOUT), df
        without = _differences(own.without, other.without)
        return difference_jackknife(difference, without, differ, effective, self._trust.confidence), df

    def _by_runs(
        self, difference: float, own: TestedRate, other: TestedRate, differ: int
    ) -> tuple[Interval, float | None, float]:
        """The interval of the difference of two means over runs, its p-value and its degrees of freedom."""
        effective = _effective(own, other)
        if own.without is None or other.without is None:
            return Interval(None, None, None, differ, effective, UNDEFINED_WITHOUT), None, 1.0
        se_units = standard_error(_differences(own.without, other.without))
        spread = spread_of(se_units, effective, [own.scores, other.scores])
        half, se = spread.half_width(self._trust.confidence), math.sqrt(spread.variance)
        ends = Interval(difference - half, difference + half, se, differ, effective)
        return ends, spread.p(difference), spread.df

    def _p(
        self,
        path: Path,
        systems: tuple[TestedRate, TestedRate],
        number: int,
        observed: float,
        differ: Sequence[int],
    ) -> float:
        if not differ:
            return 1.0
        entry = self._entry(path)
        place = id(entry), number
        if place not in self._swapped:
            self._swapped[place] = self._after_swaps(entry, *systems, differ)
        test = exact_p if len(differ) <= MOST_FOR_ALL_SWAPS else sampled_p
        return test(observed, self._swapped[place][entry.names.index(path[-1])])

    def _after_swaps(
        self, entry: EntryRates, own: TestedRate, other: TestedRate, differ: Sequence[int]
    ) -> list[list[float]]:
        """The difference of each rate of an entry after each swap."""
        firsts, seconds = (
            [dict(entry.rows.get(system.rows[unit][0], ())) for unit in differ] for system in (own, other)
        )
        changes: list[Sequence[float]]
        if len(differ) <= MOST_FOR_ALL_SWAPS:
            changes = [
                all_swapped_sums(column)  # type: ignore[arg-type]  # it adds fractions as well
                for column in (
                    [two.get(place, 0) - one.get(place, 0) for one, two in zip(firsts, seconds, strict=True)]
                    for place in range(entry.width)
                )
            ]
        else:
            rows = [
                {**one, **{entry.width + column: count for column, count in two.items()}}
                for one, two in zip(firsts, seconds, strict=True)
            ]
            sums = self._drawn(rows, 2 * entry.width, [self._keys[unit] for unit in differ])
            changes = [
                _differences(sums[column], sums[entry.width + column]) for column in range(entry.width)
            ]
        swapped = []
        for system, sign in ((own, 1), (other, -1)):
            total = entry.total(system.times[0])
            columns = [
                [whole + sign * change for change in of_column]
                for whole, of_column in zip(total, changes, strict=True)
            ]
            swapped.append(entry.values(list(zip(*columns, strict=True))))
        return [
            [
                math.inf if math.isnan(one) or math.isnan(two) else two - one
                for one, two in zip(*of, strict=True)
            ]
            for of in zip(*swapped, strict=True)
        ]

    def _drawn(
        self, rows: Sequence[Mapping[int, float]], width: int, keys: Sequence[str]
    ) -> list[Sequence[float]]:
        """Return for each column the sum over the units that a random swap swaps.

        Fractions are counted in units so small that no sum of them is too large.
        """
        wholes, are_whole = [0.0] * width, [True] * width
        for row in rows:
            for column, number in row.items():
                wholes[column] += number
                are_whole[column] = are_whole[column] and float(number).is_integer()
        scales = [
            1 if is_whole else 1 << _BITS - math.ceil(whole).bit_length()
            for whole, is_whole in zip(wholes, are_whole, strict=True)
        ]
        scaled = [{column: round(number * scales[column]) for column, number in row.items()} for row in rows]
        sums = weighted_sums(
            zip(keys, scaled, strict=True), width, SWAP, self._trust.resamples, self._trust.seed
        )
        return [
            of if scale == 1 else [number / scale for number in of]
            for of, scale in zip(sums, scales, strict=True)
        ]


_BITS = 62
"""How many bits a sum of fractions may have."""
