"""The order in which the spans of a layer are counted, whatever order a list or a file gives them in.

Metrics break ties by the order of spans: FairEval's and GATE's pairings, for example, and the tags of overlapping
spans. So that no number depends on the order of a list, spans are counted in the order of `sorting_key`. Some formats
define the order or the ids of their spans; their documents are `Document.ordered`, and keep them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from clueval.core.span import Frozen, Span
from clueval.spans.document import Document
from clueval.spans.features import GROUP, MENTION
from clueval.spans.flat import Flat, by_position

Key = tuple[Any, ...]
"""A key that spans are sorted by."""


def sorting_key(span: Span, features: Iterable[str] | None = None) -> Key:
    """Return the key by which spans are sorted: start, end, parts, labels, tokens, features.

    Labels compare by layer and label. `features` are the names of the features that count; None: all. Their values
    compare by type and value.

    >>> sorting_key(Span(0, 2, "B")) > sorting_key(Span(0, 2, "A")), sorting_key(Span(0, 2)) < sorting_key(Span(1, 2))
    (True, True)
    """
    labels = tuple(sorted((layer, label is not None, label or "") for layer, label in span.by_layer.items()))
    names = sorted(span.features if features is None else {*features} & span.features.keys())
    return (
        span.start,
        span.end,
        span.parts or (),
        labels,
        () if span.tokens is None else tuple(sorted(span.tokens)),
        tuple((name, *_of_value(span.features[name])) for name in names),
    )


def _of_value(value: object) -> tuple[str, Any]:
    """Return the type and the value of a feature; values of other types, and NaN, compare as text."""
    kind = type(value)
    comparable = kind in (str, int, bool) or (kind is float and value == value)
    return kind.__name__, value if comparable else repr(value)


def in_counting_order(document: Document) -> Document:
    """Return the document with the spans of each layer in the order of `sorting_key`, unless it is `ordered`.

    The members of a group of alternatives stay together, in their order, at the place of the first. Mentions of a
    language model, which are looked for in their order, keep it. The same document is returned if all spans are in this
    order. O(n log n) for n spans.

    >>> in_counting_order(Document("d", {"label": [Span(3, 4, "B"), Span(3, 4, "A")]})).layers["label"][0].label
    'A'
    """
    if document.ordered:
        return document
    layers = {layer: _sorted(spans) for layer, spans in document.layers.items()}
    if all(spans is document.layers[layer] for layer, spans in layers.items()):
        return document
    return replace(document, layers=Frozen(layers))


def _sorted(spans: Sequence[Span]) -> Sequence[Span]:
    if isinstance(spans, Flat) or all(
        by_position(one) < by_position(other) for one, other in pairwise(spans)
    ):
        return spans
    if any(MENTION in span.features for span in spans):
        return spans
    keys = [sorting_key(span) for span in spans]
    if any(GROUP in span.features for span in spans):
        keys = _of_groups(spans, keys)
    return [spans[number] for number in sorted(range(len(spans)), key=keys.__getitem__)]


def _of_groups(spans: Sequence[Span], keys: Sequence[Key]) -> list[Key]:
    """Return a key for each span that its group shares: the keys of all members."""
    members: dict[str, list[Key]] = {}
    for span, key in zip(spans, keys, strict=True):
        if GROUP in span.features:
            members.setdefault(repr(span.features[GROUP]), []).append(key)
    return [
        tuple(members[repr(span.features[GROUP])]) if GROUP in span.features else (key,)
        for span, key in zip(spans, keys, strict=True)
    ]
