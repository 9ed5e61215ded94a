"""The documents of parallel column files with the spans of the sentences that differ, which are all that errors need.

Otherwise the documents are those of `clueval.formats.columns`, without their tags. A sentence whose lines are equal on
all sides is split once.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, compress
from operator import ne
from typing import NamedTuple

from clueval.core.document import Document, Layers, MissingId, Row, same_id
from clueval.core.span import Frozen
from clueval.core.tags import decode
from clueval.files.errors import CluevalError
from clueval.formats.column_format import Layout, wanted_layers
from clueval.formats.tag_lists import SeenTags
from clueval.reading.clusters import Unusual
from clueval.reading.options import Text
from clueval.reading.passages import (
    Passage,
    PassageReader,
    Passages,
    SentenceColumns,
    Sizes,
    columns_of,
    passages_in_step,
    require_sentences,
)
from clueval.reading.source import Source

ROWS = 1 << 14
"""The approximate number of lines that are split at a time."""


def column_texts(sources: Sequence[Source]) -> Iterator[Text]:
    """Yield the documents of each text of parallel files, without spans of sentences whose lines are equal in all.

    Memory holds some texts with `ROWS` lines together, or one longer text. The files get what was read of them. Raises
    `Unusual` for what must be read document by document, and for every error: the documents so far are right.
    """
    readers = list(map(_reader_of, sources))
    batch = _Batch(readers)
    try:
        for text in passages_in_step(readers):
            if any(each.lines.ends != text[0].lines.ends for each in text):
                raise Unusual("different sentences")
            if not all(same_id(_id_of(text[0]), _id_of(each)) for each in text):
                raise Unusual("different documents")
            if any(each.lines.unspaced for each in text):
                raise Unusual("the text is not known from the tokens alone")
            batch.add(text)
            if batch.rows >= ROWS:
                yield from batch.take()
        yield from batch.take()
    except CluevalError as error:
        raise Unusual("a file cannot be read") from error


def _reader_of(source: Source) -> PassageReader:
    """Return the reader of a file, whose passages are documents. Raises `Unusual` for what needs documents."""
    options = source.options
    form = require_sentences(source.form, options)
    if form.no_space or form.pairs or options.scheme is not None or options.unannotated is not None:
        raise Unusual("a format or an option that needs documents")
    if options.invalid not in (None, "conlleval"):
        raise Unusual("whether tags are a span may depend on those around them")
    return PassageReader(source, Sizes(sentences=sys.maxsize, tokens=sys.maxsize), source.file.limits)


def _id_of(passage: Passage) -> str:
    document = passage.document
    return document.id if document.named else MissingId(document.id)


class _Batch:
    """Texts whose lines are split together; `rows` is their number of lines."""

    def __init__(self, readers: Sequence[PassageReader]) -> None:
        self._readers = readers
        self._seen = [SeenTags(None) for _ in readers]
        self._texts: list[Passages] = []
        self.rows = 0

    def add(self, text: Passages) -> None:
        """Add the lines of all sides of a text."""
        self._texts.append(text)
        self.rows += text[0].tokens

    def take(self) -> Iterator[Text]:
        """Yield the documents of the texts, and begin again. Raises `Unusual`, and the errors of columns."""
        texts, self._texts, self.rows = self._texts, [], 0
        lines: list[list[str]] = [
            [] for _ in self._readers
        ]  # of the first side all, of others those that differ
        differing: list[_Differing] = []
        rows = 0  # of the first side so far, with one of O after each sentence
        for number, text in enumerate(texts):
            first, *others = [each.sentences for each in text]
            differ = list(map(any, zip(*(map(ne, first, other) for other in others), strict=True)))
            begin = 0
            for end, differs in zip(text[0].lines.ends, differ, strict=False):
                if differs:
                    differing.append(
                        _Differing(number, text[0].start + begin, slice(rows, rows + end - begin + 1))
                    )
                rows += end - begin + 1
                begin = end
            lines[0] += first
            for own, other in zip(lines[1:], others, strict=True):
                own += compress(other, differ)
        layouts = [each.layout for text in texts for each in text if each.layout is not None]
        if not layouts:
            for text in texts:
                yield self._documents(text, [], [], [{}] * len(text))
            return
        if any(layout != layouts[0] for layout in layouts):
            raise Unusual("different columns")
        whole = self._columns(0, lines[0], layouts[0])
        spans = self._spans(whole, lines[1:], layouts[0], differing)
        past = 0
        for number, text in enumerate(texts):
            tokens: list[str] = []
            ids: list[str] = []
            begin = 0
            for end in text[0].lines.ends:
                tokens += whole.tokens[past : past + end - begin]
                ids += whole.token_ids[past : past + end - begin]
                past += end - begin + 1
                begin = end
            if len({*ids}) < len(ids):
                raise Unusual("a token id occurs again")
            of_text = [{layer: rows.get(number, []) for layer, rows in side.items()} for side in spans]
            yield self._documents(text, tokens, ids, of_text)

    def _spans(
        self,
        whole: SentenceColumns,
        others: Iterable[Sequence[str]],
        layout: Layout,
        differing: Sequence[_Differing],
    ) -> list[dict[str, dict[int, list[Row]]]]:
        """Return the spans of the sentences that differ: of each side, by layer and number of the text."""

        def chosen(column: Sequence[str]) -> list[str]:
            return list(chain.from_iterable([column[sentence.rows] for sentence in differing]))

        tags = {layer: chosen(column) for layer, column in whole.tags.items()}
        first = SentenceColumns(chosen(whole.tokens), chosen(whole.token_ids), tags)
        sides = [first, *(self._columns(number, own, layout) for number, own in enumerate(others, 1))]
        if any(side[:2] != first[:2] for side in sides):
            raise Unusual("different tokens")
        sizes = [sentence.rows.stop - sentence.rows.start for sentence in differing]
        starts = list(accumulate(sizes, initial=0))
        found: list[dict[str, dict[int, list[Row]]]] = []
        for side in sides:
            found.append({layer: {} for layer in side.tags})
            for layer, column in side.tags.items():
                for start, end, label in decode(column):
                    number = bisect_right(starts, start) - 1
                    sentence = differing[number]
                    shift = sentence.position - starts[number]
                    found[-1][layer].setdefault(sentence.text, []).append((start + shift, end + shift, label))
        return found

    def _columns(self, number: int, lines: Sequence[str], layout: Layout) -> SentenceColumns:
        """Return the columns of sentences of a side. Raises the errors of tags, and `Unusual` for other lines."""
        if not lines:
            return SentenceColumns([], [], {layer: [] for layer in layout.layers})
        columns = columns_of(lines, layout, self._readers[number].values)
        for layer, tags in columns.tags.items():
            self._seen[number].see(layer, tags)
        return columns

    def _documents(
        self,
        text: Passages,
        tokens: Sequence[str],
        ids: Sequence[str],
        spans: Sequence[Mapping[str, Sequence[Row]]],
    ) -> Text:
        return tuple(
            Document(
                _id_of(own),
                Layers({}, {layer: of_side.get(layer, []) for layer in wanted_layers(reader)}),
                tokens=tokens,
                start=own.start,
                token_ids=ids or None,
                sentences=own.lines.sentences(own.start),
                metadata=Frozen(own.document.metadata),
                lines=own.lines.numbers(),
                file=reader.file,
            )
            for own, of_side, reader in zip(text, spans, self._readers, strict=True)
        )


class _Differing(NamedTuple):
    """A sentence whose lines differ: the number of its text, its first position, and its rows in the first side."""

    text: int
    position: int
    rows: slice
