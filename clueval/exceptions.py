"""What can be wrong with input or use.

Every error is a `CluevalError` and carries, as fields, what the message says: the problem, the file, the
line, the document, and what to do next. None of them quotes the text of a corpus, save `TextMismatch`, where
the differing tokens are the problem.
"""

from __future__ import annotations

from typing import Any

from clueval.visible import visible


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
        place = self.file or ""
        if self.line is not None:
            place += f":{self.line}" if place else f"line {self.line}"
        if self.document is not None:
            place += f"{', ' if place else ''}document {self.document!r}"
        text = f"{place}: {self.problem}" if place else self.problem
        if self.advice is not None:
            text += f" ({self.advice})"
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
