"""The steps of fair evaluation: each pairs two spans; a long span may be in several pairs, with shorter ones.

The steps are those of FairEval, since the published numbers depend on their order and on every
tie: exact pairs (TP), pairs with the same range and different labels (LE), boundary errors (BES, BEL, BEO),
errors in both (LBE), and the remaining spans (FN, FP). Ranges are half-open. Gold is FairEval's target,
predicted its system.

Exact pairs and label errors are found by hashing. The remaining spans form overlap components, whose
pairings do not affect each other. Most components are a single span, or one span of each side, and need no
search; small ones are searched as lists, large ones by their overlapping pairs (see `most_similar`). The cost is
O(n log n) for n spans, plus these pairs; too many of them are an error.

An example: gold A[0,4) and A[6,8), predicted A[0,9). There is no exact pair and no label error. The shortest
span comes first: for A[6,8), A[0,9) is free and contains it, so BEL, and A[0,9) keeps the tokens 0-5 and 8.
Then for A[0,4) no span is free, but A[0,9), already counted, still shares four tokens with it, so BEL again.
No span remains.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from clueval.metrics.fair.most_similar import (
    Leftover,
    Pool,
    neighbours,
    runs_of,
    size_of,
    take_shared,
)
from clueval.spans.ranges import Ranges, intersect

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
