"""The combined model: several layers become one sequence of spans with one label per layer.

All spans of all layers are divided into overlap components; each component becomes one span from its smallest
start to its greatest end. In each layer, its label is the one that covers most positions of it; of several
such labels, the one that comes first in the text. If a layer has no span there, the label is None. The order
of the layers affects only the order in which a span lists its labels.

Source: CLUEval, "Combined model".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from clueval.core.document import Document
from clueval.core.matching import most, require_flat
from clueval.core.overlap import components
from clueval.core.span import MERGED, NOTHING, Frozen, Span
from clueval.files.errors import UsageError, described


def merge_layers(
    layers: Mapping[str, Iterable[Any]] | Iterable[Iterable[Any]], *, document: str | None = None
) -> list[Span]:
    """Merge the spans of several layers into one sequence, by position. Costs O(n log n) for n spans.

    `layers` maps the name of each layer to its spans, or is a list of sequences of spans, in which case the
    names come from the labels of the spans; these have any form of `clueval.core.span_forms`. The label of a span in
    its layer is ``labels[layer]``, or its only label under any name. `document` is the id of the document, for error
    messages. Raises `OverlapError` if two spans of one layer overlap, and `UsageError` for a `Document`.

    >>> entity, risk = [Span(0, 2, {"entity": "PER"})], [Span(1, 4, {"risk": "high"}), Span(6, 7, {"risk": "low"})]
    >>> for span in merge_layers({"entity": entity, "risk": risk}):
    ...     print(span.start, span.end, dict(span.labels))
    0 4 {'entity': 'PER', 'risk': 'high'}
    6 7 {'entity': None, 'risk': 'low'}
    """
    from clueval.core.span_forms import as_spans  # not needed where cases are counted

    if isinstance(layers, Document):
        raise UsageError(
            "merge_layers takes the layers of a document, not the document",
            document=layers.id,
            advice="merge_layers(document.layers), or clueval.merge for the documents of a file",
        )
    if not isinstance(layers, Iterable) or isinstance(layers, str | bytes):
        raise UsageError(f"layers must be a dictionary or a list of lists of spans, not {described(layers)}")
    if not isinstance(layers, Mapping):
        layers = _by_name([as_spans(spans, f"layers[{n}]") for n, spans in enumerate(layers)])
    for layer in layers:
        if not isinstance(layer, str):
            raise UsageError(f"the name of a layer must be text, not {described(layer)}")
    named = {layer: as_spans(spans, f"layers[{layer!r}]") for layer, spans in layers.items()}
    return merged_spans(named, document)


def _by_name(layers: Iterable[Sequence[Span]]) -> dict[str, list[Span]]:
    """Group spans by the layers in which they have a label."""
    named: dict[str, list[Span]] = {}
    for spans in layers:
        for span in spans:
            for layer, label in span.by_layer.items():
                if label is not None:
                    named.setdefault(layer, []).append(span)
    return named


def merged_spans(
    layers: Mapping[str, Sequence[Span]], document: str | None = None, file: str | None = None
) -> list[Span]:
    """Return the merged spans of layers; `document` and `file` are for error messages."""
    entries = []
    for number, (layer, spans) in enumerate(layers.items()):
        require_flat(spans, document, file)
        entries += [(span.start, span.end, number, _label_in(layer, span)) for span in spans]
    entries.sort(
        key=lambda entry: entry[:3]
    )  # different for all entries, since the spans of a layer are flat
    names = list(layers)
    known: dict[tuple[str | None, ...], Frozen] = {}  # most spans have the same labels as another span
    merged = []
    for component in components(entries):
        positions: dict[int, dict[str, int]] = {}
        for start, end, number, label in component:
            if label is not None:
                of_layer = positions.setdefault(number, {})
                of_layer[label] = of_layer.get(label, 0) + end - start
        labels = tuple(most(positions.get(number, NOTHING)) for number in range(len(names)))
        if labels not in known:
            known[labels] = Frozen(zip(names, labels, strict=True))
        merged.append(Span(component[0][0], max(entry[1] for entry in component), known[labels]))
    return merged


def _label_in(layer: str, span: Span) -> str | None:
    labels = span.by_layer
    if len(labels) == 1 and layer not in labels:
        return next(iter(labels.values()))
    return labels.get(layer)


def with_merged(document: Document, layers: Iterable[str] = ()) -> Document:
    """Return the document with all its layers merged into one layer, `merged`.

    Labels are in the order of `layers`, which names all layers of the documents that it is compared with.
    """
    of_layer = {name: document.layers.get(name, ()) for name in dict.fromkeys([*layers, *document.layers])}
    merged = merged_spans(of_layer, document.id, document.file)
    return replace(document, layers={MERGED: merged}, tags=NOTHING)
