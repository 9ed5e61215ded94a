"""The parsers of the command line: errors have one line, help has topics, options have no abbreviations."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from functools import partial
from typing import Any, NamedTuple, NoReturn

from clueval.cli.printing import put
from clueval.files.visible import visible


class Parser(argparse.ArgumentParser):
    """An argument parser that reports errors in one line, and gets the width of the terminal only to print help.

    argparse gets the width for every argument, and imports shutil and its compression modules to do so.
    """

    def __init__(
        self, *, formatter_class: type[argparse.HelpFormatter] = argparse.HelpFormatter, **settings: Any
    ) -> None:
        self._prints_help = formatter_class
        super().__init__(formatter_class=partial(formatter_class, width=80), allow_abbrev=False, **settings)
        self.given: dict[str, Any] = {}
        """The values of the options that have been parsed and may have one value, by their places."""
        for name in (None, "store"):
            self.register("action", name, _StoreOnce)

    def format_help(self) -> str:
        self.formatter_class = self._prints_help
        return super().format_help()

    def _print_message(self, message: str, file: Any = None) -> None:
        if file is not sys.stdout:
            super()._print_message(message, file)
        else:  # argparse passes over errors, which Python then reports at exit
            put(message, end="")
            sys.stdout.flush()

    def error(self, message: str) -> NoReturn:
        lacking = re.fullmatch(r"argument (\S+?)(?:/\S+)?: expected (?:at least )?one argument", message)
        if lacking is not None:
            message = (
                f"{lacking[1]} needs a value: {lacking[1]} {self._option_string_actions[lacking[1]].metavar}"
            )
        if message.startswith("argument --format:"):
            message += "; --input names the format of files"
        if message == "the following arguments are required: GOLD":
            message += "; - is standard input"
        if message == "the following arguments are required: --to":
            message += ", as in --to conll -o FILE"
        self.exit(2, visible(f"{self.prog}: {message} (see {self.prog} --help)") + "\n")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        self.given.clear()
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(
                _unknown(unknown, self.words(), self.prog)
                + _FURTHER.get(self.prog, "") * (unknown[0][0] != "-")
            )
        return found, unknown

    def words(self) -> dict[str, str]:
        """Return the words that can be suggested for an unknown option, and how each is written."""
        return {
            flag.removeprefix("--"): flag for flag in self._option_string_actions if flag.startswith("--")
        }


class _StoreOnce(argparse._StoreAction):
    """Stores the value of an option; an option that is given again with another value is an error."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: Any, values: Any, option_string: str | None = None
    ) -> None:
        assert isinstance(parser, Parser)
        if option_string is not None and parser.given.setdefault(self.dest, values) != values:
            raise argparse.ArgumentError(self, "given twice, with different values; give it once")
        super().__call__(parser, namespace, values, option_string)


