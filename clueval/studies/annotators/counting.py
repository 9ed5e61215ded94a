"""Counts the shapes of one sequence of spans: everything that the numbers of agreement are divided from.

The tally is one `Counter`, so counts of documents, files and processes add up. Its keys begin with:

``("tokens", who)``, ``("covered", who)``, ``("documents", who)``
    positions, positions in components, and documents, by the annotators who have annotated them (True or False each);
``("spans", i)``
    spans of annotator i;
``("pair", items, i, j, c, k)``
    items (``positions``, ``spans``: ranges) with the value c by annotator i and k by annotator j, i < j;
``("o", items, which, m, c, k)``, ``("items", items, which, m)``
    ordered pairs of values of items with m annotators, and these items; `which` is ``any`` or ``both``;
``("Q", c)``, ``("W", m, c)``, ``("overlap",)``
    for unitizing: squared lengths of units, their squared overlaps, and documents whose spans overlap;
``("kind", kind, boundary)``
    components; the kind is empty where all agree;
``("f1", contest, label, ...)``
    the counts of a contest; the label is None for all labels.

A value is a label, several labels as a tuple, or None.

A *contest* is a gold and a predicted reading: a pair of annotators, of whom the first is gold, or an annotator
against the majority of the others. Counts of components add up to the counts of documents, because no convention
counts a span by spans that it is not connected to.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations, pairwise
from typing import Any

from clueval.core.span import DEFAULT_LAYER, Span
from clueval.files.errors import OverlapError, UsageError
from clueval.first.metrics import metric_named
from clueval.first.metrics.counting import Tally
from clueval.first.metrics.metric import Metric, Side
from clueval.second.studies.conventions import CONVENTIONS
from clueval.studies.annotators.places import (
    MOST_SHAPES,
    Mark,
    Marks,
    Shape,
    is_flat,
    kind_of,
    majority,
    places,
    unlabelled,
)

Value = str | tuple[str, ...] | None
Values = tuple[Value, ...]

ABSENT: tuple[str, ...] = ()
"""The value of an annotator who has not annotated the document."""


@dataclass(slots=True)
class ShapeCounts:
    """The counts of one sequence for `humans` annotators.

    A shape with one more column has the readings of a system last, and counts only for the contests with it: its
    spans may connect components of the annotators, which have shapes of their own.
    """

    humans: int
    contests: Contests
    tally: Tally = field(default_factory=Counter)
    most: int = MOST_SHAPES
    _shapes: Counter[Shape] = field(default_factory=Counter)
    _contests: defaultdict[tuple[tuple[Any, ...], str | None], Counter[_Comparison]] = field(
        default_factory=lambda: defaultdict(Counter)
    )

    def add_spans(self, columns: Sequence[Sequence[Mark] | None], n: int = 1) -> None:
        """Count the components of some columns n times: of the annotators, and those with the system's spans."""
        for _, shape in places(columns[: self.humans]):
            self.add_shape(shape, n)
        if len(columns) > self.humans:
            for _, shape in places(columns):
                self.add_shape(shape, n)

    def add_shape(self, shape: Shape, n: int = 1) -> None:
        """Count a component n times."""
        self._shapes[shape] += n
        if len(self._shapes) > self.most:
            self.settle()

    def settle(self) -> Tally:
        """Count all shapes that are held, and return the tally."""
        for shape, n in self._shapes.items():
            for key, times in self._of_shape(shape).items():
                self.tally[key] += n * times
            for contest, label, comparison in self._contests_of(shape):
                self._contests[contest, label][comparison] += n
            if sum(map(len, self._contests.values())) > 4 * self.most:
                self._settle_contests()
        self._settle_contests()
        self._shapes.clear()
        return self.tally

    def _settle_contests(self) -> None:
        """Count the comparisons of all contests, each comparison once: the same ones come again in most contests."""
        count = cache(self.contests.count)
        for head, comparisons in self._contests.items():
            total: Tally = Counter()
            for comparison, n in comparisons.items():
                for key, times in count(*comparison).items():
                    total[key] += n * times
            for key, n in total.items():
                self.tally["f1", *head, key] += n
        self._contests.clear()

    def _of_shape(self, shape: Shape) -> Tally:
        """Return all counts of a shape but those of contests."""
        tally: Tally = Counter()
        if len(shape) == self.humans:
            for number, reading in enumerate(shape):
                if reading:
                    tally["spans", number] += len(reading)
            tally[("kind", *kind_of(shape))] += 1
            _count_positions(tally, shape)
            _count_ranges(tally, shape)
            _count_units(tally, shape)
        return tally

    def _contests_of(self, shape: Shape) -> Iterator[_Contest]:
        """Yield each contest, the label (None: all), and a comparison."""
        if len(shape) > self.humans:
            yield from self._contests_of_system(shape)
            return
        present = [number for number, reading in enumerate(shape) if reading is not None]
        labelled = {number: by_label(shape[number] or ()) for number in present}
        for i, j in combinations(present, 2):
            yield ("pair", i, j), None, (shape[i] or (), shape[j] or (), None)
            own, other = labelled[i], labelled[j]
            for label in {**own, **other}:
                yield ("pair", i, j), label, (own.get(label, ()), other.get(label, ()), None)
        for i in present:
            yield from self._against_others("majority", shape, present, i, shape[i] or ())

    def _contests_of_system(self, shape: Shape) -> Iterator[_Contest]:
        """Yield the contests of the system, whose reading is the last one."""
        present = [number for number, reading in enumerate(shape[:-1]) if reading is not None]
        system = shape[-1] or ()
        for i in present:
            yield ("system", i), None, (shape[i] or (), system, None)
            yield from self._against_others("system_majority", shape, present, i, system)

    def _against_others(
        self, name: str, shape: Shape, present: Sequence[int], i: int, rival: Marks
    ) -> Iterator[_Contest]:
        """Yield the contests of a reading with the majority of the annotators other than i.

        Conventions that ignore labels have a contest of their own, with the majority of the ranges.
        """
        others = [shape[j] or () for j in present if j != i]
        for ignored in self.contests.unlabelled:
            gold = majority(others, labelled=not ignored)
            yield (name, i, ignored), None, (gold, rival, ignored)


