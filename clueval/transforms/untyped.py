"""Untyped spans: every label becomes ``_``, so that only positions are compared."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from clueval.spans.document import Document
from clueval.spans.span import NO_LABEL, Span
from clueval.transforms.group import Group
from clueval.transforms.names import changed_labels, with_labels


class Untyped:
    """A transform that gives every span the label ``_``. `prepared` counts the spans of each side."""

    def __init__(self) -> None:
        self.signature = ("untyped", "yes")
        self.prepared: Counter[tuple[Any, ...]] = Counter()

    def __call__(self, group: Group) -> Group:
        return replace(
            group,
            gold=self._untyped("gold", group.gold),
            predicted=self._untyped("predicted", group.predicted),
        )

    def _untyped(self, side: str, document: Document) -> Document:
        def change(span: Span, _: str) -> Span:
            changed = with_labels(span, dict.fromkeys(span.by_layer, NO_LABEL))
            self.prepared[(side,)] += changed is not span
            return changed

        return changed_labels(document, change)
