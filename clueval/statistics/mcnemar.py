"""McNemar's exact test of two classifiers on the same cases, which it takes for independent."""

from __future__ import annotations

from math import comb, exp, fsum, lgamma, log

from clueval.exceptions import UsageError


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
