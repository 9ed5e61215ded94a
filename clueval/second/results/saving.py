"""Results as files: the bag of a result with what its numbers depend on (`clueval.second.results.saved`)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from clueval.core.count import Plan
from clueval.core.metric import AnyMetric
from clueval.files.errors import CluevalError, FormatError, UsageError
from clueval.metrics import METRICS, metric_class, metric_named
from clueval.metrics.curve import Curve
from clueval.second.results.adding import Counted
from clueval.second.results.saved import load_bag, save_bag
from clueval.second.results.signature import Signature

_PLAIN = (str, int, float, bool, type(None))

_FACTS = ("signature", "metrics", "units", "by", "merge", "prepared", "gold_sha256")
"""The facts that are saved with a bag."""


def save_counts(counted: Counted, gold_sha256: str | None, path: Path) -> None:
    """Save what was counted; see `clueval.second.results.result.Result.save`."""
    plan = counted.plan
    facts = {
        "signature": str(counted.signature),
        "metrics": [_metric_text(metric) for metric in plan.metrics],
        "units": plan.units,
        "by": list(plan.by),
        "merge": plan.merge,
        "prepared": counted.prepared,
        "gold_sha256": gold_sha256,
    }
    save_bag(counted.bag, facts, path)


def load_counts(path: Path) -> tuple[Counted, str | None]:
    """Return what was counted, and the hash of the gold files, as `save_counts` has written them.

    Raises `FileError`, `FormatError` for a file that is no saved result, or was changed.
    """
    bag, facts = load_bag(path, _metrics_of, _FACTS)
    plan = Plan(bag.metrics, facts["merge"], by=tuple(facts["by"]), units=facts["units"])
    try:
        signature = Signature.parse(facts["signature"])
    except UsageError as error:
        raise FormatError(error.problem, file=str(path), line=1) from None
    return Counted(bag, plan, signature, facts["prepared"], None), facts["gold_sha256"]


# Metrics as texts


def _metric_text(metric: AnyMetric) -> str:
    """Return a metric as JSON: its name and its settings. Raises `UsageError` for one that cannot be saved."""
    if isinstance(metric, Curve):
        curve = {"feature": metric.feature, "thresholds": metric.thresholds, "merge": metric.merge}
        return json.dumps({"curve": json.loads(_metric_text(metric.metric)), **curve})
    if metric.name not in METRICS:
        raise UsageError(f"metric {metric.name!r} cannot be saved", advice="leave the metric out")
    settings = {
        setting.name: _plain(getattr(metric, setting.name), metric.name, setting.name)
        for setting in fields(metric)  # type: ignore[arg-type]  # a dataclass
        if setting.init
    }
    return json.dumps({"name": metric.name, "settings": settings}, sort_keys=True)


def _plain(value: object, metric: str, name: str) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(part, metric, name) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(part, metric, name) for part in value]
    if isinstance(value, set | frozenset):
        return sorted(_plain(part, metric, name) for part in value)
    if type(value) in _PLAIN:
        return value
    if is_dataclass(value):  # a list of words, for example, without the file that it was read from
        (part,) = (getattr(value, field.name) for field in fields(value) if field.compare)
        return _plain(part, metric, name)
    raise UsageError(f"the setting {metric}.{name} cannot be saved", advice="leave the metric out")


def _metrics_of(texts: Sequence[str]) -> tuple[AnyMetric, ...]:
    """Return the metrics of their texts. Raises `UsageError`."""
    try:
        return tuple(_metric_of(json.loads(text)) for text in texts)
    except CluevalError:
        raise
    except (TypeError, ValueError, AttributeError, KeyError, RecursionError):
        raise UsageError("a metric has a setting of the wrong type") from None


def _metric_of(saved: dict[str, Any]) -> AnyMetric:
    if "curve" in saved:
        thresholds = None if saved["thresholds"] is None else tuple(saved["thresholds"])
        return Curve(_metric_of(saved["curve"]), saved["feature"], thresholds, saved["merge"])
    name, settings = saved["name"], saved["settings"]
    kinds = {field.name: str(field.type) for field in fields(metric_class(name))}
    values = {
        setting: (frozenset if kinds[setting].startswith("frozenset") else tuple)(value)
        if isinstance(value, list)
        else value
        for setting, value in settings.items()
    }
    return metric_named(name, **values)
