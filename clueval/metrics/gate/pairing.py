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

Sources: the behaviour of GATE's plugin Evaluation; for the other two the notes of its authors ("Strategy for
finding the counts" and "P/R/F: we process by target").
"""

from __future__ import annotations

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
from clueval.metrics.gate.entries import Entry
from clueval.metrics.gate.in_turn import pairs_in_turn
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
