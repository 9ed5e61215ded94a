"""Ranges of positions: the parts of a discontinuous span, and regions, which tell whether spans lie in them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from operator import ge, gt, itemgetter
from typing import Protocol

Ranges = tuple[tuple[int, int], ...]
"""Half-open ranges of positions."""


class HasFragments(Protocol):
    """A span, or something else that has ranges."""

    @property
    def fragments(self) -> Ranges: ...


def intersect(one: Sequence[tuple[int, int]], other: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the positions in both, each of which has sorted, disjoint ranges.

    Costs O(k log n + m) for k ranges of the side with fewer, n of the other, and m that are returned.

    >>> intersect([(0, 4), (6, 9)], [(2, 7)])
    [(2, 4), (6, 7)]
    """
    few, many = (one, other) if len(one) < len(other) else (other, one)
    shared = []
    for start, end in few:
        i = bisect_left(many, (start,))  # the first range that starts here or later
        if i and many[i - 1][1] > start:
            i -= 1
        while i < len(many) and many[i][0] < end:
            shared.append((max(start, many[i][0]), min(end, many[i][1])))
            i += 1
    return shared


def joined_ranges(ranges: Iterable[tuple[int, int]], join: Callable[[int, int], bool] = gt) -> Ranges:
    """Return the ranges in order; two are one if `join` is true of the end of the first and the start of the second.

    By default, these are ranges that overlap.

    >>> joined_ranges([(3, 5), (0, 2), (4, 6)])
    ((0, 2), (3, 6))
    """
    joined: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if joined and join(joined[-1][1], start):
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        else:
            joined.append((start, end))
    return tuple(joined)


class Regions:
    """The union of some half-open ranges; ranges that touch become one. A query costs O(log n).

    >>> from clueval.core.span import Span
    >>> regions = Regions([(5, 7), (7, 9), (1, 2)])
    >>> regions.positions, regions.hold(Span(6, 8)), regions.hold(Span(8, 11)), regions.touch(Span(8, 11))
    (5, True, False, True)
    """

    __slots__ = ("_ranges", "_solid")

    def __init__(self, ranges: Iterable[tuple[int, int]]) -> None:
        self._ranges = joined_ranges(ranges, ge)
        self._solid = tuple((start, end) for start, end in self._ranges if start < end)

    def __bool__(self) -> bool:
        return bool(self._ranges)

    @property
    def positions(self) -> int:
        """The number of positions."""
        return sum(end - start for start, end in self._solid)

    def hold(self, span: HasFragments) -> bool:
        """Return whether all positions of the span are in the regions; of zero length, also at their borders."""
        return all(self._holds(start, end) for start, end in span.fragments)

    def touch(self, span: HasFragments) -> bool:
        """Return whether any position of the span is in the regions; of zero length, also at their borders."""
        return any(
            self._holds(start, end) if start == end else self._shares(start, end)
            for start, end in span.fragments
        )

    def shared(self, span: HasFragments) -> int:
        """Return the number of positions of the span that are in the regions; costs O(log n + k) for k regions."""
        return sum(end - start for start, end in intersect(span.fragments, self._solid))

    def _holds(self, start: int, end: int) -> bool:
        number = bisect_right(self._ranges, start, key=itemgetter(0)) - 1
        return number >= 0 and end <= self._ranges[number][1]

    def _shares(self, start: int, end: int) -> bool:
        number = bisect_left(self._solid, (end,)) - 1
        return number >= 0 and start < self._solid[number][1]
