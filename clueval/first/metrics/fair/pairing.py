"""The steps of fair evaluation: each pairs two spans; a long span may be in several pairs, with shorter ones.

The steps are those of FairEval, since the published numbers depend on their order and on every
tie: exact pairs (TP), pairs with the same range and different labels (LE), boundary errors (BES, BEL, BEO),
errors in both (LBE), and the remaining spans (FN, FP). Ranges are half-open. Gold is FairEval's target,
predicted its system.

Exact pairs and label errors are found by hashing. The remaining spans form overlap components, whose
pairings do not affect each other. Most components are a single span, or one span of each side, and need no
search; small ones are searched as lists, large ones by their overlapping pairs. The cost is
O(n log n) for n spans, plus these pairs; too many of them are an error.

An example: gold A[0,4) and A[6,8), predicted A[0,9). There is no exact pair and no label error. The shortest
span comes first: for A[6,8), A[0,9) is free and contains it, so BEL, and A[0,9) keeps the tokens 0-5 and 8.
Then for A[0,4) no span is free, but A[0,9), already counted, still shares four tokens with it, so BEL again.
No span remains.

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

import heapq
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from clueval.core.ranges import Ranges, intersect
from clueval.spans.limits import PAIRINGS_OF_SPAN
from clueval.spans.overlaps import sharing

# The most similar span

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


# The steps

Item = tuple[str, int, int, frozenset[int] | Ranges | None]
"""Label, start, end (half-open) and tokens (None: the whole range); equal items are equal spans.

