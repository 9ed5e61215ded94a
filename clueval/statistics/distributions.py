"""Distributions: the incomplete beta function, Student's t, intervals of a share of trials, and McNemar's exact test.

The area under a precision-recall curve stands here, too.

The regularised incomplete beta function I_x(a, b) and its inverse are right to 1e-9 and better. The function is a
continued fraction, evaluated from the front (modified Lentz). Its inverse is found by Newton's steps inside a bracket
that each step narrows, and by halving the bracket where a step would leave it (NIST Digital Library of Mathematical
Functions, 8.17).

The degrees of freedom of Student's t need not be whole. McNemar's test compares two classifiers on the same cases. The
spans of a document are not independent, so clueval applies neither intervals of proportions nor this test to spans.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache

from clueval.files.errors import UsageError
from clueval.files.options import require_share

_TINY = 1e-300
_MOST_TERMS = 100_000
_LARGE = 1e4
"""From this argument on, the difference of two logarithms of gamma comes from Stirling's series."""


def regularised_beta(x: float, a: float, b: float) -> float:
    """Return I_x(a, b), the probability that a beta variable with parameters `a` and `b` is at most `x`."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _below_mean(1 - x, x, b, a)
    return _below_mean(x, 1 - x, a, b)


def inverse_beta(p: float, a: float, b: float) -> float:
    """Return the x for which I_x(a, b) is `p`."""
    if p <= 0 or p >= 1:
        return float(p >= 1)
    low, high = 0.0, 1.0
    x = a / (a + b)
    for _ in range(2_000):
        excess = regularised_beta(x, a, b) - p
        if not excess:
            return x
        low, high = (low, x) if excess > 0 else (x, high)
        slope = _density(x, a, b)
        following = x - excess / slope if slope > 0 else low
        if not low < following < high:
            following = (low + high) / 2
        if following in (low, high) or abs(following - x) <= 1e-16 * x:
            return following
        x = following
    return x


def _below_mean(x: float, rest: float, a: float, b: float) -> float:
    """I_x(a, b) for an x below the mean; `rest` is 1 - x."""
    if rest <= 0:
        return 1.0
    front = math.exp(a * math.log(x) + b * math.log(rest) - log_beta(a, b)) / a
    return front * _fraction(x, a, b)


def _fraction(x: float, a: float, b: float) -> float:
    c, d = 1.0, 1 / _not_zero(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / _not_zero(1 + term * d)
            c = _not_zero(1 + term / c)
            value *= c * d
        if abs(c * d - 1) < 1e-16:
            break
    return value


def _not_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


def _density(x: float, a: float, b: float) -> float:
    if not 0 < x < 1:
        return 0.0
    try:
        return math.exp((a - 1) * math.log(x) + (b - 1) * math.log1p(-x) - log_beta(a, b))
    except OverflowError:
        return math.inf


@lru_cache(maxsize=64)
def log_beta(a: float, b: float) -> float:
    """Return the logarithm of the beta function."""
    small, large = sorted((a, b))
    if large < _LARGE:
        return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    above = large + small
    rise = (  # lgamma(above) - lgamma(large), without the difference of two large numbers
        (large - 0.5) * math.log1p(small / large)
        + small * math.log(above)
        - small
        + (1 / above - 1 / large) / 12
        - (1 / above**3 - 1 / large**3) / 360
    )
    return math.lgamma(small) - rise


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


def require_trials(successes: int, trials: int) -> None:
    """Raise `UsageError` unless there is a trial and 0 <= successes <= trials."""
    if not 0 <= successes <= trials or not trials:
        raise UsageError(f"there cannot be {successes} successes in {trials} trials")


def t_p(t: float, df: float) -> float:
    """Return the two-sided p-value of a value of Student's t with `df` degrees of freedom.

    >>> round(t_p(12.706204736174694, 1), 10)
    0.05
    """
    _require_degrees(df)
    if math.isinf(t):
        return 0.0
    square = t * t
    if square < df:  # the sum of both tails is near 1: compute what is missing
        return 1 - regularised_beta(square / (df + square), 0.5, df / 2)
    return regularised_beta(df / (df + square), df / 2, 0.5)


def t_below(t: float, df: float) -> float:
    """Return the probability that Student's t is at most this value."""
    both = t_p(t, df)
    return both / 2 if t < 0 else 1 - both / 2


@lru_cache(maxsize=4096)
def t_quantile(q: float, df: float) -> float:
    """Return the quantile of Student's t: the value that is exceeded with probability ``1 - q``.

    Raises `UsageError` for a `q` that is not between 0 and 1 and for a `df` that is not above 0. A quantile that is
    too large for a float is infinite.

    >>> round(t_quantile(0.975, 3), 4), round(t_quantile(0.025, 3), 4)
    (3.1824, -3.1824)
    """
    require_share("q", q)
    _require_degrees(df)
    tails = 2 * min(q, 1 - q)
    middle = inverse_beta(abs(2 * q - 1), 0.5, df / 2)
    if middle < 0.5:
        distance = math.sqrt(df * middle / (1 - middle))
    else:
        outside = inverse_beta(tails, df / 2, 0.5)
        distance = math.sqrt(df * (1 - outside) / outside) if outside else math.inf
    return math.copysign(distance, q - 0.5)


def _require_degrees(df: float) -> None:
    """Raise `UsageError` unless the degrees of freedom are a number above 0."""
    if not (df > 0 and math.isfinite(df)):
        raise UsageError(f"df must be a number above 0, not {df!r}")


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
    index = bisect_left(trials, True, key=lambda n: upper_bound(k, n, confidence) <= limit)
    return trials[index] if index < len(trials) else None


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
        return 2 * sum(math.comb(n, k) for k in range(least + 1)) / (1 << n)
    whole = math.lgamma(n + 1)
    tail = [
        math.exp(whole - math.lgamma(k + 1) - math.lgamma(n - k + 1) - n * math.log(2))
        for k in range(least + 1)
    ]
    return min(1.0, 2 * math.fsum(tail))


_EXACT = 1000
"""Up to this many disagreements the sum uses exact integers, above it logarithms."""


def average_precision(points: Iterable[tuple[float, float, float]]) -> float:
    """Return the area under the steps of a precision-recall curve: of thresholds with precision and recall.

    It is the sum, from the highest threshold down, of precision times the gain in recall over the highest recall
    before, ``sum over n of (R_n - R_(n-1)) P_n``; where recall never falls, scikit-learn's `average_precision_score`.

    >>> average_precision([(0.5, 0.5, 1.0), (0.9, 1.0, 0.5)])
    0.75
    """
    highest, steps = 0.0, []
    for _, precision, recall in sorted(points, reverse=True):
        if recall > highest:
            steps.append((recall - highest) * precision)
            highest = recall
    return math.fsum(steps)
