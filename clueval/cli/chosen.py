"""What a command is to count and to list: options that select metrics, their settings, and errors."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import Field, fields
from typing import Any

from clueval.cli.fields import add_fields, given_fields, typed
from clueval.cli.parser import CommandParser
from clueval.core.matching import LEVELS
from clueval.core.metric import AnyMetric as Metric
from clueval.core.span import SIDES
from clueval.files.errors import UsageError
from clueval.metrics import METRICS, metric_class
from clueval.metrics.settings import read_value, values_of
from clueval.options import whole
from clueval.second.results.options import Counting


def add_metrics(parser: CommandParser, title: str, *, one: bool = False) -> None:
    """Add the options for metrics, or the `one` metric of a command, and for their settings."""
    what, metavar, default = (
        ("metric", "NAME", "exact") if one else ("metrics, separated by commas", "NAME,...", "levels")
    )
    text = f"the {what}: {', '.join(METRICS)} (default: {default})"
    parser.group(title).add_argument("--metric", action="append", metavar=metavar, help=text)
    add_set(parser, title)


def add_set(parser: CommandParser, title: str) -> None:
    """Add the option for the settings of metrics."""
    parser.group(title).add_argument(
        "--set",
        action="append",
        default=[],
        metavar="METRIC.SETTING=VALUE",
        help="a setting of a metric, as in fair.focus=system; see clueval metrics NAME",
    )
    parser.settings = _as_options


def chosen_metrics(names: Sequence[str], given: Sequence[str]) -> list[Metric]:
    """Return the metrics `names`, with the settings `given` as METRIC.SETTING=VALUE.

    Raises `UsageError` for an unknown metric or setting, for an invalid value, and for a setting of a metric that
    is not in `names`.
    """
    for name in names:
        metric_class(name)  # raises for an unknown one
    settings: dict[str, dict[str, Any]] = {name: {} for name in names}
    texts: dict[str, list[str]] = {name: [] for name in names}
    for text in given:
        metric, setting, value = _split(text)
        if metric not in settings:
            known = metric in METRICS
            raise UsageError(
                f"--set {text}: {metric} is {'not a selected metric' if known else 'not a metric'}",
                advice=f"add --metric {metric}" if known else f"one of {', '.join(METRICS)}",
            )
        read = _value(metric, setting, value)
        if settings[metric].setdefault(setting, read) != read:
            raise UsageError(
                f"--set {metric}.{setting} is given twice, with different values", advice="give it once"
            )
        texts[metric].append(f"--set {text}")
    return [_made(name, values, texts[name]) for name, values in settings.items()]


def _as_options() -> dict[str, str]:
    """Return how each setting is given, by the name that a user may try as an option."""
    return {
        setting.replace("_", "-"): f"--set {metric}.{setting}=..."
        for metric in reversed(METRICS)  # of several with the same setting, the first is named
        for setting in settings_of(metric_class(metric))
    }


def settings_of(kind: Any) -> dict[str, Field[Any]]:
    """Return the settings of a metric that can be given as text."""
    return {field.name: field for field in fields(kind) if field.init and values_of(kind, field) is not None}


def metric_names(options: argparse.Namespace, default: str = "levels") -> list[str]:
    """Return the metrics that ``--metric`` names, each once."""
    return list(dict.fromkeys(name for given in options.metric or [default] for name in given.split(",")))


def _split(text: str) -> tuple[str, str, str]:
    place, equals, value = text.partition("=")
    metric, dot, setting = place.strip().partition(".")
    if not (metric and dot and setting and equals):
        raise UsageError(
            f"--set {text!r} cannot be read", advice="write it METRIC.SETTING=VALUE, as in fair.focus=system"
        )
    return metric, setting, value.strip()


def _value(metric: str, setting: str, value: str) -> Any:
    kind = metric_class(metric)
    known = settings_of(kind)
    if setting not in known:
        raise UsageError(
            f"--set {metric}.{setting}={value}: metric {metric} has no setting {setting!r}",
            advice=f"it has {', '.join(known) or 'none'}",
        )
    values = values_of(kind, known[setting])
    assert values is not None
    return read_value(values, value, f"--set {metric}.{setting}")


def _made(name: str, values: Mapping[str, Any], texts: Sequence[str]) -> Metric:
    """Return the metric with these settings. Raises `UsageError`, which names the option or quotes all of them."""
    try:
        metric: Metric = metric_class(name)(**values)
    except UsageError as error:
        from clueval.cli.setting_names import with_options

        if with_options(error).problem.startswith("--set "):
            raise
        raise UsageError(f"{' '.join(texts)}: {error.problem}", advice=error.advice) from None
    return metric


def add_choice(parser: CommandParser) -> None:
    """The options that select errors; see `chosen_errors`."""
    group = parser.group("which errors")
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
    add_fields(parser, Counting, "which errors", only=("merge", "where"))


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
