"""A file that is open for a format: its lines, text, bytes or JSON values, and the text of a table."""

from __future__ import annotations

import json
import re
from codecs import getincrementaldecoder
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from clueval.files.errors import FormatError
from clueval.limits import MAX_LINE, MAX_SENTENCE, held_lines, in_sentences, require_few_values, sentences_of
from clueval.spans.document import Document
from clueval.textfiles import (
    BLOCK,
    Part,
    Progress,
    blocks,
    decoded_as_written,
    lines,
    raw_blocks,
    raw_content,
)


def _no_texts() -> Iterator[Document]:
    yield from ()


@dataclass(frozen=True, slots=True)
class Opened:
    """A file with its limits.

    `texts` returns the documents of the text file that belongs to a table of spans; `block` is the number of
    bytes that are read at a time; `part` limits `values` to these bytes. `passed_over` counts what the format does
    not read, by kind, in the plural.
    Every method reads the file from its beginning; it raises `FileError` if the file cannot be read,
    `FormatError` for bytes that are not UTF-8 and for content above the limits.
    """

    path: Path
    max_line: int = MAX_LINE
    max_sentence: int = MAX_SENTENCE
    progress: Progress | None = None
    texts: Callable[[], Iterator[Document]] = _no_texts
    block: int = BLOCK
    passed_over: Counter[str] = field(default_factory=Counter)
    part: Part | None = None

    @property
    def file(self) -> str:
        """The name of the file in errors."""
        return str(self.path)

    @property
    def stem(self) -> str:
        """The name of the file without its endings: the id of a document to which its format gives none."""
        stem = self.path.name.removesuffix(".gz").rpartition("!")[2].rpartition("/")[2]
        return stem.rpartition(".")[0] or stem

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield the numbered lines without their ends, one at a time; blank lines separate sentences."""
        return in_sentences(self._lines(), self.file, self.max_sentence)

    def blocks(self) -> Iterator[tuple[int, str]]:
        """Yield whole lines in blocks, each with the number of its first line."""
        return blocks(self.path, self.progress, max_line=self.max_line, size=self.block)

    def sentences(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the lines between blank lines, with the number of the first one. Holds one sentence."""
        return sentences_of(self.blocks(), self.file, self.max_sentence)

    def held_lines(self) -> Iterator[tuple[int, str]]:
        """Yield the numbered lines for a format that holds all of them; the limit is lower."""
        return held_lines(self._lines(), self.file, self.max_sentence)

    def text(self) -> str:
        """Return the whole text, with the line ends of the file."""
        return decoded_as_written(self.data(), self.path)

    def data(self) -> bytes:
        """Return the whole content, unpacked but not decoded, without a byte-order mark."""
        data = raw_content(self.path, self.max_line)
        require_few_values(data, self.file, self.max_sentence)
        return data

    def values(self, *, whole: bool = False) -> Iterator[tuple[int, Any]]:
        """Yield the JSON values of the file, or unless `whole` the elements of its only array, numbered from 1.

        Memory holds one value, of at most `max_line` characters, and a block.
        """
        data = raw_blocks(self.path, self.progress, self.part, self.block)
        return JsonValues(self.file, self.max_line, whole=whole).of(data)

    def text_as_on_disk(self) -> str:
        """Return the whole text with its line ends and its byte-order mark, if it has one."""
        return decoded_as_written(raw_content(self.path, self.max_line, mark=True), self.path)

    def at(self, path: Path) -> Opened:
        """Return another file that belongs to this one, with the same limits."""
        return replace(self, path=path)

    def beside(self, ending: str) -> Path:
        """Return the path of the file with the same name and another ending; the file need not exist."""
        return self.path.with_name(self.path.name.removesuffix(".gz")).with_suffix(ending)

    def _lines(self) -> Iterator[tuple[int, str]]:
        return lines(self.path, self.progress, self.max_line, self.block)


_BLANK = re.compile(r"[ \t\r\n]*")


class JsonValues:
    """Parses the JSON of one file: one value per line, several values in sequence, or the elements of one array.

    `file` is the name of the file in errors; with `whole`, an array is one value. Memory holds one value of at most
    `longest` characters and a block.
    `_waiting` holds the text that is not parsed yet, from `_at` on.
    """

    def __init__(self, file: str, longest: int, *, whole: bool = False) -> None:
        self._file, self._longest = file, longest
        self._parse = json.JSONDecoder().raw_decode
        self._waiting, self._at, self._number = "", 0, 0
        self._array = (
            False if whole else None
        )  # None: before the first value; False: no array, or after its end
        self._due = False  # whether a comma must come before the next element of the array
        self._worth = 0  # an incomplete value is parsed again when `_waiting` has this length

    def of(self, blocks: Iterable[bytes]) -> Iterator[tuple[int, Any]]:
        """Yield the values in `blocks`, numbered from 1; if there is only an array, its elements.

        Raises `FormatError` with the number of the value for bytes that are not UTF-8 and for text that is not JSON.

        >>> list(JsonValues("a.json", 100).of([b'[{"a": 1}, ', b'2', b'3]']))
        [(1, {'a': 1}), (2, 23)]
        """
        decoder = getincrementaldecoder("utf-8")()
        for data in blocks:
            yield from self._feed(self._decoded(decoder, data, False), False)
        yield from self._feed(self._decoded(decoder, b"", True), True)
        if self._array:
            raise self._wrong("the array is not closed")

    def _decoded(self, decoder: Any, data: bytes, last: bool) -> str:
        try:
            text: str = decoder.decode(data, last)
        except UnicodeDecodeError as error:
            raise self._wrong(f"not UTF-8: byte 0x{error.object[error.start]:02x}") from None
        return text

    def _feed(self, text: str, last: bool) -> Iterator[tuple[int, Any]]:
        self._waiting, self._at = self._waiting[self._at :] + text, 0
        if len(self._waiting) < self._worth and not last:
            return
        while self._begins():
            try:
                value, end = self._parse(self._waiting, self._at)
            except json.JSONDecodeError as error:
                if last:
                    raise self._wrong(f"not JSON: {error.msg}") from None
                self._wait()
                return
            except RecursionError:
                raise self._wrong("JSON that is nested too deep") from None
            except ValueError as error:  # a number with thousands of digits
                raise self._wrong(f"JSON that cannot be read: {error}") from None
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
            raise self._wrong(f"a value of more than {self._longest:,} characters")
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
                raise self._wrong("not JSON: a comma or the end of the array is missing")
            self._due = False
        return self._at < len(self._waiting)

    def _took(self, mark: str) -> bool:
        """Return whether the character `mark` is next; if so, skip it and the blanks after it."""
        found = self._waiting.startswith(mark, self._at)
        self._at += found
        self._skip_blanks()
        return found

    def _skip_blanks(self) -> None:
        match = _BLANK.match(self._waiting, self._at)
        assert match is not None
        self._at = match.end()

    def _wrong(self, problem: str) -> FormatError:
        return FormatError(problem, file=self._file, line=self._number + 1)
