"""Minimum scores: predicted spans with a score below a threshold, or that of a file, do not count."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from typing import Any, NamedTuple

from clueval.exceptions import FormatError, UsageError
from clueval.spans.document import Document
from clueval.spans.features import number_of
from clueval.spans.span import Span, name_of
from clueval.textfiles import decoded
from clueval.transforms.group import Group
from clueval.transforms.names import changed_labels, content_of, sha8


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


class ThresholdFile(NamedTuple):
    """The content of a file of ``clueval threshold``: a threshold that was chosen on some data, to use on other data.

    {"threshold": 0.42, "score_feature": "score", "metric": "exact", "measure": "f1", "value": 0.81,
     "signature": "metrics:exact|...", "gold_sha256": "..."}

    `threshold` is one number, or one for each label.

    `gold_sha256` tells the gold files apart for which the threshold was chosen; None if they were no files. `sha` is
    the beginning of the hash of the file itself.
    """

    threshold: float | Mapping[str, float]
    score_feature: str
    metric: str
    measure: str
    gold_sha256: str | None
    sha: str

    def says(self, *, same_data: bool = False) -> str:
        """Return the value for the signature."""
        shown = "per-label" if isinstance(self.threshold, Mapping) else f"{self.threshold:g}"
        more = ",same-data" if same_data else ""
        return f"{shown}(dev,{self.measure},{self.metric},{self.sha}{more})"


def read_threshold(given: str | PathLike[str]) -> ThresholdFile:
    """Return the content of a file. Raises `FormatError` for a file of another form, `FileError`."""
    path, content = content_of(given, "Preparing.min_score")
    try:
        value = json.loads(decoded(content, path, 1))
    except (json.JSONDecodeError, RecursionError):
        value = None
    found = value if isinstance(value, dict) else {}
    threshold, names = _threshold(found.get("threshold")), ("score_feature", "metric", "measure")
    sha256 = found.get("gold_sha256")
    if threshold is None or not all(isinstance(found.get(name), str) for name in names):
        raise FormatError(
            "is not a file of clueval threshold",
            file=str(path),
            advice="write one with clueval threshold GOLD PREDICTED --score-feature F -o T.json, or give a number",
        )
    feature, metric, measure = (found[name] for name in names)
    known = sha256 if isinstance(sha256, str) else None
    return ThresholdFile(threshold, feature, metric, measure, known, sha8(content))


def _threshold(value: Any) -> float | dict[str, float] | None:
    if not isinstance(value, dict):
        return None if isinstance(value, str) else number_of(value)
    numbers = {label: None if isinstance(each, str) else number_of(each) for label, each in value.items()}
    return None if None in numbers.values() else numbers  # type: ignore[return-value]  # none is None
