"""Plain values of JSON, checked one by one when they arrive from another process."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

PLAIN = {str, int, bool, float, type(None)}
"""The types that the parts of a key may have."""


class NotPlain(ValueError):
    """A value cannot belong to counts; the message says why, without text of a corpus."""


def whole(value: object, what: str) -> int:
    """Return a whole number of at least 0. This and the next functions raise `NotPlain` for other values."""
    if type(value) is not int or value < 0:
        raise NotPlain(f"{what} is not a whole number from 0")
    return value


def text(value: object, what: str) -> str:
    if type(value) is not str:
        raise NotPlain(f"{what} is not a string")
    return value


def flag(value: object, what: str) -> bool:
    if type(value) is not bool:
        raise NotPlain(f"{what} is not true or false")
    return value


def a_list(value: object, what: str, length: int | None = None) -> list[Any]:
    """Return a list, of this length if one is given."""
    if type(value) is not list or length not in (None, len(value)):
        raise NotPlain(f"{what} is not a list{'' if length is None else f' of {length}'}")
    return value


def texts(value: object, what: str) -> list[str]:
    """Return a list of different strings."""
    found = [text(each, what) for each in a_list(value, what)]
    if len(set(found)) < len(found):
        raise NotPlain(f"{what} has a value twice")
    return found


def record(value: object, names: Collection[str], what: str) -> list[Any]:
    """Return the values of an object that has exactly these names, in their order."""
    if type(value) is not dict or value.keys() != set(names):
        raise NotPlain(f"{what} has other names than {', '.join(names) or 'none'}")
    return [value[name] for name in names]


def an_object(value: object, known: Collection[str] | None, what: str) -> dict[str, Any]:
    """Return an object whose names are among the known ones; None allows any names."""
    if type(value) is not dict:
        raise NotPlain(f"{what} is not an object")
    if known is not None and not value.keys() <= set(known):
        raise NotPlain(f"{what} has a name that is not in the plan")
    return value
