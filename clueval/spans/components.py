"""Overlap components: the sets of spans that are connected by overlaps.

Two spans are linked if they overlap or are equal; spans that only touch are not linked. A component is a set
of spans connected by links. The CLUEval algorithm builds the graph and its full adjacency matrix; here a
sweep over the starts finds enough links to connect every component, and a union-find structure joins them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clueval.arguments import checked_call
from clueval.core.span import Span
from clueval.spans.flat import by_position
from clueval.spans.span_forms import as_spans


class UnionFind:
    """Disjoint sets of the numbers 0..n-1 (Tarjan 1975: union by size, path halving)."""

    __slots__ = ("_parents", "_sizes")

    def __init__(self, n: int) -> None:
        self._parents = list(range(n))
        self._sizes = [1] * n

    def find(self, number: int) -> int:
        parents = self._parents
        while parents[number] != number:
            parents[number] = number = parents[parents[number]]
        return number

    def unite(self, one: int, other: int) -> None:
        one, other = self.find(one), self.find(other)
        if one == other:
            return
        if self._sizes[one] < self._sizes[other]:
            one, other = other, one
        self._parents[other] = one
        self._sizes[one] += self._sizes[other]


@checked_call
def overlap_components(spans: Iterable[Span]) -> list[list[Span]]:
    """Return the overlap components of `spans`, by position.

    The spans of each component come by position, equal spans in the given order. Costs O(n log n) for n
    spans. Worked example: [0,3) reaches to 3, so [2,5) joins its component and extends the reach to 5; [5,6)
    begins where the reach ends and is a component of its own.

    >>> [[(s.start, s.end) for s in c] for c in overlap_components([Span(5, 6), Span(0, 3), Span(2, 5)])]
    [[(0, 3), (2, 5)], [(5, 6)]]
    """
    ordered = sorted(as_spans(spans, "spans"), key=by_position)
    sets = UnionFind(len(ordered))
    furthest = 0  # the number of the span with the greatest end so far; only this one has to be compared
    for number in range(1, len(ordered)):
        span, reach = ordered[number], ordered[furthest]
        if span.start < reach.end or by_position(span) == by_position(reach):
            sets.unite(furthest, number)
        if span.end >= reach.end:
            furthest = number
    components: dict[int, list[Span]] = {}
    for number, span in enumerate(ordered):
        components.setdefault(sets.find(number), []).append(span)
    return list(components.values())


def component_firsts(ranges: Iterable[tuple[int, int]]) -> Iterator[int]:
    """Yield the numbers of the ranges that begin a component; `ranges` must come by position.

    This is the sweep of `overlap_components` without the union-find, for callers that need only the borders.
    In order of position, a component is a run of consecutive ranges: a range that is not linked to the one
    with the greatest end begins at or after the end of every earlier range, and so do all later ranges.

    >>> list(component_firsts([(0, 3), (2, 5), (5, 6)]))
    [0, 2]
    """
    begin = reach = -1  # the last range with the greatest end so far; only this one has to be compared
    for number, (start, end) in enumerate(ranges):
        if start >= reach and (start > begin or end > reach):
            yield number
        if end >= reach:
            begin, reach = start, end
