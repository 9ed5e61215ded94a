"""Commands made of functions: the signature has the arguments and options, the docstring is the help.

A parameter before ``*`` is an argument of the command line, one after it an option or, if its default is `Options`,
several of them. The function checks, calls, prints, and returns the exit code::

    def sizes(files: list[Input], *, times: int = 1, report: ReportOutput = REPORT) -> int:
        \"""Print how many bytes files have.

        usage: FILE...

        arguments:
            files FILE: files or folders
        counting:
            times N: multiply the numbers by N
        example:
            clueval sizes a.conll
        \"""

A title, which ends with a colon, begins a group of options, or with ``(topic):`` the help topic of options that are
rarely needed. Each has one line: its name, its value (none for one that is true or false), a colon, and its help, which
goes on in lines that are indented further. The flag is made of the name, unless it follows: ``kinds --class CLASS:
...``. ``{NAMES}`` stands for the text `NAMES` of the module.

A parameter, and a field of a dataclass with `option_field`, becomes a `CommandOption`. All else follows from these:
how words are read, help, configuration file, completion, reference, and the checks of outputs.
"""

from __future__ import annotations

import inspect
import re
import sys
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

from clueval.files.options import Option, input_path, options_of, whole
from clueval.files.overwriting import named_output, output_folder, output_name
from clueval.metrics.settings import shown_default, type_of, values_of

OptionValues = dict[str, Any]
"""The values of all arguments and options of a command, by their places."""

Keywords = Mapping[str, Any]
"""The values of those options of a group that were given, as keyword arguments."""


def without_none(**values: Any) -> dict[str, Any]:
    """Return the values that are not None."""
    return {name: value for name, value in values.items() if value is not None}


class CommandOption(NamedTuple):
    """An argument or an option of a command."""

    place: str  # the name of its value: that of the parameter, or ``Class.field``
    flags: Sequence[str]  # the names with their dashes; an argument has none
    metavar: str | None  # the name of the value in the help; None for an option that is true or false
    meaning: str | Callable[[], str]  # the help, or what returns it if it takes too much time for every call
    title: str  # the group in the help, or the help topic
    rare: bool = False  # whether only the help topic has it
    read: Callable[[str], Any] = str  # it raises ValueError for invalid text
    choices: Collection[Any] = ()  # the allowed values, if `read` does not refuse others
    instead: str = ""  # what to write instead of a value that is not allowed
    default: Any = None
    required: bool = False
    repeated: bool = False  # whether the option may be repeated, or the argument has all words that follow
    several: bool = False  # whether the option takes several values, one after the other

    @property
    def help(self) -> str:
        meaning = self.meaning if isinstance(self.meaning, str) else self.meaning()
        return _with_choices(meaning, self.choices)

    @property
    def written(self) -> str:
        """How it is written, for the help."""
        if not self.flags or self.metavar is None:
            return ", ".join(self.flags) or str(self.metavar)
        value = f"{self.metavar} [{self.metavar} ...]" if self.several else self.metavar
        return ", ".join(f"{flag} {value}" for flag in self.flags)

    @property
    def negative(self) -> str:
        """The flag for no; empty without one."""
        return next((flag for flag in self.flags[1:] if flag.startswith("--no-")), "")

    @property
    def has_one_value(self) -> bool:
        """Whether it is an option with one value."""
        return bool(self.flags) and self.metavar is not None and not (self.repeated or self.several)

    def value(self, text: str) -> Any:
        """Return the value that a text stands for. Raises `ValueError` if there is none."""
        value = self.read(text)
        if self.choices and value not in self.choices:
            from clueval.files.names import one_of  # only for names that do not exist

            raise ValueError(f"{value!r} is unknown; {one_of(str(value), self.choices)}{self.instead}")
        return value


class OneOf(NamedTuple):
    """The values of an option, or a function that returns them, as an annotation; and what to write for others."""

    values: Collection[Any] | Callable[[], Collection[Any]]
    instead: str = ""


