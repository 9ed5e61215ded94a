"""The pairing of responses with targets.

A pairing of a target and a response is possible if the two overlap or have the same start and end (two spans
of zero length at one place have the same start and end without overlapping). Its value: 2 if they are equal
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

Sources: the behaviour of GATE's plugin Evaluation; for the other two the notes of its authors ("Strategy for
finding the counts" and "P/R/F: we process by target").
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from clueval.metrics.gate.dense_pairing import Entry, Partners, best_pairs, partners_of, possible_pairings
from clueval.metrics.gate.equality import Keys
from clueval.metrics.gate.in_turn import pairs_in_turn
from clueval.spans.span import Span

PAIRINGS = ("plugin", "by-response", "by-target")

STRICT, PARTIAL, MISMATCH, WRONG = 3, 2, 1, 0
"""The values of a pairing."""


class Pair(NamedTuple):
    """A pairing: its value, the numbers of its target and its response, and the tie-break of the response.

    The numbers count the targets and the responses by position, so a greater number is a later span.
    """

    value: int
    target: int
    response: int
    rank: int


class Component(NamedTuple):
    """Targets and responses that are connected by touching, and the possible pairings among them.

    `dense` means that there are too many pairings to list; `pairs` is then empty.
    """

    targets: list[int]
    responses: list[int]
    pairs: list[Pair]
    dense: bool = False


class Problem(NamedTuple):
    """The targets and the responses of one evaluation, in order of position, and the test of equality."""

    targets: Sequence[Span]
    responses: Sequence[Span]
    equal: Callable[[int, int], bool]
    pairing: str = "plugin"
    keys: Keys | None = None
    """The keys of targets and of responses: a target and a response are equal if they share one."""


def in_order(spans: Iterable[Span]) -> list[Span]:
    """Return the spans by start, end and id; a span without an id has its place in the list as its id.

    Numeric ids come before text ids; spans with the same id keep their order.
    """
    listed = list(spans)
    if all(span.id is None for span in listed):
        return sorted(listed, key=lambda span: (span.start, span.end))
    numbered = [(span.start, span.end, *_rank(span, place)) for place, span in enumerate(listed)]
    return [listed[place] for place in sorted(range(len(listed)), key=numbered.__getitem__)]


def _rank(span: Span, place: int) -> tuple[bool, int, str]:
    if span.id is None:
        return False, place, ""
    return (False, span.id, "") if isinstance(span.id, int) else (True, 0, span.id)


def touches(one: Span, other: Span) -> bool:
    """Return whether GATE returns `other` when it is asked for the annotations that overlap `one`.

    This is the same as `Span.overlaps`, except that a span of zero length at the start of a span with a
    length also touches it.

    >>> touches(Span(3, 5), Span(3, 3)), touches(Span(3, 5), Span(5, 5)), touches(Span(3, 3), Span(3, 5))
    (True, False, False)
    """
    return other.start < one.start < other.end or one.start <= other.start < one.end


class Touching:
    """An index that tests whether any of its spans touches a given span; each test costs O(log n).

    The touching spans are those that start before the end of the given span, minus those that end before or
    at its start (except spans of zero length at its start).
    """

    __slots__ = ("_ends", "_points", "_starts")

    def __init__(self, spans: Iterable[Span]) -> None:
        listed = list(spans)
        self._starts = sorted(span.start for span in listed)
        self._ends = sorted(span.end for span in listed)
        self._points = Counter(span.start for span in listed if span.start == span.end)

    def any(self, span: Span) -> bool:
        """Return whether `touches` is true for the span and any of these."""
        before = bisect_right(self._ends, span.start) - self._points[span.start]
        return bisect_left(self._starts, span.end) > before


def components(problem: Problem, most_listed: int | None = None) -> Iterator[Component]:
    """Yield all components, by position; a span alone is a component without pairings.

    If there are more possible pairings for each span than `most_listed` (None: a few), they are not listed.
    Costs O(n log n).
    """
    for targets, responses in parts(problem):
        yield component_of(problem, targets, responses, most_listed)


def component_of(
    problem: Problem, targets: list[int], responses: list[int], most_listed: int | None = None
) -> Component:
    """Return the component of these targets and responses."""
    if not targets or not responses:
        return Component(targets, responses, [])
    if _is_dense(problem, targets, responses, _LISTED if most_listed is None else most_listed):
        return Component(targets, responses, [], dense=True)
    return Component(targets, responses, _possible(problem, targets, responses))


def parts(
    problem: Problem,
    chosen_targets: Iterable[int] | None = None,
    chosen_responses: Iterable[int] | None = None,
) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the numbers of the targets and the responses of each component: a sweep over the starts.

    Spans that are not chosen (None: all are) are ignored.
    """
    events = []
    for is_response, spans, chosen in (
        (False, problem.targets, chosen_targets),
        (True, problem.responses, chosen_responses),
    ):
        for number in range(len(spans)) if chosen is None else chosen:
            events.append((spans[number].start, spans[number].end, is_response, number))
    events.sort()
    targets: list[int] = []
    responses: list[int] = []
    reach = -1.0
    for start, end, is_response, number in events:
        if start >= reach:
            if targets or responses:
                yield targets, responses
                targets, responses = [], []
            # a span of zero length is connected with the spans that start at its position
            reach = end if start < end else end + 0.5
        elif end > reach:
            reach = end
        (responses if is_response else targets).append(number)
    if targets or responses:
        yield targets, responses


