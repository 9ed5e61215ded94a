"""The parsers of commands: errors have one line, help has topics, options have no abbreviations."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from functools import partial
from typing import Any, NoReturn

from clueval.cli.printing import put
from clueval.files.errors import visible

_FURTHER = {
    "clueval score": "; clueval compare and diff take several systems, clueval agree several annotators",
    "clueval masking": "; a table of spans as GOLD needs --text ORIGINAL, redacted texts need --redacted",
    "clueval convert": "; -o FILE writes a file",
    "clueval merge": "; clueval curate joins the files of several annotators",
}
"""What to do with one more path, by command."""

_ADVICE = {
    "argument --format:.*": "; --input names the format of files",
    "the following arguments are required: GOLD": "; - is standard input",
    "the following arguments are required: --to": ", as in --to conll -o FILE",
}
"""What argparse's messages lack, by patterns of them."""


class CommandParser(argparse.ArgumentParser):
    """The parser of one command; options that are rarely needed have topics of their own.

    It gets the width of the terminal only to print help: argparse does so for every argument, and imports shutil and
    its compression modules for it.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(formatter_class=partial(_HelpText, width=80), allow_abbrev=False, **settings)
        for name in (None, "store"):
            self.register("action", name, _StoreOnce)
        self.given: dict[str, Any] = {}
        """The values of the options that have been parsed and may have one value, by their places."""
        self._by_title: dict[str, argparse._ArgumentGroup] = {}
        self.topics: dict[str, argparse._ArgumentGroup] = {}
        self.settings: Callable[[], Mapping[str, str]] = dict
        """Words that are not options, and what to write instead."""
        self.before_help: Callable[[], None] = lambda: None
        """Completes the help of options, which would take too much time in every run."""

    def option_actions(self) -> dict[str, argparse.Action]:
        """Return the options by their names with dashes, except help."""
        return {flag: action for flag, action in self._option_string_actions.items() if action.dest != "help"}

    # --- groups of options

    def group(self, title: str) -> argparse._ArgumentGroup:
        """Return the group of options with this title in the help of the command."""
        if title not in self._by_title:
            self._by_title[title] = self.add_argument_group(title)
        return self._by_title[title]

    def topic(self, name: str) -> argparse._ArgumentGroup:
        """Return the group of options that `format_topic` shows."""
        if name not in self.topics:
            self.topics[name] = self.add_argument_group(f"options of {self.prog}: {name}")
        return self.topics[name]

    def options_under(self, titles: Iterable[str]) -> list[argparse.Action]:
        """Return the options under these titles, in the help of the command or as topics."""
        groups = [
            by_title[title]
            for by_title in (self._by_title, self.topics)
            for title in titles
            if title in by_title
        ]
        return [action for group in groups for action in group._group_actions]

    def keep_first(self, flags: AbstractSet[str]) -> None:
        """Keep only these options in the help of the command; the others go to the topics with their titles."""
        for title, group in self._by_title.items():
            others = [action for action in group._group_actions if flags.isdisjoint(action.option_strings)]
            if others:
                group._group_actions = [action for action in group._group_actions if action not in others]
                self.topic(title)._group_actions[:0] = others

    # --- help

    def format_help(self) -> str:
        """Return the help, with the names of the topics instead of their options."""
        self.before_help()
        self.formatter_class = _HelpText
        groups, examples = self._action_groups, self.epilog
        topics = self.topics.values()
        if topics:
            self._action_groups = [group for group in groups if group not in topics]
            more = f"more options: {self.prog.replace(' ', ' help ')} TOPIC ({', '.join(self.topics)})"
            self.epilog = f"{more}\n\n{examples or ''}"
        try:
            return super().format_help()
        finally:
            self._action_groups, self.epilog = groups, examples

    def format_topic(self, name: str) -> str:
        """Return the help of one topic."""
        self.before_help()
        formatter = _HelpText(prog=self.prog)
        formatter.start_section(self.topics[name].title)
        formatter.add_arguments(self.topics[name]._group_actions)
        formatter.end_section()
        return formatter.format_help()

    def format_all(self) -> str:
        """Return the help, then that of each topic."""
        return "\n".join([self.format_help(), *map(self.format_topic, self.topics)])

    def _print_message(self, message: str, file: Any = None) -> None:
        if file is not sys.stdout:
            super()._print_message(message, file)
        else:  # argparse passes over errors, which Python then reports at exit
            put(message, end="")
            sys.stdout.flush()

    # --- errors

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        self.given.clear()
        options, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(self._unknown(unknown[0]))
        return options, unknown

    def _unknown(self, argument: str) -> str:
        if not argument.startswith("-"):
            return f"unexpected argument {argument!r}{_FURTHER.get(self.prog, '')}"
        from clueval.files.names import question, synonym  # only for names that do not exist

        name = argument.partition("=")[0]
        word = name.lstrip("-")
        flags = (flag for flag in self._option_string_actions if flag.startswith("--"))
        words = {**self.settings(), **{flag.removeprefix("--"): flag for flag in flags}}
        hint = synonym(word.replace("-", "_"), self.prog.partition(" ")[2], dashes=True)
        if hint is None or word in words:
            hint = question(word, words, written=words)
        return f"unknown option {name}{f'; {hint}' if hint else ''}"

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            from clueval.files.names import one_of  # only for names that do not exist

            raise argparse.ArgumentError(
                action, f"{value!r} is unknown; {one_of(str(value), action.choices)}"
            )

    def error(self, message: str) -> NoReturn:
        lacking = re.fullmatch(r"argument (\S+?)(?:/\S+)?: expected (?:at least )?one argument", message)
        if lacking is not None:
            flag = lacking[1]
            message = f"{flag} needs a value: {flag} {self._option_string_actions[flag].metavar}"
        message += next((more for lacks, more in _ADVICE.items() if re.fullmatch(lacks, message)), "")
        self.exit(2, visible(f"{self.prog}: {message} (see {self.prog} --help)") + "\n")


class _StoreOnce(argparse._StoreAction):
    """Stores the value of an option; an option that is given again with another value is an error."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: Any, values: Any, option_string: str | None = None
    ) -> None:
        assert isinstance(parser, CommandParser)
        if option_string is not None and parser.given.setdefault(self.dest, values) != values:
            raise argparse.ArgumentError(self, "given twice, with different values; give it once")
        super().__call__(parser, namespace, values, option_string)


class _HelpText(argparse.RawDescriptionHelpFormatter):
    """Help with paragraphs as wide as the terminal; paragraphs with an indented line stay unchanged."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        from textwrap import wrap  # only help needs it

        return wrap(text, width, break_on_hyphens=False)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        from textwrap import fill  # only help needs it

        return "\n\n".join(
            paragraph if "\n " in paragraph else fill(paragraph, width, break_on_hyphens=False)
            for paragraph in text.split("\n\n")
        )
