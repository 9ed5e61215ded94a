"""Documents as plain dictionaries, without loss, for JSON and for other programs.

    {"id": "d", "text": "Anna sings", "metadata": {"domain": "music"},
     "spans": [{"start": 0, "end": 4, "label": "PER"}, {"start": 0, "end": 10, "label": "E", "layer": "event"}]}

A document has either ``text``, with positions in code points, or ``tokens``, with positions in tokens; with both,
``unit`` says which. Ends are exclusive. ``layer`` is missing if it is the layer ``label``. All else is written
only if it is there: ``parts``, ``features``, ``id`` and ``labels`` (of a merged span) of a span; ``metadata``,
``layers`` (layers without spans), ``start``, ``token_ids``, ``sentences``, ``tags`` and ``ordered`` of a document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

from clueval.core.span import DEFAULT_LAYER, NO_LABEL, Span
from clueval.files.errors import FormatError

_OPTIONAL = ("start", "token_ids", "ordered")


def dictionary_of(document: Any) -> dict[str, Any]:
    """Return a `Document` as a dictionary."""
    found: dict[str, Any] = {"id": document.id}
    for name in ("text", "tokens"):
        value = getattr(document, name)
        if value is not None:
            found[name] = value if isinstance(value, str) else list(value)
    if document.unit != ("character" if "text" in found else "token"):
        found["unit"] = document.unit
    found["spans"] = [
        _span_as_dictionary(span, layer) for layer, spans in document.layers.items() for span in spans
    ]
    if list(document.layers) != list(
        dict.fromkeys(each.get("layer", DEFAULT_LAYER) for each in found["spans"])
    ):
        found["layers"] = list(document.layers)
    if document.metadata:
        found["metadata"] = dict(document.metadata)
    for name in _OPTIONAL:
        value = getattr(document, name)
        if value:
            found[name] = list(value) if isinstance(value, Sequence) else value
    if document.sentences:
        found["sentences"] = [list(each) for each in document.sentences]
    if document.tags:
        found["tags"] = {layer: list(tags) for layer, tags in document.tags.items()}
    return found


def _span_as_dictionary(span: Span, layer: str) -> dict[str, Any]:
    found: dict[str, Any] = {"start": span.start, "end": span.end}
    labels = dict(span.by_layer)
    if set(labels) == {layer} and labels[layer] is not None:
        found["label"] = labels[layer]
    else:
        found["labels"] = labels
    if layer != DEFAULT_LAYER:
        found["layer"] = layer
    if span.parts is not None:
        found["parts"] = [list(part) for part in span.parts]
    if span.tokens is not None:
        found["tokens"] = sorted(span.tokens)
    if span.features:
        found["features"] = dict(span.features)
    if span.id is not None:
        found["id"] = span.id
    return found


def fields_of(value: object, sentence: Callable[..., Any]) -> dict[str, Any]:
    """Return the fields of the `Document` of a dictionary; `sentence` makes a sentence of its values.

    Raises `FormatError` for a dictionary that is not of this form.

    >>> spans = [{"start": 0, "end": 4, "label": "PER"}]
    >>> fields_of({"id": "d", "text": "Anna", "spans": spans}, tuple)["layers"]["label"][0].label
    'PER'
    """
    if not isinstance(value, Mapping):
        _refuse("a document is a dictionary with 'id', 'text' or 'tokens', and 'spans'")
    name = str(value.get("id", ""))
    text, tokens = value.get("text"), value.get("tokens")
    if text is not None and not isinstance(text, str):
        _refuse("'text' is not a text", name)
    layers: dict[str, list[Span]] = {layer: [] for layer in _listed(value, "layers", name)}
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
        "sentences": [sentence(*each) for each in _listed(value, "sentences", name)] or (),
        "metadata": value.get("metadata") or {},
        "tags": value.get("tags") or {},
        "ordered": value.get("ordered", False),
    }


def _spans(value: Mapping[str, Any], document: str) -> Iterator[tuple[str, Span]]:
    for item in _listed(value, "spans", document):
        if not isinstance(item, Mapping) or "start" not in item or "end" not in item:
            _refuse("a span is a dictionary with 'start', 'end' (exclusive) and 'label'", document)
        layer = str(item.get("layer", DEFAULT_LAYER))
        given = item.get("labels")
        labels = given if isinstance(given, Mapping) else {layer: item.get("label", NO_LABEL)}
        tokens, parts = item.get("tokens"), item.get("parts")
        yield (
            layer,
            Span(
                item["start"],
                item["end"],
                labels,
                item.get("features") or {},
                None if tokens is None else frozenset(tokens),
                item.get("id"),
                parts=None if parts is None else tuple((first, last) for first, last in parts),
            ),
        )


def _listed(value: Mapping[str, Any], key: str, document: str) -> Sequence[Any]:
    found = value.get(key)
    if found is None:
        return ()
    if isinstance(found, str) or not isinstance(found, Sequence):
        _refuse(f"{key!r} is not a list", document)
    return found


def _refuse(problem: str, document: str | None = None) -> NoReturn:
    raise FormatError(problem, document=document)
