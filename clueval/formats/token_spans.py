"""Rows of tokens and spans: GLiNER's training data, and SpERT's data sets and predictions.

    {"tokenized_text": ["In", "New", "York"], "ner": [[1, 2, "city"]]}
    {"tokens": ["In", "New", "York"], "entities": [{"type": "Loc", "start": 1, "end": 3}], "orig_id": 7}

Positions are numbers of tokens, from 0. The ends of GLiNER's spans are inclusive, those of SpERT's exclusive.
Relations are passed over. GLiNER's ``ner_labels``, ``ner_negatives`` and ``negative`` are not read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from clueval.core.span import Frozen, Span
from clueval.files.errors import SpanError
from clueval.formats.flat_rows import FlatSpans, ReadRow, flat_spans
from clueval.formats.json_rows import RowForm, RowReader, row_format, scalars
from clueval.formats.recognition import Beginning, Sign, json_key
from clueval.spans.document import Document
from clueval.spans.features import in_order


class _Shape(NamedTuple):
    """The keys of a row; `place` reads the start, the end (exclusive) and the label of a span."""

    tokens: str
    spans: str
    source: str
    ids: tuple[str, ...]
    place: Callable[[Any, RowReader], tuple[int, int, Any]]
    advice: str | None = None
    """What to do about a span beyond the last token."""


def _rows(shape: _Shape, row: object, rows: RowReader) -> Iterator[ReadRow]:
    found = rows.mapping(row)
    if shape.tokens not in found:
        rows.refuse(f"the row has no key {shape.tokens!r}")
    words, items = rows.tokens(found, shape.tokens), rows.items(found, shape.spans)
    identifier = rows.id(found, *shape.ids)
    places = [shape.place(item, rows) for item in items]
    relations = rows.listed(found.get("relations"), "'relations'")

    def metadata() -> dict[str, str]:
        return scalars(found, (*shape.ids, shape.tokens, shape.spans))

    def span(layer: str, start: int, end: int, label: Any) -> Span:
        if not 0 <= start < end <= len(words):
            raise SpanError(
                f"a span from token {start} to {end - 1} is not within the {len(words)} tokens, from 0",
                line=rows.number,
                document=identifier,
                advice=shape.advice,
            )
        return Span(start, end, rows.labels(layer, label), line=rows.number)

    def document() -> Document:
        rows.passed_over["relations"] += len(relations)
        layers = {
            layer: in_order([span(layer, *each) for each in places])
            for layer in rows.sources(shape.source, (shape.source,))
        }
        of_row = Frozen(metadata())
        return Document(identifier, Frozen(layers), tokens=words, metadata=of_row, file=rows.file)

    def flat() -> FlatSpans | None:
        return None if relations else flat_spans(words, places)

    yield ReadRow(identifier, document, flat, metadata)


def _inclusive(item: Any, rows: RowReader) -> tuple[int, int, Any]:
    if not isinstance(item, list | tuple) or len(item) != 3:
        rows.refuse("a span is not [first, last, label]")
    return rows.whole(item[0], "first token"), rows.whole(item[1], "last token") + 1, item[2]


def _exclusive(item: Any, rows: RowReader) -> tuple[int, int, Any]:
    return *rows.positions(item, ("start", "end")), item.get("type")


_GLINER = _Shape(
    "tokenized_text",
    "ner",
    "label",
    ("id",),
    _inclusive,
    "GLiNER's ends are inclusive; the last token of a span has this number",
)
_SPERT = _Shape("tokens", "entities", "type", ("orig_id", "id"), _exclusive)

_ENTITY = re.compile(r'"entities"\s*:\s*"?\[\s*(?:\{([^{}]*)\}|\])')
"""The first entity of a row, or no entity."""


def _is_spert(beginning: Beginning) -> bool:
    keys = beginning.keys
    first = _ENTITY.search(beginning.text) if keys >= {"tokens", "entities"} and "text" not in keys else None
    if first is None:
        return False
    entity = first[1]
    return "relations" in keys if entity is None else '"start"' in entity and '"text"' not in entity


GLINER = row_format(
    RowForm(partial(_rows, _GLINER)),
    name="gliner",
    holds="GLiNER's training data: rows of `tokenized_text` and `ner`, whose ends are inclusive",
    signs=(json_key("tokenized_text"),),
    options=frozenset({"layers"}),
    default_source=_GLINER.source,
    of_tokens=True,
)

SPERT = row_format(
    RowForm(partial(_rows, _SPERT)),
    name="spert",
    holds="SpERT's JSON: rows of `tokens` and `entities`, whose ends are exclusive",
    signs=(Sign("JSON with `tokens` and `entities` with `start`", _is_spert),),
    options=frozenset({"layers"}),
    default_source=_SPERT.source,
    of_tokens=True,
)
