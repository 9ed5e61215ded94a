"""The pairing of responses with targets.

A pairing of a target and a response is possible if the two overlap or have the same start and end (two spans
of zero length at one place have the same start and end without overlapping). Discontinuous spans overlap if they share
a position, and have the same start and end if they have the same fragments. Its value: 2 if they are equal
(see `clueval.metrics.gate.equality`) plus 1 if they have the same start and end. So 3 is *correct strict*, 2
*correct partial*, 1 *incorrect strict*, 0 *incorrect partial*. Each target and each response is in at most
one pair. There are three ways to choose the pairs:

``plugin``
    The score of a possible pairing is its value minus the values of all other possible pairings that share
    its target or its response. The best score is taken first; of equal scores the response that starts later,
    then ends later, then has the greater id; then the target by the same rules. Scores are computed before
    any pair is taken. So a strict match can be lost if both of its spans have other partners::

        targets    [0,5) [4,10)           [4,10)-[4,10): 3 - 2 - 2 = -1
        responses        [4,10) [9,14)    [0,5)-[4,10): 2 - 3 = -1,  [4,10)-[9,14): 2 - 3 = -1

    All scores are equal, so the later response goes first, and the result is two partial pairs.

``by-response``
    Each response, by position, takes the best of the remaining targets: the highest value, then the longest
    overlap, then the earliest target. Above, [4,10) takes the target [4,10): one strict pair; one target and
    one response are left over.

``by-target``
    The same with the roles exchanged. Above, the target [0,5) takes the response [4,10) first, and [9,14) is
    left for [4,10): two partial pairs. With the targets [4,10) [9,14) and the responses [0,5) [4,10),
    by-target finds the strict pair and by-response does not.

The two last ways do not list every possible pairing. A span takes, of the spans of the other side, an equal one at
the same place, then the equal one with the longest overlap, then one at the same place, then the longest overlap; of
equally good spans the earliest. The longest overlap with ``[s, e)`` is one of three, and each is found in a tree over
the spans by position:

* among spans that start at s or before: the one that ends last, or the first that ends at e or after;
* among spans that start within and end at e or after: the first;
* among spans that lie within: the longest. For this every node of the tree has its spans by their ends, and over them a
  tree of the longest, which finds the longest of those that end at e or before.

A search costs O(log^2 n), and so does removing a span; the trees hold O(n log n) numbers.

Sources: the behaviour of GATE's plugin Evaluation; for the other two the notes of its authors ("Strategy for
finding the counts" and "P/R/F: we process by target").
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from clueval.metrics.gate.components import (
    MISMATCH,
    PARTIAL,
    STRICT,
    Component,
    Pair,
    PairingProblem,
    component_of,
    entries_of,
    parts,
    value_if_possible,
)
from clueval.metrics.gate.dense_pairing import Partners, best_pairs, partners_of
from clueval.metrics.gate.entries import Entry, Maxima, SamePlace, entries_by_key
from clueval.metrics.gate.touching import Touching, touches
from clueval.spans.overlaps import shared_positions

PAIRINGS = ("plugin", "by-response", "by-target")


class Solution(NamedTuple):
    """The result for a component: the pairs, and for each target the counts of its possible pairings."""

    pairs: list[Pair]
    partners: Iterable[Partners]


def solve(problem: PairingProblem, component: Component) -> Solution:
    """Return the pairs of a component, chosen by `problem.pairing`, and the partners of its targets."""
    targets, responses, pairs, dense = component
    if dense:
        own, others = entries_of(problem, targets, responses)
        of_targets = partners_of(own, others)
        taken = []
        for target, response in _chosen(problem.pairing, own, others, of_targets):
            one, other = problem.targets[target], problem.responses[response]
            same = one.start == other.start and one.end == other.end
            taken.append(Pair(2 * problem.equal(target, response) + same, target, response, response))
        return Solution(taken, of_targets.values())
    values: dict[int, list[int]] = {}
    for value, target, _, _ in pairs:
        values.setdefault(target, []).append(value)
    return Solution(choose(problem, pairs), map(_partners, values.values()))


def _chosen(
    pairing: str, own: Sequence[Entry], others: Sequence[Entry], of_targets: dict[int, Partners]
) -> Iterable[tuple[int, int]]:
    """Return the pairs, if the possible pairings are not listed."""
    if pairing == "plugin":
        return best_pairs(own, others, of_targets, partners_of(others, own))
    if pairing == "by-target":
        return pairs_in_turn(own, others)
    return ((target, response) for response, target in pairs_in_turn(others, own))


def _partners(values: Sequence[int]) -> Partners:
    strict = values.count(STRICT)
    same = strict + values.count(MISMATCH)
    return Partners(len(values), same, strict + values.count(PARTIAL), strict)


def choose(problem: PairingProblem, pairs: Sequence[Pair]) -> list[Pair]:
    """Return the pairs chosen by `problem.pairing` from all possible pairings of a component."""
    if len(pairs) < 2:
        return list(pairs)
    if problem.pairing == "plugin":
        return best_first(pairs)

    def overlap(pair: Pair) -> int:
        return overlap_of(problem, pair.target, pair.response)

    if problem.pairing == "by-response":
        return _taken(sorted(pairs, key=lambda p: (p.response, -p.value, -overlap(p), p.target)))
    return _taken(sorted(pairs, key=lambda p: (p.target, -p.value, -overlap(p), p.response)))


def overlap_of(problem: PairingProblem, target: int, response: int) -> int:
    """Return how many positions a target and a response share."""
    one, other = problem.targets[target], problem.responses[response]
    if one.parts is not None or other.parts is not None:
        return shared_positions(one, other)
    return min(one.end, other.end) - max(one.start, other.start)


def best_first(pairs: Sequence[Pair]) -> list[Pair]:
    """Return the pairs that are taken under ``plugin``, best first."""
    # The values of all pairings that share the target, and of all that share the response, both include
    # this one, so the score is value - (of_target - value) - (of_response - value).
    of_target: Counter[int] = Counter()
    of_response: Counter[int] = Counter()
    for value, target, response, _ in pairs:
        of_target[target] += value
        of_response[response] += value
    return _taken(
        sorted(
            pairs,
            key=lambda p: (3 * p[0] - of_target[p[1]] - of_response[p[2]], p[3], p[1], p[2]),
            reverse=True,
        )
    )


def _taken(pairs: Iterable[Pair]) -> list[Pair]:
    """Return the pairs whose target and response are in no earlier pair."""
    targets: set[int] = set()
    responses: set[int] = set()
    taken = []
    for pair in pairs:
        if pair.target not in targets and pair.response not in responses:
            targets.add(pair.target)
            responses.add(pair.response)
            taken.append(pair)
    return taken


def single(problem: PairingProblem, taken: Iterable[Pair], spurious: Sequence[int]) -> list[Pair]:
    """Return the correct pairs whose target no truly spurious response touches."""
    correct = [pair for pair in taken if pair.value >= PARTIAL]
    if not correct or not spurious:
        return correct
    left = [problem.responses[number] for number in spurious]
    if len(left) * len(correct) < _FEW:
        targets = problem.targets
        return [pair for pair in correct if not any(touches(targets[pair.target], span) for span in left)]
    others = Touching(left)
    return [pair for pair in correct if not others.any(problem.targets[pair.target])]


_FEW = 50
"""Up to this many tests whether a span touches another, testing all is cheaper than an index."""


def count_component(problem: PairingProblem, component: Component) -> list[int]:
    """Return the counts of one component, in the order of `clueval.metrics.gate.counts.NAMES`."""
    targets, responses, pairs, dense = component
    counts = [len(targets), len(responses), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    if not pairs and not dense:
        return counts
    if pairs and len(targets) == 1 == len(responses):
        for place in _ALONE[pairs[0].value]:
            counts[place] = 1
        return counts
    taken, partners = solve(problem, component)
    for pair in taken:
        counts[5 - pair.value] += 1
    used = {pair.response for pair in taken}
    spurious = [number for number in responses if number not in used]
    for pair in single(problem, taken, spurious):
        counts[9 - pair.value] += 1
    for every, same, equal, same_equal in partners:
        counts[8] += same > 0
        counts[9] += every > 0
        counts[10] += same > 1
        counts[11] += every > 1
        counts[12] += same == 1 == same_equal
        counts[13] += every == 1 == equal
    return counts


def count(problem: PairingProblem) -> list[int]:
    """Return the counts of all components together. O(n log n), plus the number of possible pairings."""
    counts = [len(problem.targets), len(problem.responses)] + [0] * 12
    alone = [0, 0, 0, 0]  # components of one target and one response, by the value of their pairing
    for targets, responses in parts(problem):
        if not targets or not responses:
            continue
        if len(targets) == 1 == len(responses):
            value = value_if_possible(problem, targets[0], responses[0])
            if value is not None:
                alone[value] += 1
            continue
        component = component_of(problem, targets, responses)
        for place, number in enumerate(count_component(problem, component)[2:], 2):
            counts[place] += number
    for value, number in enumerate(alone):
        if number:
            sample = _ALONE[value]
            for place in sample:
                counts[place] += number
    return counts


_ALONE = ((5, 9), (4, 8, 9), (3, 7, 9, 13), (2, 6, 8, 9, 12, 13))
"""The counts of a target and a response that overlap nothing else, by the value of their pairing."""


Found = tuple[int, int]
"""The number of shared positions, and the span's negative place, so that the greatest is the earliest."""

