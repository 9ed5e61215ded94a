"""The metrics, by name. Each has a module or package of its own, which is imported when it is first used.

Metrics count cases or documents (`clueval.core.metric`); they do not know one another. `exact` and `levels` stand in
`clueval.core`. `tables` makes tables of the reports.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import Field, fields
from importlib import import_module
from typing import Any

from clueval.arguments import require_kind
from clueval.core.metric import AnyMetric
from clueval.files.errors import UsageError, described
from clueval.options import option_of

METRICS = {
    "levels": ("clueval.core.levels", "Levels"),
    "exact": ("clueval.core.exact", "Exact"),
    "fair": ("clueval.second.metrics.fair", "Fair"),
    "partial": ("clueval.second.metrics.partial", "Partial"),
    "noisy": ("clueval.second.metrics.noisy", "Noisy"),
    "gate": ("clueval.second.metrics.gate", "Gate"),
    "muc": ("clueval.second.metrics.muc", "Muc"),
    "confusion": ("clueval.second.metrics.confusion", "Confusion"),
    "strings": ("clueval.second.metrics.strings", "Strings"),
    "coverage": ("clueval.second.metrics.coverage", "Coverage"),
    "masking": ("clueval.second.metrics.masking", "Masking"),
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


# Signatures


def with_settings(metric: AnyMetric) -> str:
    """Return the name of a metric with its settings, as signatures have it.

    >>> with_settings(metric_named("partial", betas=(0.5, 2)))
    'partial(factor=0.75,glue=no,betas=0.5/2)'
    """
    settings = [
        f"{setting.name}={_plain_setting(setting, getattr(metric, setting.name))}"
        for setting in fields(metric)  # type: ignore[arg-type]  # a dataclass
        if setting.compare and not (is_later(setting) and getattr(metric, setting.name) == setting.default)
    ]
    return f"{metric.name}({','.join(settings)})" if settings else metric.name


def _plain_setting(setting: Field[Any], value: object) -> str:
    return "default" if setting.name == "weights" and value is None else plain(value)


def is_later(setting: Field[Any]) -> bool:
    """Return whether signatures name a setting only if it is not the default."""
    declared = option_of(setting)
    return declared is not None and declared.later


def plain(value: object) -> str:
    """Return a setting as a signature shows it."""
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
