"""``clueval help``: shows the help of a command, or of one of its topics."""

from __future__ import annotations

import argparse

from clueval.cli.commands import command_line, command_parser, require_command
from clueval.cli.parser import Command, CommandParser
from clueval.cli.printing import put
from clueval.exceptions import UsageError

USAGE = "[COMMAND [TOPIC]]"
DESCRIPTION = """\
Show the help of a command, as clueval COMMAND --help does; with TOPIC, the options that are rarely needed."""
EPILOG = """\
example:
  clueval help score reading"""


def add_arguments(parser: CommandParser) -> None:
    parser.add_argument(
        "about", nargs="?", metavar="COMMAND", help="the command to explain (default: list all commands)"
    )
    parser.add_argument(
        "topic", nargs="?", metavar="TOPIC", help="one of the topics that the command's help names"
    )


def run(options: argparse.Namespace) -> int:
    put(_help(options.about, options.topic), end="")
    return 0


def _help(command: str | None, topic: str | None) -> str:
    if command is None:
        return command_line(None).format_help()
    require_command(command)
    parser = command_parser(command)
    if topic is None:
        return parser.format_help()
    if topic not in parser.topics:
        listed = (
            f"one of {', '.join(parser.topics)}" if parser.topics else f"clueval {command} --help shows all"
        )
        raise UsageError(f"clueval {command} has no help topic {topic!r}", advice=listed)
    return parser.format_topic(topic)


COMMAND = Command(USAGE, DESCRIPTION, EPILOG, add_arguments, run)
