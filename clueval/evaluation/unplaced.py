"""Counts predicted spans without a place in the text of gold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from clueval.evaluation.unprojected import Unprojected
from clueval.metrics.metric import Metric, Side
from clueval.spans.document import Document
from clueval.transforms.characters import to_characters

if TYPE_CHECKING:
    from clueval.evaluation.plan import Plan
    from clueval.evaluation.totals import Totals


class CountsSides(Protocol):
    """What counting needs of an evaluation."""

    plan: Plan
    unprojected: list[Unprojected]

    @property
    def frames(self) -> Mapping[str, int]: ...

    def sides(self, gold: Document, predicted: Document, /) -> Iterator[tuple[str, Side, Side]]: ...

    def count_in(
        self,
        sides: Iterable[tuple[str, Side, Side]],
        metrics: Sequence[Metric],
        receivers: Sequence[Totals],
        /,
    ) -> None: ...

    def count_whole(
        self,
        gold: Document,
        predicted: Document,
        metrics: Sequence[Metric],
        receivers: Sequence[Totals],
        /,
    ) -> None: ...


def count_unplaced(
    evaluation: CountsSides,
    gold: Document,
    predicted: Document,
    unplaced: Document | None,
    receivers: Sequence[Totals],
    *,
    listed: bool = True,
) -> None:
    """List the spans if `listed`, and count them: together with the others, or alone if a metric needs places.

    Alone they have an empty gold side, whose document has no text; a metric that compares different texts needs an
    empty one.
    """
    if unplaced is None:
        return
    if evaluation.plan.unit == "character":
        unplaced = to_characters(unplaced)
    if listed:
        found = (span for spans in unplaced.layers.values() for span in spans)
        evaluation.unprojected += [Unprojected(gold.id, span) for span in found]
    for metric in evaluation.plan.metrics:
        if metric.needs.places:
            text = None if metric.needs.same_text else ""
            nothing = Document(
                gold.id, dict.fromkeys(evaluation.frames, ()), text=text, unit="character", file=gold.file
            )
            sides = [
                (name, Side((), document=nothing, sequence=name), side)
                for name, _, side in evaluation.sides(nothing, unplaced)
            ]
            evaluation.count_in(sides, [metric], receivers)
            evaluation.count_whole(nothing, unplaced, [metric], receivers)
        else:
            pairs = zip(evaluation.sides(gold, predicted), evaluation.sides(gold, unplaced), strict=True)
            together = [(name, own, _together(side, others)) for (name, own, side), (_, _, others) in pairs]
            evaluation.count_in(together, [metric], receivers)


def _together(side: Side, others: Side) -> Side:
    counted = None
    if side.counted is not None and others.counted is not None:
        counted = [*side.counted, *others.counted]
    return side._replace(spans=[*side.spans, *others.spans], counted=counted)
