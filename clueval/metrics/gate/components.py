"""The possible pairings of targets and responses, and the components into which these divide the spans.

`parts` finds the components by a sweep over the starts; spans of different components never touch, so each
component is solved alone. `component_of` lists the possible pairings of one, unless there are too many (see
`clueval.metrics.gate.dense_pairing`). `clueval.metrics.gate.pairing` says when a pairing is possible, what
its value is, and chooses among them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from clueval.metrics.gate.dense_pairing import possible_pairings
from clueval.metrics.gate.entries import Entry
from clueval.metrics.gate.equality import Keys
from clueval.spans.overlaps import sharing
from clueval.spans.span import Span

STRICT, PARTIAL, MISMATCH = 3, 2, 1
"""The values of a pairing; that of a partial mismatch is 0."""


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


class PairingProblem(NamedTuple):
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


def components(problem: PairingProblem, most_listed: int | None = None) -> Iterator[Component]:
    """Yield all components, by position; a span alone is a component without pairings.

    If there are more possible pairings for each span than `most_listed` (None: a few), they are not listed.
    Costs O(n log n).
    """
    for targets, responses in parts(problem):
        yield component_of(problem, targets, responses, most_listed)


def component_of(
    problem: PairingProblem, targets: list[int], responses: list[int], most_listed: int | None = None
) -> Component:
    """Return the component of these targets and responses."""
    if not targets or not responses:
        return Component(targets, responses, [])
    if _is_dense(problem, targets, responses, _LISTED if most_listed is None else most_listed):
        return Component(targets, responses, [], dense=True)
    return Component(targets, responses, _possible(problem, targets, responses))


def parts(
    problem: PairingProblem,
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


def _possible(problem: PairingProblem, targets: Sequence[int], responses: Sequence[int]) -> list[Pair]:
    """Return all possible pairings of a component: a sweep that remembers which spans are still open."""
    spans, others, equal = problem.targets, problem.responses, problem.equal
    if len(targets) == 1 == len(responses):
        value = value_if_possible(problem, targets[0], responses[0])
        return [] if value is None else [Pair(value, targets[0], responses[0], responses[0])]
    if _have_gaps(problem, targets, responses):
        return _possible_with_gaps(problem, targets, responses)
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


def _possible_with_gaps(
    problem: PairingProblem, targets: Sequence[int], responses: Sequence[int]
) -> list[Pair]:
    """Return all possible pairings of a component in which spans are discontinuous."""
    own = [problem.targets[number] for number in targets]
    others = [problem.responses[number] for number in responses]
    points: dict[int, list[int]] = {}
    for place, span in enumerate(others):
        if span.start == span.end:
            points.setdefault(span.start, []).append(place)
    pairs = []
    for target, span, found in zip(targets, own, sharing(own, others), strict=True):
        at_point = points.get(span.start, []) if span.start == span.end else []
        for place in (*found, *at_point):
            response = responses[place]
            value = 2 * problem.equal(target, response) + have_same_place(span, others[place])
            pairs.append(Pair(value, target, response, response))
    return pairs


def value_if_possible(problem: PairingProblem, target: int, response: int) -> int | None:
    """Return the value of the pairing of a target and a response, or None if it is not possible."""
    one, other = problem.targets[target], problem.responses[response]
    same = have_same_place(one, other)
    if not same and not one.overlaps(other):
        return None
    return 2 * problem.equal(target, response) + same


def have_same_place(one: Span, other: Span) -> bool:
    """Return whether two spans have the same start and end or, if they are discontinuous, the same fragments."""
    return one.start == other.start and one.end == other.end and one.parts == other.parts


def _have_gaps(problem: PairingProblem, targets: Sequence[int], responses: Sequence[int]) -> bool:
    return any(problem.targets[number].parts is not None for number in targets) or any(
        problem.responses[number].parts is not None for number in responses
    )


_LISTED = 16
"""Up to this many possible pairings for each span, listing them is faster."""


def _is_dense(
    problem: PairingProblem, targets: Sequence[int], responses: Sequence[int], most_listed: int
) -> bool:
    if problem.keys is None or min(len(targets), len(responses)) <= most_listed:
        return False
    if _have_gaps(problem, targets, responses):  # only ranges can be counted without listing pairings
        return False
    possible = possible_pairings(*entries_of(problem, targets, responses))
    return possible > most_listed * (len(targets) + len(responses))


def entries_of(
    problem: PairingProblem, targets: Sequence[int], responses: Sequence[int]
) -> tuple[list[Entry], list[Entry]]:
    assert problem.keys is not None  # only problems with keys can be dense
    sides = []
    for spans, keys, numbers in zip(problem[:2], problem.keys, (targets, responses), strict=True):
        sides.append([Entry(n, spans[n].start, spans[n].end, keys[n]) for n in sorted(numbers)])
    return sides[0], sides[1]
