"""Discontinuous spans before counting: each fragment becomes a span of its own, or the span fills its gaps.

``split`` shows what is masked, fragment by fragment; ``hull`` makes one span from the start to the end. ``keep``, the
default, needs no transform: each metric says what it does with fragments.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from clueval.spans.document import Document
from clueval.spans.span import Span
from clueval.transforms.group import Group
from clueval.transforms.names import with_layers


class Fragments:
    """A transform that leaves no discontinuous span (`choice`: ``split`` or ``hull``).

    `prepared` counts the discontinuous spans of each side.
    """

    def __init__(self, choice: str) -> None:
        self._choice = choice
        self.signature = ("fragments", choice)
        self.prepared: Counter[tuple[Any, ...]] = Counter({("gold",): 0, ("predicted",): 0})

    def __call__(self, group: Group) -> Group:
        return replace(
            group,
            gold=self._continuous("gold", group.gold),
            predicted=self._continuous("predicted", group.predicted),
        )

    def _continuous(self, side: str, document: Document) -> Document:
        layers: dict[str, list[Span]] = {}
        for layer, spans in document.layers.items():
            found = sum(span.parts is not None for span in spans)
            if found:
                self.prepared[(side,)] += found
                layers[layer] = [piece for span in spans for piece in self._pieces(span)]
        return with_layers(document, layers)

    def _pieces(self, span: Span) -> Iterator[Span]:
        if span.parts is None:
            yield span
            return
        for start, end in span.parts if self._choice == "split" else [(span.start, span.end)]:
            yield replace(span, start=start, end=end, parts=None)
