"""The pairing of responses with targets, and the pairs at each threshold of their scores.

A pairing of a target and a response is possible if the two overlap or have the same start and end (two spans
of zero length at one place have the same start and end without overlapping). Discontinuous spans overlap if they share
a position, and have the same start and end if they have the same fragments. Its value: 2 if they are equal
(see `clueval.metrics.gate.equality`) plus 1 if they have the same start and end. So 3 is *correct strict*, 2
*correct partial*, 1 *incorrect strict*, 0 *incorrect partial*. Each target and each response is in at most
one pair. There are three ways to choose the pairs:

``plugin``
    The score of a possible pairing is its value minus the values of all other possible pairings that share
    its target or its response. The best score is taken first; of equal scores the response that starts later,
    then ends later, then comes later in the order of the case; then the target by the same rules. Scores are computed
    before any pair is taken. So a strict match can be lost if both of its spans have other partners::

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

The order of a case stands for GATE's ids, in whose order its documents have their spans (`Document.ordered`). Spans of
other documents come by start, end, parts, labels, tokens and the features that are read, so that no number depends on
their order.

At threshold t the responses with a score of t or more are evaluated, with all targets. A case is counted at each score
of its responses, and what changes from the next higher score is kept, so that cases can be added;
`clueval.metrics.gate.counts` has the sums.

Sources: the behaviour of GATE's plugin Evaluation; for the other two the notes of its authors ("Strategy for
finding the counts" and "P/R/F: we process by target").
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from operator import sub
from typing import NamedTuple

from clueval.core.case import Case
from clueval.core.metric import finite_number
from clueval.core.span import Regions, Span, SpanIndex, by_position, name_of, shared_positions
from clueval.files.errors import FormatError, UsageError
from clueval.metrics.gate.counts import NAMES
from clueval.metrics.gate.equality import java_string

PAIRINGS = ("plugin", "by-response", "by-target")

STRICT, PARTIAL = 3, 2
"""The values of correct pairings; the others are 1 (same place) and 0."""


class PossiblePair(NamedTuple):
    """A pairing: its value, the numbers of its target and its response, and the rank of the response in ties."""

    value: int
    target: int
    response: int
    rank: int


class Evaluation(NamedTuple):
    """Targets and responses of a case, their types by their numbers, with their possible pairings."""

    case: Case
    pairing: str
    targets: Mapping[int, str]
    responses: Mapping[int, str]
    pairs: Sequence[PossiblePair]

    def among(self, targets: Mapping[int, str], responses: Mapping[int, str]) -> Evaluation:
        """Return the evaluation of some of the targets and some of the responses."""
        pairs = [pair for pair in self.pairs if pair.target in targets and pair.response in responses]
        return self._replace(targets=targets, responses=responses, pairs=pairs)

    def parts(
        self, targets: Mapping[int, str], responses: Mapping[int, str]
    ) -> Iterator[tuple[str, Evaluation]]:
        """Yield the evaluation of the targets and responses that share a name, given by number, names in order."""
        members: dict[str, tuple[dict[int, str], dict[int, str]]] = {}
        for side, names in enumerate((targets, responses)):
            for number, name in names.items():
                members.setdefault(name, ({}, {}))[side][number] = name
        for name, sides in sorted(members.items()):
            yield name, self.among(*sides)

    def chosen(self) -> list[PossiblePair]:
        """Return the pairs that are taken."""
        if len(self.pairs) < 2:
            return list(self.pairs)
        if self.pairing == "plugin":
            return best_first(self.pairs)

        def rank(pair: PossiblePair) -> tuple[int, ...]:
            shared = shared_positions(self.case.gold[pair.target], self.case.predicted[pair.response])
            chooser, partner = pair.target, pair.response
            if self.pairing == "by-response":
                chooser, partner = partner, chooser
            return chooser, -pair.value, -shared, partner

        return _disjoint_pairs(sorted(self.pairs, key=rank))

    def counts(self) -> list[int]:
        """Return the counts, in the order of `clueval.metrics.gate.counts.NAMES`."""
        numbers = len(self.targets), len(self.responses)
        if not self.pairs:
            return [*numbers] + [0] * (len(NAMES) - 2)
        taken = self.chosen()
        same = Counter([pair.target for pair in self.pairs if pair.value & 1])
        return counts_of(numbers, self.pairs, taken, self.touched(taken), same)

    def touched(self, taken: Sequence[PossiblePair]) -> set[int]:
        """Return the targets that a response in no chosen pair touches; see `touches`."""
        used = {pair.response for pair in taken}
        # spans that can be paired touch, unless they are of zero length and at one place
        touched = {
            pair.target
            for pair in self.pairs
            if pair.response not in used and (len(self.case.gold[pair.target]) or not pair.value & 1)
        }
        left = (self.case.predicted[number] for number in self.responses if number not in used)
        points = {span.start for span in left if not len(span)}
        for number in self.targets if points else ():
            ranges = self.case.gold[number].fragments
            if any(start in points and start < end for start, end in ranges):
                touched.add(number)
        return touched


def evaluation(
    case: Case,
    targets: Mapping[int, str],
    responses: Mapping[int, str],
    equal: Callable[[int, int], bool],
    pairing: str,
) -> Evaluation:
    """Return the evaluation of these spans of a case, given by number; `equal` is the test of a target and a response.

    Costs the pairs of the case that overlap. Raises `LimitError` for too many of them.
    """
    around = case.around[0] if targets and responses else []
    pairs: list[PossiblePair] = []
    for target in targets if around else ():
        span = case.gold[target]
        for number in around[target]:
            if number not in responses:
                continue
            response = case.predicted[number]
            same = span.start == response.start and span.end == response.end and span.parts == response.parts
            pairs.append(PossiblePair(2 * equal(target, number) + same, target, number, number))
    return Evaluation(case, pairing, targets, responses, pairs)


def counts_of(
    numbers: tuple[int, int],
    pairs: Iterable[PossiblePair],
    taken: Iterable[PossiblePair],
    touched: Collection[int],
    same: Mapping[int, int],
) -> list[int]:
    """Return the counts, in the order of `clueval.metrics.gate.counts.NAMES`.

    Args:
        numbers: the numbers of targets and of responses.
        pairs, taken: the pairings that are possible, and those of them that are chosen.
        touched: the targets of chosen pairs that a truly spurious response touches.
        same: how many responses have the place of a target, of targets with any.
    """
    counts = [*numbers] + [0] * (len(NAMES) - 2)
    for value, target, *_ in taken:
        counts[5 - value] += 1
        if value >= PARTIAL and target not in touched:
            counts[9 - value] += 1
    values: dict[int, list[int]] = {}
    for value, target, *_ in pairs:
        values.setdefault(target, []).append(value)
    counts[8], counts[9] = len(same), len(values)
    counts[10] = sum(number > 1 for number in same.values())
    for target, of_target in values.items():
        counts[11] += len(of_target) > 1
        counts[12] += same.get(target) == 1 and STRICT in of_target
        counts[13] += len(of_target) == 1 and of_target[0] >= PARTIAL
    return counts


def best_first(pairs: Sequence[PossiblePair]) -> list[PossiblePair]:
    """Return the pairs that are taken under ``plugin``, best first."""
    # The values of all pairings that share the target, and of all that share the response, both include
    # this one, so the score is value - (of_target - value) - (of_response - value).
    of_target: Counter[int] = Counter()
    of_response: Counter[int] = Counter()
    for value, target, response, _ in pairs:
        of_target[target] += value
        of_response[response] += value

    def score(pair: PossiblePair) -> tuple[int, ...]:
        value, target, response, rank = pair
        return 3 * value - of_target[target] - of_response[response], rank, target, response

    return _disjoint_pairs(sorted(pairs, key=score, reverse=True))


def _disjoint_pairs(pairs: Iterable[PossiblePair]) -> list[PossiblePair]:
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


def in_order(case: Case) -> Case:
    """Return a case whose spans come by position; those with the same start and end keep their order."""
    gold, predicted = (tuple(sorted(spans, key=by_position)) for spans in (case.gold, case.predicted))
    return case if (gold, predicted) == case.sides else Case((gold, predicted), (None, None))


# Annotations that touch others, or lie within them


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
    """An index of spans that finds those which touch a given span (`touches`)."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self._spans = list(spans)
        self._index = SpanIndex(self._spans)

    def near(self, span: Span) -> list[int]:
        """Return the numbers, ascending, of spans: all that touch or equal `span`, and some in its gaps."""
        hull, first = Span(span.start, span.end), Span(span.start, span.start)
        return sorted({*self._index.near(hull), *self._index.near(first)})

    def find(self, span: Span) -> list[int]:
        """Return the numbers of the spans that touch `span`, ascending."""
        return [number for number in self.near(span) if touches(span, self._spans[number])]


