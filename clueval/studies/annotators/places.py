"""Places: the overlap components of the spans of all annotators, and in what the annotators differ there.

A *shape* is what every annotator has marked in one component, without its place in the text. All counts of agreement
depend on nothing but the shapes of the components and the numbers of positions, and most components of a corpus have
one of few shapes; so each shape is counted once, with its multiplicity.

>>> anna, bob = [(0, 2, "PER"), (4, 6, "LOC")], [(0, 2, "PER"), (4, 7, "LOC")]
>>> for start, shape in places([anna, bob, None]):
...     print(start, shape)
0 (((0, 2, 'PER'),), ((0, 2, 'PER'),), None)
4 (((0, 2, 'LOC'),), ((0, 3, 'LOC'),), None)

A place at which annotators differ is a *disagreement*. Its *kind* joins its facets in the order of the alphabet:
``boundary`` (the ranges of those who have something there differ), ``label`` (the labels differ) and ``missing`` (an
annotator has nothing there).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from clueval.core.span import Span
from clueval.findings.context import Context, Contexts
from clueval.findings.decisions import fingerprint
from clueval.spans.components import component_firsts
from clueval.spans.document import Document

Mark = tuple[int, int, str]
"""Start, end and label of a span."""

Marks = tuple[Mark, ...]
"""The spans of one annotator in one component, sorted, each once; empty: it has nothing there."""

Shape = tuple[Marks | None, ...]
"""The readings of all annotators; None: not annotated. Positions count from the start of the component."""

MOST = 400
"""The greatest number of positions of a place whose tokens are kept."""

MOST_SHAPES = 5_000
"""The number of different shapes that are held: what is found in them, or their counts."""

FACETS = ("boundary", "label", "missing")
BOUNDARIES = ("start", "end", "both", "split")


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
    nothing: list[Marks | None] = [None if marks is None else () for marks in columns]
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


def moved(reading: Marks, start: int) -> Marks:
    """Return a reading with positions that are `start` greater."""
    return tuple((begin + start, end + start, label) for begin, end, label in reading)


def ranges_of(reading: Marks) -> frozenset[tuple[int, int]]:
    """Return the ranges of a reading, without labels."""
    return frozenset((start, end) for start, end, _ in reading)


def is_flat(reading: Marks) -> bool:
    """Return whether no spans of the reading overlap or have equal ranges."""
    return clash_of(reading) is None


def clash_of(reading: Sequence[Mark]) -> tuple[Mark, Mark] | None:
    """Return the first two adjacent spans that overlap or have equal ranges, or None; they must be sorted."""
    for one, following in pairwise(reading):
        if following[0] < one[1] or one[:2] == following[:2]:
            return one, following
    return None


def majority(readings: Sequence[Marks], *, labelled: bool = True) -> Marks:
    """Return the spans, or the ranges, that more than half of the readings have.

    >>> majority([((0, 2, "A"),), ((0, 2, "A"), (3, 4, "B")), ((0, 2, "B"),)])
    ((0, 2, 'A'),)
    """
    votes: Counter[Mark] = Counter()
    for reading in readings:
        votes.update(reading if labelled else unlabelled(reading))
    return tuple(sorted(mark for mark, n in votes.items() if 2 * n > len(readings)))


def unlabelled(reading: Marks) -> Marks:
    """Return the ranges of a reading as marks that all have the same label.

    >>> unlabelled(((0, 2, "A"), (0, 2, "B")))
    ((0, 2, '_'),)
    """
    return tuple((start, end, "_") for start, end in sorted(ranges_of(reading)))


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
    readings: Mapping[str, Marks | None]
    votes: int
    sequence: str = ""
    context: str = ""
    place: tuple[int, int] = (0, 0)
    tokens: tuple[str, ...] = ()


@lru_cache(maxsize=MOST_SHAPES)
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


def _boundary(marked: list[Marks]) -> str:
    if any(len(ranges_of(reading)) > 1 for reading in marked):
        return "split"
    if len({reading[0][0] for reading in marked}) == 1:
        return "end"
    return "start" if len({reading[0][1] for reading in marked}) == 1 else "both"


def votes_of(shape: Shape) -> int:
    """Return how many annotators have the commonest reading."""
    return max(Counter(reading for reading in shape if reading is not None).values(), default=0)


def written(reading: Marks | None) -> str:
    """Return a reading as a table shows it; positions are inclusive.

    >>> written(((4, 6, "LOC"), (7, 8, "PER"))), written(()), written(None)
    ('4-5 LOC; 7-7 PER', '', '-')
    """
    if reading is None:
        return "-"
    return "; ".join(f"{start}-{end - 1} {label}" for start, end, label in reading)


def spans_of(readings: Mapping[str, Marks | None]) -> str:
    """Return the fingerprint of a place for decisions, given the spans of each annotator there.

    >>> spans_of({"anna": ((5, 13, "PER"),), "bob": ((0, 13, "PER"),)})
    '5cb2e86028d9'
    """
    return fingerprint(
        (name, ((start, end),), label)
        for name, reading in readings.items()
        for start, end, label in reading or ()
    )


def placed(
    names: Sequence[str], group: Sequence[Document | None], sequence: str, shapes: Iterable[tuple[int, Shape]]
) -> Iterator[Disagreement]:
    """Yield a row for each shape, given its start, with the readings of all annotators and its context."""
    present = [each for each in group if each is not None]
    document = next((each for each in present if each.end is not None), present[0])
    contexts = Contexts(document, document.sentences)
    for start, shape in shapes:
        end = start + max(mark[1] for reading in shape for mark in reading or ())
        kind, boundary = kind_of(shape)
        context, place = _around(contexts.around(Span(start, end), ()))
        yield Disagreement(
            document.id,
            start,
            end,
            kind,
            boundary,
            {
                name: None if reading is None else moved(reading, start)
                for name, reading in zip(names, shape, strict=False)
            },
            votes_of(shape),
            sequence,
            context,
            place,
            _tokens(document, start, end),
        )


def _tokens(document: Document, start: int, end: int) -> tuple[str, ...]:
    text = document.tokens if document.unit == "token" else document.text
    if text is None or end - start > MOST:
        return ()
    return tuple(text[start - document.start : end - document.start])


def _around(context: Context) -> tuple[str, tuple[int, int]]:
    """Return a context as text, and where the place is in it."""
    text = "… " if context.cut_before else ""
    place = (0, 0)
    for number, piece in enumerate(context.pieces):
        if number and piece.text:
            text += context.joiner
        begin = len(text)
        text += piece.text
        if piece.mark == "own":
            place = (begin, len(text))
    return text + (" …" if context.cut_after else ""), place
