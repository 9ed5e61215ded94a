"""Rows of documents: the opposite of reading, from the same description."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from math import isfinite
from typing import Any

from clueval.core.document import Document, require_short_texts
from clueval.core.span import Span
from clueval.formats.dialect import Dialect, hidden_keys, keys_of, keys_of_no_features
from clueval.formats.tag_lists import tags_of
from clueval.formats.writer import Writer


def row_of(dialect: Dialect, document: Document, layers: Sequence[str]) -> dict[str, Any]:
    """Return the row of a document, as `fitted` returns it, with these layers, the first of which is the default.

    Raises `LimitError` for spans whose texts, which the rows repeat, are too long together.

    >>> from clueval.formats.text_dialects import DOCCANO
    >>> document = Document("d", {"label": [Span(0, 3, "PER")]}, text="Ada", unit="character")
    >>> row_of(DOCCANO, document, ["label"])
    {'id': 'd', 'text': 'Ada', 'label': [[0, 3, 'PER']]}
    """
    if dialect.reference:
        spans = chain.from_iterable(document.layers.get(layer, ()) for layer in layers)
        require_short_texts(sum(map(len, spans)), document)
    row: dict[str, Any] = {_first(dialect.id): document.id}
    if dialect.tokens:
        row[_first(dialect.tokens)] = list(document.tokens or ())
    elif dialect.text and document.text is not None:
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
    if metadata and dialect.joined is None:
        row |= {_first(dialect.metadata): metadata} if dialect.metadata else metadata
    return dialect.written(row) if dialect.written is not None else row


def _items(dialect: Dialect, document: Document, layer: str) -> list[Any]:
    return [_item(dialect, document, layer, span) for span in document.layers.get(layer, ())]


def _item(dialect: Dialect, document: Document, layer: str, span: Span) -> Any:
    start, end = span.start - document.start, span.end - document.start - bool(dialect.end_inclusive)
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
    if span.features and not dialect.joined:
        item |= span.features if dialect.features == "*" else {dialect.features: dict(span.features)}
    return item


def _first(keys: str) -> str:
    return keys_of(keys)[0]


# Files of rows


def row_writer(dialect: Dialect) -> Writer:
    """Return how files of rows are written."""
    holds = {"zero-length spans"} if dialect.text or dialect.joined else set()
    holds |= set() if dialect.tags else {"overlapping spans"}
    holds |= {"spans across sentences"}
    holds |= {"gaps"} if dialect.gaps else set()
    holds |= {"features"} if (dialect.features and not dialect.lists) or dialect.joined else set()
    holds |= {"layers"} if dialect.source_is in ("key", "control") else set()
    holds |= {"metadata"} if dialect.metadata or dialect.rest else set()
    hints = dialect.hints
    return Writer(
        pieces=lambda documents, layers, with_ids: _pieces(dialect, documents),
        ending=".json" if dialect.array or dialect.joined else ".jsonl",
        unit="token" if dialect.tokens else "character",
        holds=frozenset(holds),
        feature=None if dialect.joined else lambda name, value: _holds_feature(dialect, name, value),
        fit=lambda document, lost: _without_used_keys(dialect, document, lost),
        hints=None
        if hints is None
        else lambda uses, layers: hints({layer: use.labels for layer, use in uses.layers.items()}),
        needs_text=not dialect.without_text,
    )


def _pieces(dialect: Dialect, documents: Iterable[Document]) -> Iterator[str]:
    rows = (row_of(dialect, document, list(document.layers)) for document in documents)
    if dialect.joined is not None:
        yield json.dumps(dialect.joined(rows), ensure_ascii=False) + "\n"
        return
    before = "["
    for row in rows:
        line = json.dumps(row, ensure_ascii=False)
        yield f"{before}{line}\n" if dialect.array else f"{line}\n"
        before = ","
    if dialect.array or before == "[":
        yield "[]\n" if before == "[" else "]\n"


def _holds_feature(dialect: Dialect, name: str, value: object) -> bool:
    """Return whether a span of a row can hold a feature: scores of numbers, or values without another use."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    if name == "score" or dialect.features != "*":
        return name == "score" and is_number
    is_held = isinstance(value, str | bool) or is_number
    return is_held and name not in {*keys_of_no_features(dialect), *keys_of(dialect.label)}


def _without_used_keys(dialect: Dialect, document: Document, lost: Counter[str]) -> Document:
    """Return the document without the metadata whose keys have another use in its row; `lost` counts them."""
    used_keys: Iterable[str] = () if dialect.metadata else hidden_keys(dialect)
    if dialect.control:
        used_keys = keys_of(dialect.text)
    metadata = {key: value for key, value in document.metadata.items() if key not in {*used_keys}}
    number = len(document.metadata) - len(metadata)
    lost["metadata"] += number
    return replace(document, metadata=metadata) if number else document
