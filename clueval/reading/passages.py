"""Passages of column files: sentences of a document as text, for counting without making documents.

A passage has a limited number of sentences, so that memory holds no whole document.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from sys import intern
from typing import NamedTuple

from clueval.core.document import Document
from clueval.core.tags import OUTSIDE
from clueval.files.limits import LINES_IN_SENTENCE, sentence_too_long, sentence_too_wide
from clueval.formats.column_format import ColumnFormat, Layout, TokenLines
from clueval.formats.column_values import WITHIN_FIELDS, ColumnValues
from clueval.formats.columns import ColumnReader
from clueval.reading.source import Source


class Sizes(NamedTuple):
    """Sizes that affect speed and memory, but never the result; tests use small ones.

    Attributes:
        block: the number of bytes that are read at a time; what is made from them fits in the cache of a processor.
        sentences, tokens: a passage ends after this number of sentences, or after the sentence with which it
            reaches this number of tokens.
        rows: the approximate number of lines that are split at a time.
    """

    block: int = 1 << 17
    sentences: int = 2000
    tokens: int = 1 << 20
    rows: int = 1 << 14


SIZES = Sizes()

MANY = 20_000
"""Among more tokens than these, equal tokens and tags are one object, which takes time and saves memory."""


class NamedDocument(NamedTuple):
    """The id of a document and its metadata; `named`: the id stands in the file."""

    id: str
    metadata: Mapping[str, str]
    named: bool


class DocumentHead(NamedTuple):
    """The beginning of a document in pieces of a file: the number of the piece, whether it is a mark, what it says."""

    piece: int
    is_mark: bool
    id: str | None
    metadata: Mapping[str, str]


@dataclass(slots=True)
class Passage:
    """Sentences of one document, each the lines of its tokens.

    Attributes:
        document, metadata, named: the id and the metadata of the document, and whether the id stands in the file.
        layout: the uses of the columns; None before the first token.
        begins: whether the document begins here.
        tokens: the number of tokens.
        sentences: their lines.
    """

    document: str
    metadata: Mapping[str, str]
    named: bool
    layout: Layout | None
    begins: bool
    tokens: int = 0
    sentences: list[str] = field(default_factory=list)


class PassageReader(ColumnReader):
    """Reads the lines of a file as passages."""

    def __init__(self, source: Source, sizes: Sizes = SIZES) -> None:
        file = source.file
        assert isinstance(source.form, ColumnFormat)
        super().__init__(source.form, file.blocks, source.options, file.name, file.limits, file.passed_over)
        self.sources = file.sources
        self.values = ColumnValues(source.form, self)
        self._sizes, self._name = sizes, source.name
        self._known: NamedDocument | None = None
        self._begins = False
        self._runs: list[str] = []
        self._rows = self._size = 0
        self._sentences: list[str] = []
        self._complete: list[Passage] = []

    def passages(self) -> Iterator[Passage]:
        """Yield the passages of the file. Raises the errors of reading lines, but not of their columns."""
        for _ in self._blocks_read():
            yield from self.take()

    def feed(self, number: int, text: str) -> None:
        """Read a block of whole lines."""
        self._feed(number, text)

    def take(self) -> list[Passage]:
        """Return the complete passages; each is returned once."""
        complete, self._complete = self._complete, []
        return complete

    # Documents and sentences

    @property
    def in_sentence(self) -> bool:
        """Whether a sentence is open that has tokens."""
        return bool(self._runs)

    @property
    def current(self) -> NamedDocument | None:
        """The current document."""
        if not self.is_open:
            return None
        return self._known or NamedDocument(
            self._name_of(self.id, self.begun), self.metadata, self.id is not None
        )

    def next_documents(self, heads: Iterable[DocumentHead]) -> list[NamedDocument]:
        """Return the next documents, given their heads; none of them begins."""
        return [
            NamedDocument(self._name_of(head.id, number), head.metadata, head.id is not None)
            for number, head in enumerate(heads, self.begun + 1)
        ]

    def pass_over(self, documents: int, last: NamedDocument | None = None) -> None:
        """Skip sentences that were read elsewhere, of the current document and the next `documents` ones.

        `last` is the last of these, if it matters which one it is.
        """
        current = self.current
        self.end_document()
        self.begun += documents
        if current is not None:
            self._known = last or current
            self.is_open, self.metadata, self._begins = True, dict(self._known.metadata), False

    def _name_of(self, identifier: str | None, number: int) -> str:
        """Return the id of the document with this number, from 1."""
        if identifier is not None:
            return identifier if self._name is None else f"{self._name}:{identifier}"
        if self._name is None:
            return str(number)
        return self._name if number == 1 else f"{self._name}:{number}"

    def begin_document(
        self,
        identifier: str | None,
        metadata: Mapping[str, str] | None = None,
        *,
        head: str | None = None,
    ) -> None:
        ColumnReader.begin_document(self, identifier, metadata, head=head)
        self._known, self._begins = None, True

    def add(self, number: int, run: str) -> None:
        self.require_document()
        rows = run.count("\n")
        self._runs.append(run)
        self._rows += rows
        self.lines.rows += rows
        self.lines.characters += len(run)
        if self._rows > self.limits.max_sentence:
            raise sentence_too_long(self.file, number, self.limits.max_sentence)
        if self.lines.characters > LINES_IN_SENTENCE * self.limits.max_line:
            raise sentence_too_wide(self.file, number, LINES_IN_SENTENCE * self.limits.max_line)

    def end_sentence(self) -> None:
        if self._runs:
            self._sentences.append(self._runs[0] if len(self._runs) == 1 else "".join(self._runs))
            self._size += self._rows
            self._runs, self._rows, self.lines.characters = [], 0, 0
            if len(self._sentences) >= self._sizes.sentences or self._size >= self._sizes.tokens:
                self._end_passage()
        self.unspaced_words.clear()
        self._head = None

    def end_document(self) -> None:
        self.end_sentence()
        if self.is_open:
            if self._sentences or self._begins:
                self._end_passage()
            self.is_open, self.id, self.metadata, self._known = False, None, {}, None
            self.lines = TokenLines()

    def _end_passage(self) -> None:
        document = self.current
        assert document is not None
        self._complete.append(Passage(*document, self.layout, self._begins, self._size, self._sentences))
        self._begins, self._sentences, self._size = False, [], 0

    def document(self) -> Document:
        raise AssertionError("passages are read")


class SentenceColumns(NamedTuple):
    """The columns of sentences, with an O after each; no ids if the layout has none."""

    tokens: list[str]
    token_ids: list[str]
    tags: dict[str, list[str]]


def columns_of(
    sentences: Sequence[str], layout: Layout, values: ColumnValues, *, are_many: bool
) -> SentenceColumns:
    """Split the lines of sentences; if tokens are many, equal ones are one object.

    Raises `ValueError` for a line that does not fit.
    """
    border = layout.separator.join([OUTSIDE] * layout.width) + "\n"
    text = border.join([*sentences, ""])
    width, separator = layout.width, layout.separator
    fields = text[:-1].replace("\n", separator).split(separator)
    columns = [fields[column::width] for column in range(width)]
    ends = text.encode(errors="surrogatepass").translate(None, WITHIN_FIELDS[separator])
    due = (separator * (width - 1) + "\n").encode()
    if ends != due * (len(ends) // width) or "" in columns[layout.token]:
        raise ValueError("a line does not fit")
    if values.form.entities is not None and "&" in text:
        columns = [list(map(values.form.entities, column)) for column in columns]
    tags = {layer: values.values(columns, source, layer) for layer, source in layout.layers.items()}
    if are_many:
        columns[layout.token] = list(map(intern, columns[layout.token]))
        tags = {layer: list(map(intern, own)) for layer, own in tags.items()}
    token_ids = [] if layout.token_id is None else columns[layout.token_id]
    return SentenceColumns(columns[layout.token], token_ids, tags)