_Comparison = tuple[Marks, Marks, bool | None]
"""Gold, predicted, and which conventions count them, see `Contests.count`."""

_Contest = tuple[tuple[Any, ...], str | None, _Comparison]
"""The contest, the label (None: all labels), and a comparison of two readings."""


def by_label(reading: Marks) -> dict[str, Marks]:
    """Return the spans of a reading by label."""
    found: dict[str, list[Mark]] = {}
    for mark in reading:
        found.setdefault(mark[2], []).append(mark)
    return {label: tuple(marks) for label, marks in found.items()}


def value_of(labels: Collection[str]) -> Value:
    """Return the value of an item to which an annotator has given these labels."""
    if len(labels) > 1:
        return tuple(sorted(labels))
    return next(iter(labels), None)


def _count_positions(tally: Tally, humans: Shape) -> None:
    """Count the positions of a component as items, by a sweep over the starts and ends of all spans."""
    who = tuple(reading is not None for reading in humans)
    events = sorted(
        (position, number, change, label)
        for number, reading in enumerate(humans)
        for start, end, label in reading or ()
        for position, change in ((start, 1), (end, -1))
    )
    active: list[Counter[str]] = [Counter() for _ in humans]
    values: list[Value] = [None if here else ABSENT for here in who]
    for (position, number, change, label), following in pairwise([*events, *events[-1:]]):
        active[number][label] += change
        if not active[number][label]:
            del active[number][label]
        values[number] = value_of(active[number].keys())
        if length := following[0] - position:
            tally["covered", who] += length
            _count_item(tally, "positions", tuple(values), length)


