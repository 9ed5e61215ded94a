"""The counts of one metric: in one pair of sides, and in two texts that have been compared."""

from __future__ import annotations

from clueval.exceptions import OverlapError
from clueval.metrics.counting import Tally
from clueval.metrics.gaps import refuse_gaps
from clueval.metrics.metric import Metric, Side
from clueval.spans.compared import ComparedSequence
from clueval.spans.document import Document
from clueval.spans.making import making_many


def count_sides(metric: Metric, gold: Side, predicted: Side) -> Tally:
    """The counts of a metric. Raises `OverlapError`, with the file, if the metric forbids overlapping spans.

    Raises `UsageError` for a discontinuous span if the metric cannot count one.
    """
    if metric.needs.contiguous:
        for side in (gold, predicted):
            refuse_gaps(f"metric {metric.name!r}", side.spans, side.document)
    try:
        return metric.count(gold, predicted)
    except OverlapError as error:
        if error.file is None and gold.document is not None:
            error.file = gold.document.file
        raise


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
