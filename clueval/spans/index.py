"""An index of the spans of one document, which finds the spans that overlap a given span.

Spans that overlap one another are stored in an interval tree (package intervaltree), which finds the spans at a
position; those that begin later are found by bisection. For spans that do not overlap one another, bisection in two
sorted lists answers the same query in the same time, and the lists are about fifty times cheaper to build (5,000
spans), so no tree is built for them.

intervaltree stores equal intervals once, so a node holds the numbers of all equal spans. It refuses intervals of zero
length; spans of zero length are at no position, and are only found by bisection.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from clueval.core.span import Span
from clueval.spans.document import Document
from clueval.spans.flat import by_position, clash
from clueval.spans.limits import require_few_pairs

if TYPE_CHECKING:
    from intervaltree import IntervalTree


class SpanIndex:
    """Finds the spans of one document that overlap a given span.

    Building the index costs O(n log n) for n spans; a query costs O(log n + k) for k results. Queries with too many
    results, all together, raise `LimitError`, which names the `document`.

    >>> index = SpanIndex([Span(0, 3), Span(2, 6), Span(8, 9)])
    >>> [(span.start, span.end) for span in index.overlapping(Span(1, 8))]
    [(0, 3), (2, 6)]
    """

    __slots__ = ("_document", "_ends", "_found", "_has_gaps", "_queries", "_starts", "_tree", "spans")

    def __init__(self, spans: Iterable[Span], document: Document | None = None) -> None:
        self.spans = sorted(spans, key=by_position)
        self._document = document
        self._queries = self._found = 0
        self._tree: IntervalTree | None = None
        self._has_gaps = any(span.parts is not None for span in self.spans)
        self._starts = [span.start for span in self.spans]
        if clash(self.spans) is None:
            self._ends = [span.end for span in self.spans]
        else:
            self._tree = _tree(self.spans)

    def overlapping(self, span: Span) -> list[Span]:
        """Return the spans that overlap `span` (see `Span.overlaps`), by position."""
        past = bisect_left(self._starts, span.end)
        if self._tree is None:
            found = self.spans[bisect_right(self._ends, span.start) : past]
        else:
            nodes = self._tree.at(span.start)
            if span.start == span.end:
                nodes = {node for node in nodes if node.begin < span.start}
            around = sorted(number for node in nodes for number in node.data)
            later = range(bisect_right(self._starts, span.start), past)
            found = [self.spans[number] for number in (*around, *later)]
        self._queries += 1
        self._found += len(found)
        require_few_pairs(self._found, self._queries + len(self.spans), self._document)
        return self._touching(found, span)

    def _touching(self, found: list[Span], span: Span) -> list[Span]:
        """Return those of the spans around `span` that overlap it; all of them, unless spans have gaps."""
        if not self._has_gaps and span.parts is None:
            return found
        return [other for other in found if other.overlaps(span)]


def _tree(spans: Sequence[Span]) -> IntervalTree:
    """Return a tree of the spans that have positions, by their numbers."""
    from intervaltree import Interval, IntervalTree

    numbers: dict[tuple[int, int], list[int]] = {}
    for number, span in enumerate(spans):
        if span.start < span.end:
            numbers.setdefault((span.start, span.end), []).append(number)
    return IntervalTree(Interval(start, end, tuple(equal)) for (start, end), equal in numbers.items())
