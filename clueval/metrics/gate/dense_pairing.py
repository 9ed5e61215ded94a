"""The pairing ``plugin`` without listing every possible pairing, for many spans over one another.

The value of a pairing is ``2 * equal + same place``, so a span's loss to conflicts follows from how
many spans it overlaps, how many of them are equal, and how many have its place: counted, not listed. The
greedy choice is found by following best partners: from any span to its best partner, from there to the best
partner of that one, and so on, until two are the best for each other. The greedy choice takes this pair
as well, since scores never change and no two pairings tie. Every step searches the heaviest span that
overlaps another; each span needs at most three steps, so the whole costs O(n log^2 n).

A span that overlaps ``[s, e)`` either starts within it, or starts before s and ends after it. For the first
kind there is a tree of maxima over the spans by start. For the second there is a tree over the positions:
each span is stored at the log n nodes that together make up its inside, sorted by weight; the spans over s
are found on the way from s to the root.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import NamedTuple

from clueval.metrics.gate.entries import Entry, Maxima, SamePlace, entries_by_key

Weight = tuple[int, int]
"""The value of a partner, then its number; the greatest is taken."""


class Partners(NamedTuple):
    """A span's numbers of possible pairings: all, at the same place, equal, and equal at the same place."""

    all: int
    same: int
    equal: int
    same_equal: int


