"""The search for the most similar span, behind the boundary errors of fair evaluation.

A span of one side (the query) looks for a candidate of the other side. The candidate that shares most tokens
wins; then the one that lacks fewest of the query's tokens; then the one with fewest other tokens; then the
shorter one; then the earlier one. For one query the second rule follows from the first, and the third means:
fewest tokens. So the order is

    (-shared, tokens of the candidate, length of the candidate, its place in the list)

and the least is taken. Spans lose tokens while they are paired, so a token set is kept as *runs*, the
sorted, disjoint half-open ranges that are left of it: the number of runs does not depend on the length of the span.

A search compares the spans that overlap the query, or, in small components, all of them. If very many spans overlap one
another, that is an error; see `clueval.spans.limits`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from clueval.spans.limits import PAIRINGS_OF_SPAN
from clueval.spans.overlaps import sharing
from clueval.spans.ranges import Ranges, intersect

Rank = tuple[int, int, int, int]
"""The order of similarity; the least rank is the most similar."""


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


Neighbours = dict[int, list[Leftover]]
"""For each span of one side, by its index, the spans of the other side that overlap it."""


def neighbours(gold: Sequence[Leftover], predicted: Sequence[Leftover]) -> tuple[Neighbours, Neighbours]:
    """Return the spans that overlap each gold and each predicted span.

    Costs O(n log n) for n spans, plus the pairs that overlap. Raises `LimitError` for too many pairs.
    """
    of_gold: Neighbours = {span.index: [] for span in gold}
    of_predicted: Neighbours = {span.index: [] for span in predicted}
    for span, found in zip(gold, sharing(gold, predicted, PAIRINGS_OF_SPAN), strict=True):
        for place in found:
            of_gold[span.index].append(predicted[place])
            of_predicted[predicted[place].index].append(span)
    return of_gold, of_predicted


class Pool:
    """Spans of one side, with a search for the one most similar to a span of the other side.

    A search compares all spans, or only the `neighbours` of the query, if these are given.
    """

    __slots__ = ("_neighbours", "_next", "_places", "_spans")

    def __init__(self, neighbours: Neighbours | None = None) -> None:
        self._neighbours = neighbours
        self._spans: dict[int, Leftover] = {}
        self._places: dict[int, int] = {}
        self._next = 0

    def add(self, span: Leftover) -> None:
        """Append a span to the list."""
        self._spans[span.index] = span
        self._places[span.index] = self._next
        self._next += 1

    def remove(self, span: Leftover) -> None:
        """Remove a span from the list."""
        del self._spans[span.index], self._places[span.index]

    def most_similar(self, span: Leftover, *, same_label: bool, sharing: bool) -> Leftover | None:
        """Return the most similar candidate, if any; with `sharing` it must have a token in common."""
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


def size_of(runs: Iterable[tuple[int, int]]) -> int:
    """Return the number of positions.

    >>> size_of([(0, 2), (4, 8)])
    6
    """
    return sum([end - start for start, end in runs])
