"""The commands: their names, how their words are read, and their help; and the help with all of them."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import Field, fields
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from clueval.cli.declared import CommandOption, Declared, OptionValues
from clueval.cli.printing import put
from clueval.files.errors import UsageError, visible
from clueval.files.overwriting import named_output, output_name
from clueval.metrics import METRICS, metric_class
from clueval.metrics.settings import values_of

HELP = CommandOption("help", ("-h", "--help"), None, "show this help message and exit", "options")

_QUIET = CommandOption(
    "quiet", ("-q", "--quiet"), None, "print nothing but errors to standard error", "output", default=False
)
_NO_CONFIG = CommandOption(
    "no_config",
    ("--no-config",),
    None,
    "ignore clueval.toml, and [tool.clueval] of pyproject.toml, in the current folder",
    "reading",
    rare=True,
    default=False,
)

_OF_ARGUMENTS = "positional arguments"
"""The title of the arguments in the help."""

_FURTHER = {
    "score": "; clueval compare and diff take several systems, clueval agree several annotators",
    "masking": "; a table of spans as GOLD needs --text ORIGINAL, redacted texts need --redacted",
    "convert": "; -o FILE writes a file",
    "merge": "; clueval curate joins the files of several annotators",
}
"""What to do with one more path, by command."""

_REQUIRED = {
    "the following arguments are required: GOLD": "; - is standard input",
    "the following arguments are required: NEW": "; clueval compare takes saved results",
    "the following arguments are required: --to": ", as in --to conll -o FILE",
}
"""What argparse's messages lack."""


class Command(Declared):
    """A function as a command.

    `needs` returns the places of the only options that a call can use, None for all. With `first`, only these options
    are in the help of the command: all others are in help topics, with their titles.
    """

    def __init__(
        self,
        name: str,
        function: Callable[..., int],
        needs: Callable[[OptionValues], Collection[str] | None] | None = None,
        first: Collection[str] = (),
    ) -> None:
        super().__init__(function)
        self.name, self.needs, self._first = name, needs, first
        self.options = [*self.of_parameters()]
        reads_files = any(option.rare and option.title == "reading" for option in self.options)
        self.options += [_QUIET, _NO_CONFIG] if reads_files else [_QUIET._replace(title=HELP.title)]
        self.by_flag = {flag: option for option in self.options for flag in option.flags}

    @property
    def outputs(self) -> list[str]:
        """The places of the options that name a file to write."""
        return [option.place for option in self.options if option.read in (named_output, output_name)]

    def parsed(self, words: Sequence[str]) -> OptionValues:
        """Return the values of all arguments and options.

        Raises `SystemExit`, as argparse does, after the message on words that the command does not take, and after
        the help if they ask for it.
        """
        parser = _Parser(self)
        for word in words:
            if word.startswith("--") and word.endswith("=--"):  # argparse would take the value away
                parser.error(f"the value of {word[:-3]} cannot be --")
        options, unknown = parser.parse_known_args(words)
        if (
            unknown and "--" not in words
        ):  # after which Python 3.11 would take the name of a file for an option
            options, unknown = parser.parse_known_intermixed_args(words)  # options may stand between files
        values = vars(options) | {"command": self.name}
        for option in self.options:
            value = values[option.place]
            if value is None:
                values[option.place] = option.default
            elif option.has_one_value:
                first, *others = value
                if any(other != first for other in others):
                    parser.error(
                        f"argument {'/'.join(option.flags)}: given twice, with different values; give it once"
                    )
                values[option.place] = first
        if unknown:
            name = unknown[0].partition("=")[0]
            if name.startswith("-"):
                parser.error(unknown_option(name, {"--help": HELP, **self.by_flag}, self.name))
            quoted = "; quote patterns, as in 'gold/*.conll'" * (len(unknown) > 1)
            parser.error(f"unexpected argument {unknown[0]!r}{_FURTHER.get(self.name, '')}{quoted}")
        return values

    # --- help

    @property
    def description(self) -> str:
        return self.with_names(self._description.strip())

    @property
    def usage(self) -> str:
        return next((text for _, text in self.section("usage")), "")

    @property
    def epilog(self) -> str:
        """The examples, and notes."""
        parts = []
        for title, text in self.section("example", "examples", "notes"):
            lines = text.split("\n")
            parts.append(text if title == "notes" else "\n  ".join([f"{title}:", *lines]))
        return self.with_names("\n\n".join(parts))

    @cached_property
    def _groups(self) -> tuple[dict[str, list[CommandOption]], dict[str, list[CommandOption]]]:
        """The options in the help of the command by their titles, and those in help topics."""
        shown: dict[str, list[CommandOption]] = {_OF_ARGUMENTS: [], HELP.title: [HELP]}
        topics: dict[str, list[CommandOption]] = {}
        moved: dict[str, list[CommandOption]] = {}
        for option in self.options:
            title = option.title if option.flags else _OF_ARGUMENTS
            is_first = not self._first or not option.flags or not {*option.flags}.isdisjoint(self._first)
            groups = topics if option.rare else shown if is_first else moved
            groups.setdefault(title, []).append(option)
        for title, options in moved.items():
            topics[title] = [*options, *topics.get(title, [])]
        return shown, topics

    @property
    def topics(self) -> dict[str, list[CommandOption]]:
        """The options that only help topics have, by topic."""
        return self._groups[1]

    def help(self) -> str:
        """Return the help, with the names of the topics instead of their options."""
        shown, topics = self._groups
        width = _width()
        rows = [row for options in shown.values() for row in options]
        more = f"more options: clueval help {self.name} TOPIC ({', '.join(topics)})"
        parts = [
            f"usage: clueval {self.name} {self.usage} [options]",
            *_filled(self.description, width),
            *(_listed(title, options, rows, width) for title, options in shown.items() if options),
            *(_filled(more, width) if topics else ()),
            *_filled(self.epilog, width),
        ]
        return "\n\n".join(parts) + "\n"

    def topic_help(self, name: str) -> str:
        """Return the help of one topic."""
        options = self.topics[name]
        return f"{_listed(f'options of clueval {self.name}: {name}', options, options, _width())}\n"

    def full_help(self) -> str:
        """Return the help, then that of each topic."""
        return "\n".join([self.help(), *map(self.topic_help, self.topics)])


