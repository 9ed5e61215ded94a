"""The combined model: several layers become one sequence of spans with one label per layer.

All spans of all layers are divided into overlap components; each component becomes one span from its least
start to its greatest end. In each layer its label is the one that covers most positions of it; ties go to the
label that comes first in the text. A layer without a span there has no label (None). The result does not
depend on the order of the layers, save for the order in which a span lists them.

Source: CLUEval, "Combined model".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from clueval.components import overlap_components
from clueval.index import in_order_and_flat
from clueval.matching import joined_labels
from clueval.spans import Document, Frozen, Span

MERGED = "merged"
"""The name of the merged sequence."""


def merge_layers(
    layers: Mapping[str, Sequence[Span]] | Iterable[Sequence[Span]], *, document: str | None = None
) -> list[Span]:
    """The spans of several layers merged into one sequence, by position. Costs O(n log n) for n spans.

    `layers` are the spans of each layer by its name, or the layers one after another, whose names are then
    those that the spans give. A span's label in its layer is ``labels[layer]``, or its only label under whatever
    name. `document` is named in errors. Raises `OverlapError` if two spans of one layer overlap.

    >>> entity, risk = [Span(0, 2, {"entity": "PER"})], [Span(1, 4, {"risk": "high"}), Span(6, 7, {"risk": "low"})]
    >>> for span in merge_layers({"entity": entity, "risk": risk}):
    ...     print(span.start, span.end, dict(span.labels))
    0 4 {'entity': 'PER', 'risk': 'high'}
    6 7 {'entity': None, 'risk': 'low'}
    """
    if not isinstance(layers, Mapping):
        layers = _by_name(layers)
    sides = [
        Span(span.start, span.end, Frozen({layer: label_in(layer, span)}))
        for layer, spans in layers.items()
        for span in in_order_and_flat(spans, document)
    ]
    return [_merged(component, layers) for component in overlap_components(sides)]


def _by_name(layers: Iterable[Sequence[Span]]) -> dict[str, list[Span]]:
    """Spans by the layers that they have a label in."""
    named: dict[str, list[Span]] = {}
    for spans in layers:
        for span in spans:
            for layer, label in span.by_layer.items():
                if label is not None:
                    named.setdefault(layer, []).append(span)
    return named


def _merged(component: Sequence[Span], layers: Mapping[str, object]) -> Span:
    whole = Span(component[0].start, max(span.end for span in component))
    labels = joined_labels(whole, component)
    return replace(whole, labels=Frozen({layer: labels.get(layer) for layer in layers}))


def label_in(layer: str, span: Span) -> str | None:
    """The label of a span in a layer: under the layer's name, or the only one that the span has."""
    labels = span.by_layer
    return labels.get(layer) if layer in labels or len(labels) != 1 else next(iter(labels.values()))


def with_merged(document: Document) -> Document:
    """The document with one layer, `merged`, in place of its layers."""
    return replace(
        document, layers={MERGED: merge_layers(document.layers, document=document.id)}, tags=Frozen()
    )
