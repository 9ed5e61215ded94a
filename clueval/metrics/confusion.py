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

A discontinuous span is matched by a span with the same fragments alone, and exactly; if there are several, by one
with the same labels, else by the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar

from clueval.core.case import Case
from clueval.core.levels import KINDS, LEVELS, UNMATCHED, Kind, classes_of, classified
from clueval.core.metric import Metric, Tally
from clueval.core.span import NOTHING, SIDES, Labels, Ranges, Span

Entry = tuple[str, str, str | None, int]
"""The label of the span, its class, the joined label that was found, and the number of such spans."""


@dataclass(frozen=True, slots=True)
class Confusion(Metric):
    """The metric; it has no settings. Its tally has the keys ``(side, layer, label, kind, found)``."""

    name: ClassVar[str] = "confusion"
    flat: ClassVar[bool] = True

    def count(self, case: Case) -> Tally:
        has_gaps = any(span.parts is not None for side in (case.gold, case.predicted) for span in side)
        without_gaps = _without_gaps(case) if has_gaps else case
        tally = Tally()
        for name, labels, kind, joined in chain(
            classified(without_gaps), _fragments(case) if has_gaps else ()
        ):
            for layer, label in labels.items():
                if label is not None:
                    tally[name, layer, label, kind, joined.get(layer)] += 1
        return tally

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        entries_of: dict[str, dict[str, list[Entry]]] = {
            layer: {side: [] for side in SIDES} for layer in layers
        }
        for (side, layer, label, kind, other_label), n in total.items():
            if layer in entries_of:  # a span may have labels in further layers
                entries_of[layer][side].append((label, kind, other_label, n))
        return {
            layer: {
                "classes": {side: _classes(entries[side], side) for side in SIDES},
                "levels": {
                    str(level): {side: _matrix(entries[side], level, side) for side in SIDES}
                    for level in LEVELS
                },
            }
            for layer, entries in entries_of.items()
        }


def _without_gaps(case: Case) -> Case:
    """Return the case without its discontinuous spans."""
    sides, counted = [], []
    for number, side in enumerate((case.gold, case.predicted)):
        places = [place for place, span in enumerate(side) if span.parts is None]
        counting = {place for place, _ in case.counting(number)}
        sides.append(tuple([side[place] for place in places]))
        counted.append(tuple([place in counting for place in places]))
    return Case(tuple(sides), tuple(counted))


def _fragments(case: Case) -> Iterator[tuple[str, Labels, Kind, Labels]]:
    """Yield what `classified` does of the discontinuous spans."""
    for side, name in enumerate(SIDES):
        others: dict[Ranges | None, list[Span]] = {}
        for other in case.sides[1 - side] or ():
            others.setdefault(other.parts, []).append(other)
        for _, span in case.counting(side):
            if span.parts is not None:
                equal = others.get(span.parts, [])
                first = equal[0] if equal else None
                partner = next((other for other in equal if other.labels == span.labels), first)
                if partner is None:
                    yield name, span.by_layer, "missed", NOTHING
                else:
                    yield name, span.by_layer, "exact", partner.by_layer


def _classes(entries: Sequence[Entry], side: str) -> dict[str, dict[str, int]]:
    """Count the five classes of each label of a side."""
    names = dict(zip(map(str, KINDS), classes_of(side), strict=True))
    counts = {label: dict.fromkeys(names.values(), 0) for label in sorted({entry[0] for entry in entries})}
    for label, kind, _, n in entries:
        counts[label][names[kind]] += n
    return counts


def _matrix(entries: Sequence[Entry], level: int, side: str) -> dict[str, Any]:
    good = KINDS[:level]
    matrix: dict[str, dict[str, int]] = {label: {} for label in sorted({entry[0] for entry in entries})}
    for label, kind, other_label, n in sorted(entries, key=str):
        if kind in good and other_label is not None:
            matrix[label][other_label] = matrix[label].get(other_label, 0) + n

    def per_label(fits: Callable[[str, str | None], bool]) -> dict[str, int]:
        counts = dict.fromkeys(matrix, 0)
        for label, kind, other_label, n in entries:
            counts[label] += n * fits(kind, other_label)
        return counts

    return {
        "found": matrix,
        "unlabelled": per_label(lambda kind, other_label: kind in good and other_label is None),
        UNMATCHED[side]: per_label(lambda kind, other_label: kind not in good),
    }