def _possible(problem: Problem, targets: Sequence[int], responses: Sequence[int]) -> list[Pair]:
    """Return all possible pairings of a component: a sweep that remembers which spans are still open."""
    spans, others, equal = problem.targets, problem.responses, problem.equal
    if len(targets) == 1 == len(responses):
        value = _value_of(problem, targets[0], responses[0])
        return [] if value is None else [Pair(value, targets[0], responses[0], responses[0])]
    events = [(spans[number].start, spans[number].end, False, number) for number in targets]
    events.extend((others[number].start, others[number].end, True, number) for number in responses)
    events.sort()
    pairs: list[Pair] = []
    opened: tuple[list[tuple[int, int, int]], list[tuple[int, int, int]]] = ([], [])
    for start, end, is_response, number in events:
        # Spans of zero length come first among those that start here, so every span that stays open is a
        # pairing:
        # for a span with a length, spans that end after its start; for one without, also an equal range.
        across = opened[not is_response]
        across[:] = [o for o in across if o[1] > start or o[0] == start == end]
        for other_start, other_end, other in across:
            target, response = (other, number) if is_response else (number, other)
            value = 2 * equal(target, response) + (other_start == start and other_end == end)
            pairs.append(Pair(value, target, response, response))
        opened[is_response].append((start, end, number))
    return pairs


def _value_of(problem: Problem, target: int, response: int) -> int | None:
    """Return the value of the pairing of a target and a response, or None if it is not possible."""
    one, other = problem.targets[target], problem.responses[response]
    same = one.start == other.start and one.end == other.end
    if not same and not one.overlaps(other):
        return None
    return 2 * problem.equal(target, response) + same


_LISTED = 16
"""Up to this many possible pairings for each span, listing them is faster."""


def _is_dense(problem: Problem, targets: Sequence[int], responses: Sequence[int], most_listed: int) -> bool:
    if problem.keys is None or min(len(targets), len(responses)) <= most_listed:
        return False
    possible = possible_pairings(*_entries(problem, targets, responses))
    return possible > most_listed * (len(targets) + len(responses))


def _entries(
    problem: Problem, targets: Sequence[int], responses: Sequence[int]
) -> tuple[list[Entry], list[Entry]]:
    assert problem.keys is not None  # only problems with keys can be dense
    sides = []
    for spans, keys, numbers in zip(problem[:2], problem.keys, (targets, responses), strict=True):
        sides.append([Entry(n, spans[n].start, spans[n].end, keys[n]) for n in sorted(numbers)])
    return sides[0], sides[1]


class Solution(NamedTuple):
    """The result for a component: the pairs, and for each target the counts of its possible pairings."""

    pairs: list[Pair]
    partners: Iterable[Partners]


def solve(problem: Problem, component: Component) -> Solution:
    """Return the pairs of a component, chosen by `problem.pairing`, and the partners of its targets."""
    targets, responses, pairs, dense = component
    if dense:
        own, others = _entries(problem, targets, responses)
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


def choose(problem: Problem, pairs: Sequence[Pair]) -> list[Pair]:
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


def overlap_of(problem: Problem, target: int, response: int) -> int:
    """Return how many positions a target and a response share."""
    one, other = problem.targets[target], problem.responses[response]
    return min(one.end, other.end) - max(one.start, other.start)


def best_first(pairs: Sequence[Pair]) -> list[Pair]:
    """Return the pairs that are taken under ``plugin``, best first."""
    # The values of all pairings that share the target, and of all that share the response, both include this
    # one,
    # so the score is value - (of_target - value) - (of_response - value).
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


def single(problem: Problem, taken: Iterable[Pair], spurious: Sequence[int]) -> list[Pair]:
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


def count_component(problem: Problem, component: Component) -> list[int]:
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


def count(problem: Problem) -> list[int]:
    """Return the counts of all components together. O(n log n), plus the number of possible pairings."""
    counts = [len(problem.targets), len(problem.responses)] + [0] * 12
    alone = [0, 0, 0, 0]  # components of one target and one response, by the value of their pairing
    for targets, responses in parts(problem):
        if not targets or not responses:
            continue
        if len(targets) == 1 == len(responses):
            value = _value_of(problem, targets[0], responses[0])
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
