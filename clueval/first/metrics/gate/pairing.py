"""The pairing of responses with targets.

A pairing of a target and a response is possible if the two overlap or have the same start and end (two spans
of zero length at one place have the same start and end without overlapping). Discontinuous spans overlap if they share
a position, and have the same start and end if they have the same fragments. Its value: 2 if they are equal
(see `clueval.first.metrics.gate.equality`) plus 1 if they have the same start and end. So 3 is *correct strict*, 2
*correct partial*, 1 *incorrect strict*, 0 *incorrect partial*. Each target and each response is in at most
one pair. There are three ways to choose the pairs:

``plugin``
    The score of a possible pairing is its value minus the values of all other possible pairings that share
    its target or its response. The best score is taken first; of equal scores the response that starts later,
    then ends later, then has the greater id; then the target by the same rules. Where ids do not count, as in
    lists, JSON and brat, the order of `clueval.spans.ordering` stands for them. Scores are computed before any
    pair is taken. So a strict match can be lost if both of its spans have other partners::

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

The possible pairings divide the spans into components, which `components` finds by a sweep over the starts; spans of
different components never touch, so each component is solved alone. All its possible pairings are listed. Where very
many spans lie over one another these are too many, which is an error; see `clueval.spans.limits`.

Sources: the behaviour of GATE's plugin Evaluation; for the other two the notes of its authors ("Strategy for
finding the counts" and "P/R/F: we process by target").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from clueval.core.span import Span
from clueval.spans.flat import by_position
from clueval.spans.index import SpanIndex
from clueval.spans.limits import PAIRINGS_OF_SPAN, require_few_pairs
from clueval.spans.ordering import sorting_key
from clueval.spans.overlaps import shared_positions, sharing

PAIRINGS = ("plugin", "by-response", "by-target")

STRICT, PARTIAL, MISMATCH = 3, 2, 1
"""The values of a pairing; that of a partial mismatch is 0."""


class PairingProblem(NamedTuple):
    """The targets and the responses of one evaluation, in order of position, and the test of equality."""

    targets: Sequence[Span]
    responses: Sequence[Span]
    equal: Callable[[int, int], bool]
    pairing: str = "plugin"


class Pair(NamedTuple):
    """A pairing: its value, the numbers of its target and its response, and the tie-break of the response.

    The numbers count the targets and the responses by position, so a greater number is a later span.
    """

    value: int
    target: int
    response: int
    rank: int


class Component(NamedTuple):
    """Targets and responses that are connected by touching, and the possible pairings among them."""

    targets: list[int]
    responses: list[int]
    pairs: list[Pair]


class Solution(NamedTuple):
    """The result for a component: the pairs that are taken, those that are single correct, and the other responses.

    A correct pair is single if no truly spurious response touches its target.
    """

    taken: list[Pair]
    single: list[Pair]
    spurious: list[int]


# Components


def in_order(spans: Iterable[Span]) -> list[Span]:
    """Return the spans by start, end and id; a span without an id has its place in `by_content` as its id.

    Numeric ids come before text ids; spans with the same id come as in `by_content`.
    """
    listed = by_content(spans)
    if all(span.id is None for span in listed):
        return listed
    numbered = [(span.start, span.end, *_rank(span, place)) for place, span in enumerate(listed)]
    return [listed[place] for place in sorted(range(len(listed)), key=numbered.__getitem__)]


def by_content(spans: Iterable[Span], features: Iterable[str] | None = None) -> list[Span]:
    """Return the spans by `sorting_key`; `features` are the names of the features that count, None: all."""
    listed = list(spans)
    if all(by_position(one) < by_position(other) for one, other in pairwise(listed)):
        return listed
    return sorted(listed, key=lambda span: sorting_key(span, features))


def _rank(span: Span, place: int) -> tuple[bool, int, str]:
    if span.id is None:
        return False, place, ""
    return (False, span.id, "") if isinstance(span.id, int) else (True, 0, span.id)


def components(problem: PairingProblem) -> Iterator[Component]:
    """Yield all components, by position; a span alone is a component without pairings.

    Costs O(n log n), plus the number of possible pairings. Raises `LimitError` for too many of these.
    """
    for targets, responses in _parts(problem):
        yield Component(targets, responses, _possible(problem, targets, responses))


def _parts(problem: PairingProblem) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the numbers of the targets and the responses of each component: a sweep over the starts."""
    events = sorted(
        (span.start, span.end, is_response, number)
        for is_response, spans in enumerate(problem[:2])
        for number, span in enumerate(spans)
    )
    found: tuple[list[int], list[int]] = ([], [])
    reach = -1.0
    for start, end, is_response, number in events:
        if start >= reach:
            if reach >= 0:
                yield found
                found = ([], [])
            # a span of zero length is connected with the spans that start at its position
            reach = end if start < end else end + 0.5
        elif end > reach:
            reach = end
        found[is_response].append(number)
    if events:
        yield found


