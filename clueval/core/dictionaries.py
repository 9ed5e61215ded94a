"""Documents as plain dictionaries, without loss, for JSON and for other programs.

    {"id": "d", "text": "Anna sings", "metadata": {"domain": "music"},
     "spans": [{"start": 0, "end": 4, "label": "PER"}, {"start": 0, "end": 10, "label": "E", "layer": "event"}]}

A document has either ``text``, with positions in code points, or ``tokens``, with positions in tokens; with both,
``unit`` says which. Ends are exclusive. ``layer`` is missing if it is the layer ``label``. All else is written
only if it is there: ``parts``, ``features``, ``id`` and ``labels`` (of a merged span) of a span; ``metadata``,
``layers`` (layers without spans), ``start``, ``token_ids``, ``sentences``, ``tags`` and ``ordered`` of a document.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from clueval.core.span import DEFAULT_LAYER, NO_LABEL, Span
from clueval.files.errors import FormatError


def dictionary_of(document: Any) -> dict[str, Any]:
    """Return a `Document` as a dictionary."""
    values: dict[str, Any] = {"id": document.id}
    if document.text is not None:
        values["text"] = document.text
    if document.tokens is not None:
        values["tokens"] = list(document.tokens)
    if document.unit != ("character" if "text" in values else "token"):
        values["unit"] = document.unit
    spans = [(layer, span) for layer, of_layer in document.layers.items() for span in of_layer]
    values["spans"] = [_span_as_dictionary(span, layer) for layer, span in spans]
    layers = list(document.layers)
    optional = {
        "layers": [] if layers == list(dict.fromkeys(layer for layer, _ in spans)) else layers,
        "metadata": dict(document.metadata),
        "start": document.start,
        "token_ids": list(document.token_ids or ()),
        "ordered": document.ordered,
        "sentences": [list(sentence) for sentence in document.sentences],
        "tags": {layer: list(tags) for layer, tags in document.tags.items()},
    }
    return values | {name: value for name, value in optional.items() if value}


def _span_as_dictionary(span: Span, layer: str) -> dict[str, Any]:
    labels = dict(span.by_layer)
    is_plain = set(labels) == {layer} and labels[layer] is not None
    optional = {
        "label": labels[layer] if is_plain else None,
        "labels": None if is_plain else labels,
        "layer": None if layer == DEFAULT_LAYER else layer,
        "parts": None if span.parts is None else [list(part) for part in span.parts],
        "tokens": None if span.tokens is None else sorted(span.tokens),
        "features": dict(span.features) or None,
        "id": span.id,
    }
    values = {"start": span.start, "end": span.end}
    return values | {name: value for name, value in optional.items() if value is not None}


def fields_of(value: object) -> dict[str, Any]:
    """Return the fields of the `Document` of a dictionary, of sentences the values of each.

    Raises `FormatError` for a dictionary that is not of this form.
    """
    if not isinstance(value, Mapping):
        raise FormatError("a document is a dictionary with 'id', 'text' or 'tokens', and 'spans'")
    name = str(value.get("id", ""))
    text, tokens = value.get("text"), value.get("tokens")
    if text is not None and not isinstance(text, str):
        raise FormatError("'text' is not a text", document=name)
    layers: dict[str, list[Span]] = {layer: [] for layer in _list_at(value, "layers", name)}
    for layer, span in _spans(value, name):
        layers.setdefault(layer, []).append(span)
    return {
        "id": name,
        "layers": layers or {DEFAULT_LAYER: []},
        "tokens": None if tokens is None else list(tokens),
        "text": text,
        "unit": value.get("unit", "character" if text is not None or tokens is None else "token"),
        "start": value.get("start", 0),
        "token_ids": value.get("token_ids"),
        "sentences": _list_at(value, "sentences", name),
        "metadata": value.get("metadata") or {},
        "tags": value.get("tags") or {},
        "ordered": value.get("ordered", False),
    }


def _spans(value: Mapping[str, Any], document: str) -> Iterator[tuple[str, Span]]:
    for item in _list_at(value, "spans", document):
        if not isinstance(item, Mapping) or "start" not in item or "end" not in item:
            problem = "a span is a dictionary with 'start', 'end' (exclusive) and 'label'"
            raise FormatError(problem, document=document)
        layer = str(item.get("layer", DEFAULT_LAYER))
        labels = item.get("labels")
        if not isinstance(labels, Mapping):
            labels = {layer: item.get("label", NO_LABEL)}
        tokens, parts = item.get("tokens"), item.get("parts")
        tokens = None if tokens is None else frozenset(tokens)
        parts = None if parts is None else tuple((first, last) for first, last in parts)
        features = item.get("features") or {}
        yield layer, Span(item["start"], item["end"], labels, features, tokens, item.get("id"), parts=parts)


def _list_at(value: Mapping[str, Any], key: str, document: str) -> Sequence[Any]:
    values = value.get(key, ())
    if isinstance(values, str) or not (values is None or isinstance(values, Sequence)):
        raise FormatError(f"{key!r} is not a list", document=document)
    return values or ()
