"""The hunks of two parallel passages as documents: the lines that differ, and those that spans connect with them.

A sentence is disputed if its lines differ, and only disputed sentences are parsed. Of these, only the tags of hunks are
decoded: a hunk lies between two lines that are outside every span on both sides, and the lines outside the hunks are
the same on both sides. Both documents have the positions of the file, but tokens and sentences only where these are
disputed, and spans only in hunks. Spans outside the hunks are the same on both sides and overlap no span of a hunk, so
they are no errors. Neither are spans within hunks that both sides have; they are left out, too, unless a choice needs
them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, chain, compress, count, repeat
from operator import methodcaller, ne, not_
from typing import NamedTuple

from clueval.formats.columns.columns import TokenTable, tables
from clueval.formats.columns.documents import TokenLineNumbers, documents, repeated_ids
from clueval.formats.columns.layout import Layout
from clueval.formats.columns.passages import Passage
from clueval.reading.layers import layer_names
from clueval.reading.same_text import first_difference
from clueval.reading.source import Source
from clueval.spans.document import Document, Sentence
from clueval.spans.flat import Flat
from clueval.spans.missing_id import MissingId
from clueval.spans.span import Frozen, Span
from clueval.tagging.decoder import BadTag, flat_of
from clueval.tagging.decoding import decode
from clueval.tagging.schemes import OUTSIDE
from clueval.tagging.transitions import Seams

Pair = tuple[Document, Document]

_NO_FEATURES = Frozen()

Hunk = tuple[int, int]
"""The first row of a hunk and the row after it, among the rows of the disputed sentences of a side and their borders.

