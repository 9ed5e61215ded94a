"""The pairs of gold and predicted spans by which the metric `muc` counts; its docstring has the rules.

Pairs are made in stages, each on the spans that the stages before it have left over. Spans in different overlap
components are in no pair, so components that have one span, or one of each side, need no stages (`apart`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from heapq import heappop, heappush
from itertools import pairwise
from operator import itemgetter
from typing import Any, NamedTuple

from clueval.spans.one_to_one import most_pairs
from clueval.spans.overlaps import isolated, sharing
from clueval.spans.ranges import Ranges
from clueval.spans.span import Span


class Item(NamedTuple):
    """A span as a tuple; the order of tuples is that of the spans. `parts` are empty if it is one piece."""

    start: int
    end: int
    label: str
    parts: Ranges

    @property
    def fragments(self) -> Ranges:
        """The ranges of the span, as in `Span`."""
        return self.parts or ((self.start, self.end),)


Ranged = Span | Item
Pair = tuple[Item, Item]
Key = tuple[int, int, str, Ranges | None]
"""Start, end, label and parts of a span."""


class PairCounts(NamedTuple):
    """How many pairs and spans in no pair there are.

    `pairs` is by the label of the gold span, whether both have the same start and end, and whether they have the same
    label; `missed` and `spurious` are by label.
    """

    pairs: Counter[tuple[str, bool, bool]]
    missed: Counter[str]
    spurious: Counter[str]

    @classmethod
    def of(
        cls,
        pairs: Iterable[tuple[Key | Item, Key | Item]],
        missed: Iterable[Key | Item] = (),
        spurious: Iterable[Key | Item] = (),
    ) -> PairCounts:
        kinds = ((one[2], _range(one) == _range(other), one[2] == other[2]) for one, other in pairs)
        return cls(Counter(kinds), Counter(map(_label, missed)), Counter(map(_label, spurious)))


def apart(gold: Sequence[Key], predicted: Sequence[Key]) -> tuple[PairCounts, list[Item], list[Item]]:
    """Return what needs no stages, and the other spans of both sides. Costs O(n log n) for n spans.

    A span alone is in no pair, and two overlapping spans, one of each side, are a pair under every scheme.

    >>> apart([(0, 3, "A", None), (5, 6, "B", None)], [(1, 4, "A", None), (7, 9, "B", None)])[0]
    PairCounts(pairs=Counter({('A', False, True): 1}), missed=Counter({'B': 1}), spurious=Counter({'B': 1}))
    """
    alone, overlapping, others = isolated(map(_extent, gold), map(_extent, predicted))
    pairs: list[tuple[Key, Key]] = []
    for number, other in overlapping:
        if gold[number][3] or predicted[other][3]:
            others[0].append(number)
            others[1].append(other)
        else:
            pairs.append((gold[number], predicted[other]))
    missed, spurious = (
        [side[n] for n in numbers] for side, numbers in zip((gold, predicted), alone, strict=True)
    )
    own, left = (
        [Item(start, end, label, parts or ()) for start, end, label, parts in map(side.__getitem__, numbers)]
        for side, numbers in zip((gold, predicted), others, strict=True)
    )
    return PairCounts.of(pairs, missed, spurious), own, left


_extent: Callable[[Key | Item], tuple[int, int]] = itemgetter(0, 1)
_label: Callable[[Key | Item], str] = itemgetter(2)
_range: Callable[[Key | Item], tuple[int, int, Ranges | None]] = itemgetter(0, 1, 3)


def _identity(span: Ranged) -> tuple[int, int, str, Ranges]:
    return span.start, span.end, span.label, span.parts or ()


def _itself(span: Item) -> Item:
    return span


def _anything(span: Item) -> None:
    """Return None, the key that all spans share."""


def in_order(gold: Sequence[Ranged], predicted: Sequence[Ranged]) -> Iterator[tuple[int, int]]:
    """Pair the first spans of both sides, then the second ones, and so on; yield their numbers."""
    numbers = range(min(len(gold), len(predicted)))
    return zip(numbers, numbers, strict=True)


def overlap_pairs(gold: Sequence[Ranged], predicted: Sequence[Ranged]) -> Iterator[tuple[int, int]]:
    """Yield as many pairs of overlapping spans as possible, by their numbers; each span is in one pair at
    most.

    Costs O(n log n) for n spans, in any order; spans may be nested or repeated. Spans that overlap a discontinuous
    one, directly or through others, are paired by `most_pairs`, which costs more.
    """
    if all(not span.parts for spans in (gold, predicted) for span in spans):
        yield from _pairs_of_ranges(gold, predicted)
        return
    for of_gold, of_predicted in _components(gold, predicted):
        own, others = [gold[number] for number in of_gold], [predicted[number] for number in of_predicted]
        whole = all(not span.parts for span in (*own, *others))
        for one, other in (_pairs_of_ranges if whole else _pairs_of_fragments)(own, others):
            yield of_gold[one], of_predicted[other]


def _pairs_of_fragments(gold: Sequence[Ranged], predicted: Sequence[Ranged]) -> Iterator[tuple[int, int]]:
    """Do the same for spans of which some are discontinuous; the pairs do not depend on the order of the spans."""
    order = sorted(range(len(gold)), key=lambda number: _identity(gold[number]))
    overlapping = sharing(gold, predicted)
    edges = [[(other, other) for other in overlapping[number]] for number in order]
    for number, partner in zip(order, most_pairs(edges), strict=True):
        if partner is not None:
            yield number, partner


def _pairs_of_ranges(gold: Sequence[Ranged], predicted: Sequence[Ranged]) -> Iterator[tuple[int, int]]:
    """Do the same for spans without gaps."""
    sides = gold, predicted
    order = sorted(
        (span.end, span.start, side, number)
        for side, spans in enumerate(sides)
        for number, span in enumerate(spans)
    )
    starts = [sorted((span.start, number) for number, span in enumerate(spans)) for spans in sides]
    begun = [0, 0]  # for each side, how many of `starts` have begun
    open_: tuple[list[tuple[int, int, int]], ...] = ([], [])  # heaps of the begun spans, by end
    done = [[False] * len(spans) for spans in sides]
    for end, start, side, number in order:
        if done[side][number]:
            continue
        done[side][number] = True
        other, heap = 1 - side, open_[1 - side]
        while begun[other] < len(starts[other]) and starts[other][begun[other]][0] < end:
            begin, partner = starts[other][begun[other]]
            heappush(heap, (sides[other][partner].end, begin, partner))
            begun[other] += 1
        while heap and done[other][heap[0][2]]:
            heappop(heap)
        # a span that is not done and has begun ends no sooner than this one, so it overlaps this one
        if heap and heap[0][0] > start:
            partner = heappop(heap)[2]
            done[other][partner] = True
            yield (number, partner) if side == 0 else (partner, number)


def flat_pairs(gold: Sequence[Ranged], predicted: Sequence[Ranged]) -> Iterator[tuple[int, int]]:
    """Yield pairs of overlapping spans, by number: as many of equal label as possible, then as many as
    possible.

    Considers only overlap components in which the spans of each side do not overlap one another; other
    spans are in no pair. Costs O(n log n) for n spans.

    >>> gold, predicted = [Span(0, 2, "A"), Span(3, 6, "A")], [Span(0, 1, "B"), Span(1, 5, "A")]
    >>> list(flat_pairs(gold, predicted))
    [(0, 0), (1, 1)]
    """
    sides = gold, predicted
    for component in _components(gold, predicted):
        spans = [[sides[side][number] for number in component[side]] for side in range(2)]
        whole = all(not span.parts for side in spans for span in side)
        if whole and all(following.start >= span.end for side in spans for span, following in pairwise(side)):
            for number, partner in _best_pairs(*spans):
                yield component[0][number], component[1][partner]


def _components(gold: Sequence[Ranged], predicted: Sequence[Ranged]) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the numbers of the spans of each overlap component, of both sides, by position."""
    component: tuple[list[int], list[int]] = ([], [])
    reach = 0
    for start, end, side, number in sorted(
        (span.start, span.end, side, number)
        for side, spans in enumerate((gold, predicted))
        for number, span in enumerate(spans)
    ):
        if start >= reach:
            yield component
            component = ([], [])
        component[side].append(number)
        reach = max(reach, end)
    yield component


