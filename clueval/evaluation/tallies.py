"""The counts of one metric in one pair of sides."""

from __future__ import annotations

from clueval.exceptions import LimitError, OverlapError
from clueval.metrics.counting import Tally
from clueval.metrics.gaps import refuse_gaps
from clueval.metrics.metric import Metric, Side
from clueval.spans.document import Document
from clueval.spans.flat import name_file


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
