"""The intervals of all rates of a report, by the method that was chosen.

`jackknife` needs no random numbers and is the default; `percentile` and `bca` are for those who must report a
bootstrap. `clueval.statistics` has the formulas.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from clueval.evaluation.units.columns import Column, Path, Times, UnitColumns, added, counts_by_kind, summed
from clueval.evaluation.units.rates import RateGroup, Value, groups_of
from clueval.evaluation.units.unit import CORPUS, SENTENCE, Unit, Units, summed_tallies
from clueval.files.errors import UsageError
from clueval.first.metrics.counting import Tally
from clueval.first.metrics.metric import Metric, sequences_of
from clueval.second.results.options import Trust
from clueval.statistics.jackknife import (
    ROUNDING,
    Interval,
    bound,
    effective_number,
    logit_jackknife,
    standard_error,
)
from clueval.statistics.resampling import BOOTSTRAP, bca, percentile, weighted_sums

FEW_EFFECTIVE = 10
FEW_UNITS_OF_LABEL = 5
_MOST_UNDEFINED = 0.01
"""If a rate is undefined in a larger share of the resamples, it has no bootstrap interval."""


def interval_section(
    metrics: Sequence[Metric],
    sequences: Mapping[str, Sequence[str]],
    units: Units,
    trust: Trust,
    members: Sequence[Unit] | None = None,
) -> dict[str, Any]:
    """Return the section ``intervals`` of a result, or of one value of a break-down, which has these `members`.

    Raises `UsageError` if the corpus is one unit, or no units were kept.
    """
    if units.by == CORPUS:
        raise UsageError(
            "intervals need counts by unit, and only those of the whole corpus were kept",
            advice="score with intervals=True, resample_by='document' or save='FILE'",
        )
    if not units.units:
        raise UsageError("intervals need several units, and there are no documents", advice="score more text")
    if len(units.units) == 1:
        finer = units.by != SENTENCE
        raise UsageError(
            f"intervals need several units, and there is one {units.by}",
            advice="score with resample_by='sentence'" if finer else "score more text",
        )
    chosen = units.units if members is None else members
    scores, remarks = intervals_of(metrics, sequences, chosen, trust)
    is_random = trust.method != "jackknife"
    return {
        "method": trust.method,
        "confidence": trust.confidence,
        "resample_by": units.by,
        "units": len(chosen),
        "resamples": trust.resamples if is_random else None,
        "seed": trust.seed if is_random else None,
        "remarks": remarks,
        "scores": scores,
    }


def intervals_of(
    metrics: Sequence[Metric], sequences: Mapping[str, Sequence[str]], units: Sequence[Unit], trust: Trust
) -> tuple[dict[str, Any], list[str]]:
    """Return the intervals by metric and sequence, in the shape of the reports, and remarks about them.

    Costs O(n) for each rate that the metric declares, and a report for each unit for the others.
    """
    scores: dict[str, Any] = {}
    remarks: list[str] = []
    keys, nothing = [unit.key for unit in units], Tally()
    for metric in metrics:
        scores[metric.name] = {}
        for sequence, layers in reported_sequences(metric, sequences, units).items():
            tallies = [unit.tallies.get((metric.name, sequence), nothing) for unit in units]
            source = UnitColumns(metric, layers, tallies)
            report: dict[str, Any] = {}
            groups, weights = list(groups_of(source)), Weights(source.times)
            resampled = None if trust.method == "jackknife" else Resampled(source, groups, keys, trust)
            for group in groups:
                found = _of_group(source, group, trust, weights, resampled)
                for path, interval in zip(group.paths, found, strict=True):
                    _put(report, path, interval.to_dict())
            scores[metric.name][sequence] = report
            remarks += [
                f"{metric.name}, {sequence}: {remark}" for remark in _remarks(groups, weights, len(units))
            ]
    return scores, remarks


def reported_sequences(
    metric: Metric, sequences: Mapping[str, Sequence[str]], units: Sequence[Unit]
) -> Mapping[str, Sequence[str]]:
    """Return the sequences, with their layers, that a metric reports for some units."""
    totals = {} if metric.needs.sequences is None else summed_tallies(units)
    return sequences_of(metric, sequences, totals)


def _of_group(
    source: UnitColumns, group: RateGroup, trust: Trust, weights: Weights, resampled: Resampled | None
) -> Iterator[Interval]:
    scores = group.values([[summed(column, source.times)] for column in group.columns])
    drawn = None if resampled is None else resampled.values(group)
    by_rate, times = group.different(source.times)
    for place, (path, without) in enumerate(zip(group.paths, by_rate, strict=True)):
        (score,) = scores[place]
        units, effective = weights.of(group, path)
        if score is None or None in without:
            reason = "the score is undefined" + (" without one of the units" if score is not None else "")
            yield Interval(None, None, None, units, effective, reason)
        elif drawn is None:
            yield logit_jackknife(score, _defined(without), units, effective, trust.confidence, times)
        else:
            yield _bootstrap(score, _defined(without), times, units, effective, drawn[place], trust)


class Weights:
    """How many units there are, and how many of them are effective, for each rate of a report.

    A unit weighs as much as its gold spans for recall, its predicted ones for precision, both for other rates.
    """

    def __init__(self, times: Times) -> None:
        self._times = times
        self._known: dict[tuple[int, ...], tuple[int, float]] = {}
        self._held: list[Sequence[Column]] = []  # a column that is known by its id must stay

    def of(self, group: RateGroup, path: Path) -> tuple[int, float]:
        """Return the number of units in which the denominator is not 0, and the effective number."""
        columns = columns_that_weigh(group, path)
        place = tuple(map(id, columns))
        if place not in self._known:
            column = added(columns)
            times = [self._times[kind] for kind in column.kinds]
            self._known[place] = sum(times), effective_number(column.counts, times)
            self._held.append(columns)
        return self._known[place]


def columns_that_weigh(group: RateGroup, path: Path) -> Sequence[Column]:
    """Return the columns whose sum is how much a unit weighs for a rate."""
    gold, predicted = group.sizes[path]
    if path[-1].startswith("recall"):
        return (gold,)
    return (predicted,) if path[-1].startswith("precision") else (gold, predicted)


class Resampled:
    """The sums of all columns of some groups in each resample."""

    def __init__(
        self, source: UnitColumns, groups: Sequence[RateGroup], keys: Sequence[str], trust: Trust
    ) -> None:
        self._columns = {id(group): group.columns for group in groups}
        self._weighing = {
            id(group): [columns_that_weigh(group, path) for path in group.paths] for group in groups
        }
        every = chain(self._columns.values(), *self._weighing.values())
        different = {id(column): column for columns in every for column in columns}
        rows = counts_by_kind(different.values())
        named = ((key, rows.get(kind, {})) for key, kind in zip(keys, source.kind_of, strict=True))
        found = weighted_sums(named, len(different), BOOTSTRAP, trust.resamples, trust.seed)
        self._sums = dict(zip(different, found, strict=True))

    def values(self, group: RateGroup) -> list[list[Value]]:
        """Return each rate in each resample; None where its denominator is 0, whatever the metric makes of 0/0."""
        found = []
        rates = group.values(self._of(self._columns[id(group)]))
        for values, columns in zip(rates, self._weighing[id(group)], strict=True):
            if min(map(min, self._of(columns))):
                found.append(values)
                continue
            rows = zip(values, *self._of(columns), strict=True)
            found.append([value if any(sizes) else None for value, *sizes in rows])
        return found

    def _of(self, columns: Sequence[Column]) -> list[Sequence[int]]:
        return [self._sums[id(column)] for column in columns]


def _bootstrap(
    score: float,
    without: Sequence[float],
    times: Sequence[int],
    units: int,
    effective: float,
    values: Sequence[Value],
    trust: Trust,
) -> Interval:
    defined = _defined(values)
    if units < 2:
        return logit_jackknife(score, without, units, effective, trust.confidence, times)
    if len(values) - len(defined) > _MOST_UNDEFINED * len(values):
        return Interval(
            None, None, None, units, effective, "the score is undefined in over 1 % of the resamples"
        )
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


def _defined(values: Sequence[Value]) -> list[float]:
    return [value for value in values if value is not None]


def _put(report: dict[str, Any], path: Path, value: object) -> None:
    for name in path[:-1]:
        report = report.setdefault(name, {})
    report[path[-1]] = value


def _overall(paths: Iterable[Path]) -> Path | None:
    """The first rate of all labels together: an F-score or, in a report without one, any rate."""
    of_all = [path for path in paths if "per_label" not in path]
    return next((path for path in of_all if path[-1].startswith("f")), next(iter(of_all), None))


def _remarks(groups: Sequence[RateGroup], weights: Weights, units: int) -> Iterator[str]:
    """What to know about the units of a sequence: few of them, or few that have a label of a macro average."""
    found = {path: group for group in groups for path in group.paths}
    overall = _overall(found)
    if overall is not None:
        _, effective = weights.of(found[overall], overall)
        if effective < FEW_EFFECTIVE:
            yield (
                f"{units} unit{'s' * (units != 1)}, worth {effective:.1f} of equal size (effective): with so few, "
                "or so unequal ones, intervals are wide and rough"
            )
    few: dict[str, int] = {}
    if any(path[-2:-1] == ("macro",) for path in found):
        for path, group in found.items():
            if path[-3:-2] == ("per_label",) and path[-1].startswith("f"):
                occurs, _ = weights.of(group, path)
                if occurs < FEW_UNITS_OF_LABEL:
                    few[path[-2]] = occurs
    for label, occurs in sorted(few.items()):
        yield (
            f"label {label} occurs in {occurs} unit{'s' * (occurs != 1)} and counts in full in every macro average"
        )
