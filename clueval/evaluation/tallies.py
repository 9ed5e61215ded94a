"""The two sides of each sequence of a pair of documents, and the counts of one metric in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clueval.evaluation.plan import Plan
from clueval.exceptions import LimitError, OverlapError, UsageError
from clueval.metrics.counting import Tally
from clueval.metrics.gaps import refuse_gaps
from clueval.metrics.metric import Metric, Side
from clueval.spans.document import Document, in_layer
from clueval.spans.flat import name_file
from clueval.spans.span import MERGED


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
    sources = [sequenced(plan, gold)]
    sources.append(projected or (sources[0] if predicted is gold else sequenced(plan, predicted)))
    for sequence in sequences_in(plan, layers):
        sides = []
        for document, source in zip((gold, predicted), sources, strict=True):
            spans = source.layers.get(sequence, ())
            if not plan.merge and sequence == MERGED:  # a layer of the documents that has this name
                spans = in_layer(sequence, spans)
            counted = spans_filter.counted(spans, document) if spans_filter else None
            sides.append(Side(spans, counted, source, source.tags.get(sequence), sequence))
        yield sequence, sides[0], sides[1]


def sequenced(plan: Plan, document: Document) -> Document:
    """The document with its merged sequence as a layer, if layers are merged."""
    if not plan.merge:
        return document
    from clueval.spans.merging import with_merged

    return with_merged(document)


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
