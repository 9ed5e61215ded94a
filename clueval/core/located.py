"""Cases where they stand: the spans of documents, at their own positions.

Errors, comparisons of systems and of annotators, and messages about a case begin with them; numbers need keys only.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from itertools import filterfalse
from operator import itemgetter
from typing import NamedTuple

from clueval.core.case import (
    Case,
    Flags,
    Sides,
    Where,
    are_flat,
    order_in_key,
    sources_by_sequence,
    which_count,
)
from clueval.core.document import Document, Row, Text
from clueval.core.metric import Metric, require_countable
from clueval.core.overlap import components
from clueval.core.span import NOTHING, Span
from clueval.core.tally import Tally
from clueval.files.errors import CluevalError


class Located(NamedTuple):
    """A case where it stands: spans at their own positions. `first` is the first start of the case.

    `rows` has start, end, side and label of each span from there, if nothing else is known of them; otherwise None.
    """

    sequence: str
    first: int
    sides: Sides
    counted: Flags
    rows: tuple[tuple[int, int, int, str], ...] | None = None


class EqualCases(NamedTuple):
    """The cases of a sequence of one text that have two spans of one piece, on two sides, with one range and label.

    `spans` returns the spans of the first side; few need them.
    """

    sequence: str
    spans: Callable[[], Sequence[Span]]


def located(
    documents: Sequence[Document | None],
    layers: Sequence[str],
    *,
    merge: bool = False,
    where: Where = NOTHING,
    reads: Collection[str] = (),
    equal: list[EqualCases] | None = None,
) -> Iterator[Located]:
    """Yield each case of one text with the spans of the documents, of which each stands for a side, as in `keys_of`.

    Cases come by sequence, then by position; the spans of a side are in the order of a key that holds `reads`. Cases of
    two spans of one piece that have the same range and labels on two sides, which are most, are put into `equal`, if
    that is given, and left out.
    """
    reads = sorted(reads)
    for sequence, sources in sources_by_sequence(documents, layers, merge):
        rows = [[] if source is None else source.rows_in(sequence) for source in sources]
        if where or None in rows or any(source is not None and source.ordered for source in sources):
            yield from _located_spans(sequence, documents, sources, where, reads, equal)
        else:
            yield from _located_rows(sequence, sources, rows, equal)  # type: ignore[arg-type]  # none is None


def _located_rows(
    sequence: str,
    documents: Sequence[Document | None],
    rows_of_sides: Sequence[Sequence[Row]],
    equal: list[EqualCases] | None,
) -> Iterator[Located]:
    """Yield the cases of a sequence that consists of rows; spans are made of those in cases that are not equal."""
    common: set[Row] = set()
    if equal is not None and len(documents) == 2 and all(map(are_flat, rows_of_sides)):
        common = {*rows_of_sides[0]}.intersection(rows_of_sides[1])
        if documents[0] is not None:
            equal.append(EqualCases(sequence, partial(documents[0].spans_of_rows, sequence, sorted(common))))
    entries = [
        (start, end, side, label)
        for side, rows in enumerate(rows_of_sides)
        for start, end, label in (filterfalse(common.__contains__, rows) if common else rows)
    ]
    entries.sort()
    flags = (None,) * len(documents)
    for members in components(entries, touching=True):
        first = members[0][0]
        sides = []
        for side, document in enumerate(documents):
            rows = [(start, end, label) for start, end, of, label in members if of == side]
            sides.append(None if document is None else tuple(document.spans_of_rows(sequence, rows)))
        from_first = tuple([(start - first, end - first, side, label) for start, end, side, label in members])
        yield Located(sequence, first, tuple(sides), flags, from_first)


def _located_spans(
    sequence: str,
    documents: Sequence[Document | None],
    sources: Sequence[Document | None],
    where: Where,
    reads: Sequence[str],
    equal: list[EqualCases] | None,
) -> Iterator[Located]:
    spans = [() if source is None else source.layers.get(sequence, ()) for source in sources]
    flags = [
        None if document is None or not where else which_count(of_side, document, where)
        for document, of_side in zip(documents, spans, strict=True)
    ]
    rows = [
        (span.start, span.end, side, number)
        for side, of_side in enumerate(spans)
        for number, span in enumerate(of_side)
    ]
    equal_spans: list[Span] = []
    for members in components(sorted(rows), touching=True):
        first = members[0][0]
        if equal is not None and len(members) == 2:
            first_span, second_span = [spans[side][number] for _, _, side, number in members]
            of_two_sides = members[0][2] != members[1][2] and members[0][:2] == members[1][:2]
            if (
                of_two_sides
                and first_span.labels == second_span.labels
                and first_span.parts is None
                and second_span.parts is None
            ):
                equal_spans.append(first_span)
                continue
        sides: list[tuple[Span, ...] | None] = []
        counted_spans: list[tuple[bool, ...] | None] = []
        for side, document in enumerate(documents):
            of_case = [
                (number, spans[side][number]) for _, _, its_side, number in members if its_side == side
            ]
            if document is not None and document.ordered:
                of_case.sort(key=itemgetter(0))
            elif len(of_case) > 1:
                of_case.sort(key=lambda each: order_in_key(each[1], sequence, reads))
            sides.append(None if document is None else tuple([span for _, span in of_case]))
            flagged = flags[side]
            counted_spans.append(flagged if flagged is None else tuple([flagged[n] for n, _ in of_case]))
        yield Located(sequence, first, tuple(sides), tuple(counted_spans))
    if equal is not None:
        equal.append(EqualCases(sequence, lambda: equal_spans))


def count_in_place(metrics: Sequence[Metric], case: Located, pair: Text) -> list[Tally]:
    """Return what metrics count in a case where it stands; an error names the document."""
    plain_case = Case(case.sides, case.counted)
    try:
        for metric in metrics:
            require_countable(metric, plain_case)
        return [metric.count(plain_case) for metric in metrics]
    except CluevalError as error:
        document = document_of_error(metrics, case, pair)
        error.document, error.file = document.id, error.file or document.file
        raise error from None


def document_of_error(metrics: Sequence[Metric], case: Located, pair: Text) -> Document:
    """Return the document of the first side whose spans cannot be counted, or of the first side."""
    for number, document in enumerate(pair.sides):
        spans = tuple(of_side if side == number else None for side, of_side in enumerate(case.sides))
        try:
            for metric in metrics:
                require_countable(metric, Case(spans, case.counted))
        except CluevalError:
            return document or pair.first
    return pair.first
