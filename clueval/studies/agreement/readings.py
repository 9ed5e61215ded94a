"""Readings: what each annotator has marked in a case, and in what the annotators differ there.

The *kind* of a case joins its facets in the order of the alphabet: ``boundary`` (the ranges of those who have something
there differ), ``label`` (the labels differ) and ``missing`` (an annotator has nothing there).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from clueval.core.case import Sides
from clueval.core.overlap import components
from clueval.core.span import DEFAULT_LAYER, NO_LABEL, Frozen, Ranges, Span

Mark = tuple[Ranges, str]
"""The fragments and the label of a span."""

Reading = tuple[Mark, ...]
"""What an annotator has marked, sorted, each once; empty: nothing there."""

Readings = Sequence[Reading | None]
"""The readings of all annotators; None: the annotator lacks the document."""

BOUNDARIES = ("start", "end", "both", "split")


def readings_of(sides: Sides, number: int) -> list[Reading | None]:
    """Return the readings of this number of sides; sides that a case does not list lack the document.

    >>> readings_of(((Span(0, 2, "A"), Span(0, 2, "A")), None), 3)
    [((((0, 2),), 'A'),), None, None]
    """
    listed: list[Reading | None] = [
        None if spans is None else tuple(sorted({(span.fragments, span.label) for span in spans}))
        for spans in sides
    ]
    return listed + [None] * (number - len(listed))


def spans_of(reading: Sequence[Mark], layer: str = DEFAULT_LAYER) -> tuple[Span, ...]:
    """Return the spans of a reading."""
    labels = {label: Frozen({layer: label}) for _, label in reading}
    return tuple(
        [
            Span(*fragments[0], labels[label])
            if len(fragments) == 1
            else Span.of_fragments(fragments, labels[label])
            for fragments, label in reading
        ]
    )


def parts_of(readings: Readings) -> Iterator[list[Reading | None]]:
    """Yield the readings in each overlap component of all spans, by position."""
    rows = sorted(
        (fragments[0][0], fragments[-1][1], number, (fragments, label))
        for number, reading in enumerate(readings)
        for fragments, label in reading or ()
    )
    for members in components(rows):
        marks_by_annotator: list[list[Mark]] = [[] for _ in readings]
        for _, _, number, mark in members:
            marks_by_annotator[number].append(mark)
        yield [
            None if reading is None else tuple(sorted(marks))
            for reading, marks in zip(readings, marks_by_annotator, strict=True)
        ]


def by_label(reading: Reading) -> dict[str, Reading]:
    """Return the spans of a reading by label."""
    marks_of_label: dict[str, list[Mark]] = {}
    for mark in reading:
        marks_of_label.setdefault(mark[1], []).append(mark)
    return {label: tuple(marks) for label, marks in marks_of_label.items()}


def unlabelled(reading: Reading) -> Reading:
    """Return the ranges of a reading, each once, as spans that all have the same label.

    >>> unlabelled(((((0, 2),), "A"), (((0, 2),), "B")))
    ((((0, 2),), '_'),)
    """
    return tuple([(fragments, NO_LABEL) for fragments in dict.fromkeys([mark[0] for mark in reading])])


def majority(readings: Sequence[Reading]) -> Reading:
    """Return the spans that more than half of the readings have.

    >>> two, one = (((0, 2),), "A"), (((3, 4),), "B")
    >>> majority([(two,), (two, one), ()]) == (two,)
    True
    """
    votes: Counter[Mark] = Counter()
    for reading in readings:
        votes.update(reading)
    return tuple(sorted(mark for mark, n in votes.items() if 2 * n > len(readings)))


def kind_of(readings: Readings) -> tuple[str, str | None]:
    """Return the kind, empty if all annotators agree, and which boundaries differ (of `BOUNDARIES`) or None.

    >>> kind_of([((((0, 2),), "LOC"),), ((((0, 3),), "LOC"),), ()])
    ('boundary+missing', 'end')
    >>> kind_of([((((0, 2),), "PER"),), ((((0, 2),), "ORG"),), None])
    ('label', None)
    """
    present = [reading for reading in readings if reading is not None]
    marked = [reading for reading in present if reading]
    ranges = {frozenset(fragments for fragments, _ in reading) for reading in marked}
    facets, boundary = [], None
    if len(ranges) > 1:
        facets.append("boundary")
        if len({frozenset(label for _, label in reading) for reading in marked}) > 1:
            facets.append("label")
        parts = [[part for fragments in reading_ranges for part in fragments] for reading_ranges in ranges]
        if any(len(reading_parts) > 1 for reading_parts in parts):  # more than one range, or one with gaps
            boundary = "split"
        elif len({reading_parts[0][0] for reading_parts in parts}) == 1:
            boundary = "end"
        else:
            boundary = "start" if len({reading_parts[0][1] for reading_parts in parts}) == 1 else "both"
    elif len(set(marked)) > 1:
        facets.append("label")
    if len(marked) < len(present):
        facets.append("missing")
    return "+".join(facets), boundary


def votes_of(readings: Readings) -> int:
    """Return how many annotators have the commonest reading, which may be no span."""
    return max(Counter(reading for reading in readings if reading is not None).values(), default=0)
