"""An interval of a score, or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

DIGITS = 10
"""Results of logarithms and powers are rounded to this many decimals, so that all machines print the same."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval of a score.

    Attributes:
        low, high: the ends; None if there is no interval, and `reason` says why.
        se: the standard error; None if it is not known.
        units: the number of units in which the denominator of the score is not 0.
        effective: the effective number of units.
        bound: true if no error, or nothing right, was seen, so that one end is a bound.
    """

    low: float | None
    high: float | None
    se: float | None
    units: int
    effective: float | None
    reason: str | None = None
    bound: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the interval as plain data; `reason` and `bound` only if there is a reason or a bound."""
        report: dict[str, Any] = {
            "low": rounded(self.low),
            "high": rounded(self.high),
            "se": rounded(self.se),
            "units": self.units,
            "effective": rounded(self.effective),
        }
        if self.reason is not None:
            report["reason"] = self.reason
        if self.bound:
            report["bound"] = True
        return report


def rounded(value: float | None) -> float | None:
    """Return the value rounded to `DIGITS` decimals; None stays None."""
    return None if value is None else round(value, DIGITS)
