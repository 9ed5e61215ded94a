"""Flags of characters or words, and how many of them are set in a range.

The number in a long range comes from running sums, so that a range costs the same whatever its length.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable
from itertools import accumulate

Range = tuple[int, int]
"""Start and end (half-open) in characters."""

Ranges = tuple[Range, ...]
"""The characters of one span, in order: one range, or several if the span has gaps."""

_RUN = re.compile(b"\x01+")

SHORT = 256
"""In a range of up to this length flags are counted one by one; for longer ones running sums are made."""


class Flags:
    """One flag for each character, or for each word, as a byte."""

    __slots__ = ("_sums", "bytes")

    def __init__(self, flags: bytes) -> None:
        self.bytes = flags
        self._sums: array[int] | None = None

    @classmethod
    def at(cls, ranges: Iterable[Range], length: int) -> Flags:
        """Return flags for `length` characters, set within the ranges."""
        flags = bytearray(length)
        for start, end in union_of(ranges):
            flags[start:end] = b"\x01" * (end - start)
        return cls(bytes(flags))

    def between(self, start: int, end: int) -> int:
        """Return how many flags are set in ``[start, end)``, in a time that does not depend on the length."""
        if end - start <= SHORT:
            return self.bytes.count(1, start, end)
        if self._sums is None:
            self._sums = array("Q", accumulate(self.bytes, initial=0))
        return self._sums[end] - self._sums[start]

    def within(self, ranges: Ranges) -> int:
        """Return how many flags are set in the ranges, which do not overlap."""
        if len(ranges) == 1:
            return self.between(*ranges[0])
        return sum(self.between(start, end) for start, end in ranges)

    def runs(self, ranges: Ranges) -> list[Range]:
        """Return the runs of set flags in the ranges."""
        return [run.span() for start, end in ranges for run in _RUN.finditer(self.bytes, start, end)]

    def __and__(self, other: Flags) -> Flags:
        return Flags(_both(self.bytes, other.bytes))

    def __or__(self, other: Flags) -> Flags:
        number = int.from_bytes(self.bytes, "little") | int.from_bytes(other.bytes, "little")
        return Flags(number.to_bytes(len(self.bytes), "little"))

    def __sub__(self, other: Flags) -> Flags:
        number = int.from_bytes(self.bytes, "little")
        number ^= number & int.from_bytes(other.bytes, "little")
        return Flags(number.to_bytes(len(self.bytes), "little"))

    @property
    def total(self) -> int:
        """The number of flags that are set."""
        return self.bytes.count(1)


def _both(one: bytes, other: bytes) -> bytes:
    number = int.from_bytes(one, "little") & int.from_bytes(other, "little")
    return number.to_bytes(len(one), "little")


def union_of(ranges: Iterable[Range]) -> list[Range]:
    """Return the ranges by position, with those that overlap or touch joined.

    >>> union_of([(4, 6), (0, 2), (5, 9)])
    [(0, 2), (4, 9)]
    """
    found: list[Range] = []
    for start, end in sorted(ranges):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        elif start < end:
            found.append((start, end))
    return found
