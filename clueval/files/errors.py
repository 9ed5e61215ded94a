"""The errors that clueval raises for wrong input or wrong options, and text in a form that is safe to print.

Every error is a `CluevalError`, whose fields hold the parts of the message: the problem, the file, the line,
the document, and advice on what to do next. No error quotes the text of a corpus, except `TextMismatch`,
because there the differing tokens are the problem. Long quoted values are shortened in the message
(`shortened`), but not in the fields.

Text from a corpus and names of files are made `visible`: a character that could control a terminal, reverse the
direction of the text, break a line or be invisible is written as an escape: ``\\u001b`` for ESC. So are lone
surrogates, which no file can contain.
"""

from __future__ import annotations

import builtins
import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

Value = TypeVar("Value")

STEERING = (
    "[\x00-\x1f\x7f-\x9f"  # controls: C0, DEL, C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # direction
    "\u2028\u2029"  # ends of lines and paragraphs
    "\u200b\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff"  # invisible, or no characters
    "\U000e0000-\U000e00ff"  # invisible tags
    "\ud800-\udfff]"  # lone surrogates
)
"""The pattern of a character that is always written as an escape; it is compiled when text is first searched."""

_BLANKS = frozenset("\xa0\xad\u1680\u202f\u205f\u3000").union(map(chr, range(0x2000, 0x200B)))
"""Blanks of other widths, and the soft hyphen: they are harmless and frequent in German texts."""


def visible(text: str) -> str:
    """Return the text in one line, with escapes for all non-printing characters except blanks.

    >>> visible("Anna\\x1b[31m"), visible("a\\tb\\n")
    ('Anna\\\\u001b[31m', 'a\\\\u0009b\\\\u000a')
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in _BLANKS else escape(c) for c in text)


LONGEST_LABEL = 60
"""The number of characters of a label that are shown."""


def cut_label(label: str) -> str:
    """Return a label as it is shown: a label longer than `LONGEST_LABEL` is cut there and ends with ``…``.

    >>> cut_label("PER"), len(cut_label("x" * 1000))
    ('PER', 61)
    """
    return label if len(label) <= LONGEST_LABEL else f"{label[:LONGEST_LABEL]}…"


def differ_in_form(one: str, two: str) -> bool:
    """Return whether two texts look the same because they differ in their Unicode form alone.

    >>> differ_in_form("\\u00fc", "u\\u0308"), differ_in_form("u", "\\u00fc")
    (True, False)
    """
    from unicodedata import normalize  # few texts differ

    return one != two and normalize("NFC", one) == normalize("NFC", two)


def visible_lines(text: str) -> str:
    """Return the text with escapes for all characters of `STEERING` except line feeds and tabs.

    Zero-width joiners stay, because some scripts need them.

    >>> visible_lines("a\\tb\\n\\x1b")
    'a\\tb\\n\\\\u001b'
    """
    return text if text.isprintable() else re.sub(_STEERING_INSIDE, lambda match: escape(match[0]), text)


def escaped_in_json(text: str) -> str:
    """Return JSON with equivalent escapes for the characters of `STEERING`, except line feeds and tabs.

    >>> escaped_in_json('["\\u202e"]')
    '["\\\\u202e"]'
    """
    return text if text.isprintable() else re.sub(_STEERING_INSIDE, lambda match: _in_json(match[0]), text)


_STEERING_INSIDE = f"(?![\t\n]){STEERING}"


def escape(character: str) -> str:
    """Return the escape for a character, with its code point in hexadecimal digits."""
    number = ord(character)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def _in_json(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4))


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

    >>> from clueval import score
    >>> try:
    ...     score([["B-PER"]], [["PERSON"]])
    ... except CluevalError as error:
    ...     print(type(error).__name__, error.problem)
    TagError predicted[0][0]: 'PERSON' is not a tag
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
    """Something in the input is probably a mistake, for example labels that no span of the other side has.

    >>> import warnings
    >>> from clueval import score
    >>> with warnings.catch_warnings(record=True) as record:
    ...     warnings.simplefilter("always")
    ...     _ = score([["B-PER"]], [["B-PERSON"]])
    >>> str(record[0].message).partition(";")[0]
    "layer 'label': no label is on both sides: gold has 'PER', predicted 'PERSON'"
    """


def warn(message: str) -> None:
    """Issue a `CluevalWarning`, for the line outside clueval that called it."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "clueval":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, CluevalWarning, stacklevel=level)


