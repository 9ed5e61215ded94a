"""Which spans overlap: components by a sweep line, and an index for queries.

Two spans are linked if they overlap or are equal; spans that only touch are not linked. A component is a set of spans
that are connected by links. The CLUEval algorithm builds the graph and its full adjacency matrix; here a sweep over the
starts finds the components one after the other.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from operator import ge, gt, itemgetter
from typing import Any, TypeVar

from clueval.core.span import Ranges, Span, by_position, intersect, name_of, positions_in
from clueval.files.errors import LimitError, OverlapError

MAX_PAIRS = 300_000
"""The most pairs of overlapping spans of a case that are compared one by one; see `PAIRS_OF_SPAN`."""

PAIRS_OF_SPAN = 100
"""A case with many spans may have this many such pairs for each of its spans, even if that is more."""

Ranged = TypeVar("Ranged", bound=tuple[Any, ...])


def components(rows: Iterable[Ranged], *, touching: bool = False) -> Iterator[list[Ranged]]:
    """Yield the overlap components of rows that begin with a start and an end; `rows` must come by position.

    In this order a component is a run of rows: a row that is not linked to the one with the greatest end so far begins
    at or after the end of every earlier row, and so do all later rows. With `touching`, a row of zero length is also
    linked to the rows that begin at its position.

    >>> list(components([(0, 3, "a"), (2, 5, "b"), (5, 6, "c")]))
    [[(0, 3, 'a'), (2, 5, 'b')], [(5, 6, 'c')]]
    >>> list(components([(1, 3), (3, 3), (3, 5)])), list(components([(1, 3), (3, 3), (3, 5)], touching=True))
    ([[(1, 3)], [(3, 3)], [(3, 5)]], [[(1, 3)], [(3, 3), (3, 5)]])
    """
    run: list[Ranged] = []
    begin = reach = -1  # the last row with the greatest end so far
    for row in rows:
        start, end = row[0], row[1]
        if start >= reach and (start > begin or (end > reach and not touching)) and run:
            yield run
            run = []
        if end >= reach:
            begin, reach = start, end
        run.append(row)
    if run:
        yield run


class UnionFind:
    """Disjoint sets of the numbers from 0 to n - 1.

    The sets are trees, united by size, and paths are halved (Tarjan and van Leeuwen, "Worst-case analysis of set union
    algorithms", 1984).
    """

    def __init__(self, n: int) -> None:
        self._parents = list(range(n))
        self._sizes = [1] * n

    def find(self, number: int) -> int:
        """Return the number that stands for the set of a number."""
        parents = self._parents
        while parents[number] != number:
            parents[number] = number = parents[parents[number]]
        return number

    def unite(self, one: int, other: int) -> None:
        """Make one set of the sets of two numbers."""
        one, other = self.find(one), self.find(other)
        if one != other:
            if self._sizes[one] < self._sizes[other]:
                one, other = other, one
            self._parents[other] = one
            self._sizes[one] += self._sizes[other]

    def groups(self) -> list[list[int]]:
        """Return the numbers of each set, sets in the order of their first numbers."""
        groups: dict[int, list[int]] = {}
        for number in range(len(self._parents)):
            groups.setdefault(self.find(number), []).append(number)
        return list(groups.values())


def overlap_groups(spans: Sequence[Span]) -> list[list[int]]:
    """Return the numbers of the spans that share positions, directly or through others, group by group.

    Discontinuous spans have the positions of their fragments, so a union-find joins the components of the fragments. A
    span of zero length shares those that it lies between; equal spans of zero length share none. Groups come by their
    first numbers. Costs O(n log n) for n fragments.

    >>> overlap_groups([Span.of_fragments([(0, 3), (7, 9)]), Span(4, 6), Span(2, 4), Span(5, 5)])
    [[0, 2], [1, 3]]
    """
    sets = UnionFind(len(spans))
    for run in components(_fragments(spans)):
        if run[-1][1] > run[0][0]:
            for row in run:
                sets.unite(run[0][2], row[2])
    return sets.groups()


def _fragments(spans: Sequence[Span]) -> list[tuple[int, int, int]]:
    """Return the ranges of spans with the numbers of the spans, by position."""
    return sorted((start, end, number) for number, span in enumerate(spans) for start, end in span.fragments)


def shared_positions(one: Span, other: Span) -> int:
    """Return the number of positions that two spans share; those of discontinuous spans are in their fragments."""
    if one.parts is None and other.parts is None:
        return max(0, min(one.end, other.end) - max(one.start, other.start))
    return positions_in(intersect(one.fragments, other.fragments))


def first_clash(spans: Sequence[Span]) -> tuple[Span, Span] | None:
    """Return the first two spans that overlap or are equal, or None."""
    for span, following in pairwise(sorted(spans, key=by_position)):
        if following.start < span.end or (following.end == span.start == span.end):
            return span, following
    return None


def require_flat(
    spans: Sequence[Span],
    document: str | None = None,
    file: str | None = None,
    advice: str = "spans of one sequence must not overlap",
) -> None:
    """Raise `OverlapError` for the first two spans of one sequence that overlap or are equal."""
    clash = first_clash(spans)
    if clash is not None:
        problem = f"spans {name_of(clash[0])} and {name_of(clash[1])} of one sequence overlap"
        raise OverlapError(problem, file=file, document=document, line=clash[1].line, advice=advice)


class SpanIndex:
    """Finds the neighbours of a given span in a sequence of spans (`are_neighbours`), by their numbers.

    Fragments that overlap the next one, by position, stand in an interval tree (package intervaltree), which finds
    those that hold the first position of the query; those that begin later, and all disjoint ones, are found by
    bisection. Building costs O(n log n) for n fragments; each fragment of a query costs O(log n + k) for k results.

    >>> index = SpanIndex([Span(0, 3), Span(2, 6), Span(8, 9)])
    >>> index.near(Span(1, 8))
    [0, 1]
    """

    __slots__ = ("_disjoint_rows", "_ends", "_overlapping_rows", "_points", "_tree")

    def __init__(self, spans: Sequence[Span]) -> None:
        rows = _fragments(spans)
        self._points: dict[int, list[int]] = {}  # the numbers of spans of zero length, by position
        for start, end, number in rows:
            if start == end:
                self._points.setdefault(start, []).append(number)
        reaches = [row[1] > following[0] for row, following in pairwise(rows)] + [False] * bool(rows)
        self._disjoint_rows = [row for row, overlaps in zip(rows, reaches, strict=True) if not overlaps]
        self._ends = [end for _, end, _ in self._disjoint_rows]
        self._overlapping_rows = [row for row, overlaps in zip(rows, reaches, strict=True) if overlaps]
        self._tree: Any = None
        if self._overlapping_rows:
            from intervaltree import Interval, IntervalTree  # few corpora have spans of one side that overlap

            of_range: dict[tuple[int, int], list[int]] = {}  # a tree has equal ranges once
            for start, end, number in self._overlapping_rows:
                of_range.setdefault((start, end), []).append(number)
            self._tree = IntervalTree(Interval(*range_, tuple(equal)) for range_, equal in of_range.items())

    def near(self, span: Span) -> list[int]:
        """Return the numbers of the neighbours of `span`, in ascending order."""
        numbers = [*self._points.get(span.start, ())] if span.start == span.end else []
        for start, end in span.fragments:
            first = bisect_right(self._ends, start)
            numbers += [
                row[2] for row in self._disjoint_rows[first : bisect_left(self._disjoint_rows, (end,))]
            ]
            if self._tree is not None:
                for node in self._tree.at(start):
                    if node.begin < end:
                        numbers += node.data
                first = bisect_left(self._overlapping_rows, (start + 1,))
                numbers += [
                    row[2]
                    for row in self._overlapping_rows[first : bisect_left(self._overlapping_rows, (end,))]
                ]
        return sorted(set(numbers))


def are_neighbours(one: Span, other: Span) -> bool:
    """Return whether two spans overlap, or both have zero length and stand in one place."""
    return one.overlaps(other) or one.start == one.end == other.start == other.end


_FEW = 64
"""Up to this many pairs of spans, comparing all of them costs less than an index."""


def overlaps_between(one: Sequence[Span], two: Sequence[Span]) -> tuple[list[list[int]], list[list[int]]]:
    """Return for each span of each side the numbers of its neighbours on the other side, in ascending order.

    Raises `LimitError` for more than `MAX_PAIRS` pairs, or `PAIRS_OF_SPAN` for each span.

    >>> overlaps_between([Span(0, 3), Span(4, 6)], [Span(2, 5), Span(8, 9)])
    ([[0], [0]], [[0, 1], []])
    >>> overlaps_between([Span(4, 4)], [Span(4, 4), Span(4, 6), Span(3, 5)])
    ([[0, 2]], [[0], [], [0]])
    """
    around: tuple[list[list[int]], list[list[int]]] = [], [[] for _ in two]
    index = SpanIndex(two) if len(one) * len(two) > _FEW else None
    pairs = 0
    for number, span in enumerate(one):
        if index is None:
            is_near = span.overlaps if span.start < span.end else partial(are_neighbours, span)
            others = [other for other, span_of_two in enumerate(two) if is_near(span_of_two)]
        else:
            others = index.near(span)
            pairs += len(others)
            require_few_pairs(pairs, len(one) + len(two))
        around[0].append(others)
        for other in others:
            around[1][other].append(number)
    return around


def require_few_pairs(pairs: int, spans: int) -> None:
    """Raise `LimitError` for more than `MAX_PAIRS` pairs, or `PAIRS_OF_SPAN` for each of a number of spans."""
    most = max(MAX_PAIRS, PAIRS_OF_SPAN * spans)
    if pairs > most:
        raise LimitError(
            f"more than {most:,} pairs of spans overlap, too many to be compared one by one",
            advice="score the document in parts, or leave out spans that are nested or repeated",
        )


# Ranges and regions


def joined_ranges(ranges: Iterable[tuple[int, int]], join: Callable[[int, int], bool] = gt) -> Ranges:
    """Return the ranges in order; two are one if `join` is true of the end of the first and the start of the second.

    By default, these are ranges that overlap.

    >>> joined_ranges([(3, 5), (0, 2), (4, 6)])
    ((0, 2), (3, 6))
    """
    joined: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if joined and join(joined[-1][1], start):
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        else:
            joined.append((start, end))
    return tuple(joined)


class Regions:
    """The union of some half-open ranges; ranges that touch become one. A query costs O(log n).

    >>> regions = Regions([(5, 7), (7, 9), (1, 2)])
    >>> regions.positions, regions.hold(Span(6, 8)), regions.hold(Span(8, 11)), regions.touch(Span(8, 11))
    (5, True, False, True)
    """

    __slots__ = ("_ranges", "_solid")

    def __init__(self, ranges: Iterable[tuple[int, int]]) -> None:
        self._ranges = joined_ranges(ranges, ge)
        self._solid = tuple((start, end) for start, end in self._ranges if start < end)

    def __bool__(self) -> bool:
        return bool(self._ranges)

    @property
    def positions(self) -> int:
        """The number of positions."""
        return sum(end - start for start, end in self._solid)

    def hold(self, span: Span) -> bool:
        """Return whether all positions of the span are in the regions; of zero length, also at their borders."""
        return all(self._holds(start, end) for start, end in span.fragments)

    def touch(self, span: Span) -> bool:
        """Return whether any position of the span is in the regions; of zero length, also at their borders."""
        return any(
            self._holds(start, end) if start == end else intersect([(start, end)], self._solid)
            for start, end in span.fragments
        )

    def shared(self, span: Span) -> int:
        """Return the number of positions of the span that are in the regions; costs O(log n + k) for k regions."""
        return sum(end - start for start, end in intersect(span.fragments, self._solid))

    def _holds(self, start: int, end: int) -> bool:
        number = bisect_right(self._ranges, start, key=itemgetter(0)) - 1
        return number >= 0 and end <= self._ranges[number][1]
