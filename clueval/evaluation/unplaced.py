"""Counts spans without a place: predicted ones in the text of gold, and those that a transform could not place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Protocol

from clueval.evaluation.tallies import sequenced, sequences_in
from clueval.evaluation.totals import Totals, Unprojected
from clueval.metrics.metric import Metric, Side
from clueval.spans.document import Document
from clueval.spans.filters import Filter
from clueval.spans.span import MERGED, Span
from clueval.transforms.characters import to_characters
from clueval.transforms.group import Group

if TYPE_CHECKING:
    from clueval.evaluation.plan import Plan


Sides = tuple[str, Side, Side]
"""A sequence, and its gold and its predicted side."""


class CountsSides(Protocol):
    """What counting needs of an evaluation."""

    plan: Plan
    layers: list[str]
    unprojected: list[Unprojected]

    @property
    def frames(self) -> Mapping[str, int]: ...

    def sides(
        self, gold: Document, predicted: Document, projected: Document | None = None, /
    ) -> Iterator[tuple[str, Side, Side]]: ...

    def receivers(
        self, document: str, metadata: Mapping[str, str], documents: int, tokens: int, /
    ) -> list[Totals]: ...

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
    unplaced: Document,
    receivers: Sequence[Totals],
    *,
    listed: bool = True,
) -> None:
    """List the spans if `listed`, and count them: together with the others, or alone if a metric needs places.

    Alone they have an empty gold side, whose document has no text; a metric that compares different texts needs an
    empty one.
    """
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


def _alone(
    lost: Mapping[str, Sequence[Span]],
    sequences: Iterable[str],
    own: Document,
    frames: Iterable[str] = (),
    *,
    of_gold: bool = False,
    where: Filter | None = None,
) -> Iterator[Sides]:
    """Yield the sides for each lost span of `own`; the other side has no spans, in the layers `frames`, too."""
    nothing = Document(own.id, dict.fromkeys(frames, ()), file=own.file)
    for sequence in sequences:
        for span in lost.get(sequence, ()):
            counted = where.counted([span], own) if where else None
            sides = Side([span], counted, own), Side((), document=nothing)
            yield sequence, *(sides if of_gold else sides[::-1])


def count_lost(evaluation: CountsSides, group: Group, gold: Document) -> None:
    """Count the spans of gold and predicted that a transform could not place, each alone."""
    plan, own = evaluation.plan, Document(group.gold.id, {}, unit="character", file=group.gold.file)
    where = plan.where.on_layers(evaluation.layers)
    for number, lost in enumerate(group.lost):
        spans = list(chain(*lost.values()))
        if spans:
            by_sequence = {MERGED: spans} if plan.merge else lost
            sides = _alone(by_sequence, list(by_sequence), own, of_gold=number == 0, where=where)
            evaluation.count_in(sides, plan.metrics, evaluation.receivers(gold.id, gold.metadata, 0, 0))
            evaluation.unprojected += [Unprojected(gold.id, span) for span in spans]


def count_projected(
    evaluation: CountsSides,
    gold: Document,
    predicted: Document,
    metrics: Sequence[Metric],
    receivers: Sequence[Totals],
) -> None:
    """Count with the predicted spans projected onto the gold text."""
    from clueval.transforms.projection import project

    plan = evaluation.plan
    assert plan.align is not None
    both = sequenced(plan, evaluation.layers, gold, predicted)
    projection = project(*both, max_cells=plan.align, limit="Counting.align")
    evaluation.count_in(evaluation.sides(gold, predicted, projection.document), metrics, receivers)
    evaluation.count_whole(gold, projection.document, metrics, receivers)
    evaluation.unprojected += [Unprojected(gold.id, span) for span in projection.unprojected]
    sequences = sequences_in(plan, evaluation.layers)
    evaluation.count_in(_alone(projection.lost, sequences, predicted, evaluation.frames), metrics, receivers)