class Options(NamedTuple):
    """Options that several commands share, and the function that makes of their values what a command gets.

    They stand in the place of the value, as the default of a parameter, so what makes them is declared as `Any`.
    """

    options: Callable[[], Iterable[CommandOption]]
    value: Callable[[OptionValues], Any]


Input = Annotated[Path, input_path]
Output = Annotated[Path, named_output]
OutputFolder = Annotated[Path, output_folder]
OutputName = Annotated[str, output_name]
FromZero = Annotated[int, lambda text: whole(text, 0)]
FromOne = Annotated[int, whole]


# --- functions


class Declared:
    """A function, or a class, whose parameters are arguments and options, if its docstring has them."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self._names = vars(sys.modules[function.__module__])
        text = inspect.getdoc(function) or ""
        self._description, *parts = re.split(
            r"^(usage(?=: )|[a-z]+(?: \(topic\))?(?=:\n    )):\s+", text, flags=re.MULTILINE
        )
        self._sections = list(zip(parts[::2], parts[1::2], strict=True))
        self._parameters = inspect.signature(function).parameters.values()

    def with_names(self, text: str) -> str:
        """Return a text with the texts of the module in the place of their names."""
        return re.sub(r"\{([A-Z_]+)\}", lambda match: str(self._names[match[1]]), text)

    def section(self, *titles: str) -> Iterator[tuple[str, str]]:
        """Yield the sections with these titles."""
        return ((title, inspect.cleandoc(text)) for title, text in self._sections if title in titles)

    @cached_property
    def _documented(self) -> dict[str, CommandOption]:
        """What the docstring says of the parameters."""
        documented = dict(_SIDES)
        for title, text in self._sections:
            for entry in re.split(r"\n    (?=\w)", text) if title not in _LAST else ():
                match = _ENTRY.fullmatch(" ".join(entry.split()))
                if match is not None:
                    name, flags, metavar, meaning = match.groups()
                    names = (flags or f"--{name.replace('_', '-')}").split(", ")
                    group = title.removesuffix(" (topic)")
                    documented[name] = CommandOption(
                        name,
                        names if title != _ARGUMENTS else (),
                        metavar,
                        self.with_names(meaning),
                        group,
                        rare=group != title,
                    )
        return documented

    def of_parameters(self) -> Iterator[CommandOption]:
        """Yield the arguments and options."""
        kinds = get_type_hints(self.function, include_extras=True)
        for parameter in self._parameters:
            name = parameter.name
            if isinstance(parameter.default, Options):
                yield from parameter.default.options()
            elif name in self._documented:
                yield _of_parameter(self._documented[name], kinds[name], parameter.default)

    def value(self, values: OptionValues) -> Any:
        """Call the function with the values of the options."""
        arguments = {}
        for parameter in self._parameters:
            if isinstance(parameter.default, Options):
                arguments[parameter.name] = parameter.default.value(values)
            elif (value := values.get(parameter.name)) is not None:
                arguments[parameter.name] = value
        return self.function(**arguments)


def shared(function: Callable[..., Any], without: str = "", **choices: Collection[Any]) -> Any:
    """Return the options that a function, or a class, declares as a command does; commands get what it returns.

    Some may be left out (`without`), or have other `choices` than those of their type.
    """
    declared = Declared(function)

    def options() -> Iterator[CommandOption]:
        for option in declared.of_parameters():
            if option.place not in without.split():
                yield option._replace(choices=choices.get(option.place, option.choices))

    return Options(options, declared.value)


_ARGUMENTS = "arguments"
"""The title of the section that has the arguments."""

_LAST = ("usage", "example", "examples", "notes")
"""The titles of the sections that have no options."""

_ENTRY = re.compile(r"(\w+)(?: (-[\w-]+(?:, --[\w-]+)?))?(?: (\S+))?: (.*)")
"""What a docstring says of a parameter: its name, its flags if they are others, its value, its help."""

_SIDES = {
    "gold": CommandOption("gold", (), "GOLD", "file or folder", _ARGUMENTS),
    "predicted": CommandOption(
        "predicted", (), "PREDICTED", "file or folder; without it, GOLD has both sides", _ARGUMENTS
    ),
}
"""The arguments that need no line in a docstring."""


def _of_parameter(documented: CommandOption, kind: Any, default: Any) -> CommandOption:
    """Return the option of a parameter, which its docstring describes."""
    if kind is bool:
        return documented._replace(default=False)
    read: Callable[[str], Any] = str
    repeated, choices = False, OneOf(())
    while (origin := get_origin(kind)) is not None:
        parts = [part for part in get_args(kind) if part is not types.NoneType]
        repeated = repeated or origin is list
        for annotation in parts[1:] if origin is Annotated else ():
            if isinstance(annotation, OneOf):
                choices = annotation
            else:
                read = annotation
        kind = parts[0]
    is_plain = isinstance(default, str | int | float)
    text = f"{documented.help} (default: {default})" if is_plain and default != "" else documented.help
    return documented._replace(
        meaning=text,
        read=read,
        choices=choices.values() if callable(choices.values) else choices.values,
        instead=choices.instead,
        default=default if is_plain else None,
        required=default is inspect.Parameter.empty,
        repeated=repeated,
    )


# --- fields of dataclasses


class SideValues(NamedTuple):
    """The values of an option for the two sides, if they differ."""

    gold: Any
    predicted: Any


def fields(
    group: type,
    title: str,
    only: str = "",
    *,
    without: str = "",
    sides: int = 1,
    note: Callable[[str], str] = lambda _: "",
) -> Any:
    """Return the options of the fields of a dataclass: all, `only` some or `without` some; their value is keywords.

    They are in their help topics or, without a topic, under `title`, with the notes that `note` returns for the names
    of the fields. With two `sides`, the value of an option with `paired` may be ``GOLD:PREDICTED``.
    """
    chosen = [
        (field, declared, f"{group.__name__}.{field.name}")
        for field, declared in options_of(group)
        if field.name in (only.split() or [field.name]) and field.name not in without.split()
    ]

    def options() -> Iterator[CommandOption]:
        for field, declared, place in chosen:
            is_plain = declared.metavar is None or declared.repeated
            values = None if is_plain else values_of(group, field, none=False)
            read = named_output if declared.writes else str if values is None else values.read
            may_be_no = declared.metavar is None and types.NoneType in get_args(type_of(group, field))
            yield CommandOption(
                place,
                (declared.flag, *([declared.flag.replace("--", "--no-", 1)] if may_be_no else [])),
                declared.metavar,
                partial(_help_of, field, declared, note),
                declared.topic or title,
                rare=bool(declared.topic),
                read=partial(_of_sides, read) if sides == 2 and declared.paired else read,
                choices=() if declared.paired or is_plain else declared.values,
                repeated=declared.repeated,
                several=declared.several,
            )

    def value(values: OptionValues) -> Keywords:
        return without_none(**{field.name: values.get(place) for field, _, place in chosen})

    return Options(options, value)


def _of_sides(read: Callable[[str], Any], text: str) -> Any:
    """Read a value, or one for each side."""
    gold, colon, predicted = text.partition(":")
    if not colon:
        return read(text)
    return SideValues(*(read(side) if side else None for side in (gold, predicted)))


def _help_of(field: Field[Any], declared: Option, note: Callable[[str], str]) -> str:
    """Return the help of the option of a field: its description, its values, its note and its default."""
    has_default = field.default is not MISSING and field.default not in (None, (), False)
    notes = [note(field.name)]
    if declared.default is not None or has_default:
        notes.append(f"default: {shown_default(field)}")
    text, notes_in_words = _with_choices(declared.help, declared.values), "; ".join(filter(None, notes))
    return f"{text} ({notes_in_words})" if notes_in_words else text


def _with_choices(text: str, choices: Collection[Any]) -> str:
    """Return a help with the values of an option, unless it has them or there are more than 20."""
    if len(choices) > 20 or all(str(choice) in text for choice in choices):
        return text
    meaning, default, rest = text.partition(" (default: ")
    return f"{meaning}: {', '.join(map(str, choices))}{default}{rest}"
