"""The parts of a discontinuous span: ranges of positions, in order."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise

from clueval.exceptions import SpanError

Ranges = tuple[tuple[int, int], ...]
"""Half-open ranges of positions."""


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
