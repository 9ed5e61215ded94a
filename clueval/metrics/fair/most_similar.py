"""The search for the most similar span, behind the boundary errors of fair evaluation.

A span of one side (the query) looks for a candidate of the other side. The candidate that shares most tokens
wins; then the one that lacks fewest of the query's tokens; then the one with fewest other tokens; then the
shorter one; then the earlier one. For one query the second rule follows from the first, and the third means:
fewest tokens. So the order is

    (-shared, tokens of the candidate, length of the candidate, its place in the list)

and the least is taken. Spans lose tokens while they are paired, so a token set is kept as *runs*, the
sorted, disjoint half-open ranges that are left of it: the number of runs does not depend on the length of the span.

Two pools give the same answers. `ListPool` compares every span, which is fastest for few spans, or only those that are
known to overlap, which is fastest if few overlap.
`TreePool` is a k-d tree over start, end and label whose nodes know a bound on the rank of their spans, and
searches the most promising node first. If runs fill their span, or lack one stretch of it (nested, crossing
or identical spans, even if many overlap one another), each search visits a few nodes. The bounds use the
first token, the last token, the number of tokens and the longest hole between tokens, but no further holes:
if many spans with large token sets full of holes lie over one another, a search may have to compare all of
them.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter
from typing import Protocol

from clueval.spans.overlaps import sharing
from clueval.spans.ranges import Ranges, intersect

Rank = tuple[int, int, int, int]
"""The order of similarity; the least rank is the most similar."""

_FAR = 1 << 62


@dataclass(slots=True, eq=False)
class Leftover:
    """A span that is not a true positive: its place in the caller's list, and its remaining tokens."""

    index: int
    label: str
    start: int
    end: int
    runs: Runs
    size: int
    gaps: Ranges | None = None
    """The fragments of a discontinuous span; None for others."""

    @property
    def length(self) -> int:
        return self.end - self.start

    @property
    def fragments(self) -> Ranges:
        """All positions of the span; those of a range even where they are no tokens."""
        return ((self.start, self.end),) if self.gaps is None else self.gaps


def take_shared(one: Leftover, other: Leftover) -> None:
    """Remove the tokens that both spans have from both."""
    shared = intersect(one.runs, other.runs)
    if shared:
        size = size_of(shared)
        for span in (one, other):
            if span.size == size:
                span.runs.clear()
            else:
                subtract(span.runs, shared)
            span.size -= size


def rank(span: Leftover, candidate: Leftover, place: int) -> Rank:
    """Return how similar a candidate is to a span; the least is the most similar."""
    if len(span.runs) == 1 == len(candidate.runs):  # nearly all: no need to build the intersection
        (start, end), (other_start, other_end) = span.runs[0], candidate.runs[0]
        shared = max(0, min(end, other_end) - max(start, other_start))
    else:
        shared = size_of(intersect(span.runs, candidate.runs))
    return (-shared, candidate.size, candidate.length, place)


def can_pair(span: Leftover, candidate: Leftover, same_label: bool) -> bool:
    """Return whether two spans of different ranges overlap and have the same label (or different ones)."""
    if span.gaps is not None or candidate.gaps is not None:
        own, other = span.fragments, candidate.fragments
        return (span.label == candidate.label) is same_label and own != other and bool(intersect(own, other))
    return (
        span.start < candidate.end
        and candidate.start < span.end
        and (span.label == candidate.label) is same_label
        and (span.start != candidate.start or span.end != candidate.end)
    )


class Pool(Protocol):
    """Spans of one side, with a search for the one most similar to a span of the other side."""

    def add(self, span: Leftover) -> None:
        """Append a span to the list."""

    def remove(self, span: Leftover) -> None:
        """Remove a span from the list."""

    def changed(self, span: Leftover) -> None:
        """Update the bounds after a span has lost tokens."""

    def most_similar(self, span: Leftover, *, same_label: bool, sharing: bool) -> Leftover | None:
        """Return the most similar candidate, if any; with `sharing` it must have a token in common."""


