"""Settings of metrics and other options: their text in signatures, and their values, read by the type of the field."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import MISSING, Field
from inspect import get_annotations
from pathlib import Path
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin

from clueval.files.errors import UsageError
from clueval.files.options import number, option_of, whole

# Writing


def is_later(setting: Field[Any]) -> bool:
    """Return whether signatures name a setting only if it is not the default."""
    declared = option_of(setting)
    return declared is not None and declared.later


def plain(value: object) -> str:
    """Return a setting as a signature shows it."""
    if isinstance(value, Mapping):
        return "/".join(f"{key}={plain(part)}" for key, part in value.items())
    if isinstance(value, set | frozenset):
        return "/".join(sorted(map(str, value))) or "none"
    if isinstance(value, tuple | list):
        return "/".join(map(str, value)) or "none"
    if value is None:
        return "none"
    if value == "":
        return "''"
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)


# Reading

_BOOLEANS = {"yes": True, "true": True, "no": False, "false": False}
_NONE = "none"


class Values(NamedTuple):
    """The values that a field allows, in words, and the function that reads them (`read` raises ValueError)."""

    takes: str
    read: Callable[[str], Any]
    several: str = "values"


def values_of(group: type, field: Field[Any], *, none: bool = True) -> Values | None:
    """Return the values of a field of a dataclass; None if they cannot be read from text.

    With `none`, the word ``none`` stands for None if the field allows it, and for the empty tuple if the field has
    several values.
    """
    declared = option_of(field)
    kind = type_of(group, field)
    if declared is not None and declared.choices:
        values: Values | None = _choice(declared.choices)
    elif declared is not None and declared.parse is not None:
        values = Values(declared.takes or declared.metavar or "text", declared.parse)
    else:
        values = _values(kind)
    if values is None or not none:
        return values
    if get_origin(kind) in (tuple, frozenset):
        return _or(get_origin(kind)(), values)
    return _or(None, values) if type(None) in get_args(kind) else values


def default_of(field: Field[Any]) -> Any:
    """Return the default of a field; `dataclasses.MISSING` if it has none."""
    return field.default if field.default_factory is MISSING else field.default_factory()


def shown_default(field: Field[Any]) -> str:
    """Return the default as help and signatures show it."""
    declared = option_of(field)
    if declared is not None and declared.default is not None:
        return declared.default
    value = default_of(field)
    return ",".join(map(str, value)) if isinstance(value, tuple) and value else plain(value)


def type_of(group: type, field: Field[Any]) -> Any:
    """Return the type of a field, also if its annotation is a string; None if it cannot be determined."""
    if not isinstance(field.type, str):
        return field.type
    for owner in group.__mro__:
        if field.name in get_annotations(owner):
            try:
                return eval(field.type, vars(sys.modules[owner.__module__]))  # as typing.get_type_hints does
            except NameError:  # imported for type checkers only
                return None
    return None


def _values(kind: Any) -> Values | None:
    if kind is bool:
        return Values("yes or no", _boolean)
    if get_origin(kind) is Literal:
        return _choice(tuple(map(str, get_args(kind))))
    if get_origin(kind) in (Union, types.UnionType):
        parts = [part for part in get_args(kind) if part is not type(None)]
        return _values(str if str in parts else parts[0])
    if get_origin(kind) in (tuple, frozenset):
        return _several(get_origin(kind), get_args(kind)[0])
    return _PLAIN.get(kind)


def _several(collection: Callable[[Iterator[Any]], Any], kind: Any) -> Values | None:
    one = _values(kind)
    if one is None:
        return None

    def read(text: str) -> Any:
        return collection(one.read(part.strip()) for part in text.split(",") if text)

    return Values(f"{one.several} separated by commas", read)


def _or(nothing: Any, values: Values) -> Values:
    return Values(f"{values.takes}, or {_NONE}", lambda text: nothing if text == _NONE else values.read(text))


def _choice(choices: Collection[str]) -> Values:
    def read(text: str) -> str:
        if text not in choices:
            raise ValueError(f"{text!r} is not one of: {', '.join(choices)}")
        return text

    *others, last = choices
    takes = f"{', '.join(others)} or {last}" if others else last
    return Values(takes, read, takes)


def _boolean(text: str) -> bool:
    if text.lower() not in _BOOLEANS:
        raise ValueError(f"{text!r} is neither yes nor no")
    return _BOOLEANS[text.lower()]


def _whole(text: str) -> int:
    return whole(text, -sys.maxsize)


_PLAIN = {
    int: Values("a whole number", _whole, "whole numbers"),
    float: Values("a number", number, "numbers"),
    str: Values("text", str, "names"),
    Path: Values("a path", Path, "paths"),
}


def read_value(values: Values, text: str, name: str) -> Any:
    """Return the value of the setting `name`, given as text. Raises `UsageError` for an invalid text."""
    try:
        return values.read(text)
    except UsageError as error:
        raise UsageError(f"{name}: {error.problem}", advice=error.advice) from None
    except ValueError:
        raise UsageError(f"{name} takes {values.takes}, not {text!r}") from None
