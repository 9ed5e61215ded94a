"""Passages of column files: sentences of a document as text, and their rows, for counting without making documents.

A passage has a limited number of sentences, so that memory holds no whole document. Sentences of parallel passages that
are equal on all sides are split into rows once.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from itertools import chain, compress, zip_longest
from operator import ne, not_, or_
from typing import NamedTuple

from clueval.core.document import Document
from clueval.core.tags import OUTSIDE
from clueval.files.options import Limits
from clueval.formats.column_format import LINES, ColumnFormat, Layout, TokenLines
from clueval.formats.columns import ColumnReader
from clueval.formats.form import Form
from clueval.formats.options import FormatOptions
from clueval.reading.clusters import Unusual
from clueval.reading.source import Source


class Sizes(NamedTuple):
    """Sizes that affect speed and memory, but never the result; tests use small ones."""

    # the number of bytes that are read at a time; what is made from them fits in the cache of a processor
    block: int = 1 << 17
    # a passage ends after this number of sentences, or after the sentence with which it reaches this number
    # of tokens
    sentences: int = 2000
    tokens: int = 1 << 20
    rows: int = 1 << 14  # the approximate number of lines that are split at a time


SIZES = Sizes()


def require_sentences(form: Form, options: FormatOptions) -> ColumnFormat:
    """Return a format whose sentences can be read one by one. Raises `Unusual` for others."""
    if not isinstance(form, ColumnFormat) or form.sentence_end or form.ragged or form.bracketed == ("*",):
        raise Unusual("a format whose sentences cannot be read one by one")
    if form.bracketed and not {*form.bracketed}.isdisjoint((options.layers or {}).values()):
        raise Unusual("a layer of brackets")
    return form


class NamedDocument(NamedTuple):
    """The id of a document and its metadata; `named`: the id stands in the file."""

    id: str
    metadata: Mapping[str, str]
    named: bool


class Passage(NamedTuple):
    """Sentences of one document, each the lines of its tokens."""

    document: NamedDocument
    layout: Layout | None  # the uses of the columns; None before the first token
    begins: bool  # whether the document begins here
    sentences: Sequence[str]
    tokens: int  # their number
    lines: TokenLines  # where the sentences are in the file
    start: int  # the number of tokens before them in the file


class PassageReader(ColumnReader):
    """Reads the lines of a file as passages."""

    def __init__(self, source: Source, sizes: Sizes, limits: Limits | None = None) -> None:
        assert isinstance(source.form, ColumnFormat)
        limits = limits or replace(source.file.limits, max_document=sys.maxsize)  # no document is held
        super().__init__(source.form, replace(source.file, limits=limits), source.options)
        self.part, self._name = (sizes.tokens, sizes.sentences), source.name
        self._last_document: NamedDocument | None = None
        self._begins = True  # whether the next passage begins a document
        self._complete_passages: list[Passage] = []

    def passages(self) -> Iterator[Passage]:
        """Yield the passages of the file. Raises the errors of reading lines, but not of their columns."""
        for _ in self._blocks_read():
            yield from self.take()

    def take(self) -> list[Passage]:
        """Return the complete passages; each is returned once."""
        complete, self._complete_passages = self._complete_passages, []
        return complete

    @property
    def in_sentence(self) -> bool:
        """Whether a sentence is open that has tokens."""
        return bool(self.lines.of_sentence)

    @property
    def current(self) -> NamedDocument | None:
        """The current document."""
        if not self.is_open:
            return None
        return self._last_document or self.named(self.id, self.metadata, self.begun)

    def named(self, identifier: str | None, metadata: Mapping[str, str], number: int) -> NamedDocument:
        """Return the document with an id in the file, or the number of the document, from 1."""
        if identifier is not None:
            id_ = identifier if self._name is None else f"{self._name}:{identifier}"
        elif self._name is None:
            id_ = str(number)
        else:
            id_ = self._name if number == 1 else f"{self._name}:{number}"
        return NamedDocument(id_, metadata, identifier is not None)

    def pass_over(self, documents: int, last: NamedDocument | None) -> None:
        """Skip sentences that were read elsewhere, of the current document and the next `documents` ones.

        `last` is the last of these, if it matters which one it is.
        """
        current = self.current
        self.end_document()
        self.begun += documents
        if current is not None:
            self._last_document = last or current
            self.is_open, self.metadata, self._begins = True, dict(self._last_document.metadata), False

    def end_document(self) -> None:
        self.end_sentence()
        if self.is_open:
            if self.lines.ends or self._begins:
                self.end_part()
            self.is_open, self.id, self.metadata, self._last_document = False, None, {}, None
        self._begins = True

    def end_part(self) -> None:
        document, lines = self.current, self.lines
        assert document is not None
        sentences = lines.of_sentences()
        self._complete_passages.append(
            Passage(document, self.layout, self._begins, sentences, lines.rows, lines, self.start)
        )
        self.start += lines.rows
        self.lines, self._begins = TokenLines(), False

    def document(self) -> Document:
        raise AssertionError("passages are read")


# Rows

Passages = tuple[Passage, ...]
"""The passage of each side."""


def passages_in_step(readers: Sequence[PassageReader]) -> Iterator[Passages]:
    """Yield the passages of all sides. Raises `Unusual` if one side has more."""
    for passages in zip_longest(*(reader.passages() for reader in readers)):
        if None in passages:
            raise Unusual("one side ends early")
        yield passages


def require_parallel(passages: Passages) -> None:
    """Raise `Unusual` for passages of different documents, and for different numbers of sentences."""
    first, *others = passages
    names = {passage.document.id for passage in passages if passage.document.named}
    if len(names) > 1 or any(passage.begins != first.begins for passage in others):
        raise Unusual("different documents")
    if any(len(passage.sentences) != len(first.sentences) for passage in others):
        raise Unusual("different numbers of sentences")


class SentenceColumns(NamedTuple):
    """The columns of sentences, with an O after each; no ids if the layout has none."""

    tokens: list[str]
    token_ids: list[str]
    tags: dict[str, list[str]]


class PassageRows(NamedTuple):
    """A passage of each side, and where its rows are in `Rows.columns` and in `Rows.same`, with a row of O each."""

    passages: Passages
    differing: slice
    same: slice
    differ: Sequence[bool]  # whether the lines of a sentence differ

    def sentences(self) -> list[tuple[bool, int, int]]:
        """Return of each sentence whether it differs, its first row, and the number of its rows without that of O."""
        rows = {True: self.differing.start, False: self.same.start}
        sentences = []
        for lines, differs in zip(self.passages[0].sentences, self.differ, strict=True):
            size = lines.count("\n")
            sentences.append((differs, rows[differs], size))
            rows[differs] += size + 1
        return sentences


class Rows(NamedTuple):
    """The rows of some passages, with a row of O after each sentence."""

    parts: Sequence[PassageRows]  # the passages
    # the columns of each side in the sentences whose lines differ; none if there are no such sentences
    columns: Sequence[SentenceColumns]
    # the columns of the other sentences, whose lines are the same on all sides; none if there are none
    same: Sequence[SentenceColumns]


class RowSplitter:
    """Splits parallel passages into rows, as many passages together as are given; those with token ids come alone.

    Raises `Unusual` for lines that do not fit, for different texts, and for token ids that occur again in a document.
    """

    def __init__(self, readers: Sequence[PassageReader]) -> None:
        self._readers = readers
        self._ids: list[set[str]] = [set() for _ in readers]  # of the current document

    def split(self, groups: Sequence[Passages]) -> Rows:
        """Return the rows of parallel passages."""
        differing: list[list[str]] = [[] for _ in self._readers]
        same: list[str] = []
        parts = []
        past = past_same = 0
        for passages in groups:
            first = passages[0]
            differ = _differences(passages)
            chosen = [list(compress(passage.sentences, differ)) for passage in passages]
            sizes = list(map(LINES, chosen[0]))
            if any(list(map(LINES, sentences)) != sizes for sentences in chosen[1:]):
                raise Unusual("sentences of different lengths")
            for side, sentences in zip(differing, chosen, strict=True):
                side += sentences
            same += compress(first.sentences, map(not_, differ))
            rows = sum(sizes) + len(sizes)
            same_rows = first.tokens + len(first.sentences) - rows
            places = slice(past, past + rows), slice(past_same, past_same + same_rows)
            parts.append(PassageRows(passages, *places, differ))
            past, past_same = past + rows, past_same + same_rows
        layouts = [
            next((passage.layout for passage in side if passage.layout), None)
            for side in zip(*groups, strict=True)
        ]
        columns = [_columns(*each) for each in zip(differing, layouts, self._readers, strict=True) if each[0]]
        of_same = [_columns(same, layouts[0], self._readers[0])] if same else []
        if any(side_columns.tokens != columns[0].tokens for side_columns in columns[1:]):
            raise Unusual("different tokens")
        if have_ids(groups[-1]):
            self._require_ids(groups[-1], columns, of_same)
        return Rows(parts, columns, of_same)

    def _require_ids(
        self, passages: Passages, columns: Sequence[SentenceColumns], same: Sequence[SentenceColumns]
    ) -> None:
        """Raise `Unusual` for different token ids, and for those that occur again in their document."""
        ids = [side_columns.token_ids for side_columns in columns if side_columns.token_ids]
        if any(side_ids != ids[0] for side_ids in ids[1:]):
            raise Unusual("different token ids")
        for number, (known_ids, passage) in enumerate(zip(self._ids, passages, strict=True)):
            if passage.begins:
                known_ids.clear()
            if passage.layout is None or passage.layout.token_id is None:
                continue
            new = {*chain.from_iterable(side.token_ids for side in (*columns[number : number + 1], *same))}
            new.discard(OUTSIDE)  # that of borders; another one makes the numbers different
            if len(new) < passage.tokens or not known_ids.isdisjoint(new):
                raise Unusual("a token id occurs again")
            known_ids |= new


def have_ids(passages: Passages) -> bool:
    """Return whether passages have token ids, which are split alone."""
    return any(passage.layout is not None and passage.layout.token_id is not None for passage in passages)


def _differences(passages: Passages) -> list[bool]:
    first, *others = passages
    if any(passage.layout != first.layout for passage in others):
        return [True] * len(first.sentences)
    if all(passage.sentences == first.sentences for passage in others):
        return [False] * len(first.sentences)
    return list(
        reduce(partial(map, or_), (map(ne, first.sentences, passage.sentences) for passage in others))
    )


def _columns(sentences: Sequence[str], layout: Layout | None, reader: PassageReader) -> SentenceColumns:
    """Split the lines of sentences."""
    assert layout is not None  # a file with a sentence has one
    border = layout.separator.join([OUTSIDE] * layout.width) + "\n"
    columns = reader.split(border.join([*sentences, ""]), layout)
    if columns is None:
        raise Unusual("a line does not fit")
    try:
        tags = {layer: reader.values(columns, source, layer) for layer, source in layout.layers.items()}
    except ValueError as error:
        raise Unusual("a value does not fit") from error
    token_ids = [] if layout.token_id is None else columns[layout.token_id]
    return SentenceColumns(columns[layout.token], token_ids, tags)
