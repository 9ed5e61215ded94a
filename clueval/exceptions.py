"""What can be wrong with input or use.

Every error is a `CluevalError` and carries, as fields, what the message says: the problem, the file, the
line, the document, and what to do next. None of them quotes the text of a corpus, save `TextMismatch`, where
the differing tokens are the problem. What a message quotes is cut to a readable length (`shortened`); the fields
hold all of it.
"""

from __future__ import annotations

import re
from typing import Any

from clueval.visible import visible

QUOTED = 160
"""A quoted value of more characters is cut after `SHOWN` in a message."""

SHOWN = 100

LONGEST = 800
"""A message is cut in the middle if its file, problem, document or advice is still longer than that."""

_QUOTED = re.compile(r"""(?<!\w)(?:'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+")""", re.DOTALL)


def shortened(text: str) -> str:
    """A part of a message without the bulk of long values: quoted ones are cut, then the whole in its middle.

    >>> shortened("tag " + repr("x" * 500) + " is none")[-34:]
    "xxxxx...' (500 characters) is none"
    """
    if len(text) <= QUOTED:
        return text
    return _without_middle(_QUOTED.sub(_cut, text))


def _without_middle(text: str) -> str:
    half = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[:half]} ... {text[-half:]}"


def _cut(match: re.Match[str]) -> str:
    quote, length = match[0][0], len(match[0]) - 2
    if length <= QUOTED:
        return match[0]
    return f"{match[0][: SHOWN + 1]}...{quote} ({length:,} characters)"


class CluevalError(ValueError):
    """Input or use is wrong; the message is one line and says what, where and what to do."""

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


class UsageError(CluevalError):
    """An argument or option is wrong: an unknown metric, layer, format, filter."""


class FileError(CluevalError):
    """A file cannot be opened, read or written."""


class FormatError(CluevalError):
    """A file is not what its format says."""


class TagError(FormatError):
    """A tag is outside its scheme, or ill-formed where that was said to be an error."""


class SpanError(CluevalError):
    """A span is impossible: negative, reversed, outside its text."""


class OverlapError(SpanError):
    """Two spans overlap in a sequence in which spans must not."""


class TextMismatch(CluevalError):
    """Gold and predicted are not the same text: the first place where they differ, with both values."""


class MissingExtra(CluevalError):
    """A feature needs an optional dependency that is not installed."""


class WorkerLost(CluevalError):
    """Processes that were counting have ended without their counts, cannot be reached, see other files, or have
    sent something that is not the counts of their part."""
