"""Sentences of W2NER and other systems for discontinuous spans: JSON rows of tokens and the positions of each span.

    [{"sentence": ["pain", "in", "legs", "and", "arms"], "ner": [{"index": [0, 1, 4], "type": "ADE"}]}]

``index`` has the numbers of the tokens of a span, from 0; numbers that do not follow each other make a discontinuous
span. A row is a document, whose id is that of the row or its number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from clueval.core.span import Frozen, Span
from clueval.formats.format import Writer, without_metadata
from clueval.formats.json_rows import Row, RowForm, RowReader, json_lines, row_format, scalars
from clueval.formats.recognition import json_keys
from clueval.spans.document import Document
from clueval.spans.features import in_order
from clueval.spans.limits import require_short_texts

SOURCE = "type"

_TAKEN = ("id", "doc_id", "sentence", "ner", "word")
"""The keys of a row that have another use than metadata."""


def _documents(row: object, rows: RowReader) -> Iterator[Document]:
    found = rows.mapping(row)
    tokens = rows.tokens(found, "sentence")
    items = rows.listed(found.get("ner"), "'ner'")
    layers = {
        layer: in_order([_span(item, layer, len(tokens), rows) for item in items])
        for layer in rows.sources(SOURCE, (SOURCE,))
    }
    yield Document(
        rows.id(found, "id", "doc_id"),
        Frozen(layers),
        tokens=tokens,
        metadata=Frozen(scalars(found, _TAKEN)),
        file=rows.file,
    )


def _span(item: object, layer: str, length: int, rows: RowReader) -> Span:
    fields = rows.mapping(item, "a span")
    places = sorted(rows.whole(place, "index") for place in rows.listed(fields.get("index"), "'index'"))
    if not places or places[0] < 0 or places[-1] >= length or len(set(places)) < len(places):
        rows.refuse(
            f"the index {places[:20]} of a span is not one of different tokens", f"from 0 to {length - 1}"
        )
    starts = [n for n, place in enumerate(places) if n == 0 or places[n - 1] < place - 1]
    ends = [*starts[1:], len(places)]
    ranges = [(places[start], places[end - 1] + 1) for start, end in zip(starts, ends, strict=True)]
    return Span.of_fragments(ranges, rows.labels(layer, fields.get("type")), line=rows.number)


def rows_of(document: Document, layers: Sequence[str]) -> Row:
    """Return the row of a document."""
    spans = [span for layer in layers for span in document.layers.get(layer, ())]
    require_short_texts(sum(map(len, spans)), document)
    return {
        "id": document.id,
        "sentence": list(document.tokens or ()),
        "ner": [{"index": _index(span, document.start), "type": span.label} for span in spans],
        **document.metadata,
    }


def _index(span: Span, begin: int) -> list[int]:
    return [place - begin for start, end in span.fragments for place in range(start, end)]


FORM = RowForm(_documents)

FORMAT = row_format(
    FORM,
    name="w2ner",
    holds="W2NER's JSON: rows of a `sentence` of tokens and `ner`, spans as the `index` of each of their tokens",
    signs=(json_keys("sentence", "ner"),),
    options=frozenset({"layers"}),
    default_source=SOURCE,
    of_tokens=True,
    write=Writer(
        json_lines(rows_of),
        ".json",
        unit="token",
        holds=frozenset({"metadata", "gaps", "overlapping spans"}),
        row=rows_of,
        fit=partial(without_metadata, taken=_TAKEN),
    ),
)
