"""Items and units: positions and ranges with the values that annotators gave them, and what unitizing needs.

The keys of a tally are those of `clueval.studies.agreement.metric`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any

from clueval.core.tally import Tally
from clueval.studies.agreement.readings import Readings

Value = str | tuple[str, ...] | None

UNMARKED, SOME, EACH = "unmarked", "some", "each"
"""By which of its annotators an item is marked."""

POSITIONS, RANGES = "positions", "spans"
"""What items are."""


def value_of(labels: Collection[str]) -> Value:
    """Return the value of an item to which an annotator has given these labels."""
    return tuple(sorted(labels)) if len(labels) > 1 else next(iter(labels), None)


def count_positions(tally: Tally, humans: Readings, length: int) -> None:
    """Count positions as items, between the starts and ends of all spans; of the `length`, the rest has no labels."""
    events = sorted(
        (position, number, change, label)
        for number, reading in enumerate(humans)
        for fragments, label in reading or ()
        for start, end in fragments
        for position, change in ((start, 1), (end, -1))
    )
    active: list[Counter[str]] = [Counter() for _ in humans]
    present = [number for number, reading in enumerate(humans) if reading is not None]
    values: dict[int, Value] = dict.fromkeys(present)
    items: Counter[_Values] = Counter()
    for (position, number, change, label), following in pairwise([*events, *events[-1:]]):
        active[number][label] += change
        if not active[number][label]:
            del active[number][label]
        values[number] = value_of(active[number])
        here = following[0] - position
        if here and any(values.values()):
            items[tuple(values.items())] += here
    if length > items.total():
        items[tuple(dict.fromkeys(present).items())] += length - items.total()
    _count_items(tally, POSITIONS, items)


def count_ranges(tally: Tally, humans: Readings) -> None:
    """Count ranges as items."""
    found: dict[Any, dict[int, list[str]]] = {}
    for number, reading in enumerate(humans):
        for fragments, label in reading or ():
            found.setdefault(fragments, {}).setdefault(number, []).append(label)
    present = [number for number, reading in enumerate(humans) if reading is not None]
    items = Counter(
        tuple([(number, value_of(labels.get(number, ()))) for number in present]) for labels in found.values()
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


# Units


def count_units(tally: Tally, humans: Readings) -> None:
    """Count what unitizing needs; spans of zero length are no units."""
    present = []
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
        present.append(units)
    for number, units in enumerate(present):
        shared = [0] * len(units)
        for other in (each for j, each in enumerate(present) if j != number):
            _add_shared(shared, units, other)
        for (start, end, label), positions in zip(units, shared, strict=True):
            tally["Q", label] += (end - start) ** 2
            if positions:
                tally["W", len(present), label] += positions**2


_Unit = tuple[int, int, str]


def _add_shared(shared: list[int], units: Sequence[_Unit], other: Sequence[_Unit]) -> None:
    """Add to `shared` how many positions of each unit are in units of another annotator; both are by position."""
    i = j = 0
    while i < len(units) and j < len(other):
        shared[i] += max(0, min(units[i][1], other[j][1]) - max(units[i][0], other[j][0]))
        if units[i][1] <= other[j][1]:
            i += 1
        else:
            j += 1
