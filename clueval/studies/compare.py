"""`compare`: is a system better than another one, and by how much?

Every score has an interval in each system, and the difference to the first system, the baseline, has a p-value by
paired approximate randomisation, an interval, and the difference that this test set can show. Several runs of a
system are tested by t, with the spread over units and over runs. `clueval.statistics` has the formulas.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path as FilePath
from typing import Any

from clueval.evaluation.headline import headline_rates
from clueval.evaluation.result import Result
from clueval.evaluation.score_path import Path, find_path, number_at
from clueval.evaluation.units.columns import Column, UnitColumns, summed
from clueval.evaluation.units.intervals import columns_that_weigh
from clueval.evaluation.units.rates import RateGroup, groups_of
from clueval.evaluation.units.recipes import entry_at
from clueval.evaluation.units.trust import RESAMPLES, SEED, Trust
from clueval.exceptions import UsageError, checked_call
from clueval.metrics.counting import Tally
from clueval.statistics.correction import holm
from clueval.statistics.interval import Interval, rounded
from clueval.statistics.jackknife import (
    degrees_of_freedom,
    detectable,
    difference_jackknife,
    effective_number,
    logit_interval,
    logit_jackknife,
    standard_error,
)
from clueval.statistics.randomisation import MOST_FOR_ALL_SWAPS, all_swapped_sums, exact_p, sampled_p
from clueval.statistics.resampling import SWAP, weighted_sums
from clueval.statistics.runs import spread_of, standard_deviation
from clueval.studies.comparison import Comparison
from clueval.studies.systems import ComparedSystem, System, all_units, require_system, systems_of


@checked_call
def compare(
    baseline: System,
    others: System | Sequence[System],
    *more: System,
    scores: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    detect: float | None = None,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    force: bool = False,
    details: bool = False,
) -> Comparison:
    """Compare systems that were scored on the same gold.

    Args:
        baseline: a result with counts by unit, the file of a saved one, or a list of these, the runs of a system.
        others, more: the systems to compare with it: one after the other, or one list of systems.
        scores: paths below ``metrics`` in the JSON, as ``exact.entity.micro.f1``. None: precision, recall and F1 of
            each headline.
        names: of all systems, the baseline first.
        detect: a difference (a fraction); how many units it would take to show it is computed.
        confidence: of the intervals.
        resamples, seed: of the random swaps, if more than 16 units differ.
        force: compare although signatures or gold files differ.
        details: compare F1 of each label, too, and find the units in which the systems differ most, for a page.

    Raises `UsageError` for results that cannot be compared and for scores that do not exist.
    """
    trust = Trust(confidence=confidence, resamples=resamples, seed=seed)
    if detect is not None and not detect > 0:
        raise UsageError(f"detect must be a difference above 0, not {detect!r}", advice="a fraction, as 0.01")
    require_system(others, "others")
    several = [others, *more] if more or isinstance(others, Result | str | FilePath) else list(others)
    if not several:
        raise UsageError("there is nothing to compare with", advice="give two systems")
    systems = systems_of([baseline, *several], names, force)
    work = _Comparing(systems, trust, detect)
    found = [work.score(text, path) for text, path in _wanted(systems, work, scores)]
    first = systems[0].runs[0]
    assert first.counted is not None
    assert first.counted.units is not None
    return Comparison(
        str(first.signature),
        first.counted.units.by,
        len(systems[0].units[0]),
        [system.name for system in systems],
        found,
        first.documents,
        first.tokens,
        confidence,
        detect,
        [work.score(text, path) for text, path in _labels(work)] if details else (),
        list(work.most(found)) if details else (),
    )


def _labels(work: _Comparing) -> Iterator[tuple[str, Path]]:
    """F1 of every label, where a metric has it beside its headline."""
    for metric, sequences in work.reports().items():
        for sequence, report in sequences.items():
            for *place, rate in headline_rates(sequence, report)[-1:]:
                for before, after in ((place[:-1], ()), ((), place[-1:])):
                    for label, entry in entry_at(report, (*before, "per_label")).items():
                        path = (metric, sequence, *before, "per_label", label, *after, rate)
                        if number_at(entry, (*after, rate)) is not None:
                            yield label, path


def _wanted(
    systems: Sequence[ComparedSystem], work: _Comparing, scores: Sequence[str] | None
) -> Iterator[tuple[str, Path]]:
    reports = work.reports()
    if scores is not None:
        for text in scores:
            path = find_path(reports, text)
            work.require_rate(text, path)
            yield text, path
        return
    for metric, sequences in reports.items():
        for sequence, report in sequences.items():
            for path in headline_rates(sequence, report):
                yield ".".join((metric, sequence, *path)), (metric, sequence, *path)


class _Comparing:
    """The units of all systems, and the columns of the metrics and sequences that were asked for."""

    def __init__(self, systems: Sequence[ComparedSystem], trust: Trust, detect: float | None) -> None:
        self._systems, self._trust, self._detect = systems, trust, detect
        self._units = all_units(systems)
        self._size = len(systems[0].units[0])
        self._keys = [unit.key for unit in systems[0].units[0]]
        first = systems[0].runs[0].counted
        assert first is not None
        self._metrics = {metric.name: metric for metric in first.metrics}
        self._sequences = first.sequences
        self._columns: dict[tuple[str, str], UnitColumns] = {}
        self._groups: dict[Path, RateGroup] = {}

    def reports(self) -> dict[str, dict[str, Any]]:
        """Return the reports on all systems together, which name every label that one of them has."""
        return {
            metric: {sequence: self._source(metric, sequence).report for sequence in self._sequences}
            for metric in self._metrics
        }

    def require_rate(self, text: str, path: Path) -> None:
        """Raise `UsageError` for a number that is no rate."""
        if next(groups_of(self._source(*path[:2]), path[2:]), None) is None:
            raise UsageError(f"{text} is no rate", advice="compare precision, recall, F1 or another rate")

    def score(self, text: str, path: Path) -> dict[str, Any]:
        """Return what is said about one score."""
        place = path[2:]
        source, group = self._source(*path[:2]), self._group(path)
        tested = [_Tested(source, group, place, runs) for runs in self._members()]
        values = [self._value(system.name, one) for system, one in zip(self._systems, tested, strict=True)]
        against = [
            {"system": system.name, **self._difference(source, group, tested[0], one)}
            for system, one in zip(self._systems[1:], tested[1:], strict=True)
        ]
        corrected = holm([entry["p"] for entry in against])
        for entry, p in zip(against, corrected, strict=True):
            entry["p_holm"] = rounded(p)
        return {"score": text, "values": values, "against_baseline": against}

    def most(self, found: Sequence[dict[str, Any]], number: int = 20) -> Iterator[dict[str, Any]]:
        """Yield the units that the differences of the F1s in `found` depend on most."""
        for entry in found:
            path = find_path(self.reports(), entry["score"])
            if not path[-1].startswith("f1"):
                continue
            source, group = self._source(*path[:2]), self._group(path)
            own, *others = [_Tested(source, group, path[2:], runs) for runs in self._members()]
            for system, other in zip(self._systems[1:], others, strict=True):
                difference = other.score - own.score
                shares = [
                    (difference - (two - one), unit)
                    for unit, (one, two) in enumerate(zip(own.without, other.without, strict=True))
                ]
                differ = {*own.units_that_differ(other)}
                largest = sorted(shares, key=lambda share: (-abs(share[0]), share[1]))[:number]
                units = [
                    (self._keys[unit], share, self._units[unit].tokens)
                    for share, unit in largest
                    if unit in differ
                ]
                yield {"score": entry["score"], "system": system.name, "units": units}

    def _source(self, metric: str, sequence: str) -> UnitColumns:
        place = metric, sequence
        if place not in self._columns:
            tallies = [unit.tallies.get(place, Tally()) for unit in self._units]
            source = UnitColumns(self._metrics[metric], self._sequences[sequence], tallies)
            self._columns[place] = source
            self._require_gold(source, sequence)
        return self._columns[place]

    def _require_gold(self, source: UnitColumns, sequence: str) -> None:
        """Raise `UsageError` if a unit has other gold spans in another system."""
        for path in headline_rates(sequence, source.report)[-1:]:
            gold, predicted = next(groups_of(source, path)).sizes(path)
            if gold is predicted:  # the metric does not tell the sides apart
                continue
            for number, kind in enumerate(source.kind_of):
                unit = number % self._size
                if gold[kind] != gold[source.kind_of[unit]]:
                    raise UsageError(
                        f"the systems have different gold spans in unit {self._keys[unit]!r}",
                        advice="score them against the same gold",
                    )

    def _group(self, path: Path) -> RateGroup:
        if path not in self._groups:
            group = next(groups_of(self._source(*path[:2]), path[2:]))
            for other in group.paths:
                self._groups[*path[:2], *other] = group
        return self._groups[path]

    def _members(self) -> Iterator[list[range]]:
        """The numbers of the units of each run, by system."""
        start = 0
        for system in self._systems:
            yield [
                range(start + n * self._size, start + (n + 1) * self._size) for n in range(len(system.runs))
            ]
            start += len(system.runs) * self._size

    def _value(self, name: str, one: _Tested) -> dict[str, Any]:
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

    def _difference(
        self, source: UnitColumns, group: RateGroup, own: _Tested, other: _Tested
    ) -> dict[str, Any]:
        difference = other.score - own.score
        without = [two - one for one, two in zip(own.without, other.without, strict=True)]
        sizes = [one + two for one, two in zip(own.sizes, other.sizes, strict=True)]
        effective, differ = effective_number(sizes), own.units_that_differ(other)
        confidence = self._trust.confidence
        by_runs = len(own.scores) > 1 or len(other.scores) > 1
        found: dict[str, Any] = {"difference": rounded(difference)}
        if by_runs:
            spread = spread_of(standard_error(without), effective, [own.scores, other.scores])
            half = spread.half_width(confidence)
            ends = Interval(
                difference - half, difference + half, math.sqrt(spread.variance), len(differ), effective
            )
            p, df, is_exact = spread.p(difference), spread.df, False
        else:
            ends = difference_jackknife(difference, without, len(differ), effective, confidence)
            p, df = self._p(source, group, own, other, differ), degrees_of_freedom(effective)
            is_exact = len(differ) <= MOST_FOR_ALL_SWAPS
        shown = None if ends.se is None or ends.low is None else detectable(ends.se, df)
        found |= {
            "low": rounded(ends.low),
            "high": rounded(ends.high),
            "p": rounded(p),
            "p_holm": rounded(p),
            "test": "t" if by_runs else "randomisation",
            "exact": is_exact,
            "units_that_differ": len(differ),
            "detectable": rounded(shown),
        }
        if ends.reason is not None:
            found["reason"] = ends.reason
        if self._detect is not None:
            needed = None if shown is None else math.ceil(self._size * (shown / self._detect) ** 2 - 1e-9)
            found["units_needed"] = needed
        return found

    def _p(
        self, source: UnitColumns, group: RateGroup, own: _Tested, other: _Tested, differ: Sequence[int]
    ) -> float:
        observed = other.score - own.score
        if not differ:
            return 1.0
        columns = group.columns
        pairs = [(own.kinds(unit)[0], other.kinds(unit)[0]) for unit in differ]
        is_exact = len(differ) <= MOST_FOR_ALL_SWAPS
        if is_exact:
            changes = [all_swapped_sums([column[b] - column[a] for a, b in pairs]) for column in columns]
        else:
            rows = []
            for unit, (a, b) in zip(differ, pairs, strict=True):
                row = {2 * n: column[a] for n, column in enumerate(columns) if column[a]}
                row |= {2 * n + 1: column[b] for n, column in enumerate(columns) if column[b]}
                rows.append((self._keys[unit], row))
            sums = weighted_sums(rows, 2 * len(columns), SWAP, self._trust.resamples, self._trust.seed)
            changes = [
                [b - a for a, b in zip(*sums[2 * n : 2 * n + 2], strict=True)] for n in range(len(columns))
            ]
        firsts = own.shifted(columns, changes, 1)
        seconds = other.shifted(columns, changes, -1)
        place = own.place
        swapped = [
            math.inf if one is None or two is None else two - one
            for one, two in zip(group.values(firsts)[place], group.values(seconds)[place], strict=True)
        ]
        return (exact_p if is_exact else sampled_p)(observed, swapped)


class _Tested:
    """One rate of one system: of each run, of their mean, and of the mean without each unit."""

    def __init__(self, source: UnitColumns, group: RateGroup, path: Path, runs: Sequence[range]) -> None:
        self.place = list(group.paths).index(path)
        self._source, self._runs, self._columns = source, runs, group.columns
        self._times = [source.times_of(members) for members in runs]
        values = [
            group.values([[summed(column, times)] for column in group.columns])[self.place][0]
            for times in self._times
        ]
        by_run = []
        for members, times in zip(runs, self._times, strict=True):
            of_kinds = group.without_each(times)[self.place]
            by_run.append([of_kinds[kind] for kind in source.kind_of[members.start : members.stop]])
        if None in values or any(None in of_run for of_run in by_run):
            raise UsageError(f"{'.'.join(path)} is undefined in one of the systems", advice="leave it out")
        self.scores: list[float] = [value for value in values if value is not None]
        self.score = math.fsum(self.scores) / len(self.scores)
        self.without = [
            math.fsum([value for value in row if value is not None]) / len(row)
            for row in zip(*by_run, strict=True)
        ]
        weights = list(map(sum, zip(*columns_that_weigh(group, path), strict=True)))
        self.sizes = [sum(weights[kind] for kind in self.kinds(unit)) for unit in range(len(runs[0]))]

    def kinds(self, unit: int) -> list[int]:
        """Return the kinds of a unit in all runs."""
        return [self._source.kind_of[members[unit]] for members in self._runs]

    def interval(self, confidence: float) -> Interval:
        """Return the interval of the score, or of the mean of the scores of the runs."""
        units, effective = sum(map(bool, self.sizes)), effective_number(self.sizes)
        if len(self.scores) == 1 or units < 2 or not 0 < self.score < 1:
            return logit_jackknife(self.score, self.without, units, effective, confidence)
        spread = spread_of(standard_error(self.without), effective, [self.scores])
        se = math.sqrt(spread.variance)
        return logit_interval(self.score, se, spread.df, units, effective, confidence)

    def units_that_differ(self, other: _Tested) -> list[int]:
        """Return the units whose counts behind the rate are not the same in all runs of both systems."""
        counts = list(zip(*self._columns, strict=True))
        return [
            unit
            for unit in range(len(self.sizes))
            if len({counts[kind] for kind in (*self.kinds(unit), *other.kinds(unit))}) > 1
        ]

    def shifted(
        self, columns: Sequence[Column], changes: Sequence[Sequence[int]], sign: int
    ) -> list[list[int]]:
        """Return the sums of the columns after each change, which is added or taken away."""
        found = []
        for column, of_column in zip(columns, changes, strict=True):
            total = summed(column, self._times[0])
            found.append([total + sign * change for change in of_column])
        return found