class _Parser(argparse.ArgumentParser):
    """Reads the words of a command; errors have one line, and options no abbreviations.

    An option with one value is read as often as it is there: its values must be equal.
    """

    def __init__(self, command: Command) -> None:
        # without a width, argparse would import shutil and its compression modules
        formatter = partial(argparse.HelpFormatter, width=80)
        super().__init__(prog=f"clueval {command.name}", formatter_class=formatter, allow_abbrev=False)
        self._command = command
        for option in command.options:
            if option.metavar is None:
                for flag in option.flags:
                    self.add_argument(
                        flag, dest=option.place, action="store_const", const=flag != option.negative
                    )
                continue
            settings: dict[str, Any] = {"metavar": option.metavar, "type": partial(_value, option)}
            if not option.flags:
                nargs = (None, "?") if not option.repeated else ("+", "*")
                self.add_argument(option.place, nargs=nargs[not option.required], **settings)
                continue
            settings |= {"action": "extend", "nargs": "+"} if option.several else {"action": "append"}
            self.add_argument(*option.flags, dest=option.place, required=option.required, **settings)

    def print_help(self, file: Any = None) -> None:
        put(self._command.help(), end="")
        sys.stdout.flush()  # at exit, Python would report an error, which argparse passes over

    def error(self, message: str) -> NoReturn:
        lacking = re.fullmatch(r"argument (\S+?)(?:/\S+)?: expected (?:at least )?one argument", message)
        if lacking is not None:
            flag = lacking[1]
            message = f"{flag} needs a value: {flag} {self._command.by_flag[flag].metavar}"
        message += _REQUIRED.get(message, "")
        self.exit(2, visible(f"{self.prog}: {message} (see {self.prog} --help)") + "\n")


