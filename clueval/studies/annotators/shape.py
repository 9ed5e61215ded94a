"""Shapes: what every annotator has marked in one overlap component, without its place in the text.

All counts of agreement depend on nothing but the shapes of the components and the numbers of positions, and most
components of a corpus have one of few shapes; so each shape is counted once, with its multiplicity.

>>> anna, bob = [(0, 2, "PER"), (4, 6, "LOC")], [(0, 2, "PER"), (4, 7, "LOC")]
>>> for start, shape in places([anna, bob, None]):
...     print(start, shape)
0 (((0, 2, 'PER'),), ((0, 2, 'PER'),), None)
4 (((0, 2, 'LOC'),), ((0, 3, 'LOC'),), None)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from clueval.spans.components import component_firsts
from clueval.spans.span import Span

Mark = tuple[int, int, str]
"""Start, end and label of a span."""

Reading = tuple[Mark, ...]
"""The spans of one annotator in one component, sorted, each once; empty: it has nothing there."""

Shape = tuple[Reading | None, ...]
"""The readings of all annotators; None: not annotated. Positions count from the start of the component."""


def marks_of(spans: Iterable[Span]) -> list[Mark]:
    """Return the spans as marks, with the labels of all their layers."""
    return [(span.start, span.end, span.label) for span in spans]


def places(columns: Sequence[Iterable[Mark] | None]) -> Iterator[tuple[int, Shape]]:
    """Yield the start and the shape of each component, by position; O(n log n) for n marks."""
    entries = sorted(
        (start, end, number, label)
        for number, marks in enumerate(columns)
        for start, end, label in set(marks or ())
    )
    nothing: list[Reading | None] = [None if marks is None else () for marks in columns]
    firsts = [*component_firsts((start, end) for start, end, _, _ in entries), len(entries)]
    for first, past in pairwise(firsts):
        offset = entries[first][0]
        readings: list[list[Mark]] = [[] for _ in columns]
        for start, end, number, label in entries[first:past]:
            readings[number].append((start - offset, end - offset, label))
        yield (
            offset,
            tuple(
                tuple(reading) if reading else none for reading, none in zip(readings, nothing, strict=True)
            ),
        )


def moved(reading: Reading, start: int) -> Reading:
    """Return a reading with positions that are `start` greater."""
    return tuple((begin + start, end + start, label) for begin, end, label in reading)


def ranges_of(reading: Reading) -> frozenset[tuple[int, int]]:
    """Return the ranges of a reading, without labels."""
    return frozenset((start, end) for start, end, _ in reading)


def is_flat(reading: Reading) -> bool:
    """Return whether no spans of the reading overlap or have equal ranges."""
    return clash_of(reading) is None


def clash_of(reading: Sequence[Mark]) -> tuple[Mark, Mark] | None:
    """Return the first two adjacent spans that overlap or have equal ranges, or None; they must be sorted."""
    for one, following in pairwise(reading):
        if following[0] < one[1] or one[:2] == following[:2]:
            return one, following
    return None


def majority(readings: Sequence[Reading], *, labelled: bool = True) -> Reading:
    """Return the spans, or the ranges, that more than half of the readings have.

    >>> majority([((0, 2, "A"),), ((0, 2, "A"), (3, 4, "B")), ((0, 2, "B"),)])
    ((0, 2, 'A'),)
    """
    votes: Counter[Mark] = Counter()
    for reading in readings:
        votes.update(reading if labelled else unlabelled(reading))
    return tuple(sorted(mark for mark, n in votes.items() if 2 * n > len(readings)))


def unlabelled(reading: Reading) -> Reading:
    """Return the ranges of a reading as marks that all have the same label.

    >>> unlabelled(((0, 2, "A"), (0, 2, "B")))
    ((0, 2, '_'),)
    """
    return tuple((start, end, "_") for start, end in sorted(ranges_of(reading)))
