"""Spans that overlap at most one other: what most spans are, and what needs no search for the best partner.

Gold and predicted spans form overlap components. A component of one span, or of one gold and one predicted span, can
be counted at once; metrics that pair spans search the others only. Spans of zero length and of equal start and end are
in one component, though they do not overlap.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate, pairwise
from operator import le
from typing import NamedTuple

Numbers = tuple[list[int], list[int]]
"""Places of gold spans and of predicted spans in their lists."""


class Isolated(NamedTuple):
    """The spans of both sides by their places, in ascending order: each is in one of these.

    `alone` are components of one span, `pairs` those of one gold and one predicted span that share a position of their
    ranges, `others` are the spans of all other components.
    """

    alone: Numbers
    pairs: list[tuple[int, int]]
    others: Numbers


def isolated(gold: Iterable[tuple[int, int]], predicted: Iterable[tuple[int, int]]) -> Isolated:
    """Return the components of spans, given by start and end, in any order. Costs O(n log n) for n spans.

    >>> isolated([(0, 3), (5, 6), (8, 9)], [(2, 4), (8, 9), (8, 9)])
    Isolated(alone=([1], []), pairs=[(0, 0)], others=([2], [1, 2]))
    """
    rows = sorted(
        (start, end, side, number)
        for side, ranges in enumerate((gold, predicted))
        for number, (start, end) in enumerate(ranges)
    )
    # points count as long as one position, so that equal ones are together
    reach = accumulate([end if start < end else start + 1 for start, end, _, _ in rows], max)
    starts = [start for start, _, _, _ in rows]
    ends_before = list(map(le, reach, starts[1:]))
    found = Isolated(([], []), [], ([], []))
    borders = [number for number, ends in enumerate(ends_before, 1) if ends]
    for first, past in pairwise((0, *borders, len(rows)) if rows else ()):
        start, end, side, number = rows[first]
        if past - first == 1:
            found.alone[side].append(number)
            continue
        if past - first == 2:
            other_start, other_end, other_side, other = rows[first + 1]
            if side != other_side and start < end and other_start < other_end:
                found.pairs.append((other, number) if side else (number, other))
                continue
        for _, _, side, number in rows[first:past]:
            found.others[side].append(number)
    for numbers in found.others:
        numbers.sort()
    return found
