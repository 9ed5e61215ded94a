"""The values of a JSON file, and its rows: one a line, the elements of the only array, or several in sequence.

Tables that are written as JSON often have the list of a cell as a text: JSON, a literal of Python, or a list as NumPy
prints it. Such a text is brought into the form of JSON and parsed; nothing in it is run.
"""

from __future__ import annotations

import json
import re
from codecs import getincrementaldecoder
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

from clueval.files.errors import FormatError

LONGEST = 1 << 24
"""The most characters of a value."""

_EMPTY_ARRAY_FIRST = re.compile(rb"\s*\[\s*\]\s*\[")


def file_rows(
    blocks: Callable[[], Iterable[bytes]], file: str, longest: int = LONGEST, *, empty_is_row: bool = False
) -> Iterator[tuple[int, Any]]:
    """Yield the rows of a file, numbered from 1; `blocks` returns its content from the beginning.

    An array is a row, not a list of rows, if its first element is no row: a text (spaCy's pairs) or the result of a
    service that knows no text (Presidio's answers); also an empty array that other arrays follow. An empty array alone
    has no rows, unless `empty_is_row`.

    >>> list(file_rows(lambda: [b'[{"text": "a"}, {"text": "b"}]'], "a.json"))
    [(1, {'text': 'a'}), (2, {'text': 'b'})]
    >>> list(file_rows(lambda: [b'["a", {"entities": []}]'], "a.json"))
    [(1, ['a', {'entities': []}])]
    """
    content = iter(blocks())
    beginning = next(content, b"")
    if not _EMPTY_ARRAY_FIRST.match(beginning):
        values = JsonValues(file, longest).of(chain([beginning], content))
        first = next(values, None)
        if first is None and not empty_is_row:
            return
        value = None if first is None else first[1]
        is_part = isinstance(value, str)  # whether the first element of an array is part of a row
        if isinstance(value, dict):
            is_part = "entity_type" in value and "text" not in value and "full_text" not in value
        if first is not None and not (is_part and beginning.lstrip().startswith(b"[")):
            yield first
            yield from values
            return
    yield from JsonValues(file, longest, whole=True).of(blocks())


def problem_of(error: json.JSONDecodeError) -> str:
    """Return what Python says of text that is not JSON, without the words that introduce the position.

    >>> try:
    ...     json.loads('["')
    ... except json.JSONDecodeError as error:
    ...     problem_of(error)
    'Unterminated string'
    """
    return error.msg.removesuffix(" at").removesuffix(" starting")


