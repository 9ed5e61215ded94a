"""Candidate lists: responses that offer several annotations for one place, the best first.

A *list annotation* has a feature with the ids of its candidates, which are annotations of the same set. The
rank of a candidate is its place in the list, from 0. Candidates with scores are sorted by falling score;
equal ones keep their order. A list without candidates is not a response. `best_candidates` makes the first
candidate of each list an ordinary response.

The lists themselves are evaluated by score and by rank: the scores of an ideal choice of one candidate from each list.
A list is one response. Its visible candidates are those with at least a given score, or up to a given rank.
Its value for a target that the list annotation overlaps is that of its best visible candidate that overlaps
the target or has its range. Types of candidates are ignored; the type of the list annotation must belong to
the target's. The place of a truly spurious list is that of its first candidate.
`clueval.first.metrics.gate.list_evaluation` has further evaluations of lists.

Source: GATE's plugin Evaluation, its list evaluation; where the behaviour of the plugin contradicts its own
description, the description.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from clueval.core.span import Span, name_of
from clueval.files.errors import UsageError
from clueval.first.metrics.counting import Tally
from clueval.first.metrics.gate.annotations import annotation_error, required_score, without_nil
from clueval.first.metrics.gate.counts import NAMES, GateCounts
from clueval.first.metrics.gate.equality import FeatureTest
from clueval.first.metrics.gate.pairing import PARTIAL, STRICT, Pair, Touching, best_first, in_order
from clueval.first.metrics.gate.thresholds import ALL, CurvePoint, Thresholds, curve, grid_of
from clueval.spans.document import Document
from clueval.spans.features import number_of


@dataclass(frozen=True, slots=True)
class CandidateList:
    """A list annotation and its candidates, the best first; `scores` are the scores of the candidates, or
    None.

    Raises `UsageError` for a list without candidates, for a wrong number of scores, and for scores that rise.
    """

    span: Span
    candidates: tuple[Span, ...]
    scores: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if not self.candidates:
            raise UsageError(f"list {name_of(self.span)} has no candidates", advice="leave it out")
        if self.scores is not None:
            if len(self.scores) != len(self.candidates):
                raise UsageError(
                    f"list {name_of(self.span)} has {len(self.candidates)} candidates, {len(self.scores)} scores"
                )
            if any(one < other for one, other in zip(self.scores, self.scores[1:], strict=False)):
                raise UsageError(
                    f"the candidates of list {name_of(self.span)} are not sorted by score",
                    advice="best first",
                )

    def __len__(self) -> int:
        return len(self.candidates)


def candidate_lists(
    annotations: Iterable[Span],
    list_type: str,
    edge_feature: str,
    *,
    element_type: str | None = None,
    score_feature: str | None = None,
    nil: tuple[str, str] | None = None,
    document: Document | None = None,
) -> list[CandidateList]:
    """Return the lists of an annotation set, by position.

    Args:
        annotations: the whole set, list annotations and candidates.
        list_type, edge_feature: the type of list annotations, and their feature with the ids of candidates.
        element_type: the type of candidates; others are ignored. None: any.
        score_feature: the feature by which the candidates are sorted. None: they stay in their order.
        nil: a feature and its value that mark candidates for "none of these".
        document: the document of the annotations, for errors.

    Raises `FormatError`, naming document and annotation, for a list without ids, for an id that no annotation
    has, and for a candidate whose score is no number.
    """
    everything = list(annotations)
    by_id = {span.id: span for span in everything if span.id is not None}
    found = []
    for span in in_order(span for span in everything if span.label == list_type):
        candidates = [by_id[i] for i in _ids(span, edge_feature, by_id, document)]
        if element_type is not None:
            candidates = [candidate for candidate in candidates if candidate.label == element_type]
        if nil is not None:
            candidates = without_nil(candidates, *nil)
        if not candidates:
            continue
        if score_feature is None:
            found.append(CandidateList(span, tuple(candidates)))
            continue
        scored = [(_score(candidate, score_feature, document), candidate) for candidate in candidates]
        scored.sort(key=lambda entry: -entry[0])
        scores, ordered = zip(*scored, strict=True)
        found.append(CandidateList(span, ordered, scores))
    return found


def _ids(
    span: Span, feature: str, known: Mapping[str | int, Span], document: Document | None
) -> Sequence[str | int]:
    ids = span.features.get(feature)
    advice = f"the feature {feature!r} of a list holds a list of annotation ids"
    if not isinstance(ids, list | tuple):
        problem = f"has no {feature!r}" if ids is None else f"has {ids!r} as {feature!r}, which is not a list"
        raise annotation_error(span, problem, document, advice)
    for number in ids:
        if isinstance(number, bool) or not isinstance(number, int | str) or number not in known:
            problem = f"names the candidate {number!r}, which the set does not have"
            raise annotation_error(span, problem, document, advice)
    return ids


def _score(span: Span, feature: str, document: Document | None) -> float:
    value = span.features.get(feature)
    number = None if isinstance(value, str) else number_of(value)
    return required_score(number, span, feature, document, "candidate")


def best_candidates(lists: Iterable[CandidateList]) -> list[Span]:
    """Return the first candidate of each list, as ordinary responses."""
    return [each.candidates[0] for each in lists]


def value_of(target: Span, candidate: Span, test: FeatureTest) -> int | None:
    same = (target.start, target.end) == (candidate.start, candidate.end)
    if not same and not target.overlaps(candidate):
        return None
    return 2 * test.agree(target, candidate) + same


def require_features(test: FeatureTest) -> None:
    if not test.names:
        raise UsageError(
            "candidate lists need at least one feature to compare", advice="name it in Gate.features"
        )


# By score and by rank

ALL_RANKS = 2147483647
"""The rank at which every candidate is visible, as the reports of GATE write it."""

RANKS: Mapping[str, tuple[int, ...]] = {
    "10": tuple(range(11)),
    "50": tuple(range(0, 51, 5)),
    "100": tuple(range(0, 101, 10)),
}
"""Eleven ranks from 0 up to 10, 50 or 100."""


class _Match(NamedTuple):
    """A candidate that overlaps a target: its rank in the list and the value of the pairing."""

    rank: int
    value: int


@dataclass(frozen=True, slots=True)
class _Lists:
    """The lists of a document with their targets.

    `matches` holds, for every target and every list whose annotation overlaps it, the candidates that overlap
    the target or have its range, each better than all before it: only those are ever chosen. `strict` holds
    the least rank of a candidate that has the target's range, right or not. `order` holds the place of every
    candidate of every list among all candidates by position.
    """

    targets: Sequence[Span]
    lists: Sequence[CandidateList]
    matches: Mapping[tuple[int, int], Sequence[_Match]]
    strict: Mapping[tuple[int, int], int]
    order: Sequence[Sequence[int]]

    def count(self, visible: Sequence[int]) -> list[int]:
        """Return the counts if each list has this number of visible candidates."""
        counts = [len(self.targets), sum(map(bool, visible))] + [0] * (len(NAMES) - 2)
        pairs = list(self._pairs(visible))
        taken = best_first(pairs)
        for pair in taken:
            counts[5 - pair.value] += 1
        used = {pair.response for pair in taken}
        spurious = Touching(
            each.candidates[0]
            for number, each in enumerate(self.lists)
            if visible[number] and number not in used
        )
        for pair in taken:
            if pair.value >= PARTIAL and not spurious.find(self.targets[pair.target]):
                counts[9 - pair.value] += 1
        self._count_targets(visible, pairs, counts)
        return counts

    def _pairs(self, visible: Sequence[int]) -> Iterator[Pair]:
        for (target, number), matches in self.matches.items():
            best = next((match for match in reversed(matches) if match.rank < visible[number]), None)
            if best is not None:
                yield Pair(best.value, target, number, self.order[number][best.rank])

    def _count_targets(self, visible: Sequence[int], pairs: Sequence[Pair], counts: list[int]) -> None:
        by_target: dict[int, list[int]] = {}
        for pair in pairs:
            by_target.setdefault(pair.target, []).append(pair.value)
        strict = Counter(target for (target, number), rank in self.strict.items() if rank < visible[number])
        counts[8], counts[9] = len(strict), len(by_target)
        counts[10] = sum(number > 1 for number in strict.values())
        for target, values in by_target.items():
            counts[11] += len(values) > 1
            counts[12] += strict[target] == 1 and STRICT in values
            counts[13] += len(values) == 1 and values[0] >= PARTIAL


def _parts(targets: Iterable[Span], lists: Iterable[CandidateList], test: FeatureTest) -> Iterator[_Lists]:
    """Yield the overlap components of targets and lists; a list reaches over all spans of its candidates."""
    require_features(test)
    ordered, listed = in_order(targets), list(lists)
    events = [(span.start, span.end, False, number) for number, span in enumerate(ordered)]
    for number, each in enumerate(listed):
        spans = (each.span, *each.candidates)
        events.append((min(s.start for s in spans), max(s.end for s in spans), True, number))
    own_targets: list[Span] = []
    own_lists: list[CandidateList] = []
    reach = -1.0
    for start, end, is_list, number in sorted(events):
        if start >= reach and (own_targets or own_lists):
            yield _lists_of(own_targets, own_lists, test)
            own_targets, own_lists = [], []
        reach = max(reach, end + 0.5 * (start == end))
        if is_list:
            own_lists.append(listed[number])
        else:
            own_targets.append(ordered[number])
    if own_targets or own_lists:
        yield _lists_of(own_targets, own_lists, test)


def _lists_of(targets: Sequence[Span], lists: Sequence[CandidateList], test: FeatureTest) -> _Lists:
    candidates = [
        (candidate, number, rank)
        for number, each in enumerate(lists)
        for rank, candidate in enumerate(each.candidates)
    ]
    order = [[0] * len(each) for each in lists]
    places = {id(span): place for place, span in enumerate(in_order(span for span, _, _ in candidates))}
    for candidate, number, rank in candidates:
        order[number][rank] = places[id(candidate)]
    index = Touching(targets)
    matches = {}
    strict = {}
    for number, each in enumerate(lists):
        for target in index.overlapping(each.span, (each.span.start, each.span.end)):
            found = list(_improving(targets[target], each, test))
            if found:
                matches[target, number] = found
            place = targets[target].start, targets[target].end
            for rank, candidate in enumerate(each.candidates):
                if (candidate.start, candidate.end) == place:
                    strict[target, number] = rank
                    break
    return _Lists(targets, lists, matches, strict, order)


def _improving(target: Span, each: CandidateList, test: FeatureTest) -> Iterator[_Match]:
    best = -1
    for rank, candidate in enumerate(each.candidates):
        value = value_of(target, candidate, test)
        if value is not None and value > best:
            best = value
            yield _Match(rank, value)
            if best == STRICT:
                return


def count_lists_by_score(
    targets: Iterable[Span], lists: Iterable[CandidateList], test: FeatureTest, thresholds: Thresholds = ALL
) -> Tally:
    """Count one document at every score threshold, as a tally that can be added over documents.

    `lists_curve` turns the sum into the counts at every threshold. The keys are ``("targets",)`` and
    ``("score", score, name)``: the change at the score. Raises `UsageError` for lists without scores.
    """
    grid = grid_of(thresholds)
    tally: Tally = Tally()
    for part in _parts(targets, lists, test):
        tally["targets",] += len(part.targets)
        before = [len(part.targets)] + [0] * (len(NAMES) - 1)
        scores = {score for each in part.lists for score in _scores(each)}
        steps = scores if grid is None else {_step(score, grid) for score in scores}
        for step in sorted(steps, reverse=True):
            counts = part.count([sum(own >= step for own in _scores(each)) for each in part.lists])
            _add_change(tally, ("score", repr(step)), before, counts)
            before = counts
    return tally


def _step(score: float, grid: Sequence[float]) -> float:
    """Return the highest threshold of a grid that a score reaches; if none, -infinity (all are visible)."""
    place = bisect_right(grid, score)
    return grid[place - 1] if place else -math.inf


def lists_curve(total: Tally, thresholds: Thresholds = ALL) -> list[CurvePoint]:
    """Return the counts at every threshold, rising; the first is -infinity: all candidates are visible."""
    found: dict[float, list[int]] = {}
    for key, number in total.items():
        if key[0] == "score":
            found.setdefault(float(key[1]), [0] * len(NAMES))[NAMES.index(key[2])] += number
    everything = curve(found, total["targets",], (-math.inf,))[0]
    found.pop(-math.inf, None)
    points = curve(found, total["targets",], thresholds)[:-1]
    return [everything, *(point for point in points if point.threshold > -math.inf)]


def _scores(each: CandidateList) -> tuple[float, ...]:
    if each.scores is None:
        raise UsageError(
            f"list {name_of(each.span)} has no scores", advice="name the feature that holds them"
        )
    return each.scores


def count_lists_by_rank(targets: Iterable[Span], lists: Iterable[CandidateList], test: FeatureTest) -> Tally:
    """Count one document at every rank, as a tally that can be added over documents.

    `ranks_curve` turns the sum into counts. The keys are ``("targets",)`` and ``("rank", rank, name)``: the
    change that the candidates of that rank make.
    """
    tally: Tally = Tally()
    for part in _parts(targets, lists, test):
        tally["targets",] += len(part.targets)
        before = [len(part.targets)] + [0] * (len(NAMES) - 1)
        for rank in range(max(map(len, part.lists), default=0)):
            counts = part.count([min(rank + 1, len(each)) for each in part.lists])
            _add_change(tally, ("rank", rank), before, counts)
            tally["longest", rank] += 1
            before = counts
    return tally


def ranks_curve(total: Tally, ranks: Iterable[int] | None = None) -> list[tuple[int, GateCounts]]:
    """Return the counts at every rank (None: 0 to the rank of the longest list), and last at `ALL_RANKS`.

    >>> [rank for rank, _ in ranks_curve(Tally({("targets",): 1}), RANKS["10"])][-3:]
    [9, 10, 2147483647]
    """
    longest = max((key[1] for key in total if key[0] == "longest"), default=-1)
    wanted = sorted({*(range(longest + 1) if ranks is None else ranks), ALL_RANKS})
    changes: dict[int, list[tuple[int, int]]] = {}
    for key, number in total.items():
        if key[0] == "rank":
            changes.setdefault(key[1], []).append((NAMES.index(key[2]), number))
    counts = [total["targets",]] + [0] * (len(NAMES) - 1)
    points, seen = [], 0
    for rank in wanted:
        while seen <= min(rank, longest):
            for place, number in changes.get(seen, ()):
                counts[place] += number
            seen += 1
        points.append((rank, GateCounts(*counts)))
    return points


def _add_change(
    tally: Tally, key: tuple[str, str | int], before: Sequence[int], after: Sequence[int]
) -> None:
    for name, one, other in zip(NAMES, before, after, strict=True):
        if one != other:
            tally[(*key, name)] += other - one
