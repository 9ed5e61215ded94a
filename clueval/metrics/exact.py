"""Metric `exact`: a span is right if the other side has one with the same start, end and label.

The figures are those of conlleval and of seqeval's default mode: equal spans of one side count once,
macro and weighted are means over the labels of both sides, f1 of an average is the average of the f1s.
`token_accuracy` is the share of positions whose tags are equal on both sides, as they are written; where the
spans do not come from tags, as BIO would write the spans; 0 where the text is not there.

Sources: Tjong Kim Sang and De Meulder 2003 (conlleval); seqeval 1.2.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from clueval.counting import Counts, Tally, macro, micro, rate, weighted
from clueval.metric import Side
from clueval.spans import Frozen, Span


@dataclass(frozen=True, slots=True)
class Exact:
    """The metric; it has no settings.

    Its tally has the keys ``(what, label)`` with what one of gold, predicted, tp_gold, tp_predicted, and
    ``("positions", "all" or "equal")``.
    """

    name: ClassVar[str] = "exact"

    def count(self, gold: Side, predicted: Side) -> Tally:
        tally = _positions(gold, predicted)
        wanted, found = ({_key(span) for span in side.spans} for side in (gold, predicted))
        for side, spans, others in (("gold", gold, found), ("predicted", predicted, wanted)):
            for key in _counted(spans):
                tally[side, key[2]] += 1
                tally[f"tp_{side}", key[2]] += key in others
        return tally

    def count_agreed(self, labels: Mapping[Frozen, int], positions: int) -> Tally:
        tally: Tally = Tally({("positions", "all"): positions, ("positions", "equal"): positions})
        for spans, n in labels.items():
            for what in ("gold", "predicted", "tp_gold", "tp_predicted"):
                tally[what, Span(0, 1, spans).label] += n
        return tally

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        labels = sorted({key[1] for key in total if key[0] in ("gold", "predicted")})
        per_label = {
            label: Counts(
                total["gold", label],
                total["predicted", label],
                total["tp_gold", label],
                total["tp_predicted", label],
            )
            for label in labels
        }
        return {
            "micro": micro(per_label),
            "macro": macro(per_label),
            "weighted": weighted(per_label),
            "per_label": {label: counts.report() for label, counts in per_label.items()},
            "token_accuracy": rate(total["positions", "equal"], total["positions", "all"]),
        }


def _key(span: Span) -> tuple[int, int, str]:
    return span.start, span.end, span.label


def _counted(side: Side) -> set[tuple[int, int, str]]:
    if side.counted is None:
        return {_key(span) for span in side.spans}
    return {_key(span) for span, count in zip(side.spans, side.counted, strict=True) if count}


def _positions(gold: Side, predicted: Side) -> Tally:
    """How many positions the document has and how many are tagged alike."""
    if gold.document is not None and gold.document.end is None and gold.tags is None:
        return Tally()  # spans without their text: nobody knows how many positions there are
    if gold.tags is not None and predicted.tags is not None:
        equal = sum(one == other for one, other in zip(gold.tags, predicted.tags, strict=True))
        return Tally({("positions", "all"): len(gold.tags), ("positions", "equal"): equal})
    tagged = [_tags(side) for side in (gold, predicted)]
    length = _length(gold, predicted)
    touched = tagged[0].keys() | tagged[1].keys()
    differ = sum(tagged[0].get(position) != tagged[1].get(position) for position in touched)
    return Tally({("positions", "all"): length, ("positions", "equal"): length - differ})


def _tags(side: Side) -> dict[int, tuple[str, bool]]:
    """What BIO would write at each position inside a span: its label, and whether the span begins there."""
    return {
        position: (span.label, position == span.start)
        for span in side.spans
        for position in range(span.start, span.end)
    }


def _length(*sides: Side) -> int:
    """The number of positions of the document; without its text, those that a span of either side covers."""
    for side in sides:
        if side.document is not None and side.document.end is not None:
            return side.document.end - side.document.start
    covered: Iterable[int] = set().union(*(_tags(side) for side in sides))
    return len(set(covered))
