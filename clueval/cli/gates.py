"""The options of gates, and what becomes of a result that fails one."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from clueval.cli import printing
from clueval.cli.fields import given_fields, typed
from clueval.cli.parser import Command
from clueval.evaluation.result import Result
from clueval.evaluation.units.trust import Trust
from clueval.exceptions import UsageError
from clueval.overwriting import input_path

if TYPE_CHECKING:
    from clueval.studies.gates import Limit

_NEED_BASELINE = {"score": "--score", "allow_drop": "--allow-drop", "significant": "--significant"}


def add_gates(parser: Command) -> None:
    """The options that make a command exit with 1 if a score is too low."""
    group = parser.topic("gates")
    group.add_argument(
        "--fail-under",
        action="append",
        default=[],
        metavar="PATH=X",
        help="exit with 1 if this score (its place below metrics in the JSON, or f1 of the headline) is below X, a "
        "fraction or a percentage (0.72 or 72%%); PATH.low=X tests the low end of its interval",
    )
    group.add_argument(
        "--fail-if-worse",
        type=input_path,
        metavar="BASELINE",
        help="exit with 1 if a score is below that of this saved result",
    )
    group.add_argument(
        "--score",
        action="append",
        metavar="PATH",
        help="with --fail-if-worse: the score that is compared (default: F1 of every headline)",
    )
    group.add_argument(
        "--allow-drop",
        type=typed(_drop),
        metavar="X",
        help="with --fail-if-worse: how far a score may fall, a fraction or a percentage: 0.01 or 1%% is one point "
        "(default: 0)",
    )
    group.add_argument(
        "--significant",
        action="store_true",
        help="with --fail-if-worse: a score fails only if it has also fallen significantly by more than --allow-drop",
    )


def require_gates(options: argparse.Namespace) -> None:
    """Raise `UsageError` for options of gates that cannot be read, or lack the baseline."""
    if options.fail_if_worse is None:
        for name, flag in _NEED_BASELINE.items():
            given = getattr(options, name)
            if given is not None and given is not False:
                raise UsageError(f"{flag} needs --fail-if-worse", advice="add --fail-if-worse BASELINE")
    for text in options.fail_under:
        _limit(text)


def baseline_of(options: argparse.Namespace) -> Result | None:
    """The saved result that ``--fail-if-worse`` names.

    Raises `UsageError` if it cannot be tested by units, and that is asked for.
    """
    if options.fail_if_worse is None:
        return None
    from clueval.evaluation.units.loaded import load_result

    baseline = load_result(options.fail_if_worse)
    if options.significant:
        from clueval.studies.systems import require_units

        units = require_units(baseline, str(options.fail_if_worse))
        asked = given_fields(Trust, options).get("resample_by", units.by)
        if asked != units.by:
            raise UsageError(
                f"the units of the baseline are {units.by}, not {asked}", advice="leave out --resample-by"
            )
    return baseline


def units_of(baseline: Result | None) -> str | None:
    """What the units of a baseline are, so that a result can be compared with it; None if it has none."""
    return None if baseline is None or baseline.units is None else baseline.units.by


def needs_units(options: argparse.Namespace) -> bool:
    """Whether a gate needs counts by unit."""
    return options.significant or any(_limit(text).end is not None for text in options.fail_under)


def with_gates(result: Result, options: argparse.Namespace, trust: Trust, baseline: Result | None) -> Result:
    """The result with the outcomes of all gates; the result itself if there are none."""
    if not options.fail_under and baseline is None:
        return result
    from clueval.studies.gates import ScoreGate, fail_if_worse, fail_under

    def gates() -> Iterator[ScoreGate]:
        yield from fail_under(result, map(_limit, options.fail_under), trust)
        if baseline is not None:
            yield from fail_if_worse(
                result,
                baseline,
                options.score,
                options.allow_drop or 0.0,
                trust,
                significant=options.significant,
            )

    found = list(gates())
    for gate in found:
        if not gate.passed:
            printing.remark(f"clueval {options.command}: {gate.score}: {gate.why}")
    return replace(result, gates=[gate.to_dict() for gate in found])


def exit_code(result: Result) -> int:
    """1 if a gate has failed, 0 otherwise."""
    return int(any(not gate["passed"] for gate in result.gates or ()))


def _drop(text: str) -> float:
    from clueval.studies.gates import drop_of

    return drop_of(text)


def _limit(text: str) -> Limit:
    from clueval.studies.gates import limit_of

    try:
        return limit_of(text)
    except ValueError as error:
        raise UsageError(f"--fail-under: {error}") from None
