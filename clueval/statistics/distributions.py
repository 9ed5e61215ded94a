"""Student's t distribution, intervals of a proportion of independent trials, and McNemar's exact test.

The degrees of freedom of Student's t need not be whole. The test compares two classifiers on the same cases. The spans
of a document are not independent, so clueval applies neither intervals of proportions nor this test to spans.
"""

from __future__ import annotations

import math
from functools import lru_cache
from math import comb, exp, fsum, lgamma, log

from clueval.core.beta import inverse_beta, regularised_beta, require_trials, upper_bound
from clueval.files.errors import UsageError
from clueval.files.options import require_share


def t_p(t: float, df: float) -> float:
    """Return the two-sided p-value of a value of Student's t with `df` degrees of freedom.

    >>> round(t_p(12.706204736174694, 1), 10)
    0.05
    """
    _require_positive("df", df)
    if math.isinf(t):
        return 0.0
    square = t * t
    if square < df:  # the sum of both tails is near 1: compute what is missing
        return 1 - regularised_beta(square / (df + square), 0.5, df / 2)
    return regularised_beta(df / (df + square), df / 2, 0.5)


def t_below(t: float, df: float) -> float:
    """Return the probability that Student's t is at most this value.

    >>> round(t_below(-12.706204736174694, 1), 10), t_below(0.0, 1)
    (0.025, 0.5)
    """
    both = t_p(t, df)
    return both / 2 if t < 0 else 1 - both / 2


@lru_cache(maxsize=4096)
def t_quantile(q: float, df: float) -> float:
    """Return the quantile of Student's t: the value that is exceeded with probability ``1 - q``.

    Raises `UsageError` for a `q` that is not between 0 and 1 and for a `df` that is not above 0.

    >>> round(t_quantile(0.975, 3), 4)
    3.1824
    """
    require_share("q", q)
    _require_positive("df", df)
    if q < 0.5:
        return -t_quantile(1 - q, df)
    tails = 2 * (1 - q)
    within = 2 * q - 1
    middle = inverse_beta(within, 0.5, df / 2)
    if middle < 0.5:
        return math.sqrt(df * middle / (1 - middle))
    outside = inverse_beta(tails, df / 2, 0.5)
    return math.sqrt(df * (1 - outside) / outside)


def _require_positive(name: str, value: float) -> None:
    """Raise `UsageError` unless the value is a number above 0."""
    if not (value > 0 and math.isfinite(value)):
        raise UsageError(f"{name} must be a number above 0, not {value!r}")


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


def trials_needed(k: int, limit: float, confidence: float = 0.95, *, most: int = 10**9) -> int | None:
    """Return the least number of trials that shows, with `k` events, a share of no more than `limit`.

    It is the least n with ``upper_bound(k, n) <= limit``; None if there is none up to `most`. Without an event it is
    ``ceil(ln(1 - confidence) / ln(1 - limit))``.

    >>> trials_needed(0, 0.01), trials_needed(3, 0.05)
    (299, 153)
    """
    from bisect import bisect_left

    trials = range(k + 1, most + 1)
    found = bisect_left(trials, True, key=lambda n: upper_bound(k, n, confidence) <= limit)
    return trials[found] if found < len(trials) else None


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