Neighbours = dict[int, list[Leftover]]
"""For each span of one side, by its index, the spans of the other side that overlap it."""


def neighbours(
    gold: Sequence[Leftover], predicted: Sequence[Leftover], limit: int | None
) -> tuple[Neighbours, Neighbours] | None:
    """Return the spans that overlap each gold and each predicted span, or None for more than `limit` pairs.

    Costs O(n log n + limit) for n spans. Without a limit, spans may be discontinuous, and too many pairs raise
    `LimitError`.
    """
    of_gold: Neighbours = {span.index: [] for span in gold}
    of_predicted: Neighbours = {span.index: [] for span in predicted}
    if limit is None:
        for span, found in zip(gold, sharing(gold, predicted), strict=True):
            for place in found:
                of_gold[span.index].append(predicted[place])
                of_predicted[predicted[place].index].append(span)
        return of_gold, of_predicted
    entries = [(span.start, span.end, 0, place) for place, span in enumerate(gold)]
    entries += [(span.start, span.end, 1, place) for place, span in enumerate(predicted)]
    entries.sort()
    sides, neighbours_of = (gold, predicted), (of_gold, of_predicted)
    over: tuple[list[Leftover], list[Leftover]] = ([], [])  # spans that have begun and may not have ended yet
    for start, _, side, place in entries:
        span, other = sides[side][place], 1 - side
        here = [each for each in over[other] if each.end > start]
        over[other][:] = here
        over[side].append(span)
        neighbours_of[side][span.index].extend(here)
        for each in here:
            neighbours_of[other][each.index].append(span)
        limit -= len(here)
        if limit < 0:
            return None
    return of_gold, of_predicted


class ListPool:
    """A list: a search compares all spans, or only the `neighbours` of the query, if these are given."""

    __slots__ = ("_neighbours", "_next", "_places", "_spans")

    def __init__(self, neighbours: Neighbours | None = None) -> None:
        self._neighbours = neighbours
        self._spans: dict[int, Leftover] = {}
        self._places: dict[int, int] = {}
        self._next = 0

    def add(self, span: Leftover) -> None:
        self._spans[span.index] = span
        self._places[span.index] = self._next
        self._next += 1

    def remove(self, span: Leftover) -> None:
        del self._spans[span.index], self._places[span.index]

    def changed(self, span: Leftover) -> None:
        pass

    def most_similar(self, span: Leftover, *, same_label: bool, sharing: bool) -> Leftover | None:
        candidates = self._spans.values() if self._neighbours is None else self._neighbours[span.index]
        best: Leftover | None = None
        best_rank: Rank | None = None
        for candidate in candidates:
            place = self._places.get(candidate.index)
            if place is not None and can_pair(span, candidate, same_label):
                this = rank(span, candidate, place)
                if (best_rank is None or this < best_rank) and not (sharing and this[0] == 0):
                    best, best_rank = candidate, this
        return best


_LEAF = 8