def _best_pairs(gold: Sequence[Ranged], predicted: Sequence[Ranged]) -> list[tuple[int, int]]:
    """Return the best pairing of two sequences without overlaps of their own, by position.

    The overlapping pairs of such sequences have an order in which successive pairs share at most one span. So
    the pairs that can follow depend only on whether the spans of the last pair are taken; the best of each
    case is kept.
    """
    nothing: _Found = (0, 0, None)
    best: dict[tuple[bool, bool], _Found] = {(False, False): nothing}
    last = -1, -1
    i = j = 0
    while i < len(gold) and j < len(predicted):
        one, other = gold[i], predicted[j]
        if one.start < other.end and other.start < one.end:
            found: dict[tuple[bool, bool], _Found] = {}
            for (taken, other_taken), figures in best.items():
                state = taken and i == last[0], other_taken and j == last[1]
                found[state] = max(found.get(state, nothing), figures, key=_value)
            if (False, False) in found:
                labels, pairs, chain = found[False, False]
                pair: _Found = (labels + (one.label == other.label), pairs + 1, (i, j, chain))
                found[True, True] = max(found.get((True, True), nothing), pair, key=_value)
            best, last = found, (i, j)
        if one.end <= other.end:
            i += 1
        else:
            j += 1
    chain = max(best.values(), key=_value)[2]
    result = []
    while chain is not None:
        result.append(chain[:2])
        chain = chain[2]
    return result[::-1]


