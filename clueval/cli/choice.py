"""The options that select errors of metric levels, in the commands that list errors."""

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
    """The options that select errors of metric levels; see `choice_of`."""
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
        help="1 to 4: matches up to this level are correct (default: 2)",
    )
    group.add_argument(
        "--labelled",
        metavar="LAYER",
        help="a match is correct only if the label in this layer is correct, too",
    )
    add_fields(parser, Counting, "which errors", only=("merge", "where"))


def choice_of(options: argparse.Namespace) -> Choice:
    """The choice that the options make. Raises `UsageError` for a layer that is not among those named."""
    counting = given_fields(Counting, options)
    choice = Choice(
        options.level or 2,
        options.labelled,
        chosen_sides(options),
        frozenset(kinds_of(options)),
        counting.get("merge", False),
        parse_where(counting.get("where", [])),
        getattr(options, "window", None),
    )
    if (layers := common.layers(options)) is not None:
        choice.require_layer(layers)
    return choice


def chosen_sides(options: argparse.Namespace) -> tuple[str, ...]:
    """The sides whose errors are shown."""
    return SIDES if options.side in (None, "both") else (options.side,)


def kinds_of(options: argparse.Namespace) -> set[str]:
    return {kind for given in getattr(options, "kinds", None) or () for kind in given.split(",")}
