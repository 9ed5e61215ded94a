"""One rate of one system while it is compared: of each run, of their mean, and of the mean without each unit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from clueval.evaluation.units.columns import Column, UnitColumns, added, counts_by_kind, summed
from clueval.evaluation.units.intervals import columns_that_weigh
from clueval.evaluation.units.rates import RateGroup, Value
from clueval.evaluation.units.recipes import Path
from clueval.statistics.jackknife import (
    Interval,
    effective_number,
    logit_interval,
    logit_jackknife,
    spread_of,
    standard_error,
)

UNDEFINED = "the score is undefined"
UNDEFINED_WITHOUT = f"{UNDEFINED} without one of the units"


class TestedRate:
    """One rate of one system.

    Attributes:
        runs: the numbers of the units of each run.
        scores: of the runs; empty if the rate is undefined in one of them.
        score: their mean, None if it is undefined.
        without: the mean without each unit, None if it is undefined without one of them.
        sizes: what each unit weighs, over all runs.
        place: of the rate in its group.
    """

    __test__ = False  # no test of pytest, whatever the name begins with

    def __init__(self, source: UnitColumns, group: RateGroup, path: Path, runs: Sequence[range]) -> None:
        self.place = list(group.paths).index(path)
        self.runs, self._source, self._columns = runs, source, group.columns
        self._times = [source.times_of(members) for members in runs]
        values = [
            group.values([[summed(column, times)] for column in group.columns])[self.place][0]
            for times in self._times
        ]
        self.scores = [value for value in values if value is not None]
        if len(self.scores) < len(runs):
            self.scores = []
        self.score = _mean(values)
        by_run = []
        for members, times in zip(runs, self._times, strict=True):
            of_kinds = group.without_each(times)[self.place]
            by_run.append([of_kinds[kind] for kind in source.kind_of[members.start : members.stop]])
        without = [mean for row in zip(*by_run, strict=True) if (mean := _mean(row)) is not None]
        self.without = without if len(without) == len(runs[0]) else None
        weights = dict(added(columns_that_weigh(group, path)).items())
        self.sizes = [sum(weights.get(kind, 0) for kind in self.kinds(unit)) for unit in range(len(runs[0]))]

    def kinds(self, unit: int) -> list[int]:
        """Return the kinds of a unit in all runs."""
        return [self._source.kind_of[members[unit]] for members in self.runs]

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
        counts = counts_by_kind(self._columns)
        differ = []
        for unit in range(len(self.sizes)):
            first, *others = map(counts.get, {*self.kinds(unit), *other.kinds(unit)})
            if any(each != first for each in others):
                differ.append(unit)
        return differ

    def shares(self, other: TestedRate) -> Iterator[tuple[float, int]]:
        """Yield for each unit how much of the difference to another system depends on it; nothing if undefined."""
        if self.score is None or other.score is None or self.without is None or other.without is None:
            return
        difference = other.score - self.score
        for unit, change in enumerate(differences(self.without, other.without)):
            yield difference - change, unit

    def shifted(
        self, columns: Sequence[Column], changes: Sequence[Sequence[int]], sign: int
    ) -> list[list[int]]:
        """Return the sums of the columns after each change, which is added or taken away."""
        found = []
        for column, of_column in zip(columns, changes, strict=True):
            total = summed(column, self._times[0])
            found.append([total + sign * change for change in of_column])
        return found


def differences(own: Sequence[float], other: Sequence[float]) -> list[float]:
    """Return the differences of the scores of two systems, one by one."""
    return [two - one for one, two in zip(own, other, strict=True)]


def _mean(values: Sequence[Value]) -> float | None:
    """The mean; None if one of the values is undefined."""
    defined = [value for value in values if value is not None]
    return math.fsum(defined) / len(defined) if len(defined) == len(values) else None