def _count_ranges(tally: Tally, humans: Shape) -> None:
    """Count the ranges of a component as items."""
    found: dict[tuple[int, int], list[set[str]]] = {}
    for number, reading in enumerate(humans):
        for start, end, label in reading or ():
            found.setdefault((start, end), [set() for _ in humans])[number].add(label)
    for labels in found.values():
        values: Values = tuple(
            ABSENT if reading is None else value_of(own) for reading, own in zip(humans, labels, strict=True)
        )
        _count_item(tally, "spans", values, 1)


def _count_item(tally: Tally, items: str, values: Values, n: int) -> None:
    """Count items to which the annotators have given these values."""
    present = [(number, value) for number, value in enumerate(values) if value != ABSENT]
    for (i, c), (j, k) in combinations(present, 2):
        tally["pair", items, i, j, c, k] += n
    m = len(present)
    votes = Counter(value for _, value in present)
    domains = ["any"] if any(votes.keys() - {None}) else []
    domains += [] if None in votes else ["both"]
    for which in domains:
        tally["items", items, which, m] += n
        for c, often in votes.items():
            for k, others in votes.items():
                if pairs := often * (others - (c == k)):
                    tally["o", items, which, m, c, k] += n * pairs


def _count_units(tally: Tally, humans: Shape) -> None:
    """Count what unitizing needs; zero lengths are no units."""
    present = [[mark for mark in reading if mark[0] < mark[1]] for reading in humans if reading is not None]
    if not all(is_flat(tuple(units)) for units in present):
        tally[("overlap",)] += 1
        return
    for number, units in enumerate(present):
        shared = [0] * len(units)
        for other in (each for j, each in enumerate(present) if j != number):
            _add_shared(shared, units, other)
        for (start, end, label), positions in zip(units, shared, strict=True):
            tally["Q", label] += (end - start) ** 2
            if positions:
                tally["W", len(present), label] += positions**2


def _add_shared(shared: list[int], units: Sequence[Mark], other: Sequence[Mark]) -> None:
    """Add to `shared` how many positions of each unit are in units of another annotator; both are by position."""
    i = j = 0
    while i < len(units) and j < len(other):
        shared[i] += max(0, min(units[i][1], other[j][1]) - max(units[i][0], other[j][0]))
        if units[i][1] <= other[j][1]:
            i += 1
        else:
            j += 1


EXACT = "exact"
DEFAULTS = (EXACT, "exact_unlabelled", "muc_type")

KEYS = (EXACT, *(convention.key for convention in CONVENTIONS))
"""All conventions."""

_METRIC_OF = {convention.key: convention.metric for convention in CONVENTIONS}

_SETS = {EXACT, "exact_unlabelled", "conlleval", "seqeval", "seqeval_strict"}
"""The conventions that compare sets of spans."""

_FLAT = {"conlleval", "seqeval", "seqeval_strict"}
"""The conventions of tags, which cannot express overlaps."""

_ANY_LABEL = {"muc_exact", "muc_partial"}


def ignores_labels(key: str) -> bool:
    """Return whether a convention counts a span as correct whatever its label."""
    return key.endswith("_unlabelled") or key in _ANY_LABEL


def chosen_conventions(given: Sequence[str] | str) -> tuple[str, ...]:
    """Return the keys of the conventions. Raises `UsageError` for an unknown one."""
    keys = given.split(",") if isinstance(given, str) else list(given)
    for key in keys:
        if key not in KEYS:
            raise UsageError(f"unknown convention {key!r}", advice=f"one of {', '.join(KEYS)}")
    if not keys:
        raise UsageError("there is no convention", advice=f"name one of {', '.join(KEYS)}")
    return tuple(dict.fromkeys(keys))


