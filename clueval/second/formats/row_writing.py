"""Rows of documents: the opposite of reading, from the same description."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clueval.core.document import Document
from clueval.core.span import Span
from clueval.files.errors import UsageError
from clueval.second.formats.dialect import Dialect, keys_of
from clueval.second.formats.tag_lists import tags_of


def row_of(dialect: Dialect, document: Document, layers: Sequence[str]) -> dict[str, Any]:
    """Return the row of a document with these layers, the first of which is the default.

    Raises `UsageError` for what rows of the dialect cannot hold: features, gaps or several layers.

    >>> from clueval.second.formats.dialects import DOCCANO
    >>> document = Document("d", {"label": [Span(0, 3, "PER")]}, text="Ada", unit="character")
    >>> row_of(DOCCANO, document, ["label"])
    {'id': 'd', 'text': 'Ada', 'label': [[0, 3, 'PER']]}
    """
    if not dialect.is_written:
        raise UsageError(f"rows of the format {dialect.name!r} cannot be written")
    if len(layers) > 1 and dialect.source_is not in ("key", "control"):
        raise _cannot_hold("several layers", dialect, document)
    row: dict[str, Any] = {_first(dialect.id): document.id}
    if dialect.tokens:
        row[_first(dialect.tokens)] = list(document.tokens or ())
    elif document.text is not None:
        row[_first(dialect.text)] = document.text
    if dialect.tags:
        for layer in layers:
            row[f"{layer}_tags" if len(layers) > 1 else "ner_tags"] = tags_of(document, layer)
    elif dialect.source_is == "key":
        for number, layer in enumerate(layers):
            row[layer if number else _first(dialect.spans)] = _items(dialect, document, layer)
    else:
        row[_first(dialect.spans)] = [item for layer in layers for item in _items(dialect, document, layer)]
    metadata = dict(document.metadata)
    if metadata:
        row |= (
            {_first(dialect.metadata): metadata}
            if dialect.metadata
            else _beside(metadata, row, dialect, document)
        )
    return dialect.written(row) if dialect.written is not None else row


def _items(dialect: Dialect, document: Document, layer: str) -> list[Any]:
    return [_item(dialect, document, layer, span) for span in document.layers.get(layer, ())]


def _item(dialect: Dialect, document: Document, layer: str, span: Span) -> Any:
    """Return a span as a list or an object."""
    start, end = span.start - document.start, span.end - document.start - bool(dialect.end_inclusive)
    if span.parts is not None and not dialect.gaps:
        raise _cannot_hold("gaps", dialect, document)
    if span.features and (dialect.lists or not dialect.features):
        raise _cannot_hold("features", dialect, document)
    if dialect.lists:
        return [start, end, span.label]
    item: dict[str, Any] = {
        _first(dialect.start): start,
        _first(dialect.ends): end,
        _first(dialect.label): span.label,
    }
    if dialect.reference and document.text is not None:
        item[dialect.reference] = document.text_of(span)
    if dialect.control:
        item[dialect.control] = layer
    if span.parts is not None:
        item["fragments"] = [[first - document.start, last - document.start] for first, last in span.parts]
    if span.features:
        item |= span.features if dialect.features == "*" else {dialect.features: dict(span.features)}
    return item


def _beside(
    metadata: dict[str, str], row: dict[str, Any], dialect: Dialect, document: Document
) -> dict[str, str]:
    """Return metadata that stand beside the other keys of a row."""
    if not dialect.rest or not metadata.keys().isdisjoint(row):
        raise _cannot_hold("metadata", dialect, document)
    return metadata


def _first(keys: str) -> str:
    return keys_of(keys)[0]


def _cannot_hold(what: str, dialect: Dialect, document: Document) -> UsageError:
    return UsageError(
        f"the format {dialect.name} cannot hold {what}",
        **document.in_errors,
        advice="add lossy=True to leave them out",
    )
