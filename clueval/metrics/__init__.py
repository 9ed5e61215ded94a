"""The ways of counting, by name. One room each; they never import each other, and load when they are asked for.

Read `metric`, `counting`, `levels`, `match_counts`, in this order; `tables` makes tables of the reports.
Nothing here knows of files or formats.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from clueval.exceptions import UsageError
from clueval.metrics.metric import Metric

METRICS = {
    "levels": ("clueval.metrics.levels", "Levels"),
    "exact": ("clueval.metrics.exact", "Exact"),
    "fair": ("clueval.metrics.fair", "Fair"),
    "partial": ("clueval.metrics.partial", "Partial"),
    "noisy": ("clueval.metrics.noisy", "Noisy"),
    "gate": ("clueval.metrics.gate", "Gate"),
    "muc": ("clueval.metrics.muc", "Muc"),
    "confusion": ("clueval.metrics.confusion", "Confusion"),
}
"""The room and the class of each metric."""


def metric_named(name: str, **settings: Any) -> Metric:
    """The metric of that name with these settings (the fields of its class). Raises `UsageError`.

    >>> metric_named("partial", factor=0.5)
    Partial(factor=0.5, glue=False, betas=())
    """
    metric: Metric = metric_class(name)(**settings)
    return metric


def metric_class(name: str) -> Any:
    """The class of the metric of that name, a frozen dataclass of its settings. Raises `UsageError`."""
    if name not in METRICS:
        raise UsageError(f"unknown metric {name!r}", advice=f"one of {', '.join(METRICS)}")
    module, kind = METRICS[name]
    return getattr(import_module(module), kind)
