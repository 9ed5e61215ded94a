"""Building passages: runs of token lines, which a format finds, become sentences, and sentences passages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, groupby
from typing import NamedTuple

from clueval.exceptions import FormatError
from clueval.formats.columns.layout import ColumnOptions, Layout, fields_of, layout_of
from clueval.formats.columns.markup import unescape
from clueval.formats.columns.passages import Passage
from clueval.limits import LINES_IN_SENTENCE, sentence_too_long
from clueval.spans.document import MissingId
from clueval.spans.span import Span


class DescribedLine(NamedTuple):
    """What the columns of one line say of its document; `id` is None if no column has it."""

    id: str | None
    meta: Mapping[str, str]


class DescribedLines:
    """Reads these columns; `id` and `meta` are those of the last line that was used."""

    def __init__(self) -> None:
        self.id: str | None = None
        self.meta: Mapping[str, str] = {}

    def of(self, line: str, layout: Layout) -> DescribedLine | None:
        """Return what a line says; None for a line with another number of columns, which is an error elsewhere."""
        fields = fields_of(line, layout.separator)
        if len(fields) != layout.width:
            return None
        if layout.entities and "&" in line:
            fields = list(map(unescape, fields))
        id_ = None if layout.document is None else fields[layout.document]
        return DescribedLine(id_, {name: fields[column] for name, column in layout.meta})

    def changed(self, line: DescribedLine, file: str, number: int) -> FormatError:
        """Return the error for metadata that differs from that of the line before, in the same document."""
        name = next(name for name, value in line.meta.items() if self.meta.get(name) != value)
        return FormatError(
            f"the metadata {name!r} changes from {self.meta.get(name)!r} to {line.meta[name]!r} within a document",
            file=file,
            line=number,
            advice="name the column with the ids of documents with document_column",
        )


class DocumentHead(NamedTuple):
    """Where a document begins: in the piece with this number, as its first lines or (`is_mark`) instead of tokens.

    `id` is None if the file does not tell it.
    """

    piece: int
    is_mark: bool
    id: str | None
    metadata: Mapping[str, str]


class NamedDocument(NamedTuple):
    """The id of a document and its metadata; `named`: the id stands in the file."""

    id: str
    metadata: Mapping[str, str]
    named: bool


class PassageBuilder:
    """Collects the runs of token lines that a format finds into passages."""

    def __init__(
        self,
        file: str,
        separator: str | None,
        entities: bool,
        options: ColumnOptions,
        name: str | None,
        between: int = 2,
    ) -> None:
        self._file, self._separator, self._entities, self._options = file, separator, entities, options
        self._name, self._sizes, self._between = name, options.sizes, between
        self._layout: Layout | None = None
        self._position = 0
        self._documents = 0
        self._passage: Passage | None = None
        self._runs: list[str] = []
        self._rows = 0
        self._characters = 0
        self._head = ""
        self._described = DescribedLines()
        self.ready: list[Passage] = []
        self.passed_over: Counter[str] = Counter()
        """How many rows were not read, by kind."""

    @property
    def layout(self) -> Layout | None:
        return self._layout

    @property
    def in_document(self) -> bool:
        return self._passage is not None

    @property
    def in_sentence(self) -> bool:
        """Whether the current sentence has token lines and has not ended."""
        return bool(self._runs)

    @property
    def has_sentence(self) -> bool:
        """Whether the current sentence has token lines or a line that opens it, and has not ended."""
        return bool(self._runs or self._head)

    def begin_document(self, identifier: str | None, metadata: Mapping[str, str]) -> None:
        """Start a document; if `identifier` is None or missing, its id is its number in the file."""
        self.end_document()
        self._documents += 1
        name = self._name_of(identifier, self._documents)
        named = identifier is not None and not isinstance(identifier, MissingId)
        self._passage = self._fresh(name, metadata, begins=True, named=named)

    def _name_of(self, identifier: str | None, number: int) -> str:
        """The id of the document with this number, from 1."""
        if identifier is not None:
            return identifier if self._name is None else f"{self._name}:{identifier}"
        if self._name is None:
            return str(number)
        return self._name if number == 1 else f"{self._name}:{number}"

    def _fresh(self, document: str, metadata: Mapping[str, str], begins: bool, named: bool) -> Passage:
        between = self._between
        return Passage(
            self._file, document, metadata, self._layout, self._position, begins, named, between=between
        )

    def add(self, number: int, run: str) -> None:
        """Add the token lines `run` to the current sentence; `number` is the number of the first line.

        If columns have the ids or the metadata of documents, a document begins where the id changes.
        """
        if not self._options.describes_documents:
            self._add(number, run)
            return
        layout = self._layout_for(number, run)
        lines = enumerate(run[:-1].split("\n"), number)
        for described, group in groupby(lines, lambda line: self._described.of(line[1], layout)):
            numbered = list(group)
            if described is not None:
                self._describe(numbered[0][0], described)
            self._add(numbered[0][0], "".join(f"{line}\n" for _, line in numbered))

    def _describe(self, number: int, described: DescribedLine) -> None:
        """Begin a document if its id differs from that of the line before; add the metadata of its first line."""
        passage = self._passage
        is_new = passage is None or (passage.begins and not passage.tokens and not self._runs)
        if described.id is not None and (is_new or described.id != self._described.id):
            head, around = self._head, {} if passage is None else passage.metadata
            if is_new and passage is not None:  # the file has begun a document here
                name = self._name_of(described.id, self._documents)
                self._passage = self._fresh(name, {**around, **described.meta}, begins=True, named=True)
            else:
                self.begin_document(described.id, described.meta)
            self._head = head
        elif is_new:
            around = {} if passage is None else passage.metadata
            if passage is None:
                self.begin_document(None, described.meta)
            else:
                passage.metadata = {**around, **described.meta}
        elif described.meta != self._described.meta:
            raise self._described.changed(described, self._file, number)
        self._described.id, self._described.meta = described.id, described.meta

    def _add(self, number: int, run: str) -> None:
        passage = self._passage_for(number, run)
        passage.anchors.append((len(passage.sentences), self._rows, number))
        self._runs.append(run)
        self._rows += run.count("\n")
        self._characters += len(run)
        if self._rows > self._options.max_sentence:
            raise sentence_too_long(self._file, self._first_line(passage), self._options.max_sentence)
        if self._characters > LINES_IN_SENTENCE * self._options.max_line:
            raise self._too_long(passage)

    def add_spans(self, spans: Mapping[str, list[Span]]) -> None:
        """Add spans that end at the last tokens, by layer."""
        assert self._passage is not None
        for layer, some in spans.items():
            self._passage.spans.setdefault(layer, []).extend(some)

    def _first_line(self, passage: Passage) -> int:
        """Return the line number of the first token of the current sentence."""
        return next(line for sentence, _, line in passage.anchors if sentence == len(passage.sentences))

    def _too_long(self, passage: Passage) -> FormatError:
        most = LINES_IN_SENTENCE * self._options.max_line
        return FormatError(
            f"the sentence that begins here has more than {most:,} characters",
            file=self._file,
            line=self._first_line(passage),
            advice="if this is intended, raise max_line; this limit is four times as high",
        )

    def add_sentences(self, number: int, heads: list[str], sentences: list[str], rows: int) -> None:
        """Add consecutive whole sentences with the same number of lines of structure between them.

        `number` is the number of the first token line, `rows` the number of token lines. There must be no
        current sentence.
        """
        while sentences:
            passage = self._passage_for(number, sentences[0])
            fitting = self._fitting(passage, sentences, number, rows)
            here = rows if len(sentences) <= fitting else "".join(sentences[:fitting]).count("\n")
            passage.anchors.append((len(passage.sentences), 0, number))
            passage.sentences += sentences[:fitting]
            passage.heads += heads[:fitting]
            number += here + self._between * fitting
            heads, sentences, rows = heads[fitting:], sentences[fitting:], rows - here
            self._count(passage, here)

    def _fitting(self, passage: Passage, sentences: list[str], number: int, rows: int) -> int:
        """Return how many of these sentences, which have `rows` token lines, still fit in the passage."""
        fitting = self._sizes.sentences - len(passage.sentences)
        if rows <= min(self._sizes.tokens - passage.tokens, self._options.max_sentence):
            return fitting
        tokens = passage.tokens
        for place, sentence in enumerate(sentences[:fitting]):
            if (size := sentence.count("\n")) > self._options.max_sentence:
                raise sentence_too_long(self._file, number, self._options.max_sentence)
            number += size + self._between
            tokens += size
            if tokens >= self._sizes.tokens:
                return place + 1
        return fitting

    def _passage_for(self, number: int, run: str) -> Passage:
        """Return the passage for the token lines `run`; the first line of a file determines the layout."""
        layout = self._layout_for(number, run)
        if self._passage is None:
            head = self._head
            self.begin_document(None, {})
            self._head = head  # belongs to the first sentence of the document
        assert self._passage is not None
        self._passage.layout = layout
        return self._passage

    def _layout_for(self, number: int, run: str) -> Layout:
        """Return the layout, which the first line of a file determines."""
        if self._layout is None:
            line = run[: run.index("\n")]
            separator = self._separator or ("\t" if "\t" in line else " ")
            self._layout = layout_of(line, separator, self._options, self._entities, self._file, number)
        return self._layout

    def _count(self, passage: Passage, rows: int) -> None:
        """Count the token lines that were added to a passage, and cut the passage if it is long enough."""
        passage.tokens += rows
        self._position += rows
        if len(passage.sentences) >= self._sizes.sentences or passage.tokens >= self._sizes.tokens:
            self.ready.append(passage)
            self._passage = self._fresh(passage.document, passage.metadata, begins=False, named=passage.named)

    def begin_sentence(self, head: str = "") -> None:
        """End the current sentence, if there is one; `head` is the line that opens the next sentence."""
        self.end_sentence()
        self._head = head

    def end_sentence(self) -> None:
        passage = self._passage
        if self._runs and passage is not None:
            passage.sentences.append(self._runs[0] if len(self._runs) == 1 else "".join(self._runs))
            passage.heads.append(self._head)
            rows, self._runs, self._rows, self._characters = self._rows, [], 0, 0
            self._count(passage, rows)
        self._head = ""

    def end_document(self) -> None:
        self.end_sentence()
        if self._passage is not None and (self._passage.sentences or self._passage.begins):
            self.ready.append(self._passage)
        self._passage = None

    @property
    def current(self) -> NamedDocument | None:
        """The current document."""
        passage = self._passage
        return None if passage is None else NamedDocument(passage.document, passage.metadata, passage.named)

    def next_documents(self, heads: Iterable[DocumentHead]) -> list[NamedDocument]:
        """Return the next documents, given their heads; none of them begins."""
        return [
            NamedDocument(self._name_of(head.id, number), head.metadata, head.id is not None)
            for number, head in enumerate(heads, self._documents + 1)
        ]

    def pass_over(self, documents: int, last: NamedDocument | None = None) -> None:
        """Skip sentences that were read elsewhere, of the current document and the next `documents` ones.

        `last` is the last of these, if it matters which one it is.
        """
        current = self.current
        self.end_document()
        self._documents += documents
        if current is not None:
            current = last or current
            self._passage = self._fresh(current.id, current.metadata, begins=False, named=current.named)

    def take(self) -> list[Passage]:
        """Return the complete passages; each is returned once."""
        ready, self.ready = self.ready, []
        return ready


def without_blank_lines(number: int, run: str) -> Iterator[tuple[int, str]]:
    """Yield the parts of a run between blank lines, each with the number of its first line."""
    waiting: list[str] = []
    for offset, line in enumerate(chain(run[:-1].split("\n"), ("",))):
        if line.strip(" "):
            waiting.append(line)
        elif waiting:
            yield number + offset - len(waiting), "\n".join(waiting) + "\n"
            waiting = []
