"""The commands, and the command line with the options of one of them."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import Any

from clueval.cli.parser import Command, HelpText, Parser, suggestion
from clueval.exceptions import UsageError
from clueval.version import __version__

COMMANDS = {
    "score": "score predicted against gold",
    "conventions": "score under every convention at once: which F1 is this?",
    "masking": "report what was left unmasked: leaks, risk classes, a page to sign, limits",
    "gate": "score as GATE does: reference set, candidate lists, GATE's table and page",
    "faireval": "carry out a FairEval config file",
    "errors": "show the errors in their sentences: terminal, TSV, spreadsheet, web page",
    "merge": "merge several layers into one sequence of spans",
    "check": "list all problems of files",
    "convert": "convert spans into another format",
    "formats": "list the formats, or describe one",
    "metrics": "list the metrics, or describe one: definition and settings",
    "help": "show the help of a command, or of one topic of it",
}
"""What each command does; its module, of the same name, is imported when it is called."""


def command_line(command: str | None) -> Parser:
    """The command line, with the options of one command."""
    top = Parser(
        prog="clueval",
        usage="%(prog)s COMMAND [options]",
        description="Score labelled spans: gold against predicted, in every way of counting that people report.",
        epilog="clueval COMMAND --help shows the options of a command.",
    )
    top.add_argument("-V", "--version", action="version", version=f"%(prog)s {__version__}")
    commands = top.add_subparsers(
        dest="command", metavar="COMMAND", required=True, parser_class=Command, prog=top.prog
    )
    for name, help_text in COMMANDS.items():
        if name == command:
            _add_command(commands, name, help_text)
        else:
            commands.add_parser(name, help=help_text)
    return top


def require_command(name: str | None) -> None:
    """Raise `UsageError` for a command that does not exist."""
    if name is not None and name not in COMMANDS:
        near = suggestion(name, {command: command for command in COMMANDS})
        raise UsageError(f"there is no command {name!r}{near}", advice=f"one of {', '.join(COMMANDS)}")


def command_parser(command: str) -> Command:
    """The parser of one command."""
    module = import_module(f"clueval.cli.{command}")
    parser = Command(prog=f"clueval {command}", **_settings(module))
    module.add_arguments(parser)
    return parser


def _add_command(commands: argparse._SubParsersAction[Command], name: str, help_text: str) -> None:
    module = import_module(f"clueval.cli.{name}")
    module.add_arguments(commands.add_parser(name, help=help_text, **_settings(module)))


def _settings(module: Any) -> dict[str, Any]:
    return {
        "usage": f"%(prog)s {module.USAGE} [options]",
        "description": module.DESCRIPTION,
        "epilog": module.EPILOG,
        "formatter_class": HelpText,
    }
