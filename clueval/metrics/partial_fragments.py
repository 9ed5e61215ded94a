"""Metric `partial` for discontinuous spans: the same steps by fragments; positions in gaps do not count.

Spans overlap if they share a position, and the overlap of a pair is the number of positions that both have, as a share
of the positions of the span that has more. Spans are those of one label, by position.

>>> gold, predicted = Span.of_fragments([(0, 3), (7, 9)]), Span.of_fragments([(0, 3), (7, 10)])
>>> [pair[2:] for pair in fragment_pairs([gold], [predicted])]
[(5, 6)]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from clueval.spans.flat import by_position
from clueval.spans.parts import Ranges
from clueval.spans.shared import shared_positions, sharing
from clueval.spans.span import Span

Pair = tuple[Span, Span, int, int]
"""A gold and a predicted span, the number of positions they share, and that of the one that has more."""


def have_gaps(spans: Iterable[Span]) -> bool:
    """Return whether any span is discontinuous."""
    return any(span.parts is not None for span in spans)


def first_overlap(spans: Iterable[Span]) -> tuple[Span, Span] | None:
    """Return two spans that share a position, or None. Costs O(n log n) for n fragments."""
    latest: Span | None = None
    reach = -1
    for start, end, number, span in _fragments(spans):
        del number
        if latest is not None and latest is not span and start < reach:
            return latest, span
        if end > reach or latest is None:
            latest, reach = span, end
    return None


def _fragments(spans: Iterable[Span]) -> list[tuple[int, int, int, Span]]:
    return sorted(
        ((start, end, number, span) for number, span in enumerate(spans) for start, end in span.fragments),
        key=lambda each: each[:3],
    )


def joined_fragments(spans: Sequence[Span]) -> list[Span]:
    """Return the spans with those that share positions joined into one, which has the positions of all."""
    leader = list(range(len(spans)))

    def of(number: int) -> int:
        while leader[number] != number:
            leader[number] = leader[leader[number]]
            number = leader[number]
        return number

    reach, owner = -1, -1
    for start, end, number, _ in _fragments(spans):
        if start < reach:
            one, other = sorted((of(owner), of(number)))
            leader[other] = one
        if end > reach:
            reach, owner = end, number
    groups: dict[int, list[Span]] = {}
    for number, span in enumerate(spans):
        groups.setdefault(of(number), []).append(span)
    return sorted(map(_joined, groups.values()), key=by_position)


def _joined(spans: Sequence[Span]) -> Span:
    first = spans[0]
    if len(spans) == 1:
        return first
    ranges: list[tuple[int, int]] = []
    for start, end in sorted(part for span in spans for part in span.fragments):
        if ranges and start <= ranges[-1][1]:
            ranges[-1] = ranges[-1][0], max(end, ranges[-1][1])
        else:
            ranges.append((start, end))
    return Span.of_fragments(ranges, first.labels, id=first.id, line=first.line)


def fragment_pairs(gold: Sequence[Span], predicted: Sequence[Span]) -> Iterator[Pair]:
    """Yield the pairs of equal spans, then those of the others that overlap.

    Each predicted span, by position, takes the first gold span that it overlaps and that is not taken.
    """
    free: dict[Ranges, list[Span]] = {}
    for span in reversed(gold):
        free.setdefault(span.fragments, []).append(span)
    left = []
    taken: set[int] = set()
    for span in predicted:
        equal = free.get(span.fragments)
        if equal:
            one = equal.pop()
            taken.add(id(one))
            yield one, span, _size(span), _size(span)
        elif span.start < span.end:
            left.append(span)
    rest = [span for span in gold if id(span) not in taken and span.start < span.end]
    for span, others in zip(left, sharing(left, rest), strict=True):
        found = next((rest[number] for number in others if id(rest[number]) not in taken), None)
        if found is not None:
            taken.add(id(found))
            yield found, span, shared_positions(found, span), max(_size(found), _size(span))


def _size(span: Span) -> int:
    return sum(end - start for start, end in span.fragments)