class HelpText(argparse.RawDescriptionHelpFormatter):
    """Help with paragraphs as wide as the terminal; paragraphs with an indented line stay unchanged."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        from textwrap import fill  # only help needs it

        return "\n\n".join(
            paragraph if "\n " in paragraph else fill(paragraph, width, break_on_hyphens=False)
            for paragraph in text.split("\n\n")
        )


class CommandParser(Parser):
    """The parser of one command; options that are rarely needed have topics of their own."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._by_title: dict[str, argparse._ArgumentGroup] = {}
        self.topics: dict[str, argparse._ArgumentGroup] = {}
        self.settings: Callable[[], Mapping[str, str]] = dict
        """Words that are not options, and what to write instead."""
        self.before_help: Callable[[], None] | None = None
        """Functions that complete the help of options; they would take too much time in every run."""

    def words(self) -> dict[str, str]:
        return {**self.settings(), **super().words()}

    def option_actions(self) -> dict[str, argparse.Action]:
        """Return the options by their names with dashes, except help."""
        return {flag: each for flag, each in self._option_string_actions.items() if each.dest != "help"}

    def group(self, title: str) -> argparse._ArgumentGroup:
        """Return the group of options with this title in the help of the command."""
        if title not in self._by_title:
            self._by_title[title] = self.add_argument_group(title)
        return self._by_title[title]

    def groups_named(self, names: Iterable[str]) -> list[argparse._ArgumentGroup]:
        """Return the groups of options with these titles, in the help of the command or as topics."""
        return [of[name] for of in (self._by_title, self.topics) for name in names if name in of]

    def topic(self, name: str) -> argparse._ArgumentGroup:
        """Return the group of options that `format_topic` shows."""
        if name not in self.topics:
            self.topics[name] = self.add_argument_group(f"options of {self.prog}: {name}")
        return self.topics[name]

    def keep_first(self, flags: AbstractSet[str]) -> None:
        """Keep only these options in the help of the command; the others go to the topics with their titles."""
        for title, group in self._by_title.items():
            others = [each for each in group._group_actions if flags.isdisjoint(each.option_strings)]
            if others:
                group._group_actions = [each for each in group._group_actions if each not in others]
                self.topic(title)._group_actions[:0] = others

    def format_help(self) -> str:
        """Return the help, with the names of the topics instead of their options."""
        self._complete_help()
        examples = self.epilog
        if self.topics:
            more = f"more options: {self._help_of('TOPIC')} ({', '.join(self.topics)})"
            self.epilog = f"{more}\n\n{examples or ''}"
        groups, self._action_groups = (
            self._action_groups,
            [g for g in self._action_groups if g not in self.topics.values()],
        )
        try:
            return super().format_help()
        finally:
            self._action_groups, self.epilog = groups, examples

    def _help_of(self, topic: str) -> str:
        program, _, command = self.prog.partition(" ")
        return f"{program} help {command} {topic}"

    def format_topic(self, name: str) -> str:
        """Return the help of one topic."""
        self._complete_help()
        formatter = self._prints_help(prog=self.prog)
        formatter.start_section(self.topics[name].title)
        formatter.add_arguments(self.topics[name]._group_actions)
        formatter.end_section()
        return formatter.format_help()

    def _complete_help(self) -> None:
        if self.before_help is not None:
            self.before_help()


class Command(NamedTuple):
    """A command: its help, and functions that add its arguments to a parser and that run it."""

    usage: str
    description: str
    epilog: str
    add_arguments: Callable[[CommandParser], None]
    run: Callable[[argparse.Namespace], int]


def _unknown(arguments: Iterable[str], known: Mapping[str, str], program: str) -> str:
    """Return the error message for arguments that the parser of a program does not know."""
    first = next(iter(arguments))
    if not first.startswith("-"):
        return f"unexpected argument {first!r}"
    name = first.partition("=")[0]
    word = name.lstrip("-")
    from clueval.files.names import synonym  # only for names that do not exist

    hint = synonym(word.replace("-", "_"), program.partition(" ")[2], dashes=True)
    return f"unknown option {name}{suggestion(word, known) if hint is None or word in known else f'; {hint}'}"


_FURTHER = {
    "clueval score": "; clueval compare and diff take several systems, clueval agree several annotators",
    "clueval masking": "; a table of spans as GOLD needs --text ORIGINAL, redacted texts need --redacted",
    "clueval convert": "; -o FILE writes a file",
    "clueval merge": "; clueval curate joins the files of several annotators",
}
"""What to do with one more path, by command."""


def suggestion(given: str, known: Mapping[str, str]) -> str:
    """Return a question that suggests the most similar of the `known` words; empty if none is similar."""
    from clueval.files.names import near_names  # only for names that do not exist

    begins = sorted((word for word in known if given and word.startswith(given)), key=len)
    near = begins[:1] or near_names(given, known)
    return f"; did you mean {' or '.join(known[each] for each in near)}?" if near else ""
