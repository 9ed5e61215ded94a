"""Places of annotators: overlap components of the spans of all of them, with what each has marked there.

>>> from clueval import Document, Span
>>> anna, bob = (Document("d", {"label": [Span(0, 2, "PER"), Span(4, end, "LOC")]}) for end in (6, 7))
>>> [[written(reading) for reading in part] for part in differing_in([anna, bob, None], "label")]
[['4-5 LOC', '4-6 LOC', '-']]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from clueval.core.case import are_flat
from clueval.core.document import Document
from clueval.reports.language import phrase
from clueval.reports.place import (
    DECISION_COLUMNS,
    DOCUMENT,
    KEY_COLUMNS,
    Facet,
    Later,
    Line,
    Mark,
    MarkedText,
    MarkKind,
    Place,
    fingerprint,
    positions,
)
from clueval.studies.agreement.conventions import BOUNDARIES, Reading, Readings, kind_of, parts_of, spans_of
from clueval.studies.decisions import NONE, UNCLEAR, ReportWithDecisions, require_no_choices
from clueval.studies.errors.rows import SideTexts

KINDS = (
    "boundary",
    "boundary+label",
    "boundary+label+missing",
    "boundary+missing",
    "label",
    "label+missing",
    "missing",
)
"""In what annotators differ at a place."""

Row = tuple[int, int, str]
"""Start, end and label of a span without gaps."""

Documents = Sequence[Document | None]
"""The documents that annotators have of one text; None: not annotated."""

_TAKEN = {DOCUMENT, *KEY_COLUMNS, *DECISION_COLUMNS, "kind", "boundary", "votes", "context"}
"""The columns of a place; an annotator with the name of one of them has the column ``annotator NAME``."""


# --- overlap components of documents


def sequences_in(documents: Documents) -> list[str]:
    """Return the layers of the documents of one text."""
    return list(
        dict.fromkeys(layer for document in documents if document is not None for layer in document.layers)
    )


def marks_in(document: Document, layer: str, without: Collection[Row] = ()) -> Reading:
    """Return the spans of a layer but those of these rows, each once, in no order."""
    rows = document.rows_in(layer)
    if rows is None:
        return tuple({*document.marks_in(layer)})
    return tuple({(((row[0], row[1]),), row[2]) for row in rows if row not in without})


def parts_in(documents: Documents, layer: str, *, apart: bool = True) -> tuple[set[Row], Iterator[Readings]]:
    """Return the rows that all have, and what annotators have marked in each other overlap component, by position.

    There are such rows only if no spans of one document overlap, so that they are apart from all others. Without
    `apart`, all components are in the second.
    """
    common: set[Row] = set()
    if apart:
        rows = [document.rows_in(layer) for document in documents if document is not None]
        plain = [side_rows for side_rows in rows if side_rows is not None and are_flat(side_rows)]
        common = set.intersection(*map(set, plain)) if len(plain) == len(rows) else common
    return common, parts_of(
        [None if document is None else marks_in(document, layer, common) for document in documents]
    )


def differing_in(documents: Documents, layer: str) -> Iterator[Readings]:
    """Yield what annotators have marked in each overlap component of a layer in which they differ, by position."""
    _, parts = parts_in(documents, layer)
    return filter(are_different, parts)


def are_different(readings: Readings) -> bool:
    """Return whether the annotators of a component differ, so that it is a place."""
    return len({reading for reading in readings if reading is not None}) > 1


def range_of(readings: Readings) -> tuple[int, int]:
    """Return the first and the last position of all spans, half-open."""
    marks = [mark for reading in readings for mark in reading or ()]
    return min(mark[0][0][0] for mark in marks), max(mark[0][-1][1] for mark in marks)


def written(reading: Reading | None) -> str:
    """Return a reading as tables show it; positions are inclusive, and fragments are separated by commas.

    >>> written(((((4, 6),), "LOC"), (((7, 8), (9, 11)), "PER"))), written(()), written(None)
    ('4-5 LOC; 7-7,9-10 PER', '', '-')
    """
    if reading is None:
        return "-"
    ranges = [(",".join([f"{start}-{end - 1}" for start, end in parts]), label) for parts, label in reading]
    return "; ".join([f"{range_} {label}" for range_, label in ranges])


# --- places


class Disagreement(Place):
    """A place where annotators differ.

    Attributes:
        kind: in what annotators differ, one of `KINDS`.
        boundary: which boundaries differ, one of `BOUNDARIES`, or None.
        votes: the number of annotators with the most common reading, which may be no span.
        readings: the spans of each annotator by name, each with its fragments and its label; None: not annotated.
    """

    __slots__ = ()

    @property
    def kind(self) -> str:
        kind: str = self.findings[0]["kind"]
        return kind

    @property
    def boundary(self) -> str | None:
        return self.findings[0]["boundary"] or None

    @property
    def votes(self) -> int:
        votes: int = self.findings[0]["votes"]
        return votes

    @property
    def readings(self) -> Mapping[str, Reading | None]:
        readings: Mapping[str, Reading | None] = self.findings[0].readings
        return readings


class DisagreementRow(dict[str, Any]):
    """The cells of a place by the names of their columns, and the readings of annotators by name."""

    def __init__(self, names: Sequence[str], readings: Readings, context: Sequence[MarkedText]) -> None:
        kind, boundary = kind_of(readings)
        self.readings = dict(zip(names, readings, strict=False))
        readings_in_words = {column_of(name): written(reading) for name, reading in self.readings.items()}
        votes = max(Counter(reading for reading in readings if reading is not None).values())
        super().__init__(
            kind=kind, boundary=boundary or "", **readings_in_words, votes=votes, context=context
        )


def column_of(name: str) -> str:
    """Return the name of the column of an annotator."""
    return f"annotator {name}" if name in _TAKEN else name


class AnnotatedText:
    """The text of some documents, whose places it makes; `names` are those of the annotators."""

    def __init__(self, documents: Documents, names: Sequence[str]) -> None:
        present = [document for document in documents if document is not None]
        self.document = next((document for document in present if document.end is not None), present[0])
        self._id, self._names = present[0].id, names
        self._texts = SideTexts(self.document, self.document, None)

    def place(self, layer: str, readings: Readings) -> Disagreement:
        """Return the place of what annotators have marked in an overlap component."""
        by_name = list(zip(self._names, readings, strict=False))
        return Disagreement(
            (self._id, layer, *range_of(readings)),
            fingerprint((name, *mark) for name, reading in by_name for mark in reading or ()),
            texts=Later(lambda: [self._marked_text(readings, layer)]),
            lines=Later(lambda: list(self._lines(readings, layer))),
            findings=Later(
                lambda: [DisagreementRow(self._names, readings, [self._marked_text(readings, layer)])]
            ),
            impossible={name: phrase("not annotated") for name, reading in by_name if reading is None},
        )

    def _marked_text(self, readings: Readings, layer: str) -> MarkedText:
        """Return the text of a place with the spans of all annotators; those that not all have are marked as wrong."""
        around = range_of(readings)
        context = self._texts.context(around, around)
        agreed_marks = set.intersection(*(set(reading) for reading in readings if reading is not None))
        before = f"{layer} · {self._texts.unit_in_words}"
        marks = [
            Mark(number, *context.range(*part), label, (fragments, label) not in agreed_marks, note)
            for number, reading in enumerate(readings)
            for fragments, label in reading or ()
            for note in (f"{before} {positions(fragments)}",)
            for part in fragments
            if context.shows(*part)
        ]
        return MarkedText(context.text, sorted(marks), context.is_cut)

    def _lines(self, readings: Readings, layer: str) -> Iterator[Line]:
        """Yield in what annotators differ, what each has marked, and lines without words for filters by pairs."""
        kind, boundary = kind_of(readings)

        def values(label: str | None = None, pair: str | None = None) -> list[str | None]:
            return [kind, label, layer, pair, boundary, self._id]

        yield Line(phrase(kind) if boundary is None else f"{phrase(kind)} ({phrase(boundary)})", values())
        for number, reading in enumerate(readings):
            if not reading:
                words = phrase("not annotated") if reading is None else phrase("nothing")
                yield Line(words, values(), number)
            for mark in reading or ():
                (span,) = spans_of((mark,))
                note = f"{self._texts.unit_in_words} {positions(mark[0])}"
                yield Line("", values(mark[1]), number, mark[1], self._texts.of(span), note)
        present = [
            (name, side) for name, side in zip(self._names, readings, strict=False) if side is not None
        ]
        for (name, first), (other_name, second) in combinations(present, 2):
            if first != second:
                labels = sorted({label for _, label in (*first, *second)})
                yield from (Line("", values(label, pair_of(name, other_name))) for label in labels)


def pair_of(name: str, other: str) -> str:
    """Return the value of the filter by pairs of annotators."""
    return f"{name} / {other}"


def facets_of_places() -> list[Facet]:
    """Return the filters of places, in the language of the context."""
    return [
        Facet("kind", phrase("Difference"), True, KINDS),
        Facet("label", phrase("Label"), True),
        Facet("layer", phrase("Layer"), True),
        Facet("pair", phrase("Who differ"), True),
        Facet("boundary", phrase("Boundary"), False, BOUNDARIES),
        Facet("document", phrase("Document")),
    ]


class ReportOfAnnotators(ReportWithDecisions):
    """A report whose places are those of annotators with these names."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self.kinds = [
            MarkKind("below" if number else "above", name, name) for number, name in enumerate(names)
        ]
        self.store = " ".join(["agreement Agreement of annotators", *names])

    @property
    def facets(self) -> Sequence[Facet]:  # type: ignore[override]  # it is only read
        return facets_of_places()

    @property
    def choices(self) -> Sequence[tuple[str, str]]:  # type: ignore[override]  # as above
        """What may be decided about a place. Raises `UsageError` for an annotator with the name of a choice."""
        require_no_choices(self._names)
        choices = ((NONE, phrase("no span")), (UNCLEAR, phrase("unclear")))
        return [*((name, name) for name in self._names), *choices]

    def columns(self) -> Sequence[str]:
        place_columns = ("kind", "boundary", *map(column_of, self._names), "votes", "context")
        return (*KEY_COLUMNS, *DECISION_COLUMNS, *place_columns)
