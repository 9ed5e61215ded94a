"""What is found in the clusters of parallel files, with the place of each.

Each different cluster is examined once, as a small document, and what was found there holds wherever the cluster
occurs.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Generic, NamedTuple, TypeVar

from clueval.clusters.bag import Bag
from clueval.clusters.rows import CLUSTER, IrregularRows, ParallelRows, PassageRows
from clueval.core.span import Frozen, Span
from clueval.reading.source import Source
from clueval.second.reading.options import layer_names
from clueval.spans.document import Document
from clueval.tagging.decoder import BadTag
from clueval.tagging.schemes import neighbours_of

_MOST = 1 << 15
"""The number of rows of clusters that are held, approximately."""

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

    def found(self, rows: ParallelRows) -> Iterator[tuple[PassageRows, list[tuple[int, list[Found]]]]]:
        """Yield the rows of each passage that differ, and what was found in each of their clusters.

        A number comes with it, which is to be added to its positions.
        """
        text = self._text_of_differing(rows)
        known = self._see(text.split())
        for part in rows.parts:
            found = ((*known[cluster], place) for cluster, place in part.clusters(text))
            yield part, [(place - start, of_cluster) for start, of_cluster, place in found if of_cluster]

    def counted(self, rows: ParallelRows) -> Iterator[tuple[list[Found], int]]:
        """Yield what was found in each cluster of the other sentences, and how often it occurs."""
        clusters = Counter(self._text_of_same(rows).split())
        known = self._see(clusters)
        for cluster, times in clusters.items():
            yield known[cluster][1], times

    def everywhere(self, rows: ParallelRows) -> Iterator[PlacedCluster[Found]]:
        """Yield what was found in each cluster of all sentences, with its place."""
        differing = [part.sizes[number] for part in rows.parts for number in part.numbers]
        parts = (
            (self._text_of_differing, rows.columns[0].tokens, differing),
            (self._text_of_same, rows.same.tokens, rows.sizes_of_same),
        )
        for text_of, tokens, sizes in parts:
            text = text_of(rows)
            known = self._see(text.split())
            begin = 0
            for size in sizes:
                for match in CLUSTER.finditer(text, begin, begin + size):
                    start, found = known[match[0]]
                    if found:
                        yield PlacedCluster(found, tokens, match.start() - start, begin, size)
                begin += size + 1

    def _text_of_differing(self, rows: ParallelRows) -> str:
        if self._size > _MOST:
            self._begin()
        return self._bag.text(rows.rows(self._layers)) if rows.columns[0].tokens else ""

    def _text_of_same(self, rows: ParallelRows) -> str:
        if not rows.same.tokens:
            return ""
        return self._bag.text_of_same([rows.same.tags[layer] for layer in self._layers])

    def _see(self, clusters: Iterable[str]) -> Mapping[str, tuple[int, list[Found]]]:
        """Examine the clusters that are new; return what was found in each one, with the position of its first row."""
        new = [cluster for cluster in dict.fromkeys(clusters) if cluster not in self._known]
        starts = [0, *accumulate(len(cluster) + 1 for cluster in new)]
        self._size += starts[-1]
        found: list[list[Found]] = [[] for _ in new]
        for position, each in self._examine(self._documents(new)) if new else ():
            found[bisect_right(starts, position) - 1].append(each)
        self._known.update(zip(new, zip(starts, found, strict=False), strict=True))
        return self._known

    def _documents(self, clusters: Sequence[str]) -> list[Document]:
        """Return clusters as a document of each side, with an O after each."""
        _, *columns = self._bag.characters.columns_of(clusters)
        number = len(self._layers)
        return [
            Document("", Frozen(self._spans(source, columns[side * number :])))
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
