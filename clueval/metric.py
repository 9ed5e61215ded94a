"""What a metric is, and what it is given.

A metric is a frozen dataclass of its settings (the fields enter the signature) with three methods. `count`
looks at one document and returns a `Tally`, which adds: over documents, in any order, in any process.
`count_agreed` counts spans that stand on both sides alike, where no other span of either side overlaps them,
without building them: most of a good system's output. `scores` turns the sum into the report.

A metric whose counts do not divide, so that it cannot leave spans out, says in a field of the class,
`instead_of_filter`, what to do instead of filtering them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from clueval.counting import Tally
from clueval.exceptions import UsageError
from clueval.spans import Document, Frozen, Span


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


class Metric(Protocol):
    """The interface; see the module's docstring. No metric inherits from it."""

    name: ClassVar[str]

    def count(self, gold: Side, predicted: Side) -> Tally:
        """Count one document. Raises `OverlapError` where the metric forbids overlapping spans."""

    def count_agreed(self, labels: Mapping[Frozen, int], positions: int) -> Tally:
        """Count ``labels[l]`` isolated spans labelled ``l`` on both sides, and positions tagged alike."""

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        """The report over everything counted, for a sequence whose spans carry these layers."""


def refuse_filter(metric: Metric, sides: Sequence[Side] | None = None) -> None:
    """Raise `UsageError` if a metric that counts all spans or none is to leave some out.

    `sides` are those of a document, of which some may leave spans out; None: a filter is known to do so.
    """
    instead: str | None = getattr(metric, "instead_of_filter", None)
    leaving = [side for side in sides or () if side.counted is not None]
    if instead is None or (sides is not None and not leaving):
        return
    document = next((side.document.id for side in leaving if side.document is not None), None)
    raise UsageError(
        f"metric {metric.name!r} cannot leave spans out of the count, as a filter on a layer asks for",
        document=document,
        advice=instead,
    )
