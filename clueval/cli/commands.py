"""The commands, and the command line with the options of one of them."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from clueval.cli.parser import Command, CommandParser, HelpText, Parser
from clueval.files.errors import UsageError
from clueval.files.overwriting import output_path
from clueval.version import __version__

_UNDER = {
    "score": {
        "score": "score predicted spans against gold",
        "conventions": "score under every convention at once: which F1 is this?",
        "compare": "compare systems: intervals, paired tests, what the test set can show",
        "threshold": "choose a threshold for the scores of predicted spans",
        "faireval": "run a FairEval config file",
        "metrics": "list the metrics, or describe one: definition and settings",
    },
    "look at errors": {
        "errors": "show the errors in their sentences: terminal, spreadsheet, web page",
        "diff": "compare the errors of two runs: new, fixed and changed ones",
        "profile": "show which spans go wrong: by length, casing, place, training data",
    },
    "people": {
        "agree": "compare annotators with each other, or a system with them",
        "curate": "make one gold out of the spans of many annotators",
    },
    "privacy": {
        "masking": "report what was left unmasked: leaks, risk classes, a page to sign",
    },
    "files": {
        "check": "list all problems of files",
        "convert": "convert spans into another format",
        "merge": "merge several layers into one sequence of spans",
        "formats": "list the formats, or describe one",
        "samples": "write sample files: two corpora, and a file of each of many formats",
    },
}
"""The description of each command, by what it is for."""

COMMANDS = {
    **{name: text for under in _UNDER.values() for name, text in under.items()},
    "guide": "show a page of the guide: how to score, what each number means",
    "help": "show the help of a command, or of one topic of it",
    "completion": "print the script for the completion of a shell",
}
"""The description of each command; its module is imported when it is called."""

_READING = "--layer --input --token-id --format --all -o"

_FIRST = {
    "score": f"--metric --merge --where --by --intervals {_READING}",
    "compare": f"--metric --baseline --score --all-pairs --where {_READING}",
    "threshold": f"--score-feature --metric --maximise --per-label {_READING}",
    "errors": f"--metric --side --reason --where --limit {_READING}",
    "diff": f"--side --level --labelled --where --fail-on-new {_READING}",
    "profile": f"--metric --feature --train --buckets --where {_READING}",
    "agree": f"--annotator --system --where --intervals --disagreements {_READING}",
    "curate": f"--annotator --votes --union --decisions --to --undecided {_READING}",
    "masking": f"--redacted --risk-layer --entity --keep --fail-on-leak {_READING}",
}
"""The options on the first page of the help of a command with many, at most twelve with --help."""

_MODULES = {
    "merge": "convert",
    **dict.fromkeys(("formats", "metrics", "guide", "completion", "help"), "reference"),
}
"""The modules of commands that have not the name of the command."""


class _Overview(Parser):
    """The parser of the command line, whose help has the commands by what they are for."""

    def format_help(self) -> str:
        from shutil import get_terminal_size
        from textwrap import wrap

        width = max(40, min(get_terminal_size().columns, 100) - 2)
        lines = ["usage: clueval COMMAND [options]", ""]
        lines += wrap("Score labelled spans: gold against predicted, by every usual way of counting.", width)
        for title, commands in _UNDER.items():
            lines += ["", f"{title}:"]
            for name, text in commands.items():
                lines += wrap(f"  {name:<13}{text}", width, subsequent_indent=" " * 15)
        return "\n".join([*lines, "", *(line for text in _FURTHER for line in wrap(text, width)), ""])


_FURTHER = (
    "clueval COMMAND --help shows the options of a command, clueval guide the pages of the guide.",
    "clueval --version prints the version, clueval completion a script for the shell.",
)


def command_line(command: str | None, *, alone: bool = False) -> Parser:
    """Return the parser of the command line, with the options of one command.

    It has the names of the other commands for its help and errors, unless `command` is known to come first (`alone`).
    """
    top = _Overview(prog="clueval")
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
        from clueval.files.names import for_function  # only for names that do not exist

        near = for_function(name, COMMANDS, dashes=True)
        if Path(name).exists():
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
    group = parser.group("output") if "reading" in parser.topics else parser
    group.add_argument(
        "-q", "--quiet", action="store_true", help="print nothing but errors to standard error"
    )
    if command in _FIRST:
        parser.keep_first({*_FIRST[command].split()})
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
