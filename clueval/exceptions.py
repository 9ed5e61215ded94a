"""The errors that clueval raises for wrong input or wrong options.

Every error is a `CluevalError`, whose fields hold the parts of the message: the problem, the file, the line,
the document, and advice on what to do next. No error quotes the text of a corpus, except `TextMismatch`,
because there the differing tokens are the problem. Long quoted values are shortened in the message
(`shortened`), but not in the fields.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from os import PathLike
from typing import Any, NamedTuple

from clueval.visible import visible

QUOTED = 160
"""A quoted value of more characters is cut after `SHOWN` characters in a message."""

SHOWN = 100

LONGEST = 800
"""If the file, problem, document or advice of a message still has more characters, its middle is left out."""

_QUOTED = r"""(?s)(?<!\w)(?:'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+")"""


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


class TextMismatch(CluevalError):
    """Gold and predicted have different texts; the message names the first difference with both values."""


class MissingExtra(CluevalError):
    """A feature needs an optional dependency that is not installed."""


class WorkerLost(CluevalError):
    """Worker processes have failed.

    They have ended without a result, cannot be reached, read different files, or have sent something that is
    not the counts of their part.
    """


class _Kind(NamedTuple):
    """A type in an annotation: its test, and its name in errors."""

    holds: Callable[[Any], bool]
    says: str


_KINDS = {
    "int": _Kind(lambda value: isinstance(value, int) and not isinstance(value, bool), "a whole number"),
    "float": _Kind(lambda value: isinstance(value, int | float) and not isinstance(value, bool), "a number"),
    "bool": _Kind(lambda value: isinstance(value, bool), "True or False"),
    "str": _Kind(lambda value: isinstance(value, str), "text"),
    "None": _Kind(lambda value: value is None, "None"),
    "Path": _Kind(lambda value: isinstance(value, PathLike), "a path"),
    "Progress": _Kind(callable, "a function"),
    "Callable": _Kind(callable, "a function"),
    "Executor": _Kind(lambda value: hasattr(value, "submit"), "an executor"),
    "Iterable": _Kind(lambda value: isinstance(value, Iterable) and not isinstance(value, bytes), "a list"),
    "Sequence": _Kind(lambda value: isinstance(value, Sequence) and not isinstance(value, bytes), "a list"),
    "Mapping": _Kind(lambda value: isinstance(value, Mapping), "a dictionary"),
    "tuple": _Kind(lambda value: isinstance(value, tuple), "a tuple"),
    "frozenset": _Kind(lambda value: isinstance(value, frozenset), "a frozenset"),
}
"""The types in annotations of fields that `require_kind` checks, without their parameters."""


def require_kind(value: object, annotation: str, name: str) -> None:
    """Raise `UsageError` if a value is not of a type, which is written as in an annotation.

    >>> require_kind("x", "int | None", "token")
    Traceback (most recent call last):
    clueval.exceptions.UsageError: token must be a whole number or None, not a str
    """
    kinds = _kinds_of(annotation)
    if kinds and not any(kind.holds(value) for kind in kinds):
        says = " or ".join(kind.says for kind in kinds)
        raise UsageError(f"{name} must be {says}, not {described(value)}")


@lru_cache(maxsize=256)
def _kinds_of(annotation: str) -> list[_Kind]:
    names = [part.partition("[")[0].strip() for part in annotation.split(" | ")]
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
