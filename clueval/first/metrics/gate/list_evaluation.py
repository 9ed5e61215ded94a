"""The evaluation of candidate lists over documents: all of GATE's evaluations of lists in one report.

Targets are of one type. A predicted document holds *list annotations* and their candidates in one layer. The
best candidate of each list is an ordinary response (`ListEvaluation.best`), counted like any other; the lists
themselves are counted here: by score, by rank, disambiguation, maximum recall.

`disambiguation` counts, for every list with a match, whether the match is among the first k candidates.
`maximum_recall` counts the targets that have a match in any list; in both, a match does not use up list or
target.

Source: GATE's plugin Evaluation, its list evaluation and ``EvaluateMaxRecall``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from clueval.core.span import DEFAULT_LAYER, Span
from clueval.files.errors import UsageError
from clueval.first.metrics.counting import Tally
from clueval.first.metrics.gate.annotations import kept_within
from clueval.first.metrics.gate.candidate_lists import (
    ALL_RANKS,
    RANKS,
    CandidateList,
    best_candidates,
    candidate_lists,
    count_lists_by_rank,
    count_lists_by_score,
    lists_curve,
    ranks_curve,
    require_features,
    value_of,
)
from clueval.first.metrics.gate.counts import GateCounts
from clueval.first.metrics.gate.equality import FeatureTest, parse_types
from clueval.first.metrics.gate.metric import Gate
from clueval.first.metrics.gate.pairing import PARTIAL, STRICT, Touching, in_order
from clueval.first.metrics.gate.thresholds import ALL, CurvePoint, threshold_name
from clueval.first.metrics.metric import Side
from clueval.options import option, option_field
from clueval.spans.document import Document

ALL_RANKS_NAME = "all"
"""The name, in the report, of the rank at which every candidate is visible; as an option: all ranks."""


@dataclass(frozen=True, slots=True)
class Lists:
    """The location of the candidate lists in an annotation set.

    Args:
        list_type: the type of the list annotations.
        edge_feature: their feature that holds the ids of the candidates.
        element_type: the type of the candidates; others are ignored. None: any.
        ranks: the ranks to report: ``all``, ``10``, ``50`` or ``100`` (eleven ranks up to that one).

    Raises `UsageError` for an empty name and for unknown ranks.
    """

    list_type: str = field(
        metadata=option("--list-type", "TYPE", "predicted annotations of this type are lists of candidates")
    )
    edge_feature: str = field(
        metadata=option(
            "--edge-feature",
            "F",
            "the feature of the lists that holds the ids of their candidates, best first",
        )
    )
    element_type: str | None = option_field(
        None, "--element-type", "TYPE", "the type of the candidates", default="any"
    )
    ranks: str = option_field(
        ALL_RANKS_NAME,
        "--ranks",
        "N",
        "at how many of the best candidates of each list there are figures: all, or eleven numbers up to 10, "
        "50 or 100",
        choices=(ALL_RANKS_NAME, *RANKS),
    )

    def __post_init__(self) -> None:
        for name in ("list_type", "edge_feature", "element_type"):
            if getattr(self, name) == "":
                raise UsageError(f"Lists.{name} is empty", advice="name a type or feature")
        if self.ranks not in (ALL_RANKS_NAME, *RANKS):
            raise UsageError(
                f"unknown Lists.ranks {self.ranks!r}", advice=f"one of {', '.join((ALL_RANKS_NAME, *RANKS))}"
            )

    def __str__(self) -> str:
        return f"{self.list_type}.{self.edge_feature}>{self.element_type or 'any'},ranks={self.ranks}"


class ListEvaluation:
    """One evaluation of candidate lists while it runs.

    `metric` sets the type to evaluate and how; its score feature sorts the candidates, its thresholds are
    those of ``by_score``. Raises `UsageError` unless it has exactly one type and at least one feature.
    """

    def __init__(self, metric: Gate, lists: Lists) -> None:
        specs = parse_types(metric.types)
        if len(specs) != 1:
            raise UsageError(
                f"candidate lists are evaluated for one type of targets, not {len(specs)}",
                advice="name only this type in Gate.types",
            )
        self.type = specs[0].target
        if specs[0].response not in (self.type, lists.list_type, lists.element_type):
            raise UsageError(
                f"the type {str(specs[0])!r} names responses that are neither lists nor candidates",
                advice=f"write Gate.types as {self.type}={lists.list_type}, or only {self.type}",
            )
        self._metric, self._lists = metric, lists
        self._test = FeatureTest(metric.features, metric.feature_comparison)
        require_features(self._test)
        self.best_metric = replace(metric, types=(self.type,), score_feature=None, thresholds=None)
        self._by_score, self._by_rank, self._disambiguation = Tally(), Tally(), Tally()
        self._maximum = MaximumRecall()
        self._seen: set[str] = set()

    def lists_of(self, document: Document) -> list[CandidateList]:
        """Return the candidate lists of a predicted document. Raises the same errors as `candidate_lists`."""
        metric, layer = self._metric, document.layers.get(DEFAULT_LAYER, ())
        found = candidate_lists(
            layer,
            self._lists.list_type,
            self._lists.edge_feature,
            element_type=self._lists.element_type,
            score_feature=metric.score_feature,
            nil=None if metric.nil is None else (self._test.every[0], metric.nil),
            document=document,
        )
        if metric.containing is None:
            return found
        around = document.layers.get(metric.containing, ())
        kept = {id(span) for span in kept_within([each.span for each in found], around, metric.containment)}
        return [each for each in found if id(each.span) in kept]

    def best(self, document: Document) -> Document:
        """Return the predicted document with the best candidates as its responses, of the targets' type."""
        best = best_candidates(self.lists_of(document))
        spans = [replace(span, labels={DEFAULT_LAYER: self.type}) for span in best]
        return replace(document, layers={**document.layers, DEFAULT_LAYER: spans})

    def add(self, gold: Document, predicted: Document) -> Tally:
        """Count one document, and return the tally of `disambiguation`."""
        self._seen.update(span.label for span in predicted.layers.get(DEFAULT_LAYER, ()))
        targets = self.targets(gold, predicted)
        lists = self.lists_of(predicted)
        if self._metric.score_feature is not None:
            thresholds = self._metric.thresholds or ALL
            self._by_score.update(count_lists_by_score(targets, lists, self._test, thresholds))
        self._by_rank.update(count_lists_by_rank(targets, lists, self._test))
        self._maximum += maximum_recall(targets, lists, self._test)
        found = disambiguation(targets, lists, self._test)
        self._disambiguation.update(found)
        return found

    def targets(self, gold: Document, predicted: Document) -> Sequence[Span]:
        """Return the targets that are evaluated."""
        own = Side(gold.layers.get(DEFAULT_LAYER, ()), document=gold)
        # without a response every target is missing
        return self.best_metric.outcome(own, Side((), document=predicted)).missing

    def require_known(self) -> None:
        """Raise `UsageError` if documents were counted and none has a list, or a candidate, of the type."""
        for name in ("list_type", "element_type"):
            kind = getattr(self._lists, name)
            if kind is not None and self._disambiguation and kind not in self._seen:
                raise UsageError(
                    f"no predicted annotation has the type {kind!r}", advice=f"check Lists.{name}"
                )

    # Results

    def by_score(self) -> list[CurvePoint]:
        """Return the counts at every score threshold, rising; none without scores."""
        if self._metric.score_feature is None:
            return []
        return lists_curve(self._by_score, self._metric.thresholds or ALL)

    def by_rank(self) -> list[tuple[int, GateCounts]]:
        """Return the counts at every rank; the last are those of all candidates."""
        return ranks_curve(self._by_rank, RANKS.get(self._lists.ranks))

    def disambiguation(self) -> list[tuple[int, GateCounts]]:
        """Return the counts at every rank of the lists that have a match."""
        return disambiguation_curve([self._disambiguation])

    def report(self) -> dict[str, Any]:
        """Return ``by_score``, ``by_rank``, ``disambiguation``, ``maximum_recall``, by threshold or rank."""
        beta = self._metric.beta
        return {
            "by_score": {
                threshold_name(point.threshold): point.counts.report(beta) for point in self.by_score()
            },
            "by_rank": {rank_name(rank): counts.report(beta) for rank, counts in self.by_rank()},
            "disambiguation": {
                "lists": {what: self._disambiguation["lists", what] for what in _LISTS},
                "ranks": {
                    str(rank): dict(self._accuracies(counts)) for rank, counts in self.disambiguation()
                },
            },
            "maximum_recall": {
                "all": self._maximum.report(),
                "ranks": {str(rank): self._maximum.report(rank) for rank in range(self._maximum.ranks)},
            },
        }

    def _accuracies(self, counts: GateCounts) -> Iterator[tuple[str, float]]:
        yield "lists", counts.targets
        for name in ("correct_strict", "correct_partial", "incorrect_strict", "incorrect_partial"):
            yield name, getattr(counts, name)
        yield "accuracy_strict", counts.recall_strict
        yield "accuracy_lenient", counts.recall_lenient


