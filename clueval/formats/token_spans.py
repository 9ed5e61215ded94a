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
from typing import Any

from clueval.exceptions import SpanError
from clueval.formats.format import Format
from clueval.formats.json_rows import RowForm, RowReader, rows_reader, scalars
from clueval.formats.recognition import Beginning, Sign
from clueval.spans.document import Document
from clueval.spans.features import in_order
from clueval.spans.span import Frozen, Span

_INCLUSIVE = "GLiNER's ends are inclusive; the last token of a span has this number"

Place = tuple[int, int, Any]
"""The start and the end (exclusive) of a span, in tokens, and its label."""


def _row(
    row: object,
    rows: RowReader,
    *,
    tokens: str,
    spans: str,
    source: str,
    place: Callable[[Any, RowReader], Place],
    ids: tuple[str, ...],
    advice: str | None = None,
) -> Iterator[Document]:
    """Yield the document of a row; `place` reads a span, and `advice` is for one beyond the last token."""
    found = rows.mapping(row)
    for key in (tokens, spans):
        if key not in found:
            rows.refuse(f"the row has no key {key!r}", "no spans are written []" if key == spans else None)
    words = rows.listed(found[tokens], f"{tokens!r}")
    if not all(isinstance(word, str) for word in words):
        rows.refuse("a token is not a text")
    places = [place(item, rows) for item in rows.listed(found[spans], f"{spans!r}")]
    identifier = rows.id(found, *ids)
    rows.passed_over["relations"] += len(rows.listed(found.get("relations"), "'relations'"))

    def span(layer: str, start: int, end: int, label: Any) -> Span:
        if not 0 <= start < end <= len(words):
            raise SpanError(
                f"a span from token {start} to {end - 1} is not within the {len(words)} tokens, from 0",
                line=rows.number,
                document=identifier,
                advice=advice,
            )
        return Span(start, end, rows.labels(layer, label), line=rows.number)

    layers = {
        layer: in_order([span(layer, *each) for each in places]) for layer in rows.sources(source, (source,))
    }
    metadata = scalars(found, (*ids, tokens, spans))
    yield Document(identifier, Frozen(layers), tokens=words, metadata=Frozen(metadata), file=rows.file)


def _inclusive(item: Any, rows: RowReader) -> Place:
    if not isinstance(item, list | tuple) or len(item) != 3:
        rows.refuse("a span is not [first, last, label]")
    return rows.whole(item[0], "first token"), rows.whole(item[1], "last token") + 1, item[2]


def _exclusive(item: Any, rows: RowReader) -> Place:
    return *rows.positions(item, ("start", "end")), item.get("type")


_gliner = partial(
    _row,
    tokens="tokenized_text",
    spans="ner",
    source="label",
    place=_inclusive,
    ids=("id",),
    advice=_INCLUSIVE,
)
_spert = partial(
    _row, tokens="tokens", spans="entities", source="type", place=_exclusive, ids=("orig_id", "id")
)

_ENTITY = re.compile(r'"entities"\s*:\s*"?\[\s*(?:\{([^{}]*)\}|\])')
"""The first entity of a row, or no entity."""


def _is_spert(beginning: Beginning) -> bool:
    keys = beginning.keys
    first = _ENTITY.search(beginning.text) if keys >= {"tokens", "entities"} and "text" not in keys else None
    if first is None:
        return False
    entity = first[1]
    return "relations" in keys if entity is None else '"start"' in entity and '"text"' not in entity


GLINER = Format(
    name="gliner",
    holds="GLiNER's training data: rows of `tokenized_text` and `ner`, whose ends are inclusive",
    signs=(Sign("JSON with `tokenized_text`", lambda beginning: "tokenized_text" in beginning.keys),),
    read=rows_reader(form := RowForm(_gliner)),
    options=frozenset({"layers"}),
    rows=form,
    default_source="label",
    of_tokens=True,
)

SPERT = Format(
    name="spert",
    holds="SpERT's JSON: rows of `tokens` and `entities`, whose ends are exclusive",
    signs=(Sign("JSON with `tokens` and `entities` with `start`", _is_spert),),
    read=rows_reader(form := RowForm(_spert)),
    options=frozenset({"layers"}),
    rows=form,
    default_source="type",
    of_tokens=True,
)
