"""Commands as declarations: what a command reads, its groups of options, the function that it calls, its files.

All else follows: the parser, and with it the configuration file, the completion and the reference; the checks of
outputs; progress; the call; the web page and the other forms; the exit code.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from clueval.cli import options as common
from clueval.cli.fields import add_fields, given_fields
from clueval.cli.outputs import add_report, put_report
from clueval.cli.parser import Command, CommandParser
from clueval.cli.progress import add_jobs, progress, workers
from clueval.files.errors import UsageError


class OptionGroup(NamedTuple):
    """Options of a command: `add` adds them to a parser, `arguments` makes of them arguments of the function."""

    add: Callable[[CommandParser], object]
    arguments: Callable[[argparse.Namespace], Mapping[str, Any]] = lambda _: {}


class Inputs(NamedTuple):
    """The files that a command reads; `names` are their arguments, in the order in which the function takes them."""

    add: Callable[[CommandParser], object]
    names: Sequence[str]

    def paths(self, options: argparse.Namespace) -> list[Path | None]:
        """Return the files."""
        return [getattr(options, name) for name in self.names]


SIDES = Inputs(common.add_sides, ("gold", "predicted"))
"""The files of gold and predicted, or one file with both."""


def put_saying(
    say: Callable[[argparse.Namespace, Any], object],
) -> Callable[[Any, argparse.Namespace], int]:
    """Return a `put` that also says what was read for the result, which the report has as `result`."""

    def put(found: Any, options: argparse.Namespace) -> int:
        code = put_report(found, options)
        say(options, found.result)
        return code

    return put


def declared(
    function: Callable[..., Any],
    usage: str,
    description: str,
    epilog: str,
    groups: Sequence[OptionGroup],
    *,
    inputs: Inputs = SIDES,
    put: Callable[[Any, argparse.Namespace], int] = put_report,
) -> Command:
    """Return a command that calls `function` with its `inputs` and the arguments of all groups.

    `put` writes the result and returns the exit code.
    """

    def add_arguments(parser: CommandParser) -> None:
        inputs.add(parser)
        for group in groups:
            group.add(parser)

    def run(options: argparse.Namespace) -> int:
        arguments: dict[str, Any] = {}
        for group in groups:
            arguments |= group.arguments(options)
        if inputs is SIDES:
            common.check_pairing(options)
        paths = inputs.paths(options)
        if hasattr(options, "scheduler"):
            with workers(options, paths) as work:
                found = function(*paths, **work, **arguments)
        else:
            with progress(paths) as advance:
                found = function(*paths, progress=advance, **arguments)
        return put(found, options)

    return Command(usage, description, epilog, add_arguments, run)


def option(title: str, flag: str, *, to: str = "", **settings: Any) -> OptionGroup:
    """Return one option, with the settings of argparse, in the group `title` of the help.

    The function takes its value under the name `to` (by default that of the option), if there is one.
    """
    name = flag.lstrip("-").replace("-", "_")

    def arguments(options: argparse.Namespace) -> Mapping[str, Any]:
        value = getattr(options, name)
        return {} if value is None else {to or name: value}

    return OptionGroup(lambda parser: parser.group(title).add_argument(flag, **settings), arguments)


def shown_option(title: str, *flags: str, **settings: Any) -> OptionGroup:
    """Return one option that the function does not take, because it is about what is printed or written."""
    return OptionGroup(lambda parser: parser.group(title).add_argument(*flags, **settings))


def fields(kind: type, title: str, only: Collection[str] | None = None) -> OptionGroup:
    """Return the options of the fields of a dataclass, all or `only` some; the function takes those that are given."""

    def arguments(options: argparse.Namespace) -> Mapping[str, Any]:
        given = given_fields(kind, options)
        return given if only is None else {name: given[name] for name in only if name in given}

    return OptionGroup(lambda parser: add_fields(parser, kind, title, only=only), arguments)


def preparing(*, without: Collection[str] = ()) -> OptionGroup:
    """Return the options that change spans before they are counted, except some."""
    return OptionGroup(
        lambda parser: common.add_preparing(parser, without=without),
        common.preparing_of,
    )


def one_metric(noun: str) -> OptionGroup:
    """Return the options for one metric and its settings; `noun` is what needs it, as ``a profile``."""

    def arguments(options: argparse.Namespace) -> Mapping[str, Any]:
        metrics = common.chosen_metrics(options, "exact")
        if len(metrics) > 1:
            raise UsageError(f"{noun} needs exactly one metric", advice="name one with --metric")
        return {"metric": metrics[0]}

    return OptionGroup(lambda parser: common.add_metrics(parser, "counting", one=True), arguments)


def reading(*, sets: str | None = "reading") -> OptionGroup:
    """Return the options for reading two sides; `sets` is the help topic of those for annotation sets, if any."""

    def arguments(options: argparse.Namespace) -> Mapping[str, Any]:
        return {
            "layers": common.layers(options),
            "gold_set": options.gold_set,
            "predicted_set": options.predicted_set,
            **common.reading(options),
        }

    return OptionGroup(lambda parser: common.add_reading(parser, sides=2, sets=sets), arguments)


REPORT = OptionGroup(add_report)
"""The options of a report: its form on standard output, its files and its language."""

REPORT_WITH_TEXTS = OptionGroup(partial(add_report, has_texts=True))
"""The same for a report that shows texts of the corpus."""

JOBS = OptionGroup(add_jobs)
"""The options for processes and clusters."""
