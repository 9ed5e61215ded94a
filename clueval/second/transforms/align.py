"""The step of the option ``align``: texts differ, and predicted spans are projected onto the text of gold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import ClassVar

from clueval.core.count import each
from clueval.core.document import Document, Notes, Pair
from clueval.core.merging import with_merged
from clueval.core.span import MERGED, Span, by_position
from clueval.second.transforms.alignment import MAX_CELLS
from clueval.second.transforms.changes import empty
from clueval.second.transforms.projection import project


@dataclass(frozen=True)
class Align:
    """A step that places predicted spans on the text of gold (`projection`), for metrics that need the same text.

    A span without a place becomes a pair beside the text, alone: it counts as spurious. If layers are merged, spans are
    merged before they are projected, since a merged span has one place.

    Attributes:
        max_cells: the greatest product of the lengths of two texts.
        merge: all layers are counted as one sequence.
    """

    max_cells: int = MAX_CELLS
    merge: bool = False

    signature: ClassVar[tuple[str, str]] = ("text", "aligned")
    zeros: ClassVar[Sequence[tuple[str, ...]]] = ()

    def __call__(self, pairs: Sequence[Pair]) -> list[Pair]:
        return each(self._of_pair, pairs)

    def check(self, notes: Notes) -> Sequence[str]:
        return ()

    def _of_pair(self, pair: Pair) -> Iterator[Pair]:
        if pair.beside:
            yield pair
            return
        predicted = _merged_in_layers(pair.predicted) if self.merge else pair.predicted
        projection = project(pair.gold, predicted, max_cells=self.max_cells, limit="align")
        yield replace(pair, predicted=projection.document)
        for layers in _alone(projection.lost, together=self.merge):
            lost = replace(pair.predicted, layers=layers, sentences=(), tags={})
            yield Pair(empty(pair.gold), lost, beside=True)


def _merged_in_layers(document: Document) -> Document:
    """Return the document with the ranges of its merged spans in each layer in which they have a label."""
    merged = with_merged(document).layers[MERGED]
    layers = {
        layer: [
            Span(span.start, span.end, {layer: span.by_layer[layer]})
            for span in merged
            if span.by_layer[layer] is not None
        ]
        for layer in document.layers
    }
    return replace(document, layers=layers, tags={})


def _alone(lost: Mapping[str, Sequence[Span]], *, together: bool) -> Iterator[dict[str, list[Span]]]:
    """Yield the layers of each document beside the text: one span; with `together`, those of one range."""
    if not together:
        yield from ({layer: [span]} for layer, spans in lost.items() for span in spans)
        return
    every = [(by_position(span), layer, span) for layer, spans in lost.items() for span in spans]
    every.sort(key=lambda entry: entry[0])
    for _, those in groupby(every, key=lambda entry: entry[0]):
        yield {layer: [span] for _, layer, span in those}
