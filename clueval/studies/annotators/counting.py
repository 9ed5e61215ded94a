"""StudyCounts the shapes of one sequence of spans: everything that the numbers of agreement are divided from.

The tally is one `Counter`, so counts of documents, files and processes add up. Its keys begin with:

``("tokens", who)``, ``("covered", who)``, ``("documents", who)``
    positions, positions in components, and documents, by the annotators who have annotated them (True or False each);
``("spans", i)``
    spans of annotator i;
``("pair", items, i, j, c, k)``
    items (``positions``, ``ranges``) with the value c by annotator i and k by annotator j, i < j;
``("o", items, which, m, c, k)``, ``("items", items, which, m)``
    ordered pairs of values of items with m annotators, and these items; `which` is ``any`` or ``both``;
``("Q", c)``, ``("W", m, c)``, ``("overlap",)``
    for unitizing: squared lengths of units, their squared overlaps, and documents whose spans overlap;
``("kind", kind, boundary)``
    components; the kind is empty where all agree;
``("f1", contest, label, ...)``
    the counts of a contest, see `contests`; the label is None for all labels.

A value is a label, several labels as a tuple, or None.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from typing import Any

from clueval.metrics.counting import Tally
from clueval.studies.annotators.contests import Contests
from clueval.studies.annotators.disagreement import kind_of
from clueval.studies.annotators.shape import Mark, Reading, Shape, is_flat, majority, places

Value = str | tuple[str, ...] | None
Values = tuple[Value, ...]

ABSENT: tuple[str, ...] = ()
"""The value of an annotator who has not annotated the document."""

MOST_SHAPES = 5_000
"""The number of different shapes that are held before they are counted."""


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

    def add(self, columns: Sequence[Sequence[Mark] | None], positions: int) -> None:
        """Count a document, or sentences of one; `positions` is the number of its tokens or characters."""
        self.add_positions(tuple(column is not None for column in columns[: self.humans]), positions)
        self.add_spans(columns)

    def add_spans(self, columns: Sequence[Sequence[Mark] | None]) -> None:
        """Count the components of some columns: of the annotators, and those with the system's spans."""
        for _, shape in places(columns[: self.humans]):
            self.add_shape(shape)
        if len(columns) > self.humans:
            for _, shape in places(columns):
                self.add_shape(shape)

    def add_positions(self, who: tuple[bool, ...], positions: int) -> None:
        """Count positions of a document that these annotators have annotated."""
        self.tally["tokens", who] += positions

    def add_shape(self, shape: Shape, n: int = 1) -> None:
        """Count a component."""
        self._shapes[shape] += n
        if len(self._shapes) > self.most:
            self.settle()

    def settle(self) -> Tally:
        """Count all shapes that are held, and return the tally."""
        for shape, n in self._shapes.items():
            counted = self._of_shape(shape)
            for key, times in counted.items():
                self.tally[key] += n * times
        self._shapes.clear()
        return self.tally

    def _of_shape(self, shape: Shape) -> Tally:
        tally: Tally = Counter()
        if len(shape) > self.humans:
            found = self._contests_of_system(shape)
        else:
            for number, reading in enumerate(shape):
                if reading:
                    tally["spans", number] += len(reading)
            tally[("kind", *kind_of(shape))] += 1
            _count_positions(tally, shape)
            _count_ranges(tally, shape)
            _count_units(tally, shape)
            found = self._contests(shape)
        for contest, label, counted in found:
            for key, n in counted.items():
                tally["f1", contest, label, key] += n
        return tally

    def _contests(self, shape: Shape) -> Iterator[_Contest]:
        """Yield each contest of annotators, the label (None: all), and its counts."""
        count = self.contests.count
        present = [number for number, reading in enumerate(shape) if reading is not None]
        for i, j in combinations(present, 2):
            gold, predicted = shape[i] or (), shape[j] or ()
            yield ("pair", i, j), None, count(gold, predicted)
            for label in sorted({mark[2] for mark in (*gold, *predicted)}):
                yield ("pair", i, j), label, count(_only(gold, label), _only(predicted, label))
        for i in present:
            yield ("majority", i), None, self._against_others(shape, present, i, shape[i] or ())

    def _contests_of_system(self, shape: Shape) -> Iterator[_Contest]:
        """Yield the contests of the system, whose reading is the last one."""
        present = [number for number, reading in enumerate(shape[:-1]) if reading is not None]
        system = shape[-1] or ()
        for i in present:
            yield ("system", i), None, self.contests.count(shape[i] or (), system)
            yield ("system_majority", i), None, self._against_others(shape, present, i, system)

    def _against_others(self, shape: Shape, present: Sequence[int], i: int, rival: Reading) -> Tally:
        """Return the counts of a reading against the majority of the annotators other than i."""
        others = [shape[j] or () for j in present if j != i]
        tally = self.contests.count(majority(others), rival, only=False)
        tally.update(self.contests.count(majority(others, labelled=False), rival, only=True))
        return tally


_Contest = tuple[tuple[Any, ...], str | None, Tally]
"""The contest, the label (None: all labels), and the counts."""


def _only(reading: Reading, label: str) -> Reading:
    return tuple(mark for mark in reading if mark[2] == label)


def value_of(labels: set[str]) -> Value:
    """Return the value of an item to which an annotator has given these labels."""
    if len(labels) > 1:
        return tuple(sorted(labels))
    return next(iter(labels), None)


def _count_positions(tally: Tally, humans: Shape) -> None:
    """Count the positions of a component as items."""
    borders = sorted({edge for reading in humans for start, end, _ in reading or () for edge in (start, end)})
    who = tuple(reading is not None for reading in humans)
    for start, end in pairwise(borders):
        values: Values = tuple(
            ABSENT
            if reading is None
            else value_of({mark[2] for mark in reading if mark[0] <= start and end <= mark[1]})
            for reading in humans
        )
        tally["covered", who] += end - start
        _count_item(tally, "positions", values, end - start)


def _count_ranges(tally: Tally, humans: Shape) -> None:
    """Count the ranges of a component as items."""
    for own in sorted({mark[:2] for reading in humans for mark in reading or ()}):
        values: Values = tuple(
            ABSENT if reading is None else value_of({mark[2] for mark in reading if mark[:2] == own})
            for reading in humans
        )
        _count_item(tally, "ranges", values, 1)


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
        others = [unit for j, each in enumerate(present) if j != number for unit in each]
        for start, end, label in units:
            tally["Q", label] += (end - start) ** 2
            shared = sum(max(0, min(end, past) - max(start, first)) for first, past, _ in others)
            if shared:
                tally["W", len(present), label] += shared**2