The row after it is outside every span on both sides.
"""


class Disputed(NamedTuple):
    """The hunks of two parallel passages as documents, and what was read of their lines.

    `equal` are the sentences that are the same on both sides, `tables` those of the others of gold.
    """

    documents: Pair
    equal: Sequence[str]
    tables: Sequence[TokenTable]
    predicted: _DisputedSide

    def tags(self, layer: str) -> list[str]:
        """Return the tags of gold in the disputed sentences, with borders."""
        return list(chain.from_iterable(table.tags()[layer] for table in self.tables))

    def predicted_tags(self, layer: str, gold: Sequence[str]) -> set[str]:
        """Return the different tags of predicted in the disputed sentences, given the tags of gold there."""
        found, done = set(self.predicted.tags(layer)), 0
        for start, end in self.predicted.hunks:
            found.update(gold[done:start])
            done = end
        return found.union(gold[done:])


def disputed_sentences(
    sources: tuple[Source, Source], passages: tuple[Passage, Passage], *, keeps_agreed: bool
) -> Disputed | None:
    """Return what differs in two passages of the same frame; None if nothing does.

    With `keeps_agreed`, spans of hunks that both sides have are kept. Raises `TextMismatch` if two sentences have
    different lengths, `FormatError` and `TagError` for lines that cannot be read.
    """
    gold, predicted = passages
    differs = [True] * len(gold.sentences)
    if gold.layout == predicted.layout:
        differs = list(map(ne, gold.sentences, predicted.sentences))
    if not any(differs):
        return None
    sizes = [sentence.count("\n") for sentence in gold.sentences]
    sentences = tuple(list(compress(passage.sentences, differs)) for passage in passages)
    if any(map(ne, compress(sizes, differs), [sentence.count("\n") for sentence in sentences[1]])):
        raise first_difference(gold, predicted)
    places = _Places(list(compress(count(), differs)), list(accumulate(sizes, initial=gold.start)))
    own_lines, other_lines = map(_lines, sentences, passages)
    hunks = list(places.rows())
    if gold.layout == predicted.layout:
        hunks = list(_hunks(own_lines, other_lines, _outside_test(gold)))
    try:
        own = _DisputedSide(sources[0], gold, own_lines, hunks)
        other = _DisputedSide(sources[1], predicted, other_lines, hunks)
        found = list(tables(sentences[0], _layout(gold)))
        texts = _Texts.of(found)
        _require_unique(texts.token_ids or (), gold, len(sentences[0]))
    except (ValueError, BadTag):
        for source, passage in zip(sources, passages, strict=True):
            _read_whole(source, passage)
        raise
    if not keeps_agreed:
        own.leave_out_agreed(other)
    texts, positions = texts.spread(places), list(places.positions(hunks))
    other_texts = texts if own.texts == other.texts else other.texts_in(texts, positions)
    pair = own.document(texts, positions, places), other.document(other_texts, positions, places)
    return Disputed(pair, list(compress(gold.sentences, map(not_, differs))), found, other)


def _layout(passage: Passage) -> Layout:
    assert passage.layout is not None  # a passage without token lines has no disputed sentence
    return passage.layout


def _lines(sentences: Iterable[str], passage: Passage) -> list[str]:
    """Return the lines of sentences, with a border after each sentence."""
    border = _layout(passage).border
    return border.join((*sentences, ""))[:-1].split("\n")


def _read_whole(source: Source, passage: Passage) -> None:
    """Read all lines of a passage. Raises the error for the first one that cannot be read, which names it."""
    assert source.token_lines is not None
    decoders = {name: source.options.decoder() for name in layer_names(source.options.layers)}
    list(documents([passage], decoders, source.token_lines.sentence_id))


class _Places(NamedTuple):
    """The numbers of the disputed sentences, and where each sentence of the passage begins in the file."""

    numbers: Sequence[int]
    starts: Sequence[int]

    def ranges(self) -> tuple[list[int], list[int]]:
        """Return the starts and the ends of the disputed sentences."""
        starts = self.starts
        return [starts[number] for number in self.numbers], [starts[number + 1] for number in self.numbers]

    def rows(self) -> Iterator[Hunk]:
        """Yield the rows of each disputed sentence."""
        row = 0
        for number in self.numbers:
            size = self.starts[number + 1] - self.starts[number]
            yield row, row + size
            row += size + 1

    def positions(self, hunks: Iterable[Hunk]) -> Iterator[int]:
        """Yield the position in the file of each row of the hunks, and of the row after each hunk."""
        firsts = [first for first, _ in self.rows()]
        shifts = [self.starts[number] - first for number, first in zip(self.numbers, firsts, strict=True)]
        found = ((start, end, shifts[bisect_right(firsts, start) - 1]) for start, end in hunks)
        return chain.from_iterable(range(start + shift, end + shift + 1) for start, end, shift in found)

    def spread(self, column: Sequence[str]) -> list[str]:
        """Return a column of the tables of these sentences at its places in the passage; elsewhere it is empty."""
        spread = [""] * (self.starts[-1] - self.starts[0])
        for number, (first, past) in zip(self.numbers, self.rows(), strict=True):
            start = self.starts[number] - self.starts[0]
            spread[start : start + past - first] = column[first:past]
        return spread


class _Texts(NamedTuple):
    """Tokens, and the token ids if there are any."""

    tokens: list[str]
    token_ids: list[str] | None

    @classmethod
    def of(cls, found: Iterable[TokenTable]) -> _Texts:
        """Return the texts of tables, with an O for each border."""
        tokens: list[str] = []
        ids: list[str] = []
        for table in found:
            tokens += table.tokens()
            ids += table.token_ids() or ()
        return cls(tokens, ids or None)

    def spread(self, places: _Places) -> _Texts:
        """Return those of the disputed sentences at their places in the passage."""
        ids = self.token_ids
        return _Texts(places.spread(self.tokens), None if ids is None else places.spread(ids))


def _require_unique(ids: Sequence[str], passage: Passage, borders: int = 1) -> None:
    """Raise `FormatError` for a token id that occurs again; among the ids there is an O for each border."""
    if len(set(ids)) < len(ids) - borders + 1:
        for error in repeated_ids([passage]):
            raise error


def _hunks(
    gold: Sequence[str], predicted: Sequence[str], is_outside: Callable[[str], bool]
) -> Iterator[Hunk]:
    """Yield the hunks of the lines of sentences; a border is outside every span."""
    done = 0
    for number in compress(count(), map(ne, gold, predicted)):
        if number < done:
            continue
        start, end = number, number + 1
        while start > done and not is_outside(gold[start - 1]):  # the lines before are the same on both sides
            start -= 1
        while not (is_outside(gold[end]) and is_outside(predicted[end])):
            end += 1
        yield start, end
        done = end


def _outside_test(passage: Passage) -> Callable[[str], bool]:
    """Return a function that returns whether a line of a passage is outside every span."""
    layout = _layout(passage)
    columns = [column for _, column in layout.layers]
    if set(columns) == set(range(layout.width - len(columns), layout.width)):
        end = (layout.separator + OUTSIDE) * len(columns)
        return methodcaller("endswith", end)

    def is_outside(line: str) -> bool:
        fields = line.split(layout.separator)
        return len(fields) == layout.width and all(fields[column] == OUTSIDE for column in columns)

    return is_outside


class _DisputedSide:
    """The hunks of one side. Raises `ValueError` and `BadTag` for lines that cannot be read."""

    def __init__(self, source: Source, passage: Passage, lines: Sequence[str], hunks: Sequence[Hunk]) -> None:
        assert source.token_lines is not None
        self._passage, self.hunks = passage, hunks
        self._sentence_id = source.token_lines.sentence_id
        own = chain.from_iterable([lines[start : end + 1] for start, end in hunks])
        self._tables = list(tables(["\n".join([*own, ""])], _layout(passage)))
        self.texts = _Texts.of(self._tables)
        """Those of the hunks, and of the row after each of them."""
        self._flat = {layer: self._decoded(source, layer) for layer in layer_names(source.options.layers)}

    def _decoded(self, source: Source, layer: str) -> Flat:
        """The spans of a layer; positions are those of the lines of the tables."""
        decoder = source.options.decoder()
        tags = list(chain.from_iterable(table.tags()[layer] for table in self._tables))
        if (
            decoder.named_scheme is None
        ):  # so all tags are read leniently; for few tags this is many times faster
            return flat_of(layer, decode(tags))
        seams = Seams(tags)
        decoder.accept(tags, seams.neighbours)
        return decoder.columns(layer, tags, seams)

    def tags(self, layer: str) -> list[str]:
        """Return the tags of the hunks, and of the row after each of them."""
        return list(chain.from_iterable(table.tags()[layer] for table in self._tables))

    def leave_out_agreed(self, other: _DisputedSide) -> None:
        """Leave out spans that both sides have, on both sides."""
        for layer in self._flat.keys() & other._flat.keys():
            _, self._flat[layer], other._flat[layer] = self._flat[layer].compared(other._flat[layer])

    def texts_in(self, gold: _Texts, positions: Sequence[int]) -> _Texts:
        """Return the texts of this side: those of gold, except in hunks.

        Raises `FormatError` for a token id that occurs again in the hunks.
        """
        tokens, ids = list(gold.tokens), list(gold.token_ids or [""] * len(gold.tokens))
        seen, row = list[str](), 0
        for start, end in self.hunks:
            first, past = row, row + end - start
            place = slice(positions[first] - self._passage.start, positions[past] - self._passage.start)
            tokens[place] = self.texts.tokens[first:past]
            if self.texts.token_ids is not None:
                ids[place] = self.texts.token_ids[first:past]
                seen += ids[place]
            row = past + 1
        _require_unique(seen, self._passage)
        return _Texts(tokens, None if self.texts.token_ids is None else ids)

    def document(self, texts: _Texts, positions: Sequence[int], places: _Places) -> Document:
        """Return the passage as a document with these texts; `positions` are those of its tables' rows."""
        passage = self._passage
        heads = [passage.heads[number] for number in places.numbers]
        ids = map(self._sentence_id, heads) if any(heads) else repeat(self._sentence_id(""))
        return Document(
            passage.document if passage.named else MissingId(passage.document),
            Frozen({layer: self._spans(flat, positions, places) for layer, flat in self._flat.items()}),
            tokens=texts.tokens,
            start=passage.start,
            token_ids=texts.token_ids,
            sentences=list(map(Sentence, *places.ranges(), ids)),
            metadata=passage.metadata,
            lines=TokenLineNumbers([passage]),
            file=passage.file,
        )

    def _spans(self, flat: Flat, positions: Sequence[int], places: _Places) -> list[Span]:
        """Return spans in the positions of the file, with their lines."""
        names, labels = flat.keyed_labels()
        starts, ends = ([positions[place] for place in column] for column in (flat.starts, flat.ends))
        lines = self._passage.lines_at(starts, places.starts)
        others = (repeat(None), repeat(None))  # tokens and ids
        return list(
            map(Span, starts, ends, map(labels.__getitem__, names), repeat(_NO_FEATURES), *others, lines)
        )
