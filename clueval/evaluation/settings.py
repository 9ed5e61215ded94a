"""The settings of metrics, as signatures show them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, fields
from typing import Any

from clueval.metrics.metric import Metric
from clueval.options import option_of


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