_NOTHING: Found = (-1, 0)


class _Within:
    """Spans by position: finds the longest of a range of places that ends at a position or before."""

    def __init__(self, starts: Sequence[int], ends: Sequence[int]) -> None:
        self._size = size = len(starts)
        # an end, or a length, and a place in one number, in which the earlier place has the greater length
        self._ends = [end * size + place for place, end in enumerate(ends)]
        lengths = [
            (end - start) * size + size - 1 - place
            for place, (start, end) in enumerate(zip(starts, ends, strict=True))
        ]
        self._by_end: list[list[int]] = [[]] * size + [[end] for end in self._ends]
        for node in range(size - 1, 0, -1):
            self._by_end[node] = sorted(self._by_end[2 * node] + self._by_end[2 * node + 1])
        self._longest = [Maxima([lengths[end % size] for end in by_end], -1) for by_end in self._by_end]

    def remove(self, place: int) -> None:
        node = place + self._size
        while node:
            by_end = self._by_end[node]
            self._longest[node].put(bisect_left(by_end, self._ends[place]), -1)
            node //= 2

    def longest(self, low: int, high: int, end: int) -> Found:
        best = -1
        limit = (end + 1) * self._size
        low, high = low + self._size, high + self._size
        while low < high:
            for node in (low,) * (low & 1) + (high - 1,) * (high & 1):
                best = max(best, self._longest[node].greatest(0, bisect_left(self._by_end[node], limit)))
            low = (low + 1) // 2
            high //= 2
        if best < 0:
            return _NOTHING
        length, place = divmod(best, self._size)
        return length, place - self._size + 1


