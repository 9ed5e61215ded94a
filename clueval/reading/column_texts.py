"""The documents of parallel column files: a sentence whose lines are equal on all sides is split and decoded once.

The documents are those of `clueval.formats.columns`, or have only the spans of the sentences that differ, which are all
that errors need.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, chain, compress, zip_longest
from operator import ne
from typing import NamedTuple

from clueval.core.document import Document, Layers, MissingId, Row, same_id
from clueval.core.span import Frozen
from clueval.core.tags import decode
from clueval.files.errors import CluevalError
from clueval.files.limits import LINES_IN_SENTENCE
from clueval.formats.column_format import ColumnFormat, Layout, TokenLines, wanted_layers
from clueval.formats.column_values import ColumnValues
from clueval.formats.columns import ColumnReader
from clueval.formats.tag_lists import SeenTags
from clueval.reading.clusters import Unusual
from clueval.reading.passages import SentenceColumns, columns_of
from clueval.reading.source import Source
from clueval.reading.text_rows import LINES

ROWS = 1 << 14
"""The approximate number of lines that are split at a time."""

Text = tuple[Document, ...]


def column_texts(sources: Sequence[Source], *, only_differing: bool = False) -> Iterator[Text]:
    """Yield the documents of each text of parallel files, as `Source.documents` does.

    With `only_differing`, they have no tags, and no spans of sentences whose lines are equal in all files.

    Memory holds some texts with `ROWS` lines together, or one longer text. The files get what was read of them. Raises
    `Unusual` for what must be read document by document, and for every error: the documents so far are right.
    """
    readers = [_LinesReader(source) for source in sources]
    batch = _Batch(sources, readers, only_differing=only_differing)
    try:
        for lines in zip_longest(*(reader.texts() for reader in readers)):
            if None in lines or any(each.lines.ends != lines[0].lines.ends for each in lines):
                raise Unusual("different sentences")
            if not all(same_id(lines[0].id, each.id) for each in lines):
                raise Unusual("different documents")
            if any(each.lines.unspaced for each in lines):
                raise Unusual("the text is not known from the tokens alone")
            batch.add(lines)
            if batch.rows >= ROWS:
                yield from batch.take()
        yield from batch.take()
    except CluevalError as error:
        raise Unusual("a file cannot be read") from error


class _TextLines(NamedTuple):
    """The lines of a document, what is known of it, and the layout; None before the first token of the file."""

    id: str
    metadata: Mapping[str, str]
    start: int
    lines: TokenLines
    layout: Layout | None


class _LinesReader(ColumnReader):
    """Reads the lines of a file by document. Raises `Unusual` for formats and options that need documents."""

    def __init__(self, source: Source) -> None:
        file, options, form = source.file, source.options, source.form
        if not isinstance(form, ColumnFormat) or form.sentence_end or form.ragged or form.bracketed == ("*",):
            raise Unusual("a format whose sentences cannot be read one by one")
        if form.no_space or form.pairs or options.scheme is not None or options.unannotated is not None:
            raise Unusual("a format or an option that needs documents")
        if options.invalid not in (None, "conlleval"):
            raise Unusual("whether tags are a span may depend on those around them")
        if form.bracketed and not {*form.bracketed}.isdisjoint((options.layers or {}).values()):
            raise Unusual("a layer of brackets")
        super().__init__(form, file.blocks, options, file.name, file.limits, file.passed_over)
        self.sources = file.sources
        self.values = ColumnValues(form, self)
        self._texts: list[_TextLines] = []

    def texts(self) -> Iterator[_TextLines]:
        """Yield the documents as lines. Raises the errors of reading lines, but not of their columns."""
        for _ in self._blocks_read():
            yield from self._texts
            self._texts = []

    def _feed(self, number: int, text: str) -> None:
        """Read a block of lines; sentences between special lines are read together."""
        if not self.form.blank_ends or text[0] in " \t" or "\n " in text or "\n\t" in text:
            super()._feed(number, text)
            return
        position, length = 0, len(text)
        while position < length:
            match = self.form.special.search(text, position)
            special = length if match is None else match.start()
            past = text.rfind("\n\n", position, special) + 2
            if past <= position + 2 or not self._are_added(number, text[position:past]):
                past = text.find("\n\n", position) + 2
                past = past if past > 1 else length
                super()._feed(number, text[position:past])
            number += text.count("\n", position, past)
            position = past

    def _are_added(self, number: int, text: str) -> bool:
        """Add sentences with a blank line after each; return false if they must be read one by one."""
        layout, lines = self.layout, self.lines
        if layout is None or layout.document is not None or layout.meta or not self.is_open:
            return False
        if self.state or self._head is not None or lines.of_sentence:
            return False
        irregular = (" \n", "  ") if layout.separator == " " else ("\t\n",)
        if text[0] == "\n" or "\n\n\n" in text or any(each in text for each in irregular):
            return False
        sentences = [f"{each}\n" for each in text[:-2].split("\n\n")]
        sizes = list(map(LINES, sentences))
        if max(sizes) > self.limits.max_sentence or lines.rows + sum(sizes) > self.limits.max_document:
            raise Unusual("too many lines")
        if max(map(len, sentences)) > LINES_IN_SENTENCE * self.limits.max_line:
            raise Unusual("too many characters")
        lines.add_sentences(number, sentences, sizes)
        return True

    def end_document(self) -> None:
        self.end_sentence()
        if self.is_open:
            identifier = MissingId(self.begun) if self.id is None else self.id
            self._texts.append(_TextLines(identifier, self.metadata, self.start, self.lines, self.layout))
            self.start += self.lines.rows
            self.is_open, self.id, self.metadata = False, None, {}
            self.lines = TokenLines()


class _Sentence(NamedTuple):
    """A sentence: its first position, its size, and whether its lines differ."""

    position: int
    size: int
    differs: bool


class _Sentences:
    """Sentences of one side, with their columns, in which a row of O follows each.

    Attributes:
        sentences: the sentences.
        columns: their columns.
        starts: the row where each begins.
    """

    def __init__(self, sentences: Sequence[_Sentence], columns: SentenceColumns) -> None:
        self.sentences, self.columns = sentences, columns
        self.starts = list(accumulate([each.size + 1 for each in sentences], initial=0))
        self._rows: dict[str, list[list[Row]]] = {}

    def values(self, column: Sequence[str], number: int) -> Sequence[str]:
        """Return the values of a column in a sentence, given its number."""
        start = self.starts[number]
        return column[start : start + self.sentences[number].size]

    def rows(self, layer: str, number: int) -> Sequence[Row]:
        """Return the spans of a sentence, given its number."""
        if layer not in self._rows:
            self._rows[layer] = self._decoded(self.columns.tags[layer])
        return self._rows[layer][number]

    def _decoded(self, tags: Sequence[str]) -> list[list[Row]]:
        rows: list[list[Row]] = [[] for _ in self.sentences]
        number = 0
        for start, end, label in decode(tags):
            while self.starts[number + 1] <= start:
                number += 1
            shift = self.sentences[number].position - self.starts[number]
            rows[number].append((start + shift, end + shift, label))
        return rows

    def differing(self) -> _Sentences:
        """Return the sentences that differ."""
        numbers = [number for number, sentence in enumerate(self.sentences) if sentence.differs]
        slices = [slice(self.starts[number], self.starts[number + 1]) for number in numbers]

        def part(column: Sequence[str]) -> list[str]:
            return list(chain.from_iterable([column[each] for each in slices]))

        tags = {layer: part(column) for layer, column in self.columns.tags.items()}
        columns = SentenceColumns(part(self.columns.tokens), part(self.columns.token_ids), tags)
        return _Sentences([self.sentences[number] for number in numbers], columns)


class _Batch:
    """Texts whose lines are split together; `rows` is their number of lines."""

    def __init__(
        self, sources: Sequence[Source], readers: Sequence[_LinesReader], *, only_differing: bool
    ) -> None:
        self._sources, self._readers, self._only_differing = sources, readers, only_differing
        self._seen = [SeenTags(None) for _ in readers]
        self._texts: list[Sequence[_TextLines]] = []
        self.rows = 0

    def add(self, text: Sequence[_TextLines]) -> None:
        """Add the lines of all sides of a text."""
        self._texts.append(text)
        self.rows += text[0].lines.rows

    def take(self) -> Iterator[Text]:
        """Yield the documents of the texts, and begin again. Raises `Unusual`, and the errors of columns."""
        texts, self._texts, self.rows = self._texts, [], 0
        sentences: list[_Sentence] = []
        lines: list[list[str]] = [
            [] for _ in self._readers
        ]  # of the first side all, of others those that differ
        for text in texts:
            first, *others = [each.lines.of_sentences() for each in text]
            differ = list(map(any, zip(*(map(ne, first, other) for other in others), strict=True)))
            ends = text[0].lines.ends
            for start, end, differs in zip([0, *ends], ends, differ, strict=False):
                sentences.append(_Sentence(text[0].start + start, end - start, differs))
            lines[0] += first
            for own, other in zip(lines[1:], others, strict=True):
                own += compress(other, differ)
        layouts = [each.layout for text in texts for each in text if each.layout is not None]
        sides: list[_Sentences] = []
        if layouts:
            if any(layout != layouts[0] for layout in layouts):
                raise Unusual("different columns")
            sides = self._sides(sentences, lines, layouts[0])
        begin = differing = 0
        for text in texts:
            of_text = sentences[begin : begin + len(text[0].lines.ends)]
            pieces = []
            for number, sentence in enumerate(of_text, begin):
                pieces.append((differing if sentence.differs else None, number))
                differing += sentence.differs
            begin += len(of_text)
            yield self._documents(text, sides, pieces)

    def _sides(
        self, sentences: Sequence[_Sentence], lines: Sequence[Sequence[str]], layout: Layout
    ) -> list[_Sentences]:
        """Return all sentences of the first side, then those that differ of each side."""
        whole = _Sentences(sentences, self._columns(0, lines[0], layout))
        first = whole.differing()
        sides = [whole, first]
        for number, own in enumerate(lines[1:], 1):
            sides.append(_Sentences(first.sentences, self._columns(number, own, layout)))
        for side in sides[2:]:
            if side.columns[:2] != first.columns[:2]:
                raise Unusual("different tokens")
        return sides

    def _columns(self, number: int, lines: Sequence[str], layout: Layout) -> SentenceColumns:
        """Return the columns of sentences of a side. Raises the errors of tags, and `Unusual` for other lines."""
        if not lines:
            return SentenceColumns([], [], {layer: [] for layer in layout.layers})
        try:
            columns = columns_of(lines, layout, self._readers[number].values, are_many=False)
        except ValueError as error:
            raise Unusual("a line does not fit") from error
        for layer, tags in columns.tags.items():
            self._seen[number].see(layer, tags)
        return columns

    def _documents(
        self,
        text: Sequence[_TextLines],
        sides: Sequence[_Sentences],
        pieces: Sequence[tuple[int | None, int]],
    ) -> Text:
        """Return the documents of a text, whose sentences have these numbers among those that differ and among all."""
        tokens: list[str] = []
        ids: list[str] = []
        for _, number in pieces:
            tokens += sides[0].values(sides[0].columns.tokens, number)
            ids += sides[0].values(sides[0].columns.token_ids, number)
        if len({*ids}) < len(ids):
            raise Unusual("a token id occurs again")
        documents: list[Document] = []
        for side, (own, reader, source) in enumerate(zip(text, self._readers, self._sources, strict=True), 1):
            chosen = [
                (sides[0], number) if differing is None else (sides[side], differing)
                for differing, number in pieces
                if differing is not None or not self._only_differing
            ]
            rows: dict[str, list[Row]] = {}
            tags: dict[str, list[str]] = {}
            for layer in wanted_layers(reader):
                rows[layer] = list(chain.from_iterable([each.rows(layer, n) for each, n in chosen]))
                if pieces and not self._only_differing:
                    parts = [each.values(each.columns.tags[layer], n) for each, n in chosen]
                    tags[layer] = list(chain.from_iterable(parts))
            document = Document(
                own.id,
                Layers({}, rows),
                tokens=tokens,
                start=own.start,
                token_ids=ids or None,
                sentences=own.lines.sentences(own.start),
                metadata=Frozen(own.metadata),
                tags=Frozen(tags),
                lines=own.lines.numbers(),
                file=reader.file,
            )
            documents.append(document if source.name is None else source.named(document))
        return tuple(documents)
