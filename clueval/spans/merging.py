"""The combined model: several layers become one sequence of spans with one label per layer.

All spans of all layers are divided into overlap components; each component becomes one span from its smallest
start to its greatest end. In each layer, its label is the one that covers most positions of it; of several
such labels, the one that comes first in the text. If a layer has no span there, the label is None. The order
of the layers affects only the order in which a span lists its labels.

Source: CLUEval, "Combined model".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from operator import itemgetter

from clueval.arguments import checked_call, require_kind
from clueval.core.span import MERGED, Frozen, Span
from clueval.files.errors import UsageError
from clueval.spans.components import component_firsts
from clueval.spans.document import Document
from clueval.spans.flat import Flat
from clueval.spans.making import making_many
from clueval.spans.match_classes import most
from clueval.spans.span_forms import as_spans

SpansOfLayers = Mapping[str, Sequence[Span]] | Iterable[Sequence[Span]]
"""The spans of each layer, by its name or without names."""


@checked_call
def merge_layers(layers: SpansOfLayers, *, document: str | None = None) -> list[Span]:
    """Merge the spans of several layers into one sequence, by position. Costs O(n log n) for n spans.

    `layers` maps the name of each layer to its spans, or is a list of sequences of spans, in which case the
    names come from the labels of the spans. The label of a span in its layer is ``labels[layer]``, or its
    only label under any name. `document` is the id of the document, for error messages. Raises `OverlapError`
    if two spans of one layer overlap, and `UsageError` for a `Document`.

    >>> entity, risk = [Span(0, 2, {"entity": "PER"})], [Span(1, 4, {"risk": "high"}), Span(6, 7, {"risk": "low"})]
    >>> for span in merge_layers({"entity": entity, "risk": risk}):
    ...     print(span.start, span.end, dict(span.labels))
    0 4 {'entity': 'PER', 'risk': 'high'}
    6 7 {'entity': None, 'risk': 'low'}
    """
    if isinstance(layers, Document):
        raise UsageError(
            "merge_layers takes the layers of a document, not the document",
            document=layers.id,
            advice="merge_layers(document.layers), or with_merged(document)",
        )
    require_kind(layers, "Iterable", "layers")
    if not isinstance(layers, Mapping):
        layers = _by_name([as_spans(spans, f"layers[{n}]") for n, spans in enumerate(layers)])
    layers = {
        layer: spans if isinstance(spans, Flat) else as_spans(spans, f"layers[{layer!r}]")
        for layer, spans in layers.items()
    }
    for layer in layers:
        require_kind(layer, "str", "the name of a layer")
    names = list(layers)
    flat = [Flat.of(spans, document) for spans in layers.values()]
    with making_many(sum(map(len, flat))):
        entries = [
            (start, end, number, label)
            for number, (layer, each) in enumerate(zip(names, flat, strict=True))
            for start, end, label in zip(each.starts, each.ends, each.labels_in(layer), strict=True)
        ]
        entries.sort()  # start, end and layer are different for all entries, so labels are never compared
        return list(_merged(entries, names))


def _merged(entries: Sequence[_Entry], names: Sequence[str]) -> Iterator[Span]:
    """Yield the merged spans, given the spans of all layers by position and the names of the layers."""
    known: dict[tuple[str | None, ...], Frozen] = {}  # most spans have the same labels as another span
    for first, past in pairwise([*component_firsts(map(_RANGE, entries)), len(entries)]):
        start, end, number, label = entries[first]
        labels: list[str | None] = [None] * len(names)
        if past - first == 1:
            labels[number] = label
        else:
            end = _join(entries[first:past], labels)
        key = tuple(labels)
        if key not in known:
            known[key] = Frozen(zip(names, labels, strict=True))
        yield Span(start, end, known[key])


_Entry = tuple[int, int, int, str | None]
"""Start and end of a span, the number of its layer, and its label in this layer."""

_RANGE: Callable[[_Entry], tuple[int, int]] = itemgetter(0, 1)


def _join(component: Sequence[_Entry], labels: list[str | None]) -> int:
    """Put the label of each layer that covers most positions (the first of equals) into `labels`.

    Return the greatest end of the component.
    """
    reach = 0
    positions: dict[int, dict[str, int]] = {}
    for start, end, number, label in component:
        if end > reach:
            reach = end
        if label is not None:
            if number not in positions:
                positions[number] = {label: end - start}
            else:
                of_layer = positions[number]
                of_layer[label] = of_layer.get(label, 0) + end - start
    for number, of_layer in positions.items():
        labels[number] = most(of_layer) if len(of_layer) > 1 else next(iter(of_layer))
    return reach


def _by_name(layers: Iterable[Sequence[Span]]) -> dict[str, list[Span]]:
    """Group spans by the layers in which they have a label."""
    named: dict[str, list[Span]] = {}
    for spans in layers:
        for span in spans:
            for layer, label in span.by_layer.items():
                if label is not None:
                    named.setdefault(layer, []).append(span)
    return named


def with_merged(document: Document, layers: Iterable[str] = ()) -> Document:
    """Return the document with all its layers merged into one layer, `merged`.

    Labels are in the order of `layers`, which names all layers of the documents that it is compared with.
    """
    found = {name: document.layers.get(name, ()) for name in dict.fromkeys([*layers, *document.layers])}
    return replace(document, layers={MERGED: merge_layers(found, document=document.id)}, tags=Frozen())
