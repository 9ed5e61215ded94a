"""Which spans of two sides overlap, and how many positions they share.

Most spans overlap at most one other, and need no search for the best partner: gold and predicted spans form overlap
components, and one of one span, or of one gold and one predicted span, can be counted at once (`isolated`). Metrics
that pair spans search the others only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from operator import le
from typing import NamedTuple

from clueval.core.ranges import HasFragments, intersect
from clueval.core.span import Span
from clueval.spans.limits import require_few_pairs


def shared_positions(one: Span, other: Span) -> int:
    """Return the number of positions that two spans share; those of discontinuous spans are in their fragments.

    >>> shared_positions(Span.of_fragments([(0, 3), (7, 9)]), Span(2, 8))
    2
    """
    if one.parts is None and other.parts is None:
        return max(0, min(one.end, other.end) - max(one.start, other.start))
    return sum(end - start for start, end in intersect(one.fragments, other.fragments))


def sharing(
    own: Sequence[HasFragments], others: Sequence[HasFragments], of_span: int | None = None
) -> list[list[int]]:
    """Return for each span the numbers of the other side's spans that overlap it, in ascending order.

    A sweep over the fragments of all spans; costs O(n log n) for n fragments, plus the pairs of them that overlap.
    Raises `LimitError` for too many pairs; `of_span` is as in `require_few_pairs`.

    >>> sharing([Span.of_fragments([(0, 3), (7, 9)]), Span(4, 6)], [Span(5, 6), Span(8, 12), Span(1, 2)])
    [[1, 2], [0]]
    """
    found: list[set[int]] = [set() for _ in own]
    events = sorted(
        (start, end, side, number)
        for side, spans in enumerate((own, others))
        for number, span in enumerate(spans)
        for start, end in span.fragments
    )
    pairs = 0
    open_: tuple[list[tuple[int, int, int]], list[tuple[int, int, int]]] = ([], [])
    for start, end, side, number in events:
        across = open_[1 - side]
        across[:] = [each for each in across if each[1] > start]
        pairs += len(across)
        require_few_pairs(pairs, len(events), of_span=of_span)
        for first, _, other in across:
            if (
                first < start or start < end
            ):  # a fragment of zero length at the start of another does not overlap it
                found[other if side else number].add(number if side else other)
        if start < end:
            open_[side].append((start, end, number))
    return list(map(sorted, found))


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

    Spans of zero length and of equal start and end are in one component, though they do not overlap.

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
