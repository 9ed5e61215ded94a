"""The names of `seqeval.metrics`, plus `precision_recall_fscore_support` and `get_entities` from its submodules."""

from __future__ import annotations

from clueval.compat.seqeval.metrics.sequence_labeling import (
    accuracy_score,
    classification_report,
    f1_score,
    get_entities,
    performance_measure,
    precision_recall_fscore_support,
    precision_score,
    recall_score,
)
from clueval.compat.seqeval.metrics.v1 import UndefinedMetricWarning

__all__ = [
    "UndefinedMetricWarning",
    "accuracy_score",
    "classification_report",
    "f1_score",
    "get_entities",
    "performance_measure",
    "precision_recall_fscore_support",
    "precision_score",
    "recall_score",
]
