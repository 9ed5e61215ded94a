"""Every gold span with the predicted span that it takes, as metric ``noisy`` pairs them, and as rows.

Positions are those of the documents; the end of a span is exclusive, and the column names say so. Texts are
shown unchanged, except for characters that would control a terminal, break out of a cell or begin a formula.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clueval.metrics.metric import Side
from clueval.metrics.noisy import Explanation, Noisy
from clueval.reports.table import Cell, Rate, Table
from clueval.reports.tsv import guarded
from clueval.spans.document import Document
from clueval.spans.span import Span

Explained = Iterable[tuple[str, Explanation]]
"""Explanations, each with the id of its document."""


def explained(gold: Document, predicted: Document, metric: Noisy) -> Iterator[tuple[str, Explanation]]:
    """Yield the document id and the explanation of each gold span of two documents, as `Noisy.explain` gives them."""
    for layer in dict.fromkeys([*gold.layers, *predicted.layers]):
        sides = (Side(document.layers.get(layer, ()), document=document) for document in (gold, predicted))
        for explanation in metric.explain(*sides):
            yield gold.id, explanation


def explanation_table(title: str, explained: Explained) -> Table:
    """Return a table of every gold span with its counterpart, for text or Markdown. Holds all rows."""
    rows: list[list[Cell | Rate]] = []
    for document, one in explained:
        rows.append(
            [
                document,
                one.gold.label,
                _place(one.gold),
                one.gold_text,
                _place(one.predicted),
                one.predicted_text,
                one.opposite,
                one.distance,
                Rate(one.error_rate),
                "yes" if one.matched else "no",
            ]
        )
    header = ["document", "label", "gold [start,end)", "gold text", "predicted [start,end)", "predicted text"]
    return Table(title, [*header, "opposite", "distance", "error rate", "matched"], rows)


def explanation_rows(explained: Explained) -> Iterator[str]:
    """Yield the same rows as lines of TSV without line ends, the header first. The error rate is a fraction."""
    spans = [
        f"{side}_{what}" for side in ("gold", "predicted") for what in ("start", "end_exclusive", "text")
    ]
    yield "\t".join(["document", "label", *spans, "opposite", "distance", "error_rate", "matched"])
    for document, one in explained:
        cells = [
            guarded(document),
            guarded(one.gold.label),
            *_numbers(one.gold),
            guarded(one.gold_text),
            *_numbers(one.predicted),
            guarded(one.predicted_text),
            guarded(one.opposite),
            str(one.distance),
            "" if one.error_rate is None else str(one.error_rate),
            "yes" if one.matched else "no",
        ]
        yield "\t".join(cells)


def _place(span: Span | None) -> str:
    return "" if span is None else f"[{span.start},{span.end})"


def _numbers(span: Span | None) -> list[str]:
    return ["", ""] if span is None else [str(span.start), str(span.end)]
