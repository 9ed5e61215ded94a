"""Student's t distribution; the degrees of freedom need not be whole."""

from __future__ import annotations

import math
from functools import lru_cache

from clueval.statistics.beta import inverse_beta, regularised_beta
from clueval.statistics.checked import require_positive, require_share


def t_p(t: float, df: float) -> float:
    """Return the two-sided p-value of a value of Student's t with `df` degrees of freedom.

    >>> round(t_p(12.706204736174694, 1), 10)
    0.05
    """
    require_positive("df", df)
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
    require_positive("df", df)
    if q < 0.5:
        return -t_quantile(1 - q, df)
    tails = 2 * (1 - q)
    within = 2 * q - 1
    middle = inverse_beta(within, 0.5, df / 2)
    if middle < 0.5:
        return math.sqrt(df * middle / (1 - middle))
    outside = inverse_beta(tails, df / 2, 0.5)
    return math.sqrt(df * (1 - outside) / outside)
