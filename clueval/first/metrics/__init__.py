"""The metrics, by name. Each has a module or package of its own, which is imported when the metric is first
used.

Metrics never import each other. To read the package, begin with `metric`, `counting`, `levels` and
`match_counts`, in this order; `tables` makes tables of the reports. Nothing here depends on files or formats.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, fields
from importlib import import_module
from typing import Any

from clueval.files.errors import UsageError
from clueval.first.metrics.metric import Metric
from clueval.options import option_of

METRICS = {
    "levels": ("clueval.first.metrics.levels", "Levels"),
    "exact": ("clueval.first.metrics.exact", "Exact"),
    "fair": ("clueval.first.metrics.fair", "Fair"),
    "partial": ("clueval.first.metrics.partial", "Partial"),
    "noisy": ("clueval.first.metrics.noisy", "Noisy"),
    "gate": ("clueval.first.metrics.gate", "Gate"),
    "muc": ("clueval.first.metrics.muc", "Muc"),
    "confusion": ("clueval.first.metrics.confusion", "Confusion"),
    "strings": ("clueval.first.metrics.strings", "Strings"),
    "coverage": ("clueval.first.metrics.coverage", "Coverage"),
}
"""The module and the class of each metric."""


def metric_named(name: str, **settings: Any) -> Metric:
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
    metric: Metric = kind(**settings)
    return metric


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


def _advice(name: str) -> str:
    every = f"one of {', '.join(METRICS)}"
    found = _OTHER_NAMES.get(name.lower())
    return every if found is None else f"its numbers are those of {found!r}; {every}"


def metric_class(name: str) -> Any:
    """The class of the metric of that name, a frozen dataclass of its settings. Raises `UsageError`."""
    if name not in METRICS:
        raise UsageError(f"unknown metric {name!r}", advice=_advice(name))
    module, kind = METRICS[name]
    return getattr(import_module(module), kind)


def with_settings(metric: Metric) -> str:
    """The name of a metric with its settings."""
    names = [
        setting.name
        for setting in fields(metric)  # type: ignore[arg-type]  # a dataclass
        if setting.compare and not (is_later(setting) and getattr(metric, setting.name) == setting.default)
    ]
    values = {name: getattr(metric, name) for name in names}
    settings = [
        f"{name}={'default' if name == 'weights' and value is None else plain(value)}"
        for name, value in values.items()
    ]
    return f"{metric.name}({','.join(settings)})" if settings else metric.name


def is_later(setting: Field[Any]) -> bool:
    """Return whether signatures name a setting only if it is not the default."""
    declared = option_of(setting)
    return declared is not None and declared.later


def plain(value: object) -> str:
    """A setting as a signature shows it."""
    if isinstance(value, Mapping):
        return "/".join(f"{key}={plain(part)}" for key, part in value.items())
    if isinstance(value, set | frozenset):
        return "/".join(sorted(map(str, value))) or "none"
    if isinstance(value, tuple | list):
        return "/".join(map(str, value)) or "none"
    if value is None:
        return "none"
    if value == "":
        return "''"
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)
