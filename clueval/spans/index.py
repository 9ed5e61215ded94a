"""An index over the spans of one document: which of them overlap a given range?

Spans that overlap one another go into an interval tree (package intervaltree), which answers in O(log n + k).
Spans that do not are an interval tree whose every node has one span: two sorted lists and a bisection answer
the same question in the same time and are about fifty times cheaper to build (5,000 spans), so a flat sequence
is kept so.

intervaltree refuses intervals without length and keeps equal ones once. Here positions are doubled, which
gives a span of zero length room between its neighbours, and a node holds the numbers of all equal spans.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from clueval.spans.flat import by_position, clash
from clueval.spans.span import Span

if TYPE_CHECKING:
    from intervaltree import IntervalTree


class SpanIndex:
    """The spans of one document, to be asked for those that overlap a range.

    Building costs O(n log n); a query O(log n + k) for k answers.

    >>> index = SpanIndex([Span(0, 3), Span(2, 6), Span(8, 9)])
    >>> [(span.start, span.end) for span in index.overlapping(Span(1, 8))]
    [(0, 3), (2, 6)]
    """

    __slots__ = ("_ends", "_starts", "_tree", "spans")

    def __init__(self, spans: Iterable[Span]) -> None:
        self.spans: Sequence[Span] = sorted(spans, key=by_position)
        self._tree: IntervalTree | None = None
        if clash(self.spans) is None:
            self._starts = [span.start for span in self.spans]
            self._ends = [span.end for span in self.spans]
        else:
            self._tree = _tree(self.spans)

    def overlapping(self, span: Span) -> list[Span]:
        """The spans that share ground with `span` (see `Span.overlaps`), by position."""
        if self._tree is None:
            first = bisect_right(self._ends, span.start)
            last = bisect_left(self._starts, span.end)
            return [other for other in self.spans[first:last] if other.overlaps(span)]
        start, end = _doubled(span)
        nodes = self._tree.overlap(start, end)
        if span.start == span.end:  # what equals it does not overlap it, having no length either
            nodes = {node for node in nodes if node.begin != start or node.end != end}
        return [self.spans[number] for number in sorted(number for node in nodes for number in node.data)]


def _doubled(span: Span) -> tuple[int, int]:
    """An interval with length for every span, overlapping where the spans do (and where equal)."""
    return (
        (2 * span.start + 1, 2 * span.end) if span.start < span.end else (2 * span.start, 2 * span.start + 1)
    )


def _tree(spans: Sequence[Span]) -> IntervalTree:
    from intervaltree import Interval, IntervalTree

    numbers: dict[tuple[int, int], list[int]] = {}
    for number, span in enumerate(spans):
        numbers.setdefault(_doubled(span), []).append(number)
    return IntervalTree(Interval(start, end, tuple(equal)) for (start, end), equal in numbers.items())
