"""The errors that clueval raises for wrong input or wrong options.

Every error is a `CluevalError`, whose fields hold the parts of the message: the problem, the file, the line,
the document, and advice on what to do next. No error quotes the text of a corpus, except `TextMismatch`,
because there the differing tokens are the problem. Long quoted values are shortened in the message
(`shortened`), but not in the fields.

Public functions are decorated with `checked_call`: for a call with other arguments than theirs, Python's own TypeError
names the implementation and gives no advice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial, wraps
from itertools import chain
from os import PathLike
from typing import Any, NamedTuple, TypeVar

from clueval.visible import visible

QUOTED = 160
"""A quoted value of more characters is cut after `SHOWN` characters in a message."""

SHOWN = 100

LONGEST = 800
"""If the file, problem, document or advice of a message still has more characters, its middle is left out."""

_QUOTED = r"""(?s)(?<!\w)(?:'(?>(?:[^'\\]|\\.)*)'|"(?>(?:[^"\\]|\\.)*)")"""


def shortened(text: str) -> str:
    """Shorten a part of a message: cut long quoted values, then leave out the middle if it is still too long.

    >>> shortened("tag " + repr("x" * 500) + " is none")[-34:]
    "xxxxx...' (500 characters) is none"
    """
    if len(text) <= QUOTED:
        return text
    return _without_middle(re.sub(_QUOTED, _cut, text))


def _without_middle(text: str) -> str:
    half = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[:half]} ... {text[-half:]}"


def _cut(match: re.Match[str]) -> str:
    quote, length = match[0][0], len(match[0]) - 2
    if length <= QUOTED:
        return match[0]
    return f"{match[0][: SHOWN + 1]}...{quote} ({length:,} characters)"


class CluevalError(ValueError):
    """Base class of all errors caused by wrong input or wrong options.

    The message is one line: where the error is, what is wrong, and what to do.
    """

    def __init__(
        self,
        problem: str,
        *,
        file: str | None = None,
        line: int | None = None,
        document: str | None = None,
        advice: str | None = None,
    ) -> None:
        self.problem = problem
        self.file = file
        self.line = line
        self.document = document
        self.advice = advice
        super().__init__(problem)

    def __str__(self) -> str:
        place = _without_middle(self.file or "")
        if self.line is not None:
            place += f":{self.line}" if place else f"line {self.line}"
        if self.document is not None:
            place += f"{', ' if place else ''}document {shortened(repr(self.document))}"
        problem = shortened(self.problem)
        text = f"{place}: {problem}" if place else problem
        if self.advice is not None:
            text += f" ({shortened(self.advice)})"
        return visible(text)

    def __reduce__(self) -> tuple[Any, ...]:  # keyword arguments would be lost between processes
        return _rebuild, (type(self), self.__dict__.copy())


def _rebuild(kind: type[CluevalError], fields: dict[str, Any]) -> CluevalError:
    error = kind(fields["problem"])
    error.__dict__.update(fields)
    return error


class CluevalWarning(UserWarning):
    """Something in the input is probably a mistake, for example a label that only one side has."""


def warn(message: str) -> None:
    """Issue a `CluevalWarning`, for the line outside clueval that called it."""
    import sys  # only where something is wrong
    import warnings

    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "clueval":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, CluevalWarning, stacklevel=level)


class UsageError(CluevalError):
    """An argument or option is wrong, for example an unknown metric, layer, format or filter."""


class FileError(CluevalError):
    """A file cannot be opened, read or written."""


class FormatError(CluevalError):
    """The content of a file breaks the rules of its format."""


class TagError(FormatError):
    """A tag is outside its scheme, or a tag is ill-formed and `invalid` is ``error``."""


class SpanError(CluevalError):
    """A span has negative or reversed positions, or lies outside its text."""


class OverlapError(SpanError):
    """Two spans of one sequence overlap, which is not allowed."""


class LimitError(CluevalError):
    """An input would take too long or too much memory: it is beyond a limit of `clueval.spans.limits`."""


class TextMismatch(CluevalError):
    """Gold and predicted have different texts; the message names the first difference with both values."""


class MissingExtra(CluevalError):
    """A feature needs an optional dependency that is not installed."""


@contextmanager
def extra(problem: str, advice: str) -> Iterator[None]:
    """Raise `MissingExtra` for an import that fails."""
    try:
        yield
    except ImportError:
        raise MissingExtra(problem, advice=advice) from None


class WorkerLost(CluevalError):
    """Worker processes have failed.

    They have ended without a result, cannot be reached, read different files, or have sent something that is
    not the counts of their part.
    """


class _Kind(NamedTuple):
    """A type in an annotation: its test, and its name in errors."""

    holds: Callable[[Any], bool]
    says: str


def _is_a(name: str, value: object) -> bool:
    """Return whether a value is of the class of clueval with this name, which this module need not import."""
    return any(
        each.__name__ == name for each in type(value).__mro__ if each.__module__.startswith("clueval.")
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
            *("Choice", "Counting", "PlaceDecisions", "Document", "Gate", "IgnoredWords", "Lists"),
            *("Naming", "Preparing", "Trust", "WordWeights", "Workers"),
        )
    },
}
"""The types in annotations of fields that `require_kind` checks, without their parameters."""


