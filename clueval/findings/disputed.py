"""The hunks of two parallel passages as documents: the lines that differ, and those that spans connect with them.

A sentence is disputed if its lines differ, and only disputed sentences are parsed. Of these, only the tags of hunks are
decoded: a hunk lies between two lines that are outside every span on both sides, and the lines outside the hunks are
the same on both sides. Both documents have the positions of the file, but tokens and sentences only where these are
disputed, and spans only in hunks. Spans outside the hunks are the same on both sides and overlap no span of a hunk, so
they are no errors. Neither are spans within hunks that both sides have; they are left out, too, unless a choice needs
them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, chain, compress, count
from operator import ne
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
from clueval.tagging.decoder import BadTag
from clueval.tagging.schemes import OUTSIDE
from clueval.tagging.transitions import Seams

Pair = tuple[Document, Document]


def disputed_documents(
    sources: tuple[Source, Source],
    passages: tuple[Passage, Passage],
    *,
    keeps_agreed: bool,
    is_checked: bool = False,
) -> Pair | None:
    """Return the hunks of two passages of the same frame as documents; None if there are none.

    With `keeps_agreed`, spans of hunks that both sides have are kept. If the texts are checked already, both documents
    have the tokens of gold. Raises `TextMismatch` if two sentences have different lengths, `FormatError` and `TagError`
    for lines that cannot be read.
    """
    gold, predicted = passages
    differs = [True] * len(gold.sentences)
    if gold.layout == predicted.layout:
        differs = list(map(ne, gold.sentences, predicted.sentences))
    if not any(differs):
        return None
    numbers = list(compress(count(), differs))
    sizes = [sentence.count("\n") for sentence in gold.sentences]
    if any(predicted.sentences[number].count("\n") != sizes[number] for number in numbers):
        raise first_difference(gold, predicted)
    places = _Places(numbers, list(accumulate(sizes, initial=gold.start)))
    hunks = list(_hunks(passages, places))
    try:
        own, other = (
            _DisputedSide(*each, hunks, side) for side, each in enumerate(zip(sources, passages, strict=True))
        )
        texts = _Texts.of(gold, places)
    except (ValueError, BadTag):
        for source, passage in zip(sources, passages, strict=True):
            _read_whole(source, passage)
        raise
    if not keeps_agreed:
        own.leave_out_agreed(other)
    is_shared = is_checked and gold.layout == predicted.layout
    return own.document(texts, places), other.document(texts if is_shared else other.texts(texts), places)


def _read_whole(source: Source, passage: Passage) -> None:
    """Read all lines of a passage. Raises the error for the first one that cannot be read, which names it."""
    assert source.token_lines is not None
    decoders = {name: source.options.decoder() for name in layer_names(source.options.layers)}
    list(documents([passage], decoders, source.token_lines.sentence_id))


class _Places(NamedTuple):
    """The numbers of the disputed sentences, and where each sentence of the passage begins in the file."""

    numbers: Sequence[int]
    starts: Sequence[int]

    def spread(self, column: Sequence[str]) -> list[str]:
        """Return a column of the tables of these sentences at its places in the passage; elsewhere it is empty."""
        first, last = self.starts[0], self.starts[-1]
        spread = [""] * (last - first)
        line = 0
        for number in self.numbers:
            start, end = self.starts[number : number + 2]
            spread[start - first : end - first] = column[line : line + end - start]
            line += end - start + 1
        return spread


class _Texts(NamedTuple):
    """The tokens and the token ids, if there are any, of a passage; those of sentences that agree are empty."""

    tokens: list[str]
    token_ids: list[str] | None

    @classmethod
    def of(cls, passage: Passage, places: _Places) -> _Texts:
        """Read the disputed sentences. Raises `FormatError` for a token id that occurs again."""
        assert passage.layout is not None
        found = list(tables([passage.sentences[number] for number in places.numbers], passage.layout))
        tokens, ids = _texts_of(found, passage, len(places.numbers))
        return cls(places.spread(tokens), None if ids is None else places.spread(ids))


def _texts_of(
    found: Sequence[TokenTable], passage: Passage, borders: int
) -> tuple[list[str], list[str] | None]:
    """Return the tokens and the token ids of tables. Raises `FormatError` for a token id that occurs again."""
    tokens = list(chain.from_iterable(table.tokens() for table in found))
    ids = list(chain.from_iterable(table.token_ids() or () for table in found))
    if ids and len(set(ids)) < len(ids) - borders + 1:  # there is an O at each border, too
        for error in repeated_ids([passage]):
            raise error
    return tokens, ids or None


class _Hunk(NamedTuple):
    """A hunk: its place in the file, and its lines of each side."""

    start: int
    end: int
    lines: tuple[str, str]


def _hunks(passages: tuple[Passage, Passage], places: _Places) -> Iterator[_Hunk]:
    gold, predicted = passages
    assert gold.layout is not None
    is_outside = _outside_test(gold.layout)
    for number in places.numbers:
        own, other = (passage.sentences[number][:-1].split("\n") for passage in passages)
        first = places.starts[number]
        ranges = [(0, len(own))]
        if gold.layout == predicted.layout:
            ranges = list(_ranges(own, other, is_outside))
        for start, end in ranges:
            lines = tuple("\n".join([*side[start:end], ""]) for side in (own, other))
            yield _Hunk(first + start, first + end, (lines[0], lines[1]))


def _ranges(
    gold: Sequence[str], predicted: Sequence[str], is_outside: Callable[[str], bool]
) -> Iterator[tuple[int, int]]:
    """Yield the first and the last line, exclusive, of each hunk of a sentence."""
    done = 0
    for number in compress(count(), map(ne, gold, predicted)):
        if number < done:
            continue
        start, end = number, number + 1
        while start > done and not is_outside(gold[start - 1]):  # the lines before are the same on both sides
            start -= 1
        while end < len(gold) and not (is_outside(gold[end]) and is_outside(predicted[end])):
            end += 1
        yield start, end
        done = end


def _outside_test(layout: Layout) -> Callable[[str], bool]:
    """Return a function that returns whether a line is outside every span."""
    columns = [column for _, column in layout.layers]
    if set(columns) == set(range(layout.width - len(columns), layout.width)):
        end = (layout.separator + OUTSIDE) * len(columns)
        return lambda line: line.endswith(end)

    def is_outside(line: str) -> bool:
        fields = line.split(layout.separator)
        return len(fields) == layout.width and all(fields[column] == OUTSIDE for column in columns)

    return is_outside


class _DisputedSide:
    """The hunks of one side. Raises `ValueError` and `BadTag` for lines that cannot be read."""

    def __init__(self, source: Source, passage: Passage, hunks: Sequence[_Hunk], side: int) -> None:
        assert source.token_lines is not None
        assert passage.layout is not None
        self._passage, self._hunks = passage, hunks
        self._sentence_id = source.token_lines.sentence_id
        self._tables = list(tables([hunk.lines[side] for hunk in hunks], passage.layout))
        self._flat = {layer: self._decoded(source, layer) for layer in layer_names(source.options.layers)}

    def _decoded(self, source: Source, layer: str) -> Flat:
        """The spans of a layer; positions are those of the lines of the tables."""
        decoder = source.options.decoder()
        tags = list(chain.from_iterable(table.tags()[layer] for table in self._tables))
        seams = Seams(tags)
        decoder.accept(tags, seams.neighbours)
        return decoder.columns(layer, tags, seams)

    def leave_out_agreed(self, other: _DisputedSide) -> None:
        """Leave out spans that both sides have, on both sides."""
        for layer in self._flat.keys() & other._flat.keys():
            _, self._flat[layer], other._flat[layer] = self._flat[layer].compared(other._flat[layer])

    def texts(self, gold: _Texts) -> _Texts:
        """Return the texts of this side: those of gold, except in hunks."""
        tokens, ids = _texts_of(self._tables, self._passage, len(self._hunks))
        own_ids = None if ids is None else list(gold.token_ids or [""] * len(gold.tokens))
        found = _Texts(list(gold.tokens), own_ids)
        line = 0
        for hunk in self._hunks:
            start, end = hunk.start - self._passage.start, hunk.end - self._passage.start
            found.tokens[start:end] = tokens[line : line + end - start]
            if ids is not None and own_ids is not None:
                own_ids[start:end] = ids[line : line + end - start]
            line += end - start + 1
        return found

    def document(self, texts: _Texts, places: _Places) -> Document:
        """Return the passage as a document with these texts."""
        passage = self._passage
        # the line after each hunk stands for the place where it ends
        lines = list(chain.from_iterable(range(hunk.start, hunk.end + 1) for hunk in self._hunks))
        return Document(
            passage.document if passage.named else MissingId(passage.document),
            Frozen({layer: _spans(flat, lines) for layer, flat in self._flat.items()}),
            tokens=texts.tokens,
            start=passage.start,
            token_ids=texts.token_ids,
            sentences=[
                Sentence(
                    places.starts[number],
                    places.starts[number + 1],
                    self._sentence_id(passage.heads[number]),
                )
                for number in places.numbers
            ],
            metadata=passage.metadata,
            lines=TokenLineNumbers([passage]),
            file=passage.file,
        )


def _spans(flat: Flat, lines: Sequence[int]) -> list[Span]:
    """Return spans in the positions of the file."""
    names, labels = flat.keyed_labels()
    starts, ends = (map(lines.__getitem__, column) for column in (flat.starts, flat.ends))
    return list(map(Span, starts, ends, map(labels.__getitem__, names)))
