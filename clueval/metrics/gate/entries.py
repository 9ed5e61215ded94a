"""The targets or the responses of a component whose possible pairings are not listed."""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Sequence
from typing import NamedTuple


class Entry(NamedTuple):
    """A target or a response: its number by position, its range, and the keys by which it is compared.

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
