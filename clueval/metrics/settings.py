"""The text of metrics, with their settings, as options, signatures and functions have it; values of options as text.

Values are literals of Python, and a bare word is a text, but ``none`` is None::

    exact(min_overlap=0.5)
    fair(focus=system)
    gate(types=['Person','Org'],features={'Person':['inst'],'Org':['kind','id']})

Several metrics are separated by commas; signatures, where commas are rare, join them with ``+``. A metric of one's own
is written with its module, ``package.module.Class(setting=1)``.
"""

from __future__ import annotations

import ast
import re
import sys
import types
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import MISSING, Field
from inspect import get_annotations
from pathlib import Path
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin

from clueval.files.errors import UsageError
from clueval.files.options import number, option_of, require_choice, whole

LONGEST = 100_000
"""The greatest number of characters of a text of metrics."""

_EXAMPLE = (
    "write it as in exact,partial(factor=0.5,betas=[2]); texts with other characters than letters need quotes"
)


class MetricText(NamedTuple):
    """A metric as it is written: its name, and the values of its settings; bare words are text."""

    name: str
    settings: Mapping[str, Any]


# Reading metrics


def metrics_in(text: str) -> list[MetricText]:
    """Return the metrics of a text. Raises `UsageError` for a text that cannot be read.

    >>> metrics_in("exact,fair(focus=system)")
    [MetricText(name='exact', settings={}), MetricText(name='fair', settings={'focus': 'system'})]
    """
    if len(text) > LONGEST:
        raise UsageError(
            f"the metrics have more than {LONGEST:,} characters", advice="write shorter settings"
        )
    if not text.strip():
        return []
    source = f"({text.strip()}\n,)"
    try:
        node = ast.parse(source, mode="eval").body
        assert isinstance(node, ast.Tuple)
        return [_metric(call, source) for part in node.elts for call in _summands(part)]
    except (SyntaxError, ValueError, AssertionError, RecursionError, MemoryError):
        raise UsageError(f"the metrics {text!r} cannot be read", advice=_EXAMPLE) from None


def _summands(node: ast.expr) -> Iterator[ast.expr]:
    """Yield the parts of a sum."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        yield from _summands(node.left)
        yield from _summands(node.right)
    else:
        yield node


def _metric(node: ast.expr, source: str) -> MetricText:
    """Return a metric. Raises `ValueError` for anything else."""
    if not isinstance(node, ast.Call):
        return MetricText(_name(node, source), {})
    settings: dict[str, Any] = {}
    for keyword in node.keywords:
        if keyword.arg is None or keyword.arg in settings:
            raise ValueError("no name of a setting")
        value = keyword.value
        settings[keyword.arg] = (
            None if isinstance(value, ast.Name) and value.id == _NONE else _value(value, source)
        )
    if node.args:
        raise ValueError("a setting without its name")
    return MetricText(_name(node.func, source), settings)


def _name(node: ast.expr, source: str) -> str:
    name = ast.get_source_segment(source, node) or ""
    if not re.fullmatch(r"[\w.-]+", name):
        raise ValueError("no name of a metric")
    return name


def _value(node: ast.expr, source: str) -> Any:
    match node:
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return [_value(part, source) for part in parts]
        case ast.Dict(keys=keys, values=values):
            return {
                _value(key, source): _value(value, source)
                for key, value in zip(keys, values, strict=True)
                if key is not None
            }
        case ast.Constant(value=value) if value is None or isinstance(value, str | bool | int | float):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.Name() | ast.Attribute() | ast.BinOp():
            return ast.get_source_segment(source, node)
    raise ValueError("no literal")


def setting_of(kind: type, field: Field[Any], value: Any, name: str) -> Any:
    """Return the value of a setting for the class of its metric, given one that was read; `name` is for errors.

    Text is read as the field says. Raises `UsageError` for a value of another type.
    """
    declared = type_of(kind, field)
    is_text = value == _NONE and {str, type(None)} <= set(get_args(declared))  # it was quoted
    values = values_of(kind, field, none=not is_text)
    if isinstance(value, Mapping) or (value is None and type(None) in get_args(declared)):
        return value  # the class checks it
    if values is None:
        raise UsageError(f"{name} cannot be written as text", advice="make the metric in Python")
    of_texts = get_origin(declared) in (tuple, frozenset) and get_args(declared)[0] is str
    if isinstance(value, list) and of_texts and all(isinstance(text, str) for text in value):
        collection: Callable[[Any], Any] = get_origin(declared)
        return collection(value)
    text = _as_text(value)
    # in the words of the class
    require_choice(text, option_of(field), f"unknown {kind.__name__}.{field.name} {{!r}}")
    try:
        return values.read(text)
    except UsageError as error:
        raise UsageError(f"{name}: {error.problem}", advice=error.advice) from None
    except ValueError:
        raise UsageError(f"{name} takes {values.takes}, not {text!r}") from None


def _as_text(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(_as_text, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else value if isinstance(value, str) else repr(value)


# Values of options


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
    if declared is not None and declared.values:
        values: Values | None = _choice(declared.values)
    elif declared is not None and declared.parse is not None:
        values = Values(declared.takes or declared.metavar or "text", declared.parse)
    else:
        values = _values(kind)
    if values is None or not none:
        return values
    if get_origin(kind) in (tuple, frozenset):
        return _values_or(get_origin(kind)(), values)
    return _values_or(None, values) if type(None) in get_args(kind) else values


def shown_default(field: Field[Any]) -> str:
    """Return the default as help shows it: texts, numbers, several of them, or that there is none."""
    declared = option_of(field)
    if declared is not None and declared.default is not None:
        return declared.default
    value = field.default if field.default_factory is MISSING else field.default_factory()
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple | list | set | frozenset):
        return ",".join(map(str, value)) or _NONE
    return _NONE if value is None else str(value) or "''"


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
        collection: Callable[[Iterator[Any]], Any] = get_origin(kind)
        single = _values(get_args(kind)[0])
        if single is None:
            return None
        return Values(
            f"{single.several} separated by commas",
            lambda text: collection(single.read(part.strip()) for part in text.split(",") if text),
        )
    return _PLAIN.get(kind)


def _values_or(nothing: Any, values: Values) -> Values:
    return Values(f"{values.takes}, or {_NONE}", lambda text: nothing if text == _NONE else values.read(text))


def _choice(choices: Collection[str]) -> Values:
    def read(text: str) -> str:
        if text not in choices:
            from clueval.files.names import one_of  # only for names that do not exist

            raise ValueError(f"{text!r} is unknown; {one_of(text, choices)}")
        return text

    *before_last, last = choices
    takes = f"{', '.join(before_last)} or {last}" if before_last else last
    return Values(takes, read, takes)


def _boolean(text: str) -> bool:
    if text.lower() not in _BOOLEANS:
        raise ValueError(f"{text!r} is neither yes nor no")
    return _BOOLEANS[text.lower()]


_PLAIN = {
    int: Values("a whole number", lambda text: whole(text, -sys.maxsize), "whole numbers"),
    float: Values("a number", number, "numbers"),
    str: Values("text", str, "names"),
    Path: Values("a path", Path, "paths"),
}
