"""The one-sided upper bound of a share, after Clopper and Pearson (1934).

If `k` of `n` independent trials have an event, the bound is the probability at which as few events as `k`
would be seen only in ``1 - confidence`` of all samples of `n` trials. It is the solution of
``P(X <= k; n, p) = 1 - confidence``; the left side is a regularised incomplete beta function, which a continued
fraction computes (Lentz's method), and bisection finds p.
"""

from __future__ import annotations

import math

from clueval.exceptions import UsageError

_TINY = 1e-300
_STEPS = 100
"""Each step of the bisection halves the interval, so 100 steps reach the precision of floats."""


def upper_bound(k: int, n: int, confidence: float = 0.95) -> float:
    """Return the upper bound of a share of which `k` of `n` trials were seen; 1 if `k` is `n`.

    The result is rounded to 12 decimals, so that it is the same on every machine. Raises `UsageError` for
    numbers that are no counts and for a confidence outside (0, 1).

    >>> upper_bound(0, 59), upper_bound(3, 100)
    (0.049507609888, 0.07571079375)
    """
    if not 0 <= k <= n or n < 1:
        raise UsageError(f"there is no share of {k} in {n} trials", advice="k from 0 to n, n from 1 on")
    require_confidence(confidence)
    if k == n:
        return 1.0
    rest = 1 - confidence
    if k == 0:
        return round(-math.expm1(math.log(rest) / n), 12)
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if _beta(1 - middle, n - k, k + 1) > rest:
            low = middle
        else:
            high = middle
    return round((low + high) / 2, 12)


def require_confidence(confidence: object) -> None:
    """Raise `UsageError` for a confidence that is not a number between 0 and 1."""
    is_number = isinstance(confidence, int | float) and not isinstance(confidence, bool)
    if not is_number or not 0 < confidence < 1:  # type: ignore[operator]  # a number
        raise UsageError(f"confidence must be a number between 0 and 1, not {confidence!r}")


def _beta(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b)."""
    if x <= 0 or x >= 1:
        return min(max(x, 0.0), 1.0)
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(x, a, b) / a
    return 1 - front * _fraction(1 - x, b, a) / b


def _fraction(x: float, a: float, b: float) -> float:
    """Return the continued fraction of the incomplete beta function."""
    c, d = 1.0, 1 / _not_zero(1 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, 100_000):
        for step in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _not_zero(1 + step * d)
            c = _not_zero(1 + step / c)
            fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return fraction


def _not_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
