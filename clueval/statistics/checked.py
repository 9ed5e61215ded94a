"""Checks of the arguments of the formulas."""

from __future__ import annotations

import math

from clueval.exceptions import UsageError


def require_share(name: str, value: float) -> None:
    """Raise `UsageError` unless 0 < value < 1."""
    if not 0 < value < 1:  # NaN is not, either
        raise UsageError(f"{name} must be between 0 and 1, not {value!r}", advice="for example 0.95")


def require_positive(name: str, value: float) -> None:
    """Raise `UsageError` unless the value is a number above 0."""
    if not (value > 0 and math.isfinite(value)):
        raise UsageError(f"{name} must be a number above 0, not {value!r}")


def require_trials(successes: int, trials: int) -> None:
    """Raise `UsageError` unless there is a trial and 0 <= successes <= trials."""
    if not 0 <= successes <= trials or not trials:
        raise UsageError(f"there cannot be {successes} successes in {trials} trials")
