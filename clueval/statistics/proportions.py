"""Intervals of a proportion of independent trials.

The spans of a document are not independent, so clueval applies none of these to spans.
"""

from __future__ import annotations

import math

from clueval.statistics.checked import require_share, require_trials
from clueval.statistics.distributions import inverse_beta


def wilson(k: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return Wilson's score interval of `k` successes in `n` trials (Wilson 1927).

    >>> [round(end, 4) for end in wilson(8, 10)]
    [0.4902, 0.9433]
    """
    require_trials(k, n)
    require_share("confidence", confidence)
    from statistics import NormalDist  # which costs more to import than the rest of this package

    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share, square = k / n, z * z / n
    middle = (share + square / 2) / (1 + square)
    half = z * math.sqrt(share * (1 - share) / n + square / (4 * n)) / (1 + square)
    return (0.0 if k == 0 else middle - half), (1.0 if k == n else middle + half)


def clopper_pearson(k: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the exact interval of `k` successes in `n` trials (Clopper and Pearson 1934).

    >>> [round(end, 4) for end in clopper_pearson(8, 10)]
    [0.4439, 0.9748]
    """
    require_trials(k, n)
    require_share("confidence", confidence)
    tail = (1 - confidence) / 2
    low = inverse_beta(tail, k, n - k + 1) if k else 0.0
    high = inverse_beta(1 - tail, k + 1, n - k) if k < n else 1.0
    return low, high


def upper_bound(k: int, n: int, confidence: float = 0.95) -> float:
    """Return the upper bound of a share of which `k` of `n` trials were seen; 1 if `k` is `n`.

    It is the probability at which as few events as `k` would be seen only in ``1 - confidence`` of all samples of `n`
    trials, the solution of ``P(X <= k; n, p) = 1 - confidence`` (Clopper and Pearson 1934).

    The result is rounded to 12 decimals, so that it is the same on every machine. Raises `UsageError` for
    numbers that are no counts and for a confidence outside (0, 1).

    >>> upper_bound(0, 59), upper_bound(3, 100)
    (0.049507609888, 0.07571079375)
    """
    require_trials(k, n)
    require_share("confidence", confidence)
    if k == n:
        return 1.0
    if k == 0:
        return round(-math.expm1(math.log(1 - confidence) / n), 12)
    return round(inverse_beta(confidence, k + 1, n - k), 12)