def _possible(problem: PairingProblem, targets: Sequence[int], responses: Sequence[int]) -> list[Pair]:
    """Return all possible pairings of a component."""
    if not targets or not responses:
        return []
    if len(targets) == 1 == len(responses):
        one, other = problem.targets[targets[0]], problem.responses[responses[0]]
        possible = one.overlaps(other) or have_same_place(one, other)
        return [_pair(problem, targets[0], responses[0])] if possible else []
    own = [problem.targets[number] for number in targets]
    others = [problem.responses[number] for number in responses]
    points: dict[int, list[int]] = {}
    for place, span in enumerate(others):
        if span.start == span.end:
            points.setdefault(span.start, []).append(place)
    pairs: list[Pair] = []
    for target, span, found in zip(targets, own, sharing(own, others, PAIRINGS_OF_SPAN), strict=True):
        if span.start == span.end:
            found += points.get(span.start, ())
        require_few_pairs(len(pairs) + len(found), len(own) + len(others), of_span=PAIRINGS_OF_SPAN)
        pairs += [_pair(problem, target, responses[place]) for place in found]
    return pairs


def _pair(problem: PairingProblem, target: int, response: int) -> Pair:
    same = have_same_place(problem.targets[target], problem.responses[response])
    return Pair(2 * problem.equal(target, response) + same, target, response, response)


def have_same_place(one: Span, other: Span) -> bool:
    """Return whether two spans have the same start and end or, if they are discontinuous, the same fragments."""
    return one.start == other.start and one.end == other.end and one.parts == other.parts


# Touching


def touches(one: Span, other: Span) -> bool:
    """Return whether GATE returns `other` when it is asked for the annotations that overlap `one`.

    This is the same as `Span.overlaps`, except that a span of zero length at the start of a span with a
    length also touches it.

    >>> touches(Span(3, 5), Span(3, 3)), touches(Span(3, 5), Span(5, 5)), touches(Span(3, 3), Span(3, 5))
    (True, False, False)
    """
    return any(
        other_start < start < other_end or start <= other_start < end
        for start, end in one.fragments
        for other_start, other_end in other.fragments
    )


