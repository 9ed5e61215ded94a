"""The five match classes of CLUEval, as numbers, and the label that several partners of a span have together.

Each span of one side is classified by the spans of the other side that overlap it::

    the span         |==========|
    other side       |----------|        1 exact
                  |-------------|        2 superset: one span covers it
                     |---||-----|        3 tiling: adjacent spans cover it exactly
                   |--------||----|      4 overlap: adjacent spans cover it and extend beyond it
                     everything else     5 missed

*Level n* counts the classes 1 to n as true positives. Exact matches are removed from both sides first. Spans
of one side must not overlap one another. A span of zero length is matched exactly, or covered by a span that
begins before it and ends after it.

Source: the CLUEval algorithm, "match.spans".
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple, get_args

from clueval.core.span import Frozen, Labels, Span
from clueval.spans.flat import Flat

Kind = Literal["exact", "superset", "tiling", "overlap", "missed"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""The classes in the order of their levels; `missed` is no match at any level."""

UNMATCHED = MappingProxyType({"gold": "missed", "predicted": "spurious"})
"""The name of the last class for each side: a gold span is missed, a predicted span is spurious."""


def classes_of(side: str) -> tuple[str, ...]:
    """Return the classes of the spans of `side` (``gold`` or ``predicted``), in the order of their levels.

    >>> classes_of("predicted")[-1]
    'spurious'
    """
    return (*KINDS[:-1], UNMATCHED[side])


LEVELS = (1, 2, 3, 4)


EXACT, SUPERSET, TILING, OVERLAP, MISSED = range(len(KINDS))


class Classes(NamedTuple):
    """The classes and partners of the spans of one side; spans of both sides are numbered by position.

    `kinds` holds for each span an index into `KINDS`, `firsts` the number of its first partner (-1: none).
    For tilings and overlaps, which have several partners, `pasts` holds the number after that of the last
    partner.
    """

    kinds: list[int]
    firsts: list[int]
    pasts: dict[int, int]

    def note(self, number: int, first: int, past: int, own: Flat, other: Flat) -> None:
        """Classify span `number` of `own`, which overlaps exactly the spans ``[first, past)`` of `other`.

        No span of these may equal it.
        """
        starts, ends = other.starts, other.ends
        start, end, least, greatest = own.starts[number], own.ends[number], starts[first], ends[past - 1]
        if least > start or greatest < end:
            return
        if past - first == 1:
            self.kinds[number] = SUPERSET
        elif _touch(starts, ends, first, past - 1):
            self.kinds[number] = TILING if least == start and greatest == end else OVERLAP
            self.pasts[number] = past
        else:
            return
        self.firsts[number] = first

    def note_covered(self, first: int, past: int, by: int) -> None:
        """Classify the spans ``[first, past)``, all of which span `by` of the other side covers."""
        self.kinds[first:past] = [SUPERSET] * (past - first)
        self.firsts[first:past] = [by] * (past - first)


def classify(one: Flat, two: Flat) -> tuple[Classes, Classes]:
    """Return the classes of the spans of both sides; O(n + m), without creating an object for each span.

    The function sweeps along both sides. Spans of one side do not overlap one another, so two equal spans
    overlap no others, and the remaining spans form chains, in which each span overlaps the next span of the
    other side::

        position    0   1   2   3   4   5   6   7   8   9
        one         |======a=======|    |==b===|
        two         |==x===||======y=======|        |=z=|
        ends                x       a       y   b       z

    In a chain, the sweep classifies the span that ends next; by then it knows all partners of this span: from
    the `first` one, which it stored when it reached the span, to the current span of the other side. Here
    this is x, which a covers; then a, which x and y cover, touching and extending beyond it; then y, whose
    partners a and b have a gap between them; then b, which y does not cover. This is the end of the chain; z
    overlaps no span.

    >>> one, two = Flat.of([Span(0, 4), Span(5, 7)]), Flat.of([Span(0, 2), Span(2, 6), Span(8, 9)])
    >>> for side in classify(one, two):
    ...     print(*(KINDS[kind] for kind in side.kinds))
    overlap missed
    superset missed missed
    """
    starts, ends, other_starts, other_ends = one.starts, one.ends, two.starts, two.ends
    n, m = len(starts), len(other_starts)
    classes = Classes([MISSED] * n, [-1] * n, {})
    other_classes = Classes([MISSED] * m, [-1] * m, {})
    kinds, firsts, _ = classes
    other_kinds, other_firsts, _ = other_classes
    i = j = 0
    while i < n and j < m:
        start, end, other_start, other_end = starts[i], ends[i], other_starts[j], other_ends[j]
        if start == other_start and end == other_end:
            kinds[i] = other_kinds[j] = EXACT
            firsts[i], other_firsts[j] = j, i
            i += 1
            j += 1
        elif end <= other_start:
            i += 1
        elif other_end <= start:
            j += 1
        elif (i + 1 < n and starts[i + 1] < other_end) or (j + 1 < m and other_starts[j + 1] < end):
            i, j = _chain(i, j, one, two, classes, other_classes)
        else:  # a chain of two spans, by far the most frequent case
            if other_start <= start and end <= other_end:
                kinds[i], firsts[i] = SUPERSET, j
            elif start <= other_start and other_end <= end:
                other_kinds[j], other_firsts[j] = SUPERSET, i
            i += 1
            j += 1
    return classes, other_classes


