"""The two sides of each sequence of a pair of documents, and the counts of one metric in them.

`ClusterCounts` counts documents that stand for several equal parts of a corpus once, and multiplies the counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from clueval.core.span import MERGED
from clueval.evaluation.plan import Plan
from clueval.files.errors import LimitError, OverlapError, UsageError
from clueval.first.metrics.counting import Tallies, Tally, add_tally
from clueval.first.metrics.match_counts import refuse_gaps
from clueval.first.metrics.metric import Metric, Side
from clueval.spans.document import Document, in_layer
from clueval.spans.filters import SeenNames
from clueval.spans.flat import name_file
from clueval.spans.making import making_many

Compared = tuple[Metric, str, Side, Side]
"""A metric, a sequence, and the gold and the predicted side of it, which the metric counts."""


def sequences_in(plan: Plan, layers: Sequence[str]) -> Sequence[str]:
    """The sequences of these layers."""
    return [MERGED] if plan.merge else layers


def sides_of(
    plan: Plan,
    layers: Sequence[str],
    gold: Document,
    predicted: Document,
    projected: Document | None = None,
) -> Iterator[tuple[str, Side, Side]]:
    """The two sides of every sequence; `projected` holds the projected predicted spans, if there are any."""
    spans_filter = plan.where.on_layers(layers)
    if spans_filter and plan.align is not None:
        raise UsageError(
            "a filter on a layer cannot be used when texts are aligned", advice="filter documents only"
        )
    own, other = sequenced(plan, layers, gold, predicted)
    sources = own, projected or other
    for sequence in sequences_in(plan, layers):
        sides = []
        for document, source in zip((gold, predicted), sources, strict=True):
            spans = source.layers.get(sequence, ())
            if not plan.merge and sequence == MERGED:  # a layer of the documents that has this name
                spans = in_layer(sequence, spans)
            counted = spans_filter.counted(spans, document) if spans_filter else None
            sides.append(Side(spans, counted, source, source.tags.get(sequence), sequence))
        yield sequence, sides[0], sides[1]


def sequenced(
    plan: Plan, layers: Iterable[str], gold: Document, predicted: Document
) -> tuple[Document, Document]:
    """Both documents, with their merged sequence as a layer if layers are merged.

    Labels are in the order of `layers`; a layer that neither document has is left out, so that other documents of the
    corpus do not matter.
    """
    if not plan.merge:
        return gold, predicted
    from clueval.spans.merging import with_merged

    names = [name for name in layers if name in gold.layers or name in predicted.layers]
    own = with_merged(gold, names)
    return own, own if predicted is gold else with_merged(predicted, names)


def compared(
    plan: Plan,
    layers: Sequence[str],
    metrics: Sequence[Metric],
    gold: Document,
    predicted: Document,
    projected: Document | None = None,
) -> Iterator[Compared]:
    """What metrics count in a pair of documents: each sequence, or all layers together; see `sides_of`."""
    for sequence, own, other in sides_of(plan, layers, gold, predicted, projected):
        for metric in metrics:
            if metric.needs.whole is None:
                yield metric, sequence, own, other
    for metric in metrics:
        if (whole := metric.needs.whole) is not None:
            own, other = (Side((), document=each, sequence=whole) for each in (gold, projected or predicted))
            yield metric, whole, own, other


def count_sides(metric: Metric, gold: Side, predicted: Side) -> Tally:
    """The counts of a metric. Raises `OverlapError`, with the file, if the metric forbids overlapping spans.

    Raises `UsageError` for a discontinuous span if the metric cannot count one, and `LimitError`, with the document, if
    too many spans overlap.
    """
    if metric.needs.contiguous:
        for side in (gold, predicted):
            refuse_gaps(f"metric {metric.name!r}", side.spans, side.document)
    try:
        return metric.count(gold, predicted)
    except LimitError as error:
        if gold.document is not None:
            error.document, error.file = gold.document.id, gold.document.file
        raise
    except OverlapError as error:
        if error.file is None:
            sides = (
                (side.spans, None if side.document is None else side.document.file)
                for side in (gold, predicted)
            )
            name_file(error, *sides)
            error.advice = f"metric {metric.name!r} cannot count such spans; exact, fair, gate and muc can"
        raise


def positions_of(gold: Document, predicted: Document) -> int:
    """The number of positions of the text; 0 if neither side has its text."""
    for document in (gold, predicted):
        if document.end is not None:
            return document.end - document.start
    return 0


def in_unit(unit: str | None, gold: Document, predicted: Document) -> tuple[Document, Document]:
    """The documents in the unit that was chosen; None: in their own."""
    if unit != "character":
        return gold, predicted
    from clueval.transforms.characters import to_characters

    return to_characters(gold), to_characters(predicted)


class ClusterCounts:
    """The counts of a plan in clusters, out of which no span reaches. `seen_names` gets the labels of filters."""

    def __init__(self, plan: Plan, layers: Sequence[str], seen_names: SeenNames) -> None:
        self._plan, self._seen_names = plan, seen_names
        self._where = plan.where.on_layers(layers)
        self._layers = [layer for layer in layers if all(layer != each.needs.within for each in plan.metrics)]
        sequences = sequences_in(plan, self._layers)
        self._places = [(metric, sequence) for metric in plan.metrics for sequence in sequences]
        self._positions = 0
        self._tallies: Tallies = {}

    def count(self, gold: Document, predicted: Document, times: int) -> None:
        """Count two documents, made of clusters with an empty position after each, this number of times."""
        gold, predicted = in_unit(self._plan.unit, gold, predicted)
        self._seen_names.see_labels((gold, predicted), self._where)
        self._positions += times * positions_of(gold, predicted)
        with making_many(positions_of(gold, predicted)):
            for metric, sequence, *sides in compared(
                self._plan, self._layers, self._plan.metrics, gold, predicted
            ):
                add_tally(self._tallies, (metric.name, sequence), count_sides(metric, *sides), times)

    def tallies(self, positions: int) -> Tallies:
        """Return the counts of a text of `positions` positions, by metric and sequence; both agree outside clusters."""
        return self.summed([(self, 1)], positions)

    def summed(self, parts: Iterable[tuple[ClusterCounts, int]], positions: int) -> Tallies:
        """Return the counts of clusters, each a number of times, in a text of `positions` positions.

        The empty position after each cluster was counted, too, so the number of those left may be below 0.
        """
        found: Tallies = {}
        for counts, times in parts:
            positions -= counts._positions * times
            for place, tally in counts._tallies.items():
                add_tally(found, place, tally, times)
        for metric, sequence in self._places:
            outside = metric.needs.outside
            add_tally(found, (metric.name, sequence), Tally() if outside is None else outside(positions))
        return found
