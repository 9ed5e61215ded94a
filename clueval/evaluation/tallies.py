"""The counts of one metric in one pair of sides."""

from __future__ import annotations

from clueval.exceptions import OverlapError, UsageError
from clueval.metrics.compared_counts import count_comparison as count_comparison
from clueval.metrics.counting import Tally
from clueval.metrics.metric import Metric, Side
from clueval.spans.document import Document
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


def positions_of(gold: Document, predicted: Document) -> int:
    """The number of positions of the text; 0 if neither side has its text."""
    for document in (gold, predicted):
        if document.end is not None:
            return document.end - document.start
    return 0
