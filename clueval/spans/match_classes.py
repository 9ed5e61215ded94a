"""The five match classes of CLUEval, as numbers.

Each span of one side is classified by how the spans of the other side lie over it::

    the span         |==========|
    other side       |----------|        1 exact
                  |-------------|        2 superset: one span covers it
                     |---||-----|        3 tiling: adjacent spans cover it exactly
                   |--------||----|      4 overlap: adjacent spans cover it and stick out
                     everything else     5 missed

*Level n* counts the classes 1 to n as true positives. Exact matches are taken out of both sides first. Spans of
one side must not overlap one another. A span of zero length is matched exactly, or covered from both sides.

Source: the CLUEval algorithm, "match.spans".
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple, get_args

from clueval.spans.flat import Flat

Kind = Literal["exact", "superset", "tiling", "overlap", "missed"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""The classes in the order of their levels; `missed` is no match at any level."""

UNMATCHED = MappingProxyType({"gold": "missed", "predicted": "spurious"})
"""What the last class is called where the side is known: a gold span is missed, a predicted one is spurious."""


def classes_of(side: str) -> tuple[str, ...]:
    """The classes of the spans of a side, in the order of their levels.

    >>> classes_of("predicted")[-1]
    'spurious'
    """
    return (*KINDS[:-1], UNMATCHED[side])


LEVELS = (1, 2, 3, 4)


EXACT, SUPERSET, TILING, OVERLAP, MISSED = range(len(KINDS))


class Classes(NamedTuple):
    """How the spans of one side were found; spans of either side go by their number, by position.

    `kinds` are numbers into `KINDS`. `firsts` are the first partners (-1: none), which are the only ones but
    for those spans that `pasts` has a number for: that past the last partner, of tilings and overlaps.
    """

    kinds: list[int]
    firsts: list[int]
    pasts: dict[int, int]

    def note(self, number: int, first: int, past: int, own: Flat, other: Flat) -> None:
        """Classify a span that nothing but these spans of the other side overlaps, none of which equals it."""
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
        """Classify those from one number up to another, all of which one span of the other side covers."""
        self.kinds[first:past] = [SUPERSET] * (past - first)
        self.firsts[first:past] = [by] * (past - first)


def classify(one: Flat, two: Flat) -> tuple[Classes, Classes]:
    """The classes of the spans of either side, both at once and without an object for each; O(n + m).

    A sweep along both sides. Neither has overlaps, so what is equal on both sides overlaps nothing else, and
    the rest falls into chains, in which each span overlaps the next of the other side::

        position    0   1   2   3   4   5   6   7   8   9
        one         |======a=======|    |==b===|
        two         |==x===||======y=======|        |=z=|
        ends                x       a       y   b       z

    In a chain the sweep takes whichever span ends next, and by then it knows all that overlaps that span: its
    partners, from the `first` one, where the chain came to it, to the span of the other side at hand. Here that
    is x, which a covers; then a, which x and y cover, touching and sticking out; then y, between whose partners
    a and b is a gap; then b, which y does not cover. That ends the chain, and z stands alone.

    >>> from clueval.spans.span import Span
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
        else:  # a chain of two, by far the most frequent
            if other_start <= start and end <= other_end:
                kinds[i], firsts[i] = SUPERSET, j
            elif start <= other_start and other_end <= end:
                other_kinds[j], other_firsts[j] = SUPERSET, i
            i += 1
            j += 1
    return classes, other_classes


def _chain(i: int, j: int, one: Flat, two: Flat, classes: Classes, other_classes: Classes) -> tuple[int, int]:
    """Classify the chain that begins with spans i and j; the numbers of those that come after it.

    The two branches mirror each other: one for both, with the sides changing places, takes a tenth longer.
    """
    first, other_first = j, i  # where the partners of span i, and those of span j, begin
    starts, ends, other_starts, other_ends = one.starts, one.ends, two.starts, two.ends
    kinds, firsts, pasts = classes
    other_kinds, other_firsts, other_pasts = other_classes
    n, m = len(starts), len(other_starts)
    while True:
        end, other_end = ends[i], other_ends[j]
        if end < other_end:
            if first != j:  # the last of several partners sticks out
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
    """Whether each of several spans ends where the next begins."""
    if last == first + 1:
        return ends[first] == starts[last]
    return ends[first:last] == starts[first + 1 : last + 1]


def _end_of_run(ends: Sequence[int], first: int, before: int) -> int:
    """The number after the last span, from the first one on, that ends before a position."""
    if first + 1 == len(ends) or ends[first + 1] >= before:
        return first + 1
    return bisect_left(ends, before, first + 1)
