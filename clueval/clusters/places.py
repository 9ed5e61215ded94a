"""The rows in which parallel passages differ, and what is found in their clusters, with the place of each.

Only sentences whose lines differ are split into columns. Each different cluster is examined once, as a small document,
and what was found there holds wherever the cluster occurs.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, compress, count, repeat
from operator import not_
from typing import Generic, NamedTuple, TypeVar

from clueval.clusters.bag import Bag, Row
from clueval.clusters.rows import LINES, IrregularRows, differing
from clueval.formats.columns.columns import tables
from clueval.formats.columns.documents import TokenLineNumbers
from clueval.formats.columns.passages import Passage
from clueval.reading.layers import layer_names
from clueval.reading.source import Source
from clueval.spans.document import Document, MissingId, Sentence
from clueval.spans.span import Frozen, Span
from clueval.tagging.decoder import BadTag
from clueval.tagging.schemes import neighbours_of

_CLUSTER = re.compile("[^ ]+")
_MOST = 1 << 15
"""The number of rows of clusters that are held, approximately."""


class SideColumns(NamedTuple):
    """What one side has in the rows: tokens, token ids (none if the file has none), and the tags of each layer."""

    tokens: list[str]
    token_ids: list[str]
    tags: dict[str, list[str]]

    @classmethod
    def of(cls, sentences: Iterable[str], passage: Passage) -> SideColumns:
        found = cls([], [], {layer: [] for layer, _ in passage.layout.layers} if passage.layout else {})
        try:
            for table in tables(list(sentences), passage.layout) if passage.layout else ():
                found.tokens.extend(table.tokens())
                found.token_ids.extend(table.token_ids() or ())
                for layer, tags in table.tags().items():
                    found.tags[layer].extend(tags)
        except ValueError as error:
            raise IrregularRows("a line does not fit") from error
        return found


class DifferingRows:
    """The sentences of parallel passages whose lines differ, as rows of all sides, with an O for each border.

    Raises `IrregularRows` for lines that do not fit, and for sentences of different lengths.
    """

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.passages = passages
        differ, first = differing(passages), passages[0]
        self.numbers = list(compress(count(), differ))
        self.sizes = list(map(LINES, first.sentences))
        self._starts = list(accumulate(self.sizes, initial=first.start))
        self.columns = [SideColumns.of(compress(passage.sentences, differ), passage) for passage in passages]
        self._equal = list(compress(first.sentences, map(not_, differ)))

    @property
    def sizes_of_same(self) -> list[int]:
        """The numbers of rows of the other sentences."""
        return list(map(LINES, self._equal))

    @cached_property
    def same(self) -> SideColumns:
        """The columns of the other sentences, whose lines are the same on all sides."""
        return SideColumns.of(self._equal, self.passages[0])

    def ranges(self) -> Iterator[tuple[int, int]]:
        """Yield the range of each sentence whose lines differ."""
        return ((self._starts[number], self._starts[number + 1]) for number in self.numbers)

    def have_one_text(self) -> bool:
        """Return whether all sides have the same tokens, and the same token ids if they have any."""
        tokens, ids, _ = self.columns[0]
        return all(
            each.tokens == tokens and (not (ids and each.token_ids) or each.token_ids == ids)
            for each in self.columns
        )

    def rows(self, layers: Iterable[str]) -> Iterator[Row]:
        """Yield the rows: the tags in these layers of the first side, then those of the next."""
        tags = (column.tags[layer] for column in self.columns for layer in layers)
        return zip(repeat(1), *tags, strict=False)

    def clusters(self, text: str) -> Iterator[tuple[str, int]]:
        """Yield the clusters, given the characters of the rows, each with the position where it begins."""
        row = 0
        for number in self.numbers:
            past, shift = row + self.sizes[number], self._starts[number] - row
            for match in _CLUSTER.finditer(text, row, past):
                yield match[0], match.start() + shift
            row = past + 1

    def documents(self, sources: Sequence[Source]) -> list[Document]:
        """Return the passages of these sources as documents without layers.

        They have tokens and sentences only where the passages differ.
        """
        found: list[Document] = []
        for source, passage, column in zip(sources, self.passages, self.columns, strict=False):
            first, known = self.columns[0], found[0] if found else None
            tokens = known.tokens if known and column.tokens == first.tokens else self._spread(column.tokens)
            ids = self._spread(column.token_ids) if column.token_ids else None
            found.append(
                Document(
                    passage.document if passage.named else MissingId(passage.document),
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

    def _spread(self, column: Sequence[str]) -> list[str]:
        """Return a column at the positions of the passage; elsewhere it is empty."""
        spread, row, start = [""] * (self._starts[-1] - self._starts[0]), 0, self._starts[0]
        for number in self.numbers:
            size, at = self.sizes[number], self._starts[number] - start
            spread[at : at + size] = column[row : row + size]
            row += size + 1
        return spread

    def _sentences(self, source: Source, passage: Passage) -> Iterator[Sentence]:
        assert source.token_lines is not None
        sentence_id, starts = source.token_lines.sentence_id, self._starts
        without = sentence_id("")
        for number in self.numbers:
            head = passage.heads[number]
            yield Sentence(starts[number], starts[number + 1], sentence_id(head) if head else without)


Found = TypeVar("Found")


class PlacedCluster(NamedTuple, Generic[Found]):
    """What was found in a cluster, and its sentence.

    Attributes:
        found: what was found.
        tokens: the tokens of many sentences.
        by: the number to add to a position of what was found, which gives that of a token.
        begin, size: the position of the first token of the sentence, and the number of its tokens.
    """

    found: list[Found]
    tokens: list[str]
    by: int
    begin: int
    size: int


class Clusters(Generic[Found]):
    """What `examine` finds in the clusters of parallel files: each different one is examined when it occurs first.

    `examine` gets a document of each side with several clusters, and returns what it has found by position, with the
    position. Holds a limited number of clusters.
    """

    def __init__(
        self, sources: Sequence[Source], examine: Callable[[list[Document]], Iterable[tuple[int, Found]]]
    ) -> None:
        self._sources, self._examine = sources, examine
        self._layers = layer_names(sources[0].options.layers)
        self._begin()

    def _begin(self) -> None:
        self._bag = Bag(len(self._sources), len(self._layers))
        self._known: dict[str, tuple[int, list[Found]]] = {}
        self._size = 0

    def found(self, rows: DifferingRows) -> list[tuple[int, list[Found]]]:
        """Return what was found in each cluster of the rows, with the number to add to its positions."""
        if self._size > _MOST:
            self._begin()
        if not rows.numbers:
            return []
        places = list(rows.clusters(self._bag.text(rows.rows(self._layers))))
        different = dict.fromkeys(cluster for cluster, _ in places)
        self._see([cluster for cluster in different if cluster not in self._known])
        found = ((*self._known[cluster], place) for cluster, place in places)
        return [(place - start, of_cluster) for start, of_cluster, place in found if of_cluster]

    def counted(self, rows: DifferingRows) -> Iterator[tuple[list[Found], int]]:
        """Yield what was found in each cluster of the other sentences, and how often it occurs."""
        if not rows.same.tokens:
            return
        text = self._bag.text_of_same([rows.same.tags[layer] for layer in self._layers])
        clusters = Counter(text.split())
        self._see([cluster for cluster in clusters if cluster not in self._known])
        for cluster, times in clusters.items():
            yield self._known[cluster][1], times

    def everywhere(self, rows: DifferingRows) -> Iterator[PlacedCluster[Found]]:
        """Yield what was found in each cluster of all sentences, with its place."""
        if self._size > _MOST:
            self._begin()
        parts = []
        if rows.numbers:
            text = self._bag.text(rows.rows(self._layers))
            parts.append((text, rows.columns[0].tokens, [rows.sizes[number] for number in rows.numbers]))
        if rows.same.tokens:
            text = self._bag.text_of_same([rows.same.tags[layer] for layer in self._layers])
            parts.append((text, rows.same.tokens, rows.sizes_of_same))
        for text, tokens, sizes in parts:
            self._see([cluster for cluster in dict.fromkeys(text.split()) if cluster not in self._known])
            begin = 0
            for size in sizes:
                for match in _CLUSTER.finditer(text, begin, begin + size):
                    start, found = self._known[match[0]]
                    if found:
                        yield PlacedCluster(found, tokens, match.start() - start, begin, size)
                begin += size + 1

    def _see(self, clusters: Sequence[str]) -> None:
        """Examine new clusters."""
        starts = [0, *accumulate(len(cluster) + 1 for cluster in clusters)]
        self._size += starts[-1]
        found: list[list[Found]] = [[] for _ in clusters]
        for position, each in self._examine(self._documents(clusters)) if clusters else ():
            found[bisect_right(starts, position) - 1].append(each)
        self._known.update(zip(clusters, zip(starts, found, strict=False), strict=True))

    def _documents(self, clusters: Sequence[str]) -> list[Document]:
        """Return clusters as a document of each side, with an O after each."""
        lengths, *columns = self._bag.characters.columns_of(clusters)
        tokens, number = ["x"] * len(lengths), len(self._layers)
        return [
            Document("", Frozen(self._spans(source, columns[side * number :])), tokens=tokens)
            for side, source in enumerate(self._sources)
        ]

    def _spans(self, source: Source, columns: Sequence[Sequence[str]]) -> Mapping[str, list[Span]]:
        """Return the spans of each layer. Raises `IrregularRows` for tags that cannot be read."""
        found = {}
        for layer, tags in zip(self._layers, columns, strict=False):
            decoder, pairs = source.options.decoder(), neighbours_of(tags)
            try:
                decoder.accept(tags, pairs)
                found[layer] = list(decoder.columns(layer, tags, pairs))
            except BadTag as error:
                raise IrregularRows(error.problem) from error
        return found
