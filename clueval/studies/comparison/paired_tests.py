"""Tests of several systems on the same gold: is one better than another, and by how much?

Every score has an interval in each system, and the difference to the first system, the baseline, has a p-value by
paired approximate randomisation, an interval, and the difference that this test set can show. Several runs of a system
are tested by t, with the spread over units and over runs. `clueval.statistics` has the formulas.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, islice
from typing import Any, NamedTuple

from clueval.core.count import DOCUMENT
from clueval.files.errors import UsageError, with_noun
from clueval.metrics import Path, entry_at
from clueval.results.intervals import UNDEFINED, UNDEFINED_WITHOUT
from clueval.results.options import Trust
from clueval.results.rates import Rates
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

MOST_UNITS = 20
"""The number of units that details of a comparison list for each difference."""

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
    runs_of = {name: [require_for_tests(units, name) for units in runs] for name, runs in systems.items()}
    named_units = [(name, units) for name, runs in runs_of.items() for units in runs]
    first_name, first = named_units[0]
    for name, units in named_units:
        names, metrics = f"{first_name} and {name}", {metric.name: metric for metric in units.metrics}
        for metric in first.metrics:
            if metrics.get(metric.name) != metric:
                raise UsageError(
                    f"{names} were not both counted by metric {metric.name!r} with the same settings",
                    advice="score both with the same options",
                )
        for metric_name, sequence in first.counts:
            if (metric_name, sequence) not in units.counts:
                raise UsageError(
                    f"{names} do not both have the layer {sequence!r}",
                    advice="score both with the same options",
                )
        if first.by != units.by:
            raise UsageError(
                f"units of {names} are {first.by} and {units.by}", advice="use the same resample_by for both"
            )
        if units.by != DOCUMENT:
            _require_same_units(first, units, names)
    texts = [dict(zip(units.keys, units.positions, strict=True)) for _, units in named_units]
    keys = [key for key, size in texts[0].items() if all(text.get(key) == size for text in texts[1:])]
    if len(keys) < 2:
        raise UsageError(
            f"a test needs several units, and the systems have {len(keys) or 'no'} {first.by} in common",
            advice="score the same documents",
        )
    left_out = {
        name: len({*chain(*(units.keys for units in runs))} - {*keys}) for name, runs in runs_of.items()
    }
    return ComparedUnits(runs_of, keys, left_out)


def require_for_tests(units: Units | None, name: str) -> Units:
    """Return the units of a result of this name. Raises `UsageError` if there are none, or only one."""
    if units is None or units.by is None:
        raise UsageError(
            f"{name} has no counts by unit",
            advice="score again with resample_by='document', or with resample_by='sentence' if there are few documents",
        )
    if len(units.keys) < 2:
        raise UsageError(
            f"a test needs several units, and {name} has {len(units.keys) or 'no'} {units.by}",
            advice="compare more texts, or score them again with resample_by='sentence'",
        )
    return units


def _require_same_units(first: Units, second: Units, names: str) -> None:
    missing = sorted({*first.keys} ^ {*second.keys})
    if missing:
        raise UsageError(
            f"{names} have different units: {missing[0]!r} is in only one of them"
            + (f", as are {len(missing) - 1} more" if len(missing) > 1 else ""),
            advice="score the same documents",
        )
    positions = dict(zip(first.keys, first.positions, strict=True))
    for key, size in zip(second.keys, second.positions, strict=True):
        if positions[key] != size:
            raise UsageError(
                f"{names} have different texts: unit {key!r} has {positions[key]:,} and {with_noun(size, 'positions')}",
                advice="score the same documents",
            )


# One rate of one system


class RateOfSystem:
    """One rate of one system.

    Attributes:
        name: the name of the system.
        entry, path: the rates of the entry of the rate, and its path in the report.
        scores: of the runs; empty if the rate is undefined in one of them.
        score: their mean, None if it is undefined.
        without: the mean without each unit, None if it is undefined without one of them.
        sizes: what each unit weighs, over all runs.
        rows: the numbers of the rows of each unit in all runs.
        times: how many units have each row, by run.
    """

    def __init__(self, name: str, rates: Rates, path: Path, runs: Sequence[range]) -> None:
        self.name, self.entry, self.path = name, rates.rates_of[path], path
        self.times = [rates.times[run] for run in runs]
        self.rows = list(zip(*(rates.row_of[run.start : run.stop] for run in runs), strict=True))
        by_run = list(map(self._without, self.times))
        reports = [entry_at(rates.reports[run], path[:-1]) for run in runs]
        values = [report.get(path[-1], rest) for report, (_, rest) in zip(reports, by_run, strict=True)]
        scores = [math.nan if value is None else value for value in values]
        mean = math.fsum(scores) / len(runs)
        self.score: float | None = None if math.isnan(mean) else mean
        self.scores = [] if math.isnan(mean) else scores
        means = [
            math.fsum([values.get(row, rest) for (values, rest), row in zip(by_run, rows, strict=True)])
            / len(runs)
            for rows in self.rows
        ]
        self.without = None if any(map(math.isnan, means)) else means
        self._denominator = rates.weighing(rates.denominator_terms(path))
        weights = rates.weighing(rates.weight_terms(path))
        self.sizes = [sum([weights.get(row, 0) for row in rows]) for rows in self.rows]

    def _without(self, times: Sequence[int]) -> tuple[Mapping[int, float], float]:
        """Return the rate of a run without a unit of each row that changes it, and the rate of all its units."""
        without = self.entry.without(times)
        values = without.rates[self.entry.paths.index(self.path)]
        of_places = zip(without.rows, without.places, strict=True)
        return {row: values[place] for row, place in of_places}, values[-1]

    def interval(self, confidence: float) -> Interval:
        """Return the interval of the score, or of the mean of the scores of the runs."""
        units = sum(any(row in self._denominator for row in rows) for rows in self.rows)
        effective = effective_number(self.sizes)
        if self.score is None or self.without is None:
            reason = UNDEFINED if self.score is None else UNDEFINED_WITHOUT
            return Interval(None, None, None, units, effective, reason)
        if len(self.scores) == 1 or units < 2 or not 0 < self.score < 1:
            return logit_jackknife(self.score, self.without, units, effective, confidence)
        spread = spread_of(standard_error(self.without), effective, [self.scores])
        se = math.sqrt(spread.variance)
        return logit_interval(self.score, se, spread.df, units, effective, confidence)


class _Difference:
    """The difference of one rate between two systems.

    Attributes:
        value: the rate of the second less that of the first; None if one is undefined.
        without: the difference without each unit; None if one rate is undefined without one of them.
        units: the units whose counts behind the rate are not the same in all runs of both systems.
        effective: the effective number of units of both systems together.
        df: the degrees of freedom of a standard error over units.
    """

    def __init__(self, baseline: RateOfSystem, system: RateOfSystem) -> None:
        self.baseline, self.system = baseline, system
        self.value = None if baseline.score is None or system.score is None else system.score - baseline.score
        self.without = None
        if baseline.without is not None and system.without is not None:
            self.without = [new - old for old, new in zip(baseline.without, system.without, strict=True)]
        both = zip(baseline.rows, system.rows, strict=True)
        self.units = baseline.entry.differing(baseline.path, ((*old, *new) for old, new in both))
        self.effective = effective_number(
            [sum(of_unit) for of_unit in zip(baseline.sizes, system.sizes, strict=True)]
        )
        self.df = degrees_of_freedom(self.effective)


# All rates of all systems


class DropTest(NamedTuple):
    """A test of whether a score has fallen: its name, its p-value, and in how many units counts differ.

    The p-value is None if it cannot be computed.
    """

    test: str
    p: float | None
    units_that_differ: int


def least_p(units: int, resamples: int) -> float:
    """Return a bound for the p-value by randomisation, if at most this number of units differ; no p is below it.

    >>> least_p(5, resamples=9999)
    0.0625
    """
    all_swaps = 2.0 ** (1 - min(units, MOST_FOR_ALL_SWAPS))
    return all_swaps if units <= MOST_FOR_ALL_SWAPS else min(all_swaps, 1 / (resamples + 1))


class PairedTests:
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
        size = len(self._keys)
        parts = iter([range(size * run, size * run + size) for run in range(len(self._runs))])
        self._members = [list(islice(parts, len(runs))) for runs in compared.runs.values()]
        numbered = [{key: number for number, key in enumerate(units.keys)} for units in self._runs]
        self._places = [[numbers[key] for key in self._keys] for numbers in numbered]
        self._rates: dict[tuple[str, str], Rates] = {}
        self._swapped: dict[tuple[object, ...], list[list[float]]] = {}

    def reports(self) -> dict[str, dict[str, Any]]:
        """Return the reports on all systems together, which name every label that one of them has."""
        return {
            name: {sequence: self._rates_in(name, sequence).report for sequence in sequences}
            for name, sequences in self._runs[0].sequences.items()
        }

    def require_rate(self, text: str, path: Path) -> None:
        """Raise `UsageError` for a number that is no rate."""
        if path[2:] not in self._rates_in(*path[:2]).paths:
            raise UsageError(f"{text} is not a rate", advice="compare precision, recall, F1 or another rate")

    def score(self, text: str, path: Path) -> dict[str, Any]:
        """Return what is said about one score: its value in each system, and the difference to the first one."""
        baseline, *others = systems = self._rates_of_systems(path)
        against = [self._test(baseline, system) for system in others]
        return {
            "score": text,
            "values": list(map(self._score_report, systems)),
            "against_baseline": _with_holm(against),
        }

    def pairs(self, text: str, path: Path) -> dict[str, Any]:
        """Return the differences of one score between all pairs of systems."""
        pairs = combinations(self._rates_of_systems(path), 2)
        tests = [{"against": first.name, **self._test(first, second)} for first, second in pairs]
        return {"score": text, "pairs": _with_holm(tests)}

    def drop_test(self, path: Path, allowed: float) -> DropTest:
        """Return the test of the hypothesis that a score of the second system is at most `allowed` below the first.

        By randomisation if no drop is allowed; otherwise by t, one-sided.
        """
        difference = _Difference(*self._rates_of_systems(path))
        differ = len(difference.units)
        if not allowed:
            return DropTest("randomisation", rounded(self._p_value(difference)), differ)
        if difference.value is None or difference.without is None:
            return DropTest("t", None, differ)
        se, above = standard_error(difference.without), difference.value + allowed
        t = above / se if se else math.copysign(math.inf, above)
        return DropTest("t", rounded(t_below(t, difference.df)), differ)

    def most(self, paths: Iterable[Path]) -> Iterator[dict[str, Any]]:
        """Yield the units that the differences of the F1s among these scores depend on most."""
        for path in paths:
            if not path[-1].startswith("f1"):
                continue
            baseline, *others = self._rates_of_systems(path)
            for system in others:
                difference = _Difference(baseline, system)
                shares: list[tuple[float, int]] = []
                if difference.value is not None and difference.without is not None:
                    shares = [(difference.value - rest, unit) for unit, rest in enumerate(difference.without)]
                largest = sorted(shares, key=lambda share: (-abs(share[0]), share[1]))[:MOST_UNITS]
                differ = {*difference.units}
                units = [
                    (self._keys[unit], share, self._runs[0].positions[self._places[0][unit]])
                    for share, unit in largest
                    if unit in differ
                ]
                yield {"score": ".".join(path), "system": system.name, "units": units}

    def _rates_in(self, metric_name: str, sequence: str) -> Rates:
        """Return the rates of one metric in one sequence of all runs, which are computed once."""
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

    def unit_of_other_gold(self, path: Path) -> str | None:
        """Return the first unit in which systems have different numbers of the gold spans that a rate is about."""
        rates = self._rates_in(*path[:2])
        if (golds := rates.golds(path[2:])) is None:
            return None
        rows_of_runs = [rates.row_of[run.start : run.stop] for run in chain(*self._members)]
        first, *others = (list(map(golds.get, rows)) for rows in rows_of_runs)
        differing = (
            key
            for other in others
            for key, *pair in zip(self._keys, first, other, strict=True)
            if pair[0] != pair[1]
        )
        return next(differing, None)

    def require_same_gold(self, path: Path) -> None:
        """Raise `UsageError` if a unit has other gold spans in another system."""
        if (unit := self.unit_of_other_gold(path)) is None:
            return
        problem = f"the systems have different gold spans in unit {unit!r}"
        advice = "score them against the same gold"
        if self._several_golds:
            problem += ": of several golds, each system was scored against the one nearest to it"
            advice = "score all systems against the same gold, without any_of and alternatives"
        raise UsageError(problem, advice=advice)

    def _rates_of_systems(self, path: Path) -> list[RateOfSystem]:
        """Return a rate in each system. Raises `UsageError` if a unit has other gold spans in another system."""
        self.require_same_gold(path)
        rates, rate_path = self._rates_in(*path[:2]), path[2:]
        systems = zip(self._names, self._members, strict=True)
        return [RateOfSystem(name, rates, rate_path, runs) for name, runs in systems]

    def _score_report(self, rate: RateOfSystem) -> dict[str, Any]:
        """Return the score of a system with its interval, and the spread of its runs."""
        interval, deviation = rate.interval(self._trust.confidence), standard_deviation(rate.scores)
        about = interval.to_dict()
        ends: dict[str, Any] = {key: about[key] for key in ("low", "high", "reason", "bound") if key in about}
        report: dict[str, Any] = {"system": rate.name, "value": rate.score, **ends}
        if deviation is not None:
            report |= {"sd": rounded(deviation), "runs": len(rate.scores)}
            report |= {"min": min(rate.scores), "max": max(rate.scores)}
        return report

    def _test(self, baseline: RateOfSystem, system: RateOfSystem) -> dict[str, Any]:
        """Return what is said about the difference of a rate between two systems."""
        difference = _Difference(baseline, system)
        differ, df = len(difference.units), difference.df
        by_runs = max(len(baseline.times), len(system.times)) > 1
        p = None if by_runs else self._p_value(difference)
        if difference.value is None or difference.without is None:
            reason = f"{UNDEFINED} in a system" if difference.value is None else UNDEFINED_WITHOUT
            ends = Interval(None, None, None, differ, difference.effective, reason)
        elif by_runs:
            value, scores = difference.value, [baseline.scores, system.scores]
            spread = spread_of(standard_error(difference.without), difference.effective, scores)
            half, se = spread.half_width(self._trust.confidence), math.sqrt(spread.variance)
            ends = Interval(value - half, value + half, se, differ, difference.effective)
            p, df = spread.p(value), spread.df
        else:
            ends = difference_jackknife(
                difference.value,
                difference.without,
                differ,
                difference.effective,
                self._trust.confidence,
            )
        shown = None if ends.se is None or ends.low is None else detectable(ends.se, df)
        about = {
            "system": system.name,
            "difference": rounded(difference.value),
            "low": rounded(ends.low),
            "high": rounded(ends.high),
            "p": rounded(p),
            "p_holm": rounded(p),
            "test": "t" if by_runs else "randomisation",
            "exact": not by_runs and differ <= MOST_FOR_ALL_SWAPS,
            "units_that_differ": differ,
            "detectable": rounded(shown),
        }
        if ends.reason is not None:
            about["reason"] = ends.reason
        if self._detect is not None:
            share = None if shown is None else (shown / self._detect) ** 2
            about["units_needed"] = None if share is None else math.ceil(len(self._keys) * share - 1e-9)
        return about

    # Randomisation

    def _p_value(self, difference: _Difference) -> float | None:
        """Return the p-value of a difference; None if it is undefined.

        The differences after swaps are kept for the other rates of the entry.
        """
        if difference.value is None or not difference.units:
            return None if difference.value is None else 1.0
        baseline, entry = difference.baseline, difference.baseline.entry
        place = id(entry), baseline.name, difference.system.name, *difference.units
        if place not in self._swapped:
            self._swapped[place] = self._differences_after_swaps(difference)
        test = exact_p if len(difference.units) <= MOST_FOR_ALL_SWAPS else sampled_p
        return test(difference.value, self._swapped[place][entry.paths.index(baseline.path)])

    def _differences_after_swaps(self, difference: _Difference) -> list[list[float]]:
        """Return the difference of each rate of an entry after each swap."""
        entry = difference.baseline.entry
        counts = entry.counts()
        firsts, seconds = (
            [
                {place: count for place, count in enumerate(counts.get(system.rows[unit][0], ())) if count}
                for unit in difference.units
            ]
            for system in (difference.baseline, difference.system)
        )
        width = len(entry.terms)
        changes: list[Sequence[float]]
        if len(difference.units) <= MOST_FOR_ALL_SWAPS:
            changes = [
                all_swapped_sums(  # it adds fractions as well
                    [new.get(place, 0) - old.get(place, 0) for old, new in zip(firsts, seconds, strict=True)]  # type: ignore[misc]
                )
                for place in range(width)
            ]
        else:
            rows = [
                {**old, **{width + column: count for column, count in new.items()}}
                for old, new in zip(firsts, seconds, strict=True)
            ]
            sums = self._swapped_sums(rows, 2 * width, [self._keys[unit] for unit in difference.units])
            changes = [
                [new - old for old, new in zip(sums[column], sums[width + column], strict=True)]
                for column in range(width)
            ]
        swapped = []
        for system, sign in ((difference.baseline, 1), (difference.system, -1)):
            total = entry.total(system.times[0])
            columns = [
                [whole + sign * change for change in of_column]
                for whole, of_column in zip(total, changes, strict=True)
            ]
            swapped.append(entry.values(list(zip(*columns, strict=True))))
        return [
            [
                math.inf if math.isnan(old) or math.isnan(new) else new - old
                for old, new in zip(*rates, strict=True)
            ]
            for rates in zip(*swapped, strict=True)
        ]

    def _swapped_sums(
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
            numbers if scale == 1 else [number / scale for number in numbers]
            for numbers, scale in zip(sums, scales, strict=True)
        ]


def _with_holm(tests: Sequence[dict[str, Any]]) -> Sequence[dict[str, Any]]:
    """Correct the p-values of tests by Holm's method, and return the tests."""
    with_p = [test for test in tests if test["p"] is not None]
    for test, p in zip(with_p, holm([test["p"] for test in with_p]), strict=True):
        test["p_holm"] = rounded(p)
    return tests


_BITS = 62
"""How many bits a sum of fractions may have."""
