"""The number of positions that spans share, and which spans share some."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from clueval.spans.parts import Ranges
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
    return sum(
        max(0, min(end, last) - max(start, first))
        for start, end in one.fragments
        for first, last in other.fragments
    )


def sharing(own: Sequence[HasFragments], others: Sequence[HasFragments]) -> list[list[int]]:
    """Return for each span the numbers of the other side's spans that overlap it, in ascending order.

    A sweep over the fragments of all spans; costs O(n log n) for n fragments, plus the pairs of them that overlap.

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
    open_: tuple[list[tuple[int, int, int]], list[tuple[int, int, int]]] = ([], [])
    for start, end, side, number in events:
        across = open_[1 - side]
        across[:] = [each for each in across if each[1] > start]
        for first, _, other in across:
            if (
                first < start or start < end
            ):  # a fragment of zero length at the start of another does not overlap it
                found[other if side else number].add(number if side else other)
        if start < end:
            open_[side].append((start, end, number))
    return list(map(sorted, found))