def _value(option: CommandOption, text: str) -> Any:
    """Return the value of an option, for argparse."""
    try:
        return option.value(text)
    except UsageError as error:
        raise argparse.ArgumentTypeError(error.problem) from None
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def unknown_option(flag: str, options: Mapping[str, CommandOption], command: str = "") -> str:
    """Return the message on an option that a command, or `clueval` alone, does not have; it has these by flag."""
    from clueval.files.names import (
        SETTINGS,
        near_synonym,
        question,
        synonym,
        written,
    )  # only for unknown names

    word = flag.lstrip("-")
    name = word.replace("-", "_")
    words = {known.removeprefix("--"): known for known in options if known.startswith("--")}
    hint = synonym(name, options, command, dashes=True)
    if not hint or hint == written(SETTINGS, dashes=True):
        takes_all = "--metric" in options and options["--metric"].repeated
        meant = takes_all and f"--{word}" not in command_called("score").by_flag  # as --by
        having = (metric for metric in METRICS if meant and name in settings_of(metric_class(metric)))
        hint = next((f"did you mean --metric '{metric}({name}=...)'?" for metric in having), hint)
    if not hint or hint.startswith(f"use {flag} "):  # for commands that have it
        others = ", ".join([other for other in COMMANDS if flag in command_called(other).by_flag])
        near = question(word, words, written=words)
        hint = f"{near} it is an option of clueval {others}".lstrip() if others else near
    hint = hint or near_synonym(word, options, dashes=True)
    return f"unknown option {flag}{f'; {hint}' if hint else ''}"


def settings_of(kind: Any) -> dict[str, Field[Any]]:
    """Return the settings of a metric that can be given as text."""
    return {field.name: field for field in fields(kind) if field.init and values_of(kind, field) is not None}


def _width() -> int:
    """Return the greatest length of a line of help."""
    from shutil import get_terminal_size  # only help needs it

    return max(40, get_terminal_size().columns - 2)


def _filled(text: str, width: int) -> Iterator[str]:
    """Yield the paragraphs of a text with lines of this width; those with an indented line stay unchanged."""
    from textwrap import fill  # only help needs it

    for paragraph in text.split("\n\n") if text else ():
        yield paragraph if "\n " in paragraph else fill(paragraph, width, break_on_hyphens=False)


def _listed(
    title: str, options: Sequence[CommandOption], of_page: Sequence[CommandOption], width: int
) -> str:
    """Return a list of options, whose help begins in the same column on the whole page."""
    from textwrap import wrap  # only help needs it

    column = min(24, max(width - 20, 4), max(len(option.written) for option in of_page) + 4)
    lines = [f"{title}:"]
    for option in options:
        name, text = f"  {option.written}", wrap(option.help, max(width - column, 11), break_on_hyphens=False)
        fits = len(name) <= column - 2
        lines.append(name.ljust(column) + text.pop(0) if fits else name)
        lines += [" " * column + line for line in text]
    return "\n".join(lines)


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
    **dict.fromkeys(("conventions", "compare", "threshold", "profile", "faireval"), "studies"),
    "diff": "errors",
    **dict.fromkeys(("agree", "curate"), "people"),
    **dict.fromkeys(("check", "convert", "merge", "samples"), "documents"),
    **dict.fromkeys(("formats", "metrics", "guide", "completion", "help"), "reference"),
}
"""The modules of commands that have not the name of the command."""


def overview() -> str:
    """Return the help with all commands, by what they are for."""
    from textwrap import wrap

    width = min(_width(), 98)
    lines = ["usage: clueval COMMAND [options]", ""]
    lines += wrap("Score labelled spans: gold against predicted, by every usual way of counting.", width)
    for title, commands in _UNDER.items():
        lines += ["", f"{title}:"]
        for name, text in commands.items():
            lines += wrap(f"  {name:<13}{text}", width, subsequent_indent=" " * 15)
    more = (
        "clueval COMMAND --help shows the options of a command, clueval guide the pages of the guide.",
        "clueval --version prints the version, clueval completion a script for the shell.",
    )
    return "\n".join([*lines, "", *(line for text in more for line in wrap(text, width)), ""])


def require_command(name: str) -> None:
    """Raise `UsageError` for a command that does not exist."""
    if name not in COMMANDS:
        from clueval.files.names import for_function  # only for names that do not exist

        near = for_function(name, COMMANDS, dashes=True)
        if Path(name).exists():
            near = f"; did you mean clueval score {name} ...?"
        raise UsageError(f"there is no command {name!r}{near}", advice=f"one of {', '.join(COMMANDS)}")


def command_called(name: str) -> Command:
    """Return a command; its module is imported."""
    module = import_module(f"clueval.cli.{_MODULES.get(name, name)}")
    needs = getattr(module, f"{name}_needs", None)
    return Command(name, getattr(module, name), needs, _FIRST.get(name, "").split())
