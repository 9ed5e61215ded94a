"""Random weights of units, and the sums of columns of counts under all of them at once.

The weights of a unit come from its key and the seed alone, by a hash (SHAKE-128). So they do not depend on the
order of units, on processes or on the version of Python, and two systems with the same units get the same
weights. Sums are exact: a unit's weights of all resamples are the fields of one large integer, and one
multiplication and one addition of such integers count a unit in every resample.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Mapping, Sequence
from hashlib import shake_128
from typing import NamedTuple

from clueval.exceptions import UsageError


class Law(NamedTuple):
    """How bytes become weights: the name that enters the hash, the weight of each byte, the greatest weight."""

    name: str
    weights: bytes
    greatest: int


def _near_poisson(byte: int) -> int:
    return sum(byte >= limit for limit in (94, 189, 235, 251, 255))


BOOTSTRAP = Law("bootstrap", bytes(map(_near_poisson, range(256))), 5)
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
    listed = list(rows)
    totals = _totals(listed, columns)
    most = law.greatest * max(totals, default=0)  # no sum of weights is above one of counts
    if most >= 1 << 64:
        raise UsageError("the counts are too large to be resampled", advice="use the method jackknife")
    width = 4 if most < 1 << 32 else 8
    sums = [0] * columns
    keys: dict[tuple[tuple[int, int], ...], list[str]] = {}
    for key, counts in listed:
        keys.setdefault(tuple(sorted(counts.items())), []).append(key)
    for row, alike in keys.items():
        weights = _added_weights(alike, law, resamples, seed, width) if row else 0
        for column, count in row:
            sums[column] += weights if count == 1 else count * weights
    return [_unpacked(number, width, resamples) for number in sums]


def _added_weights(keys: Sequence[str], law: Law, resamples: int, seed: int, width: int) -> int:
    """The sum of the weights of some units: an integer with a field of `width` bytes for each resample.

    Weights are small, so those of some units are added in fields of one byte first.
    """
    at_a_time = 255 // law.greatest
    fields = bytearray(width * resamples)
    total = 0
    for first in range(0, len(keys), at_a_time):
        some = sum(
            int.from_bytes(weights_of(key, law, resamples, seed), "little")
            for key in keys[first : first + at_a_time]
        )
        fields[::width] = some.to_bytes(resamples, "little")
        total += int.from_bytes(fields, "little")
    return total


def _totals(rows: Iterable[tuple[str, Mapping[int, int]]], columns: int) -> list[int]:
    totals = [0] * columns
    for _, counts in rows:
        for column, count in counts.items():
            if type(count) is not int or count < 0:
                raise UsageError(
                    "resampling needs counts that are whole numbers from 0", advice="use the method jackknife"
                )
            totals[column] += count
    return totals


def _unpacked(number: int, width: int, resamples: int) -> Sequence[int]:
    found = array("I" if width == 4 else "Q")
    found.frombytes(number.to_bytes(width * resamples, "little"))
    if sys.byteorder == "big":
        found.byteswap()
    return found
