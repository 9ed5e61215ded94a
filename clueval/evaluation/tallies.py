"""The counts of one metric: in one pair of sides, and in two texts that have been compared."""

from __future__ import annotations

from clueval.exceptions import OverlapError, UsageError
from clueval.metrics.counting import Tally
from clueval.metrics.metric import Metric, Side
from clueval.spans.compared import ComparedSequence
from clueval.spans.document import Document
from clueval.spans.making import making_many
from clueval.spans.span import name_of


def count_sides(metric: Metric, gold: Side, predicted: Side) -> Tally:
    """The counts of a metric. Raises `OverlapError`, with the file, if the metric forbids overlapping spans.

    Raises `UsageError` for a discontinuous span if the metric cannot count one.
    """
    if metric.needs.contiguous:
        _require_contiguous(metric.name, gold)
        _require_contiguous(metric.name, predicted)
    try:
        return metric.count(gold, predicted)
    except OverlapError as error:
        if error.file is None and gold.document is not None:
            error.file = gold.document.file
        raise


def _require_contiguous(metric: str, side: Side) -> None:
    span = next((span for span in side.spans if span.parts is not None), None)
    if span is not None:
        document = side.document
        raise UsageError(
            f"span {name_of(span)} has gaps, and metric {metric!r} cannot count such spans",
            file=None if document is None else document.file,
            document=None if document is None else document.id,
            line=span.line,
            advice="Preparing.fragments can be split (each fragment is a span) or hull (one span from start to end)",
        )


def count_comparison(metric: Metric, comparison: ComparedSequence) -> Tally:
    """The counts of a metric in two compared texts, as often as these occur."""
    tally = metric.count_agreed(comparison.agreed, comparison.equal)
    gold_tags, predicted_tags = comparison.tags or (None, None)
    if comparison.gold or comparison.predicted or gold_tags:
        gold, predicted = (
            Side(comparison.gold, tags=gold_tags),
            Side(comparison.predicted, tags=predicted_tags),
        )
        with making_many(len(comparison.gold) + len(comparison.predicted)):
            tally.update(metric.count(gold, predicted))
    if comparison.times > 1:
        return Tally({key: number * comparison.times for key, number in tally.items()})
    return tally


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
