"""``clueval metrics``: lists the metrics, or describes one with its settings."""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Iterator
from dataclasses import Field
from textwrap import wrap
from typing import Any

from clueval.cli.chosen import settings_of
from clueval.cli.parser import Command, CommandParser
from clueval.cli.printing import put
from clueval.evaluation.values import shown_default, values_of
from clueval.metrics import METRICS, metric_class
from clueval.options import option_of

USAGE = "[NAME]"
DESCRIPTION = """\
List the metrics. With NAME, describe one: its definition, its source, and its settings with their defaults. Change
a setting with clueval score --set NAME.SETTING=VALUE."""
EPILOG = """\
example:
  clueval metrics fair"""

_INDENT, _WIDTH = "      ", 100


def add_arguments(parser: CommandParser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME", help="the metric to describe (default: list all)")


def run(options: argparse.Namespace) -> int:
    if options.name is not None:
        metric_class(options.name)  # raises for an unknown one
    for line in _list() if options.name is None else described(options.name):
        put(line)
    return 0


def _list() -> Iterator[str]:
    """Yield the metrics, each with the first line of its definition."""
    width = max(map(len, METRICS))
    for name in METRICS:
        summary = _definition(name).partition("\n")[0]
        yield f"{name.ljust(width)}  {summary}"


def described(name: str) -> Iterator[str]:
    """Yield the definition of a metric, then its settings."""
    yield _definition(name)
    yield ""
    settings = settings_of(metric_class(name))
    yield (
        "settings (clueval score --set METRIC.SETTING=VALUE; in Python clueval.metrics.metric_named(METRIC, "
        "SETTING=VALUE)):"
        if settings
        else "It has no settings."
    )
    for field in settings.values():
        yield from _setting(name, field)


def _setting(metric: str, field: Field[Any]) -> Iterator[str]:
    values, declared = values_of(metric_class(metric), field), option_of(field)
    assert values is not None
    yield f"  {metric}.{field.name}: {values.takes} (default: {shown_default(field)})"
    if declared is not None:
        yield from wrap(
            declared.help,
            width=_WIDTH,
            initial_indent=_INDENT,
            subsequent_indent=_INDENT,
            break_on_hyphens=False,
        )


def _definition(name: str) -> str:
    """Return the docstring of the module that `METRICS` names for a metric, or that of its class, as a sentence."""
    kind = metric_class(name)
    text = inspect.getdoc(sys.modules[METRICS[name][0]]) or inspect.getdoc(kind) or name
    text = text.removeprefix(f"Metric `{name}`: ")
    return text[:1].upper() + text[1:]


COMMAND = Command(USAGE, DESCRIPTION, EPILOG, add_arguments, run)
