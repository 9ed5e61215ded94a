"""Resampling of units: random weights, bootstrap intervals, and paired approximate randomisation.

The weights of a unit come from its key and the seed alone, by a hash (SHAKE-128). So they do not depend on the
order of units, on processes or on the version of Python, and two systems with the same units get the same
weights. Sums are exact: a unit's weights of all resamples are the fields of one large integer, and one
multiplication and one addition of such integers count a unit in every resample.

Bootstrap intervals are percentile, or bias-corrected and accelerated (Efron 1987); their ends are order statistics of
the resampled scores. Randomisation gives the p-value of a difference between two systems (Noreen 1989): if they do not
differ, the counts of a unit could as well be swapped between them, and the p-value is the share of all swaps, or of
random ones, whose difference is at least as large as the one observed.
"""

from __future__ import annotations

import math
import sys
from array import array
from collections.abc import Iterable, Mapping, Sequence
from hashlib import shake_128
from operator import mul
from typing import NamedTuple

from clueval.files.errors import UsageError
from clueval.files.options import require_share

_EPSILON = 1e-12
"""Scores that differ by less are equal but for rounding."""


class Law(NamedTuple):
    """How bytes become weights: the name that enters the hash, the weight of each byte, the greatest weight."""

    name: str
    weights: bytes
    greatest: int


_LIMITS = (94, 189, 235, 251, 255)

BOOTSTRAP = Law("bootstrap", bytes(sum(byte >= limit for limit in _LIMITS) for byte in range(256)), 5)
"""How often a unit is drawn: nearly Poisson, with mean and variance 1."""

SWAP = Law("swap", bytes(byte & 1 for byte in range(256)), 1)
"""Whether the counts of a unit are swapped between two systems: probability 1/2."""


def weights_of(key: str, law: Law, resamples: int, seed: int) -> bytes:
    """Return the weight of a unit in each resample, a byte each."""
    text = f"clueval-1\n{law.name}\n{seed}\n{key}"
    return shake_128(text.encode("utf-8", "surrogatepass")).digest(resamples).translate(law.weights)


def weighted_sums(
    rows: Iterable[tuple[str, Mapping[int, int]]], columns: int, law: Law, resamples: int, seed: int
) -> list[Sequence[int]]:
    """Return for each column its sum in each resample.

    `rows` has for each unit its key and its counts by the number of the column, without zeros. Costs one hash a
    unit and one multiplication a count; the weights of units with equal counts are added first. Raises
    `UsageError` for counts that are not whole numbers from 0.
    """
    totals = [0] * columns
    keys: dict[tuple[tuple[int, int], ...], list[str]] = {}
    for key, counts in rows:
        for column, count in counts.items():
            if type(count) is not int or count < 0:
                problem = "resampling needs counts that are whole numbers from 0"
                raise UsageError(problem, advice="use the method jackknife")
            totals[column] += count
        keys.setdefault(tuple(sorted(counts.items())), []).append(key)
    most = law.greatest * max(totals, default=0)  # no sum of weights is above one of counts
    if most >= 1 << 64:
        raise UsageError("the counts are too large to be resampled", advice="use the method jackknife")
    width = 4 if most < 1 << 32 else 8
    sums = [0] * columns
    for row, equal in keys.items():
        weights = _added_weights(equal, law, resamples, seed, width) if row else 0
        for column, count in row:
            sums[column] += weights if count == 1 else count * weights
    return [_numbers_in(number, width, resamples) for number in sums]


def _added_weights(keys: Iterable[str], law: Law, resamples: int, seed: int, width: int) -> int:
    """The sum of the weights of some units: an integer with a field of `width` bytes for each resample."""
    fields = bytearray(width * resamples)
    total = 0
    for key in keys:
        fields[::width] = weights_of(key, law, resamples, seed)
        total += int.from_bytes(fields, "little")
    return total


def _numbers_in(number: int, width: int, resamples: int) -> Sequence[int]:
    fields = array("I" if width == 4 else "Q")
    fields.frombytes(number.to_bytes(width * resamples, "little"))
    if sys.byteorder == "big":
        fields.byteswap()
    return fields


