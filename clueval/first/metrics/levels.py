"""Metric `levels`: CLUEval's recall and precision at four levels of leniency.

Every span of each side has one of five classes (see `clueval.spans.match_classes`). At level n, the spans
of classes 1 to n are true positives: recall is their share of the gold spans, precision their share of
the predicted spans, each with its own support. *Labelled* in a layer means that the joined label of the match
must also equal the span's own label; spans without a label in the layer are not counted there. Per-label
recall is computed over gold spans with that label, per-label precision over predicted spans with it.

Source: the CLUEval algorithm.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, ClassVar

from clueval.core.span import SIDES
from clueval.first.metrics.counting import Counts, Tally, averages_of
from clueval.first.metrics.match_counts import count_matches
from clueval.first.metrics.metric import Metric, Needs, Rates, Side, rates_of
from clueval.first.metrics.rates import LAYER, DeclaredRates, Shape, averages, prf_entry
from clueval.spans.match_classes import KINDS, LEVELS, classes_of

if TYPE_CHECKING:
    from clueval.reports.table import Table


_Numbers = tuple[list[int], list[int]]
"""For a label, of gold and of predicted: the number of spans, and of true positives at levels 1 to 4."""


@dataclass(frozen=True, slots=True)
class Levels(Metric):
    """The metric; it has no settings.

    Its tally has the keys ``("class", side, kind)`` and ``("label", side, layer, label, kind, agrees)``.
    """

    name: ClassVar[str] = "levels"
    zero: ClassVar[str] = "0"
    tally_keys: ClassVar[tuple[Shape, ...]] = (
        (("class",), SIDES, KINDS),
        (("label",), SIDES, LAYER, str, KINDS, bool),
    )

    def count(self, gold: Side, predicted: Side) -> Tally:
        tally: dict[tuple[Any, ...], int] = {}
        for side, numbers, found in count_matches(gold, predicted):
            for kind, number in numbers.items():
                tally["class", side, kind] = number
            for layer, label, kind, other, number in found:
                key = "label", side, layer, label, kind, other == label
                tally[key] = tally.get(key, 0) + number
        return Tally(tally)

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        classes = _classes_in(total)
        by_layer = _by_layer(total)
        return {
            "classes": classes,
            "unlabelled": {str(level): counts.report() for level, counts in _unlabelled(classes).items()},
            "labelled": {layer: _labelled(by_layer.get(layer, {})) for layer in layers},
        }

    @property
    def needs(self) -> Needs:
        """Return that labels and tags are enough, of spans without gaps."""
        return Needs(contiguous=True, headline=_headline, rates=_rates)

    def headlines(self, report: Mapping[str, Any]) -> dict[str, Rates]:
        entries = {f"levels_{level}_unlabelled": prf for level, prf in report["unlabelled"].items()}
        for layer, levels in report["labelled"].items():
            ending = "" if len(report["labelled"]) == 1 else f"_{layer}"
            entries |= {f"levels_{level}_labelled{ending}": of["micro"] for level, of in levels.items()}
        return {name: rates_of(entry) for name, entry in entries.items()}

    def tables(self, title: str, report: Mapping[str, Any]) -> Iterator[Table]:
        from clueval.first.metrics.tables import levels

        return levels(title, report)


def _by_layer(total: Tally) -> dict[str, dict[str, _Numbers]]:
    """Return the labelled counts of a tally by layer and label; needs one pass for any number of labels."""
    layers: defaultdict[str, dict[str, _Numbers]] = defaultdict(dict)
    for key, n in total.items():
        if key[0] == "label":
            _, side, layer, label, kind, agrees = key
            sides = layers[layer].setdefault(label, ([0] * len(KINDS), [0] * len(KINDS)))
            numbers = sides[SIDES.index(side)]
            numbers[0] += n
            if agrees and kind != KINDS[-1]:  # a span of class n is a true positive from level n on
                numbers[KINDS.index(kind) + 1] += n
    for labels in layers.values():
        for numbers in chain.from_iterable(labels.values()):
            numbers[1:] = accumulate(numbers[1:])
    return layers


def _labelled(labels: Mapping[str, _Numbers]) -> dict[str, Any]:
    """Return the labelled report of one layer at every level."""
    rows = sorted(labels.items())
    report = {}
    for level in LEVELS:
        per_label = {
            label: Counts(gold[0], predicted[0], gold[level], predicted[level])
            for label, (gold, predicted) in rows
        }
        report[str(level)] = averages_of(per_label, is_weighted=False)
    return report


def _headline(total: Tally, layers: Sequence[str]) -> dict[str, Any]:
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
        "unlabelled": {"1": _unlabelled(_classes_in(total))[1].report()},
        "labelled": {layer: {"1": {"micro": Counts(*found[layer]).report()}} for layer in layers},
    }


def _classes_in(total: Tally) -> dict[str, dict[str, int]]:
    """Return the number of spans of each side by class."""
    return {
        side: {
            name: total.get(("class", side, kind), 0)
            for name, kind in zip(classes_of(side), KINDS, strict=True)
        }
        for side in SIDES
    }


def _unlabelled(classes: Mapping[str, Mapping[str, int]]) -> dict[int, Counts]:
    """Return the counts at each level, whatever the labels."""
    gold, predicted = (list(accumulate(classes[side].values())) for side in SIDES)
    return {level: Counts(gold[-1], predicted[-1], gold[level - 1], predicted[level - 1]) for level in LEVELS}


def _rates(keys: Collection[tuple[Any, ...]], layers: Sequence[str]) -> Iterator[DeclaredRates]:
    every = [[("class", side, kind) for kind in KINDS] for side in SIDES]
    for level in LEVELS:
        yield prf_entry(("unlabelled", str(level)), [*every, *(own[:level] for own in every)])
    for layer in layers:
        labelled = [sorted(key for key in keys if key[:3] == ("label", side, layer)) for side in SIDES]
        for level in LEVELS:
            right = [[key for key in own if key[5] and key[4] in KINDS[:level]] for own in labelled]
            yield from averages([*labelled, *right], 3, ("labelled", layer, str(level)), is_weighted=False)
