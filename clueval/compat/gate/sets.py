"""What is counted beside the metrics: a comparison with a reference, candidate lists, whoever looks on.

What GATE asks besides is about whole documents, and is counted from them one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from clueval.evaluation.result import Result
from clueval.evaluation.signature import plain
from clueval.exceptions import UsageError
from clueval.metrics.counting import Tally
from clueval.metrics.metric import Metric
from clueval.spans.document import Document
from clueval.spans.span import DEFAULT_LAYER

if TYPE_CHECKING:
    from clueval.metrics.gate import Gate
    from clueval.metrics.gate.list_evaluation import Lists

Group = tuple[Document, ...]
"""The gold document, the predicted one, and the one of the reference if there is one."""


class Beside:
    """What is counted beside the metrics: a comparison with a reference, candidate lists, whoever looks on.

    `metrics` are the metrics as they are to be counted: with candidate lists, `gate` counts the best ones.
    """

    def __init__(
        self,
        metrics: tuple[Metric, ...],
        reference_set: str | None,
        lists: Lists | None,
        each: Callable[[Group], object] | None,
    ) -> None:
        self.metrics = metrics
        self._lists, self._each = lists, each
        self._against = self._evaluation = None
        if reference_set is None and lists is None:
            return
        metric = _gate(metrics)
        if reference_set is not None:
            if lists is not None:
                raise UsageError("candidate lists are not compared with a reference", advice="leave one out")
            from clueval.compat.gate.changes import AgainstReference

            self._against = AgainstReference(metric, reference_set)
        if lists is not None:
            if len(metrics) > 1:
                raise UsageError("candidate lists are for metric gate alone", advice="name no other metric")
            from clueval.metrics.gate.list_evaluation import ListEvaluation

            self._evaluation = ListEvaluation(metric, lists)
            self.metrics = (self._evaluation.best_metric,)
            self._scored = metric

    def __bool__(self) -> bool:
        return any(part is not None for part in (self._against, self._evaluation, self._each))

    def counted(self, group: Group) -> Group:
        """The documents that the metrics count."""
        if self._evaluation is None:
            return group
        return (group[0], self._evaluation.best(group[1]))

    def add(self, group: Group) -> None:
        """Take in the documents of a group that has been counted."""
        if self._against is not None:
            self._against.add(*group)
        if self._evaluation is not None:
            self._evaluation.add(*group)
        if self._each is not None:
            self._each(group)

    def choices(self) -> dict[str, str]:
        """What enters the signature."""
        if self._evaluation is None:
            return {}
        score, thresholds = self._scored.score_feature, self._scored.thresholds
        return {"lists": f"{self._lists},score={plain(score)},thresholds={plain(thresholds)}"}

    def completed(self, result: Result) -> Result:
        """The result with what was counted here."""
        if self._evaluation is not None:
            self._evaluation.require_known()
        parts = {"reference": self._against, "lists": self._evaluation}
        found = {name: part.report() for name, part in parts.items() if part is not None}
        if not found:
            return result
        own = result.metrics["gate"].get(DEFAULT_LAYER) or _gate(self.metrics).scores(
            Tally(), [DEFAULT_LAYER]
        )
        report = {**own, **found}
        return replace(result, metrics={**result.metrics, "gate": {DEFAULT_LAYER: report}}, counted=None)


def _gate(metrics: Iterable[Metric]) -> Gate:
    from clueval.metrics.gate import Gate

    for metric in metrics:
        if isinstance(metric, Gate):
            return metric
    raise UsageError("a reference set and candidate lists are for metric gate", advice="name metric gate")
