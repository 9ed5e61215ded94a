"""The five match classes of CLUEval.

Each span of one side is classified by how the spans of the other side lie over it::

    the span         |==========|
    other side       |----------|        1 exact
                  |-------------|        2 superset: one span covers it
                     |---||-----|        3 tiling: adjacent spans cover it exactly
                   |--------||----|      4 overlap: adjacent spans cover it and stick out
                     everything else     5 missed

Recall comes from ``match_spans(gold, predicted)``, precision from ``match_spans(predicted, gold)``. *Level n*
counts the classes 1 to n as true positives. Exact matches are taken out of both sides first. Spans of one side
must not overlap one another. A span of zero length is matched exactly, or covered from both sides.

Source: the CLUEval algorithm, "match.spans".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, get_args

from clueval.index import SpanIndex, by_position, in_order_and_flat
from clueval.spans import Frozen, Span

Kind = Literal["exact", "superset", "tiling", "overlap", "missed"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""The classes in the order of their levels; `missed` is no match at any level."""

LEVELS = (1, 2, 3, 4)


@dataclass(frozen=True, slots=True)
class Match:
    """How one span was found by the other side.

    `partners` are the spans of the other side that make the class, by position: one for exact and superset,
    the adjacent spans for tiling and overlap, none for missed (even if something overlaps the span). `labels`
    are the labels of the partners joined: in each layer the label with most positions inside the span.
    """

    span: Span
    kind: Kind
    partners: tuple[Span, ...] = ()
    labels: Mapping[str, str | None] = Frozen()

    @property
    def level(self) -> int | None:
        """The lowest level at which this is a true positive, or None if it is missed."""
        return None if self.kind == "missed" else KINDS.index(self.kind) + 1


def match_spans(
    gold: Iterable[Span], predicted: Iterable[Span], *, document: str | None = None
) -> list[Match]:
    """Classify every gold span by the predicted spans; one `Match` per gold span, in the given order.

    Called the other way round it classifies the predicted spans. Labels are not compared: a match has the
    labels that were found. `document` is named in errors. Costs O((n + m) log m).

    Raises `OverlapError` if two spans of one side overlap.

    >>> gold = [Span(0, 4, "PER"), Span(6, 8, "LOC")]
    >>> predicted = [Span(0, 1, "LOC"), Span(1, 4, "PER")]
    >>> [(match.kind, dict(match.labels)) for match in match_spans(gold, predicted)]
    [('tiling', {'label': 'PER'}), ('missed', {})]
    """
    gold = list(gold)
    in_order_and_flat(gold, document)
    others = {by_position(span): span for span in in_order_and_flat(predicted, document)}
    partners = [others.pop(by_position(span), None) for span in gold]
    index = SpanIndex(others.values()) if others and None in partners else None
    return [
        Match(span, "exact", (partner,), partner.by_layer)
        if partner is not None
        else Match(span, "missed")
        if index is None
        else _classify(span, index.overlapping(span))
        for span, partner in zip(gold, partners, strict=True)
    ]


def _classify(span: Span, overlapping: Sequence[Span]) -> Match:
    """The match of a span that has no exact partner, given all that overlaps it, by position."""
    if not overlapping or any(one.end != following.start for one, following in pairwise(overlapping)):
        return Match(span, "missed")
    start, end = overlapping[0].start, overlapping[-1].end
    if start > span.start or end < span.end:
        return Match(span, "missed")
    kind: Kind = "tiling" if (start, end) == (span.start, span.end) else "overlap"
    if len(overlapping) == 1:
        kind = "superset"
    return Match(span, kind, tuple(overlapping), joined_labels(span, overlapping))


def joined_labels(span: Span, partners: Sequence[Span]) -> Frozen:
    """In each layer the label of the partners with most positions inside `span`; ties go to the earliest.

    `partners` come by position. A partner without a label in a layer has no say in it; a layer in which no
    partner has one is None.

    >>> joined_labels(Span(2, 8), [Span(0, 4, "A"), Span(4, 6, "B"), Span(6, 9, "B")])
    {'label': 'B'}
    """
    if len({partner.labels for partner in partners}) == 1:
        return Frozen(partners[0].by_layer)
    positions: dict[str, dict[str, int]] = {}
    for partner in partners:
        inside = min(partner.end, span.end) - max(partner.start, span.start)
        for layer, label in partner.by_layer.items():
            of_layer = positions.setdefault(layer, {})
            if label is not None:
                of_layer[label] = of_layer.get(label, 0) + inside
    return Frozen({layer: _most(of_layer) for layer, of_layer in positions.items()})


def _most(positions: Mapping[str, int]) -> str | None:
    """The label with most positions; of equals the first, and labels were entered by position."""
    return max(positions, key=positions.__getitem__, default=None)
