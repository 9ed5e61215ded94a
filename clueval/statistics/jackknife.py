"""The jackknife over units (Tukey 1958), with an interval on the logit scale for scores between 0 and 1.

By hand, recall of units with 4 of 5, 8 of 10, 3 of 3 and 1 of 2 spans found: the score is 0.8, without one unit
0.8, 0.8, 0.764706, 0.833333; the standard error is 0.042034, the effective number of units 400/138.

>>> without = [0.8, 0.8, 13 / 17, 15 / 18]
>>> found = logit_jackknife(0.8, without, 4, effective_number([5, 10, 3, 2]), 0.95)
>>> round(found.se, 6), round(found.effective, 4), round(found.low, 4), round(found.high, 4)
(0.042034, 2.8986, 0.5489, 0.9293)

Several runs of a system, or of two, have intervals and tests that hold for other documents and for other runs: the
variance of a mean over runs and units, with the degrees of freedom of Satterthwaite 1946 (`Spread`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import mul
from typing import Any, NamedTuple

from clueval.statistics.distributions import t_p, t_quantile

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


FEWEST_THAT_DIFFER = 6
"""With fewer units in which two systems differ, no two-sided p-value is below 0.05."""

POWER = 0.8

ROUNDING = 1e-14
"""Values that differ by no more are equal: rounding changes the last bits of equal scores."""


def standard_error(without: Sequence[float], times: Sequence[int] | None = None) -> float:
    """Return the standard error of a score from its values without each unit, 0 if they are equal; O(n).

    `times` says of each value without how many units the score has it; None: each without one.
    """
    if max(without) - min(without) <= ROUNDING:
        return 0.0
    numbers = [1] * len(without) if times is None else times
    n = sum(numbers)
    mean = math.fsum(map(mul, without, numbers)) / n
    squares = [(mean - value) ** 2 * number for value, number in zip(without, numbers, strict=True)]
    return math.sqrt((n - 1) / n * math.fsum(squares))


def effective_number(sizes: Sequence[float], times: Sequence[int] | None = None) -> float:
    """Return the effective number of units of these sizes: their number if all are equal, less otherwise.

    `times` says of each size how many units have it; None: each size is that of one unit.
    """
    numbers = [1] * len(sizes) if times is None else times
    squares = math.fsum([size * size * number for size, number in zip(sizes, numbers, strict=True)])
    return math.fsum(map(mul, sizes, numbers)) ** 2 / squares if squares else 0.0


def degrees_of_freedom(effective: float) -> float:
    """Return the degrees of freedom of a standard error from this number of effective units."""
    return max(effective, 2.0) - 1


def logit_jackknife(
    score: float,
    without: Sequence[float],
    units: int,
    effective: float,
    confidence: float,
    times: Sequence[int] | None = None,
) -> Interval:
    """Return the interval of a score between 0 and 1.

    `without` are the scores without each unit (see `standard_error` for `times`), `units` is the number of units in
    which the denominator of the score is not 0, `effective` their `effective_number`.
    """
    if units < 2:
        reason = "only one unit has anything to count" if units else "no unit has anything to count"
        return Interval(None, None, None, units, effective, reason)
    se, df = standard_error(without, times), degrees_of_freedom(effective)
    if score in (0, 1):
        return bound(score, se, units, effective, confidence)
    return logit_interval(score, se, df, units, effective, confidence)


def logit_interval(
    score: float, se: float, df: float, units: int, effective: float, confidence: float
) -> Interval:
    """Return the interval of a score between 0 and 1 with this standard error, symmetrical on the logit scale."""
    if not 0 < score < 1:
        return Interval(None, None, se, units, effective, "the score does not lie between 0 and 1")
    if not se:
        reason = "all units have the same score, so the spread between units is not known"
        return Interval(None, None, se, units, effective, reason)
    t = t_quantile((1 + confidence) / 2, df)
    half, middle = t * se / (score * (1 - score)), math.log(score / (1 - score))
    return Interval(_logistic(middle - half), _logistic(middle + half), se, units, effective)


def bound(score: float, se: float, units: int, effective: float, confidence: float) -> Interval:
    """Return the interval of a score of 1 (no error was seen) or 0 (nothing right was seen)."""
    end: float = (1 - confidence) ** (1 / units)
    low, high = (end, 1.0) if score else (0.0, 1 - end)
    return Interval(low, high, se, units, effective, bound=True)


def difference_jackknife(
    difference: float, without: Sequence[float], differ: int, effective: float, confidence: float
) -> Interval:
    """Return the interval of the difference of two scores; `differ` is the number of units that differ."""
    if differ < FEWEST_THAT_DIFFER:
        reason = f"the systems differ in {differ} unit{'s' * (differ != 1)}, fewer than {FEWEST_THAT_DIFFER}"
        return Interval(None, None, None, differ, effective, reason)
    se = standard_error(without)
    half = t_quantile((1 + confidence) / 2, degrees_of_freedom(effective)) * se
    return Interval(difference - half, difference + half, se, differ, effective)


def detectable(se: float, df: float) -> float:
    """Return the difference that a test at 5 % shows with a power of about 80 %; it depends on no observed one."""
    return (t_quantile(0.975, df) + t_quantile(POWER, df)) * se


def _logistic(value: float) -> float:
    if value < 0:
        grown = math.exp(value)
        return grown / (1 + grown)
    return 1 / (1 + math.exp(-value))


class Spread(NamedTuple):
    """A variance and its degrees of freedom."""

    variance: float
    df: float

    def half_width(self, confidence: float) -> float:
        """Return half the width of the interval."""
        return t_quantile((1 + confidence) / 2, self.df) * math.sqrt(self.variance)

    def p(self, difference: float) -> float:
        """Return the two-sided p-value of a difference."""
        if not self.variance:
            return 0.0 if difference else 1.0
        return t_p(difference / math.sqrt(self.variance), self.df)


def standard_deviation(values: Sequence[float]) -> float | None:
    """Return the standard deviation (n - 1); None for fewer than two values."""
    if len(values) < 2:
        return None
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum([(value - mean) ** 2 for value in values]) / (len(values) - 1))


def spread_of(se_units: float, effective: float, groups: Sequence[Sequence[float]]) -> Spread:
    """Return the variance of a mean over runs, or of the difference of two such means.

    `se_units` is the standard error over units, from `effective` units; `groups` has the scores of the runs of
    each system. A single run adds nothing.
    """
    parts = [(se_units**2, degrees_of_freedom(effective))]
    for scores in groups:
        deviation = standard_deviation(scores)
        if deviation is not None:
            parts.append((deviation**2 / len(scores), len(scores) - 1))
    variance = math.fsum([part for part, _ in parts])
    weight = math.fsum([part**2 / df for part, df in parts])
    return Spread(variance, variance**2 / weight if weight else parts[0][1])
