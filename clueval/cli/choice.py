"""The options that select errors, in the commands that list errors."""

from __future__ import annotations

import argparse

from clueval.cli import options as common
from clueval.cli.fields import add_fields, given_fields, typed
from clueval.cli.parser import Command
from clueval.evaluation.options import Counting
from clueval.findings.choice import SIDES, Choice
from clueval.options import whole
from clueval.spans.filters import parse_where
from clueval.spans.match_classes import LEVELS


def add_choice(parser: Command) -> None:
    """The options that select errors; see `choice_of`."""
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


def choice_of(options: argparse.Namespace) -> Choice:
    """The choice that the options make. Raises `UsageError` for a layer that is not among those named."""
    counting = given_fields(Counting, options)
    choice = Choice(
        options.level,
        options.labelled,
        chosen_sides(options),
        frozenset(named(options, "kinds")),
        counting.get("merge", False),
        parse_where(counting.get("where", [])),
        getattr(options, "window", None),
        options.unlabelled or (getattr(options, "metric", None) == "levels" and options.labelled is None),
        frozenset(named(options, "reasons")),
    )
    if (layers := common.layers(options)) is not None:
        choice.require_layer(layers)
    return choice


def chosen_sides(options: argparse.Namespace) -> tuple[str, ...]:
    """The sides whose errors are shown."""
    return SIDES if options.side in (None, "both") else (options.side,)


def named(options: argparse.Namespace, option: str) -> set[str]:
    """The names that an option lists, which can be repeated: classes or reasons."""
    return {name for given in getattr(options, option, None) or () for name in given.split(",")}