class _Node:
    """Part of a tree: the box of all its spans, and the bounds of those in the list now."""

    __slots__ = (
        "first",
        "hi_end",
        "hi_hole",
        "hi_label",
        "hi_start",
        "hi_token",
        "left",
        "lo_end",
        "lo_hole",
        "lo_label",
        "lo_start",
        "lo_token",
        "max_size",
        "min_length",
        "min_size",
        "parent",
        "right",
        "spans",
    )

    def __init__(self, spans: list[Leftover], parent: _Node | None) -> None:
        self.parent = parent
        self.left: _Node | None = None
        self.right: _Node | None = None
        self.spans = spans
        self.lo_start = min(span.start for span in spans)
        self.hi_start = max(span.start for span in spans)
        self.lo_end = min(span.end for span in spans)
        self.hi_end = max(span.end for span in spans)
        self.lo_label = min(span.label for span in spans)
        self.hi_label = max(span.label for span in spans)
        self.min_length = min(span.length for span in spans)
        self.spread(())

    def spread(self, listed: Sequence[tuple[Leftover, int]]) -> None:
        """Set the bounds from the spans of this leaf that are in the list, with their places."""
        sizes = [span.size for span, _ in listed]
        self.min_size, self.max_size = min(sizes, default=_FAR), max(sizes, default=-1)
        self.first = min((place for _, place in listed), default=_FAR)
        self.lo_token = min((span.runs[0][0] for span, _ in listed if span.runs), default=_FAR)
        self.hi_token = max((span.runs[-1][1] for span, _ in listed if span.runs), default=-1)
        holes = [longest_hole(span.runs) for span, _ in listed if span.runs]
        self.lo_hole = max((start for start, _ in holes), default=-1)  # the hole that all of them have
        self.hi_hole = min((end for _, end in holes), default=_FAR)

    def gather(self) -> bool:
        """Set the bounds from those of the children; return False if nothing changes."""
        left, right = self.left, self.right
        assert left is not None  # only leaves have no children
        assert right is not None
        before = self._bounds()
        self.min_size = left.min_size if left.min_size < right.min_size else right.min_size
        self.max_size = left.max_size if left.max_size > right.max_size else right.max_size
        self.first = left.first if left.first < right.first else right.first
        self.lo_token = left.lo_token if left.lo_token < right.lo_token else right.lo_token
        self.hi_token = left.hi_token if left.hi_token > right.hi_token else right.hi_token
        self.lo_hole = left.lo_hole if left.lo_hole > right.lo_hole else right.lo_hole
        self.hi_hole = left.hi_hole if left.hi_hole < right.hi_hole else right.hi_hole
        return before != self._bounds()

    def _bounds(self) -> tuple[int, ...]:
        return (
            self.min_size,
            self.max_size,
            self.first,
            self.lo_token,
            self.hi_token,
            self.lo_hole,
            self.hi_hole,
        )

    def bound(self, span: Leftover, same_label: bool, sharing: bool) -> Rank | None:
        """Return a bound on the rank of the best candidate in this node, or None if it has no candidate."""
        start, end = span.start, span.end
        if self.max_size < 0 or self.lo_start >= end or self.hi_end <= start:
            return None
        if same_label:
            if not self.lo_label <= span.label <= self.hi_label:
                return None
        elif self.lo_label == span.label == self.hi_label:
            return None
        if self.lo_start == start == self.hi_start and self.lo_end == end == self.hi_end:
            return None
        shared = 0
        if span.runs:
            shared = max(0, min(self.max_size, span.size, self._common(span.runs)))
        if sharing and shared == 0:
            return None
        return (-shared, self.min_size, self.min_length, self.first)

    def _common(self, runs: Runs) -> int:
        """Return the greatest number of these tokens that a span in this node could have."""
        low, high = self.lo_token, self.hi_token
        if len(runs) > _FEW_RUNS:
            return min(runs[-1][1], high) - max(runs[0][0], low)
        common = 0
        for start, end in runs:
            common += max(0, min(end, high) - max(start, low))
            common -= max(0, min(end, self.hi_hole) - max(start, self.lo_hole))
        return common


_FEW_RUNS = 4
"""For more runs than this, the bound uses only the first and the last run."""


