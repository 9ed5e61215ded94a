"""The intervals of all rates of a report, by the method that was chosen.

`jackknife` needs no random numbers and is the default; `percentile` and `bca` are for those who must report a
bootstrap. `clueval.statistics` has the formulas.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any

from clueval.core.bag import pairs_in
from clueval.files.errors import UsageError
from clueval.results.entries import entry_rates
from clueval.results.options import Trust
from clueval.results.rates import Path, Rates, Weights
from clueval.results.units import Units
from clueval.statistics.jackknife import ROUNDING, Interval, bound, logit_jackknife, standard_error
from clueval.statistics.resampling import BOOTSTRAP, bca, percentile, weighted_sums

FEW_EFFECTIVE = 10
FEW_UNITS_OF_LABEL = 5
_MOST_UNDEFINED = 0.01
"""If a rate is undefined in a larger share of the resamples, it has no bootstrap interval."""

UNDEFINED = "the score is undefined"
UNDEFINED_WITHOUT = f"{UNDEFINED} without one of the units"


def interval_section(units: Units, trust: Trust) -> dict[str, Any]:
    """Return the section ``intervals`` of a result, or of one value of a break-down, which has these units."""
    is_random = trust.method != "jackknife"
    scores: dict[str, Any] = {}
    remarks: list[str] = []
    for metric in units.metrics:
        scores[metric.name] = {}
        for sequence, layers in units.sequences[metric.name].items():
            rates = Rates(metric, layers, units.counts[metric.name, sequence])
            weights = Weights(rates, rates.times(range(len(units.keys))))
            report: dict[str, Any] = {}
            for path, interval in _intervals(rates, weights, units.keys, trust):
                _put(report, path, interval.to_dict())
            scores[metric.name][sequence] = report
            found = _remarks(rates.paths, weights, len(units.keys))
            remarks += [f"{metric.name}, {sequence}: {remark}" for remark in found]
    return {
        "method": trust.method,
        "confidence": trust.confidence,
        "resample_by": units.by,
        "units": len(units.keys),
        "resamples": trust.resamples if is_random else None,
        "seed": trust.seed if is_random else None,
        "remarks": remarks,
        "scores": scores,
    }


def _intervals(
    rates: Rates, weights: Weights, keys: Sequence[str], trust: Trust
) -> Iterator[tuple[Path, Interval]]:
    """Yield the interval of each rate. Costs a report for each unit whose counts are different, or each resample."""
    times = rates.times(range(len(keys)))
    scores = [values[0] for values in rates.scored([rates.tally(rates.total)], rates.entries)]
    drawn = None if trust.method == "jackknife" else _Resampled(rates, keys, trust)
    leaving = _Leaving(rates, times)
    for place, (path, score) in enumerate(zip(rates.paths, scores, strict=True)):
        units, effective = weights.of(path)
        without, of_rows = leaving.one_out(path)
        if math.isnan(score) or any(map(math.isnan, without)):
            reason = UNDEFINED if math.isnan(score) else UNDEFINED_WITHOUT
            yield path, Interval(None, None, None, units, effective, reason)
        elif drawn is None:
            yield path, logit_jackknife(score, without, units, effective, trust.confidence, of_rows)
        else:
            values = drawn.defined(place)
            yield path, _bootstrap(score, without, of_rows, units, effective, values, trust)


class _Leaving:
    """The rates of a report without each unit; units that do not change a rate are together."""

    def __init__(self, rates: Rates, times: Sequence[int]) -> None:
        self._rates, self._times, self._units = rates, times, sum(times)
        self._known: dict[Path, tuple[Sequence[float], Sequence[int]]] = {}

    def one_out(self, path: Path) -> tuple[Sequence[float], Sequence[int]]:
        """Return a rate without a unit, for each kind of units that change it, and how many there are of each."""
        if path not in self._known:
            entry = entry_rates(self._rates, path)
            times = [self._times[row] for row in entry.changing]
            rest = self._units - sum(times)
            for name, values in zip(entry.names, entry.without(self._times), strict=True):
                found = (values, [*times, rest]) if rest else (values[:-1], times)
                self._known[(*path[:-1], name)] = found
        return self._known.pop(path)


class _Resampled:
    """The rates of a report in each resample."""

    def __init__(self, rates: Rates, keys: Sequence[str], trust: Trust) -> None:
        self._rates = rates
        numbers = sorted({number for path in rates.paths for number in rates.sizes.weighing(path)})
        places = {number: len(rates.keys) + place for place, number in enumerate(numbers)}
        rows = [dict(pairs_in(row)) for row in rates.rows]
        for number, place in places.items():
            for row, size in rates.sizes.column((number,)).items():
                if size:
                    rows[row][place] = 1
        of_units = ((key, rows[row]) for key, row in zip(keys, rates.row_of, strict=True))
        sums = weighted_sums(of_units, len(rates.keys) + len(places), BOOTSTRAP, trust.resamples, trust.seed)
        counts = zip(*sums[: len(rates.keys)], strict=True) if rates.keys else repeat((), trust.resamples)
        tallies = map(rates.tally, counts)
        self._values = rates.scored(tallies, rates.entries)
        self._drawn = {number: sums[place] for number, place in places.items()}

    def defined(self, place: int) -> Sequence[float]:
        """Return a rate in the resamples in which its denominator is not 0, whatever the metric makes of 0/0."""
        values = self._values[place]
        drawn = [self._drawn[number] for number in self._rates.sizes.weighing(self._rates.paths[place])]
        if not min(map(min, drawn)):
            rows = zip(values, *drawn, strict=True)
            return [value for value, *sizes in rows if any(sizes) and not math.isnan(value)]
        return [value for value in values if not math.isnan(value)]


def _bootstrap(
    score: float,
    without: Sequence[float],
    times: Sequence[int],
    units: int,
    effective: float,
    defined: Sequence[float],
    trust: Trust,
) -> Interval:
    if units < 2:
        return logit_jackknife(score, without, units, effective, trust.confidence, times)
    if trust.resamples - len(defined) > _MOST_UNDEFINED * trust.resamples:
        reason = f"{UNDEFINED} in over 1 % of the resamples"
        return Interval(None, None, None, units, effective, reason)
    if score in (0, 1) and all(value == score for value in defined):
        return bound(score, units, effective, trust.confidence)
    se = standard_error(without, times)
    is_spread = se or max(defined) - min(defined) > ROUNDING
    if not is_spread and 0 < score < 1:  # which has no interval, but a reason
        return logit_jackknife(score, without, units, effective, trust.confidence, times)
    if trust.method == "percentile":
        return Interval(*percentile(defined, trust.confidence), se, units, effective)
    try:
        return Interval(*bca(defined, score, without, trust.confidence, times), se, units, effective)
    except UsageError as error:
        return Interval(None, None, se, units, effective, error.problem)


def _put(report: dict[str, Any], path: Path, value: object) -> None:
    for name in path[:-1]:
        report = report.setdefault(name, {})
    report[path[-1]] = value


def _overall(paths: Iterable[Path]) -> Path | None:
    """The first rate of all labels together: an F-score or, in a report without one, any rate."""
    of_all = [path for path in paths if "per_label" not in path]
    return next((path for path in of_all if path[-1].startswith("f")), next(iter(of_all), None))


def _remarks(paths: Sequence[Path], weights: Weights, units: int) -> Iterator[str]:
    """What to know about the units of a sequence: few of them, or few that have a label of a macro average."""
    overall = _overall(paths)
    if overall is not None:
        _, effective = weights.of(overall)
        if effective < FEW_EFFECTIVE:
            yield (
                f"{units} unit{'s' * (units != 1)}, worth {effective:.1f} of equal size (effective): with so few, "
                "or so unequal ones, intervals are wide and rough"
            )
    few: dict[str, int] = {}
    if any(path[-2:-1] == ("macro",) for path in paths):
        for path in paths:
            if path[-3:-2] == ("per_label",) and path[-1].startswith("f"):
                occurs, _ = weights.of(path)
                if occurs < FEW_UNITS_OF_LABEL:
                    few[path[-2]] = occurs
    for label, occurs in sorted(few.items()):
        yield (
            f"label {label} occurs in {occurs} unit{'s' * (occurs != 1)} and counts in full in every macro average"
        )