def _object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        ((repeated, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise FormatError(f"the key {repeated[:40]!r} occurs twice in an object")
    return value


DECODER = json.JSONDecoder(object_pairs_hook=_object_of)
"""Reads JSON whose objects have each key once, and raises `FormatError` for others."""

_BLANK = re.compile(r"[ \t\r\n]*")


class JsonValues:
    """Parses the JSON of one file: one value per line, several values in sequence, or the elements of one array.

    `file` is the name of the file in errors; with `whole`, an array is one value. Memory holds one value of at most
    `longest` characters and a block.
    `_waiting` holds the text that is not parsed yet, from `_at` on.
    """

    def __init__(self, file: str, longest: int, *, whole: bool = False) -> None:
        self._file, self._longest = file, longest
        self._parse = DECODER.raw_decode
        self._waiting, self._at, self._number = "", 0, 0
        # None: before the first value; False: no array, or after its end
        self._array = False if whole else None
        self._due = False  # whether a comma must come before the next element of the array
        self._worth = 0  # an incomplete value is parsed again when `_waiting` has this length

    def of(self, blocks: Iterable[bytes]) -> Iterator[tuple[int, Any]]:
        """Yield the values in `blocks`, numbered from 1; if there is only an array, its elements.

        Raises `FormatError` with the number of the value for bytes that are not UTF-8 and for text that is not JSON.

        >>> list(JsonValues("a.json", 100).of([b'[{"a": 1}, ', b'2', b'3]']))
        [(1, {'a': 1}), (2, 23)]
        """
        decode = getincrementaldecoder("utf-8")().decode
        for data in chain(blocks, [None]):
            try:
                text = decode(data or b"", final=data is None)
            except UnicodeDecodeError as error:
                raise self._error(f"not UTF-8: byte 0x{error.object[error.start]:02x}") from None
            yield from self._feed(text, data is None)
        if self._array:
            raise self._error("the array is not closed")

    def _feed(self, text: str, last: bool) -> Iterator[tuple[int, Any]]:
        self._waiting, self._at = self._waiting[self._at :] + text, 0
        if len(self._waiting) < self._worth and not last:
            return
        while self._begins():
            try:
                value, end = self._parse(self._waiting, self._at)
            except json.JSONDecodeError as error:
                if last:
                    problem = problem_of(error)
                    if self._waiting[self._at] in ",]}":
                        problem = f"{self._waiting[self._at]!r} where a value is expected"
                    raise self._error(f"not JSON: {problem}") from None
                self._wait()
                return
            except RecursionError:
                raise self._error("JSON that is nested too deep") from None
            except FormatError as error:
                error.file, error.line = self._file, self._number + 1
                raise
            except ValueError:
                raise self._error("a number has thousands of digits") from None
            if end == len(self._waiting) and not last:  # a number may continue
                self._wait()
                return
            self._at, self._number, self._worth = end, self._number + 1, 0
            self._due = True
            yield self._number, value

    def _wait(self) -> None:
        """Wait until there is twice as much text, so that a long value is not parsed too often."""
        size = len(self._waiting) - self._at
        if size > self._longest:
            raise self._error(f"a value of more than {self._longest:,} characters")
        self._worth = 2 * size

    def _begins(self) -> bool:
        """Return whether a value begins, after skipping blanks, the array's brackets and commas."""
        if self._array is False and self._waiting.startswith("\n{", self._at):
            self._at += 1  # as it nearly always is
            return True
        self._skip_blanks()
        if self._array is None and self._at < len(self._waiting):
            self._array = self._took("[")
            if self._array and self._took("]"):
                self._array = False
        elif self._array and (self._due or not self._number) and self._took("]"):
            self._array = False
        elif self._array and self._due and self._at < len(self._waiting):
            if not self._took(","):
                raise self._error("not JSON: a comma or the end of the array is missing")
            self._due = False
        return self._at < len(self._waiting)

    def _took(self, mark: str) -> bool:
        """Return whether the character `mark` is next; if so, skip it and the blanks after it."""
        is_next = self._waiting.startswith(mark, self._at)
        self._at += is_next
        self._skip_blanks()
        return is_next

    def _skip_blanks(self) -> None:
        match = _BLANK.match(self._waiting, self._at)
        assert match is not None
        self._at = match.end()

    def _error(self, problem: str) -> FormatError:
        return FormatError(problem, file=self._file, line=self._number + 1)


_PIECE = re.compile(
    r"""
    (?P<string> '(?>(?:[^'\\]|\\.)*)(?:'|\Z) | "(?>(?:[^"\\]|\\.)*)(?:"|\Z) )
  | (?P<name> \b(?:None|True|False)\b )
  | (?P<between> \}\s*+(?=\{) )
  | (?P<open> \( )
  | (?P<close> (?:,\s*+)?[\])}] )
    """,
    re.DOTALL | re.VERBOSE,
)
"""What a literal of Python and JSON write differently; `between` has no comma where NumPy prints a list of objects."""

_NAMES = {"None": "null", "True": "true", "False": "false"}
_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|(.))", re.DOTALL
)
_ESCAPED = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\n": ""} | {
    itself: itself for itself in "\\'\"/"
}

_SHORTENED = re.compile(r"[\s\[,]\.\.\.[\s\],]")
_decoder = json.JSONDecoder(strict=False)


def literal_in(text: str) -> Any:
    """Return the value of a text. Raises ValueError, whose message says what is wrong, for anything but a literal.

    >>> literal_in("[{'start': 0, 'label': 'O\\\\'Neil'}\\n {'start': 4, 'label': None}]")
    [{'start': 0, 'label': "O'Neil"}, {'start': 4, 'label': None}]
    >>> literal_in("[(0, 4, 'PER'),]")
    [[0, 4, 'PER']]
    """
    plain = (
        text.replace("'", '"') if '"' not in text and "\\" not in text else text
    )  # most texts are, and it is fast
    try:
        return json.loads(plain)
    except (ValueError, RecursionError):
        pass
    try:
        return _decoder.decode(_PIECE.sub(_in_json, text.strip()))
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    except (ValueError, OverflowError):
        shortened = _SHORTENED.search(text) is not None
        raise ValueError("NumPy has shortened it with ..." if shortened else "it is not a literal") from None


def _in_json(piece: re.Match[str]) -> str:
    text = piece[0]
    if piece["string"]:
        return json.dumps(_ESCAPE.sub(_character, text[1:-1]))
    if piece["name"]:
        return _NAMES[text]
    if piece["between"]:
        return "},"
    return "[" if piece["open"] else text[-1].replace(")", "]")


def _character(escape: re.Match[str]) -> str:
    """Return what an escape stands for. Raises ValueError or OverflowError for what is none, or above the last one."""
    *numbers, octal, letter = escape.groups()
    if letter is None:
        return chr(int(octal, 8) if octal else int(next(filter(None, numbers)), 16))
    if letter in "xuUN":  # after these, a literal of Python needs more
        raise ValueError("an escape is not finished")
    return _ESCAPED.get(letter, escape[0])
