"""Generic labels: a span with a label such as ``PII`` takes the label of the span of the other side that it overlaps.

The label that it takes must be below the generic one in the hierarchy; if the generic one is in no hierarchy, any
label will do. Of several spans the one with an equal range is taken, then the one with which most positions are
shared, then the earliest; of spans in one place the first by label, the generic label last. Without such a span the
generic label stays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from clueval.spans.document import Document
from clueval.spans.index import SpanIndex
from clueval.spans.overlaps import shared_positions
from clueval.spans.span import Span
from clueval.transforms.group import Group
from clueval.transforms.hierarchy import Hierarchy
from clueval.transforms.names import HIDDEN, changed_labels, counted_names, with_labels


class Generic:
    """A transform for the generic labels of one side, ``gold`` or ``predicted``.

    `prepared` counts, by label, the spans that took another label.
    """

    def __init__(self, side: str, labels: tuple[str, ...], hierarchy: Hierarchy | None = None) -> None:
        self._side, self._labels, self._hierarchy = side, frozenset(labels), hierarchy
        choice = ",".join(labels) + (f"({hierarchy.sha})" if hierarchy is not None else "")
        self.signature = ("generic" if side == "predicted" else "generic-gold", choice)
        self.prepared: Counter[tuple[Any, ...]] = Counter()

    def __call__(self, group: Group) -> Group:
        if self._side == "predicted":
            return replace(group, predicted=self._specific(group.predicted, group.gold))
        return replace(group, gold=self._specific(group.gold, group.predicted))

    def without_effect(self, prepared: Mapping[tuple[Any, ...], int]) -> Iterator[str]:
        """Yield which generic labels no span has."""
        for label in sorted(self._labels - counted_names(prepared, "label").keys()):
            yield f"no {self._side} span has the generic label {label!r}: names count as written"

    def _specific(self, own: Document, other: Document) -> Document:
        indices: dict[str, SpanIndex] = {}

        def change(span: Span, layer: str) -> Span:
            label = span.by_layer.get(layer)
            if label not in self._labels:
                return span
            self.prepared[HIDDEN, "label", label] += 1
            if layer not in indices:
                indices[layer] = SpanIndex(other.layers.get(layer, ()), other)
            found = self._label(span, label, layer, indices[layer])
            self.prepared[(label,)] += found != label
            return with_labels(span, {**span.by_layer, layer: found})

        return changed_labels(own, change)

    def _label(self, span: Span, label: str, layer: str, index: SpanIndex) -> str:
        candidates = [each for each in index.overlapping(span) if self._fits(each.by_layer.get(layer), label)]
        if not candidates:
            return label

        def rank(other: Span) -> tuple[Any, ...]:
            given = other.by_layer[layer] or label
            is_apart = other.fragments != span.fragments
            return is_apart, -shared_positions(other, span), other.start, other.end, given == label, given

        return min(candidates, key=rank).by_layer[layer] or label

    def _fits(self, label: str | None, generic: str) -> bool:
        """Whether a span with `label` can give it; the generic label itself counts, so that what is right stays."""
        if label is None or self._hierarchy is None or not self._hierarchy.holds(generic):
            return label is not None
        return generic in self._hierarchy.path(label)
