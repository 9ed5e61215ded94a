"""Bootstrap intervals: percentile, and bias-corrected and accelerated (Efron 1987).

Ends are order statistics of the resampled scores.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import mul

from clueval.exceptions import UsageError
from clueval.statistics.checked import require_share


def percentile(resampled: Sequence[float], confidence: float = 0.95) -> tuple[float, float]:
    """Return the percentile interval of resampled scores.

    >>> percentile(range(1, 40), 0.9)
    (2, 38)
    """
    require_share("confidence", confidence)
    alpha = (1 - confidence) / 2
    return _ends(resampled, alpha, alpha)


def bca(
    resampled: Sequence[float],
    score: float,
    leave_one_out: Sequence[float],
    confidence: float = 0.95,
    times: Sequence[int] | None = None,
) -> tuple[float, float]:
    """Return the bias-corrected and accelerated interval of a score.

    `leave_one_out` are the scores without each unit; `times` says of each without how many units the score has it
    (None: each without one). Raises `UsageError` if all resampled scores lie on one side
    of the score, because the bias is then infinite.
    """
    low, high = bca_levels(resampled, score, leave_one_out, confidence, times)
    return _ends(resampled, low, 1 - high)


def bca_levels(
    resampled: Sequence[float],
    score: float,
    leave_one_out: Sequence[float],
    confidence: float = 0.95,
    times: Sequence[int] | None = None,
) -> tuple[float, float]:
    """Return the two probabilities whose quantiles of the resampled scores are the ends of `bca`."""
    require_share("confidence", confidence)
    _require_scores(resampled)
    below = sum(value < score for value in resampled)
    at_most = sum(value <= score for value in resampled)
    share = (below + at_most) / (2 * len(resampled))
    if not 0 < share < 1:
        raise UsageError("all resampled scores lie on one side of the score, so the bias is infinite")
    from statistics import NormalDist  # which costs more to import than the rest of this package

    normal = NormalDist()
    bias, acceleration = normal.inv_cdf(share), _acceleration(leave_one_out, times)
    levels = []
    for alpha in ((1 - confidence) / 2, (1 + confidence) / 2):
        z = bias + normal.inv_cdf(alpha)
        levels.append(normal.cdf(bias + z / (1 - acceleration * z)))
    return levels[0], levels[1]


def _acceleration(leave_one_out: Sequence[float], times: Sequence[int] | None) -> float:
    numbers = [1] * len(leave_one_out) if times is None else times
    mean = math.fsum(map(mul, leave_one_out, numbers)) / sum(numbers)
    apart = [mean - value for value in leave_one_out]
    spread: float = math.fsum([value * value * n for value, n in zip(apart, numbers, strict=True)]) ** 1.5
    cubes = math.fsum([value**3 * n for value, n in zip(apart, numbers, strict=True)])
    return cubes / (6 * spread) if spread else 0.0


def _ends(resampled: Sequence[float], below: float, above: float) -> tuple[float, float]:
    """The order statistics at these ranks from below and from above, given as shares."""
    _require_scores(resampled)
    found = sorted(resampled)
    return found[_rank(below, len(found)) - 1], found[-_rank(above, len(found))]


def _rank(share: float, number: int) -> int:
    return min(number, max(1, math.floor(share * (number + 1) + 1e-9)))


def _require_scores(resampled: Sequence[float]) -> None:
    if not resampled:
        raise UsageError("there are no resampled scores")
