"""The metrics, by name. Each has a module or package of its own, which is imported when it is first used.

Metrics count cases or documents (`clueval.core.metric`); they do not know one another. `exact` and `levels` stand in
`clueval.core`. `tables` makes tables of the reports.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from importlib import import_module
from typing import Any

from clueval.arguments import require_kind
from clueval.core.metric import AnyMetric
from clueval.files.errors import UsageError, described
from clueval.metrics.settings import with_settings

__all__ = ["METRICS", "chosen_metrics", "is_metric", "metric_class", "metric_named", "with_settings"]

METRICS = {
    "levels": ("clueval.core.levels", "Levels"),
    "exact": ("clueval.core.exact", "Exact"),
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

_OTHER_NAMES = {
    **dict.fromkeys(("f1", "micro", "macro", "strict", "seqeval", "conlleval", "span", "ner"), "exact"),
    **dict.fromkeys(("nervaluate", "semeval", "type", "partial_match"), "muc"),
    **dict.fromkeys(("accuracy", "precision", "recall"), "exact"),
    "clueval": "levels",
    "faireval": "fair",
    "loio": "partial",
    "nerval": "noisy",
    "cer": "noisy",
}
"""Names of programs and rates, and the metric that has their numbers."""


def metric_class(name: str) -> Any:
    """Return the class of the metric of that name, a frozen dataclass of its settings. Raises `UsageError`."""
    if name not in METRICS:
        every, found = f"one of {', '.join(METRICS)}", _OTHER_NAMES.get(name.lower())
        advice = every if found is None else f"its numbers are those of {found!r}; {every}"
        raise UsageError(f"unknown metric {name!r}", advice=advice)
    module, kind = METRICS[name]
    return getattr(import_module(module), kind)


def metric_named(name: str, **settings: Any) -> AnyMetric:
    """Return the metric called `name` with these settings (the fields of its class).

    Raises `UsageError` for an unknown name and for settings that the metric does not accept.

    >>> metric_named("partial", factor=0.5)
    Partial(factor=0.5, glue=False, betas=())
    """
    kind = metric_class(name)
    known = [field.name for field in fields(kind) if field.init]
    for setting in settings:
        if setting not in known:
            raise UsageError(
                f"metric {name} has no setting {setting!r}", advice=f"it has {', '.join(known) or 'none'}"
            )
    metric: AnyMetric = kind(**settings)
    return metric


def chosen_metrics(given: Sequence[str | AnyMetric] | str | AnyMetric) -> tuple[AnyMetric, ...]:
    """Return the metrics of a list of metrics or names, or of names separated by commas, each once.

    Raises `UsageError` for an unknown name and for an empty list.
    """
    several: Any = given.split(",") if isinstance(given, str) else [given] if is_metric(given) else given
    require_kind(several, "Iterable", "metrics")
    if isinstance(several, Mapping):
        from clueval.hints import SETTINGS

        raise UsageError("metrics cannot be a dictionary", advice=SETTINGS)
    listed = list(several)
    for each in listed:
        if not isinstance(each, str) and not is_metric(each):
            raise UsageError(
                f"{described(each)} is not a metric", advice=f"one of {', '.join(METRICS)}, or a Metric"
            )
    chosen = [metric_named(each) if isinstance(each, str) else each for each in listed]
    if not chosen:
        raise UsageError("no metric is named", advice=f"one of {', '.join(METRICS)}")
    return tuple({metric.name: metric for metric in chosen}.values())


def is_metric(given: object) -> bool:
    """Return whether an object has what metrics have (`clueval.core.metric`); a class is none."""
    if isinstance(given, type) or not (hasattr(given, "count") or hasattr(given, "count_documents")):
        return False
    return all(hasattr(given, name) for name in ("name", "zero", "scores", "headlines", "choices", "check"))
