"""Spans that have no place in the common positions of a group: each is counted alone, against an empty side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from clueval.evaluation.plan import Plan
from clueval.metrics.metric import Side
from clueval.spans.document import Document
from clueval.spans.filters import Filter
from clueval.spans.span import MERGED, Span
from clueval.transforms.group import Group

Sides = tuple[str, Side, Side]
"""A sequence, and its gold and its predicted side."""


def alone(
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


def lost_sides(
    group: Group, plan: Plan, layers: Sequence[str]
) -> Iterator[tuple[Iterator[Sides], list[Span]]]:
    """Yield the sides for the spans of gold and predicted that a transform could not place, and these spans."""
    own = Document(group.gold.id, {}, unit="character", file=group.gold.file)
    where = plan.where.on_layers(layers)
    for number, lost in enumerate(group.lost):
        spans = list(chain(*lost.values()))
        if spans:
            by_sequence = {MERGED: spans} if plan.merge else lost
            yield alone(by_sequence, list(by_sequence), own, of_gold=number == 0, where=where), spans
