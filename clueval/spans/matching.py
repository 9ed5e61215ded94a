"""Matches: how spans of one side are matched by spans of the other side.

Recall comes from ``match_spans(gold, predicted)``, precision from ``match_spans(predicted, gold)``; the
classes are those of `clueval.spans.match_classes`.

Source: the CLUEval algorithm, "match.spans".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from clueval.arguments import checked_call
from clueval.core.span import Frozen, Labels, Span
from clueval.spans.flat import Flat
from clueval.spans.making import making_many
from clueval.spans.match_classes import KINDS, MISSED, Classes, Kind, classify, joined_labels
from clueval.spans.span_forms import as_spans

NOTHING = Frozen()


@dataclass(frozen=True, slots=True)
class Match:
    """How one span is matched by the other side; `kind` is the class of the match.

    `partners` are the spans of the other side that match the span, by position: one for exact and superset,
    the adjacent spans for tiling and overlap, none for missed (even if spans overlap it). `labels` holds for
    each layer the label of the partners that has most positions inside the span.
    """

    span: Span
    kind: Kind
    partners: tuple[Span, ...] = ()
    labels: Labels = NOTHING

    @property
    def level(self) -> int | None:
        """The lowest level at which the span is a true positive, or None if it is missed."""
        return None if self.kind == "missed" else KINDS.index(self.kind) + 1


@checked_call
def match_spans(gold: Iterable[Any], predicted: Iterable[Any], *, document: str | None = None) -> list[Match]:
    """Classify every gold span by the predicted spans; one `Match` per gold span, in the given order.

    Spans are given in any form of `clueval.spans.span_forms`, such as ``Span(0, 4, "PER")`` or ``(0, 4, "PER")``.
    Called the other way round it classifies the predicted spans. Labels are not compared: a match has the
    labels that were found. `document` is named in errors. Costs O(n log n), and O(n) for spans that come by
    position.

    Raises `OverlapError` if two spans of one side overlap.

    >>> gold = [Span(0, 4, "PER"), Span(6, 8, "LOC")]
    >>> predicted = [Span(0, 1, "LOC"), Span(1, 4, "PER")]
    >>> [(match.kind, dict(match.labels)) for match in match_spans(gold, predicted)]
    [('tiling', {'label': 'PER'}), ('missed', {})]
    """
    own, other = (
        Flat.of(side if isinstance(side, Flat) else as_spans(side, name), document)
        for side, name in ((gold, "gold"), (predicted, "predicted"))
    )
    with making_many(len(own)):
        matches = list(_matches(own.spans, other.spans, classify(own, other)[0]))
    if isinstance(own.order, range):
        return matches
    given = dict(zip(own.order, matches, strict=True))
    return [given[number] for number in range(len(matches))]


def _matches(own: Sequence[Span], other: Sequence[Span], classes: Classes) -> Iterator[Match]:
    kinds, firsts, pasts = classes
    for number, (span, kind, first) in enumerate(zip(own, kinds, firsts, strict=True)):
        if kind == MISSED:
            yield Match(span, "missed")
        elif number in pasts:
            partners = tuple(other[first : pasts[number]])
            yield Match(span, KINDS[kind], partners, joined_labels(span, partners))
        else:
            partner = other[first]
            yield Match(span, KINDS[kind], (partner,), partner.by_layer)
