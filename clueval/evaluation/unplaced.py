"""What is counted of spans without a place: predicted ones in the text of gold, and those that a transform lost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from clueval.core.span import MERGED, SIDES, Span
from clueval.evaluation.inputs import Inputs, add_layer
from clueval.evaluation.plan import Plan
from clueval.evaluation.tallies import Compared, compared, sequenced, sequences_in
from clueval.first.metrics.metric import Metric, Side
from clueval.spans.document import Document
from clueval.spans.filters import Filter
from clueval.transforms.group import Group
from clueval.transforms.locating import without_unplaced


def set_apart(group: Group, inputs: Inputs) -> Group:
    """Return the group with predicted spans that are texts without a place set apart; count these as read."""
    group = without_unplaced(group)
    for layer, spans in group.unplaced.layers.items() if group.unplaced is not None else ():
        add_layer(inputs, SIDES[1], layer, spans=len(spans))
    return group


def unplaced_sides(
    plan: Plan,
    layers: Sequence[str],
    frames: Iterable[str],
    gold: Document,
    predicted: Document,
    unplaced: Document,
) -> Iterator[Compared]:
    """Yield the spans of `unplaced`: together with the others, or alone if a metric needs places.

    Alone they have an empty gold side, whose document has no text; a metric that compares different texts needs an
    empty one.
    """
    for metric in plan.metrics:
        if metric.needs.places:
            text = None if metric.needs.same_text else ""
            nothing = Document(
                gold.id, dict.fromkeys(frames, ()), text=text, unit="character", file=gold.file
            )
            for _, name, _, side in compared(plan, layers, [metric], nothing, unplaced):
                yield metric, name, Side((), document=nothing, sequence=name), side
        else:
            both = (compared(plan, layers, [metric], gold, side) for side in (predicted, unplaced))
            for (_, name, own, side), (*_, others) in zip(*both, strict=True):
                yield metric, name, own, _together(side, others)


def _together(side: Side, others: Side) -> Side:
    counted = None
    if side.counted is not None and others.counted is not None:
        counted = [*side.counted, *others.counted]
    return side._replace(spans=[*side.spans, *others.spans], counted=counted)


def _alone(
    metrics: Sequence[Metric],
    lost: Mapping[str, Sequence[Span]],
    sequences: Iterable[str],
    own: Document,
    frames: Iterable[str] = (),
    *,
    of_gold: bool = False,
    where: Filter | None = None,
) -> Iterator[Compared]:
    """Yield each lost span of `own` alone; the other side has no spans, in the layers `frames`, too."""
    nothing = Document(own.id, dict.fromkeys(frames, ()), file=own.file)
    for sequence in sequences:
        for span in lost.get(sequence, ()):
            side, other = (
                Side([span], where.counted([span], own) if where else None, own),
                Side((), document=nothing),
            )
            for metric in metrics:
                if metric.needs.whole is None:
                    yield metric, sequence, *((side, other) if of_gold else (other, side))


def lost_sides(plan: Plan, layers: Sequence[str], group: Group) -> Iterator[Compared]:
    """Yield the spans of gold and predicted that a transform could not place, each alone."""
    own = Document(group.gold.id, {}, unit="character", file=group.gold.file)
    where = plan.where.on_layers(layers)
    for number, lost in enumerate(group.lost):
        by_sequence = {MERGED: list(chain(*lost.values()))} if plan.merge else lost
        yield from _alone(plan.metrics, by_sequence, by_sequence, own, of_gold=number == 0, where=where)


def projected_sides(
    plan: Plan,
    layers: Sequence[str],
    frames: Iterable[str],
    metrics: Sequence[Metric],
    gold: Document,
    predicted: Document,
) -> tuple[Iterator[Compared], Sequence[Span]]:
    """Return what metrics count with the predicted spans projected onto the gold text, and those without a place."""
    from clueval.transforms.projection import project

    assert plan.align is not None
    both = sequenced(plan, layers, gold, predicted)
    projection = project(*both, max_cells=plan.align, limit="Counting.align")
    found = compared(plan, layers, metrics, gold, predicted, projection.document)
    alone = _alone(metrics, projection.lost, sequences_in(plan, layers), predicted, frames)
    return chain(found, alone), projection.unprojected
