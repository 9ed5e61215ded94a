"""Checks of the arguments of public functions.

Public functions are decorated with `checked_call`: for a call with other arguments than theirs, Python's own TypeError
names the implementation and gives no advice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache, partial, wraps
from itertools import chain
from os import PathLike
from typing import Any, NamedTuple, TypeVar

from clueval.files.errors import UsageError, described
from clueval.files.overwriting import inputs_kept


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
    "Progress": _Kind(callable, "a function"),
    "Callable": _Kind(callable, "a function"),
    "Executor": _Kind(lambda value: hasattr(value, "submit"), "an executor"),
    "Iterable": _Kind(lambda value: isinstance(value, Iterable) and not isinstance(value, bytes), "a list"),
    "Sequence": _Kind(
        lambda value: isinstance(value, Sequence) and not isinstance(value, str | bytes), "a list"
    ),
    "Mapping": _Kind(lambda value: isinstance(value, Mapping), "a dictionary"),
    "tuple": _Kind(lambda value: isinstance(value, tuple), "a tuple"),
    "frozenset": _Kind(lambda value: isinstance(value, frozenset), "a frozenset"),
    **{
        name: _Kind(partial(_is_a, name), f"a {name}")
        for name in (
            *("Choice", "PlaceDecisions", "Document", "Gate", "IgnoredWords", "Lists"),
            *("Naming", "WordWeights"),
        )
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
    for kind in kinds:
        if kind.holds(value):
            return
    if kinds:
        from clueval.files.names import TEXTS  # only for a wrong type

        expected = " or ".join(kind.says for kind in kinds)
        about_texts = TEXTS if name == "choice" else None  # the third argument of `errors`
        raise UsageError(f"{name} must be {expected}, not {described(value)}", advice=about_texts)


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
    clueval.files.errors.UsageError: score needs predicted (give gold, predicted in this order, or by their names)
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
        raise _misfit(function, positional, named)

    return call  # type: ignore[return-value]  # it takes what the function takes


def _misfit(function: Callable[..., Any], positional: Sequence[Any], named: Mapping[str, Any]) -> UsageError:
    """Return the error for an argument that the function does not take, or that is missing."""
    from inspect import Parameter, signature  # not needed for a call that is right

    from clueval.files.names import REDACTED, SIDES, TEXTS

    parameters = signature(function).parameters
    name = function.__name__
    in_order = [
        parameter.name
        for parameter in parameters.values()
        if parameter.kind is Parameter.POSITIONAL_OR_KEYWORD
    ]
    by_name = [
        parameter.name
        for parameter in parameters.values()
        if parameter.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
    ]
    takes_more = any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters.values())
    refuse_unknown([key for key in named if not takes_more or key in SIDES], by_name, name)
    twice = [key for key in in_order[: len(positional)] if key in named]
    if twice:
        return UsageError(f"{name} was given {twice[0]} twice", advice="give it once")
    needed = [key for key in by_name if parameters[key].default is Parameter.empty]
    missing = [key for key in needed if key not in named and key not in in_order[: len(positional)]]
    if missing and len(positional) <= len(in_order):
        order = f"give {', '.join(in_order)} in this order, or by their names"
        advice = order if missing[0] in in_order else f"by its name, as in {name}(..., {missing[0]}=...)"
        return UsageError(f"{name} needs {' and '.join(missing)}", advice=advice)
    about_texts = f"; {TEXTS}{REDACTED * (name == 'masking')}" if in_order == ["gold", "predicted"] else ""
    return UsageError(
        f"{name} takes {', '.join(in_order)} without names, but {len(positional)} arguments were given so",
        advice=f"name the others{about_texts}",
    )


def refuse_unknown(options: Iterable[str], allowed: Collection[str], caller: str) -> None:
    """Raise `UsageError` for an option that is not in `allowed`."""
    for name in options:
        if name not in allowed:
            from clueval.files.names import for_argument  # only for names that do not exist

            raise UsageError(f"{caller} has no option {name!r}", advice=for_argument(name, allowed, caller))
