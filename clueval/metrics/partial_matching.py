"""The pairs of spans and their overlap factors, by which the metric `partial` counts; its docstring has the rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from clueval.exceptions import OverlapError
from clueval.spans.document import Document
from clueval.spans.flat import by_position
from clueval.spans.overlaps import shared_positions, sharing
from clueval.spans.ranges import Ranges
from clueval.spans.span import Span, name_of


class PartialMatch(NamedTuple):
    """A pair of a gold and a predicted span, the length they share, and the length of the longer one.

    Lengths are numbers of positions; those in the gaps of a discontinuous span do not count.
    """

    gold: Span
    predicted: Span
    overlap: int
    longest: int

    @property
    def exact(self) -> bool:
        """Return whether both have the same start and end, so that the overlap is the whole longer span."""
        return self.overlap == self.longest

    @property
    def factor(self) -> float:
        """Return the overlap factor, above 0 up to 1; 1 for an exact match, also of zero length."""
        return 1.0 if self.exact else self.overlap / self.longest


def partial_matches(gold: Iterable[Span], predicted: Iterable[Span]) -> Iterator[PartialMatch]:
    """Yield the pairs in the order in which the algorithm finds them; all other spans are unmatched.

    Labels come in alphabetical order; for each label first the exact matches, then the partial ones, both by
    position. The spans may come in any order. Raises `OverlapError` for overlapping spans of one label on one
    side. Holds all spans; O(n log n) for n spans.

    >>> [match.factor for match in partial_matches([Span(0, 4, "A")], [Span(0, 2, "A"), Span(2, 4, "A")])]
    [0.5]
    >>> gold, predicted = Span.of_fragments([(0, 3), (7, 9)]), Span.of_fragments([(0, 3), (7, 10)])
    >>> [(match.overlap, match.longest) for match in partial_matches([gold], [predicted])]
    [(5, 6)]
    """
    golds, predicteds = by_label(gold), by_label(predicted)
    for side, groups in (("gold", golds), ("predicted", predicteds)):
        for spans in groups.values():
            refuse_overlaps(spans, side)
    return (
        match
        for label in sorted(golds.keys() & predicteds.keys())
        for match in matches(golds[label], predicteds[label])
    )


def glue_spans(spans: Iterable[Span]) -> list[Span]:
    """Return the spans by position, with overlapping spans of one label joined into one.

    A joined span reaches from the least start to the greatest end, and has the labels, id and line of its
    first span; other attributes are lost. Spans that touch are not joined. O(n log n) for n spans.

    >>> spans = [Span(3, 7, "A"), Span(0, 4, "A"), Span(7, 9, "A"), Span(1, 2, "B")]
    >>> [name_of(span) for span in glue_spans(spans)]
    ["[0,7) 'A'", "[1,2) 'B'", "[7,9) 'A'"]
    """
    groups = by_label(spans)
    return sorted((span for label in sorted(groups) for span in glued(groups[label])), key=by_position)


def by_label(spans: Iterable[Span]) -> dict[str, list[Span]]:
    """Return the spans of each label, sorted by position."""
    groups: dict[str, list[Span]] = {}
    for span in spans:
        groups.setdefault(span.label, []).append(span)
    for group in groups.values():
        group.sort(key=by_position)
    return groups


def refuse_overlaps(spans: Sequence[Span], side: str, document: Document | None = None) -> None:
    """Raise `OverlapError` if any two sorted spans overlap; then two adjacent ones do, or two adjacent fragments."""
    overlap = _overlapping_fragments(spans) if _have_gaps(spans) else _overlapping_neighbours(spans)
    if overlap is not None:
        one, other = overlap
        raise OverlapError(
            f"{side} spans {name_of(one)} and {name_of(other)} overlap, which metric 'partial' forbids "
            "within a label",
            file=document.file if document is not None else None,
            line=other.line,
            document=document.id if document is not None else None,
            advice="correct them, or join them with Partial.glue; exact, fair, gate and muc count them",
        )


def _overlapping_neighbours(spans: Iterable[Span]) -> tuple[Span, Span] | None:
    return next(((one, other) for one, other in pairwise(spans) if other.start < one.end), None)


def glued(spans: Sequence[Span]) -> list[Span]:
    """Return sorted spans of one label, with overlapping ones joined."""
    if _have_gaps(spans):
        return _joined_fragments(spans)
    joined: list[Span] = []
    for span in spans:
        if joined and span.start < joined[-1].end:
            first = joined[-1]
            end = max(first.end, span.end)
            joined[-1] = Span(first.start, end, first.labels, id=first.id, line=first.line)
        else:
            joined.append(span)
    return joined


def matches(gold: Sequence[Span], predicted: Sequence[Span]) -> Iterator[PartialMatch]:
    """Yield the pairs within one label; both sides are sorted and without overlaps."""
    if _have_gaps(gold) or _have_gaps(predicted):
        yield from _fragment_matches(gold, predicted)
        return
    gold_left: list[Span] = []
    predicted_left: list[Span] = []
    yield from _exact_matches(gold, predicted, gold_left, predicted_left)
    yield from _overlaps(gold_left, predicted_left)


def _exact_matches(
    gold: Sequence[Span], predicted: Sequence[Span], gold_left: list[Span], predicted_left: list[Span]
) -> Iterator[PartialMatch]:
    """Yield the pairs of equal spans; other spans with a length go to `gold_left` or `predicted_left`."""
    i = j = 0
    while i < len(gold) and j < len(predicted):
        one, other = gold[i], predicted[j]
        if one.start == other.start and one.end == other.end:
            length = one.end - one.start
            yield PartialMatch(one, other, length, length)
            i += 1
            j += 1
        elif (one.start, one.end) < (other.start, other.end):
            if one.start < one.end:
                gold_left.append(one)
            i += 1
        else:
            if other.start < other.end:
                predicted_left.append(other)
            j += 1
    gold_left.extend(span for span in gold[i:] if span.start < span.end)
    predicted_left.extend(span for span in predicted[j:] if span.start < span.end)


def _overlaps(gold: Sequence[Span], predicted: Sequence[Span]) -> Iterator[PartialMatch]:
    """Yield the partial pairs of the remaining spans.

    Invariant: a gold span before number i is taken, or ends before this predicted span and all later ones.
    """
    i = 0
    for span in predicted:
        while i < len(gold) and gold[i].end <= span.start:
            i += 1
        if i < len(gold) and gold[i].start < span.end:
            first = gold[i]
            overlap = min(first.end, span.end) - max(first.start, span.start)
            yield PartialMatch(first, span, overlap, max(first.end - first.start, span.end - span.start))
            i += 1


def _have_gaps(spans: Iterable[Span]) -> bool:
    """Return whether any span is discontinuous."""
    return any(span.parts is not None for span in spans)


def _overlapping_fragments(spans: Iterable[Span]) -> tuple[Span, Span] | None:
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


def _joined_fragments(spans: Sequence[Span]) -> list[Span]:
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


def _fragment_matches(gold: Sequence[Span], predicted: Sequence[Span]) -> Iterator[PartialMatch]:
    """Yield the pairs of equal spans, then those of the others that share a position; some are discontinuous.

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
            yield PartialMatch(one, span, _size(span), _size(span))
        elif span.start < span.end:
            left.append(span)
    rest = [span for span in gold if id(span) not in taken and span.start < span.end]
    for span, others in zip(left, sharing(left, rest), strict=True):
        found = next((rest[number] for number in others if id(rest[number]) not in taken), None)
        if found is not None:
            taken.add(id(found))
            yield PartialMatch(found, span, shared_positions(found, span), max(_size(found), _size(span)))


def _size(span: Span) -> int:
    return sum(end - start for start, end in span.fragments)
