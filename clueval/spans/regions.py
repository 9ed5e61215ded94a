"""Regions: the union of some ranges, which tells whether spans lie in it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from clueval.spans.span import Span


class Regions:
    """The union of some half-open ranges; ranges that touch become one. A query costs O(log n).

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

    def hold(self, span: Span) -> bool:
        """Return whether all positions of the span are in the regions; of zero length, also at their borders."""
        return all(self._holds(start, end) for start, end in span.fragments)

    def touch(self, span: Span) -> bool:
        """Return whether any position of the span is in the regions; of zero length, also at their borders."""
        return any(
            self._holds(start, end) if start == end else self._shares(start, end)
            for start, end in span.fragments
        )

    def shared(self, span: Span) -> int:
        """Return the number of positions of the span that are in the regions; costs O(log n + k) for k regions."""
        found = 0
        for start, end in span.fragments:
            number = bisect_right(self._solid_ends, start)
            while number < len(self._solid_starts) and self._solid_starts[number] < end:
                found += min(end, self._solid_ends[number]) - max(start, self._solid_starts[number])
                number += 1
        return found

    def _holds(self, start: int, end: int) -> bool:
        number = bisect_right(self._starts, start) - 1
        return number >= 0 and end <= self._ends[number]

    def _shares(self, start: int, end: int) -> bool:
        number = bisect_left(self._solid_starts, end) - 1
        return number >= 0 and start < self._solid_ends[number]