_LISTS = (
    "all",
    "without_target",
    "with_target",
    "without_match",
    "strict",
    "strict_at_0",
    "partial",
    "partial_at_0",
)


def rank_name(rank: int) -> str:
    """Return the name of a rank in reports: its number, or ``all``.

    >>> rank_name(3), rank_name(ALL_RANKS)
    ('3', 'all')
    """
    return ALL_RANKS_NAME if rank == ALL_RANKS else str(rank)


# Disambiguation and maximum recall


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
    for each in listed:
        near = [ordered[n] for n in index.touching(each.span)]
        strict, partial = _first_matches(near, each, test)
        _count_list(tally, near, strict, partial)
        if strict is None and partial is None:
            continue
        tally["rank", 0, "targets"] += 1
        tally["rank", 0, "responses"] += 1
        before = ""
        for rank in range(len(each)):
            found = _at_rank(each, strict, partial, rank)
            if found != before:
                tally["rank", rank, found] += 1
                if before:
                    tally["rank", rank, before] -= 1
            before = found
    tally["longest", max(map(len, listed), default=1) - 1] += 1
    return tally


def _at_rank(each: CandidateList, strict: int | None, partial: int | None, rank: int) -> str:
    if strict is not None and rank >= strict:
        return "correct_strict"
    if partial is not None and rank >= partial:
        return "correct_partial"
    own = each.candidates[rank]
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
    total = Tally({("longest", 0): 0})
    for tally in documents:
        total.update(tally)
    return ranks_curve(total)[:-1]


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
