"""Paired approximate randomisation: the p-value of a difference between two systems (Noreen 1989).

If the systems do not differ, the counts of a unit could as well be swapped between them. The p-value is the share
of all swaps, or of random ones, whose difference is at least as large as the one observed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

MOST_FOR_ALL_SWAPS = 16
"""Up to this many units that differ, all swaps are tried."""

_EPSILON = 1e-12


def all_swapped_sums(numbers: Sequence[int]) -> list[int]:
    """Return the sum of the chosen numbers for each of the 2^n choices, always in the same order.

    >>> all_swapped_sums([1, 10])
    [0, 1, 10, 11]
    """
    sums = [0]
    for number in numbers:
        sums += [already + number for already in sums]
    return sums


def exact_p(observed: float, swapped: Sequence[float]) -> float:
    """Return the two-sided p-value, given the differences after all swaps."""
    return _at_least(observed, swapped) / len(swapped)


def sampled_p(observed: float, swapped: Sequence[float]) -> float:
    """Return the two-sided p-value, given the differences after random swaps; the observed one counts as one."""
    return (_at_least(observed, swapped) + 1) / (len(swapped) + 1)


def _at_least(observed: float, swapped: Iterable[float]) -> int:
    least = abs(observed) - _EPSILON
    return sum(abs(value) >= least for value in swapped)


def holm(ps: Sequence[float]) -> list[float]:
    """Return the p-values corrected by Holm's step-down method, in the order of `ps` (Holm 1979).

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    corrected = [1.0] * len(ps)
    least = 0.0
    for rank, number in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        least = max(least, min(1.0, (len(ps) - rank) * ps[number]))
        corrected[number] = least
    return corrected
