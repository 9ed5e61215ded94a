"""doccano's JSON Lines: a text and its spans, as lists or as objects.

    {"id": 1, "text": "Frida Kahlo", "label": [[0, 5, "PER"]], "meta": {"domain": "art"}}
    {"id": 2, "data": "Ada", "entities": [{"start_offset": 0, "end_offset": 3, "label": "PER"}], "relations": []}

The spans are under ``label``, ``labels``, ``entities`` or ``annotations``; the end is exclusive. A row without any of
these keys is refused. The label of an object is under a key of `clueval.spans.features.LABELS`, such as the
``entity_group`` of a pipeline of Hugging Face. Other texts, numbers and truth values of an object, such as its
``score``, ``risk`` or ``entity_id``, are features of its span, but not what a program notes about it (`_NOTED`).
``username`` or ``user``, of a row or of an annotation, is the annotator, whose annotations are an annotation set.
``meta`` and other keys of a row are metadata. Relations are passed over. A list of labels without positions is a
classification of the text, which has no spans and is refused. An object may have ``fragments``, the ``[start, end]``
of each fragment of a discontinuous span, and ``alternatives``, objects of other spans of which one counts instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from clueval.core.span import Span
from clueval.formats.flat_rows import FlatSpans, ReadRow, flat_objects, flat_spans
from clueval.formats.format import Writer
from clueval.formats.json_rows import Row, RowForm, RowReader, json_lines, row_format, scalars
from clueval.formats.recognition import Beginning, Sign
from clueval.spans.document import Document
from clueval.spans.features import LABELS

_SPANS = ("label", "labels", "entities", "annotations")
_USERS = ("username", "user")
_NOT_METADATA = (
    "text", "data", "id", "meta", "relations", "Comments", "comments", "annotation_approver", *_SPANS, *_USERS
)  # fmt: skip
SOURCE = "label"
_NOTED = ("created_at", "updated_at", "document", "manual", "prob", "text", "word", "index")
"""What doccano and pipelines of Hugging Face note about an annotation."""
_NO_FEATURES = frozenset(("id", "start_offset", "end_offset", "start", "end", "optional", *_USERS, *_NOTED))


def _rows(row: object, rows: RowReader) -> Iterator[ReadRow]:
    found = rows.mapping(row)
    text = rows.text(found, "text", "data")
    identifier = rows.id(found, "id")
    key = next((key for key in _SPANS if key in found), None)
    if key is None:
        rows.refuse(
            f"the row has no spans: no key {' or '.join(map(repr, _SPANS))}", "no spans are written []"
        )
    items = rows.listed(found[key], "the list of spans")
    if rows.set is not None:
        items = [item for item in items if not isinstance(item, dict) or _user(item) in (rows.set, None)]

    def document() -> Document:
        layers = {}
        for layer in rows.sources(SOURCE, (SOURCE,)):
            members = list(rows.members(items))
            spans = [_span(item, layer, rows, features) for item, features in members]
            references = [item.get("text") if isinstance(item, dict) else None for item, _ in members]
            layers[layer] = rows.checked(text, spans, references, identifier)
        rows.passed_over["relations"] += len(rows.listed(found.get("relations"), "relations"))
        return rows.document(identifier, text, layers, _metadata(found))

    def flat() -> FlatSpans | None:
        if found.get("relations"):
            return None
        if items and isinstance(items[0], dict):
            return flat_objects(text, items, ("start_offset", "end_offset", "label"), "text")
        return flat_spans(text, items)

    yield ReadRow(identifier, document, flat, partial(_metadata, found))


def _metadata(row: Row) -> dict[str, str]:
    return scalars(row, _NOT_METADATA) | scalars(row.get("meta"))


def _span(item: object, layer: str, rows: RowReader, features: dict[str, Any]) -> Span:
    if isinstance(item, str):
        rows.refuse("the labels have no positions", "this is a classification of texts, which has no spans")
    if isinstance(item, list | tuple):
        if len(item) not in (2, 3):
            rows.refuse("a span is not [start, end, label]")
        label = item[2] if len(item) == 3 else None
        item = {"start_offset": item[0], "end_offset": item[1]}
        return rows.span(item, ("start_offset", "end_offset"), layer, label)
    if not isinstance(item, dict):
        rows.refuse("a span is neither a list nor an object")
    keys = ("start_offset", "end_offset") if "start_offset" in item else ("start", "end")
    label = next((key for key in LABELS if key in item), "label")
    own = {
        key: value
        for key, value in item.items()
        if isinstance(value, str | int | float) and key != label and key not in _NO_FEATURES
    }
    return rows.span(item, keys, layer, item.get(label), id=_id(item), features=own | features)


def _id(item: dict[str, Any]) -> int | str | None:
    value = item.get("id")
    return value if isinstance(value, int | str) else None


def _user(item: dict[str, Any]) -> str | None:
    for key in _USERS:
        if (user := item.get(key)) is not None:
            return str(user)
    return None


def _sets(row: Any) -> Iterable[str]:
    if not isinstance(row, dict):
        return ()
    if (own := _user(row)) is not None:
        return (own,)
    items = next((row[key] for key in _SPANS if key in row), None)
    objects = [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    return [user for user in map(_user, objects) if user is not None]


FORM = RowForm(_rows, _sets)


def rows_of(document: Document, layers: Sequence[str]) -> Row:
    """Return the row of a document."""
    return {
        "id": document.id,
        "text": document.text,
        "label": [
            [span.start, span.end, span.label] for layer in layers for span in document.layers.get(layer, ())
        ],
        **({"meta": dict(document.metadata)} if document.metadata else {}),
    }


def _is_doccano(beginning: Beginning) -> bool:
    keys = beginning.keys
    if re.fullmatch(r"\ufeff?\s*\[\s*\]\s*", beginning.text):
        return True  # no rows, as every JSON format has them
    if "annotation_id" in keys or re.search(r'"data"\s*:\s*\{', beginning.text):
        return False  # Label Studio's
    with_list = (f'"{key}"' for key in _SPANS if key in keys)
    return bool(keys & {"text", "data"}) and any(
        re.search(rf'{key}\s*:\s*"?\[', beginning.text) for key in with_list
    )


FORMAT = row_format(
    FORM,
    name="doccano",
    holds="doccano's JSON Lines: texts with spans as `[start, end, label]` or objects",
    signs=(
        Sign(
            "JSON with `text` or `data`, and `label`, `labels`, `entities` or `annotations`; `[]`",
            _is_doccano,
        ),
    ),
    options=frozenset({"layers", "offsets"}),
    default_source=SOURCE,
    write=Writer(
        json_lines(rows_of),
        ".jsonl",
        unit="character",
        holds=frozenset({"metadata", "zero-length spans", "overlapping spans", "spans across sentences"}),
        row=rows_of,
    ),
)