class Touching:
    """An index of spans by their ranges, which finds those that overlap or touch a given span."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self._spans = list(spans)
        self._numbers: dict[tuple[int, int], list[int]] = {}
        for number, span in enumerate(self._spans):
            self._numbers.setdefault((span.start, span.end), []).append(number)
        self._index = SpanIndex(Span(start, end) for start, end in self._numbers)

    def overlapping(self, span: Span, *also: tuple[int, int]) -> list[int]:
        """Return the numbers of the spans whose range overlaps that of `span` or is one of `also`, rising."""
        ranges = {(other.start, other.end) for other in self._index.overlapping(Span(span.start, span.end))}
        return sorted(number for one in ranges.union(also) for number in self._numbers.get(one, ()))

    def touching(self, span: Span) -> list[int]:
        """Return the numbers of the spans whose range touches that of `span`, rising; see `touches`."""
        also = [(span.start, span.start)] if span.start < span.end else []
        return self.overlapping(span, *also)

    def find(self, span: Span) -> list[Span]:
        """Return the spans that touch `span`, by position."""
        numbers = self.touching(span)
        found = [other for number in numbers if touches(span, other := self._spans[number])]
        return sorted(found, key=lambda other: (other.start, other.end))


# Choice


def solve(problem: PairingProblem, component: Component) -> Solution:
    """Return the pairs of a component, chosen by `problem.pairing`."""
    taken = _chosen(problem, component.pairs)
    used = {pair.response for pair in taken}
    spurious = [number for number in component.responses if number not in used]
    correct = [pair for pair in taken if pair.value >= PARTIAL]
    if not correct or not spurious:
        return Solution(taken, correct, spurious)
    targets, responses = problem.targets, problem.responses
    # spans that can be paired touch, unless they are of zero length and at one place
    touched = {
        pair.target
        for pair in component.pairs
        if pair.response not in used and (len(targets[pair.target]) or not pair.value & 1)
    }
    # a response of zero length also touches the targets that start at its position
    points = {responses[number].start for number in spurious if not len(responses[number])}
    single = [
        pair
        for pair in correct
        if pair.target not in touched
        and not any(start in points and start < end for start, end in targets[pair.target].fragments)
    ]
    return Solution(taken, single, spurious)


def _chosen(problem: PairingProblem, pairs: Sequence[Pair]) -> list[Pair]:
    """Return the pairs chosen by `problem.pairing` from all possible pairings of a component."""
    if len(pairs) < 2:
        return list(pairs)
    if problem.pairing == "plugin":
        return best_first(pairs)

    def overlap(pair: Pair) -> int:
        return shared_positions(problem.targets[pair.target], problem.responses[pair.response])

    if problem.pairing == "by-response":
        return _taken(sorted(pairs, key=lambda p: (p.response, -p.value, -overlap(p), p.target)))
    return _taken(sorted(pairs, key=lambda p: (p.target, -p.value, -overlap(p), p.response)))


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


# Counts


def count(problem: PairingProblem) -> list[int]:
    """Return the counts of all components together. O(n log n), plus the number of possible pairings."""
    found = Counter(tuple(count_component(problem, component)) for component in components(problem))
    counts = [0] * 14
    for own, times in found.items():
        counts = [number + times * each for number, each in zip(counts, own, strict=True)]
    return counts


def count_component(problem: PairingProblem, component: Component) -> list[int]:
    """Return the counts of one component, in the order of `clueval.first.metrics.gate.counts.NAMES`."""
    counts = [len(component.targets), len(component.responses), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    if not component.pairs:
        return counts
    if len(component.targets) == 1 == len(component.responses):
        for place in _ALONE[component.pairs[0].value]:
            counts[place] = 1
        return counts
    taken, single, _ = solve(problem, component)
    for pair in taken:
        counts[5 - pair.value] += 1
    for pair in single:
        counts[9 - pair.value] += 1
    values: dict[int, list[int]] = {}
    for pair in component.pairs:
        values.setdefault(pair.target, []).append(pair.value)
    for own in values.values():
        strict = own.count(STRICT)
        same = strict + own.count(MISMATCH)
        counts[8] += same > 0
        counts[9] += 1
        counts[10] += same > 1
        counts[11] += len(own) > 1
        counts[12] += same == 1 == strict
        counts[13] += len(own) == 1 and own[0] >= PARTIAL
    return counts


_ALONE = ((5, 9), (4, 8, 9), (3, 7, 9, 13), (2, 6, 8, 9, 12, 13))
"""The counts of a target and a response that overlap nothing else, by the value of their pairing."""
