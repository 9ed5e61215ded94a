"""Items and units: positions and ranges with the values that annotators gave them, and what unitizing needs.

The keys of a tally are those of `clueval.second.agreement.metric`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import combinations, pairwise
from typing import Any

from clueval.core.tally import Tally
from clueval.second.agreement.readings import Readings

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
    unmarked = length
    for (position, number, change, label), following in pairwise([*events, *events[-1:]]):
        active[number][label] += change
        if not active[number][label]:
            del active[number][label]
        values[number] = value_of(active[number])
        here = following[0] - position
        if here and any(values.values()):
            _count_item(tally, POSITIONS, values, here)
            unmarked -= here
    if unmarked > 0:
        _count_item(tally, POSITIONS, dict.fromkeys(present), unmarked)


def count_ranges(tally: Tally, humans: Readings) -> None:
    """Count ranges as items."""
    found: dict[Any, dict[int, list[str]]] = {}
    for number, reading in enumerate(humans):
        for fragments, label in reading or ():
            found.setdefault(fragments, {}).setdefault(number, []).append(label)
    present = [number for number, reading in enumerate(humans) if reading is not None]
    for labels in found.values():
        values = {number: value_of(labels.get(number, ())) for number in present}
        _count_item(tally, RANGES, values, 1)


def _count_item(tally: Tally, items: str, values: dict[int, Value], n: int) -> None:
    """Count n items with the value of each annotator who has annotated them, by the annotator's number."""
    for (i, c), (j, k) in combinations(values.items(), 2):
        tally["pair", items, i, j, c, k] += n
    votes = Counter(values.values())
    marked = EACH if None not in votes else SOME if len(votes) > 1 else UNMARKED
    for c, often in votes.items():
        for k, others in votes.items():
            if pairs := often * (others - (c == k)):
                tally["o", items, marked, len(values), c, k] += n * pairs


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