class _Overlaps:
    """Counts the spans that overlap a given span."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._starts = sorted(entry.start for entry in entries)
        self._ends = sorted(entry.end for entry in entries)
        self._points = Counter(entry.start for entry in entries if entry.start == entry.end)

    def count(self, start: int, end: int) -> int:
        before = bisect_right(self._ends, start)
        if start == end:
            before -= self._points[start]  # those of zero length do not start before it either
        return bisect_left(self._starts, end) - before


def partners_of(own: Sequence[Entry], others: Sequence[Entry]) -> dict[int, Partners]:
    """Return the partners of every span of one side, by number. O(n log n)."""
    overlaps = _Overlaps(others)
    by_key = {key: _Overlaps(entries) for key, entries in entries_by_key(others).items()}
    places = Counter((entry.start, entry.end) for entry in others)
    equal_places = Counter((entry.start, entry.end, key) for entry in others for key in entry.keys)
    found = {}
    for number, start, end, keys in own:
        same, same_equal = places[start, end], sum([equal_places[start, end, key] for key in keys])
        every = overlaps.count(start, end)
        equal = sum([by_key[key].count(start, end) for key in keys if key in by_key])
        if start == end:  # two spans of zero length at one place can pair, but do not overlap
            every, equal = every + same, equal + same_equal
        found[number] = Partners(every, same, equal, same_equal)
    return found


def possible_pairings(targets: Sequence[Entry], responses: Sequence[Entry]) -> int:
    """Return the number of possible pairings, counted without listing them; O(n log n)."""
    overlaps = _Overlaps(responses)
    points = Counter(entry.start for entry in responses if entry.start == entry.end)
    return sum(
        overlaps.count(start, end) + (points[start] if start == end else 0) for _, start, end, _ in targets
    )


_NONE: Weight = (-(1 << 62), -1)


class _Heaviest:
    """Spans by position: finds the heaviest one that overlaps a given range and is not yet removed."""

    def __init__(self, entries: Sequence[Entry], weights: dict[int, int]) -> None:
        self._places = [(entry.start, entry.end) for entry in entries]
        self._at = {entry.number: place for place, entry in enumerate(entries)}
        self._starting = Maxima([(weights[entry.number], entry.number) for entry in entries], _NONE)
        # Slot 2i is the i-th position at which a span starts or ends, slot 2i + 1 is the gap after it.
        self._positions = sorted({position for place in self._places for position in place})
        self._slots = 2 * len(self._positions)
        self._over: dict[int, list[Weight]] = {}
        for entry in sorted(entries, key=lambda entry: (weights[entry.number], entry.number)):
            self._stand(entry, (weights[entry.number], entry.number))

    def _stand(self, entry: Entry, weight: Weight) -> None:
        """Store a span at the nodes that together make up its inside."""
        low = 2 * bisect_left(self._positions, entry.start) + 1 + self._slots
        high = 2 * bisect_left(self._positions, entry.end) + self._slots
        while low < high:
            if low & 1:
                self._over.setdefault(low, []).append(weight)
                low += 1
            if high & 1:
                high -= 1
                self._over.setdefault(high, []).append(weight)
            low //= 2
            high //= 2

    def remove(self, number: int) -> None:
        self._starting.put(self._at.pop(number), _NONE)

    def overlapping(self, start: int, end: int) -> Weight:
        return max(self._starting_within(start, end), self._lying_over(start))

    def _starting_within(self, start: int, end: int) -> Weight:
        if start == end:
            return _NONE
        # from (start, start + 1), since a span of zero length at the start does not overlap
        low = bisect_left(self._places, (start, start + 1))
        return self._starting.greatest(low, bisect_left(self._places, (end, end)))

    def _lying_over(self, position: int) -> Weight:
        best = _NONE
        place = bisect_left(self._positions, position)
        if place == len(self._positions):
            return best
        if self._positions[place] == position:
            node = 2 * place + self._slots
        elif place:
            node = 2 * place - 1 + self._slots
        else:
            return best
        while node:
            standing = self._over.get(node)
            if standing:
                while standing and standing[-1][1] not in self._at:
                    standing.pop()
                if standing:
                    best = max(best, standing[-1])
            node //= 2
        return best


class _Side:
    """One side: finds the best partner for a span of the other side."""

    def __init__(self, entries: Sequence[Entry], partners: dict[int, Partners]) -> None:
        self.entries = {entry.number: entry for entry in entries}
        self._weights = {number: -(2 * own.equal + own.same) for number, own in partners.items()}
        self._all = _Heaviest(entries, self._weights)
        self._by_key = {
            key: _Heaviest(group, self._weights) for key, group in entries_by_key(entries).items()
        }
        by_weight = sorted(entries, key=lambda entry: (self._weights[entry.number], entry.number))
        self._same = SamePlace(by_weight, self.entries)

    def remove(self, number: int) -> None:
        entry = self.entries.pop(number)
        self._all.remove(number)
        for key in entry.keys:
            self._by_key[key].remove(number)

    def best_for(self, asking: Entry) -> int | None:
        """Return the number of the best partner, or None: the best of each kind of partner are compared."""
        _, start, end, keys = asking
        candidates = [(0, self._all.overlapping(start, end)), (3, self._at_place((start, end)))]
        for key in keys:
            if key in self._by_key:
                candidates.append((6, self._by_key[key].overlapping(start, end)))
                candidates.append((9, self._at_place((start, end, key))))
        _, number = max((weight[0] + value, weight[1]) for value, weight in candidates)
        return None if number < 0 else number

    def _at_place(self, place: Hashable) -> Weight:
        number = self._same.best(place)
        return _NONE if number is None else (self._weights[number], number)


def best_pairs(
    targets: Sequence[Entry],
    responses: Sequence[Entry],
    of_targets: dict[int, Partners],
    of_responses: dict[int, Partners],
) -> list[tuple[int, int]]:
    """Return the pairs that are taken, as numbers of target and response, in no particular order.

    Both sides are sorted by position, with rising numbers, and come with their values of `partners_of`.
    """
    sides = (_Side(targets, of_targets), _Side(responses, of_responses))
    pairs = []
    for first in responses:
        chain = [first] if first.number in sides[1].entries else []  # responses and targets by turns
        while chain:
            of_target = len(chain) % 2 == 0  # the last span of the chain is a target
            best = sides[of_target].best_for(chain[-1])
            if best is None:
                sides[1].remove(chain.pop().number)
            elif len(chain) > 1 and chain[-2].number == best:
                one, other = chain.pop().number, best
                chain.pop()
                target, response = (one, other) if of_target else (other, one)
                sides[0].remove(target)
                sides[1].remove(response)
                pairs.append((target, response))
            else:
                chain.append(sides[of_target].entries[best])
    return pairs
