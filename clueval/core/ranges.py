"""Ranges of positions: the parts of a discontinuous span, and regions, which tell whether spans lie in them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from operator import gt
from typing import Protocol

from clueval.files.errors import SpanError

Ranges = tuple[tuple[int, int], ...]
"""Half-open ranges of positions."""


class HasFragments(Protocol):
    """A span, or something else that has ranges."""

    @property
    def fragments(self) -> Ranges: ...


def checked_parts(parts: Sequence[tuple[int, int]], start: int, end: int, line: int | None) -> Ranges | None:
    """Return the parts as tuples, None for a single one. Raises `SpanError` unless they fit ``[start, end)``."""
    ranges = tuple((first, last) for first, last in parts)
    if any(type(place) is not int for part in ranges for place in part):
        raise SpanError(f"positions must be integers, not {ranges!r}", line=line)
    if not ranges or ranges[0][0] != start or ranges[-1][1] != end:
        raise SpanError(
            f"the parts of span [{start},{end}) do not reach from its start to its end", line=line
        )
    if len(ranges) == 1:
        return None
    for first, last in ranges:
        if first >= last:
            raise SpanError(f"the part [{first},{last}) of span [{start},{end}) is empty", line=line)
    for (_, before), (first, last) in pairwise(ranges):
        if first < before:
            raise SpanError(
                f"the part [{first},{last}) of span [{start},{end}) overlaps the part before it", line=line
            )
    return ranges


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

    __slots__ = ("_ends", "_solid_ends", "_solid_starts", "_starts")

    def __init__(self, ranges: Iterable[tuple[int, int]]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted(ranges):
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            else:
                self._starts.append(start)
                self._ends.append(end)
        solid = [pair for pair in zip(self._starts, self._ends, strict=True) if pair[0] < pair[1]]
        self._solid_starts, self._solid_ends = [start for start, _ in solid], [end for _, end in solid]

    def __bool__(self) -> bool:
        return bool(self._starts)

    @property
    def positions(self) -> int:
        """The number of positions."""
        return sum(self._ends) - sum(self._starts)

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
        positions = 0
        for start, end in span.fragments:
            number = bisect_right(self._solid_ends, start)
            while number < len(self._solid_starts) and self._solid_starts[number] < end:
                positions += min(end, self._solid_ends[number]) - max(start, self._solid_starts[number])
                number += 1
        return positions

    def _holds(self, start: int, end: int) -> bool:
        number = bisect_right(self._starts, start) - 1
        return number >= 0 and end <= self._ends[number]

    def _shares(self, start: int, end: int) -> bool:
        number = bisect_left(self._solid_starts, end) - 1
        return number >= 0 and start < self._solid_ends[number]
