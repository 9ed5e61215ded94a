"""FairEval's functions, its configuration files and its report.

To read the package, begin with `functions`, `config`. The metric is `clueval.metrics.fair`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clueval.compat.faireval.functions import (
        VERSIONS,
        annotation_stats,
        compare_spans,
        fscore,
        overlap_type,
        precision,
        recall,
    )

_MODULES = {
    "VERSIONS": "functions",
    "annotation_stats": "functions",
    "compare_spans": "functions",
    "fscore": "functions",
    "overlap_type": "functions",
    "precision": "functions",
    "recall": "functions",
}
"""Where each name is defined; its module is imported when the name is first used."""

__all__ = [
    "VERSIONS",
    "annotation_stats",
    "compare_spans",
    "fscore",
    "overlap_type",
    "precision",
    "recall",
]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
