"""The changes from a reference, usually an older run of the same system, as a part of metric ``gate``'s
report.

The report has the measures of the reference and of the response, the targets that both, one or none got right
(strict, lenient) with McNemar's exact test, the number of changes, and up to `MOST_CHANGES` changes with their
contexts. In a context brackets show which side has marked a piece, as in the error tables: ``[-the span that
changed-]``, ``{+targets+}``, ``[=both=]``. If targets overlap one another only the span itself is marked.

Source: the change indicators and contingency tables of GATE's plugin Evaluation; see
`clueval.metrics.gate.changes`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from clueval.exceptions import OverlapError
from clueval.findings.context import Context
from clueval.findings.table import Finding, error_table
from clueval.findings.text import BRACKETS
from clueval.metrics.counting import Tally
from clueval.metrics.gate import Change, Contingency, Gate, macro_report
from clueval.metrics.metric import Side
from clueval.reading.same_text import require_same_text
from clueval.spans.document import Document
from clueval.spans.span import DEFAULT_LAYER, Span
from clueval.transforms.group import Group

BETTER, WORSE, NEITHER = "+", "-", "+-"

_NAMES = {BETTER: "better", WORSE: "worse", NEITHER: "neither"}

_WINDOW = 60
"""The number of positions shown before and after a changed span in a document without sentences."""


MOST_CHANGES = 100_000
"""The number of changes that a report lists; it counts all. Indicator annotations show all of them, too."""


class AgainstReference:
    """An observer that compares with a reference, `Group.further`; `reference_set` is the name of the
    reference.

    Holds the counts and the first `most` changes, which the report lists; ``changes_left_out`` is the number
    of the others.
    """

    name: ClassVar[str] = "reference"

    def __init__(self, metric: Gate, reference_set: str, most: int = MOST_CHANGES) -> None:
        self._metric = replace(metric, score_feature=None, thresholds=None)
        self._set = reference_set
        self._total = Tally()
        self._tables: dict[str | None, tuple[Contingency, Contingency]] = {}
        self._most = most
        self._signs: Counter[str] = Counter()
        self._changes: list[dict[str, Any]] = []

    def see(self, group: Group) -> None:
        """Count one document. Raises `TextMismatch` if the reference has another text."""
        gold, predicted, (reference,) = group.gold, group.predicted, group.further
        require_same_text(gold, reference)
        own, other, older = (
            Side(document.layers.get(DEFAULT_LAYER, ()), document=document)
            for document in (gold, predicted, reference)
        )
        tally = self._metric.count(own, older)
        self._total.update(tally)
        found, *tables = self._metric.against(own, other, older)
        self._count(None, tables)
        kinds = self._metric.types_of(tally + self._metric.count(own, other))
        for kind in kinds:
            if len(kinds) > 1 or self._metric.containing is not None:
                _, *tables = self._metric.against(own, other, older, kind)
            self._count(kind, tables)
        self._signs.update(change.sign for change in found)
        if listed := found[: self._most - len(self._changes)]:
            targets = self._metric.outcome(own, Side((), document=predicted)).missing  # no responses: all
            self._changes.extend(change_rows(listed, targets, gold, predicted))

    def _count(self, kind: str | None, tables: Sequence[Contingency]) -> None:
        before = self._tables.get(kind, (Contingency(), Contingency()))
        self._tables[kind] = (before[0] + tables[0], before[1] + tables[1])

    def section(self) -> dict[str, Any]:
        """Return the report; see the module's docstring. Without documents all counts are zero."""
        metric, beta = self._metric, self._metric.beta
        per_type = {name: metric.counts(self._total, name) for name in metric.types_of(self._total)}
        empty = (Contingency(), Contingency())
        by_type = {
            str(name): pair for name, pair in sorted(self._tables.items(), key=str) if name is not None
        }
        return {
            "set": self._set,
            "all": metric.counts(self._total).report(beta),
            "per_type": {name: counts.report(beta) for name, counts in per_type.items()},
            "macro": macro_report(per_type.values(), beta),
            "contingency": {
                "all": _report(self._tables.get(None, empty)),
                "per_type": {name: _report(pair) for name, pair in by_type.items()},
                "warning": WARNING,
            },
            "change_counts": {name: self._signs[sign] for sign, name in _NAMES.items()},
            "changes": self._changes,
            "changes_left_out": self._signs.total() - len(self._changes),
        }


WARNING = (
    "McNemar's test takes spans for independent; spans of one document are not, so its p is too small "
    "(clueval compare tests documents)"
)


def _report(tables: tuple[Contingency, Contingency]) -> dict[str, Any]:
    return {"strict": tables[0].report(), "lenient": tables[1].report()}


def change_rows(
    changes: Sequence[Change], targets: Sequence[Span], gold: Document, predicted: Document
) -> Iterator[dict[str, Any]]:
    """Yield every change as plain values: place, type, both groups, the sign, the text, its context.

    `targets` are marked in the context, unless they overlap one another.
    """
    window = None if gold.sentences or predicted.sentences else _WINDOW
    around = replace(gold, layers={DEFAULT_LAYER: targets}, tags={})
    unmarked = replace(gold, layers={DEFAULT_LAYER: ()}, tags={})
    spans = [change.span for change in changes]
    try:
        rows = list(error_table(spans, predicted, around, layer=DEFAULT_LAYER, window=window))
    except OverlapError:
        rows = list(error_table(spans, predicted, unmarked, layer=DEFAULT_LAYER, window=window))
    for change, row in zip(changes, rows, strict=True):
        yield _row(change, row)


def _row(change: Change, row: Finding) -> dict[str, Any]:
    return {
        "document": row.document,
        "id": change.span.id,
        "label": change.span.label,
        "start": change.span.start,
        "end_exclusive": change.span.end,
        "before": change.before,
        "after": change.after,
        "change": change.sign,
        "text": row.text,
        "context": bracketed(row.context),
    }


def bracketed(context: Context) -> str:
    """Return a context in one line of text, with brackets around the marked pieces."""
    pieces = []
    for piece in context.pieces:
        left, right = BRACKETS[piece.mark]
        pieces.append(f"{left}{piece.text}{right}")
    before, after = ("… " if context.cut_before else ""), (" …" if context.cut_after else "")
    return before + context.joiner.join(pieces) + after
