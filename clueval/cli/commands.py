"""The commands, and the command line with the options of one of them."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from clueval.cli import hints
from clueval.cli.parser import Command, CommandParser, HelpText, Parser, suggestion
from clueval.files.errors import UsageError
from clueval.files.overwriting import output_path
from clueval.version import __version__

COMMANDS = {
    "score": "score predicted spans against gold",
    "conventions": "score under every convention at once: which F1 is this?",
    "masking": "report what was left unmasked: leaks, risk classes, a page to sign, limits",
    "faireval": "run a FairEval config file",
    "errors": "show the errors in their sentences: terminal, TSV, spreadsheet, web page",
    "agree": "compare annotators with each other: agreement, disagreements, a system against them",
    "curate": "make one gold out of the spans of many annotators",
    "compare": "compare systems: intervals, paired tests, what the test set can show",
    "diff": "compare the errors of two runs: new, fixed and changed ones",
    "profile": "show which spans go wrong: by length, casing, place, training data",
    "threshold": "choose a threshold for the scores of predicted spans",
    "merge": "merge several layers into one sequence of spans",
    "check": "list all problems of files",
    "convert": "convert spans into another format",
    "formats": "list the formats, or describe one",
    "metrics": "list the metrics, or describe one: definition and settings",
    "samples": "write sample files: two corpora with gold and predicted spans, and one file of many formats",
    "guide": "show a page of the guide: how to score, what each number means",
    "completion": "print the script for the completion of a shell",
    "help": "show the help of a command, or of one topic of it",
}
"""The description of each command; its module is imported when it is called."""

_MODULES = {
    "merge": "convert",
    **dict.fromkeys(("formats", "metrics", "guide", "completion", "help"), "reference"),
}
"""The modules of commands that have not the name of the command."""


def command_line(command: str | None, *, alone: bool = False) -> Parser:
    """Return the parser of the command line, with the options of one command.

    It has the names of the other commands for its help and errors, unless `command` is known to come first (`alone`).
    """
    top = Parser(
        prog="clueval",
        usage="%(prog)s COMMAND [options]",
        description="Score labelled spans: gold against predicted, by every usual way of counting.",
        epilog="clueval COMMAND --help shows the options of a command.",
    )
    top.add_argument("-V", "--version", action="version", version=f"%(prog)s {__version__}")
    commands = top.add_subparsers(
        dest="command", metavar="COMMAND", required=True, parser_class=CommandParser, prog=top.prog
    )
    for name, help_text in COMMANDS.items():
        if name == command:
            _add_arguments(commands.add_parser(name, help=help_text, **_settings(name)), name)
        elif not alone:
            commands.add_parser(name, help=help_text)
    return top


def require_command(name: str | None) -> None:
    """Raise `UsageError` for a command that does not exist."""
    if name is not None and name not in COMMANDS:
        near = suggestion(name, {command: command for command in COMMANDS})
        if name in hints.COMMANDS:
            near = f"; {hints.COMMANDS[name]}"
        elif Path(name).exists():
            near = f"; did you mean clueval score {name} ...?"
        raise UsageError(f"there is no command {name!r}{near}", advice=f"one of {', '.join(COMMANDS)}")


def command_parser(command: str) -> CommandParser:
    """Return the parser of one command."""
    parser = CommandParser(prog=f"clueval {command}", **_settings(command))
    _add_arguments(parser, command)
    return parser


def command_called(name: str) -> Command:
    """Return a command; its module is imported."""
    module = import_module(f"clueval.cli.{_MODULES.get(name, name)}")
    command: Command = getattr(module, f"{name.upper()}_COMMAND")
    return command


def _add_arguments(parser: CommandParser, command: str) -> None:
    """Add the arguments of a command, and to those that read files the option that ignores the configuration file."""
    command_called(command).add_arguments(parser)
    group = parser.group("reading") if "reading" in parser.titles() else parser
    group.add_argument(
        "-q", "--quiet", action="store_true", help="print nothing but errors to standard error"
    )
    parser.set_defaults(
        outputs=tuple(action.dest for action in parser._actions if action.type is output_path)
    )
    if "reading" in parser.topics:
        parser.topics["reading"].add_argument(
            "--no-config",
            action="store_true",
            help="ignore clueval.toml, and [tool.clueval] of pyproject.toml, in the current folder",
        )


def _settings(name: str) -> dict[str, Any]:
    command = command_called(name)
    return {
        "usage": f"%(prog)s {command.usage} [options]",
        "description": command.description,
        "epilog": command.epilog,
        "formatter_class": HelpText,
    }