@dataclass(frozen=True, slots=True)
class Contests:
    """Counts contests by the chosen conventions."""

    keys: tuple[str, ...]

    @property
    def unlabelled(self) -> list[bool]:
        """Whether some conventions ignore labels (True), and whether some do not (False)."""
        return sorted({*map(ignores_labels, self.keys)})

    def count(self, gold: Marks, predicted: Marks, only: bool | None = None) -> Tally:
        """Return the counts of a contest; keys begin with a convention, or with the name of a metric.

        `only`: true for the conventions that ignore labels, against ranges as gold; false for the others; None: all.
        """
        tally: Tally = Counter()
        keys = [key for key in self.keys if only is None or ignores_labels(key) is only]
        for key in keys:
            if key in _SETS:
                tally.update(_sets(key, gold, predicted))
        for name in sorted({_METRIC_OF[key] for key in keys if key not in _SETS}):
            other = unlabelled(predicted) if only and name == "muc" else predicted  # pairs ranges one to one
            tally.update(_by_metric(metric_named(name), gold, other))
        return tally

    def rates(self, tally: Mapping[tuple[Any, ...], int], key: str) -> dict[str, Any] | None:
        """Return the PRF entry of a convention; None if it is not defined, because spans overlap."""
        name = key if key in _SETS else _METRIC_OF[key]
        if tally.get((name, "refused")):
            return None
        gold, predicted = tally.get((name, "gold"), 0), tally.get((name, "predicted"), 0)
        if key in _SETS:
            found = tally.get((key, "tp"), 0)
            rates = (found / predicted if predicted else 0.0, found / gold if gold else 0.0, 0.0)
        else:
            metric = metric_named(name)
            own = Tally(
                {rest[1]: n for rest, n in tally.items() if rest[0] == name and rest[1] not in _SIZES}
            )
            rates = metric.headlines(metric.scores(own, [DEFAULT_LAYER]))[key]
        return _entry(gold, predicted, rates)


_SIZES = ("gold", "predicted", "refused")


def _sets(key: str, gold: Marks, predicted: Marks) -> Tally:
    if key in _FLAT and not (is_flat(gold) and is_flat(predicted)):
        return Tally({(key, "refused"): 1})
    own, other = gold, predicted
    if ignores_labels(key):
        own, other = unlabelled(gold), unlabelled(predicted)
    found = len(own) if own == other else len(set(own).intersection(other))
    return Tally({(key, "gold"): len(own), (key, "predicted"): len(other), (key, "tp"): found})


def _by_metric(metric: Metric, gold: Marks, predicted: Marks) -> Tally:
    try:
        counted = metric.count(_side(gold), _side(predicted))
    except OverlapError:
        return Tally({(metric.name, "refused"): 1})
    tally = Tally({(metric.name, key): n for key, n in counted.items()})
    tally[metric.name, "gold"] += len(gold)
    tally[metric.name, "predicted"] += len(predicted)
    return tally


def _side(reading: Iterable[tuple[int, int, str]]) -> Side:
    return Side([Span(start, end, label) for start, end, label in reading])


def _entry(gold: int, predicted: int, rates: Sequence[float]) -> dict[str, Any]:
    """Return the PRF entry; a rate is None if it is not defined, that is, if there are no such spans."""
    precision, recall = rates[:2]
    tp_gold, tp_predicted = _whole(recall * gold), _whole(precision * predicted)
    f1: float | None = rates[2]
    if tp_gold == tp_predicted:  # counts give the same F1 whichever side is gold, to the last digit
        f1 = 2 * tp_gold / (gold + predicted) if gold or predicted else None
    return {
        "precision": precision if predicted else None,
        "recall": recall if gold else None,
        "f1": f1,
        "gold": gold,
        "predicted": predicted,
        "tp_gold": tp_gold,
        "fn": gold - tp_gold,
        "tp_predicted": tp_predicted,
        "fp": predicted - tp_predicted,
    }


def _whole(value: float) -> float:
    """Return a number of spans: a whole number, unless the convention gives credit in parts."""
    return round(value) if abs(value - round(value)) < 1e-9 * max(1, value) else value
