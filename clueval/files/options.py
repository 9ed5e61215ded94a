"""Arguments of public functions, which are checked, and options, which are declared on the fields of dataclasses.

Public functions are decorated with `checked_call`: for a call with other arguments than theirs, Python's own TypeError
names the implementation and gives no advice.

The command line is made from the fields of options:

    document_tag: str = option_field("text", "TAG", "the XML element that is a document")

The type of a field determines its values. If the type is not enough, `option_field` gets the values (`choices`) or the
function that reads them (`parse`, which raises ValueError for invalid text).
"""

from __future__ import annotations

import math
import os
import re
import stat
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from contextvars import ContextVar
from dataclasses import Field, dataclass, field, fields, replace
from functools import cache, lru_cache, partial, wraps
from inspect import signature
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from clueval.files.errors import UsageError, assigned, described


class _Kind(NamedTuple):
    """A type in an annotation: its test, and its name in errors."""

    holds: Callable[[Any], bool]
    says: str


def _is_a(name: str, value: object) -> bool:
    """Return whether a value is of the class of clueval with this name, which this module need not import."""
    return any(
        base.__name__ == name for base in type(value).__mro__ if base.__module__.startswith("clueval.")
    )


_KINDS = {
    "int": _Kind(lambda value: isinstance(value, int) and not isinstance(value, bool), "a whole number"),
    "float": _Kind(lambda value: isinstance(value, int | float) and not isinstance(value, bool), "a number"),
    "bool": _Kind(lambda value: isinstance(value, bool), "True or False"),
    "str": _Kind(lambda value: isinstance(value, str), "text"),
    "None": _Kind(lambda value: value is None, "None"),
    **dict.fromkeys(("Path", "PathLike"), _Kind(lambda value: isinstance(value, PathLike), "a path")),
    **dict.fromkeys(("Progress", "Callable"), _Kind(callable, "a function")),
    "Executor": _Kind(lambda value: hasattr(value, "submit"), "an executor"),
    "Iterable": _Kind(lambda value: isinstance(value, Iterable) and not isinstance(value, bytes), "a list"),
    "Sequence": _Kind(
        lambda value: isinstance(value, Sequence) and not isinstance(value, str | bytes), "a list"
    ),
    "Mapping": _Kind(lambda value: isinstance(value, Mapping), "a dictionary"),
    "tuple": _Kind(lambda value: isinstance(value, tuple), "a tuple"),
    "frozenset": _Kind(lambda value: isinstance(value, frozenset), "a frozenset"),
    **{
        name: _Kind(partial(_is_a, name), f"a {name}") for name in ("Document", "IgnoredWords", "WordWeights")
    },
}
"""The types in annotations of fields that `require_kind` checks, without their parameters."""


def require_kind(value: object, annotation: str, name: str) -> None:
    """Raise `UsageError` if a value is not of a type, which is written as in an annotation.

    >>> require_kind("x", "int | None", "token")
    Traceback (most recent call last):
    clueval.files.errors.UsageError: token must be a whole number or None, not a str
    """
    kinds = _kinds_of(annotation)
    if isinstance(value, str) and not value and _KINDS["Path"] in kinds:
        raise UsageError(f"{name} is empty", advice="give the name of a file, or leave it out")
    for kind in kinds:
        if kind.holds(value):
            return
    if kinds:
        expected = " or ".join(kind.says for kind in kinds)
        raise UsageError(f"{name} must be {expected}, not {described(value)}")


@lru_cache(maxsize=256)
def _kinds_of(annotation: str) -> list[_Kind]:
    while "[" in annotation:  # leave out the parameters of types, the innermost first
        annotation = re.sub(r"\[[^\[\]]*\]", "", annotation)
    names = annotation.split(" | ")
    return [_KINDS[name] for name in names] if all(name in _KINDS for name in names) else []


def require_instance(value: object, kind: type, name: str) -> None:
    """Raise `UsageError` if a value is not of a class of clueval."""
    if not isinstance(value, kind):
        raise UsageError(f"{name} must be a {kind.__name__}, not {described(value)}")


Function = TypeVar("Function", bound=Callable[..., Any])


