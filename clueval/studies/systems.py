"""Systems that are compared: each one result, or the results of several runs, with the same units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from clueval.evaluation.result import Result
from clueval.evaluation.signature import require_same
from clueval.evaluation.units.loaded import load_result
from clueval.evaluation.units.unit import Unit, Units
from clueval.exceptions import UsageError, described, require_kind

Run = Result | str | Path
System = Run | Sequence[Run]
"""A result or the file of a saved one; several of them are runs of one system."""


@dataclass(frozen=True, slots=True)
class ComparedSystem:
    """A system: its name, its runs, and the units of each run, in the same order for all systems."""

    name: str
    runs: Sequence[Result]
    units: Sequence[Sequence[Unit]]


def systems_of(given: Sequence[System], names: Sequence[str] | None, force: bool) -> list[ComparedSystem]:
    """Return the systems. Raises `UsageError` if their signatures, units, texts or gold spans differ.

    With `force`, signatures and hashes of the gold files may differ.
    """
    runs = [_runs_of(system) for system in given]
    for name in names or ():
        require_kind(name, "str", "the name of a system")
    named = list(names) if names is not None else [_name(system, n) for n, system in enumerate(given)]
    if len(named) != len(runs) or len({*named}) < len(named):
        raise UsageError(
            f"{len(runs)} systems cannot have the names {', '.join(map(repr, named))}",
            advice="give each system a name of its own",
        )
    first = runs[0][0]
    own = require_units(first, named[0])
    found = []
    for name, results in zip(named, runs, strict=True):
        for result in results:
            _require_comparable(
                first, result, own, require_units(result, name), f"{named[0]} and {name}", force
            )
        found.append(
            ComparedSystem(name, results, [_aligned(own, require_units(run, name)) for run in results])
        )
    return found


def _runs_of(system: System) -> list[Result]:
    require_system(system, "a system")
    several = [system] if isinstance(system, Result | str | Path) else list(system)
    if not several:
        raise UsageError("a system has no runs", advice="give a result, a file, or a list of them")
    for run in several:
        if not isinstance(run, Result | str | Path):
            raise UsageError(
                f"a run must be a Result or the file of a saved one, not {described(run)}",
                advice="clueval.score gives a Result; score with resample_by, so that it has counts by unit",
            )
    return [run if isinstance(run, Result) else load_result(run) for run in several]


def require_system(system: object, name: str) -> None:
    """Raise `UsageError` for anything but a result, the path of a saved one, or several of them."""
    if not isinstance(system, Result | str | Path | list | tuple):
        raise UsageError(
            f"{name} must be a Result, the file of a saved one, or a list of these, not {described(system)}",
            advice="clueval.score gives a Result; score with resample_by, so that it has counts by unit",
        )


def _name(system: System, number: int) -> str:
    several = [system] if isinstance(system, Result | str | Path) else list(system)
    if all(isinstance(run, str | Path) for run in several):
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