CONTAINMENTS = ("overlapping", "containing", "coextensive")
"""The relation of an annotation to a containing one: overlaps it, lies within it, has the same fragments."""


def kept_within(spans: Iterable[Span], containing: Sequence[Span], containment: str) -> list[Span]:
    """Return the spans that overlap, lie within, or have the same fragments as some span of `containing`.

    All positions of a span that lies within another are in fragments of that one. Without any containing span the
    result is empty. O(n log n), and for the second O(n) more for each containing span that is discontinuous.

    >>> [len(kept_within([Span(0, 4)], [Span(2, 9)], how)) for how in CONTAINMENTS]
    [1, 0, 0]
    """
    if containment == "overlapping":
        touching = Touching(containing)
        return [span for span in spans if touching.find(span)]
    if containment == "coextensive":
        places = {span.fragments for span in containing}
        return [span for span in spans if span.fragments in places]
    regions = [Regions(span.parts) for span in containing if span.parts is not None]
    ordered = sorted((span for span in containing if span.parts is None), key=by_position)
    starts = [span.start for span in ordered]
    # the furthest end of the spans up to each
    reaches = list(accumulate((span.end for span in ordered), max))

    def is_within(span: Span) -> bool:
        number = bisect_right(starts, span.start)
        return bool(number and span.end <= reaches[number - 1]) or any(each.hold(span) for each in regions)

    return list(filter(is_within, spans))


