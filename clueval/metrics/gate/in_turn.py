"""The pairings ``by-response`` and ``by-target`` without listing every possible pairing.

The spans of one side, in turn, take the best span of the other side: an equal span at the same place,
then the equal one with the longest overlap, then one at the same place, then the longest overlap; of equally
good spans the earliest. The longest overlap with ``[s, e)`` is one of three, and each is found in a tree over
the spans by position:

* among spans that start at s or before: the one that ends last, or the first that ends at e or after;
* among spans that start within and end at e or after: the first;
* among spans that lie within: the longest. For this every node of the tree has its spans by their ends, and
  over them a tree of the longest, which finds the longest of those that end at e or before.

A search costs O(log^2 n), and so does removing a span; the trees hold O(n log n) numbers.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from clueval.metrics.gate.entries import Entry, Maxima, SamePlace, entries_by_key

Found = tuple[int, int]
"""The number of shared positions, and the span's negative place, so that the greatest is the earliest."""

_NOTHING: Found = (-1, 0)


class _Within:
    """Spans by position: finds the longest of a range of places that ends at a position or before."""

    def __init__(self, starts: Sequence[int], ends: Sequence[int]) -> None:
        self._size = size = len(starts)
        # an end, or a length, and a place in one number, in which the earlier place has the greater length
        self._ends = [end * size + place for place, end in enumerate(ends)]
        lengths = [
            (end - start) * size + size - 1 - place
            for place, (start, end) in enumerate(zip(starts, ends, strict=True))
        ]
        self._by_end: list[list[int]] = [[]] * size + [[end] for end in self._ends]
        for node in range(size - 1, 0, -1):
            self._by_end[node] = sorted(self._by_end[2 * node] + self._by_end[2 * node + 1])
        self._longest = [Maxima([lengths[end % size] for end in by_end], -1) for by_end in self._by_end]

    def remove(self, place: int) -> None:
        node = place + self._size
        while node:
            by_end = self._by_end[node]
            self._longest[node].put(bisect_left(by_end, self._ends[place]), -1)
            node //= 2

    def longest(self, low: int, high: int, end: int) -> Found:
        best = -1
        limit = (end + 1) * self._size
        low, high = low + self._size, high + self._size
        while low < high:
            for node in (low,) * (low & 1) + (high - 1,) * (high & 1):
                best = max(best, self._longest[node].greatest(0, bisect_left(self._by_end[node], limit)))
            low = (low + 1) // 2
            high //= 2
        if best < 0:
            return _NOTHING
        length, place = divmod(best, self._size)
        return length, place - self._size + 1


class _LongestOverlap:
    """Spans by position: finds the one that shares most positions with a given range."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._numbers = [entry.number for entry in entries]
        self._starts = [entry.start for entry in entries]
        ends = [entry.end for entry in entries]
        self._ends = Maxima(ends, -1)
        self._within = _Within(self._starts, ends)

    def remove(self, number: int) -> None:
        place = bisect_left(self._numbers, number)
        self._ends.put(place, -1)
        self._within.remove(place)

    def best(self, start: int, end: int) -> int | None:
        """Return the number of the span; the earliest of those that share as much."""
        shared, place = max(self._across(start, end), self._inside(start, end))
        return None if shared < 0 else self._numbers[-place]

    def _across(self, start: int, end: int) -> Found:
        """Search the spans that start at the start or before; a range of zero length must lie inside them."""
        high = (bisect_left if start == end else bisect_right)(self._starts, start)
        last = self._ends.greatest(0, high)
        if last <= start:
            return _NOTHING
        place = self._ends.first(0, high, min(last, end) if start < end else start + 1)
        assert place is not None  # at least the one that ends last
        return min(last, end) - start, -place

    def _inside(self, start: int, end: int) -> Found:
        """Search the spans that start after the start."""
        low, high = bisect_right(self._starts, start), bisect_left(self._starts, end)
        if low >= high:
            return _NOTHING
        best = self._within.longest(low, high, end)
        place = self._ends.first(low, high, end)
        return best if place is None else max(best, (end - self._starts[place], -place))


class _Free:
    """The spans of one side that are not yet taken."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = {entry.number: entry for entry in entries}
        self._all = _LongestOverlap(entries)
        self._same = SamePlace(reversed(entries), self._entries)
        self._by_key = {key: _LongestOverlap(group) for key, group in entries_by_key(entries).items()}

    def take(self, asking: Entry) -> int | None:
        """Return the number of the best span for `asking`, and remove that span."""
        number = self._best(asking)
        if number is not None:
            self._all.remove(number)
            for key in self._entries.pop(number).keys:
                self._by_key[key].remove(number)
        return number

    def _best(self, asking: Entry) -> int | None:
        _, start, end, keys = asking
        known = [key for key in keys if key in self._by_key]
        equal = [self._same.best((start, end, key)) for key in known]
        if (number := _first(equal)) is not None:
            return number
        # spans with different keys are compared by the overlap
        longest = [self._by_key[key].best(start, end) for key in known]
        there = [number for number in longest if number is not None]
        if there:
            return max(there, key=lambda number: (self._shared(number, start, end), -number))
        number = self._same.best((start, end))
        return self._all.best(start, end) if number is None else number

    def _shared(self, number: int, start: int, end: int) -> int:
        entry = self._entries[number]
        return min(entry.end, end) - max(entry.start, start)


def _first(numbers: Sequence[int | None]) -> int | None:
    return min([number for number in numbers if number is not None], default=None)


def pairs_in_turn(asking: Sequence[Entry], others: Sequence[Entry]) -> list[tuple[int, int]]:
    """Return the pairs that are taken if the spans of `asking` choose in turn: their numbers, then the
    others'.

    Both sides are sorted by position, with rising numbers. O(n log^2 n).
    """
    free = _Free(others)
    taken = ((entry.number, free.take(entry)) for entry in asking)
    return [(number, other) for number, other in taken if other is not None]
