"""The hunks of two parallel passages as documents: the lines whose tags differ, and those that spans connect with them.

A sentence is disputed if its lines differ, and only disputed sentences are parsed. Of these, only the tags of hunks are
decoded: a hunk lies between two lines that are outside every span on both sides, and the lines outside the hunks have
the same tags on both sides. Both documents have the positions of the file, but tokens and sentences only where these
are disputed, and spans only in hunks. Spans outside the hunks are the same on both sides and overlap no span of a hunk,
so they are no errors. Neither are spans within hunks that both sides have; they are left out, too, unless a choice
needs them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain, compress, count, repeat
from operator import ne, not_
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

    `equal` are the sentences that are the same on both sides, `gold` and `predicted` the others.
    """

    documents: Pair
    equal: Sequence[str]
    gold: DisputedSide
    predicted: DisputedSide


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
    try:
        own, other = map(DisputedSide, passages, sentences)
        hunks = list(places.rows())
        if gold.layout == predicted.layout:
            hunks = list(_hunks(own.rows(), other.rows(), own.outside))
        own.decode(sources[0], hunks)
        other.decode(sources[1], hunks)
        _require_unique(own.texts.token_ids or (), gold, len(sentences[0]))
    except (ValueError, BadTag):
        for source, passage in zip(sources, passages, strict=True):
            _read_whole(source, passage)
        raise
    if not keeps_agreed:
        own.leave_out_agreed(other)
    texts = other_texts = own.texts.spread(places)
    if own.texts != other.texts:
        _require_unique(other.texts.token_ids or (), predicted, len(sentences[1]))
        other_texts = other.texts.spread(places)
    positions = list(places.positions(hunks))
    pair = own.document(texts, positions, places), other.document(other_texts, positions, places)
    return Disputed(pair, list(compress(gold.sentences, map(not_, differs))), own, other)


def _layout(passage: Passage) -> Layout:
    assert passage.layout is not None  # a passage without token lines has no disputed sentence
    return passage.layout


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

    def add(self, table: TokenTable) -> None:
        """Add the rows of a table."""
        self.tokens.extend(table.tokens())
        if self.token_ids is not None:
            self.token_ids.extend(table.token_ids() or ())

    def spread(self, places: _Places) -> _Texts:
        """Return those of the disputed sentences at their places in the passage."""
        ids = self.token_ids
        return _Texts(places.spread(self.tokens), None if ids is None else places.spread(ids))


def _require_unique(ids: Sequence[str], passage: Passage, borders: int) -> None:
    """Raise `FormatError` for a token id that occurs again; among the ids there is an O for each border."""
    if len(set(ids)) < len(ids) - borders + 1:
        for error in repeated_ids([passage]):
            raise error


def _hunks(gold: Sequence[object], predicted: Sequence[object], outside: object) -> Iterator[Hunk]:
    """Yield the hunks of the rows of sentences, given their tags; a border is outside every span."""
    done = 0
    for number in compress(count(), map(ne, gold, predicted)):
        if number < done:
            continue
        start, end = number, number + 1
        while start > done and gold[start - 1] != outside:  # the rows before are the same on both sides
            start -= 1
        while not (gold[end] == outside == predicted[end]):
            end += 1
        yield start, end
        done = end


class DisputedSide:
    """The disputed sentences of one side, with an O for each border.

    Raises `ValueError` for lines that cannot be read.
    """

    def __init__(self, passage: Passage, sentences: Sequence[str]) -> None:
        layout = _layout(passage)
        self._passage, self._flat = passage, dict[str, Flat]()
        self.texts = _Texts([], None if layout.token_id is None else [])
        self.tags: dict[str, list[str]] = {name: [] for name, _ in layout.layers}
        for table in tables(sentences, layout):
            self.texts.add(table)
            for layer, tags in table.tags().items():
                self.tags[layer] += tags

    @property
    def outside(self) -> object:
        """What `rows` has for a row that is outside every span."""
        return OUTSIDE if len(self.tags) == 1 else (OUTSIDE,) * len(self.tags)

    def rows(self) -> Sequence[object]:
        """Return the tags of each row: a string, or a tuple of several layers."""
        columns = list(self.tags.values())
        return columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))

    def decode(self, source: Source, hunks: Sequence[Hunk]) -> None:
        """Decode the tags of hunks. Raises `BadTag` for tags that cannot be read."""
        assert source.token_lines is not None
        self._sentence_id = source.token_lines.sentence_id
        for layer, column in self.tags.items():
            tags = list(chain.from_iterable([column[start : end + 1] for start, end in hunks]))
            self._flat[layer] = _decoded(source, layer, tags)

    def leave_out_agreed(self, other: DisputedSide) -> None:
        """Leave out spans that both sides have, on both sides."""
        for layer in self._flat.keys() & other._flat.keys():
            _, self._flat[layer], other._flat[layer] = self._flat[layer].compared(other._flat[layer])

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


def _decoded(source: Source, layer: str, tags: Sequence[str]) -> Flat:
    """Return the spans of the tags of a layer; positions are places among these tags."""
    decoder = source.options.decoder()
    if decoder.named_scheme is None:  # so all tags are read leniently; for few tags this is many times faster
        return flat_of(layer, decode(tags))
    seams = Seams(tags)
    decoder.accept(tags, seams.neighbours)
    return decoder.columns(layer, tags, seams)
