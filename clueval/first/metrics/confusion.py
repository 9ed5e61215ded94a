"""Metric `confusion`: which labels the spans of each label have on the other side; numbers of each class.

It counts the same matches as metric ``levels`` and computes no rates. There is one matrix for each side, layer
and level, because CLUEval classifies the spans of each side separately. In the matrix of the **gold** side a
row is the label of a gold span. At level n, the span is counted in the column

* of the joined label of its match, if its class is 1 to n (``found``), or in ``unlabelled`` if that match has
  no label in the layer;
* ``missed``, if its class is above n, even if predicted spans overlap it.

So the sum of a row is the number of gold spans with that label, the diagonal has the labelled true positives of
``levels``, and the rest of the row has its false negatives. In the matrix of the **predicted** side, rows are
predicted labels, columns are the gold labels that they match, ``spurious`` takes the place of ``missed``, and the
cells outside the diagonal are the false positives. ``classes`` counts the five classes of
each label, whichever label was found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING, Any, ClassVar

from clueval.core.ranges import Ranges
from clueval.core.span import SIDES, Frozen, Labels, Span
from clueval.first.metrics.counting import Tally
from clueval.first.metrics.match_counts import count_matches
from clueval.first.metrics.metric import Metric, Rates, Side
from clueval.first.metrics.rates import LAYER, Shape
from clueval.spans.flat import Flat
from clueval.spans.match_classes import KINDS, LEVELS, UNMATCHED, classes_of

if TYPE_CHECKING:
    from clueval.reports.table import Table


Entry = tuple[str, str, str | None, int]
"""The label of the span, its class, the joined label that was found, and the number of such spans."""


@dataclass(frozen=True, slots=True)
class Confusion(Metric):
    """The metric; it has no settings. Its tally has the keys ``(side, layer, label, kind, found)``."""

    name: ClassVar[str] = "confusion"
    zero: ClassVar[str] = "0"
    tally_keys: ClassVar[tuple[Shape, ...]] = ((SIDES, LAYER, str, KINDS, str | None),)

    def count(self, gold: Side, predicted: Side) -> Tally:
        tally = _count_gaps(gold, predicted)
        for side, _, found in count_matches(_without_gaps(gold), _without_gaps(predicted)):
            for layer, label, kind, other, number in found:
                tally[side, layer, label, kind, other] += number
        return tally

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        entries_of: dict[str, dict[str, list[Entry]]] = {
            layer: {side: [] for side in SIDES} for layer in layers
        }
        for (side, layer, label, kind, found), n in total.items():
            if layer in entries_of:  # as in `levels`, labels in other layers are in no report of this one
                entries_of[layer][side].append((label, kind, found, n))
        report = {}
        for layer, entries in entries_of.items():
            report[layer] = {
                "classes": {side: _classes(entries[side], side) for side in SIDES},
                "levels": {
                    str(level): {side: _matrix(entries[side], level, side) for side in SIDES}
                    for level in LEVELS
                },
            }
        return report

    def headlines(self, report: Mapping[str, Any]) -> dict[str, Rates]:
        """Return nothing: a matrix has no rates."""
        return {}

    def tables(self, title: str, report: Mapping[str, Any]) -> Iterator[Table]:
        from clueval.first.metrics.tables import confusion

        return confusion(title, report)


def _without_gaps(side: Side) -> Side:
    """Return the side without its discontinuous spans."""
    if isinstance(side.spans, Flat) or all(span.parts is None for span in side.spans):
        return side
    kept = [span.parts is None for span in side.spans]
    counted = None if side.counted is None else list(compress(side.counted, kept))
    return side._replace(spans=list(compress(side.spans, kept)), counted=counted)


def _count_gaps(gold: Side, predicted: Side) -> Tally:
    """Count the discontinuous spans, which only a span with the same fragments matches."""
    tally: Tally = Tally()
    for name, own, others in ((SIDES[0], gold, predicted), (SIDES[1], predicted, gold)):
        if isinstance(own.spans, Flat):  # spans of tags have no gaps
            continue
        by_fragments: dict[Ranges, list[Span]] = {}
        for span in others.spans:
            if span.parts is not None:
                by_fragments.setdefault(span.parts, []).append(span)
        counted = own.counted or [True] * len(own.spans)
        for span in compress(own.spans, counted):
            if span.parts is None:
                continue
            equal = by_fragments.get(span.parts, [])
            same = [other for other in equal if other.labels == span.labels]
            partner = next(iter([*same, *equal]), None)
            found: Labels
            kind, found = (KINDS[-1], Frozen()) if partner is None else (KINDS[0], partner.by_layer)
            for layer, label in span.by_layer.items():
                if label is not None:
                    tally[name, layer, label, kind, found.get(layer)] += 1
    return tally


def _classes(entries: Sequence[Entry], side: str) -> dict[str, dict[str, int]]:
    """Count the five classes of each label of a side."""
    names = dict(zip(map(str, KINDS), classes_of(side), strict=True))
    counts = {label: dict.fromkeys(names.values(), 0) for label in sorted({entry[0] for entry in entries})}
    for label, kind, _, n in entries:
        counts[label][names[kind]] += n
    return counts


def _matrix(entries: Sequence[Entry], level: int, side: str) -> dict[str, Any]:
    good = KINDS[:level]
    found: dict[str, dict[str, int]] = {label: {} for label in sorted({entry[0] for entry in entries})}
    for label, kind, other, n in sorted(entries, key=str):
        if kind in good and other is not None:
            found[label][other] = found[label].get(other, 0) + n

    def per_label(fits: Callable[[str, str | None], bool]) -> dict[str, int]:
        counts = dict.fromkeys(found, 0)
        for label, kind, other, n in entries:
            counts[label] += n * fits(kind, other)
        return counts

    return {
        "found": found,
        "unlabelled": per_label(lambda kind, other: kind in good and other is None),
        UNMATCHED[side]: per_label(lambda kind, other: kind not in good),
    }
