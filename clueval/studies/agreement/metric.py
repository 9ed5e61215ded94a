"""The metric `agreement`: counts a case of several annotators; all numbers of agreement are divided from its sums.

Its keys begin with:

``("spans", i, label)``
    spans of annotator i with a label;
``("kind", kind, boundary)``
    overlap components of the annotators' spans; the kind is empty where all agree;
``("pair", items, i, j, c, k)``
    items (``positions``, ``spans``: ranges) with the value c by annotator i and k by annotator j, i < j;
``("o", items, marked, m, c, k)``
    ordered pairs of values of items with m annotators; `marked` says which annotators have marked the items:
    ``unmarked`` (none of them), ``some``, ``each``;
``("Q", c)``, ``("W", m, c)``, ``("overlap",)``, ``("gaps",)``
    for unitizing: squared lengths of units, their squared overlaps with units of others, and cases in which spans of
    one annotator overlap or have gaps;
``("f1", counting, contest, label, is_all, key)``
    what a metric counts in a contest, by the number of the counting. The label is None if spans have several labels;
    `is_all` says whether the case has no other spans.

A value is a label, several labels as a tuple, or None. A *contest* has a gold and a predicted reading: ``("pair", i,
j)``; ``("majority", i)``, the majority of the others and annotator i; ``("system", i)``, annotator i and the system;
``("system_majority", i)``, the majority of those other than i and the system.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any, ClassVar

from clueval.core.case import Case
from clueval.core.metric import Metric
from clueval.core.tally import Tally
from clueval.files.errors import UsageError
from clueval.studies.agreement.conventions import KEPT, Convention, chosen_conventions, compared
from clueval.studies.agreement.numbers import EACH, POSITIONS, RANGES, SOME, UNMARKED, Numbers, Value
from clueval.studies.agreement.readings import (
    Reading,
    Readings,
    by_label,
    kind_of,
    majority,
    parts_of,
    readings_of,
    unlabelled,
)


@dataclass(frozen=True)
class AgreementMetric(Metric):
    """Annotators against each other, see the module.

    Attributes:
        annotators: their names, in the order of the sides of a case.
        conventions: how F1 is counted.
        system: whether one more side, the last, is a system.

    Raises `UsageError` for fewer than two annotators, and for a name that comes twice.
    """

    name: ClassVar[str] = "agreement"
    zero: ClassVar[str] = "null"
    filters: ClassVar[str | None] = "the numbers of each label are in the report, below per_label"

    annotators: tuple[str, ...]
    conventions: tuple[Convention, ...] = chosen_conventions()
    system: bool = False

    def __post_init__(self) -> None:
        if len(self.annotators) < 2:
            raise UsageError("agreement needs two annotators or more")
        if len({*self.annotators}) < len(self.annotators):
            raise UsageError("two annotators have the same name")

    @cached_property
    def countings(self) -> list[Any]:
        """What the conventions count, each once."""
        return list(dict.fromkeys(convention.counting for convention in self.conventions))

    def humans(self, present: int) -> int:
        """Return how many annotators are among the sides that are present (see `clueval.core.case`)."""
        return (present & (1 << len(self.annotators)) - 1).bit_count()

    def shares(self, present: int) -> bool:
        """Return whether two annotators or more are among the sides that are present."""
        return self.humans(present) > 1

    def count(self, case: Case) -> Tally:
        tally = Tally()
        k = len(self.annotators)
        readings = readings_of(case.sides, k + self.system)
        humans, system = readings[:k], readings[k] if self.system else None
        if sum(reading is not None for reading in humans) < 2:
            return tally
        for number, reading in enumerate(humans):
            for _, span_label in reading or ():
                tally["spans", number, span_label] += 1
        for part in parts_of(humans):  # a system may join what is apart among annotators
            tally[("kind", *kind_of(part))] += 1
        _count_positions(tally, humans, case.length)
        _count_ranges(tally, humans)
        _count_units(tally, humans)
        contests = list(_contests(humans, system))
        for number, counting in enumerate(self.countings):
            for contest, label, is_all, gold, predicted, ranges in contests:
                if ranges is None or ranges == (counting.labels != KEPT):
                    for key, n in compared(counting, gold, predicted, bool(ranges)).items():
                        tally["f1", number, contest, label, is_all, key] = n
        return tally

    def numbers(self, total: Tally) -> Numbers:
        """Return the sums of one sequence, to be divided."""
        return Numbers(self.annotators, self.conventions, total)

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        """Return the report of one sequence; the layers play no part."""
        return self.numbers(total).report()


_Contest = tuple[tuple[Any, ...], str | None, bool, Reading, Reading, bool | None]
"""The name, the label, whether the spans are all of the case, gold and predicted, and whether gold is a majority of
ranges; None: no majority takes part."""


def _contests(humans: Readings, system: Reading | None) -> Iterator[_Contest]:
    present = {number: reading for number, reading in enumerate(humans) if reading is not None}
    if not any(present.values()) and not system:
        return
    labelled = {number: by_label(reading) for number, reading in present.items()}
    for i, j in combinations(present, 2):
        labels = labelled[i] | labelled[j]
        if len(labels) > 1:
            yield ("pair", i, j), None, True, present[i], present[j], None
        for label in labels:
            first, second = labelled[i].get(label, ()), labelled[j].get(label, ())
            yield ("pair", i, j), label, len(labels) == 1, first, second, None
    if system is not None:
        for i, human in present.items():
            if human or system:
                yield ("system", i), None, True, human, system, None
    for ranges in (False, True):
        voting = {i: unlabelled(human) if ranges else human for i, human in present.items()}
        for i, human in present.items():
            gold = majority([reading for j, reading in voting.items() if j != i])
            if gold or human:
                yield ("majority", i), None, True, gold, human, ranges
            if system is not None and (gold or system):
                yield ("system_majority", i), None, True, gold, system, ranges


# --- items: positions and ranges with the values that annotators gave them


def _value_of(labels: Collection[str]) -> Value:
    return tuple(sorted(labels)) if len(labels) > 1 else next(iter(labels), None)


def _count_positions(tally: Tally, humans: Readings, length: int) -> None:
    """Count positions as items, between the starts and ends of all spans; of the `length`, the rest has no labels."""
    events = sorted(
        (position, number, change, label)
        for number, reading in enumerate(humans)
        for fragments, label in reading or ()
        for start, end in fragments
        for position, change in ((start, 1), (end, -1))
    )
    active: list[Counter[str]] = [Counter() for _ in humans]
    unmarked: dict[int, Value] = {
        number: None for number, reading in enumerate(humans) if reading is not None
    }
    values = dict(unmarked)
    items: Counter[_Values] = Counter()
    for (position, number, change, label), following in pairwise([*events, *events[-1:]]):
        active[number][label] += change
        if not active[number][label]:
            del active[number][label]
        values[number] = _value_of(active[number])
        width = following[0] - position
        if width and any(values.values()):
            items[tuple(values.items())] += width
    if length > items.total():
        items[tuple(unmarked.items())] += length - items.total()
    _count_items(tally, POSITIONS, items)


def _count_ranges(tally: Tally, humans: Readings) -> None:
    labels_of: dict[Any, dict[int, list[str]]] = {}
    for number, reading in enumerate(humans):
        for fragments, label in reading or ():
            labels_of.setdefault(fragments, {}).setdefault(number, []).append(label)
    present = [number for number, reading in enumerate(humans) if reading is not None]
    items = Counter(
        tuple([(number, _value_of(labels.get(number, ()))) for number in present])
        for labels in labels_of.values()
    )
    _count_items(tally, RANGES, items)


_Values = tuple[tuple[int, Value], ...]
"""The numbers of the annotators who have annotated an item, each with the value that the annotator gave it."""


def _count_items(tally: Tally, kind: str, items: Mapping[_Values, int]) -> None:
    """Count items of a kind, given how often each combination of values occurs."""
    for values, n in items.items():
        for (i, c), (j, k) in combinations(values, 2):
            tally["pair", kind, i, j, c, k] += n
        votes = Counter([value for _, value in values])
        marked = EACH if None not in votes else SOME if len(votes) > 1 else UNMARKED
        for c, often in votes.items():
            for k, others in votes.items():
                if pairs := often * (others - (c == k)):
                    tally["o", kind, marked, len(values), c, k] += n * pairs


# --- units


def _count_units(tally: Tally, humans: Readings) -> None:
    """Count what unitizing needs; spans of zero length are no units."""
    units_of = []
    for reading in humans:
        if reading is None:
            continue
        if any(len(fragments) > 1 for fragments, _ in reading):
            tally["gaps",] += 1
            return
        units = [(*fragments[0], label) for fragments, label in reading if fragments[0][0] < fragments[0][1]]
        if any(following[0] < unit[1] for unit, following in pairwise(units)):
            tally["overlap",] += 1
            return
        units_of.append(units)
    for number, units in enumerate(units_of):
        shared = [0] * len(units)  # how many positions of each unit are in units of others
        for other in (each for n, each in enumerate(units_of) if n != number):
            i = j = 0
            while i < len(units) and j < len(other):
                shared[i] += max(0, min(units[i][1], other[j][1]) - max(units[i][0], other[j][0]))
                if units[i][1] <= other[j][1]:
                    i += 1
                else:
                    j += 1
        for (start, end, label), positions in zip(units, shared, strict=True):
            tally["Q", label] += (end - start) ** 2
            if positions:
                tally["W", len(units_of), label] += positions**2
