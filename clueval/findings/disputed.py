"""The disputed sentences of two parallel passages, as documents; the others are never parsed.

A sentence is disputed if its lines differ. Both documents have the positions of the file, but tokens, sentences and
spans only where sentences are disputed. Spans that both sides have are left out, too, unless a choice needs them:
they overlap no other span, because the spans of a layer do not overlap one another, so they are no errors, and no
other span has to do with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, chain, compress
from operator import ne

from clueval.formats.columns.columns import tables
from clueval.formats.columns.documents import TokenLineNumbers, documents, repeated_ids
from clueval.formats.columns.passages import Passage
from clueval.reading.layers import layer_names
from clueval.reading.same_text import first_difference
from clueval.reading.source import Source
from clueval.spans.document import Document, Sentence
from clueval.spans.flat import Flat
from clueval.spans.missing_id import MissingId
from clueval.spans.span import Frozen, Span
from clueval.tagging.decoder import BadTag
from clueval.tagging.transitions import Seams

Pair = tuple[Document, Document]


def disputed_documents(
    sources: tuple[Source, Source], passages: tuple[Passage, Passage], *, keeps_agreed: bool
) -> Pair | None:
    """Return the disputed sentences of two passages of the same frame as documents; None if there are none.

    With `keeps_agreed`, their spans that both sides have are kept. Raises `TextMismatch` if two sentences have
    different lengths, `FormatError` and `TagError` for lines that cannot be read.
    """
    gold, predicted = passages
    differs = [True] * len(gold.sentences)
    if gold.layout == predicted.layout:
        differs = list(map(ne, gold.sentences, predicted.sentences))
    if not any(differs):
        return None
    numbers = list(compress(range(len(differs)), differs))
    sizes = [sentence.count("\n") for sentence in gold.sentences]
    if any(predicted.sentences[number].count("\n") != sizes[number] for number in numbers):
        raise first_difference(gold, predicted)
    starts = list(accumulate(sizes, initial=0))
    own, other = (
        _Disputed.of(source, passage, numbers, starts)
        for source, passage in zip(sources, passages, strict=True)
    )
    if not keeps_agreed:
        own.leave_out_agreed(other)
    return own.document(), other.document()


class _Disputed:
    """The disputed sentences of a passage: those with these `numbers`, which begin at these `starts`."""

    def __init__(
        self, source: Source, passage: Passage, numbers: Sequence[int], starts: Sequence[int]
    ) -> None:
        self._passage, self._numbers, self._starts = passage, numbers, starts
        assert source.token_lines is not None
        assert passage.layout is not None
        self._sentence_id = source.token_lines.sentence_id
        self._layers = layer_names(source.options.layers)
        self._tables = list(tables([passage.sentences[number] for number in numbers], passage.layout))
        self._flat = {layer: self._decoded(source, layer) for layer in self._layers}

    @classmethod
    def of(cls, source: Source, passage: Passage, numbers: Sequence[int], starts: Sequence[int]) -> _Disputed:
        """Decode the sentences. Raises the errors of the whole passage, which name the line."""
        try:
            return cls(source, passage, numbers, starts)
        except (ValueError, BadTag):
            assert source.token_lines is not None
            decoders = {name: source.options.decoder() for name in layer_names(source.options.layers)}
            list(documents([passage], decoders, source.token_lines.sentence_id))
            raise

    def _decoded(self, source: Source, layer: str) -> Flat:
        """The spans of a layer; positions are those of the lines of the tables."""
        decoder = source.options.decoder()
        tags = list(chain.from_iterable(table.tags()[layer] for table in self._tables))
        seams = Seams(tags)
        decoder.accept(tags, seams.neighbours)
        return decoder.columns(layer, tags, seams)

    def leave_out_agreed(self, other: _Disputed) -> None:
        """Leave out spans that both sides have, on both sides."""
        for layer in self._flat.keys() & other._flat.keys():
            _, self._flat[layer], other._flat[layer] = self._flat[layer].compared(other._flat[layer])

    def document(self) -> Document:
        """Return the document. Raises `FormatError` for a token id that occurs again."""
        passage, start = self._passage, self._passage.start
        sentences = [
            Sentence(
                start + self._starts[number],
                start + self._starts[number + 1],
                self._sentence_id(passage.heads[number]),
            )
            for number in self._numbers
        ]
        # the line after each sentence stands for the place where it ends
        places = list(chain.from_iterable(range(each.start, each.end + 1) for each in sentences))
        return Document(
            passage.document if passage.named else MissingId(passage.document),
            Frozen({layer: _spans(flat, places) for layer, flat in self._flat.items()}),
            tokens=self._spread(list(chain.from_iterable(table.tokens() for table in self._tables))),
            start=start,
            token_ids=self._token_ids(),
            sentences=sentences,
            metadata=passage.metadata,
            lines=TokenLineNumbers([passage]),
            file=passage.file,
        )

    def _token_ids(self) -> list[str] | None:
        ids = list(chain.from_iterable(table.token_ids() or () for table in self._tables))
        if not ids:
            return None
        if len(set(ids)) < len(ids) - len(self._numbers) + 1:  # there is an O after each sentence, too
            for error in repeated_ids([self._passage]):
                raise error
        return self._spread(ids)

    def _spread(self, column: Sequence[str]) -> list[str]:
        """Return the values of a column of the tables at their places in the passage; elsewhere they are empty."""
        spread = [""] * self._starts[-1]
        line = 0
        for number in self._numbers:
            start, end = self._starts[number : number + 2]
            spread[start:end] = column[line : line + end - start]
            line += end - start + 1
        return spread


def _spans(flat: Flat, places: Sequence[int]) -> list[Span]:
    """Return spans in the positions of the file."""
    names, labels = flat.keyed_labels()
    starts, ends = (map(places.__getitem__, column) for column in (flat.starts, flat.ends))
    return list(map(Span, starts, ends, map(labels.__getitem__, names)))
