"""Passages: the raw token lines of a part of a document, as the column formats return them.

Files of one token per line (VRT, CoNLL) are read as runs of token lines. A passage holds sentences of one
document, each as the unparsed text of its lines: lines that are identical on both sides need not be parsed,
and all others are parsed many lines at a time. A long document comes in several passages, cut after the same
number of sentences on both sides, so that memory does not grow with the corpus.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, groupby, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from clueval.core.span import Span
from clueval.files.errors import FormatError
from clueval.formats.columns.layout import (
    ColumnOptions,
    Layout,
    NamedColumns,
    Sources,
    fields_of,
    layout_of,
    unescape,
)
from clueval.limits import LINES_IN_SENTENCE, sentence_too_long
from clueval.spans.document import MissingId
from clueval.textfiles import Complain, Progress, blocks, refuse

if TYPE_CHECKING:
    from clueval.formats.opened import Opened


@dataclass(slots=True)
class Passage:
    """Some consecutive sentences of a document, unparsed.

    `sentences` holds the token lines of each sentence, every line with its end; `heads` holds the line that
    opens each sentence in the file, or an empty string. `start` is the corpus position of the first token,
    `tokens` the number of tokens; `begins` is true if the document begins here, `named` if its id comes from
    the file.

    `anchors` locate the lines: (sentence, row, line) means that this row of this sentence has this line number in the
    file. Every sentence has one, and lines are consecutive up to the next one. `spans` has the spans that end here of
    layers that have no column, by layer.
    """

    file: str
    document: str
    metadata: Mapping[str, str]
    layout: Layout | None
    start: int
    begins: bool
    named: bool = False
    tokens: int = 0
    sentences: list[str] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    anchors: list[tuple[int, int, int]] = field(default_factory=list)
    spans: dict[str, list[Span]] = field(default_factory=dict)

    def line_of(self, sentence: int, row: int) -> int:
        """Return the line number of a row of a sentence, both counted from 0."""
        place = bisect_right(self.anchors, (sentence, row, sys.maxsize)) - 1
        _, before, line = self.anchors[place]
        return line + row - before

    def lines(self) -> Iterator[int]:
        """Yield the line number of every token line, in order."""
        for (sentence, row, line), (other, past, _) in zip_longest(
            self.anchors, self.anchors[1:], fillvalue=(-1, 0, 0)
        ):
            end = past if other == sentence else self.sentences[sentence].count("\n")
            yield from range(line, line + end - row)

    def rows(self) -> Iterator[tuple[int, int, list[str]]]:
        """Yield every token line in order, as the sentence, the row in the sentence and the fields."""
        for sentence, text in enumerate(self.sentences):
            for row, line in enumerate(text[:-1].split("\n")):
                yield sentence, row, fields_of(line, self.layout.separator if self.layout else "\t")


def misfits(passage: Passage) -> Iterator[FormatError]:
    """Yield an error for each line of a passage that does not match its layout, to raise or to list."""
    if passage.layout is None:
        return
    width = passage.layout.width
    for (_, _, fields), line in zip(passage.rows(), passage.lines(), strict=True):
        if len(fields) != width:
            problem = f"the line has {len(fields)} column{'s' * (len(fields) != 1)}, the first token line has {width}"
        elif not fields[passage.layout.token]:
            problem = "the token is empty"
        else:
            continue
        prose = passage.layout.separator != "\t" and str(passage.file).endswith(".txt")
        yield FormatError(problem, file=passage.file, line=line, advice=_PROSE if prose else None)


_PROSE = "a text without columns has no spans: they are in a file of another format, see clueval formats"


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
    ) -> None:
        self._file, self._separator, self._entities, self._options = file, separator, entities, options
        self._name, self._sizes = name, options.sizes
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
        return Passage(self._file, document, metadata, self._layout, self._position, begins, named)

    def add(self, number: int, run: str) -> None:
        """Add the token lines `run` to the current sentence; `number` is the number of the first line.

        If columns have the ids or the metadata of documents, a document begins where the id changes.
        """
        if "\t\n" in run and (layout := self._layout_for(number, run)).separator == "\t":
            run, cut = without_empty_fields(run, layout.width)
            self.passed_over["empty fields"] += cut
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
        if self._layout is None:
            line = run[: run.index("\n")]
            separator = self._separator or ("\t" if "\t" in line else " ")
            if self._options.layers is None:
                line = line.rstrip("\t")  # the last column that has a value holds the tags
            self._layout = layout_of(line, separator, self._options, self._entities, self._file, number)
        return self._layout

    def begin_sentence(self, head: str = "") -> None:
        """End the current sentence, if there is one; `head` is the line that opens the next sentence."""
        self.end_sentence()
        self._head = head

    def end_sentence(self) -> None:
        passage = self._passage
        if self._runs and passage is not None:
            passage.sentences.append(self._runs[0] if len(self._runs) == 1 else "".join(self._runs))
            passage.heads.append(self._head)
            passage.tokens += self._rows
            self._position += self._rows
            self._runs, self._rows, self._characters = [], 0, 0
            if len(passage.sentences) >= self._sizes.sentences or passage.tokens >= self._sizes.tokens:
                self.ready.append(passage)
                self._passage = self._fresh(
                    passage.document, passage.metadata, begins=False, named=passage.named
                )
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


def without_empty_fields(run: str, width: int) -> tuple[str, int]:
    """Return lines without the empty fields at their ends that make them wider, and the number of these fields.

    >>> without_empty_fields("a\\tO\\t\\nb\\t\\n", 2)
    ('a\\tO\\nb\\t\\n', 1)
    """
    lines = run.split("\n")
    for place, line in enumerate(lines):
        more = line.count("\t") + 1 - width
        if more > 0 and line.endswith("\t" * more):
            lines[place] = line[:-more]
    found = "\n".join(lines)
    return found, len(run) - len(found)


def without_blank_lines(number: int, run: str) -> Iterator[tuple[int, str]]:
    """Yield the parts of a run between blank lines, each with the number of its first line."""
    waiting: list[str] = []
    for offset, line in enumerate(chain(run[:-1].split("\n"), ("",))):
        if line.strip(" "):
            waiting.append(line)
        elif waiting:
            yield number + offset - len(waiting), "\n".join(waiting) + "\n"
            waiting = []


class LineReader(Protocol):
    """Reads the lines of one file, block by block, and builds passages from them."""

    builder: PassageBuilder

    def feed(self, number: int, text: str) -> None: ...
    def finish(self) -> None: ...


class TokenLines(NamedTuple):
    """How to find the sentences of a file, and the id of a sentence in the line that opens it.

    `reader` is called with the name of the file, the options, the prefix of document ids (for a file of a
    folder, or None) and the function that is called with errors. `named` returns the columns of a file, given its
    beginning, if this shows how they are used. `sources` returns the sources of layers, given a file and the option,
    for a format whose reader makes lines of its own (`clueval.formats.columns.made_lines`).
    """

    reader: Callable[[str, ColumnOptions, str | None, Complain], Any]
    sentence_id: Callable[[str], str | None]
    named: Callable[[str], NamedColumns | None] | None = None
    sources: Callable[[Opened, Mapping[str, int | str] | None], Sources] | None = None

    def passages(
        self,
        path: Path,
        options: ColumnOptions,
        *,
        name: str | None = None,
        progress: Progress | None = None,
        complain: Complain = refuse,
        passed_over: Counter[str] | None = None,
    ) -> Iterator[Passage]:
        """Yield the passages of a file; `name` is the prefix of document ids (for files of a folder).

        Memory holds a passage of at most `Sizes.sentences` sentences and a block. Calls `complain` with a
        `FormatError` with the line for each error; the default raises it. At the end, `passed_over` gets the numbers
        of rows that were not read, by kind.
        """
        found: LineReader = self.reader(str(path), options, name, complain)
        for number, text in blocks(
            path, progress, complain, options.part, options.max_line, options.sizes.block
        ):
            try:
                found.feed(number, text)
            finally:
                yield from found.builder.take()
        found.finish()
        yield from found.builder.take()
        if passed_over is not None:
            # the greater number, because a file may be read more than once
            passed_over |= found.builder.passed_over