class _LongestOverlap:
    """Spans by position: finds the one that shares most positions with a given range."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._numbers = [entry.number for entry in entries]
        self._starts = [entry.start for entry in entries]
        ends = [entry.end for entry in entries]
        self._ends = Maxima(ends, -1)
        self._within = _Within(self._starts, ends)

    def remove(self, number: int) -> None:
        place = bisect_left(self._numbers, number)
        self._ends.put(place, -1)
        self._within.remove(place)

    def best(self, start: int, end: int) -> int | None:
        """Return the number of the span; the earliest of those that share as much."""
        shared, place = max(self._across(start, end), self._inside(start, end))
        return None if shared < 0 else self._numbers[-place]

    def _across(self, start: int, end: int) -> Found:
        """Search the spans that start at the start or before; a range of zero length must lie inside them."""
        high = (bisect_left if start == end else bisect_right)(self._starts, start)
        last = self._ends.greatest(0, high)
        if last <= start:
            return _NOTHING
        place = self._ends.first(0, high, min(last, end) if start < end else start + 1)
        assert place is not None  # at least the one that ends last
        return min(last, end) - start, -place

    def _inside(self, start: int, end: int) -> Found:
        """Search the spans that start after the start."""
        low, high = bisect_right(self._starts, start), bisect_left(self._starts, end)
        if low >= high:
            return _NOTHING
        best = self._within.longest(low, high, end)
        place = self._ends.first(low, high, end)
        return best if place is None else max(best, (end - self._starts[place], -place))


class _Free:
    """The spans of one side that are not yet taken."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = {entry.number: entry for entry in entries}
        self._all = _LongestOverlap(entries)
        self._same = SamePlace(reversed(entries), self._entries)
        self._by_key = {key: _LongestOverlap(group) for key, group in entries_by_key(entries).items()}

    def take(self, asking: Entry) -> int | None:
        """Return the number of the best span for `asking`, and remove that span."""
        number = self._best(asking)
        if number is not None:
            self._all.remove(number)
            for key in self._entries.pop(number).keys:
                self._by_key[key].remove(number)
        return number

    def _best(self, asking: Entry) -> int | None:
        _, start, end, keys = asking
        known = [key for key in keys if key in self._by_key]
        equal = [self._same.best((start, end, key)) for key in known]
        if (number := _first(equal)) is not None:
            return number
        # spans with different keys are compared by the overlap
        longest = [self._by_key[key].best(start, end) for key in known]
        there = [number for number in longest if number is not None]
        if there:
            return max(there, key=lambda number: (self._shared(number, start, end), -number))
        number = self._same.best((start, end))
        return self._all.best(start, end) if number is None else number

    def _shared(self, number: int, start: int, end: int) -> int:
        entry = self._entries[number]
        return min(entry.end, end) - max(entry.start, start)


def _first(numbers: Sequence[int | None]) -> int | None:
    return min([number for number in numbers if number is not None], default=None)


def pairs_in_turn(asking: Sequence[Entry], others: Sequence[Entry]) -> list[tuple[int, int]]:
    """Return the pairs that are taken if the spans of `asking` choose in turn: their numbers, then the
    others'.

    Both sides are sorted by position, with rising numbers. O(n log^2 n).
    """
    free = _Free(others)
    taken = ((entry.number, free.take(entry)) for entry in asking)
    return [(number, other) for number, other in taken if other is not None]
