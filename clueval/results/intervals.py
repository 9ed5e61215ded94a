"""The intervals of all rates of a report, by the method that was chosen.

`jackknife` needs no random numbers and is the default; `percentile` and `bca` are for those who must report a
bootstrap. `clueval.statistics` has the formulas.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import Any

from clueval.core.bag import pairs_in
from clueval.files.errors import UsageError, with_noun
from clueval.metrics import LABELS_BELOW, Path, entry_at
from clueval.results.options import Trust
from clueval.results.rates import Rates
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
            report: dict[str, Any] = {}
            scores[metric.name][sequence] = report
            for path, interval in _intervals(rates, units.keys, trust):
                entry = report
                for name in path[:-1]:
                    entry = entry.setdefault(name, {})
                entry[path[-1]] = interval.to_dict()
            remarks += [f"{metric.name}, {sequence}: {remark}" for remark in _remarks(rates, len(units.keys))]
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


def _intervals(rates: Rates, keys: Sequence[str], trust: Trust) -> Iterator[tuple[Path, Interval]]:
    """Yield the interval of each rate. Costs a report for each key of the tallies, and of resamples one for each."""
    resampled = [] if trust.method == "jackknife" else _rates_of_resamples(rates, keys, trust)
    # other rates that follow from the same counts
    waiting: dict[Path, tuple[Sequence[float], Sequence[int]]] = {}
    for place, path in enumerate(rates.paths):
        units, effective = rates.weights(path)
        if path not in waiting:
            entry = rates.rates_of[path]
            without = entry.without(rates.times[rates.whole])
            number = len(without.units) - (not without.units[-1])
            entry.forget()
            for other, values in zip(entry.paths, without.rates, strict=True):
                waiting[other] = values[:number], without.units[:number]
        rates_without, times = waiting.pop(path)
        score = entry_at(rates.report, path[:-1])[path[-1]]
        if score is None or any(map(math.isnan, rates_without)):
            reason = UNDEFINED if score is None else UNDEFINED_WITHOUT
            yield path, Interval(None, None, None, units, effective, reason)
        elif not resampled:
            yield path, logit_jackknife(score, rates_without, units, effective, trust.confidence, times)
        else:
            yield path, _bootstrap(score, rates_without, times, units, effective, resampled[place], trust)


def _rates_of_resamples(rates: Rates, keys: Sequence[str], trust: Trust) -> list[Sequence[float]]:
    """Return each rate in the resamples in which it is defined, whatever the metric makes of 0/0."""
    width = len(rates.keys)
    weighing = [rates.denominator_terms(path) for path in rates.paths]
    places = {terms: place for place, terms in enumerate(dict.fromkeys(weighing), width)}
    rows = [dict(pairs_in(row)) for row in rates.rows]
    for terms, place in places.items():
        for row in rates.weighing(terms):
            rows[row][place] = 1
    of_units = ((key, rows[row]) for key, row in zip(keys, rates.row_of, strict=True))
    sums = weighted_sums(of_units, width + len(places), BOOTSTRAP, trust.resamples, trust.seed)
    corpora = zip(*sums[:width], strict=True) if width else repeat((), trust.resamples)
    return [
        [
            value
            for value, units in zip(values, sums[places[terms]], strict=True)
            if units and not math.isnan(value)
        ]
        for values, terms in zip(rates.scored(corpora, rates.paths), weighing, strict=True)
    ]


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
    se = standard_error(without, times)
    if score in (0, 1) and all(value == score for value in defined):
        return bound(score, se, units, effective, trust.confidence)
    is_spread = se or max(defined) - min(defined) > ROUNDING
    if not is_spread and 0 < score < 1:  # which has no interval, but a reason
        return logit_jackknife(score, without, units, effective, trust.confidence, times)
    if trust.method == "percentile":
        return Interval(*percentile(defined, trust.confidence), se, units, effective)
    try:
        return Interval(*bca(defined, score, without, trust.confidence, times), se, units, effective)
    except UsageError as error:
        return Interval(None, None, se, units, effective, error.problem)


def _remarks(rates: Rates, units: int) -> Iterator[str]:
    """What to know about the units of a sequence: few of them, or few that have a label of a macro average."""
    paths, weights = rates.paths, rates.weights
    of_all = [path for path in paths if not {*LABELS_BELOW} & {*path}]
    overall = next((path for path in of_all if path[-1].startswith("f")), next(iter(of_all), None))
    if overall is not None:
        _, effective = weights(overall)
        if effective < FEW_EFFECTIVE:
            yield (
                f"{with_noun(units, 'units')}, worth {effective:.1f} of equal size (effective): with so few, "
                "or so unequal ones, intervals are wide and rough"
            )
    few: dict[str, int] = {}
    if any(path[-2:-1] == ("macro",) for path in paths):
        for path in paths:
            if {*LABELS_BELOW} & {*path[-3:-2]} and path[-1].startswith("f"):
                occurs, _ = weights(path)
                if occurs < FEW_UNITS_OF_LABEL:
                    few[path[-2]] = occurs
    for label, occurs in sorted(few.items()):
        yield (
            f"label {label} occurs in {with_noun(occurs, 'units')} and counts in full in every macro average"
        )