The tokens of a discontinuous span are its fragments. Such a span overlaps those that share a token with it, and its
tokens say which of two spans is within the other.
"""

Pair = tuple[str, int | None, int | None]
"""TP, LE, BES, BEL, BEO, LBE, FN or FP, with the places of the two spans in their lists."""

_LIST_IS_FASTER = 64
"""Up to this many pairs of spans in one component, comparing all of them is fastest."""


def item(label: str, start: int, end: int, tokens: frozenset[int] | Ranges | None) -> Item:
    """Return an item, with None for tokens that are the whole range.

    >>> item("NP", 3, 6, frozenset({3, 4, 5}))
    ('NP', 3, 6, None)
    """
    if (
        isinstance(tokens, frozenset)
        and len(tokens) == end - start
        and all(start <= token < end for token in tokens)
    ):
        tokens = None
    return label, start, end, tokens


def overlap_kind(start: int, end: int, other_start: int, other_end: int) -> str | None:
    """Return how the other range lies to the first (half-open): TP, BES, BEL, BEO; None: no overlap.
    overlap.

    >>> [overlap_kind(2, 6, *other) for other in ((2, 6), (2, 4), (2, 7), (4, 8), (6, 8))]
    ['TP', 'BES', 'BEL', 'BEO', None]
    """
    if (start, end) == (other_start, other_end):
        return "TP"
    if not (start < other_end and other_start < end):
        return None
    if start <= other_start and other_end <= end:
        return "BES"
    return "BEL" if other_start <= start and end <= other_end else "BEO"


def pair_up(gold: Sequence[Item], predicted: Sequence[Item]) -> Iterator[Pair]:
    """Yield every span of both lists exactly once, in the order of the steps.

    >>> list(pair_up([("A", 0, 4, None), ("A", 6, 8, None)], [("A", 0, 9, None)]))
    [('BEL', 1, 0), ('BEL', 0, 0)]
    """
    golds, predictions = list(range(len(gold))), list(range(len(predicted)))
    for find in (_exact_pairs, _label_errors):
        if not golds or not predictions:
            break
        pairs = list(find(gold, golds, predicted, predictions))
        yield from pairs
        if pairs:
            golds = _without(golds, {pair[1] for pair in pairs})
            predictions = _without(predictions, {pair[2] for pair in pairs})
    if not golds or not predictions:
        yield from (("FN", i, None) for i in golds)
        yield from (("FP", None, j) for j in predictions)
        return
    for gold_part, predicted_part in _components(gold, golds, predicted, predictions):
        if not predicted_part:
            yield from (("FN", i, None) for i in gold_part)
        elif not gold_part:
            yield from (("FP", None, j) for j in predicted_part)
        elif len(gold_part) == len(predicted_part) == 1:
            yield from _pair_of_two(gold, gold_part[0], predicted, predicted_part[0])
        else:
            yield from _boundary_errors(_leftovers(gold, gold_part), _leftovers(predicted, predicted_part))


def _without(places: list[int], gone: set[int | None]) -> list[int]:
    return [place for place in places if place not in gone]


def _exact_pairs(
    gold: Sequence[Item], golds: list[int], predicted: Sequence[Item], predictions: list[int]
) -> Iterator[Pair]:
    """Step 1: pair each gold span with the first equal predicted span that is free."""
    wanted = {gold[i] for i in golds}
    free: dict[Item, list[int]] = {}
    for j in reversed(predictions):
        if predicted[j] in wanted:
            free.setdefault(predicted[j], []).append(j)
    for i in golds:
        equal = free.get(gold[i])
        if equal:
            yield "TP", i, equal.pop()


def _label_errors(
    gold: Sequence[Item], golds: list[int], predicted: Sequence[Item], predictions: list[int]
) -> Iterator[Pair]:
    """Step 2: pair each gold span with the first free predicted span of its range and another label.

    Each range has a heap of labels, by their first free span: the answer is the top of the heap or the next
    entry.
    """
    wanted = {_place(gold[i]) for i in golds}
    by_range: dict[object, dict[str, list[int]]] = defaultdict(dict)
    for j in reversed(predictions):
        extent = _place(predicted[j])
        if extent in wanted:
            by_range[extent].setdefault(predicted[j][0], []).append(j)
    heaps = {
        extent: sorted((places[-1], label, places) for label, places in labels.items())
        for extent, labels in by_range.items()
    }
    for i in golds:
        label = gold[i][0]
        heap = heaps.get(_place(gold[i]))
        if not heap:
            continue
        same = heapq.heappop(heap) if heap[0][1] == label else None
        if heap:
            place, other, places = heapq.heappop(heap)
            places.pop()
            if places:
                heapq.heappush(heap, (places[-1], other, places))
            yield "LE", i, place
        if same is not None:
            heapq.heappush(heap, same)


def _place(item: Item) -> tuple[object, ...]:
    """Return the range of a span; of a discontinuous one, its fragments, too."""
    return item[1:] if isinstance(item[3], tuple) else item[1:3]


def _components(
    gold: Sequence[Item], golds: list[int], predicted: Sequence[Item], predictions: list[int]
) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the overlap components from left to right, as places of gold and of predicted spans.

    Step 3: the spans of each side are sorted by length, the shortest first, and then by their place in the
    list.
    """
    entries = [(*gold[i][1:3], 0, i) for i in golds]
    entries += [(*predicted[j][1:3], 1, j) for j in predictions]
    entries.sort()
    sides: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
    reach = -1
    for start, end, side, place in entries:
        if start >= reach and reach >= 0:
            yield _places(sides[0]), _places(sides[1])
            sides = ([], [])
        sides[side].append((end - start, place))
        if end > reach:
            reach = end
    if entries:
        yield _places(sides[0]), _places(sides[1])


def _places(part: list[tuple[int, int]]) -> list[int]:
    """Return the places of spans, given as lengths and places, sorted by both."""
    if len(part) > 1:
        part.sort()
    return [place for _, place in part]


def _pair_of_two(gold: Sequence[Item], i: int, predicted: Sequence[Item], j: int) -> Iterator[Pair]:
    """Do steps 4 to 8 for two spans that overlap no others: one error, or two if the ranges are equal."""
    label, start, end, tokens = gold[i]
    other_label, other_start, other_end, other_tokens = predicted[j]
    if isinstance(tokens, tuple) or isinstance(other_tokens, tuple):
        yield from _boundary_errors(_leftovers(gold, [i]), _leftovers(predicted, [j]))
        return
    kind = overlap_kind(start, end, other_start, other_end)
    if kind is None or kind == "TP":  # the same range and label with other tokens
        yield "FN", i, None
        yield "FP", None, j
    else:
        yield (kind if label == other_label else "LBE"), i, j


