"""The number of positions that spans share, and which spans share some."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from clueval.spans.limits import require_few_pairs
from clueval.spans.parts import Ranges, intersect
from clueval.spans.span import Span


class HasFragments(Protocol):
    """A span, or something else that has ranges."""

    @property
    def fragments(self) -> Ranges: ...


def shared_positions(one: Span, other: Span) -> int:
    """Return the number of positions that two spans share; those of discontinuous spans are in their fragments.

    >>> shared_positions(Span.of_fragments([(0, 3), (7, 9)]), Span(2, 8))
    2
    """
    if one.parts is None and other.parts is None:
        return max(0, min(one.end, other.end) - max(one.start, other.start))
    return sum(end - start for start, end in intersect(one.fragments, other.fragments))


def sharing(own: Sequence[HasFragments], others: Sequence[HasFragments]) -> list[list[int]]:
    """Return for each span the numbers of the other side's spans that overlap it, in ascending order.

    A sweep over the fragments of all spans; costs O(n log n) for n fragments, plus the pairs of them that overlap.
    Raises `LimitError` for too many pairs.

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
        require_few_pairs(pairs, len(events))
        for first, _, other in across:
            if (
                first < start or start < end
            ):  # a fragment of zero length at the start of another does not overlap it
                found[other if side else number].add(number if side else other)
        if start < end:
            open_[side].append((start, end, number))
    return list(map(sorted, found))
