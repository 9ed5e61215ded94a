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
    noisy = parser.add_argument_group("metric noisy (Nerval: gold and predicted texts differ)")
    noisy.add_argument(
        "--threshold",
        type=float,
        metavar="T",
        help="greatest share of a gold text that may differ (default: 0.3)",
    )
    noisy.add_argument(
        "--max-alignment",
        type=int,
        metavar="CELLS",
        help="greatest product of the lengths of two texts to be aligned",
    )
    gate = parser.add_argument_group("metric gate (GATE: strict and lenient)")
    gate.add_argument(
        "--types", metavar="A,B=C,...", help="the types to evaluate; B=C: targets B, responses C"
    )
    gate.add_argument("--features", metavar="F,...", help="features that must be equal, too")
    gate.add_argument(
        "--feature-comparison", choices=("equality", "string", "subsumption"), help="(default: equality)"
    )
    gate.add_argument("--pairing", choices=("plugin", "by-response", "by-target"), help="(default: plugin)")
    gate.add_argument("--score-feature", metavar="F", help="the feature that holds the responses' scores")
    gate.add_argument(
        "--thresholds", metavar="T", help="all, rounded, 11, 21, 51, or numbers parted by commas"
    )


_OPTIONS = {
    "fair": {"focus": "focus", "labels": "labels", "exclude": "exclude", "weights": "weights"},
    "partial": {"partial_factor": "factor", "glue": "glue", "beta": "betas"},
    "noisy": {"threshold": "threshold", "max_alignment": "max_alignment"},
    "gate": {
        option: option
        for option in ("types", "features", "feature_comparison", "pairing", "score_feature", "thresholds")
    },
}
"""Of each metric with settings, the options and the fields that they set."""


def metrics(options: argparse.Namespace) -> list[Metric]:
    """The metrics that the options name, with their settings.

    Raises `UsageError` for an unknown metric and for a setting of a metric that is not named.
    """
    names = [name for names in options.metric or ["levels"] for name in names.split(",")]
    for metric, fields in _OPTIONS.items():
        for option in fields:
            if (
                getattr(options, option) not in (None, False)
                and metric not in names
                and not _for_alignment(option, options)
            ):
                flag = f"--{option.replace('_', '-')}"
                raise UsageError(f"{flag} is a setting of metric {metric}", advice=f"add --metric {metric}")
    for name in names:
        if name not in METRICS:
            raise UsageError(f"unknown metric {name!r}", advice=f"one of {', '.join(METRICS)}")
    return [metric_named(name, **_settings(name, options)) for name in names]


def _for_alignment(option: str, options: argparse.Namespace) -> bool:
    """Whether an option belongs to the projection of spans, whatever the metric."""
    return option == "max_alignment" and bool(options.align)


def _settings(name: str, options: argparse.Namespace) -> dict[str, Any]:
    settings = {}
    for option, field in _OPTIONS.get(name, {}).items():
        value = getattr(options, option)
        if value is None or value is False:
            continue
        settings[field] = _converted(option, value)
    return settings


def _converted(option: str, value: Any) -> Any:
    if option in ("labels", "exclude", "types", "features"):
        return tuple(part.strip() for part in value.split(","))
    if option == "weights":
        from clueval.metrics.fair import parse_weights

        return parse_weights(value)
    return tuple(value) if option == "beta" else value