def _chain(i: int, j: int, one: Flat, two: Flat, classes: Classes, other_classes: Classes) -> tuple[int, int]:
    """Classify the chain that begins with spans `i` and `j`; return the numbers of the spans after it.

    The two branches mirror each other. One branch for both, with the sides exchanged, takes a tenth longer.
    """
    first, other_first = j, i  # the first partners of span i and of span j
    starts, ends, other_starts, other_ends = one.starts, one.ends, two.starts, two.ends
    kinds, firsts, pasts = classes
    other_kinds, other_firsts, other_pasts = other_classes
    n, m = len(starts), len(other_starts)
    while True:
        end, other_end = ends[i], other_ends[j]
        if end < other_end:
            if first != j:  # the last of several partners extends beyond the span
                if other_starts[first] <= starts[i] and _touch(other_starts, other_ends, first, j):
                    kinds[i], firsts[i], pasts[i] = OVERLAP, first, j + 1
            elif other_starts[j] <= starts[i]:
                past = _end_of_run(ends, i, other_end)
                classes.note_covered(i, past, j)
                i = past - 1
            i, first = i + 1, j
            if i == n or starts[i] >= other_end:
                other_classes.note(j, other_first, i, two, one)
                return i, j + 1
        elif other_end < end:
            if other_first != i:
                if starts[other_first] <= other_starts[j] and _touch(starts, ends, other_first, i):
                    other_kinds[j], other_firsts[j], other_pasts[j] = OVERLAP, other_first, i + 1
            elif starts[i] <= other_starts[j]:
                past = _end_of_run(other_ends, j, end)
                other_classes.note_covered(j, past, i)
                j = past - 1
            j, other_first = j + 1, i
            if j == m or other_starts[j] >= end:
                classes.note(i, first, j, one, two)
                return i + 1, j
        else:
            classes.note(i, first, j + 1, one, two)
            other_classes.note(j, other_first, i + 1, two, one)
            return i + 1, j + 1


def _touch(starts: Sequence[int], ends: Sequence[int], first: int, last: int) -> bool:
    """Return whether each span from `first` to `last` ends where the next begins."""
    if last == first + 1:
        return ends[first] == starts[last]
    return ends[first:last] == starts[first + 1 : last + 1]


def _end_of_run(ends: Sequence[int], first: int, before: int) -> int:
    """Return the number of the first span after `first` that does not end before the position `before`."""
    if first + 1 == len(ends) or ends[first + 1] >= before:
        return first + 1
    return bisect_left(ends, before, first + 1)


def joined_labels(span: Span, partners: Sequence[Span]) -> Labels:
    """Return for each layer the label of the partners with most positions inside `span`.

    If several labels have the same number of positions, the earliest one wins. `partners` must come by
    position. A partner without a label in a layer is ignored there; the label is None if no partner has one.

    >>> joined_labels(Span(2, 8), [Span(0, 4, "A"), Span(4, 6, "B"), Span(6, 9, "B")])
    {'label': 'B'}
    """
    ranges = [(partner.start, partner.end) for partner in partners]
    return joined((span.start, span.end), ranges, [partner.by_layer for partner in partners])


def joined(range_: tuple[int, int], ranges: Iterable[tuple[int, int]], labels: Sequence[Labels]) -> Labels:
    """Return what `joined_labels` does, for partners given by their ranges and labels."""
    first = labels[0]
    if labels.count(first) == len(labels):
        return first
    start, end = range_
    positions: dict[str, dict[str, int]] = {}
    for (other_start, other_end), by_layer in zip(ranges, labels, strict=True):
        inside = (end if end < other_end else other_end) - (start if start > other_start else other_start)
        for layer, label in by_layer.items():
            of_layer = positions.setdefault(layer, {})
            if label is not None:
                of_layer[label] = of_layer.get(label, 0) + inside
    return Frozen({layer: most(of_layer) for layer, of_layer in positions.items()})


def most(positions: Mapping[str, int]) -> str | None:
    """Return the label with most positions, the first of equals; labels were added by position."""
    return max(positions, key=positions.__getitem__, default=None)
