"""A file that is open for a format: its lines, text, bytes or JSON values, and the text of a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

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

    def values(self) -> Iterator[tuple[int, Any]]:
        """Yield the JSON values of the file, or the elements of its only array, numbered from 1.

        Memory holds one value, of at most `max_line` characters, and a block.
        """
        from clueval.formats.json_values import values_of

        return values_of(
            raw_blocks(self.path, self.progress, self.part, self.block), self.file, self.max_line
        )

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