GRIDS: Mapping[str, tuple[float, ...]] = {
    str(steps + 1): tuple(number / steps for number in range(steps + 1)) for steps in (10, 20, 50)
}
"""Thresholds from 0 to 1 in equal steps, by their number."""

EVERY, ROUNDED = "all", "rounded"
"""Every score that occurs; every score rounded to two decimals."""

Thresholds = str | tuple[float, ...]

MOST_WORK = 10_000_000
"""The greatest product of the scores of a case and of its annotations and possible pairings."""

_LARGE = 1e12
"""Above this, hundredths are hardly more than the precision of a float."""


def parse_thresholds(given: str | float | Iterable[float]) -> Thresholds:
    """Parse ``"all"``, ``"rounded"``, the name of a grid, or thresholds: ``"0.2,0.5"``, a number or numbers.

    Raises `UsageError` for anything else.

    >>> parse_thresholds("11"), parse_thresholds("0.2,-inf"), parse_thresholds([1, 0.5])
    ('11', (-inf, 0.2), (0.5, 1.0))
    """
    names = EVERY, ROUNDED, *GRIDS
    if isinstance(given, str) and given in names:
        return given
    numbers = set()
    parts = given.split(",") if isinstance(given, str) else given
    for part in parts if isinstance(parts, Iterable) else (parts,):
        try:
            number = float(part)
        except (TypeError, ValueError):
            number = math.nan
        if math.isnan(number):
            raise UsageError(
                f"the threshold {part!r} is not a number",
                advice=f"numbers such as 0.2,0.5, or one of {', '.join(names)}",
            )
        numbers.add(number + 0.0)  # -0.0 is 0.0
    if not numbers:
        raise UsageError("no threshold is named", advice=f"one of {', '.join(names)}")
    return tuple(sorted(numbers))


