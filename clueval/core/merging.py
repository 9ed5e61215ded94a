"""CLUEval's combined model: several layers become one.

Several layers are merged into one sequence of spans with one label per layer: all spans of all layers are divided into
overlap components; each component becomes one span from its smallest start to its greatest end. In each layer, its
label is the one that covers most positions of it; of several such labels, the one that comes first in the text. If a
layer has no span there, the label is None. The order of the layers affects only the order in which a span lists its
labels.

Source: the CLUEval algorithm, "Combined model".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from operator import itemgetter
from typing import Any

from clueval.core.document import Document, Layers
from clueval.core.overlap import components, require_flat
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
    named: dict[str, list[Span]] = {}
    if isinstance(layers, Mapping):
        for layer, spans in layers.items():
            if not isinstance(layer, str):
                raise UsageError(f"the name of a layer must be text, not {described(layer)}")
            named[layer] = as_spans(spans, f"layers[{layer!r}]")
    else:
        for number, spans in enumerate(layers):
            for span in as_spans(spans, f"layers[{number}]"):
                for layer in [layer for layer, label in span.by_layer.items() if label is not None]:
                    named.setdefault(layer, []).append(span)
    return merged_spans(named, named, document)


def merged_spans(
    layers: Mapping[str, Sequence[Span]],
    names: Collection[str],
    document: str | None,
    file: str | None = None,
) -> list[Span]:
    """Return the merged spans of the layers with these names; `document` and `file` are for error messages."""
    entries: list[tuple[int, int, int, str | None]] = []
    for number, layer in enumerate(names):
        rows = layers.rows(layer) if isinstance(layers, Layers) else None
        if rows is None or any(
            start < end or start == begin for (begin, end, _), (start, _, _) in pairwise(rows)
        ):
            spans = layers.get(layer, ())
            require_flat(spans, document, file)
            for span in spans:  # of a span with one label, this is the label, under any name
                labels = span.by_layer
                name = layer if layer in labels or len(labels) != 1 else next(iter(labels))
                entries.append((span.start, span.end, number, labels.get(name)))
        else:  # by position and apart, as tags are decoded
            entries += [(start, end, number, label) for start, end, label in rows]
    entries.sort(key=itemgetter(0, 1, 2))  # different for all entries, since the spans of a layer are flat
    frozen: dict[tuple[str | None, ...], Frozen] = {}  # most spans have the same labels as another span
    merged = []
    for component in components(entries):
        positions: list[dict[str, int]] = [{} for _ in names]
        for start, end, number, label in component:
            if label is not None:
                positions[number][label] = positions[number].get(label, 0) + end - start
        joined = tuple([max(of_layer, key=of_layer.__getitem__, default=None) for of_layer in positions])
        if joined not in frozen:
            frozen[joined] = Frozen(zip(names, joined, strict=True))
        merged.append(Span(component[0][0], max(entry[1] for entry in component), frozen[joined]))
    return merged


def with_merged(document: Document, layers: Iterable[str] = ()) -> Document:
    """Return the document with all its layers merged into one layer, `merged`.

    Labels are in the order of `layers`, which names all layers of the documents that it is compared with.
    """
    names = dict.fromkeys([*layers, *document.layers])
    merged = merged_spans(document.layers, names, document.id, document.file)
    return replace(document, layers={MERGED: merged}, tags=NOTHING)