def percentile(resampled: Sequence[float], confidence: float = 0.95) -> tuple[float, float]:
    """Return the percentile interval of resampled scores. Raises `UsageError` for scores that are not numbers.

    >>> percentile(range(1, 40), 0.9)
    (2, 38)
    """
    require_share("confidence", confidence)
    alpha = (1 - confidence) / 2
    return _order_statistics(resampled, alpha, alpha)


def bca(
    resampled: Sequence[float],
    score: float,
    leave_one_out: Sequence[float],
    confidence: float = 0.95,
    times: Sequence[int] | None = None,
) -> tuple[float, float]:
    """Return the bias-corrected and accelerated interval of a score.

    `leave_one_out` are the scores without each unit; `times` says of each without how many units the score has it
    (None: each without one). Raises `UsageError` if all resampled scores lie on one side of the score, because the
    bias is then infinite; and for scores that are not numbers.

    >>> low, high = bca([number / 100 for number in range(101)], 0.5, [0.49, 0.5, 0.51])
    >>> round(low, 3), round(high, 3)
    (0.01, 0.99)
    """
    low, high = bca_levels(resampled, score, leave_one_out, confidence, times)
    return _order_statistics(resampled, low, 1 - high)


def bca_levels(
    resampled: Sequence[float],
    score: float,
    leave_one_out: Sequence[float],
    confidence: float = 0.95,
    times: Sequence[int] | None = None,
) -> tuple[float, float]:
    """Return the two probabilities whose quantiles of the resampled scores are the ends of `bca`.

    >>> [round(level, 3) for level in bca_levels([number / 100 for number in range(101)], 0.5, [0.49, 0.5, 0.51])]
    [0.025, 0.975]
    """
    require_share("confidence", confidence)
    _require_numbers(resampled, "resampled scores")
    _require_numbers(leave_one_out, "scores without a unit")
    below = sum(value < score - _EPSILON for value in resampled)
    at_most = sum(value <= score + _EPSILON for value in resampled)
    share = (below + at_most) / (2 * len(resampled))
    if not 0 < share < 1:
        raise UsageError("all resampled scores lie on one side of the score, so the bias is infinite")
    from statistics import NormalDist  # which costs more to import than the rest of this package

    normal = NormalDist()
    numbers = [1] * len(leave_one_out) if times is None else times
    mean = math.fsum(map(mul, leave_one_out, numbers)) / sum(numbers)
    apart = [(mean - value, number) for value, number in zip(leave_one_out, numbers, strict=True)]
    spread: float = math.fsum([value * value * number for value, number in apart]) ** 1.5
    cubes = math.fsum([value**3 * number for value, number in apart])
    bias, acceleration = normal.inv_cdf(share), cubes / (6 * spread) if spread else 0.0
    levels = []
    for alpha in ((1 - confidence) / 2, (1 + confidence) / 2):
        z = bias + normal.inv_cdf(alpha)
        levels.append(normal.cdf(bias + z / (1 - acceleration * z)))
    return levels[0], levels[1]


def _order_statistics(resampled: Sequence[float], below: float, above: float) -> tuple[float, float]:
    """The order statistics at these ranks from below and from above, given as shares."""
    _require_numbers(resampled, "resampled scores")
    ordered = sorted(resampled)
    return ordered[_rank(below, len(ordered)) - 1], ordered[-_rank(above, len(ordered))]


def _rank(share: float, number: int) -> int:
    return min(number, max(1, math.floor(share * (number + 1) + 1e-9)))


def _require_numbers(values: Sequence[float], what: str) -> None:
    if not values:
        raise UsageError(f"there are no {what}")
    if not all(map(math.isfinite, values)):
        raise UsageError(f"one of the {what} is not a finite number")


MOST_FOR_ALL_SWAPS = 16
"""Up to this many units that differ, all swaps are tried."""


def all_swapped_sums(numbers: Sequence[int]) -> list[int]:
    """Return the sum of the chosen numbers for each of the 2^n choices, always in the same order."""
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

    Raises `UsageError` for numbers that are not from 0 to 1.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    for p in ps:
        if not 0 <= p <= 1:
            raise UsageError(f"a p-value must be from 0 to 1, not {p!r}")
    corrected = [1.0] * len(ps)
    least = 0.0
    for rank, number in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        least = max(least, min(1.0, (len(ps) - rank) * ps[number]))
        corrected[number] = least
    return corrected
