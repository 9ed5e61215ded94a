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
from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

from clueval.core.overlap import overlaps_between, shared_positions
from clueval.core.ranges import Ranges, intersect, joined_ranges
from clueval.core.span import Span

Pairing = tuple[str, Span | None, Span | None]
"""TP, LE, BES, BEL, BEO, LBE, FN or FP, with a gold and a predicted span; FN and FP have only one."""

Identity = tuple[str, Ranges, frozenset[int] | None]
"""What makes spans equal: label, fragments, and tokens (None: all positions)."""

Runs = list[tuple[int, int]]


def identity(span: Span) -> Identity:
    """Return what makes a span equal to others; tokens that are all positions of the range are None.

    >>> identity(Span(3, 5, "NP", tokens=frozenset({3, 4}))) == identity(Span(3, 5, "NP"))
    True
    """
    tokens = span.tokens if span.tokens and span.parts is None else None
    if tokens is not None and len(tokens) == len(span) and tokens.issuperset(range(span.start, span.end)):
        tokens = None
    return span.label, span.fragments, tokens


def pair_up(gold: Sequence[Span], predicted: Sequence[Span]) -> Iterator[Pairing]:
    """Yield every span of both sides as one that was free until then exactly once, in the order of the steps.

    Costs O(n log n) for n spans, and the pairs that overlap. Raises `LimitError` for too many of these.

    >>> [kind for kind, *_ in pair_up([Span(0, 4, "A"), Span(6, 8, "A")], [Span(0, 9, "A")])]
    ['BEL', 'BEL']
    """
    golds, predicteds = list(gold), list(predicted)
    for kind, find in (("TP", _equal_pairs), ("LE", _label_errors)):
        pairs = find(golds, predicteds)
        yield from ((kind, golds[own], predicteds[other]) for own, other in pairs.items())
        taken = set(pairs.values())
        golds = [span for number, span in enumerate(golds) if number not in pairs]
        predicteds = [span for number, span in enumerate(predicteds) if number not in taken]
    yield from _boundary_errors(golds, predicteds)


def _equal_pairs(gold: Sequence[Span], predicted: Sequence[Span]) -> dict[int, int]:
    """Step 1, by number."""
    free: dict[Identity, deque[int]] = {}
    for number, span in enumerate(predicted):
        free.setdefault(identity(span), deque()).append(number)
    keys = enumerate(map(identity, gold))
    return {number: free[key].popleft() for number, key in keys if free.get(key)}


def _label_errors(gold: Sequence[Span], predicted: Sequence[Span]) -> dict[int, int]:
    """Step 2, by number."""
    free: dict[Ranges, OrderedDict[int, str]] = {}
    for number, span in enumerate(predicted):
        free.setdefault(span.fragments, OrderedDict())[number] = span.label
    pairs = {}
    for number, span in enumerate(gold):
        of_range = free.get(span.fragments, OrderedDict())
        other = next((each for each, label in of_range.items() if label != span.label), None)
        if other is not None:
            del of_range[other]
            pairs[number] = other
    return pairs


# Steps 3 to 8


@dataclass(slots=True, eq=False)
class _Leftover:
    """A span that is neither in a TP nor in an LE, and its tokens that no pair has taken.

    `around` are the spans of the other side that overlap it and have another range. `place` orders the list of free or
    of counted spans in which it is.
    """

    span: Span
    label: str
    runs: Runs
    size: int
    place: int
    counted: bool = False
    around: list[_Leftover] = field(default_factory=list)


def _leftovers(spans: Sequence[Span]) -> list[_Leftover]:
    found = []
    for span in spans:
        runs = _runs_of(span)
        found.append(_Leftover(span, span.label, runs, _size_of(runs), 0))
    return found


def _boundary_errors(gold: Sequence[Span], predicted: Sequence[Span]) -> Iterator[Pairing]:
    sides = _leftovers(gold), _leftovers(predicted)
    if gold and predicted:
        for own, others in zip(sides[0], overlaps_between(gold, predicted)[0], strict=True):
            for other in map(sides[1].__getitem__, others):
                if own.span.fragments != other.span.fragments:
                    own.around.append(other)
                    other.around.append(own)
    places = count()
    for side in sides:
        side.sort(key=lambda own: len(own.span))
        for own in side:
            own.place = next(places)
    for same_label in (True, False):
        for side, counted in ((sides[0], False), (sides[0], True), (sides[1], True)):
            for own in side:
                partner = None if own.counted else _most_similar(own, counted, same_label)
                if partner is None:
                    continue
                _take_shared(own, partner)
                for each in (own, partner):
                    if not each.counted:
                        each.counted, each.place = True, next(places)
                pair = (own.span, partner.span) if side is sides[0] else (partner.span, own.span)
                yield _boundary_kind(*pair) if same_label else "LBE", *pair
    yield from (("FN", own.span, None) for own in sides[0] if not own.counted)
    yield from (("FP", None, own.span) for own in sides[1] if not own.counted)


def _most_similar(own: _Leftover, counted: bool, same_label: bool) -> _Leftover | None:
    """Return the most similar span of the other side that is free, or that is counted and shares a token, or None."""
    best, least = None, None
    for other in own.around:
        if other.counted is counted and (other.label == own.label) is same_label:
            shared = _size_of(intersect(own.runs, other.runs))
            rank = -shared, other.size, len(other.span), other.place
            if (shared or not counted) and (least is None or rank < least):
                best, least = other, rank
    return best


def _take_shared(own: _Leftover, other: _Leftover) -> None:
    """Remove the tokens that both spans have from both."""
    shared = intersect(own.runs, other.runs)
    size = _size_of(shared)
    for each in (own, other):
        subtract(each.runs, shared)
        each.size -= size


def _boundary_kind(gold: Span, predicted: Span) -> str:
    """Return BES, BEL or BEO for two spans of one label that overlap."""
    shared = shared_positions(gold, predicted)
    if shared == _size_of(predicted.fragments):
        return "BES"
    return "BEL" if shared == _size_of(gold.fragments) else "BEO"


def _runs_of(span: Span) -> Runs:
    tokens = identity(span)[2]
    if tokens is None:
        return [part for part in span.fragments if part[0] < part[1]]
    return list(joined_ranges(((token, token + 1) for token in tokens), join=int.__ge__))


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


def _size_of(runs: Iterable[tuple[int, int]]) -> int:
    return sum([end - start for start, end in runs])