_Chain = tuple[int, int, Any] | None
"""A pair of numbers, and the chain of the pairs before it."""

_Found = tuple[int, int, _Chain]
"""The number of pairs of equal label, the number of pairs, and the pairs."""


def _value(found: _Found) -> tuple[int, int]:
    return found[:2]


Stage = tuple[
    Callable[[Item], Hashable], Callable[[Sequence[Item], Sequence[Item]], Iterable[tuple[int, int]]]
]
"""A key that groups the spans of both sides, and a function that pairs the spans of a group."""

EQUAL: Stage = (_itself, in_order)
_REST: Stage = (_anything, overlap_pairs)
BY_RANGE: Sequence[Stage] = ((_range, in_order), _REST)
BY_LABEL: Sequence[Stage] = ((_anything, flat_pairs), (_label, overlap_pairs), _REST)


def pairing(
    gold: Iterable[Item], predicted: Iterable[Item], stages: Sequence[Stage]
) -> tuple[list[Pair], list[Item], list[Item]]:
    """Return the pairs, the gold spans left over and the predicted spans left over after all stages."""
    pairs: list[Pair] = []
    # sorted, so that the order of the arguments does not matter
    left = [sorted(spans) for spans in (gold, predicted)]
    for key, match in stages:
        groups: dict[Hashable, tuple[list[Item], list[Item]]] = {}
        for side, spans in enumerate(left):
            for span in spans:
                groups.setdefault(key(span), ([], []))[side].append(span)
        left = [[], []]
        for group in groups.values():
            if not (group[0] and group[1]):
                for side in range(2):
                    left[side] += group[side]
                continue
            matched = list(match(*group))
            pairs += [(group[0][number], group[1][partner]) for number, partner in matched]
            for side in range(2):
                taken = {pair[side] for pair in matched}
                left[side] += [span for number, span in enumerate(group[side]) if number not in taken]
        left = [sorted(spans) for spans in left]
    return pairs, left[0], left[1]