def require_kind(value: object, annotation: str, name: str) -> None:
    """Raise `UsageError` if a value is not of a type, which is written as in an annotation.

    >>> require_kind("x", "int | None", "token")
    Traceback (most recent call last):
    clueval.exceptions.UsageError: token must be a whole number or None, not a str
    """
    kinds = _kinds_of(annotation)
    for kind in kinds:
        if kind.holds(value):
            return
    if kinds:
        from clueval.hints import TEXTS  # only for a wrong type

        says = " or ".join(kind.says for kind in kinds)
        about_texts = TEXTS if name == "choice" else None  # the third argument of `errors`
        raise UsageError(f"{name} must be {says}, not {described(value)}", advice=about_texts)


@lru_cache(maxsize=256)
def _kinds_of(annotation: str) -> list[_Kind]:
    while "[" in annotation:  # leave out the parameters of types, the innermost first
        annotation = re.sub(r"\[[^\[\]]*\]", "", annotation)
    names = annotation.split(" | ")
    return [_KINDS[name] for name in names] if all(name in _KINDS for name in names) else []


def described(value: object) -> str:
    """Return the type of a value in words, because the value itself may be private or long.

    >>> described([1]), described(None)
    ('a list', 'None')
    """
    if value is None:
        return "None"
    name = type(value).__name__
    return f"an {name}" if name[:1].lower() in "aeio" else f"a {name}"


def require_instance(value: object, kind: type, name: str) -> None:
    """Raise `UsageError` if a value is not of a class of clueval."""
    if not isinstance(value, kind):
        raise UsageError(f"{name} must be a {kind.__name__}, not {described(value)}")


Function = TypeVar("Function", bound=Callable[..., Any])


def checked_call(function: Function) -> Function:
    """Decorate a public function: a call with arguments, or types, that it does not take raises `UsageError`.

    >>> @checked_call
    ... def score(gold, predicted): ...
    >>> score(["B-PER"])
    Traceback (most recent call last):
    clueval.exceptions.UsageError: score needs predicted (give gold, predicted in this order, or by their names)
    """

    kinds: Mapping[str, str] = function.__annotations__
    in_order = function.__code__.co_varnames[: function.__code__.co_argcount]

    @wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        for name, value in chain(zip(in_order, given, strict=False), named.items()):
            if name in kinds:
                require_kind(value, kinds[name], name)
        try:
            return function(*given, **named)
        except TypeError as error:
            within = error.__traceback__ and error.__traceback__.tb_next
            if within is not None:  # the call was right, and the error comes from the function
                raise
        raise _misfit(function, given, named)

    return call  # type: ignore[return-value]  # it takes what the function takes


def _misfit(function: Callable[..., Any], given: Sequence[Any], named: Mapping[str, Any]) -> UsageError:
    """Return the error for an argument that the function does not take, or that is missing."""
    from inspect import Parameter, signature  # not needed for a call that is right

    from clueval.hints import ARGUMENTS, REDACTED, TEXTS

    parameters = signature(function).parameters
    name = function.__name__
    in_order = [each.name for each in parameters.values() if each.kind is Parameter.POSITIONAL_OR_KEYWORD]
    by_name = [
        each.name
        for each in parameters.values()
        if each.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
    ]
    takes_more = any(each.kind is Parameter.VAR_KEYWORD for each in parameters.values())
    refuse_unknown([key for key in named if not takes_more or key in ARGUMENTS], by_name, name)
    twice = [key for key in in_order[: len(given)] if key in named]
    if twice:
        return UsageError(f"{name} was given {twice[0]} twice", advice="give it once")
    needed = [key for key in by_name if parameters[key].default is Parameter.empty]
    missing = [key for key in needed if key not in named and key not in in_order[: len(given)]]
    if missing and len(given) <= len(in_order):
        order = f"give {', '.join(in_order)} in this order, or by their names"
        advice = order if missing[0] in in_order else f"by its name, as in {name}(..., {missing[0]}=...)"
        return UsageError(f"{name} needs {' and '.join(missing)}", advice=advice)
    about_texts = f"; {TEXTS}{REDACTED * (name == 'masking')}" if in_order == ["gold", "predicted"] else ""
    return UsageError(
        f"{name} takes {', '.join(in_order)} without names, but {len(given)} arguments were given so",
        advice=f"name the others{about_texts}",
    )


def refuse_unknown(options: Iterable[str], known: Collection[str], caller: str) -> None:
    """Raise `UsageError` for an option that is not in `known`."""
    for name in options:
        if name not in known:
            from clueval.hints import for_argument  # only for names that do not exist

            raise UsageError(f"{caller} has no option {name!r}", advice=for_argument(name, known))


def in_words(numbers: Mapping[str, int]) -> str:
    """Return numbers by kind as text.

    >>> in_words({"relations": 2, "notes": 1})
    '2 relations, 1 notes'
    """
    return ", ".join(f"{number} {kind}" for kind, number in numbers.items())
