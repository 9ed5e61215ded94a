"""Metric `levels`: CLUEval's recall and precision at four levels of leniency.

Each span of one side is classified by the spans of the other side that overlap it::

    the span         |==========|
    other side       |----------|        1 exact
                  |-------------|        2 superset: one span covers it
                     |---||-----|        3 tiling: adjacent spans cover it exactly
                   |--------||----|      4 overlap: adjacent spans cover it and extend beyond it
                     everything else     5 missed

A span that has an equal is matched by it alone. Spans of one side must not overlap one another. A span of zero length
is matched exactly, or covered by a span that begins before it and ends after it.

At level n, the spans of classes 1 to n are true positives: recall is their share of the gold spans, precision their
share of the predicted spans, each with its own support. *Labelled* in a layer means that the joined label of the match
must also equal the span's own label; spans without a label in the layer are not counted there. Per-label recall is
computed over gold spans with that label, per-label precision over predicted spans with it.

Source: the CLUEval algorithm, "match.spans".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, compress
from operator import itemgetter
from types import MappingProxyType
from typing import Any, ClassVar, Literal, get_args

from clueval.core.case import Case
from clueval.core.metric import Counts, Metric, Tally, averages_of
from clueval.core.span import NOTHING, SIDES, Frozen, LabelledRow, Labels

Kind = Literal["exact", "superset", "tiling", "overlap", "missed"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""The classes in the order of their levels; `missed` is no match at any level."""

LEVELS = (1, 2, 3, 4)

UNMATCHED = MappingProxyType({"gold": "missed", "predicted": "spurious"})
"""The name of the last class for each side: a gold span is missed, a predicted span is spurious."""


def classes_of(side: str) -> tuple[str, ...]:
    """Return the classes of the spans of `side` (``gold`` or ``predicted``), in the order of their levels."""
    return (*KINDS[:-1], UNMATCHED[side])


def class_of(start: int, end: int, around: Sequence[LabelledRow]) -> tuple[Kind, Labels]:
    """Return the class of a span and the joined labels of its match.

    `around` are the spans of the other side that overlap or equal it, by position.
    """
    reach = None
    is_adjacent = True
    for begin, past, labels in around:
        if begin == start and past == end:
            return "exact", labels
        is_adjacent &= reach is None or begin == reach
        reach = past
    if reach is None or not is_adjacent or around[0][0] > start or reach < end:
        return "missed", NOTHING
    if len(around) == 1:
        return "superset", around[0][2]
    exactly = around[0][0] == start and reach == end
    return "tiling" if exactly else "overlap", joined_labels(start, end, around)


def joined_labels(start: int, end: int, partners: Sequence[LabelledRow]) -> Labels:
    """Return for each layer the label of the partners with most positions from `start` to `end`.

    If several labels have the same number of positions, the earliest one wins. `partners` must come by
    position. A partner without a label in a layer is ignored there; the label is None if no partner has one.

    >>> joined_labels(2, 8, [(0, 4, {"risk": "A"}), (4, 6, {"risk": "B"}), (6, 9, {"risk": "B"})])
    {'risk': 'B'}
    """
    first = partners[0][2]
    for _, _, labels in partners:
        if labels is not first and labels != first:
            break
    else:
        return first
    positions: dict[str, dict[str, int]] = {}
    for begin, past, labels in partners:
        inside = (past if past < end else end) - (begin if begin > start else start)
        for layer, label in labels.items():
            if layer not in positions:
                positions[layer] = {}
            if label is not None:
                of_layer = positions[layer]
                of_layer[label] = of_layer.get(label, 0) + inside
    # the first of equals, so the earliest
    return Frozen(
        {layer: max(counts, key=counts.__getitem__, default=None) for layer, counts in positions.items()}
    )


