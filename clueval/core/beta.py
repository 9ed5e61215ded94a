"""The regularised incomplete beta function I_x(a, b) and its inverse, to 1e-9 and better; the bound of a share.

The function is a continued fraction, evaluated from the front (modified Lentz). Its inverse is found by Newton's steps
inside a bracket that each step narrows, and by halving the bracket where a step would leave it.

Source: NIST Digital Library of Mathematical Functions, 8.17.
"""

from __future__ import annotations

import math
from functools import lru_cache

from clueval.files.errors import UsageError
from clueval.files.options import require_share

_TINY = 1e-300
_MOST_TERMS = 100_000
_LARGE = 1e4
"""From this argument on, the difference of two logarithms of gamma comes from Stirling's series."""


def regularised_beta(x: float, a: float, b: float) -> float:
    """Return I_x(a, b), the probability that a beta variable with parameters `a` and `b` is at most `x`.

    >>> round(regularised_beta(0.5, 2, 3), 12)
    0.6875
    """
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _lower(1 - x, x, b, a)
    return _lower(x, 1 - x, a, b)


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


def _lower(x: float, rest: float, a: float, b: float) -> float:
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
    return math.lgamma(small) - _log_gamma_rise(large, small)


def _log_gamma_rise(large: float, more: float) -> float:
    """lgamma(large + more) - lgamma(large), without the difference of two large numbers."""
    above = large + more
    return (
        (large - 0.5) * math.log1p(more / large)
        + more * math.log(above)
        - more
        + (1 / above - 1 / large) / 12
        - (1 / above**3 - 1 / large**3) / 360
    )


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
