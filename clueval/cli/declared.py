"""Commands made of functions: the signature has the arguments and options, the docstring is the help.

In their parsers, errors have one line, help has topics, and options have no abbreviations.

A parameter before ``*`` is an argument of the command line, one after it an option or, if its default is `Options`,
several of them. The function checks, calls, prints, and returns the exit code::

    def sizes(files: list[Input], *, times: int = 1, report: Report = REPORT) -> int:
        \"""Print how many bytes files have.

        usage: FILE...

        arguments:
            files FILE: files or folders
        counting:
            times N: multiply the numbers by N
        example:
            clueval sizes a.conll
        \"""

A title, which ends with a colon, begins a group of options. Each has one line: its name, its value (none for one that
is true or false), a colon, and its help, which goes on in lines that are indented further. The flag is made of the
name, unless it follows: ``kinds --class CLASS: ...``. ``{NAMES}`` stands for the text `NAMES` of the module. All else
follows from it: parser, configuration file, completion, reference, and the checks of outputs.
"""

from __future__ import annotations

import argparse
import inspect
import re
import sys
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import MISSING, Field
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple, NoReturn, TypeVar, get_args, get_origin, get_type_hints

from clueval.cli.printing import put
from clueval.files.errors import visible
from clueval.files.options import Option, options_of, whole
from clueval.files.overwriting import input_path, output_folder, output_name, output_path
from clueval.metrics.settings import shown_default, type_of, values_of

_FURTHER = {
    "clueval score": "; clueval compare and diff take several systems, clueval agree several annotators",
    "clueval masking": "; a table of spans as GOLD needs --text ORIGINAL, redacted texts need --redacted",
    "clueval convert": "; -o FILE writes a file",
    "clueval merge": "; clueval curate joins the files of several annotators",
}
"""What to do with one more path, by command."""

