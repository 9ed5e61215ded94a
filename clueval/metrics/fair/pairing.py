"""The steps of fair evaluation: each pairs two spans; a long span may be in several pairs, with shorter ones.

The steps are those of FairEval, since the published numbers depend on their order and on every tie. Gold is FairEval's
target, predicted its system.

1. TP: each gold span, in order, takes the first equal predicted span that is free.
2. LE: each gold span takes the first free predicted span of the same range and another label.
3. The other spans of each side are sorted by length, shortest first.
4. For spans of the same label (BES, BEL, BEO): each gold span takes the most similar free predicted span that it
   overlaps, and both become *counted*.
5. Each gold span that is left takes the most similar counted predicted span that still shares a token with it.
6. Each predicted span that is left takes such a gold span.
7. The same three steps for spans of different labels (LBE).
8. What is left is FN and FP.

Tokens that a pair shares are taken from both of its spans. The *most similar* span shares most tokens; of equals it has
fewest tokens, then the least length, then it is the first in the list. (FairEval asks between the first two which span
lacks fewest tokens of the span that chooses; that follows from the first.)

An example: gold A[0,4) and A[6,8), predicted A[0,9). There is no exact pair and no label error. The shortest span comes
first: for A[6,8), A[0,9) is free and contains it, so BEL, and A[0,9) keeps the tokens 0-5 and 8. Then for A[0,4) no
span is free, but A[0,9), already counted, still shares four tokens with it, so BEL again. No span remains.

The tokens of a span are `Span.tokens`, or all positions of its range or its fragments. They are kept as *runs*, sorted,
disjoint half-open ranges, whose number does not depend on the length of a span.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

from clueval.core.span import (
    Ranges,
    Span,
    intersect,
    joined_ranges,
    overlaps_between,
    positions_in,
    shared_positions,
)

Runs = list[tuple[int, int]]


_Range = tuple[int, int, Ranges | None]
"""Start, end and parts of a span."""


class Identity(NamedTuple):
    """What makes spans equal. `tokens` are None if they are all positions of the span."""

    label: str
    range: _Range
    tokens: frozenset[int] | None


class Item(NamedTuple):
    """A span, and what makes it equal to others."""

    key: Identity
    span: Span

    @classmethod
    def of(cls, span: Span) -> Item:
        """Return the item of a span.

        >>> Item.of(Span(3, 5, "NP", tokens=frozenset({3, 4}))).key == Item.of(Span(3, 5, "NP")).key
        True
        """
        tokens = span.tokens if span.tokens and span.parts is None else None
        if tokens and len(tokens) == len(span) and tokens.issuperset(range(span.start, span.end)):
            tokens = None
        return cls(Identity(span.label, (span.start, span.end, span.parts), tokens), span)


Pairing = tuple[str, Item | None, Item | None]
"""TP, LE, BES, BEL, BEO, LBE, FN or FP, with a gold and a predicted span; FN and FP have only one."""


def pair_up(gold: Sequence[Item], predicted: Sequence[Item]) -> Iterator[Pairing]:
    """Yield the pairs of two sides, and the spans in no pair, in the order of the steps.

    Costs O(n log n) for n spans, and the pairs that overlap. Raises `LimitError` for too many of these.

    >>> gold, predicted = [Span(0, 4, "A"), Span(6, 8, "A")], [Span(0, 9, "A")]
    >>> [kind for kind, *_ in pair_up(list(map(Item.of, gold)), list(map(Item.of, predicted)))]
    ['BEL', 'BEL']
    """
    for kind, find in (("TP", _equal_pairs), ("LE", _label_errors)):
        pairs = find(gold, predicted)
        yield from (
            (kind, gold[gold_number], predicted[predicted_number])
            for gold_number, predicted_number in pairs.items()
        )
        taken = set(pairs.values())
        gold = [item for number, item in enumerate(gold) if number not in pairs]
        predicted = [item for number, item in enumerate(predicted) if number not in taken]
    if gold or predicted:
        yield from _boundary_errors(gold, predicted)


def _equal_pairs(gold: Sequence[Item], predicted: Sequence[Item]) -> dict[int, int]:
    """Step 1, by number."""
    free: dict[Identity, list[int]] = {item.key: [] for item in gold}
    for number in range(len(predicted) - 1, -1, -1):  # so that the first is the last of the list
        if (numbers := free.get(predicted[number].key)) is not None:
            numbers.append(number)
    return {number: free[item.key].pop() for number, item in enumerate(gold) if free[item.key]}


def _label_errors(gold: Sequence[Item], predicted: Sequence[Item]) -> dict[int, int]:
    """Step 2, by number."""
    free: dict[_Range, OrderedDict[int, str]] = {}
    ranges = {item.key.range for item in gold}
    for number, (key, _) in enumerate(predicted):
        if key.range in ranges:
            free.setdefault(key.range, OrderedDict())[number] = key.label
    pairs = {}
    for number, (key, _) in enumerate(gold) if free else ():
        of_range = free.get(key.range, OrderedDict())
        partner = next(
            (predicted_number for predicted_number, label in of_range.items() if label != key.label), None
        )
        if partner is not None:
            del of_range[partner]
            pairs[number] = partner
    return pairs


# Steps 3 to 8


@dataclass(slots=True, eq=False)
class _Leftover:
    """A span that is neither in a TP nor in an LE, and its tokens that no pair has taken.

    `around` are the numbers of the spans of the other side that overlap it (objects that hold one another would stay in
    memory until the garbage collector finds them). `place` orders the list of free or of counted spans in which it is.
    """

    item: Item
    label: str
    length: int
    runs: Runs
    size: int
    place: int = 0
    counted: bool = False
    around: Sequence[int] = ()

    @classmethod
    def of(cls, item: Item, around: Sequence[int]) -> _Leftover:
        label, (start, end, _), tokens = item.key
        if tokens is None:
            runs = [part for part in item.span.fragments if part[0] < part[1]]
        else:
            runs = list(joined_ranges(((token, token + 1) for token in tokens), join=int.__ge__))
        return cls(item, label, end - start, runs, positions_in(runs), around=around)


def _boundary_errors(gold: Sequence[Item], predicted: Sequence[Item]) -> Iterator[Pairing]:
    around = overlaps_between([item.span for item in gold], [item.span for item in predicted])
    golds, predicteds = (
        list(map(_Leftover.of, *of_side)) for of_side in zip((gold, predicted), around, strict=True)
    )
    places = count()
    by_length = []
    for side in (golds, predicteds):
        by_length.append(sorted(side, key=lambda leftover: leftover.length))
        for leftover in by_length[-1]:
            leftover.place = next(places)
    for same_label in (True, False):
        for side, others, counted in (
            (by_length[0], predicteds, False),
            (by_length[0], predicteds, True),
            (by_length[1], golds, True),
        ):
            for leftover in side:
                if leftover.counted:
                    continue
                partner, shared, size = _most_similar(leftover, others, counted, same_label)
                if partner is None:
                    continue
                for member in (leftover, partner):  # the tokens that both have are taken from both
                    subtract(member.runs, shared)
                    member.size -= size
                    if not member.counted:
                        member.counted, member.place = True, next(places)
                pair = (partner.item, leftover.item) if others is golds else (leftover.item, partner.item)
                yield boundary_kind(*(item.span for item in pair)) if same_label else "LBE", *pair
    yield from (("FN", leftover.item, None) for leftover in by_length[0] if not leftover.counted)
    yield from (("FP", None, leftover.item) for leftover in by_length[1] if not leftover.counted)


def _most_similar(
    leftover: _Leftover, others: Sequence[_Leftover], counted: bool, same_label: bool
) -> tuple[_Leftover | None, Runs, int]:
    """Return the most similar of the others, or None, what both share, and the size of that.

    It is free, or counted and shares a token, and has another range: spans of one range were paired before, or are no
    pair.
    """
    best: _Leftover | None = None
    taken, least = [], (1, 0, 0, 0)  # no rank is greater
    for number in leftover.around:
        other = others[number]
        if other.counted is counted and (other.label == leftover.label) is same_label:
            if other.item.key.range == leftover.item.key.range:
                continue
            shared = intersect(leftover.runs, other.runs)
            rank = -positions_in(shared), other.size, other.length, other.place
            if (shared or not counted) and rank < least:
                best, taken, least = other, shared, rank
    return best, taken, -least[0]


def boundary_kind(gold: Span, predicted: Span) -> str:
    """Return BES, BEL or BEO for two spans of one label that overlap."""
    shared = shared_positions(gold, predicted)
    if shared == positions_in(predicted.fragments):
        return "BES"
    return "BEL" if shared == positions_in(gold.fragments) else "BEO"


def subtract(runs: Runs, gone: Runs) -> None:
    """Remove positions in place; each run of `gone` must lie inside one of `runs`.

    >>> runs = [(0, 9)]
    >>> subtract(runs, [(2, 4), (8, 9)])
    >>> runs
    [(0, 2), (4, 8)]
    """
    for start, end in gone:
        number = bisect_left(runs, (start + 1,)) - 1
        first, last = runs[number]
        pieces = (first, start), (end, last)
        runs[number : number + 1] = [piece for piece in pieces if piece[0] < piece[1]]
