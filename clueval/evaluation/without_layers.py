"""What is counted in a layer that documents do not have: a layer counts in all documents of a corpus.

Layers are known when a document has them. Those that later documents have are then counted in the documents before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

from clueval.evaluation.tallies import count_sides
from clueval.files.errors import CluevalError
from clueval.first.metrics.counting import Tallies, Tally, add_tally
from clueval.first.metrics.metric import Metric, Side
from clueval.spans.document import Document

NO_LAYER = ""
"""The name of a layer that no document has."""


def without_spans(metric: Metric, documents: int, positions: int) -> Tally:
    """Return what a metric counts in documents without spans, as far as that follows from these numbers."""
    needs, tally = metric.needs, Tally()
    if needs.outside is not None:
        tally.update(needs.outside(positions))
    if needs.empty is not None:
        tally.update(needs.empty(documents))
    return tally


def depends_on_documents(metric: Metric) -> bool:
    """Return whether what a metric counts in a layer without spans depends on more than numbers (`without_spans`)."""
    needs = metric.needs
    return needs.documents and needs.whole is None and needs.empty is None


def places_without_spans(metrics: Iterable[Metric], documents: int, positions: int) -> Tallies:
    """Return the tallies of `without_spans`, by metric and an empty end of the name of the layer."""
    return {
        (metric.name, ""): without_spans(metric, documents, positions)
        for metric in metrics
        if metric.needs.whole is None and not depends_on_documents(metric)
    }


def counted_without_layer(
    metrics: Iterable[Metric], gold: Document, predicted: Document, is_filtered: bool
) -> Iterator[tuple[str, Tally]]:
    """Yield what metrics that read documents count in a layer that neither document has."""
    counted = () if is_filtered else None
    sides = [Side((), counted, document, sequence=NO_LAYER) for document in (gold, predicted)]
    for metric in filter(depends_on_documents, metrics):
        with suppress(CluevalError):  # it is raised for the layers that there are
            yield metric.name, count_sides(metric, *sides)


def with_layers(
    metrics: Iterable[Metric],
    layers: Iterable[str],
    tallies: Mapping[tuple[str, str], Tally],
    without_layer: Tallies,
    documents: int,
    positions: int,
) -> Tallies:
    """Return a copy of the tallies of documents, in which new layers count, too; see `Totals.without_layer`."""
    found = {place: Tally(tally) for place, tally in tallies.items()}
    counted = without_layer | places_without_spans(metrics, documents, positions)
    for (metric, depth), tally in counted.items():
        for layer in layers:
            add_tally(found, (metric, layer + depth), tally)
    return found
