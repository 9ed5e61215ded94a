"""The parallel documents of files, for error tables of metrics that have their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clueval.reading.layers import LayerColumns
from clueval.reading.options import ReadOptions, columns_of_sides
from clueval.reading.pairing import document_pairs, source_pairs
from clueval.reading.paths import Paths, path_pairs
from clueval.spans.document import Document


def documents_of_files(
    gold: Paths, predicted: Paths | None, layers: LayerColumns | None, readings: Sequence[ReadOptions]
) -> Iterator[tuple[Document, Document]]:
    """Yield gold and predicted of each document; arguments as in `clueval.score`. Holds one pair."""
    sides = columns_of_sides(readings, layers, predicted is None)
    for sources in source_pairs(path_pairs(gold, predicted) or [], sides, None):
        yield from document_pairs(*sources)
