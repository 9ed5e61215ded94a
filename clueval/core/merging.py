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

from clueval.core.document import Document, Layers
from clueval.core.span import MERGED, NOTHING, Frozen, Span, components, require_flat


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
