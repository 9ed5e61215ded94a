"""The headline of the metric `levels`, computed from its tally without the rest of its report."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from clueval.metrics.counting import Counts, Tally
from clueval.spans.compared import SIDES
from clueval.spans.match_classes import KINDS, classes_of


def headline(total: Tally, layers: Sequence[str]) -> dict[str, Any]:
    """Return the part of the report that counts all labels together at level 1."""
    found: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for key, n in total.items():
        if key[0] == "label":
            _, side, layer, _, kind, agrees = key
            numbers, place = found[layer], SIDES.index(side)
            numbers[place] += n
            if agrees and kind == KINDS[0]:
                numbers[place + 2] += n
    return {
        "unlabelled": {"1": unlabelled(classes_in(total), 1).report()},
        "labelled": {layer: {"1": {"micro": Counts(*found[layer]).report()}} for layer in layers},
    }


def classes_in(total: Tally) -> dict[str, dict[str, int]]:
    """Return the number of spans of each side by class."""
    return {
        side: {name: total["class", side, kind] for name, kind in zip(classes_of(side), KINDS, strict=True)}
        for side in SIDES
    }


def unlabelled(classes: Mapping[str, Mapping[str, int]], level: int) -> Counts:
    """Return the counts at a level, whatever the labels."""
    gold, predicted = (classes[side] for side in SIDES)
    return Counts(
        sum(gold.values()),
        sum(predicted.values()),
        sum(gold[kind] for kind in KINDS[:level]),
        sum(predicted[kind] for kind in KINDS[:level]),
    )
