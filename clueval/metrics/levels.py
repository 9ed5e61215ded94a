"""Metric `levels`: CLUEval's recall and precision at four levels of leniency.

Every span of either side has one of five classes (see `clueval.matching`). At level n, the spans of classes 1
to n are true positives: recall is their share among the gold spans, precision their share among the predicted
spans, each with its own support. *Labelled* in a layer means that the joined label of the match must equal
the span's own label; spans without a label in the layer are not counted there. Per-label recall is over gold
spans with that label, per-label precision over predicted spans with it.

Source: the CLUEval algorithm.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from clueval.counting import Counts, Tally, macro, micro
from clueval.matching import KINDS, LEVELS, Kind, count_matches
from clueval.metric import Side
from clueval.spans import Frozen

SIDES = ("gold", "predicted")


@dataclass(frozen=True, slots=True)
class Levels:
    """The metric; it has no settings.

    Its tally has the keys ``("class", side, kind)`` and ``("label", side, layer, label, kind, agrees)``.
    """

    name: ClassVar[str] = "levels"

    def count(self, gold: Side, predicted: Side) -> Tally:
        tally: Tally = Tally()
        for side, numbers, found in count_matches(gold, predicted):
            for kind, number in numbers.items():
                tally["class", side, kind] += number
            for layer, label, kind, other, number in found:
                tally["label", side, layer, label, kind, other == label] += number
        return tally

    def count_agreed(self, labels: Mapping[Frozen, int], positions: int) -> Tally:
        tally: Tally = Tally()
        for spans, n in labels.items():
            for side in SIDES:
                tally["class", side, "exact"] += n
                for layer, label in spans.items():
                    if label is not None:
                        tally["label", side, layer, label, "exact", True] += n
        return tally

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        classes = {side: {kind: total["class", side, kind] for kind in KINDS} for side in SIDES}
        return {
            "classes": classes,
            "unlabelled": {str(level): _unlabelled(classes, level).report() for level in LEVELS},
            "labelled": {layer: _labelled(total, layer) for layer in layers},
        }


def _unlabelled(classes: Mapping[str, Mapping[Kind, int]], level: int) -> Counts:
    gold, predicted = (classes[side] for side in SIDES)
    return Counts(
        sum(gold.values()),
        sum(predicted.values()),
        sum(gold[kind] for kind in KINDS[:level]),
        sum(predicted[kind] for kind in KINDS[:level]),
    )


def _labelled(total: Tally, layer: str) -> dict[str, Any]:
    """The labelled report of one layer at every level."""
    supports: defaultdict[tuple[str, str], int] = defaultdict(int)
    true_positives: defaultdict[tuple[str, str, int], int] = defaultdict(int)
    for key, n in total.items():
        if key[0] == "label" and key[2] == layer:
            _, side, _, label, kind, agrees = key
            supports[side, label] += n
            if agrees and kind in KINDS[:-1]:
                true_positives[side, label, KINDS.index(kind) + 1] += n
    names = sorted({label for _, label in supports})
    report = {}
    for level in LEVELS:
        per_label = {
            label: Counts(
                supports["gold", label],
                supports["predicted", label],
                sum(true_positives["gold", label, lower] for lower in LEVELS[:level]),
                sum(true_positives["predicted", label, lower] for lower in LEVELS[:level]),
            )
            for label in names
        }
        report[str(level)] = {
            "micro": micro(per_label),
            "macro": macro(per_label),
            "per_label": {label: counts.report() for label, counts in per_label.items()},
        }
    return report