class UsageError(CluevalError):
    """An argument or option is wrong, for example an unknown metric, layer, format or filter.

    >>> from clueval import score
    >>> score([["B-PER"]], [["B-PER"]], metrics="f1")
    Traceback (most recent call last):
    clueval.files.errors.UsageError: unknown metric 'f1' (its numbers are those of 'exact'; one of levels, exact, ...
    """


class FileError(CluevalError):
    """A file cannot be opened, read or written.

    >>> from clueval import read
    >>> next(read("missing.conll"))
    Traceback (most recent call last):
    clueval.files.errors.FileError: missing.conll: there is no such file or folder
    """


class FormatError(CluevalError):
    """The content of a file breaks the rules of its format.

    >>> from io import StringIO
    >>> from clueval import read
    >>> list(read(StringIO('{"text": "Ada"}'), input="doccano"))
    Traceback (most recent call last):
    clueval.files.errors.FormatError: ...
    """


class TagError(FormatError):
    """A tag is outside its scheme, or a tag is ill-formed and `invalid` is ``error``.

    >>> from clueval import score
    >>> score([["B-PER"]], [["PERSON"]])
    Traceback (most recent call last):
    clueval.files.errors.TagError: predicted[0][0]: 'PERSON' is not a tag (a tag is O, or one of B I E S L U M W, ...
    """


class SpanError(CluevalError):
    """A span has negative or reversed positions, or lies outside its text.

    >>> from clueval import Span
    >>> Span(3, 1, "PER")
    Traceback (most recent call last):
    clueval.files.errors.SpanError: span [3,1) 'PER' ends before it starts
    """


class OverlapError(SpanError):
    """Two spans of one sequence overlap, which is not allowed.

    >>> from clueval import score
    >>> score([[(0, 3, "A"), (1, 4, "A")]], [[]], metrics="levels")
    Traceback (most recent call last):
    clueval.files.errors.OverlapError: document '0': spans [0,3) 'A' and [1,4) 'A' of one sequence overlap (metric ...
    """


class LimitError(CluevalError):
    """An input would take too long or too much memory: it is beyond a limit."""


class TextMismatch(CluevalError):
    """Gold and predicted have different texts; the message names the first difference with both values.

    >>> from clueval import Document, score
    >>> score([Document("d", {"name": []}, tokens=["Ada"])], [Document("d", {"name": []}, tokens=["Adam"])])
    Traceback (most recent call last):
    clueval.files.errors.TextMismatch: document 'd': gold has the token 'Ada' at position 0 where ...
    """


class MissingExtra(CluevalError):
    """A feature needs an optional dependency that is not installed."""


@contextmanager
def extra(problem: str, advice: str) -> Iterator[None]:
    """Raise `MissingExtra` for an import that fails."""
    try:
        yield
    except ImportError:
        raise MissingExtra(problem, advice=advice) from None


@contextmanager
def assigned(variable: ContextVar[Value], value: Value) -> Iterator[None]:
    """Let a context variable have this value until the end of the block."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


def described(value: object) -> str:
    """Return the type of a value in words, because the value itself may be private or long.

    >>> described([1]), described(None)
    ('a list', 'None')
    """
    if value is None:
        return "None"
    kind = type(value)
    is_ambiguous = kind.__module__ != "builtins" and hasattr(builtins, kind.__name__)
    name = f"{kind.__module__}.{kind.__name__}" if is_ambiguous else kind.__name__
    return f"an {name}" if name[:1].lower() in "aeio" else f"a {name}"


def with_noun(number: int, plural: str) -> str:
    """Return a number with its noun, which is given in the plural; that of 1 is singular.

    >>> with_noun(1, "spans across sentences"), with_noun(1200, "spans")
    ('1 span across sentences', '1,200 spans')
    """
    noun = re.sub(r"s\b", "", plural, count=1) if number == 1 else plural
    return f"{number:,} {noun}"


def in_words(numbers: Mapping[str, int]) -> str:
    """Return numbers by kind as text.

    >>> in_words({"relations": 2, "notes": 1})
    '2 relations, 1 notes'
    """
    return ", ".join(f"{number} {kind}" for kind, number in numbers.items())


def not_read(numbers: Mapping[str, int]) -> str:
    """Return what formats passed over, by kind, in brackets after a blank; nothing without any.

    >>> not_read({"cancelled": 2, "drafts": 0})
    ' (not read: 2 cancelled)'
    """
    kinds = {kind: number for kind, number in sorted(numbers.items()) if number}
    return f" (not read: {in_words(kinds)})" if kinds else ""