def _leftovers(items: Sequence[Item], places: Iterable[int]) -> list[Leftover]:
    spans = []
    for place in places:
        label, start, end, tokens = items[place]
        whole = [(start, end)] if start < end else []
        gaps = tokens if isinstance(tokens, tuple) else None
        runs = whole if tokens is None else list(tokens) if isinstance(tokens, tuple) else runs_of(tokens)
        spans.append(Leftover(place, label, start, end, runs, size_of(runs), gaps))
    return spans


def _pools(gold: list[Leftover], predicted: list[Leftover]) -> tuple[Pool, Pool, Pool]:
    """Return empty pools for free predicted, counted gold and counted predicted spans."""
    if len(gold) * len(predicted) <= _LIST_IS_FASTER:
        return Pool(), Pool(), Pool()
    of_gold, of_predicted = neighbours(gold, predicted)
    return Pool(of_gold), Pool(of_predicted), Pool(of_gold)


def _boundary_errors(gold: list[Leftover], predicted: list[Leftover]) -> Iterator[Pair]:
    """Do steps 4 to 8 for a component: same label first, then other labels, then the remaining spans."""
    free, counted_gold, counted_predicted = _pools(gold, predicted)
    for span in predicted:
        free.add(span)
    for same_label in (True, False):
        found, gold = _against_free(gold, free, counted_gold, counted_predicted, same_label)
        for one, other in found:
            yield _error(one, other, same_label)
        taken = {other.index for _, other in found}
        predicted = [span for span in predicted if span.index not in taken]
        found, gold = _against_counted(gold, counted_predicted, counted_gold, same_label)
        for one, other in found:
            yield _error(one, other, same_label)
        found, predicted = _against_counted(predicted, counted_gold, counted_predicted, same_label)
        for one, other in found:
            free.remove(one)
            yield _error(other, one, same_label)
    yield from (("FN", span.index, None) for span in gold)
    yield from (("FP", None, span.index) for span in predicted)


Found = tuple[list[tuple[Leftover, Leftover]], list[Leftover]]
"""Each span that was paired, with its partner; and the spans that were not paired."""


def _against_free(
    gold: list[Leftover], free: Pool, counted_gold: Pool, counted_predicted: Pool, same_label: bool
) -> Found:
    """Step 4: pair each gold span with the most similar predicted span that is free; both become counted."""
    pairs, left = [], []
    for span in gold:
        other = free.most_similar(span, same_label=same_label, sharing=False)
        if other is None:
            left.append(span)
            continue
        free.remove(other)
        take_shared(span, other)
        counted_gold.add(span)
        counted_predicted.add(other)
        pairs.append((span, other))
    return pairs, left


def _against_counted(spans: list[Leftover], counted: Pool, own_counted: Pool, same_label: bool) -> Found:
    """Steps 5 and 6: pair each span with the most similar counted span that still shares a token with it."""
    pairs, left = [], []
    for span in spans:
        other = counted.most_similar(span, same_label=same_label, sharing=True)
        if other is None:
            left.append(span)
            continue
        take_shared(span, other)
        own_counted.add(span)
        pairs.append((span, other))
    return pairs, left


def _error(gold: Leftover, predicted: Leftover, same_label: bool) -> Pair:
    if not same_label:
        return "LBE", gold.index, predicted.index
    if gold.gaps is not None or predicted.gaps is not None:
        own, other = gold.fragments, predicted.fragments
        shared = size_of(intersect(own, other))
        within = "BES" if shared == size_of(other) else "BEL" if shared == size_of(own) else "BEO"
        return within, gold.index, predicted.index
    kind = overlap_kind(gold.start, gold.end, predicted.start, predicted.end)
    assert kind is not None  # pools return overlapping spans only
    return kind, gold.index, predicted.index
