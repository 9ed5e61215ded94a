"""Disagreements: the places where annotators differ, and in what.

A place is an overlap component of the spans of all annotators. Its *kind* joins its facets in the order of the
alphabet: ``boundary`` (the ranges of those who have something there differ), ``label`` (the labels differ) and
``missing`` (an annotator has nothing there).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from clueval.studies.annotators.shape import Reading, Shape, ranges_of

MOST = 400
"""The greatest number of positions of a place whose tokens are kept."""

BOUNDARIES = ("start", "end", "both", "split")


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A place where annotators differ; `end` is the position after its last one.

    Attributes:
        readings: the spans of each annotator by its name, as (start, end, label); None: not annotated.
        votes: the number of annotators with the most common annotation, which may be no span.
        context: the text around the place, as in `clueval errors`; empty without a text.
        place: the start and the end of the place in the context, in characters.
        tokens: the tokens, or characters, of the place; empty without a text and for a place of more than `MOST`.
    """

    document: str
    start: int
    end: int
    kind: str
    boundary: str | None
    readings: Mapping[str, Reading | None]
    votes: int
    sequence: str = ""
    context: str = ""
    place: tuple[int, int] = (0, 0)
    tokens: tuple[str, ...] = ()


def kind_of(shape: Shape) -> tuple[str, str | None]:
    """Return the kind, empty if all annotators agree, and which boundaries differ, or None.

    >>> kind_of((((0, 2, "LOC"),), ((0, 3, "LOC"),), ()))
    ('boundary+missing', 'end')
    >>> kind_of((((0, 2, "PER"),), ((0, 2, "ORG"),), None))
    ('label', None)
    """
    readings = [reading for reading in shape if reading is not None]
    marked = [reading for reading in readings if reading]
    ranges = {ranges_of(reading) for reading in marked}
    facets = []
    if len(ranges) > 1:
        facets.append("boundary")
        if len({frozenset(label for _, _, label in reading) for reading in marked}) > 1:
            facets.append("label")
    elif len(set(marked)) > 1:
        facets.append("label")
    if len(marked) < len(readings):
        facets.append("missing")
    return "+".join(facets), _boundary(marked) if len(ranges) > 1 else None


def _boundary(marked: list[Reading]) -> str:
    if any(len(ranges_of(reading)) > 1 for reading in marked):
        return "split"
    if len({reading[0][0] for reading in marked}) == 1:
        return "end"
    return "start" if len({reading[0][1] for reading in marked}) == 1 else "both"


def votes_of(shape: Shape) -> int:
    """Return how many annotators have the commonest reading."""
    return max(Counter(reading for reading in shape if reading is not None).values(), default=0)


def written(reading: Reading | None) -> str:
    """Return a reading as a table shows it; positions are inclusive.

    >>> written(((4, 6, "LOC"), (7, 8, "PER"))), written(()), written(None)
    ('4-5 LOC; 7-7 PER', '', '-')
    """
    if reading is None:
        return "-"
    return "; ".join(f"{start}-{end - 1} {label}" for start, end, label in reading)