def checked_call(function: Function) -> Function:
    """Decorate a public function: a call with arguments, or types, that it does not take raises `UsageError`.

    None of the outputs of a call replaces one of its inputs. (`inputs_kept` as a decorator would put a frame of
    `contextlib` between, whose line warnings would name.)

    >>> @checked_call
    ... def score(gold, predicted): ...
    >>> score(["B-PER"])
    Traceback (most recent call last):
    clueval.files.errors.UsageError: score() missing 1 required positional argument: 'predicted' (...)
    """

    kinds: Mapping[str, str] = function.__annotations__
    in_order = function.__code__.co_varnames[: function.__code__.co_argcount]

    @wraps(function)
    def call(*positional: Any, **named: Any) -> Any:
        for name, value in chain(zip(in_order, positional, strict=False), named.items()):
            if name in kinds:
                require_kind(value, kinds[name], name)
        try:
            with inputs_kept():
                return function(*positional, **named)
        except TypeError as error:
            within = error.__traceback__ and error.__traceback__.tb_next
            if within is not None:  # the call was right, and the error comes from the function
                raise
            message = str(error)
        raise _misfit(function, message, named)

    return call  # type: ignore[return-value]  # it takes what the function takes


def _misfit(function: Callable[..., Any], message: str, named: Iterable[str]) -> UsageError:
    """Return the error for an argument that the function does not take, or that is missing, as Python says it."""
    from clueval.files.names import FOR_CALLS, NEVER_OPTIONS

    name, parameters = function.__name__, signature(function).parameters.values()
    by_name = _parameters_by_name(function)
    takes_more = len(by_name) < len(parameters)
    refuse_unknown([key for key in named if not takes_more or key in NEVER_OPTIONS], by_name, name)
    order = ", ".join(each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD)
    advice = f"give {order} in this order, and the others by their names{FOR_CALLS.get(name, '')}"
    return UsageError(message, advice=advice)


def _parameters_by_name(function: Callable[..., Any]) -> list[str]:
    """Return the parameters of a function that can be given by their names."""
    parameters = signature(function).parameters.values()
    return [each.name for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)]


def refuse_unknown(options: Iterable[str], allowed: Collection[str], caller: str) -> None:
    """Raise `UsageError` for an option that is not in `allowed`; advice also names parameters of the `caller`."""
    for name in options:
        if name not in allowed:
            from clueval.files.names import for_argument  # only for names that do not exist

            public = getattr(sys.modules["clueval"], caller, None)  # `intervals` is a method of results
            known = dict.fromkeys([*allowed, *(() if public is None else _parameters_by_name(public))])
            raise UsageError(f"{caller} has no option {name!r}", advice=for_argument(name, known, caller))


_KEY = "clueval option"

Group = TypeVar("Group")

Value = TypeVar("Value")


class Option(NamedTuple):
    """The option of a field on the command line, and its help."""

    metavar: str | None  # the name of the value in the help; None for a field that is true or false
    help: str  # the description of the option. Values and default are added to it
    flag: str = ""  # the name with its dashes, as in ``--token-id``; empty: that of the field
    # the help topic of the option; None: the ``TOPIC`` of its dataclass, if it has one; without a topic, or
    # with an empty one, the option is in the help of the command itself
    topic: str | None = None
    # the allowed values, or a function that returns them, if the type does not determine them
    choices: Collection[str] | Callable[[], Collection[str]] = ()
    takes: str | None = None  # the allowed values in words, if neither `choices` nor the type determines them
    # the function that reads a value; None: the type of the field determines it
    parse: Callable[[str], Any] | None = None
    repeated: bool = False  # whether the option may be repeated, with one value each time
    several: bool = False  # whether the option takes several values, one after the other
    paired: bool = False  # whether a value may be ``GOLD:PREDICTED``, if the two sides differ
    default: str | None = None  # the default in words for the help; None: the default of the field
    writes: bool = False  # whether the value names a file that is written
    # whether it is a setting that a metric got later: signatures name it only if it is not the default
    later: bool = False

    @property
    def values(self) -> Collection[str]:
        """The allowed values, if the type does not determine them."""
        return self.choices() if callable(self.choices) else self.choices


def option(metavar: str | None, help: str, **more: Any) -> Mapping[str, Option]:
    """Return the metadata for a field that is an option; see `Option` for the arguments."""
    return {_KEY: Option(metavar, help, **more)}


