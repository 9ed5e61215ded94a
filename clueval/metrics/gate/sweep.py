"""The changes that every score makes in the counts of one component, while responses enter by falling score.

If the possible pairings are listed, the current pairs are kept and corrected. A possible pairing is taken
if and only if no better one that shares its target or its response is taken. So a response that enters can
only change pairings that follow, one by one, from its own pairings and from those whose score it lowers;
these are considered again, the best first. A pairing that is taken removes the worse ones of its target and
its response; the pairings of the spans that become free are considered in turn, later, since they are worse
still.

If there are too many to list, the parts that a response enters are paired anew. That costs
O(n log^2 n) for each score of a component of n annotations. No faster way is known, since every
score can change every pair. `MOST_WORK` limits it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from itertools import groupby
from operator import add, sub

from clueval.exceptions import UsageError
from clueval.metrics.gate.components import PARTIAL, STRICT, Component, PairingProblem, component_of, parts
from clueval.metrics.gate.counts import NAMES
from clueval.metrics.gate.pairing import count_component, overlap_of
from clueval.metrics.gate.touching import touches

MOST_WORK = 1_000_000
"""The greatest product of scores and annotations of a component whose possible pairings are not listed."""

Steps = Iterator[tuple[float, list[int]]]
"""Scores, falling, and the change of each in the counts, in the order of `NAMES`; targets are not counted."""

Edge = tuple[int, int, int]
"""The target, the response and the value of a possible pairing."""

Order = tuple[int, ...]
"""The order in which possible pairings are taken, the least first."""


def sweep(problem: PairingProblem, component: Component, scores: Sequence[float | None]) -> Steps:
    """Yield each score of a component and its changes; responses whose score is None are ignored.

    Raises `UsageError` if that would take too long; see `MOST_WORK`.
    """
    entering = [(score, number) for number in component.responses if (score := scores[number]) is not None]
    if len(entering) == 1 == len(component.responses):
        change = count_component(problem, component)
        change[0] = 0
        return iter([(entering[0][0], change)])
    entering.sort(reverse=True)
    groups = [
        (score, [number for _, number in group]) for score, group in groupby(entering, lambda entry: entry[0])
    ]
    return (_paired_anew if component.dense else _mended)(problem, component, groups)


Groups = Sequence[tuple[float, list[int]]]
"""Scores, falling, and the responses that have them."""


# Pairings that are not listed


def _paired_anew(problem: PairingProblem, component: Component, groups: Groups) -> Steps:
    _require_little_work(problem, component, len(groups))
    entered: list[int] = []
    known: dict[int, list[int]] = {}  # the counts of every part, by its first target
    for score, group in groups:
        entered += group
        new = set(group)
        change = [0] * len(NAMES)
        for targets, responses in parts(problem, component.targets, entered):
            if targets and not new.isdisjoint(responses):
                for target in targets:
                    if target in known:
                        change = list(map(sub, change, known.pop(target)))
                known[targets[0]] = counts = count_component(
                    problem, component_of(problem, targets, responses)
                )
                change = list(map(add, change, counts))
        change[0], change[1] = 0, len(group)
        yield score, change


def _require_little_work(problem: PairingProblem, component: Component, scores: int) -> None:
    annotations = len(component.targets) + len(component.responses)
    if scores * annotations > MOST_WORK:
        start = min(
            problem.targets[component.targets[0]].start, problem.responses[component.responses[0]].start
        )
        raise UsageError(
            f"{annotations:,} annotations, from position {start} on, overlap one another, directly or through "
            f"others, and have {scores:,} scores: counting them at every score takes too long",
            advice="set Gate.thresholds, for example to 11 or rounded",
        )


# Pairings that are listed


def _mended(problem: PairingProblem, component: Component, groups: Groups) -> Steps:
    taken = _Taken(problem, component)
    for score, group in groups:
        yield score, taken.enter(group)


class _Taken:
    """The current pairs of the responses that have entered, and their counts."""

    def __init__(self, problem: PairingProblem, component: Component) -> None:
        self._problem = problem
        self._values = {(pair.target, pair.response): pair.value for pair in component.pairs}
        self._of_response: dict[int, list[Edge]] = {number: [] for number in component.responses}
        self._of_target: dict[int, list[Edge]] = {number: [] for number in component.targets}
        self._lost_by_response = dict.fromkeys(component.responses, 0)
        for value, target, response, _ in component.pairs:
            self._of_response[response].append((target, response, value))
            self._lost_by_response[response] += value
        self._lost_by_target = dict.fromkeys(component.targets, 0)
        self._partners = {number: [0, 0, 0, 0] for number in component.targets}  # see `Partners`
        self._touched = _touched(problem, component)
        self._spurious = dict.fromkeys(
            component.targets, 0
        )  # for each target, how many truly spurious responses touch it
        self._points: Counter[int] = Counter()  # truly spurious responses of zero length, by position
        self._starting = _starting(problem, component)
        self._response_of: dict[int, int] = {}
        self._target_of: dict[int, int] = {}
        self._order: Callable[[Edge], Order] = {
            "plugin": self._by_score,
            "by-response": self._by_response,
            "by-target": self._by_target,
        }[problem.pairing]
        self._counts: dict[int, Sequence[int]] = dict.fromkeys(component.targets, _NOTHING)
        self._changed: set[int] = set()

    def enter(self, group: Sequence[int]) -> list[int]:
        """Add responses, and return the change in the counts."""
        self._changed = set()
        heap: list[tuple[Order, Edge]] = []
        lowered: set[int] = set()
        for number in group:
            for edge in self._of_response[number]:
                target, _, value = edge
                self._lost_by_target[target] += value
                self._of_target[target].append(edge)
                self._add_partner(target, value)
                lowered.add(target)
            self._set_spurious(number, 1)
        self._changed |= lowered
        for number in group:
            heap.extend((self._order(edge), edge) for edge in self._of_response[number])
        if self._problem.pairing == "plugin":
            for target in lowered:
                self._reconsider(heap, self._of_response.get(self._response_of.get(target, -1), ()))
        heapify(heap)
        self._mend(heap)
        change = [0] * len(NAMES)
        change[1] = len(group)
        for target in self._changed:
            counts = self._counted(target)
            change = [n + new - old for n, new, old in zip(change, counts, self._counts[target], strict=True)]
            self._counts[target] = counts
        return change

    def _mend(self, heap: list[tuple[Order, Edge]]) -> None:
        """Take the pairings that no better pair forbids, the best first."""
        while heap:
            order, edge = heappop(heap)
            target, response, _ = edge
            if self._response_of.get(target) == response or self._is_barred(order, edge):
                continue
            free: list[tuple[Order, Edge]] = []
            if target in self._response_of:
                other = self._response_of[target]
                barrier = self._put_out(target, other)
                free += [
                    (worse, each)
                    for each in self._of_response[other]
                    if (worse := self._order(each)) > barrier
                ]
            if response in self._target_of:
                other = self._target_of[response]
                barrier = self._put_out(other, response)
                free += [
                    (worse, each) for each in self._of_target[other] if (worse := self._order(each)) > barrier
                ]
            self._response_of[target], self._target_of[response] = response, target
            self._changed.add(target)
            self._set_spurious(response, -1)
            for entry in free:
                if not self._is_barred(*entry):
                    heappush(heap, entry)

    def _reconsider(self, heap: list[tuple[Order, Edge]], edges: Sequence[Edge]) -> None:
        entries = ((self._order(edge), edge) for edge in edges)
        heap.extend(entry for entry in entries if not self._is_barred(*entry))

    def _is_barred(self, order: Order, edge: Edge) -> bool:
        """Return whether a better pair that shares the target or the response is taken."""
        target, response, _ = edge
        partner, other = self._response_of.get(target), self._target_of.get(response)
        if partner is not None and partner != response and self._order_of(target, partner) < order:
            return True
        return other is not None and other != target and self._order_of(other, response) < order

    def _put_out(self, target: int, response: int) -> Order:
        """Remove a pair, and return its place in the order."""
        del self._response_of[target], self._target_of[response]
        self._changed.add(target)
        self._set_spurious(response, 1)
        return self._order_of(target, response)

    def _set_spurious(self, response: int, number: int) -> None:
        """Record that a response has become truly spurious (1) or no longer is (-1)."""
        for target in self._touched[response]:
            self._spurious[target] += number
            self._changed.add(target)
        span = self._problem.responses[response]
        if span.start == span.end:
            before = self._points[span.start]
            self._points[span.start] += number
            if not before or not self._points[span.start]:
                self._changed.update(self._starting.get(span.start, ()))

    def _add_partner(self, target: int, value: int) -> None:
        partners = self._partners[target]
        for place, counts in enumerate((1, value & 1, value >> 1, value == STRICT)):
            partners[place] += counts

    # Order

    def _order_of(self, target: int, response: int) -> Order:
        return self._order((target, response, self._values[target, response]))

    def _by_score(self, edge: Edge) -> Order:
        target, response, value = edge
        lost = self._lost_by_target[target] + self._lost_by_response[response]
        return lost - 3 * value, -response, -target

    def _by_response(self, edge: Edge) -> Order:
        target, response, value = edge
        return response, -value, -overlap_of(self._problem, target, response), target

    def _by_target(self, edge: Edge) -> Order:
        target, response, value = edge
        return target, -value, -overlap_of(self._problem, target, response), response

    # Counts

    def _counted(self, target: int) -> Sequence[int]:
        """Return the counts of a target: of its pair and of its possible pairings."""
        counts = [0] * len(NAMES)
        response = self._response_of.get(target)
        if response is not None:
            value = self._values[target, response]
            counts[5 - value] = 1
            if value >= PARTIAL and self._is_single(target):
                counts[9 - value] = 1
        every, same, equal, same_equal = self._partners[target]
        counts[8:] = [
            same > 0,
            every > 0,
            same > 1,
            every > 1,
            same == 1 == same_equal,
            every == 1 == equal,
        ]
        return counts

    def _is_single(self, target: int) -> bool:
        """Return whether no truly spurious response touches a target."""
        span = self._problem.targets[target]
        at_start = self._points[span.start] if span.start < span.end else 0
        return not self._spurious[target] and not at_start


_NOTHING = (0,) * len(NAMES)


def _touched(problem: PairingProblem, component: Component) -> dict[int, list[int]]:
    """Return the targets, among those it can pair with, that each response touches.

    A response of zero length may also touch targets that start at its position; see `_starting`.
    """
    found: dict[int, list[int]] = {number: [] for number in component.responses}
    for pair in component.pairs:
        if touches(problem.targets[pair.target], problem.responses[pair.response]):
            found[pair.response].append(pair.target)
    return found


def _starting(problem: PairingProblem, component: Component) -> dict[int, list[int]]:
    """Return the targets that have a length, by their starts."""
    found: dict[int, list[int]] = {}
    for number in component.targets:
        span = problem.targets[number]
        if span.start < span.end:
            found.setdefault(span.start, []).append(number)
    return found
