"""Systems that are compared: each one result, or the results of several runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from clueval.core.count import DOCUMENT
from clueval.files.arguments import require_kind
from clueval.files.errors import UsageError, described
from clueval.results.comparing import ComparedUnits, comparable
from clueval.results.result import Result, load_result
from clueval.results.signature import require_same

Run = Result | str | Path
System = Run | Sequence[Run]
"""A result or the file of a saved one; several of them are runs of one system."""


def systems_of(given: Mapping[str, System], force: bool) -> dict[str, list[Result]]:
    """Return the runs of each system. Raises `UsageError` if their signatures or gold files differ, without `force`."""
    systems = {name: _runs_of(system) for name, system in given.items()}
    first_name, (first, *_) = next(iter(systems.items()))
    for name, runs in systems.items():
        for run in () if force else runs:
            require_same(first.signature, run.signature, "compared")
            _require_same_gold(first, run, f"{first_name} and {name}")
    return systems


def units_of_systems(systems: Mapping[str, Sequence[Result]]) -> ComparedUnits:
    """Return the units that can be compared. Raises `UsageError` if metrics, units, or texts differ."""
    return comparable({name: [run.units for run in runs] for name, runs in systems.items()})


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


def _require_same_gold(first: Result, other: Result, names: str) -> None:
    """Raise `UsageError` for other gold files; documents may be in one result only, and their gold is compared."""
    if first.plan.units == DOCUMENT or None in (first.gold_sha256, other.gold_sha256):
        return
    if first.gold_sha256 != other.gold_sha256:
        raise UsageError(
            f"{names} were scored against different gold files",
            advice="score both against the same gold file, or use force",
        )