def option_field(value: Value, /, metavar: str | None, help: str, **more: Any) -> Value:
    """Return the field of a dataclass that is an option with this default; see `Option` for the other arguments."""
    declared: Value = field(default=value, metadata=option(metavar, help, **more))
    return declared


def setting_field(value: Value, /, help: str, **more: Any) -> Value:
    """Return the field of a metric that is a setting with this default; see `Option` for the other arguments."""
    return option_field(value, None, help, **more)


def option_of(declared: Field[Any]) -> Option | None:
    """Return the option of a field, or None."""
    return declared.metadata.get(_KEY)


def options_of(group: Any) -> Iterator[tuple[Field[Any], Option]]:
    """Yield the fields of a dataclass that are options, with their options."""
    for attribute in fields(group):
        declared = option_of(attribute)
        if declared is not None:
            flag = declared.flag or f"--{attribute.name.replace('_', '-')}"
            topic = getattr(group, "TOPIC", None) if declared.topic is None else declared.topic
            yield attribute, declared._replace(flag=flag, topic=topic)


def field_names(group: Any) -> list[str]:
    """Return the names of the fields of a dataclass."""
    kind: Any = group if isinstance(group, type) else type(group)
    return [name for name, *_ in _declared_fields(kind)]


@cache
def _declared_fields(kind: Any) -> list[tuple[str, str, Any, Option | None]]:
    """Return the name, the type, the default and the option of each field of a dataclass."""
    return [(each.name, str(each.type), each.default, option_of(each)) for each in fields(kind)]


def with_fields(group: Group, options: Mapping[str, Any]) -> Group:
    """Return the dataclass `group` with the values of those options that are fields of it."""
    named = {name: options[name] for name in field_names(group) if name in options} if options else {}
    return replace(group, **named) if named else group  # type: ignore[type-var]  # a dataclass


def changed_values(group: Any) -> dict[str, Any]:
    """Return the values of the fields of a dataclass that are not the defaults, by name.

    Values of another type than the default are not compared with it: the comparison of an array is an array.
    """
    kind: Any = type(group)
    values = ((name, getattr(group, name), default) for name, _, default, _ in _declared_fields(kind))
    return {
        name: value
        for name, value, default in values
        if value is not default and (type(value) is not type(default) or value != default)
    }


def require_types(group: Any) -> None:
    """Raise `UsageError` for a field of a dataclass whose value is not of its type, or not one of its choices.

    Only types that `_KINDS` has are checked; the default is always allowed.
    """
    kind: Any = type(group)
    for name, annotation, default, declared in _declared_fields(kind):
        value = getattr(group, name)
        if value is not default:
            require_kind(value, annotation, name)
            require_choice(value, declared, f"{name}={{!r}} is unknown")


def require_choices(group: Any, name: str) -> None:
    """Raise `UsageError` for a setting that is not one of its choices; `name` is that of the metric's class."""
    kind: Any = type(group)
    for setting, _, _, declared in _declared_fields(kind):
        require_choice(getattr(group, setting), declared, f"unknown {name}.{setting} {{!r}}")


def require_choice(value: object, declared: Option | None, problem: str) -> None:
    """Raise `UsageError` for a value that is not one of the choices of its option; `problem` has braces for it."""
    choices = () if declared is None else declared.values
    if choices and value not in choices:
        from clueval.files.names import one_of  # only for values that do not exist

        raise UsageError(problem.format(value), advice=one_of(str(value), choices))


def require_texts(group: Any, name: str, *settings: str) -> None:
    """Make the values of these settings tuples; `UsageError` for one that is not several texts."""
    for setting in settings:
        value = getattr(group, setting)
        several = f"{name}.{setting} must be several names"
        if isinstance(value, str):
            raise UsageError(f"{several}, not the string {value!r}")
        if not isinstance(value, Iterable):
            raise UsageError(f"{several}, not {described(value)}")
        texts = tuple(value)
        for text in texts:
            if not isinstance(text, str):
                raise UsageError(f"{several}, but one of them is {described(text)}")
        object.__setattr__(group, setting, texts)


