"""The documents of parallel column files without their tags, which studies do not need.

Otherwise the documents are those of `clueval.formats.columns`; on request without the spans of sentences whose lines
are equal on all sides, since errors are elsewhere. Such a sentence is split and decoded once.
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
from clueval.formats.input_file import SeenTags
from clueval.reading import Text
from clueval.reading.clusters import Unusual
from clueval.reading.passages import (
    Passage,
    PassageReader,
    Passages,
    Rows,
    RowSplitter,
    SentenceColumns,
    Sizes,
    have_ids,
    passages_in_step,
    require_sentences,
)
from clueval.reading.source import Source

ROWS = 1 << 14
"""The approximate number of lines that are split at a time."""


def column_texts(
    sources: Sequence[Source], *, only_differing: bool, in_parts: bool = False
) -> Iterator[Text]:
    """Yield the documents of each text of parallel files; with `in_parts`, parts of a long one, cut between sentences.

    With `only_differing`, they lack the spans of sentences whose lines are equal in all files. Memory holds some texts
    with `ROWS` lines together, or one longer text, or sentence. The files get what was read of them. Raises `Unusual`
    for what must be read document by document, and for every error: the documents so far are right.
    """
    tokens = ROWS if in_parts else sys.maxsize
    readers = [_reader_of(source, Sizes(sentences=sys.maxsize, tokens=tokens)) for source in sources]
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
                yield from _documents(splitter.split(waiting), readers, seen_tags, only_differing)
                waiting, rows = [], 0
        if waiting:
            yield from _documents(splitter.split(waiting), readers, seen_tags, only_differing)
    except CluevalError as error:
        raise Unusual("a file cannot be read") from error


def _reader_of(source: Source, sizes: Sizes) -> PassageReader:
    """Return the reader of a file, whose passages are documents or parts. Raises `Unusual` for what needs documents."""
    options = source.options
    form = require_sentences(source.form, options)
    if form.no_space or form.pairs or options.scheme is not None or options.unannotated is not None:
        raise Unusual("a format or an option that needs documents")
    if not options.repairs:
        raise Unusual("whether tags are a span may depend on those around them")
    return PassageReader(source, sizes, source.file.limits)


def _id_of(passage: Passage) -> str:
    document = passage.document
    return document.id if document.named else MissingId(document.id)


def _documents(
    rows: Rows, readers: Sequence[PassageReader], seen_tags: Sequence[SeenTags], only_differing: bool
) -> Iterator[Text]:
    """Yield the documents of each text. Raises the errors of tags."""
    for number, side_tags in enumerate(seen_tags):
        for columns in (*rows.columns[number : number + 1], *rows.same):
            for layer, tags in columns.tags.items():
                side_tags.see(layer, tags)
    of_rows = {True: rows.columns[:1], False: rows.same}
    tokens_and_ids: list[tuple[list[str], list[str]]] = []
    # of each sentence that differs, or does not, its first row, the number of its text, and its first position
    places: dict[bool, list[tuple[int, int, int]]] = {True: [], False: []}
    for number, part in enumerate(rows.parts):
        tokens, ids = list[str](), list[str]()
        for differs, start, size in part.sentences():
            places[differs].append((start, number, part.passages[0].start + len(tokens)))
            tokens += of_rows[differs][0].tokens[start : start + size]
            ids += of_rows[differs][0].token_ids[start : start + size]
        tokens_and_ids.append((tokens, ids))
    spans_of_sides = [_spans(columns, places[True]) for columns in rows.columns] or [{} for _ in readers]
    if not only_differing and rows.same:
        for place, spans in _spans(rows.same[0], places[False]).items():
            for of_side in spans_of_sides:
                of_side[place] = sorted([*spans, *of_side.get(place, ())])
    for number, (part, (tokens, ids)) in enumerate(zip(rows.parts, tokens_and_ids, strict=True)):
        lines = part.passages[0].lines
        same = lines.sentences(part.passages[0].start, readers[0].form.id_in)
        yield tuple(
            Document(
                _id_of(passage),
                Layers({}, {layer: spans.get((number, layer), []) for layer in wanted_layers(reader)}),
                tokens=tokens,
                start=passage.start,
                token_ids=ids or None,
                sentences=same
                if (passage.lines.heads, reader.form.id_in) == (lines.heads, readers[0].form.id_in)
                else passage.lines.sentences(passage.start, reader.form.id_in),
                metadata=Frozen(passage.document.metadata),
                lines=passage.lines.numbers(),
                file=reader.file,
            )
            for passage, reader, spans in zip(part.passages, readers, spans_of_sides, strict=True)
        )


def _spans(
    columns: SentenceColumns, places: Sequence[tuple[int, int, int]]
) -> dict[tuple[int, str], list[Row]]:
    """Return the spans of sentences by the number of their text and by layer."""
    starts = [*(start for start, _, _ in places), sys.maxsize]
    spans: dict[tuple[int, str], list[Row]] = {}
    for layer, tags in columns.tags.items():
        following = 0  # the first row of the next sentence
        for start, end, label in decode(tags):
            if start >= following:
                place = bisect_right(starts, start)
                first, number, position = places[place - 1]
                following, shift = starts[place], position - first
                of_text = spans.setdefault((number, layer), [])
            of_text.append((start + shift, end + shift, label))
    return spans
