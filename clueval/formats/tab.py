"""The JSON of the Text Anonymization Benchmark (TAB): texts with mentions by annotator; and its predictions.

    [{"doc_id": "001", "text": "..", "dataset_type": "dev", "meta": {}, "annotations": {"annotator1":
       {"entity_mentions": [{"entity_type": "PERSON", "start_offset": 0, "end_offset": 5, "span_text": "Frida",
         "identifier_type": "DIRECT", "entity_id": "e1", "confidential_status": "NOT_CONFIDENTIAL"}]}}}]
    {"001": [[0, 5], [10, 14]]}                              predictions: positions only

Annotators are annotation sets. The sources of layers are ``entity_type``, ``identifier_type`` and
``confidential_status``; ``entity_id`` and the last two are features, too. ``meta`` and ``dataset_type`` are
metadata. Predictions have no text, and their label is ``_``. Mentions stay in the order of the file: the script of the
benchmark takes the class of an entity from its first mention.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from clueval.core.span import Frozen, Span
from clueval.files.errors import UsageError
from clueval.formats.flat_rows import ReadRow, flat_objects
from clueval.formats.format import Writer
from clueval.formats.json_rows import Row, RowForm, RowReader, row_format, scalars
from clueval.formats.recognition import Beginning, Sign
from clueval.spans.document import Document

SOURCES = ("entity_type", "identifier_type", "confidential_status")
_FEATURES = ("entity_id", "identifier_type", "confidential_status")
_PREDICTIONS = re.compile(r'[\ufeff\s]*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\[\s*(?:\[\s*\d+\s*,\s*\d+\s*\]|\])')
_GOLD = re.compile(r'"annotations"\s*:\s*\{')


def _rows(row: object, rows: RowReader) -> Iterator[Document | ReadRow]:
    found = rows.mapping(row)
    if "annotations" not in found:
        yield from _predictions(found, rows)
        return
    annotations = rows.mapping(found["annotations"], "'annotations'")
    own = annotations.get(rows.set, {}) if rows.set is not None else {}
    mentions = rows.listed(rows.mapping(own, "an annotation").get("entity_mentions"), "'entity_mentions'")
    text = rows.text(found, "text")
    identifier = rows.id(found, "doc_id", "id")

    def document() -> Document:
        layers = {}
        for layer, source in rows.sources(SOURCES[0], SOURCES).items():
            spans = [_span(mention, layer, source, rows) for mention in mentions]
            references = [mention.get("span_text") for mention in mentions]
            layers[layer] = rows.checked(text, spans, references, identifier)
        made = rows.document(identifier, text, layers, _metadata(found))
        return replace(made, layers=Frozen(layers), ordered=True)  # TAB takes the type of the first mention

    keys = ("start_offset", "end_offset", SOURCES[0])
    flat = partial(flat_objects, text, mentions, keys, "span_text", sort=False)
    yield ReadRow(identifier, document, flat, partial(_metadata, found))


def _metadata(row: Row) -> dict[str, str]:
    return scalars(row.get("meta")) | scalars({"dataset_type": row.get("dataset_type")})


def _span(mention: object, layer: str, source: str, rows: RowReader) -> Span:
    found = rows.mapping(mention, "a mention")
    features = {key: found[key] for key in _FEATURES if isinstance(found.get(key), str)}
    name = found.get("entity_mention_id")
    return rows.span(
        found,
        ("start_offset", "end_offset"),
        layer,
        found.get(source),
        features=features,
        id=name if isinstance(name, str) else None,
    )


def _predictions(row: Row, rows: RowReader) -> Iterator[Document]:
    """Yield a document without text for each id."""
    layers = list(rows.sources(SOURCES[0], SOURCES))
    for identifier, items in row.items():
        spans = []
        for item in rows.listed(items, f"the value of {identifier!r}"):
            if not isinstance(item, list | tuple) or len(item) != 2:
                rows.refuse("a prediction is not [start, end]", document=identifier)
            spans.append({"start": item[0], "end": item[1]})
        yield rows.document(
            identifier,
            None,
            {layer: [rows.span(span, ("start", "end"), layer, None) for span in spans] for layer in layers},
        )


def _sets(row: Any) -> Iterable[str]:
    annotations = row.get("annotations") if isinstance(row, dict) else None
    return map(str, annotations) if isinstance(annotations, dict) else ()


def _lines(documents: Iterator[Document], *_: object) -> Iterator[str]:
    """Yield one object with the positions of each document, as TAB's evaluation takes predictions."""
    written: set[str] = set()
    for document in documents:
        if document.id in written:
            raise UsageError(
                "two documents have this id, and the format tab has one entry for each id",
                **document.in_errors,
            )
        spans = [span for of_layer in document.layers.values() for span in of_layer]
        positions = json.dumps([[span.start, span.end] for span in spans])
        yield f"{',' if written else '{'}{json.dumps(document.id, ensure_ascii=False)}: {positions}"
        written.add(document.id)
    yield "}" if written else "{}"


def _is_tab(beginning: Beginning) -> bool:
    text = beginning.text
    if re.fullmatch(r"\ufeff?\s*\{\s*\}\s*", text):
        return True  # predictions of no documents
    if _GOLD.search(text) and '"entity_mentions"' in text:
        return True
    return bool(_PREDICTIONS.match(text)) and "text" not in beginning.keys  # a row whose first list is empty


FORM = RowForm(_rows, _sets)

FORMAT = row_format(
    FORM,
    name="tab",
    ordered=True,
    holds="the JSON of the Text Anonymization Benchmark, with annotators; and predictions `{id: [[start, end]]}`",
    signs=(
        Sign(
            "JSON with `annotations` of annotators with `entity_mentions`, or `{id: [[start, end]]}`; `{}`",
            _is_tab,
        ),
    ),
    options=frozenset({"layers", "offsets"}),
    default_source=SOURCES[0],
    write=Writer(
        _lines,
        ".json",
        unit="character",
        holds=frozenset(
            {"metadata", "features", "zero-length spans", "overlapping spans", "spans across sentences"}
        ),
        needs_text=False,
    ),
)
