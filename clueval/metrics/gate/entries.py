"""What the ways of pairing share that do not list every possible pairing: entries, and a tree of maxima."""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar


class Entry(NamedTuple):
    """A target or a response of a component: its number by position, its range, and the keys by which it is compared.

    A target and a response are equal if they have a key in common; they never have more than one.
    """

    number: int
    start: int
    end: int
    keys: Sequence[Hashable]


def entries_by_key(entries: Iterable[Entry]) -> dict[Hashable, list[Entry]]:
    """Return the entries that have each key, in their order."""
    groups: dict[Hashable, list[Entry]] = {}
    for entry in entries:
        for key in entry.keys:
            groups.setdefault(key, []).append(entry)
    return groups


class SamePlace:
    """Finds the best of the spans that have a given start and end, or these and a key, and are left.

    `entries` come in order, the best last. `left` has the numbers of those that are not yet removed.
    """

    def __init__(self, entries: Iterable[Entry], left: Container[int]) -> None:
        self._left = left
        self._numbers: dict[Hashable, list[int]] = {}
        for entry in entries:
            place = entry.start, entry.end
            for where in (place, *((*place, key) for key in entry.keys)):
                self._numbers.setdefault(where, []).append(entry.number)

    def best(self, place: Hashable) -> int | None:
        """Return the number of the best span at ``(start, end)`` or ``(start, end, key)``; None without any."""
        numbers = self._numbers.get(place)
        while numbers and numbers[-1] not in self._left:
            numbers.pop()
        return numbers[-1] if numbers else None


Value = TypeVar("Value", int, tuple[int, int])


class Maxima(Generic[Value]):
    """A tree of maxima: finds the greatest value of a range of places in O(log n), while values change.

    The values have an order; `none` is less than all of them, and the greatest value of no places.

    >>> maxima = Maxima([3, 7, 5], none=-1)
    >>> maxima.put(1, -1)
    >>> maxima.greatest(0, 3), maxima.greatest(1, 2), maxima.first(0, 3, 4)
    (5, -1, 2)
    """

    def __init__(self, values: Sequence[Value], none: Value) -> None:
        self._size = len(values)
        self._none: Value = none
        self._tree: list[Value] = [none] * self._size + list(values)
        for node in range(self._size - 1, 0, -1):
            self._tree[node] = max(self._tree[2 * node], self._tree[2 * node + 1])

    def put(self, place: int, value: Value) -> None:
        node = place + self._size
        self._tree[node] = value
        while node > 1:
            node //= 2
            self._tree[node] = max(self._tree[2 * node], self._tree[2 * node + 1])

    def greatest(self, low: int, high: int) -> Value:
        """Return the greatest of the places from `low` to before `high`."""
        best: Value = self._none
        low, high = low + self._size, high + self._size
        while low < high:
            if low & 1:
                best = max(best, self._tree[low])
                low += 1
            if high & 1:
                high -= 1
                best = max(best, self._tree[high])
            low //= 2
            high //= 2
        return best

    def first(self, low: int, high: int, least: Value) -> int | None:
        """Return the first of these places with `least` or more."""
        after: list[int] = []
        low, high = low + self._size, high + self._size
        while low < high:
            if low & 1:
                if self._tree[low] >= least:
                    return self._leftmost(low, least)
                low += 1
            if high & 1:
                high -= 1
                after.append(high)
            low //= 2
            high //= 2
        node = next((node for node in reversed(after) if self._tree[node] >= least), None)
        return None if node is None else self._leftmost(node, least)

    def _leftmost(self, node: int, least: Value) -> int:
        while node < self._size:
            node *= 2
            if self._tree[node] < least:
                node += 1
        return node - self._size
