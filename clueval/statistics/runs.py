"""Several runs of a system, or of two: intervals and tests that hold for other documents and for other runs.

Source: the variance of a mean over runs and units, with the degrees of freedom of Satterthwaite 1946.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from clueval.statistics.distributions import t_p, t_quantile
from clueval.statistics.jackknife import degrees_of_freedom


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
    """Return the standard deviation (n - 1); None for fewer than two values.

    >>> standard_deviation([1.0, 3.0])
    1.4142135623730951
    """
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
