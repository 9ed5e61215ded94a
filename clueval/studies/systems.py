"""Systems that are compared: each one result, or the results of several runs, with the same units.

A rate of a system is computed of each run, of their mean, and of the mean without each unit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from clueval.arguments import require_kind
from clueval.evaluation.result import Result
from clueval.evaluation.signature import require_same
from clueval.evaluation.units.columns import Column, UnitColumns, added, counts_by_kind, summed
from clueval.evaluation.units.columns import Path as RatePath
from clueval.evaluation.units.intervals import columns_that_weigh
from clueval.evaluation.units.loaded import load_result
from clueval.evaluation.units.rates import RateGroup, Value
from clueval.evaluation.units.unit import Unit, Units
from clueval.files.errors import UsageError, described
from clueval.statistics.jackknife import (
    Interval,
    effective_number,
    logit_interval,
    logit_jackknife,
    spread_of,
    standard_error,
)

Run = Result | str | Path
System = Run | Sequence[Run]
"""A result or the file of a saved one; several of them are runs of one system."""


@dataclass(frozen=True, slots=True)
class ComparedSystem:
    """A system: its name, its runs, and the units of each run, in the same order for all systems."""

    name: str
    runs: Sequence[Result]
    units: Sequence[Sequence[Unit]]


def systems_of(given: Mapping[str, System], force: bool) -> list[ComparedSystem]:
    """Return the systems. Raises `UsageError` if their signatures, units, texts or gold spans differ.

    With `force`, signatures and hashes of the gold files may differ.
    """
    runs = {name: _runs_of(system) for name, system in given.items()}
    named = [*runs]
    first = runs[named[0]][0]
    own = require_units(first, named[0])
    found = []
    for name, results in runs.items():
        for result in results:
            _require_comparable(
                first, result, own, require_units(result, name), f"{named[0]} and {name}", force
            )
        found.append(
            ComparedSystem(name, results, [_aligned(own, require_units(run, name)) for run in results])
        )
    return found


def named_systems(given: Sequence[Any], names: Sequence[str] | None) -> dict[str, Any]:
    """Return systems by their `names`; None: by their files, or as A, B, C. Raises `UsageError` for a name twice."""
    for name in names or ():
        require_kind(name, "str", "the name of a system")
    named = list(names) if names is not None else [_name(system, n) for n, system in enumerate(given)]
    if len(named) != len(given) or len({*named}) < len(named):
        raise UsageError(
            f"{len(given)} systems cannot have the names {', '.join(map(repr, named))}",
            advice="give each system a name of its own",
        )
    return dict(zip(named, given, strict=True))


def _runs_of(system: System) -> list[Result]:
    several = [system] if isinstance(system, Result | str | Path) else system
    if not isinstance(several, list | tuple) or not several:
        raise UsageError(
            f"a system must be a Result, the file of a saved one, or a list of these, not {described(system)}",
            advice=_ADVICE,
        )
    for run in several:
        if not isinstance(run, Result | str | Path):
            raise UsageError(
                f"a run must be a Result or the file of a saved one, not {described(run)}", advice=_ADVICE
            )
    return [run if isinstance(run, Result) else load_result(run) for run in several]


_ADVICE = (
    "clueval.score gives a Result; score with resample_by, so that it has counts by unit, or give gold first"
)


def _name(system: Any, number: int) -> str:
    several = system if isinstance(system, list | tuple) else [system]
    if several and all(isinstance(run, str | Path) for run in several):
        return ",".join(map(str, several))
    return chr(ord("A") + number) if number < 26 else f"system {number + 1}"


def require_units(result: Result, name: str) -> Units:
    """Return the units of a result of this name. Raises `UsageError` if there are none, or only one."""
    units = result.units
    if units is None:
        raise UsageError(
            f"{name} has no counts by unit",
            advice="score again with resample_by='document', and save the result",
        )
    if len(units.units) < 2:
        raise UsageError(
            f"a test needs several units, and {name} has {len(units.units) or 'no'} {units.by}",
            advice="score again with resample_by='sentence', and save the result",
        )
    return units


def _require_comparable(
    first: Result, other: Result, own: Units, units: Units, names: str, force: bool
) -> None:
    if not force:
        require_same(first.signature, other.signature, "compared")
        if None not in (own.gold_sha256, units.gold_sha256) and own.gold_sha256 != units.gold_sha256:
            raise UsageError(
                f"{names} were scored against different gold files",
                advice="score both against the same gold file, or use force",
            )
    _require_counts(first, other, names)
    if own.by != units.by:
        raise UsageError(
            f"units of {names} are {own.by} and {units.by}", advice="use the same resample_by for both"
        )
    missing = sorted({*own.keys} ^ {*units.keys})
    if missing:
        raise UsageError(
            f"{names} have different units: {missing[0]!r} is in only one of them"
            + (f", as are {len(missing) - 1} more" if len(missing) > 1 else ""),
            advice="score the same documents",
        )
    tokens = {unit.key: unit.tokens for unit in own.units}
    for unit in units.units:
        if tokens[unit.key] != unit.tokens:
            raise UsageError(
                f"{names} have different texts: unit {unit.key!r} has {tokens[unit.key]} and {unit.tokens} positions",
                advice="score the same documents",
            )


def _require_counts(first: Result, other: Result, names: str) -> None:
    """Raise `UsageError` if the other result lacks a metric or a sequence of the first, which `force` cannot mend."""
    own, counted = first.counted, other.counted
    assert own is not None
    assert counted is not None
    metrics = {metric.name: metric for metric in counted.metrics}
    for metric in own.metrics:
        if metrics.get(metric.name) != metric:
            raise UsageError(
                f"{names} were not both counted by metric {metric.name!r} with the same settings",
                advice="score both with the same options",
            )
    for sequence in own.sequences:
        if sequence not in counted.sequences:
            raise UsageError(
                f"{names} do not both have the layer {sequence!r}", advice="score both with the same options"
            )


def _aligned(own: Units, units: Units) -> list[Unit]:
    by_key: Mapping[str, Unit] = {unit.key: unit for unit in units.units}
    return [by_key[key] for key in own.keys]


def all_units(systems: Sequence[ComparedSystem]) -> list[Unit]:
    """Return the units of all runs of all systems, one run after the other."""
    return list(chain.from_iterable(units for system in systems for units in system.units))


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

    def __init__(self, source: UnitColumns, group: RateGroup, path: RatePath, runs: Sequence[range]) -> None:
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
