"""What a command is to count and to list: options that select metrics, their settings, and errors."""

from __future__ import annotations

import argparse
from dataclasses import Field, fields
from typing import Any

from clueval import metrics
from clueval.cli.fields import add_fields, given_fields, typed
from clueval.cli.parser import CommandParser
from clueval.core.matching import LEVELS
from clueval.core.metric import AnyMetric as Metric
from clueval.core.span import SIDES
from clueval.files.options import whole
from clueval.metrics import METRICS, metric_class
from clueval.metrics.settings import values_of
from clueval.results.options import Counting

SETTINGS = "each with its settings, as in partial(factor=0.5,betas=[2]); clueval metrics NAME lists them"


def add_metrics(parser: CommandParser, title: str, *, one: bool = False) -> None:
    """Add the option for metrics, or for the `one` metric of a command."""
    what, metavar, default = (
        (f"metric, {SETTINGS.removeprefix('each ')}", "METRIC", "exact")
        if one
        else (f"metrics, separated by commas, {SETTINGS}", "METRIC,...", "levels")
    )
    text = f"the {what}. Metrics: {', '.join(METRICS)} (default: {default})"
    parser.group(title).add_argument("--metric", action="append", metavar=metavar, help=text)
    parser.settings = _as_calls


def chosen_metrics(options: argparse.Namespace, default: str = "levels") -> list[Metric]:
    """Return the metrics that ``--metric`` names. Raises `UsageError` for one that cannot be read."""
    return list(metrics.chosen_metrics(options.metric or default))


def _as_calls() -> dict[str, str]:
    """Return how each setting is given, by the name that a user may try as an option."""
    return {
        setting.replace("_", "-"): f"--metric '{metric}({setting}=...)'"
        for metric in reversed(METRICS)  # of several with the same setting, the first is named
        for setting in settings_of(metric_class(metric))
    }


def settings_of(kind: Any) -> dict[str, Field[Any]]:
    """Return the settings of a metric that can be given as text."""
    return {field.name: field for field in fields(kind) if field.init and values_of(kind, field) is not None}


def add_choice(parser: CommandParser) -> None:
    """The options that select errors; see `chosen_errors`."""
    group = parser.group("errors")
    group.add_argument(
        "--side",
        choices=(*SIDES, "both"),
        metavar="SIDE",
        help="gold: spans that were not found; predicted: spans that are not correct; both (default: both)",
    )
    group.add_argument(
        "--level",
        type=typed(whole),
        choices=LEVELS,
        metavar="N",
        help="CLUEval's levels, 1 to 4: matches up to this level are correct (default: none, a span is correct if "
        "start, end and label are; with --labelled or --unlabelled: 2)",
    )
    group.add_argument(
        "--unlabelled", action="store_true", help="CLUEval's levels without labels: --level 2, if no other"
    )
    group.add_argument(
        "--labelled",
        metavar="LAYER",
        help="CLUEval's levels: a match is correct only if the label in this layer is correct, too",
    )
    add_fields(parser, Counting, "errors", only=("merge", "where"))


def chosen_errors(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options that select errors, as `clueval.errors` takes them."""
    found = {
        "level": options.level,
        "labelled": options.labelled,
        "unlabelled": options.unlabelled or None,
        "sides": None if options.side in (None, "both") else (options.side,),
        **{name: _named(options, name) for name in ("kinds", "reasons")},
    }
    counting = given_fields(Counting, options)
    found |= {name: counting[name] for name in ("merge", "where") if name in counting}
    return {name: value for name, value in found.items() if value is not None}


def _named(options: argparse.Namespace, option: str) -> list[str] | None:
    """Return the names that an option lists, which can be repeated."""
    given = getattr(options, option, None)
    return None if given is None else [name for names in given for name in names.split(",")]