@dataclass(frozen=True, slots=True)
class Levels(Metric):
    """The metric; it has no settings.

    Its tally has the keys ``("class", side, kind)`` and ``("label", side, layer, label, kind, agrees)``.
    """

    name: ClassVar[str] = "levels"
    flat: ClassVar[bool] = True
    gaps: ClassVar[bool] = False

    def count(self, case: Case) -> Tally:
        tally = Tally()
        for name, labels, kind, joined in classified(case):
            key: tuple[Any, ...] = ("class", name, kind)
            tally[key] = tally.get(key, 0) + 1
            for layer, label in labels.items():
                if label is not None:
                    key = "label", name, layer, label, kind, joined.get(layer) == label
                    tally[key] = tally.get(key, 0) + 1
        return tally

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        numbers = zip(SIDES, _numbers_by_class(total), strict=True)
        return {
            "classes": {side: dict(zip(classes_of(side), of_side, strict=True)) for side, of_side in numbers},
            "unlabelled": {str(level): counts.report() for level, counts in _counts_by_level(total).items()},
            "labelled": {
                layer: _averages_by_level(labels) for layer, labels in _counts_by_label(total, layers).items()
            },
        }

    def headline_report(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        """Return the part of the report that has all labels together at level 1; an eighth of the time of `scores`."""
        by_layer: dict[str, list[int]] = {}
        for key, number in total.items():
            if key[0] == "label":
                _, side, layer, _, kind, agrees = key
                counts, place = by_layer.setdefault(layer, [0, 0, 0, 0]), SIDES.index(side)
                counts[place] += number
                if agrees and kind == KINDS[0]:
                    counts[place + 2] += number
        return {
            "unlabelled": {"1": _counts_by_level(total)[1].report()},
            "labelled": {
                layer: {"1": {"micro": Counts(*by_layer.get(layer, ())).report()}} for layer in layers
            },
        }

    def headlines(self, total: Tally, layers: Sequence[str]) -> Mapping[str, Counts]:
        labelled = {
            f"labelled.{layer}.{level}.micro": Counts.total(by_level[level] for by_level in labels.values())
            for layer, labels in _counts_by_label(total, layers).items()
            for level in LEVELS
        }
        return {
            **labelled,
            **{f"unlabelled.{level}": counts for level, counts in _counts_by_level(total).items()},
        }


def classified(case: Case) -> Iterator[tuple[str, Labels, Kind, Labels]]:
    """Yield the side of each span that counts, its labels, its class, and the joined labels of its match.

    Spans of one side must not overlap. Costs O(n) for n spans that come by position.
    """
    sides = case.labelled_rows()
    by_position = [sorted(rows, key=itemgetter(0, 1)) if len(rows) > 1 else rows for rows in sides]
    for side, name in enumerate(SIDES):
        flags, others = case.counted[side], by_position[1 - side]
        rows = by_position[side]
        if flags is not None:
            rows = sorted(compress(sides[side], flags), key=itemgetter(0, 1))
        empty = {row[0]: row for row in others if row[0] == row[1]}  # they do not overlap equal rows
        first = past = 0  # those around the next row do not begin before those around this one
        for start, end, labels in rows:
            while first < len(others) and others[first][1] <= start:
                first += 1
            past = max(past, first)
            while past < len(others) and others[past][0] < end:
                past += 1
            around = [empty[start]] if start == end and start in empty else others[first:past]
            yield name, labels, *class_of(start, end, around)


def _numbers_by_class(total: Tally) -> list[list[int]]:
    """Return for each side the numbers of its spans by class, in the order of the levels."""
    return [[total.get(("class", side, kind), 0) for kind in KINDS] for side in SIDES]


def _counts_by_level(total: Tally) -> dict[int, Counts]:
    """Return the counts at each level, whatever the labels."""
    gold, predicted = map(list, map(accumulate, _numbers_by_class(total)))
    return {level: Counts(gold[-1], predicted[-1], gold[level - 1], predicted[level - 1]) for level in LEVELS}


def _counts_by_label(total: Tally, layers: Sequence[str]) -> dict[str, dict[str, dict[int, Counts]]]:
    """Return the counts by layer, label and level; a span of class n with its label is correct from level n on."""
    # of each side, the number of spans, and the correct ones by class
    sides: dict[tuple[str, str], tuple[list[int], list[int]]] = {}
    for key, number in total.items():
        if key[0] == "label":
            _, side, layer, label, kind, agrees = key
            of_label = sides.setdefault((layer, label), ([0] * (1 + len(KINDS)), [0] * (1 + len(KINDS))))
            numbers = of_label[SIDES.index(side)]
            numbers[0] += number
            numbers[1 + KINDS.index(kind)] += number * agrees
    counts: dict[str, dict[str, dict[int, Counts]]] = {layer: {} for layer in layers}
    for (layer, label), (gold, predicted) in sides.items():
        if layer in counts:
            counts[layer][label] = {
                level: Counts(gold[0], predicted[0], sum(gold[1 : level + 1]), sum(predicted[1 : level + 1]))
                for level in LEVELS
            }
    return counts


def _averages_by_level(labels: Mapping[str, Mapping[int, Counts]]) -> dict[str, dict[str, Any]]:
    """Return the report of some labels at each level; levels with the same counts, which are many, share one."""
    reports: dict[str, dict[str, Any]] = {}
    before: dict[str, Counts] = {}
    for level in LEVELS:
        per_label = {label: by_level[level] for label, by_level in sorted(labels.items())}
        if per_label != before or not reports:
            report = averages_of(per_label, is_weighted=False)
        reports[str(level)], before = report, per_label
    return reports
