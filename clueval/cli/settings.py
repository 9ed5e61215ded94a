"""The settings of single metrics as options: from the command line to metrics."""

from __future__ import annotations

import argparse
from typing import Any

from clueval.exceptions import UsageError
from clueval.metric import Metric
from clueval.metrics import METRICS, metric_named


def add_settings(parser: argparse.ArgumentParser) -> None:
    """The options of the metrics that have some."""
    fair = parser.add_argument_group("metric fair (FairEval: every error once)")
    fair.add_argument(
        "--focus",
        choices=("target", "system"),
        help="whose label a labelling error counts under (default: target)",
    )
    fair.add_argument("--labels", metavar="A,B,...", help="look at spans with these labels only")
    fair.add_argument(
        "--exclude", metavar="A,B,...", help="leave out spans with these labels (default: NONE,EMPTY)"
    )
    fair.add_argument(
        "--weights",
        metavar="FORMULA",
        help='as in "LE = 0.5 FP + 0.5 FN, BES = 0.5 TP + 0.5 FN"; default: as fair',
    )
    partial = parser.add_argument_group("metric partial (loio: graded credit for overlap)")
    partial.add_argument(
        "--partial-factor", type=float, metavar="S", help="weight of partial matches (default: 0.75)"
    )
    partial.add_argument("--glue", action="store_true", help="merge overlapping spans of one label first")
    partial.add_argument("--beta", action="append", type=float, metavar="B", help="report this F-beta, too")


_OPTIONS = {
    "fair": {"focus": "focus", "labels": "labels", "exclude": "exclude", "weights": "weights"},
    "partial": {"partial_factor": "factor", "glue": "glue", "beta": "betas"},
}
"""Of each metric with settings, the options and the fields that they set."""


def metrics(options: argparse.Namespace) -> list[Metric]:
    """The metrics that the options name, with their settings.

    Raises `UsageError` for an unknown metric and for a setting of a metric that is not named.
    """
    names = [name for names in options.metric or ["levels"] for name in names.split(",")]
    for metric, fields in _OPTIONS.items():
        for option in fields:
            if getattr(options, option) not in (None, False) and metric not in names:
                flag = f"--{option.replace('_', '-')}"
                raise UsageError(f"{flag} is a setting of metric {metric}", advice=f"add --metric {metric}")
    for name in names:
        if name not in METRICS:
            raise UsageError(f"unknown metric {name!r}", advice=f"one of {', '.join(METRICS)}")
    return [metric_named(name, **_settings(name, options)) for name in names]


def _settings(name: str, options: argparse.Namespace) -> dict[str, Any]:
    settings = {}
    for option, field in _OPTIONS.get(name, {}).items():
        value = getattr(options, option)
        if value is None or value is False:
            continue
        settings[field] = _converted(option, value)
    return settings


def _converted(option: str, value: Any) -> Any:
    if option in ("labels", "exclude"):
        return tuple(part.strip() for part in value.split(","))
    if option == "weights":
        from clueval.metrics.fair import parse_weights

        return parse_weights(value)
    return tuple(value) if option == "beta" else value
