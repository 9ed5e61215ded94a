"""The evaluation of candidate lists over documents: all of GATE's evaluations of lists in one report.

Targets are of one type. A predicted document holds *list annotations* and their candidates in one layer. The
best candidate of each list is an ordinary response (`ListEvaluation.best`), counted like any other; the lists
themselves are counted here: by score, by rank, disambiguation, maximum recall.

Source: GATE's plugin Evaluation, its list evaluation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from clueval.exceptions import UsageError
from clueval.metrics.counting import Tally
from clueval.metrics.gate.annotations import kept_within
from clueval.metrics.gate.candidate_lists import (
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
)
from clueval.metrics.gate.counts import GateCounts
from clueval.metrics.gate.disambiguation import (
    MaximumRecall,
    disambiguation,
    disambiguation_curve,
    maximum_recall,
)
from clueval.metrics.gate.equality import FeatureTest, parse_types
from clueval.metrics.gate.metric import Gate
from clueval.metrics.gate.thresholds import ALL, CurvePoint, threshold_name
from clueval.metrics.metric import Side
from clueval.options import option, option_field
from clueval.spans.document import Document
from clueval.spans.span import DEFAULT_LAYER, Span

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
        self._by_score, self._by_rank = Tally(), Tally()
        self._disambiguation: list[Tally] = []
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
        self._disambiguation.append(disambiguation(targets, lists, self._test))
        self._maximum += maximum_recall(targets, lists, self._test)
        return self._disambiguation[-1]

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
        return disambiguation_curve(self._disambiguation)

    def report(self) -> dict[str, Any]:
        """Return ``by_score``, ``by_rank``, ``disambiguation``, ``maximum_recall``, by threshold or rank."""
        beta = self._metric.beta
        return {
            "by_score": {
                threshold_name(point.threshold): point.counts.report(beta) for point in self.by_score()
            },
            "by_rank": {rank_name(rank): counts.report(beta) for rank, counts in self.by_rank()},
            "disambiguation": {
                "lists": {what: sum(t["lists", what] for t in self._disambiguation) for what in _LISTS},
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
