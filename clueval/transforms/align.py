"""The step of the option ``align``: texts differ, and predicted spans are projected onto the text of gold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from clueval.core.alignment import MAX_CELLS
from clueval.core.document import Pair
from clueval.core.matching import with_merged
from clueval.core.span import MERGED, Span
from clueval.transforms.changes import EachPair, empty
from clueval.transforms.projection import project


@dataclass(frozen=True)
class Align(EachPair):
    """A step that places predicted spans on the text of gold (`projection`), for metrics that need the same text.

    A span without a place becomes a pair beside the text, alone: it counts as spurious. If layers are merged, spans are
    merged before they are projected, since a merged span has one place.

    Attributes:
        max_cells: the greatest product of the lengths of two texts.
        merge: all layers are counted as one sequence.
        frames: the layers within which metrics count, which a span beside the text keeps.
    """

    max_cells: int = MAX_CELLS
    merge: bool = False
    frames: tuple[str, ...] = ()

    signature: ClassVar[tuple[str, str]] = ("text", "aligned")

    def of_pair(self, pair: Pair) -> Iterator[Pair]:
        if pair.beside:
            yield pair
            return
        given = with_merged(pair.predicted) if self.merge else pair.predicted
        document, lost = project(pair.gold, given, max_cells=self.max_cells, limit="align")
        alone = [(layer, span) for layer, spans in lost.items() if layer not in self.frames for span in spans]
        layers = document.layers
        if self.merge:
            left_out = {id(span) for _, span in alone}
            own = [span for span in given.layers[MERGED] if id(span) not in left_out]
            placed, others = _apart(layers[MERGED], own)
            alone += [(MERGED, span) for span in others]
            layers = _in_layers(placed, pair.predicted.layers)
        yield replace(pair, predicted=replace(document, layers=layers))
        for layer, span in alone:
            of_span = _in_layers([span], pair.predicted.layers) if self.merge else {layer: [span]}
            layers = {
                name: spans if name in self.frames else of_span.get(name, ())
                for name, spans in pair.predicted.layers.items()
            }
            beside = replace(pair.predicted, layers=layers, sentences=(), tags={})
            yield Pair(empty(pair.gold), beside, beside=True)


def _apart(spans: Iterable[Span], own: Iterable[Span]) -> tuple[list[Span], list[Span]]:
    """Return projected spans, and apart from them, as they were, those that are where one with other labels is.

    Projected merged spans do not overlap, but those of zero length may have one place, and would be merged there.
    """
    placed: dict[tuple[int, int], Span] = {}
    others = []
    for span, before in zip(spans, own, strict=True):
        if placed.setdefault((span.start, span.end), span).labels != span.labels:
            others.append(before)
    return list(placed.values()), others


def _in_layers(merged: Sequence[Span], layers: Iterable[str]) -> dict[str, list[Span]]:
    """Return the ranges of merged spans in each layer in which they have a label; merged again, they are the same."""
    return {
        layer: [
            Span(span.start, span.end, {layer: span.by_layer[layer]})
            for span in merged
            if span.by_layer[layer] is not None
        ]
        for layer in layers
    }
