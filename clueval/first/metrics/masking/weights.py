"""PositionWeights of positions, and their sum in a range.

The sum of a long range comes from running sums, so that a range costs the same whatever its length.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable
from functools import cached_property
from itertools import accumulate

Range = tuple[int, int]
"""Start and end (half-open)."""

Ranges = tuple[Range, ...]
"""The positions of one span, in order: one range, or several if the span has gaps."""

_RUN = re.compile(b"[^\x00]+")
_ANY = bytes(number > 0 for number in range(256))

SHORT = 256
"""The weights of a range of up to this length are added one by one; for longer ones running sums are made."""


class PositionWeights:
    """One weight for each position, or for each word, as a byte; flags are weights of 0 and 1."""

    def __init__(self, weights: bytes) -> None:
        self.bytes = weights

    @cached_property
    def _sums(self) -> array[int]:
        return array("Q", accumulate(self.bytes, initial=0))

    @classmethod
    def at(cls, ranges: Iterable[Range], length: int) -> PositionWeights:
        """Return flags for `length` positions, set within the ranges."""
        flags = bytearray(length)
        for start, end in union_of(ranges):
            flags[start:end] = b"\x01" * (end - start)
        return cls(bytes(flags))

    def between(self, start: int, end: int) -> int:
        """Return the sum of the weights in ``[start, end)``, in a time that does not depend on the length."""
        if end - start <= SHORT:
            return sum(self.bytes[start:end])
        return self._sums[end] - self._sums[start]

    def within(self, ranges: Ranges) -> int:
        """Return the sum of the weights in the ranges, which do not overlap."""
        return self.between(*ranges[0]) if len(ranges) == 1 else sum([self.between(*one) for one in ranges])

    def numbers(self, start: int, end: int) -> tuple[int, int]:
        """Return the sum of the weights in ``[start, end)``, and how many positions have one."""
        if end - start > SHORT:
            return self.between(start, end), self.flags.between(start, end)
        found = self.bytes[start:end]
        return sum(found), len(found) - found.count(0)

    def runs(self, start: int, end: int) -> list[Range]:
        """Return the runs of positions in ``[start, end)`` that have a weight."""
        return [run.span() for run in _RUN.finditer(self.bytes, start, end)]

    def __and__(self, flags: PositionWeights) -> PositionWeights:
        """Return the weights where flags are set, and 0 elsewhere."""
        return self._of(_number(self.bytes) & 255 * _number(flags.bytes))

    def __or__(self, other: PositionWeights) -> PositionWeights:
        """Return the weights of both, none of which has a weight where the other has one."""
        return self._of(_number(self.bytes) | _number(other.bytes))

    def __sub__(self, flags: PositionWeights) -> PositionWeights:
        """Return the weights where flags are not set, and 0 elsewhere."""
        number = _number(self.bytes)
        return self._of(number ^ (number & 255 * _number(flags.bytes)))

    def _of(self, number: int) -> PositionWeights:
        return PositionWeights(number.to_bytes(len(self.bytes), "little"))

    @cached_property
    def flags(self) -> PositionWeights:
        """Flags of the positions that have a weight."""
        return PositionWeights(self.bytes.translate(_ANY))

    @property
    def total(self) -> int:
        """The sum of all weights."""
        return sum(self.bytes.replace(b"\x00", b""))


def _number(weights: bytes) -> int:
    return int.from_bytes(weights, "little")


def union_of(ranges: Iterable[Range]) -> list[Range]:
    """Return the ranges by position, with those that overlap or touch joined.

    >>> union_of([(4, 6), (0, 2), (5, 9)])
    [(0, 2), (4, 9)]
    """
    found: list[Range] = []
    reach = -1
    for start, end in sorted(ranges):
        if start > reach:
            if start < end:
                found.append((start, end))
                reach = end
        elif end > reach:
            found[-1] = found[-1][0], end
            reach = end
    return found
