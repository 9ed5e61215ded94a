"""Every gold span of files with the predicted span that it takes, as metric `noisy` pairs them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clueval.metrics.metric import Side
from clueval.metrics.noisy import Explanation, Noisy
from clueval.reading.layers import LayerColumns, columns_of_side
from clueval.reading.options import ReadOptions
from clueval.reading.pairing import document_pairs, source_pairs
from clueval.reading.paths import Paths, path_pairs


def explain_files(
    gold: Paths, predicted: Paths | None, metric: Noisy, *, layers: LayerColumns | None = None, **reading: Any
) -> Iterator[tuple[str, Explanation]]:
    """Yield the document id and the explanation of each gold span, as `Noisy.explain` gives them.

    The arguments are those of `clueval.evaluate`; `reading` are arguments of `clueval.read`. Holds one
    document of each side. Raises the same errors as `evaluate`.
    """
    options = [
        ReadOptions(layers=columns_of_side(layers, side, predicted is None), whole_text=True, **reading)
        for side in range(2)
    ]
    for sources in source_pairs(path_pairs(gold, predicted) or [], options, None):
        for own, other in document_pairs(*sources):
            for layer in dict.fromkeys([*own.layers, *other.layers]):
                sides = (Side(document.layers.get(layer, ()), document=document) for document in (own, other))
                for explanation in metric.explain(*sides):
                    yield own.id, explanation
