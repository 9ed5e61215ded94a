"""Intervals of a proportion of independent trials, and McNemar's exact test of two classifiers on the same cases.

The spans of a document are not independent, so clueval applies none of these to spans.
"""

from __future__ import annotations

import math
from math import comb, exp, fsum, lgamma, log

from clueval.exceptions import UsageError
from clueval.options import require_share
from clueval.statistics.distributions import inverse_beta


def wilson(k: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return Wilson's score interval of `k` successes in `n` trials (Wilson 1927).

    >>> [round(end, 4) for end in wilson(8, 10)]
    [0.4902, 0.9433]
    """
    _require_trials(k, n)
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
    _require_trials(k, n)
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
    _require_trials(k, n)
    require_share("confidence", confidence)
    if k == n:
        return 1.0
    if k == 0:
        return round(-math.expm1(math.log(1 - confidence) / n), 12)
    return round(inverse_beta(confidence, k + 1, n - k), 12)


def mcnemar_exact(one: int, other: int) -> float:
    """Return the two-sided exact p-value of McNemar's test, from the two counts of disagreements.

    Under the null hypothesis each of the ``one + other`` disagreements goes to either side with probability
    1/2; the p-value is twice the probability of the smaller count or fewer, 1 at most. Without disagreements
    it is 1. Raises `UsageError` for negative counts.

    >>> mcnemar_exact(1, 9), mcnemar_exact(0, 0)
    (0.021484375, 1.0)
    """
    if one < 0 or other < 0:
        raise UsageError(f"counts cannot be negative: {one} and {other}")
    n, least = one + other, min(one, other)
    if 2 * least >= n - 1:
        return 1.0
    if n <= _EXACT:
        return 2 * sum(comb(n, k) for k in range(least + 1)) / (1 << n)
    return min(1.0, _tail(n, least))


_EXACT = 1000
"""Up to this many disagreements the sum uses exact integers, above it logarithms."""


def _tail(n: int, least: int) -> float:
    def log_probability(k: int) -> float:
        return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) - n * log(2)

    return 2 * fsum(exp(log_probability(k)) for k in range(least + 1))


def _require_trials(successes: int, trials: int) -> None:
    """Raise `UsageError` unless there is a trial and 0 <= successes <= trials."""
    if not 0 <= successes <= trials or not trials:
        raise UsageError(f"there cannot be {successes} successes in {trials} trials")
