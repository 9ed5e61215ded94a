"""Every gold span of files with the predicted span that it takes, as metric `noisy` pairs them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Unpack

from clueval.findings.files import documents_of_files
from clueval.metrics.metric import Side
from clueval.metrics.noisy import Explanation, Noisy
from clueval.reading.keywords import SidesOptions
from clueval.reading.layers import LayerColumns
from clueval.reading.options import Reading, Readings, ReadOptions, readings_of
from clueval.reading.paths import Paths

_READING = Reading()


def explain_files(
    gold: Paths,
    predicted: Paths | None,
    metric: Noisy,
    *,
    layers: LayerColumns | None = None,
    reading: Readings = _READING,
    **options: Unpack[SidesOptions],
) -> Iterator[tuple[str, Explanation]]:
    """Yield the document id and the explanation of each gold span, as `Noisy.explain` gives them.

    The arguments are those of `clueval.score`. Holds one document of each side. Raises the same errors.
    """
    readings = [ReadOptions.of(each, whole_text=True) for each in readings_of(reading, options)]
    for own, other in documents_of_files(gold, predicted, layers, readings):
        for layer in dict.fromkeys([*own.layers, *other.layers]):
            sides = (Side(document.layers.get(layer, ()), document=document) for document in (own, other))
            for explanation in metric.explain(*sides):
                yield own.id, explanation
