"""Every gold span with the predicted span that it takes, as metric `noisy` pairs them."""

from __future__ import annotations

from collections.abc import Iterator

from clueval.metrics.metric import Side
from clueval.metrics.noisy import Explanation, Noisy
from clueval.spans.document import Document


def explained(gold: Document, predicted: Document, metric: Noisy) -> Iterator[tuple[str, Explanation]]:
    """Yield the document id and the explanation of each gold span of two documents, as `Noisy.explain` gives them."""
    for layer in dict.fromkeys([*gold.layers, *predicted.layers]):
        sides = (Side(document.layers.get(layer, ()), document=document) for document in (gold, predicted))
        for explanation in metric.explain(*sides):
            yield gold.id, explanation
