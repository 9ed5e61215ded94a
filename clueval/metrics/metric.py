"""What a metric is, and what it is given.

A metric is a frozen dataclass of its settings (the fields enter the signature). It says what it needs (`Needs`)
and brings its methods. `count` looks at one document and returns a `Tally`, which adds: over documents, in any
order, in any process. `count_agreed` counts spans that stand on both sides alike, where no other span of either
side overlaps them, without building them: most of a good system's output. `scores` turns the sum into the
report, `headlines` names the rates of a report to cite, `tables` shows it, and `check` refuses settings that
name something which never occurred.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from clueval.exceptions import UsageError
from clueval.metrics.counting import Tally, f_measure
from clueval.spans.document import Document
from clueval.spans.span import Frozen, Span

if TYPE_CHECKING:
    from clueval.reports.table import Table

Rates = tuple[float, float, float]
"""Precision, recall, F1."""


@dataclass(frozen=True, slots=True)
class Side:
    """One side of one sequence in one document.

    `spans` are in the order in which the document has them. `counted` says of each whether it is counted
    (None: all are); a span that a filter leaves out still serves the other side as a partner. `document` is
    where the spans come from, and None where a metric is called on bare spans; `tags` are the tags of its
    positions as they are written, if it has any.
    """

    spans: Sequence[Span]
    counted: Sequence[bool] | None = None
    document: Document | None = None
    tags: Sequence[str] | None = None


@dataclass(frozen=True, slots=True)
class Needs:
    """What a metric needs beyond labels and tags.

    Args:
        documents: it looks at features, sentences or texts, so whole documents must be built.
        same_text: both sides must have the same text; False: it takes two different texts as they are.
        every_span: set if it cannot leave spans out of the count; it says what to do instead of a filter.
        within: a layer that frames what is counted and is not scored itself.
    """

    documents: bool = False
    same_text: bool = True
    every_span: str | None = None
    within: str | None = None


class Metric(Protocol):
    """The interface; see the module's docstring. No metric inherits from it."""

    name: ClassVar[str]
    zero: ClassVar[str]
    """What 0/0 is, for the signature."""

    @property
    def needs(self) -> Needs:
        """What it needs, which may depend on its settings."""

    def count(self, gold: Side, predicted: Side) -> Tally:
        """Count one document. Raises `OverlapError` where the metric forbids overlapping spans."""

    def count_agreed(self, labels: Mapping[Frozen, int], positions: int) -> Tally:
        """Count ``labels[l]`` isolated spans labelled ``l`` on both sides, and positions tagged alike."""

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        """The report over everything counted, for a sequence whose spans carry these layers."""

    def headlines(self, report: Mapping[str, Any]) -> Mapping[str, Rates]:
        """The rates of a report that stand for all spans together, by the name to cite them by."""

    def tables(self, title: str, report: Mapping[str, Any]) -> Iterator[Table]:
        """The report as tables; each title begins with `title`."""

    def check(self, total: Tally) -> None:
        """Raise `UsageError` for a setting that names what never occurred in all that was counted."""


def refuse_filter(metric: Metric, sides: Sequence[Side] | None = None) -> None:
    """Raise `UsageError` if a metric that counts all spans or none is to leave some out.

    `sides` are those of a document, of which some may leave spans out; None: a filter is known to do so.
    """
    instead = metric.needs.every_span
    leaving = [side for side in sides or () if side.counted is not None]
    if instead is None or (sides is not None and not leaving):
        return
    document = next((side.document.id for side in leaving if side.document is not None), None)
    raise UsageError(
        f"metric {metric.name!r} cannot leave spans out of the count, as a filter on a layer asks for",
        document=document,
        advice=instead,
    )


def rates_of(entry: Mapping[str, float], ending: str = "") -> Rates:
    """The rates of an entry of a report; F1 is computed where the entry has only other F-betas."""
    precision, recall = entry[f"precision{ending}"], entry[f"recall{ending}"]
    f1 = entry.get(f"f1{ending}")
    return precision, recall, f_measure(precision, recall) if f1 is None else f1