class TreePool:
    """A k-d tree over all spans that can be in the list; O(n log n) to build, O(log n) to add or remove."""

    __slots__ = ("_leaves", "_next", "_places", "_root")

    def __init__(self, spans: Sequence[Leftover]) -> None:
        self._leaves: dict[int, _Node] = {}
        self._places: dict[int, int] = {}
        self._next = 0
        self._root = self._build(list(spans), None, 0)

    def _build(self, spans: list[Leftover], parent: _Node | None, depth: int) -> _Node:
        node = _Node(spans, parent)
        if len(spans) <= _LEAF:
            for span in spans:
                self._leaves[span.index] = node
            return node
        spans.sort(key=_AXES[depth % len(_AXES)])  # stable: equal spans stay in the order of the list
        middle = len(spans) // 2
        node.left = self._build(spans[:middle], node, depth + 1)
        node.right = self._build(spans[middle:], node, depth + 1)
        node.spans = []
        return node

    def add(self, span: Leftover) -> None:
        self._places[span.index] = self._next
        self._next += 1
        self.changed(span)

    def remove(self, span: Leftover) -> None:
        del self._places[span.index]
        self.changed(span)

    def changed(self, span: Leftover) -> None:
        leaf = self._leaves[span.index]
        leaf.spread(self._listed(leaf))
        node = leaf.parent
        while node is not None and node.gather():
            node = node.parent

    def most_similar(self, span: Leftover, *, same_label: bool, sharing: bool) -> Leftover | None:
        best: Leftover | None = None
        best_rank: Rank = (1, 0, 0, 0)  # worse than any
        bound = self._root.bound(span, same_label, sharing)
        queue = [] if bound is None else [(bound, 0, self._root)]
        pushed = 0  # breaks ties: nodes cannot be compared
        while queue:
            bound, _, node = heapq.heappop(queue)
            if bound >= best_rank:
                break
            if node.left is None or node.right is None:
                for candidate, place in self._listed(node):
                    if can_pair(span, candidate, same_label):
                        this = rank(span, candidate, place)
                        if this < best_rank and not (sharing and this[0] == 0):
                            best, best_rank = candidate, this
                continue
            for child in (node.left, node.right):
                bound = child.bound(span, same_label, sharing)
                if bound is not None and bound < best_rank:
                    pushed += 1
                    heapq.heappush(queue, (bound, pushed, child))
        return best

    def _listed(self, leaf: _Node) -> list[tuple[Leftover, int]]:
        places = self._places
        return [(span, places[span.index]) for span in leaf.spans if span.index in places]


_AXES = (attrgetter("start"), attrgetter("end"), attrgetter("label"))


Runs = list[tuple[int, int]]
"""A set of positions as sorted, disjoint half-open ranges."""

_FAR_END = 1 << 62


def runs_of(tokens: frozenset[int]) -> Runs:
    """Return the runs of a token set.

    >>> runs_of(frozenset({1, 2, 5}))
    [(1, 3), (5, 6)]
    """
    runs: Runs = []
    for token in sorted(tokens):
        if runs and runs[-1][1] == token:
            runs[-1] = (runs[-1][0], token + 1)
        else:
            runs.append((token, token + 1))
    return runs


def subtract(runs: Runs, gone: Runs) -> None:
    """Remove positions in place; each run of `gone` must lie inside one of `runs`.

    >>> runs = [(0, 9)]
    >>> subtract(runs, [(2, 4), (8, 9)])
    >>> runs
    [(0, 2), (4, 8)]
    """
    for start, end in gone:
        i = bisect_left(runs, (start, _FAR_END)) - 1
        first, last = runs[i]
        runs[i : i + 1] = [piece for piece in ((first, start), (end, last)) if piece[0] < piece[1]]


def longest_hole(runs: Runs) -> tuple[int, int]:
    """Return the longest stretch between two runs, or an empty one if there is only one run.

    >>> longest_hole([(0, 2), (3, 4), (8, 9)]), longest_hole([(0, 2)])
    ((4, 8), (2, 2))
    """
    holes = [(end, start) for (_, end), (start, _) in pairwise(runs)]
    return max(holes, key=lambda hole: hole[1] - hole[0], default=(runs[0][1], runs[0][1]))


def size_of(runs: Iterable[tuple[int, int]]) -> int:
    """Return the number of positions.

    >>> size_of([(0, 2), (4, 8)])
    6
    """
    return sum([end - start for start, end in runs])
