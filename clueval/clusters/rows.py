"""Rows of any number of parallel column files: sentences that are equal on all sides are split into columns once."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, partial, reduce
from itertools import accumulate, chain, compress, count, repeat
from operator import methodcaller, ne, not_, or_

from clueval.clusters.bag import Row
from clueval.core.span import Frozen
from clueval.files.errors import CluevalError
from clueval.formats.columns.documents import MANY, Columns, TokenLineNumbers
from clueval.formats.columns.layout import Layout, Sizes
from clueval.formats.columns.passages import Passage
from clueval.reading.source import Source
from clueval.spans.document import Document, MissingId, Sentence, same_id

CLUSTER = re.compile("[^ ]+")
"""A cluster in the characters of rows."""


class IrregularRows(CluevalError):
    """Something is wrong or unusual in parallel files, which must be read as documents; the place is not known."""


def differing(passages: Sequence[Passage]) -> list[bool]:
    """Return for each sentence of parallel passages whether its lines are different on some sides.

    Raises `IrregularRows` for different numbers of sentences, and for different numbers of lines in one that differs.
    """
    first, *others = [passage.sentences for passage in passages]
    if any(len(sentences) != len(first) for sentences in others):
        raise IrregularRows("different numbers of sentences")
    if any(passage.layout != passages[0].layout for passage in passages):
        found = [True] * len(first)
    elif all(sentences == first for sentences in others):
        return [False] * len(first)
    else:
        found = list(reduce(partial(map, or_), (map(ne, first, sentences) for sentences in others)))
    lengths = list(map(LINES, compress(first, found)))
    if any(list(map(LINES, compress(sentences, found))) != lengths for sentences in others):
        raise IrregularRows("sentences of different lengths")
    return found


LINES = methodcaller("count", "\n")


def _split(sentences: Sequence[str], layout: Layout | None) -> Columns:
    """Return the columns of sentences, with an O for each border. Raises `IrregularRows` for one that does not fit."""
    if layout is None:
        return Columns([], [], {}, [])
    try:
        return Columns.of(sentences, layout, are_many=sum(map(LINES, sentences)) > MANY)
    except ValueError as error:
        raise IrregularRows("a line does not fit") from error


class ParallelRows:
    """The rows of parallel passages: of all sides in the sentences whose lines differ, and once in the others.

    Each of `groups` has a passage of each side; the layouts of a side are the same. If rows must stay `in_order`, all
    sentences are treated as if they differed. Raises `IrregularRows` for lines that do not fit, and for sentences of
    different lengths.

    Attributes:
        parts: the rows of each group.
        columns: the columns of each side in the sentences whose lines differ; equal tokens are one list.
    """

    def __init__(self, groups: Sequence[Sequence[Passage]], *, in_order: bool = False) -> None:
        differ = [differing(passages) for passages in groups]
        if in_order:
            differ = [[True] * len(each) for each in differ]
        self._layouts = [
            next((passage.layout for passage in of_side if passage.layout), None)
            for of_side in zip(*groups, strict=True)
        ]
        self.columns: list[Columns] = []
        for of_side, layout in zip(zip(*groups, strict=True), self._layouts, strict=True):
            columns = _split(_chosen(of_side, differ), layout)
            if self.columns and columns.tokens == self.columns[0].tokens:
                columns = columns._replace(tokens=self.columns[0].tokens)
            self.columns.append(columns)
        self.parts: list[PassageRows] = []
        row = 0
        for passages, found in zip(groups, differ, strict=True):
            part = PassageRows(self.columns, passages, found, row)
            row += sum(part.sizes[number] + 1 for number in part.numbers)
            self.parts.append(part)
        self._equal = _chosen([passages[0] for passages in groups], [map(not_, each) for each in differ])

    @property
    def sizes_of_same(self) -> list[int]:
        """The numbers of rows of the other sentences."""
        return list(map(LINES, self._equal))

    @cached_property
    def same(self) -> Columns:
        """The columns of the other sentences, whose lines are the same on all sides."""
        return _split(self._equal, self._layouts[0])

    def have_one_text(self) -> bool:
        """Return whether all sides have the same tokens, and the same token ids if they have any."""
        ids = [each.token_ids for each in self.columns if each.token_ids]
        has_tokens = all(each.tokens is self.columns[0].tokens for each in self.columns)
        return has_tokens and all(each == ids[0] for each in ids)

    def tags(self) -> Iterator[tuple[str, list[list[str]]]]:
        """Yield each layer with the tags of all sides where these differ, and with those that all sides have."""
        for columns in (self.columns, [self.same]):
            for layer in columns[0].tags if columns[0].tokens else ():
                yield layer, [column.tags[layer] for column in columns]

    def rows(self, layers: Iterable[str]) -> Iterator[Row]:
        """Yield the rows that differ: the tags in these layers of the first side, then those of the next."""
        tags = (column.tags[layer] for column in self.columns for layer in layers)
        return zip(repeat(1), *tags, strict=False)


def _chosen(passages: Sequence[Passage], chosen: Iterable[Iterable[bool]]) -> list[str]:
    """The sentences of passages for which there is True."""
    return list(
        chain.from_iterable(
            compress(passage.sentences, of_passage)
            for passage, of_passage in zip(passages, chosen, strict=True)
        )
    )


class PassageRows:
    """The sentences of a passage of each side whose lines differ, which begin at `row` in the rows of several ones.

    Attributes:
        numbers: the numbers of these sentences among all of the passage.
        sizes: the number of rows of each sentence of the passage.
    """

    def __init__(
        self, columns: Sequence[Columns], passages: Sequence[Passage], differ: Sequence[bool], row: int
    ) -> None:
        self.passages, self._columns, self._row = passages, columns, row
        self.numbers = list(compress(count(), differ))
        self.sizes = list(map(LINES, passages[0].sentences))
        self._starts = list(accumulate(self.sizes, initial=passages[0].start))

    def ranges(self) -> Iterator[tuple[int, int]]:
        """Yield the range of each sentence whose lines differ."""
        return ((self._starts[number], self._starts[number + 1]) for number in self.numbers)

    def clusters(self, text: str) -> Iterator[tuple[str, int]]:
        """Yield the clusters, given the characters of all rows, each with the position where it begins."""
        row = self._row
        for number in self.numbers:
            past, shift = row + self.sizes[number], self._starts[number] - row
            for match in CLUSTER.finditer(text, row, past):
                yield match[0], match.start() + shift
            row = past + 1

    def line_of(self, side: int, position: int) -> int:
        """Return the line number of a token of a side."""
        sentence = bisect_right(self._starts, position) - 1
        return self.passages[side].line_of(sentence, position - self._starts[sentence])

    def documents(self, sources: Sequence[Source]) -> list[Document]:
        """Return the passages of these sources as documents without layers.

        They have tokens and sentences only where the passages differ. A document has the id of the first
        one if either of the two has none.
        """
        found: list[Document] = []
        first = self._columns[0].tokens
        for source, passage, column in zip(sources, self.passages, self._columns, strict=False):
            is_first = found and column.tokens is first
            tokens = found[0].tokens if is_first else self.spread(column.tokens)
            ids = self.spread(column.token_ids) if column.token_ids else None
            name = passage.document if passage.named else MissingId(passage.document)
            found.append(
                Document(
                    found[0].id if found and same_id(found[0].id, name) else name,
                    Frozen(),
                    tokens=tokens,
                    start=passage.start,
                    token_ids=ids,
                    sentences=list(self._sentences(source, passage)),
                    metadata=passage.metadata,
                    lines=TokenLineNumbers([passage]),
                    file=passage.file,
                )
            )
        return found

    def spread(self, column: Sequence[str]) -> list[str]:
        """Return a column at the positions of the passage; elsewhere it is empty."""
        spread, row, start = [""] * (self._starts[-1] - self._starts[0]), self._row, self._starts[0]
        for number in self.numbers:
            size, at = self.sizes[number], self._starts[number] - start
            spread[at : at + size] = column[row : row + size]
            row += size + 1
        return spread

    def _sentences(self, source: Source, passage: Passage) -> Iterator[Sentence]:
        assert source.token_lines is not None
        for number, (start, end) in zip(self.numbers, self.ranges(), strict=True):
            yield Sentence(start, end, source.token_lines.sentence_id(passage.heads[number]))


def in_batches(
    groups: Iterable[Sequence[Passage]], sizes: Sizes, *, one_by_one: bool = False, in_order: bool = False
) -> Iterator[ParallelRows]:
    """Yield the rows of parallel passages, of as many together as have about `sizes.rows` rows.

    Passages that `are_alone` come alone, and all of them if they must come `one_by_one`; `in_order` is that of
    `ParallelRows`.
    """
    waiting: list[Sequence[Passage]] = []
    number = 0
    for passages in groups:
        waiting.append(passages)
        number += passages[0].tokens
        if one_by_one or number > sizes.rows or are_alone(passages):
            yield ParallelRows(waiting, in_order=in_order)
            waiting, number = [], 0
    if waiting:
        yield ParallelRows(waiting, in_order=in_order)


def are_alone(passages: Iterable[Passage]) -> bool:
    """Return whether parallel passages are split alone: they have token ids, or no layout yet."""
    return any(each.layout is None or each.layout.token_id is not None for each in passages)
