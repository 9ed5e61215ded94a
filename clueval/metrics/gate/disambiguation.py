"""Candidate lists: the rank of the match, and how many targets have a match in any list.

`disambiguation` counts, for every list with a match, whether the match is among the first k candidates.
`maximum_recall` counts the targets that have a match in any list; in both, a match does not use up list or
target.

Source: GATE's plugin Evaluation, its list evaluation and ``EvaluateMaxRecall``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import add, sub

from clueval.metrics.counting import Tally
from clueval.metrics.gate.candidate_lists import CandidateList, require_features, value_of
from clueval.metrics.gate.counts import NAMES, GateCounts
from clueval.metrics.gate.equality import FeatureTest
from clueval.metrics.gate.pairing import PARTIAL, STRICT, Touching, in_order
from clueval.spans.span import Span


def disambiguation(targets: Iterable[Span], lists: Iterable[CandidateList], test: FeatureTest) -> Tally:
    """Count, for every list with a match, the rank at which a right candidate appears.

    Several lists may match the same target. The keys are those of `count_lists_by_rank` (use
    `disambiguation_curve`) and ``("lists", name)``, where name is all, without_target, with_target,
    without_match, strict, strict_at_0, partial or partial_at_0.
    """
    require_features(test)
    ordered, listed = in_order(targets), list(lists)
    index = Touching(ordered)
    tally: Tally = Tally()
    longest = max(map(len, listed), default=1)
    matched = 0
    beyond: Counter[tuple[int, str]] = (
        Counter()
    )  # lists that end before a rank, by the count that they add to from there on
    for each in listed:
        near = [ordered[n] for n in index.touching(each.span)]
        strict, partial = _first_matches(near, each, test)
        _count_list(tally, near, strict, partial)
        if strict is None and partial is None:
            continue
        matched += 1
        for rank in range(len(each)):
            tally["rank", rank, _at_rank(each, strict, partial, rank)] += 1
        beyond[len(each), _at_rank(each, strict, partial, len(each))] += 1
    _count_beyond(tally, beyond, matched, longest)
    tally["longest", longest - 1] += 1
    return tally


def _count_beyond(tally: Tally, beyond: Mapping[tuple[int, str], int], matched: int, longest: int) -> None:
    """Count at every rank the lists with a match, with the last outcome of lists that end before it."""
    so_far: Counter[str] = Counter()
    for rank in range(longest if matched else 0):
        tally["rank", rank, "targets"] = tally["rank", rank, "responses"] = matched
        for name in _AT_RANK:
            so_far[name] += beyond.get((rank, name), 0)
            if so_far[name]:
                tally["rank", rank, name] += so_far[name]


_AT_RANK = ("correct_strict", "correct_partial", "incorrect_strict", "incorrect_partial")


def _at_rank(each: CandidateList, strict: int | None, partial: int | None, rank: int) -> str:
    if strict is not None and rank >= strict:
        return "correct_strict"
    if partial is not None and rank >= partial:
        return "correct_partial"
    own = each.candidates[min(rank, len(each) - 1)]
    same = (own.start, own.end) == (each.span.start, each.span.end)
    return "incorrect_strict" if same else "incorrect_partial"


def _first_matches(
    targets: Sequence[Span], each: CandidateList, test: FeatureTest
) -> tuple[int | None, int | None]:
    """Return the least ranks of a strict and of a partial match with any of the targets."""
    strict: int | None = None
    partial: int | None = None
    for rank, candidate in enumerate(each.candidates):
        values = {value_of(target, candidate, test) for target in targets}
        if strict is None and STRICT in values:
            strict = rank
        if partial is None and PARTIAL in values:
            partial = rank
    return strict, partial


def _count_list(tally: Tally, near: Sequence[Span], strict: int | None, partial: int | None) -> None:
    tally["lists", "all"] += 1
    tally["lists", "with_target" if near else "without_target"] += 1
    tally["lists", "without_match"] += bool(near) and strict is None and partial is None
    tally["lists", "strict"] += strict is not None
    tally["lists", "strict_at_0"] += strict == 0
    tally["lists", "partial"] += partial is not None
    tally["lists", "partial_at_0"] += partial == 0


def disambiguation_curve(documents: Iterable[Tally]) -> list[tuple[int, GateCounts]]:
    """Return the counts at every rank over documents; a shorter document keeps its last rank for higher ones.

    Precision, recall and F at a rank are equal: the share of lists whose match is at most at that rank.
    """
    own = [_own_ranks(tally) for tally in documents]
    total = GateCounts()
    for ranks in own:
        total += ranks[0]
    points, rank = [(0, total)], 1
    while own := [ranks for ranks in own if rank < len(ranks)]:
        for ranks in own:
            total = GateCounts(*map(add, total, map(sub, ranks[rank], ranks[rank - 1])))
        points.append((rank, total))
        rank += 1
    return points


def _own_ranks(tally: Tally) -> list[GateCounts]:
    longest = max((key[1] for key in tally if key[0] == "longest"), default=0)
    return [GateCounts(**{name: tally["rank", rank, name] for name in NAMES}) for rank in range(longest + 1)]


@dataclass(frozen=True, slots=True)
class MaximumRecall:
    """The numbers of targets that have a match in any list; can be added.

    `strict_at` and `lenient_at` count the targets by the least rank of their match.
    """

    targets: int = 0
    targets_with_list: int = 0
    lists: int = 0
    lists_with_target: int = 0
    strict_at: Counter[int] = field(default_factory=Counter)
    lenient_at: Counter[int] = field(default_factory=Counter)

    def __add__(self, other: MaximumRecall) -> MaximumRecall:
        return MaximumRecall(
            self.targets + other.targets,
            self.targets_with_list + other.targets_with_list,
            self.lists + other.lists,
            self.lists_with_target + other.lists_with_target,
            self.strict_at + other.strict_at,
            self.lenient_at + other.lenient_at,
        )

    def report(self, rank: int | None = None) -> dict[str, float]:
        """Return counts and recalls with the candidates up to a rank (None: all of them); 0/0 is 1."""
        correct_strict, correct_lenient = (
            sum(number for at, number in found.items() if rank is None or at <= rank)
            for found in (self.strict_at, self.lenient_at)
        )
        return {
            "max_recall_strict": _recall(correct_strict, self.targets),
            "max_recall_lenient": _recall(correct_lenient, self.targets),
            "max_recall_list_strict": _recall(correct_strict, self.targets_with_list),
            "max_recall_list_lenient": _recall(correct_lenient, self.targets_with_list),
            "targets": self.targets,
            "targets_with_list": self.targets_with_list,
            "correct_strict": correct_strict,
            "correct_lenient": correct_lenient,
            "lists": self.lists,
            "lists_with_target": self.lists_with_target,
            "lists_spurious": self.lists - self.lists_with_target,
        }

    @property
    def ranks(self) -> int:
        """Return the number of ranks, up to the highest that any target needs."""
        return max([*self.strict_at, *self.lenient_at], default=-1) + 1


def _recall(part: int, whole: int) -> float:
    if whole:
        return part / whole
    return 0.0 if part else 1.0


def maximum_recall(
    targets: Iterable[Span], lists: Iterable[CandidateList], test: FeatureTest
) -> MaximumRecall:
    """Return the maximum recall of one document; a list may match several targets."""
    require_features(test)
    ordered, listed = in_order(targets), list(lists)
    index = Touching([each.span for each in listed])
    with_target: set[int] = set()
    with_list = 0
    strict_at: Counter[int] = Counter()
    lenient_at: Counter[int] = Counter()
    for target in ordered:
        near = index.overlapping(target)
        with_target.update(near)
        with_list += bool(near)
        found = [_first_of(target, listed[number], test) for number in near]
        for at, ranks in ((strict_at, [s for s, _ in found]), (lenient_at, [p for _, p in found])):
            least = min((rank for rank in ranks if rank is not None), default=None)
            if least is not None:
                at[least] += 1
    return MaximumRecall(len(ordered), with_list, len(listed), len(with_target), strict_at, lenient_at)


def _first_of(target: Span, each: CandidateList, test: FeatureTest) -> tuple[int | None, int | None]:
    """Return the least ranks of a strict and of a lenient match of one list; zero length never matches."""
    lenient: int | None = None
    for rank, candidate in enumerate(each.candidates):
        if candidate.overlaps(target) and test.agree(target, candidate):
            if lenient is None:
                lenient = rank
            if (candidate.start, candidate.end) == (target.start, target.end):
                return rank, lenient
    return None, lenient