_ADVICE = {
    "argument --format: '(?:html|xlsx)' .*": "; -o FILE writes pages and workbooks, as in -o x.html or -o x.xlsx",
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
        from clueval.files.names import near_synonym, question, synonym  # only for names that do not exist

        name = argument.partition("=")[0]
        word = name.lstrip("-")
        flags = (flag for flag in self._option_string_actions if flag.startswith("--"))
        words = {**self.settings(), **{flag.removeprefix("--"): flag for flag in flags}}
        hint = synonym(word.replace("-", "_"), self.prog.partition(" ")[2], dashes=True)
        if hint is None or word in words:
            hint = question(word, words, written=words) or near_synonym(word, dashes=True)
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


Group = TypeVar("Group")

Given = Mapping[str, Any]
"""The values of those options of a group that were given, as keyword arguments."""


class OneOf(NamedTuple):
    """The values of an option, or a function that returns them, as an annotation."""

    values: Collection[Any] | Callable[[], Collection[Any]]


class Options(NamedTuple):
    """Options that several commands share: `add` adds them to a parser, `value` is what the function gets of them.

    They stand in the place of the value, as the default of a parameter, so what makes them is declared as `Any`.
    """

    add: Callable[[CommandParser], object]
    value: Callable[[argparse.Namespace], Any]


def reads(read: Callable[[str], Any], *, paired: bool = False) -> Callable[[str], Any]:
    """Return a function for argparse that reads a value or, with `paired`, a value for each side."""

    def value_of(text: str) -> Any:
        try:
            gold, colon, predicted = text.partition(":") if paired else (text, "", "")
            if colon:
                return SideValues(*(read(side) if side else None for side in (gold, predicted)))
            return read(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return value_of


Input = Annotated[Path, reads(input_path)]
Output = Annotated[Path, output_path]
OutputFolder = Annotated[Path, output_folder]
OutputName = Annotated[str, output_name]
FromZero = Annotated[int, reads(lambda text: whole(text, 0))]
FromOne = Annotated[int, reads(whole)]


# --- functions


class Declared:
    """A function, or a class, whose parameters are arguments and options, except some (`without`)."""

    def __init__(
        self, function: Callable[..., Any], without: str = "", choices: Mapping[str, Collection[Any]] = {}
    ) -> None:
        self.function = function
        self._names = vars(sys.modules[function.__module__])
        text = inspect.getdoc(function) or ""
        self._description, *parts = re.split(
            r"^(usage(?=: )|[a-z]+(?=:\n    )):\s+", text, flags=re.MULTILINE
        )
        self._sections = list(zip(parts[::2], parts[1::2], strict=True))
        self._parameters = inspect.signature(function).parameters.values()
        self._without, self._choices = without.split(), choices

    def with_names(self, text: str) -> str:
        """Return a text with the texts of the module in the place of their names."""
        return re.sub(r"\{([A-Z_]+)\}", lambda match: str(self._names[match[1]]), text)

    def section(self, *titles: str) -> Iterator[tuple[str, str]]:
        """Yield the sections with these titles."""
        return ((title, inspect.cleandoc(text)) for title, text in self._sections if title in titles)

    @cached_property
    def _documented(self) -> dict[str, _Documented]:
        documented = dict(_SIDES)
        for title, text in self._sections:
            for entry in re.split(r"\n    (?=\w)", text) if title not in _LAST else ():
                match = _ENTRY.fullmatch(" ".join(entry.split()))
                if match is not None:
                    name, flags, metavar, meaning = match.groups()
                    flag = f"--{name.replace('_', '-')}"
                    documented[name] = _Documented(
                        title, (flags or flag).split(", "), metavar, self.with_names(meaning)
                    )
        return documented

    def add_arguments(self, parser: CommandParser) -> None:
        """Add all arguments and options to a parser."""
        kinds = get_type_hints(self.function, include_extras=True)
        for parameter in self._parameters:
            if isinstance(parameter.default, Options):
                parameter.default.add(parser)
            if isinstance(parameter.default, Options) or parameter.name in self._without:
                continue
            documented = self._documented[parameter.name]
            settings = _settings_of(
                kinds[parameter.name], documented, parameter.default, self._choices.get(parameter.name)
            )
            if documented.title == "arguments":
                parser.add_argument(parameter.name, **settings)
            else:
                group = parser if documented.title == "options" else parser.group(documented.title)
                group.add_argument(*documented.flags, dest=parameter.name, **settings)

    def value(self, options: argparse.Namespace) -> Any:
        """Call the function with the values of the options."""
        values = {}
        for parameter in self._parameters:
            if isinstance(parameter.default, Options):
                values[parameter.name] = parameter.default.value(options)
            elif (value := getattr(options, parameter.name, None)) is not None:
                values[parameter.name] = value
        return self.function(**values)


class Command(Declared):
    """A function as a command; `needs` returns the places of the only options that a call can use, None for all."""

    def __init__(
        self,
        function: Callable[..., int],
        needs: Callable[[argparse.Namespace], Collection[str] | None] | None = None,
    ) -> None:
        super().__init__(function)
        self.needs = needs

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


def shared(function: Callable[..., Any], without: str = "", **choices: Collection[Any]) -> Any:
    """Return the options that a function, or a class, declares as a command does; commands get what it returns.

    Some may be left out (`without`), or have other `choices` than those of their type.
    """
    declared = Declared(function, without, choices)
    return Options(declared.add_arguments, declared.value)


_LAST = ("usage", "example", "examples", "notes")
"""The titles of the sections that have no options."""

_ENTRY = re.compile(r"(\w+)(?: (-[\w-]+(?:, --[\w-]+)?))?(?: (\S+))?: (.*)")
"""What a docstring says of a parameter: its name, its flags if they are others, its value, its help."""


class _Documented(NamedTuple):
    """What the docstring says of a parameter."""

    title: str
    flags: Sequence[str]
    metavar: str | None
    help: str


_SIDES = {
    "gold": _Documented("arguments", (), "GOLD", "file or folder"),
    "predicted": _Documented("arguments", (), "PREDICTED", "file or folder; without it, GOLD has both sides"),
}
"""The arguments that need no line in a docstring."""


def _settings_of(
    kind: Any, documented: _Documented, default: Any, choices: Collection[Any] | None
) -> dict[str, Any]:
    """Return the arguments of argparse for a parameter of a function; `choices` replace those of its type."""
    if kind is bool:
        return {"action": "store_true", "help": _escaped(documented.help)}
    has_default, is_argument = default is not inspect.Parameter.empty, documented.title == "arguments"
    settings: dict[str, Any] = {"metavar": documented.metavar}
    while (origin := get_origin(kind)) is not None:
        parts = [part for part in get_args(kind) if part is not types.NoneType]
        if origin is list:
            settings |= {"nargs": "*" if has_default else "+"} if is_argument else {"action": "append"}
        for annotation in parts[1:] if origin is Annotated else ():
            if isinstance(annotation, OneOf):
                choices = choices or (
                    annotation.values() if callable(annotation.values) else annotation.values
                )
                settings["choices"] = choices
            else:
                settings["type"] = annotation
        kind = parts[0]
    if is_argument:
        settings |= {"nargs": "?"} if has_default and "nargs" not in settings else {}
    else:
        settings["required"] = not has_default
    text = documented.help
    if isinstance(default, str | int | float):
        settings["default"] = default
        text += f" (default: {default})" if default != "" else ""
    return {**settings, "help": _escaped(_with_choices(text, choices or ()))}


# --- fields of dataclasses


class SideValues(NamedTuple):
    """The values of an option for the two sides, if they differ."""

    gold: Any
    predicted: Any


def fields(group: type, title: str, only: str = "", *, without: str = "") -> Any:
    """Return the options of the fields of a dataclass, all, or `only` or `without` some; given ones are arguments."""
    names = [field.name for field, _ in options_of(group)]
    names = [name for name in names if name in (only.split() or names) and name not in without.split()]

    def value(options: argparse.Namespace) -> Given:
        values = given_fields(group, options)
        return {name: values[name] for name in names if name in values}

    return Options(lambda parser: add_fields(parser, group, title, only=names), value)


def add_fields(
    parser: CommandParser, group: type, title: str, *, only: Collection[str] | None = None, sides: int = 1
) -> dict[str, argparse.Action]:
    """Add the options of a dataclass: in their help topics or, without a topic, under `title`.

    With two `sides`, the value of an option with `paired` may be ``GOLD:PREDICTED``. Returns the options by the
    names of their fields.
    """
    added: dict[str, argparse.Action] = {}
    for field, declared in options_of(group):
        if only is None or field.name in only:
            place = parser.group(title) if not declared.topic else parser.topic(declared.topic)
            note = "vrt:inline if the sides differ" if sides == 2 and field.name == "input" else ""
            added[field.name] = place.add_argument(
                declared.flag,
                dest=_place(group, field.name),
                default=None,
                help=help_of(field, declared, note),
                **_settings_of_field(group, field, declared, sides),
            )
    return added


def _place(group: type, name: str) -> str:
    """Return the name of a field's value among the options of a command."""
    return f"{group.__name__}.{name}"


def _settings_of_field(group: type, field: Field[Any], declared: Option, sides: int) -> dict[str, Any]:
    """Return the arguments of argparse for the option of a field."""
    if declared.metavar is None:
        may_be_none = types.NoneType in get_args(type_of(group, field))
        return {"action": argparse.BooleanOptionalAction if may_be_none else "store_true"}
    settings: dict[str, Any] = {"metavar": declared.metavar}
    if declared.repeated:
        return {**settings, "action": "append"}
    if declared.writes:
        return {**settings, "type": output_path}
    values = values_of(group, field, none=False)
    assert values is not None, field.name
    if declared.several:
        settings |= {"nargs": "+", "action": "extend"}
    return {**settings, "type": reads(values.read, paired=sides == 2 and declared.paired)}


def given_fields(group: type, options: argparse.Namespace) -> dict[str, Any]:
    """Return the values of those fields of a dataclass for which options were given."""
    values = {field.name: getattr(options, _place(group, field.name), None) for field, _ in options_of(group)}
    return {name: value for name, value in values.items() if value is not None}


def pair_of(group: type[Group], values: Given) -> Group | tuple[Group, Group]:
    """Return the dataclass with these values, or one for each side if any differs; `None` is the default."""
    if not any(isinstance(value, SideValues) for value in values.values()):
        return group(**values)

    def of_side(side: int) -> Group:
        of_each = {name: v[side] if isinstance(v, SideValues) else v for name, v in values.items()}
        return group(**{name: value for name, value in of_each.items() if value is not None})

    return of_side(0), of_side(1)


# --- help


def help_of(field: Field[Any], declared: Option, note: str = "", default: str | None = None) -> str:
    """Return the help of an option: its description, its values, a note and the default (None: of the field)."""
    has_default = field.default is not MISSING and field.default not in (None, (), False)
    if default is None and (declared.default is not None or has_default):
        default = shown_default(field)
    notes = [*([note] if note else []), *([] if default is None else [f"default: {default}"])]
    text = _with_choices(declared.help, declared.values)
    return _escaped(f"{text} ({'; '.join(notes)})" if notes else text)


def _with_choices(text: str, choices: Collection[Any]) -> str:
    """Return a help with the values of an option, unless it has them or there are more than 20."""
    if len(choices) > 20 or all(str(choice) in text for choice in choices):
        return text
    meaning, default, rest = text.partition(" (default: ")
    return f"{meaning}: {', '.join(map(str, choices))}{default}{rest}"


def _escaped(text: str) -> str:
    return text.replace("%", "%%")
