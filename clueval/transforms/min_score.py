"""Minimum scores: predicted spans with a score below a threshold do not count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from clueval.exceptions import UsageError
from clueval.spans.document import Document
from clueval.spans.number import number_of
from clueval.spans.span import Span, name_of
from clueval.transforms.group import Group
from clueval.transforms.names import changed_labels


def score_of(span: Span, feature: str, document: Document) -> float:
    """Return the score of a predicted span. Raises `UsageError` for a score that is missing or no finite number."""
    value = span.features.get(feature)
    number = number_of(value)
    if number is None:
        problem = "has no score" if value is None else "has no number as its score"
        raise UsageError(
            f"the predicted span {name_of(span)} {problem} {feature!r}",
            file=document.file,
            line=span.line,
            document=document.id,
            advice="every predicted span needs a finite number in this feature",
        )
    return number


class MinScore:
    """A transform that leaves out predicted spans below a threshold: one for all, or one for each label.

    `prepared` counts the spans that stay and those that are left out.
    """

    def __init__(self, feature: str, thresholds: float | Mapping[str, float], says: str) -> None:
        self._feature, self._thresholds = feature, thresholds
        self.signature = ("min-score", says)
        self.prepared: Counter[tuple[Any, ...]] = Counter({("kept",): 0, ("left_out",): 0})

    def __call__(self, group: Group) -> Group:
        predicted = group.predicted

        def change(span: Span, layer: str) -> Span | None:
            keeps = score_of(span, self._feature, predicted) >= self._of(span, layer, predicted)
            self.prepared[("kept",) if keeps else ("left_out",)] += 1
            return span if keeps else None

        return replace(group, predicted=changed_labels(predicted, change))

    def _of(self, span: Span, layer: str, document: Document) -> float:
        if not isinstance(self._thresholds, Mapping):
            return self._thresholds
        label = span.by_layer.get(layer)
        if label not in self._thresholds:
            raise UsageError(
                f"the label of the predicted span {name_of(span)} has no threshold",
                file=document.file,
                line=span.line,
                document=document.id,
                advice=f"labels with thresholds: {', '.join(self._thresholds)}",
            )
        return self._thresholds[str(label)]
