"""FairEval's errors as findings: each with its type, its spans, and the text around them."""

from __future__ import annotations

from collections.abc import Iterator

from clueval.findings.places import in_text_order
from clueval.findings.table import ErrorRows, Finding
from clueval.first.metrics.fair import Fair
from clueval.first.metrics.metric import Side
from clueval.spans.document import Document

FAIR_KINDS = ("LE", "BES", "BEL", "BEO", "LBE", "FN", "FP")
"""The types of errors, which take the place of the class in these findings."""

ONE_SIDED = {"LE": "gold", "FN": "gold", "FP": "predicted"}
"""Types whose errors are all listed on one side."""


def fair_findings(
    gold: Document, predicted: Document, metric: Fair | None = None, *, window: int | None = None
) -> Iterator[Finding]:
    """Yield the errors that metric `fair` counts in two documents of the same text, in text order.

    A row has the gold span of an error and the predicted span that it is paired with; the row of a false
    positive has only the predicted span. `Finding.kind` is the type of the error. The number of rows of a
    type is the number that the metric counts.

    >>> from clueval.core.span import Span
    >>> own = Document("d", {"label": [Span(0, 3, "PER")]}, tokens=["Frau", "Anna", "Weiß"])
    >>> other = Document("d", {"label": [Span(1, 3, "PER")]}, tokens=own.tokens)
    >>> [(row.kind, row.text, row.other_texts) for row in fair_findings(own, other)]
    [('BES', 'Frau Anna Weiß', ('Anna Weiß',))]
    """
    yield from in_text_order(_by_layer(gold, predicted, metric or Fair(), window))


def _by_layer(gold: Document, predicted: Document, metric: Fair, window: int | None) -> Iterator[Finding]:
    rows = {
        "gold": ErrorRows(gold, predicted, "gold", window),
        "predicted": ErrorRows(predicted, gold, "predicted", window),
    }
    for layer in dict.fromkeys([*gold.layers, *predicted.layers]):
        sides = (Side(document.layers.get(layer, ()), document=document) for document in (gold, predicted))
        for error in metric.findings(*sides):
            side, span, partner = "gold", error.gold, error.predicted  # a false positive has no gold span
            if span is None:
                side, span, partner = "predicted", error.predicted, None
            assert span is not None  # an error has a span
            judged = rows[side].judged(span, [] if partner is None else [partner])
            yield rows[side].row(span, layer, judged._replace(kind=error.kind))
