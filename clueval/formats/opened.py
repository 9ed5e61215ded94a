"""A file that is opened for a format: its lines, its text, its bytes, its JSON values, and what belongs to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clueval.limits import MAX_LINE, MAX_SENTENCE, held_lines, in_sentences, require_few_values
from clueval.spans.document import Document
from clueval.textfiles import BLOCK, Progress, decoded_as_written, lines, raw_blocks, raw_content


def _no_texts() -> Iterator[Document]:
    yield from ()


@dataclass(frozen=True, slots=True)
class Opened:
    """A file with its limits. `texts` gives the documents of the text file that belongs to a table of spans;
    `block` bytes are read at a time.

    Every method reads the file anew and raises `FileError` if it cannot be read, `FormatError` for what is not
    UTF-8 and for more than the limits allow.
    """

    path: Path
    max_line: int = MAX_LINE
    max_sentence: int = MAX_SENTENCE
    progress: Progress | None = None
    texts: Callable[[], Iterator[Document]] = _no_texts
    block: int = BLOCK

    @property
    def file(self) -> str:
        """The name of the file in errors."""
        return str(self.path)

    def lines(self) -> Iterator[tuple[int, str]]:
        """The numbered lines without their ends, one in memory at a time; blank lines are between sentences."""
        return in_sentences(self._lines(), self.file, self.max_sentence)

    def held_lines(self) -> Iterator[tuple[int, str]]:
        """The numbered lines of a format that holds all of them, which are fewer."""
        return held_lines(self._lines(), self.file, self.max_sentence)

    def text(self) -> str:
        """The whole text; line ends are as in the file."""
        return decoded_as_written(self.data(), self.path)

    def data(self) -> bytes:
        """The whole content, unpacked but not decoded, without a byte-order mark."""
        data = raw_content(self.path, self.max_line)
        require_few_values(data, self.file, self.max_sentence)
        return data

    def values(self) -> Iterator[tuple[int, Any]]:
        """The JSON values one by one, numbered from 1: one after the other, or the elements of one array.

        Held in memory: one value, of at most `max_line` characters, and a block.
        """
        from clueval.formats.json_values import values_of

        return values_of(raw_blocks(self.path, self.progress, size=self.block), self.file, self.max_line)

    def beside(self, ending: str) -> Path:
        """The path beside the file with another ending, whether or not there is such a file."""
        return self.path.with_name(self.path.name.removesuffix(".gz")).with_suffix(ending)

    def _lines(self) -> Iterator[tuple[int, str]]:
        return lines(self.path, self.progress, self.max_line, self.block)
