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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar, NamedTuple

from clueval.core.case import Case
from clueval.core.metric import Metric
from clueval.core.tally import Tally
from clueval.files.errors import UsageError
from clueval.studies.agreement.conventions import (
    KEPT,
    Convention,
    CountingRule,
    chosen_conventions,
    compared,
    countings_of,
)
from clueval.studies.agreement.items import count_positions, count_ranges, count_units
from clueval.studies.agreement.readings import (
    Reading,
    Readings,
    by_label,
    from_start,
    kind_of,
    majority,
    parts_of,
    readings_of,
    unlabelled,
)
from clueval.studies.agreement.report import Numbers, sequence_report


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
    def countings(self) -> tuple[CountingRule, ...]:
        """What the conventions count, each once."""
        return countings_of(self.conventions)

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
            for _, own in reading or ():
                tally["spans", number, own] += 1
        for part in parts_of(humans):  # a system may join what is apart among annotators
            tally[("kind", *kind_of(part))] += 1
        count_positions(tally, humans, case.length)
        count_ranges(tally, humans)
        count_units(tally, humans)
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
        return sequence_report(self.numbers(total))


# Contests


class _Contest(NamedTuple):
    """A gold and a predicted reading: all spans of a case (`is_all`), or some, of which all have the same label.

    `label` is None if the spans may have several. `ranges`: whether gold is a majority of ranges; None: no majority
    takes part.
    """

    name: tuple[Any, ...]
    label: str | None
    is_all: bool
    gold: Reading
    predicted: Reading
    ranges: bool | None = None


def _contests(humans: Readings, system: Reading | None) -> Iterator[_Contest]:
    """Yield each contest in which one side has spans."""
    present = {number: reading for number, reading in enumerate(humans) if reading is not None}
    if not any(present.values()) and not system:
        return
    labelled = {number: by_label(reading) for number, reading in present.items()}
    for i, j in combinations(present, 2):
        labels = labelled[i] | labelled[j]
        if len(labels) > 1:
            yield _Contest(("pair", i, j), None, True, *from_start(present[i], present[j]))
        for label in labels:
            own, other = labelled[i].get(label, ()), labelled[j].get(label, ())
            yield _Contest(("pair", i, j), label, len(labels) == 1, *from_start(own, other))
    if system is not None:
        for i, own in present.items():
            if own or system:
                yield _Contest(("system", i), None, True, *from_start(own, system))
    for ranges in (False, True):
        voting = {i: unlabelled(own) if ranges else own for i, own in present.items()}
        for i, own in present.items():
            gold = majority([reading for j, reading in voting.items() if j != i])
            if gold or own:
                yield _Contest(("majority", i), None, True, *from_start(gold, own), ranges)
            if system is not None and (gold or system):
                yield _Contest(("system_majority", i), None, True, *from_start(gold, system), ranges)
