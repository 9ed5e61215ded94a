"""The documents of parallel column files with the spans of the sentences that differ, which are all that errors need.

Otherwise the documents are those of `clueval.formats.columns`, without their tags. A sentence whose lines are equal on
all sides is split once.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from clueval.core.document import Document, Layers, MissingId, Row, same_id
from clueval.core.span import Frozen
from clueval.core.tags import decode
from clueval.files.errors import CluevalError
from clueval.formats.column_format import wanted_layers
from clueval.formats.tag_lists import SeenTags
from clueval.reading.clusters import Unusual
from clueval.reading.options import Text
from clueval.reading.passages import (
    Passage,
    PassageReader,
    Passages,
    Rows,
    RowSplitter,
    Sizes,
    have_ids,
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
    splitter, seen_tags = RowSplitter(readers), [SeenTags(None) for _ in readers]
    waiting: list[Passages] = []
    rows = 0
    try:
        for text in passages_in_step(readers):
            if any(passage.lines.ends != text[0].lines.ends for passage in text):
                raise Unusual("different sentences")
            if not all(same_id(_id_of(text[0]), _id_of(passage)) for passage in text):
                raise Unusual("different documents")
            if any(passage.lines.unspaced for passage in text):
                raise Unusual("the text is not known from the tokens alone")
            waiting.append(text)
            rows += text[0].tokens
            if rows >= ROWS or have_ids(text):
                yield from _documents(splitter.split(waiting), readers, seen_tags)
                waiting, rows = [], 0
        if waiting:
            yield from _documents(splitter.split(waiting), readers, seen_tags)
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


def _documents(rows: Rows, readers: Sequence[PassageReader], seen_tags: Sequence[SeenTags]) -> Iterator[Text]:
    """Yield the documents of each text. Raises the errors of tags."""
    for number, side_tags in enumerate(seen_tags):
        for columns in (*rows.columns[number : number + 1], *rows.same):
            for layer, tags in columns.tags.items():
                side_tags.see(layer, tags)
    sentences = [part.sentences() for part in rows.parts]
    spans = _spans(rows, sentences)
    of_rows = {True: rows.columns[:1], False: rows.same}
    for number, part in enumerate(rows.parts):
        tokens: list[str] = []
        ids: list[str] = []
        for differs, start, size in sentences[number]:
            columns = of_rows[differs][0]
            tokens += columns.tokens[start : start + size]
            ids += columns.token_ids[start : start + size]
        yield tuple(
            Document(
                _id_of(passage),
                Layers({}, {layer: spans.get((number, side, layer), []) for layer in wanted_layers(reader)}),
                tokens=tokens,
                start=passage.start,
                token_ids=ids or None,
                sentences=passage.lines.sentences(passage.start, reader.form.id_in),
                metadata=Frozen(passage.document.metadata),
                lines=passage.lines.numbers(),
                file=reader.file,
            )
            for side, (passage, reader) in enumerate(zip(part.passages, readers, strict=True))
        )


def _spans(
    rows: Rows, sentences: Sequence[Sequence[tuple[bool, int, int]]]
) -> dict[tuple[int, int, str], list[Row]]:
    """Return the spans of the sentences that differ, by the numbers of the text and the side, and the layer."""
    starts: list[int] = []
    places: list[tuple[int, int]] = []  # the text of each of these sentences, and its first position
    for number, (part, of_text) in enumerate(zip(rows.parts, sentences, strict=True)):
        position = part.passages[0].start
        for differs, start, size in of_text:
            if differs:
                starts.append(start)
                places.append((number, position))
            position += size
    spans: dict[tuple[int, int, str], list[Row]] = {}
    for side, columns in enumerate(rows.columns):
        for layer, tags in columns.tags.items():
            for start, end, label in decode(tags):
                sentence = bisect_right(starts, start) - 1
                number, position = places[sentence]
                shift = position - starts[sentence]
                spans.setdefault((number, side, layer), []).append((start + shift, end + shift, label))
    return spans
