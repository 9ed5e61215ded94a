"""Rows of a text and its spans, which are objects: the common part of JSON formats that differ in the names of keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from clueval.formats.flat_rows import FlatSpans, ReadRow, flat_objects
from clueval.formats.json_rows import RowReader
from clueval.spans.document import Document


class SpanKeys(NamedTuple):
    """The keys of an object of a span: its start, its end (exclusive), its label and, if it has one, its text."""

    start: str
    end: str
    label: str
    text: str | None = None


Items = Callable[[str], Sequence[Any]]
"""Returns the objects of a source; raises `FormatError`."""


def object_row(
    rows: RowReader,
    identifier: str,
    text: str | None,
    items: Items,
    keys: SpanKeys,
    *,
    sources: tuple[str, ...],
    default: str | None = None,
    features: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda item: {},
    metadata: Callable[[], Mapping[str, str]] = dict,
    passed_over: Mapping[str, int] = MappingProxyType({}),
) -> ReadRow:
    """Return a row whose spans come from one of the `sources`: the `default` or the first, unless the options name one.

    `text` is None for the answer of a program without the text. `features` returns those of the span of an object;
    `passed_over` what the row has that is not read.
    """
    by_layer = {
        layer: items(source) for layer, source in rows.sources(default or sources[0], sources).items()
    }

    def document() -> Document:
        rows.passed_over.update(passed_over)
        layers = {}
        for layer, own in by_layer.items():
            objects = [rows.mapping(item, "a span") for item in own]
            spans = [
                rows.span(item, keys[:2], layer, item.get(keys.label), features=features(item))
                for item in objects
            ]
            references = [None if keys.text is None else item.get(keys.text) for item in objects]
            layers[layer] = spans if text is None else rows.checked(text, spans, references, identifier)
        return rows.document(identifier, text, layers, metadata())

    def flat() -> FlatSpans | None:
        if text is None or any(passed_over.values()):
            return None
        (own,) = by_layer.values()
        return flat_objects(text, own, keys[:3], keys.text)

    return ReadRow(identifier, document, flat, metadata)
