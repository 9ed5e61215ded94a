"""The metric `agreement`, and the texts of annotators as it counts them.

It counts a case of several annotators; all numbers of agreement are divided from its sums. Its keys begin with:

``("spans", i, label)``
    spans of annotator i with a label;
``("kind", kind, boundary)``
    overlap components of the annotators' spans; the kind is empty where all agree;
``("pair", items, i, j, c, k, domain, m)``
    items (``positions``, ``spans``: ranges) of m annotators that have the value c by annotator i and k by j, i < j;
    the domain is the narrowest of all m (see `clueval.studies.agreement.numbers.domain_of`);
``("Q", c)``, ``("W", m, c)``, ``("overlap",)``, ``("gaps",)``
    for unitizing: squared lengths of units, their squared overlaps with units of others, and cases in which spans of
    one annotator overlap or have gaps;
``("f1", counting, contest, label, key)``
    what a metric counts in a contest, given the rule; the label is None for spans of all labels.

A value is a label, several labels as a tuple, or None. A *contest* has a gold and a predicted reading: ``("pair", i,
j)``; ``("majority", i)``, the majority of the others and annotator i; ``("system", i)``, annotator i and the system;
``("system_majority", i)``, the majority of those other than i and the system.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import Any, ClassVar

from clueval.core.bag import Bag, Read
from clueval.core.case import Case, are_flat
from clueval.core.count import Plan, Step, count, decided
from clueval.core.document import Document, Group, Pair, metadata_with_id
from clueval.core.merging import with_merged
from clueval.core.metric import Metric, Tally
from clueval.core.span import SIDES, first_clash
from clueval.files.errors import UsageError, warn
from clueval.results.options import require_names
from clueval.studies.agreement.annotators import Annotators
from clueval.studies.agreement.conventions import (
    KEPT,
    Convention,
    CountingRule,
    Reading,
    Readings,
    by_label,
    chosen_conventions,
    compared,
    kind_of,
    majority,
    parts_of,
    readings_of,
    spans_of,
    unlabelled,
)
from clueval.studies.agreement.numbers import POSITIONS, RANGES, Numbers, Value, domain_of
from clueval.studies.agreement.places import marks_in, sequences_in, written
from clueval.transforms.changes import checked, empty


@dataclass(frozen=True)
class AgreementMetric(Metric):
    """Annotators against each other, see the module.

    Attributes:
        annotators: their names, in the order of the sides of a case.
        conventions: how F1 is counted.
        system: whether one more side, the last, is a system.
    """

    name: ClassVar[str] = "agreement"
    zero: ClassVar[str] = "null"
    filters: ClassVar[str | None] = "the numbers of each label are in the report, below per_label"

    annotators: tuple[str, ...]
    conventions: tuple[Convention, ...] = chosen_conventions()
    system: bool = False

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
        for counting in {convention.counting: None for convention in self.conventions}:
            for contest, label, gold, predicted in _contests(counting, humans, system):
                is_majority = contest[0].endswith("majority")
                for key, n in compared(counting, gold, predicted, is_majority).items():
                    tally["f1", counting, contest, label, key] = n
        return tally

    def numbers(self, total: Tally) -> Numbers:
        """Return the sums of one sequence, to be divided."""
        return Numbers(self.annotators, self.conventions, total)

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        """Return the report of one sequence; the layers play no part."""
        return self.numbers(total).report()


def _contests(
    counting: CountingRule, humans: Readings, system: Reading | None
) -> Iterator[tuple[tuple[Any, ...], str | None, Reading, Reading]]:
    """Yield the name of each contest, the label or None, and the gold and the predicted reading."""
    present = {number: reading for number, reading in enumerate(humans) if reading is not None}
    for (i, first), (j, second) in combinations(present.items(), 2):
        yield ("pair", i, j), None, first, second
        of_first, of_second = by_label(first), by_label(second)
        for label in of_first.keys() | of_second.keys():
            yield ("pair", i, j), label, of_first.get(label, ()), of_second.get(label, ())
    voting = {i: human if counting.labels == KEPT else unlabelled(human) for i, human in present.items()}
    for i, human in present.items():
        gold = majority([reading for j, reading in voting.items() if j != i])
        sides = {"majority": human} if system is None else {"majority": human, "system_majority": system}
        for name, predicted in sides.items():
            yield (name, i), None, gold, predicted
        if system is not None:
            yield ("system", i), None, human, system


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
        if width and any(value is not None for value in values.values()):
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
        domain = domain_of({value for _, value in values})
        for (i, c), (j, k) in combinations(values, 2):
            tally["pair", kind, i, j, c, k, domain, len(values)] += n


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


@dataclass(frozen=True)
class Annotated:
    """The texts of annotators, as they are counted.

    Attributes:
        annotators: who has annotated the texts; a system is last.
        metric: counts the texts.
        plan: what is counted.
        steps: what changes the documents of each annotator before they are counted, as gold.
    """

    annotators: Annotators
    metric: AgreementMetric
    plan: Plan
    steps: tuple[Step, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the annotators, without the system."""
        return self.annotators.names

    def texts(self, read: Read | None = None, *, only_differing: bool = False) -> Iterator[Group]:
        """Yield the documents of each text that is selected, changed and with merged layers.

        They may lack their tags and, with `only_differing`, the spans of sentences that are equal in all files.
        `read` notes what was read. Raises `UsageError` for a shared text that the system lacks, and for a layer that an
        annotator lacks.
        """
        read = Read() if read is None else read
        only_differing = only_differing and not self.plan.merge
        groups = self.annotators.plain_groups(read, only_differing=only_differing)
        prepared = self._prepared(self.annotators.groups(read) if self.steps else groups)
        for group in filter(self._selects, prepared):
            if self.plan.merge:
                layers = sequences_in(group.sides)
                merged = [
                    None if document is None else with_merged(document, layers) for document in group.sides
                ]
                group = replace(group, sides=tuple(merged))
            yield group

    def _selects(self, group: Group) -> bool:
        metadata = metadata_with_id(group.first)
        return all(metadata.get(key) in values for key, values in self.plan.where.items())

    def _prepared(self, groups: Iterable[Group]) -> Iterator[Group]:
        """Yield the documents of all texts, of which those that are selected are changed."""
        for group in groups:
            humans = [document for document in group.sides[: len(self.names)] if document is not None]
            if not humans:
                continue
            layers = sequences_in(group.sides)
            if self.plan.where:
                for layer in layers:
                    if layer in self.plan.where:
                        raise UsageError(
                            f"where selects documents by their metadata, but {layer!r} is a layer",
                            advice=self.metric.filters,
                        )
                present = [document for document in group.sides if document is not None]
                metadata = {
                    key: value for document in reversed(present) for key, value in document.metadata.items()
                }
                first = replace(group.first, metadata=metadata)
                group = replace(
                    group,
                    sides=tuple(first if document is group.first else document for document in group.sides),
                )
            if self._selects(group):
                if self.metric.system and group.sides[-1] is None and len(humans) > 1:
                    raise UsageError(
                        "the system lacks this document, which annotators share",
                        **humans[0].in_errors,
                        advice="the system needs every shared document",
                    )
                for name, document in zip(self.plan.sides, group.sides, strict=True):
                    for layer in layers:
                        if document is not None and document.layers and layer not in document.layers:
                            raise UsageError(
                                f"{name} has no layer {layer!r}, which another annotator has",
                                **document.in_errors,
                                advice="name the layers that all have",
                            )
                group = self._changed_group(group) if self.steps else group
            yield group

    def _changed_group(self, group: Group) -> Group:
        """Return a group as the steps change each document, with what they changed by annotator in its notes."""
        changed: list[Document | None] = []
        notes: Counter[tuple[str, ...]] = Counter()
        for name, document in zip(self.plan.sides, group.sides, strict=True):
            if document is None:
                changed.append(None)
                continue
            pairs: Sequence[Pair] = [Pair(document, empty(document))]
            for step in self.steps:
                pairs = step(pairs)
            changed.append(pairs[0].gold)
            for (step_name, *what), number in pairs[0].notes.items():
                if SIDES[1] not in what:
                    notes[(step_name, name, *what)] += number
        return replace(group, sides=tuple(changed), notes=notes)

    def counted(self) -> tuple[Bag, dict[str, str], int]:
        """Count all texts; return where spans of one annotator overlap first, too, and how many texts have no text.

        Raises `UsageError` for names in options that never occurred.
        """
        clashes: dict[str, str] = {}
        without_text = 0

        def record(group: Group) -> Sequence[Group]:
            nonlocal without_text
            humans = group.sides[: len(self.names)]
            if sum(document is not None for document in humans) > 1 and self._selects(group):
                without_text += all(document is None or document.end is None for document in group.sides)
                if not self.plan.merge:
                    for layer in [layer for layer in sequences_in(humans) if layer not in clashes]:
                        for name, document in zip(self.names, humans, strict=True):
                            if document is None or layer in clashes:
                                continue
                            rows = document.rows_in(layer)
                            if rows is not None and are_flat(rows):
                                continue
                            clash = first_clash(spans_of(tuple(sorted(marks_in(document, layer)))))
                            if clash is not None:
                                first, second = (written(((span.fragments, span.label),)) for span in clash)
                                clashes[layer] = f"{name} has {first} and {second} in document {document.id}"
            return [group]

        bag = None if self.steps else self.annotators.bag(self.plan)
        if bag is None:
            read = Read()
            bag = count(map(record, self._prepared(self.annotators.groups(read))), self.plan)
            bag.read.include(read)
        bag.read.settle({side.name: side.options.scheme for side in self.annotators.listed})
        bag = decided(bag)
        require_names(bag, self.plan)
        self._check_steps(bag)
        return bag, clashes, without_text

    def _check_steps(self, bag: Bag) -> None:
        """Warn of steps that change nothing. Raises `UsageError` for labels that a map does not have."""
        total: Counter[tuple[str, ...]] = Counter()
        for name in self.plan.sides:
            changes = {(step, *what): n for (step, side, *what), n in bag.notes.items() if side == name}
            total.update(changes)
            try:
                checked(self.steps, changes)
            except UsageError as error:
                error.problem = error.problem.replace(f" of {SIDES[0]}", f" of {name}")
                raise
        for warning in checked(self.steps, total):
            warn(warning)
