"""Matches of spans that share enough positions, for the setting `min_overlap` of the metric `exact`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush

from clueval.spans.limits import require_few_pairs
from clueval.spans.one_to_one import best_pairs
from clueval.spans.ranges import Ranges, intersect

Key = tuple[int, int, str, Ranges | None]
"""Start, end, label and parts of a span."""


def matches(
    gold: Iterable[Key], predicted: Iterable[Key], least: float, of: str
) -> tuple[set[Key], set[Key]]:
    """Return the spans of each side that are in a pair: one to one, as many as possible, with most shared positions.

    The spans of a pair have one label, and share at least `least` of the positions of the gold span (`of` is
    ``gold``) or of both together (``union``). Spans with equal positions always can be a pair.
    """
    golds, predicteds = sorted(gold, key=_order), sorted(predicted, key=_order)
    pairs: list[dict[int, float]] = [{} for _ in golds]
    for own, other in _overlapping(golds, predicteds):
        one, two = golds[own], predicteds[other]
        if one[2] == two[2]:
            shared = sum([end - start for start, end in intersect(_fragments(one), _fragments(two))])
            size = _size(one) if of == "gold" else _size(one) + _size(two) - shared
            if _fragments(one) == _fragments(two) or (shared and shared >= least * size):
                pairs[own][other] = shared
    chosen = best_pairs(pairs)
    return {golds[own] for own in chosen}, {predicteds[other] for other in chosen.values()}


def _order(key: Key) -> tuple[int, int, str, Ranges]:
    return key[0], key[1], key[2], key[3] or ()


def _overlapping(golds: Sequence[Key], predicteds: Sequence[Key]) -> list[tuple[int, int]]:
    """Return the pairs whose ranges share a position or are equal, by a sweep over sorted spans."""
    found: list[tuple[int, int]] = []
    compared = 0
    open_: tuple[list[tuple[int, int]], ...] = ([], [])  # heaps of the spans that have begun, by end
    order = sorted(
        (key[0], key[1], side, number)
        for side, keys in enumerate((golds, predicteds))
        for number, key in enumerate(keys)
    )
    for start, end, side, number in order:
        others = open_[1 - side]
        while others and others[0][0] < start:
            heappop(others)
        compared += len(others)
        require_few_pairs(compared, len(order))
        for other_end, other in others:
            begin = (predicteds if side == 0 else golds)[other][0]
            if other_end > start or (other_end == end and begin == start):
                found.append((number, other) if side == 0 else (other, number))
        heappush(open_[side], (end, number))
    return found


def _fragments(key: Key) -> Ranges:
    return ((key[0], key[1]),) if key[3] is None else key[3]


def _size(key: Key) -> int:
    return sum(end - start for start, end in _fragments(key))
