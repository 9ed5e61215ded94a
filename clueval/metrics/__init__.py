"""The metrics, by name. Each has a module or package of its own, which is imported when the metric is first
used.

Metrics never import each other. To read the package, begin with `metric`, `counting`, `levels` and
`match_counts`, in this order; `tables` makes tables of the reports. Nothing here depends on files or formats.
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
    "strings": ("clueval.metrics.strings", "Strings"),
    "coverage": ("clueval.metrics.coverage", "Coverage"),
    "masking": ("clueval.metrics.masking", "Masking"),
}
"""The module and the class of each metric."""


def metric_named(name: str, **settings: Any) -> Metric:
    """Return the metric called `name` with these settings (the fields of its class).

    Raises `UsageError` for an unknown name and for settings that the metric does not accept.

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
