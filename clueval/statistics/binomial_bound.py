"""The one-sided upper bound of a share, after Clopper and Pearson (1934).

If `k` of `n` independent trials have an event, the bound is the probability at which as few events as `k`
would be seen only in ``1 - confidence`` of all samples of `n` trials: the solution of
``P(X <= k; n, p) = 1 - confidence``.
"""

from __future__ import annotations

import math

from clueval.statistics.beta import inverse_beta
from clueval.statistics.checked import require_share, require_trials


def upper_bound(k: int, n: int, confidence: float = 0.95) -> float:
    """Return the upper bound of a share of which `k` of `n` trials were seen; 1 if `k` is `n`.

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
