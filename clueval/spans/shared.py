"""The number of positions that spans share."""

from __future__ import annotations

from clueval.spans.span import Span


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