def grid_of(thresholds: Thresholds) -> tuple[float, ...] | None:
    """Return the thresholds in rising order, or None if they follow from the scores."""
    return GRIDS.get(thresholds) if isinstance(thresholds, str) else thresholds


def threshold_name(threshold: float) -> str:
    """Return the name of a threshold in reports: ``0.5``, ``Infinity``, ``-Infinity``.

    >>> threshold_name(0.5), threshold_name(float("inf"))
    ('0.5', 'Infinity')
    """
    return java_string(threshold) if math.isinf(threshold) else repr(threshold)


def score_of(span: Span, feature: str, *, as_text: bool = True, whose: str = "predicted annotation") -> float:
    """Return the score of an annotation: a number or, with `as_text`, a string that can be read as one.

    Raises `FormatError` for an annotation without a score and for a score that is not a finite number; `whose` is the
    kind of annotations that need one.
    """
    value = span.features.get(feature)
    score = None if isinstance(value, str) and not as_text else finite_number(value)
    if score is not None:
        return score
    problem = f"has the score {value!r:.40}, which is not a number"
    if value is None:
        problem = f"has no score {feature!r}"
    raise FormatError(
        f"annotation {annotation_name(span)} {problem}",
        line=span.line,
        advice=f"every {whose} needs a finite number as Gate.score_feature",
    )


def annotation_name(span: Span) -> str:
    """Return the name of an annotation in errors: its id, if it has one, position and label."""
    return name_of(span) if span.id is None else f"{span.id} {name_of(span)}"


def rounded(score: float) -> float:
    """Return a score rounded to two decimals, half up.

    >>> rounded(0.126), rounded(0.125), rounded(-0.125)
    (0.13, 0.13, -0.12)
    """
    hundredfold = score * 100 + 0.5
    return math.floor(hundredfold) / 100 if math.isfinite(hundredfold) else score


def _hundredth(score: float) -> float:
    """Return the highest hundredth that a score reaches; rounded thresholds do not separate equal results."""
    if abs(score) > _LARGE:
        return score
    number = math.floor(score * 100)
    while number / 100 > score:
        number -= 1
    while (number + 1) / 100 <= score:
        number += 1
    return number / 100


def step_of(thresholds: Thresholds) -> Callable[[float], float]:
    """Return the function that gives the score at which a response counts: the highest threshold that it reaches.

    It is -infinity for a score below all thresholds.
    """
    if thresholds == ROUNDED:
        return _hundredth
    grid = grid_of(thresholds)
    if grid is None:
        return float
    return lambda score: grid[place - 1] if (place := bisect_right(grid, score)) else -math.inf


def changes_of(
    whole: Evaluation, counts: Sequence[int], scores: Mapping[int, float], thresholds: Thresholds
) -> dict[float, list[int]]:
    """Return the changes that every score makes in the counts, in the order of `NAMES`; targets are not counted.

    `counts` are those of all responses, `scores` those of the responses, by number. Raises `UsageError` if very many
    annotations overlap and have very many scores; see `MOST_WORK`.
    """
    step = step_of(thresholds)
    steps = {number: step(scores[number]) for number in whole.responses}
    wanted = sorted({*steps.values()}, reverse=True)
    annotations = len(whole.targets) + len(whole.responses)
    if len(wanted) * (annotations + len(whole.pairs)) > MOST_WORK:
        first = min(span.start for spans in whole.case.sides for span in (spans or ())[:1])
        raise UsageError(
            f"{annotations:,} annotations, from position {first} on, overlap one another, directly or through others, "
            f"and have {len(wanted):,} scores: counting them at every score takes too long",
            advice="set Gate.thresholds, for example to 11 or rounded",
        )
    changes: dict[float, list[int]] = {}
    before = [len(whole.targets)] + [0] * (len(NAMES) - 1)
    for score in wanted:
        after = counts
        if score != wanted[-1]:
            entered = {number: kind for number, kind in whole.responses.items() if steps[number] >= score}
            after = whole.among(whole.targets, entered).counts()
        changes[score] = list(map(sub, after, before))
        before = list(after)
    return changes
