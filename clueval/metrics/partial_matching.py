"""The pairs of spans and their overlap factors, by which the metric `partial` counts; its docstring has the rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, starmap
from operator import attrgetter
from typing import NamedTuple

from clueval.exceptions import OverlapError
from clueval.metrics.partial_fragments import first_overlap, fragment_pairs, have_gaps, joined_fragments
from clueval.spans.document import Document
from clueval.spans.span import Span, name_of

_position = attrgetter("start", "end")


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
    return sorted((span for label in sorted(groups) for span in glued(groups[label])), key=_position)


def by_label(spans: Iterable[Span]) -> dict[str, list[Span]]:
    """Return the spans of each label, sorted by position."""
    groups: dict[str, list[Span]] = {}
    for span in spans:
        groups.setdefault(span.label, []).append(span)
    for group in groups.values():
        group.sort(key=_position)
    return groups


def refuse_overlaps(spans: Sequence[Span], side: str, document: Document | None = None) -> None:
    """Raise `OverlapError` if any two sorted spans overlap; then two adjacent ones do, or two adjacent fragments."""
    overlap = first_overlap(spans) if have_gaps(spans) else _first_overlap(spans)
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


def _first_overlap(spans: Iterable[Span]) -> tuple[Span, Span] | None:
    return next(((one, other) for one, other in pairwise(spans) if other.start < one.end), None)


def glued(spans: Sequence[Span]) -> list[Span]:
    """Return sorted spans of one label, with overlapping ones joined."""
    if have_gaps(spans):
        return joined_fragments(spans)
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
    if have_gaps(gold) or have_gaps(predicted):
        yield from starmap(PartialMatch, fragment_pairs(gold, predicted))
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
