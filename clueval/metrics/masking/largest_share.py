"""Which of many ranges shares most characters with a given one, found in O(log n).

A range that lies in another one never shares more than that one does. Without such ranges, starts and ends both
ascend, so that the ranges that share characters with a given one stand side by side: first those that begin before
it, then those that lie in it, of which the longest is looked up, then those that end after it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from clueval.metrics.masking.flags import Range


class LargestShares:
    """Ranges, sorted by start and end, to find the one that shares most characters with a given range."""

    def __init__(self, ranges: Sequence[Range]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in ranges:
            if self._starts and self._starts[-1] == start:
                self._starts.pop()
                self._ends.pop()
            if not self._ends or end > self._ends[-1]:
                self._starts.append(start)
                self._ends.append(end)
        lengths = [end - start for start, end in zip(self._starts, self._ends, strict=True)]
        self._longest = _Longest(lengths)

    def of(self, start: int, end: int) -> Range | None:
        """Return the first of the ranges that share most with ``[start, end)``, as the lowest start and end possible.

        The range itself is the first one from there on. None if no range shares a character.
        """
        best, most = 0, 0
        for number in self._candidates(start, end):
            shared = min(end, self._ends[number]) - max(start, self._starts[number])
            if shared > most:
                best, most = number, shared
        if not most:
            return None
        first = self._starts[best]
        return first, max(start, first) + most

    def _candidates(self, start: int, end: int) -> Iterator[int]:
        """Yield, by position, the ranges among which the one with the largest share is."""
        inside = bisect_right(self._starts, start)
        beyond = max(inside, bisect_right(self._ends, end))
        if inside:  # of those that hold the whole, the first; else the one that reaches farthest
            yield min(bisect_left(self._ends, end), inside - 1)
        if inside < beyond:
            yield self._longest.between(inside, beyond)
        if beyond < len(self._starts):
            yield beyond


class _Longest:
    """Finds the first of the largest among adjacent numbers; row k has it for every 2**k of them."""

    def __init__(self, lengths: Sequence[int]) -> None:
        self._lengths = lengths
        self._rows = [list(range(len(lengths)))]

    def between(self, first: int, past: int) -> int:
        """Return the place of the largest number in a range that is not empty."""
        row = (past - first).bit_length() - 1
        while len(self._rows) <= row:
            last, half = self._rows[-1], 1 << (len(self._rows) - 1)
            self._rows.append([self._larger(*pair) for pair in zip(last, last[half:], strict=False)])
        return self._larger(self._rows[row][first], self._rows[row][past - (1 << row)])

    def _larger(self, one: int, other: int) -> int:
        return other if self._lengths[other] > self._lengths[one] else one