def require_beta(value: Any, name: str) -> None:
    """Raise `UsageError` unless the weight of recall is above 0 and not so great that F cannot be computed."""
    if not is_number(value) or not 0 < value <= 1e6:
        raise UsageError(f"{name} must be a number above 0, up to a million, not {value!r}")


def is_number(value: object) -> bool:
    """Return whether a value is a number, and not True or False."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def column(text: str) -> int:
    """Return the number of a column: from 1, or from -1 at the end."""
    number = _whole(text)
    if not number:
        raise ValueError(f"{text!r} is not a column: columns count from 1, or from -1 at the end")
    return number


def whole(text: str, least: int = 1) -> int:
    """Return a whole number of at least `least`."""
    number = _whole(text)
    if number is not None and number > sys.maxsize:
        raise ValueError(f"{text!r} is greater than {sys.maxsize}")
    if number is None or number < least:
        raise ValueError(f"{text!r} is not a whole number from {least} on")
    return number


def number(text: str) -> float:
    """Return a number, which may have a fraction."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"{text!r} is not a number, such as 0.5")
    return value


def fraction(text: str) -> float:
    """Return a number that may be a percentage.

    >>> fraction("0.72"), fraction("72%")
    (0.72, 0.72)
    """
    return number(f"{text[:-1].strip()}e-2") if text.endswith("%") else number(text)


def _whole(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None


def require_share(name: str, value: float) -> None:
    """Raise `UsageError` unless 0 < value < 1."""
    if not 0 < value < 1:  # NaN is not, either
        raise UsageError(f"{name} must be between 0 and 1, not {value!r}", advice="for example 0.95")


# Files that arguments and options name

Identity = tuple[int, int]
"""The identity of a file under any name: its device and its number there, as `os.path.samefile` compares."""


class CommandFiles:
    """The files that the running command reads, and those outputs that it will write over an existing file."""

    def __init__(self) -> None:
        self.outputs: list[Path] = []
        self.names: set[str] = set()
        self.new_names: list[str] = []  # whose files have not been looked up
        self.files: set[Identity | None] = {None}
        self.folders: set[str] = set()


FILES: ContextVar[CommandFiles | None] = ContextVar("files", default=None)
"""The files of the running command; None: nothing is noted."""


def inputs_kept() -> AbstractContextManager[None]:
    """Let no output replace an input until the end of the block, which is one command, or a part of one."""
    return assigned(FILES, FILES.get() or CommandFiles())


def note_input(path: str | Path) -> None:
    """Note a file, folder, pattern or member of an archive that the running command reads."""
    files = FILES.get()
    if files is not None and str(path) not in files.names:
        files.names.add(str(path))
        files.new_names.append(str(path))


def note_open_file(file: Any) -> None:
    """Note an open file that the running command reads, such as standard input that a shell has redirected."""
    files = FILES.get()
    if files is not None:
        with suppress(OSError, ValueError, AttributeError, TypeError):  # a file in memory has no number
            status = os.fstat(file.fileno())
            if stat.S_ISREG(status.st_mode):
                files.files.add((status.st_dev, status.st_ino))


def input_path(text: str) -> Path:
    """Return the path that an argument names, which is an input. Raises `UsageError` for an empty name."""
    if not text:
        raise UsageError("the name of an input file is empty")
    note_input(text)
    return Path(text)


# Limits

MAX_LINE = 1 << 27
"""The usual limit for the bytes of a line, and of a file that is read as a whole."""

HELD = 5
"""Divisor of the limit for sentences; the result limits the lines, tags or values of a file held as a whole.

A line, tag or value of a file of spans, XML or JSON takes about this many times as much memory as a token.
"""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Limits:
    """The limits of a file. Raises `UsageError` for one that is not a whole number of at least 1."""

    max_line: int = MAX_LINE  # the most bytes of a line, and of a file that is held as a whole
    max_sentence: int = 5_000_000  # the most tokens of a sentence
    max_document: int = 50_000_000  # the most tokens of a document, at 100 to 300 bytes a token

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                raise UsageError(f"{name}={value!r} is not a limit", advice="a whole number from 1 on")

    @property
    def max_held(self) -> int:
        """The most lines, tags or values of a file that is held as a whole."""
        return max(1, self.max_sentence // HELD)
