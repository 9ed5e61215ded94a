"""Candidate lists: the best candidate of each list is counted, and the lists themselves are reported."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any, ClassVar

from clueval.evaluation.values import plain
from clueval.metrics.gate import Gate
from clueval.metrics.gate.list_evaluation import ListEvaluation, Lists
from clueval.transforms.group import Group


class BestCandidates:
    """A transform that replaces predicted by the best candidate of each list, and appends it to
    `Group.further`.

    `metric` counts the best candidates. Raises `UsageError` as `ListEvaluation` does.
    """

    def __init__(self, metric: Gate, lists: Lists) -> None:
        evaluation = ListEvaluation(metric, lists)
        score, thresholds = plain(metric.score_feature), plain(metric.thresholds)
        self.signature = ("lists", f"{lists},score={score},thresholds={thresholds}")
        self.prepared: Counter[tuple[Any, ...]] = Counter()
        self.metric, self._best = evaluation.best_metric, evaluation.best

    def __call__(self, group: Group) -> Group:
        lists = group.predicted
        return replace(group, predicted=self._best(lists), further=(*group.further, lists))


class CandidateLists:
    """An observer that reports on candidate lists; see `clueval.metrics.gate.list_evaluation`."""

    name: ClassVar[str] = "lists"

    def __init__(self, metric: Gate, lists: Lists) -> None:
        self._evaluation = ListEvaluation(metric, lists)

    def see(self, group: Group) -> None:
        """Count one document, after `BestCandidates`."""
        self._evaluation.add(group.gold, group.further[-1])

    def section(self) -> dict[str, Any]:
        """Return the report. Raises `UsageError` if no document has such lists."""
        self._evaluation.require_known()
        return self._evaluation.report()
