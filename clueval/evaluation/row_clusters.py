"""Counts rows of tags of gold and predicted by clusters (`clueval.clusters.bag`).

Distinct clusters are joined into documents, with a row of O after each, and are counted as documents are, once for each
power of two in their number of occurrences. The rows of O outside clusters are positions on which both sides agree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import compress, pairwise, repeat
from operator import ne, not_
from typing import Any

from clueval.clusters.bag import BLANK, Bag, Row, by_power
from clueval.core.span import SIDES, Frozen, Span
from clueval.evaluation.plan import Plan
from clueval.evaluation.tallies import ClusterCounts
from clueval.evaluation.units.unit import SENTENCE
from clueval.files.errors import CluevalError
from clueval.first.metrics.counting import Tallies
from clueval.formats.columns.layout import Sizes
from clueval.spans.document import Document
from clueval.spans.filters import SeenNames
from clueval.spans.making import making_many
from clueval.tagging.decoder import BadTag, Decoder
from clueval.tagging.schemes import continues, flat, neighbours_of

Decoders = Mapping[tuple[str, str], Decoder]
"""The decoder of each (side, layer)."""

Documents = tuple[Document, Document]
"""The documents of gold and of predicted."""


class InvalidTag(CluevalError):
    """A tag that is invalid; its place is not known."""


class RowClusters:
    """The clusters of some layers, which are counted when they have become many, and when their sums are asked for.

    `check` is called with each new tag, and may raise an error. Holds a limited number of clusters. Raises `InvalidTag`
    when clusters are counted.
    """

    def __init__(
        self,
        plan: Plan,
        layers: Sequence[str],
        decoders: Decoders,
        sizes: Sizes,
        seen_names: SeenNames,
        check: Callable[[Any], object] | None = None,
    ) -> None:
        self.layers = tuple(layers)
        self._plan, self._seen_names = plan, seen_names
        self._decoders, self._sizes = decoders, sizes
        self._counts = self._new_counts()
        self._check = check
        self._begin()

    def _new_counts(self) -> ClusterCounts:
        return ClusterCounts(self._plan, self.layers, self._seen_names)

    def add(self, rows: Iterable[Row]) -> None:
        """Add rows, which continue the last ones: the length of a token, or 1, and the tags of both sides."""
        self._add(self._bag.text(rows))

    def add_sentences(self, gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> None:
        """Add the tags of one layer of parallel sentences; those that both sides have in common are read once."""
        differ = list(map(ne, gold, predicted))
        own, other = (flat(compress(side, differ)) for side in (gold, predicted))
        self.add(zip(repeat(1), own, other, strict=False))
        self.add_same([flat(compress(gold, map(not_, differ)))])

    def add_same(self, columns: Sequence[Sequence[str]]) -> None:
        """Add rows of which both sides have the same tags, given those of each layer; positions are tokens."""
        self._add(self._bag.text_of_same(columns))

    def _add(self, text: str) -> None:
        self._bag.add(text)
        if self._bag.size > self._sizes.runs:
            self._count(self._bag.take(ends=False))

    def tallies(self, positions: int) -> Tallies:
        """Return the counts by metric and sequence of everything added, a text of `positions` positions."""
        self._count(self._bag.take())
        return self._counts.tallies(positions)

    def rest(self) -> None:
        """Count what has not been counted with its document: nothing, because documents are not told apart."""

    def _count(self, clusters: Counter[str]) -> None:
        for times, some in by_power(clusters):
            self._counts.count(*self._documents_of(some, self._decoders, times), times)
        if self._bag.size > self._sizes.runs and not self._bag.is_open:
            self._begin()

    def _begin(self) -> None:
        """Begin with an empty bag, without the characters of rows so far."""
        self._bag = Bag(len(SIDES), len(self.layers), self._check)

    def _documents_of(self, clusters: Sequence[str], decoders: Decoders, times: int) -> Documents:
        """The documents of both sides with these clusters, and a row of O after each."""
        lengths, *columns = self._bag.characters.columns_of(clusters)
        tokens = list(map("x".__mul__, lengths))
        number = len(self.layers)
        with making_many(len(tokens)):
            return (
                self._document(SIDES[0], tokens, columns[:number], decoders, times),
                self._document(SIDES[1], tokens, columns[number:], decoders, times),
            )

    def _document(
        self,
        side: str,
        tokens: list[str],
        columns: Sequence[Sequence[str]],
        decoders: Decoders,
        times: int,
    ) -> Document:
        layers: dict[str, Sequence[Span]] = {}
        for layer, tags in zip(self.layers, columns, strict=True):
            pairs, decoder = neighbours_of(tags), decoders[side, layer]
            try:
                decoder.accept(tags, pairs, times)
                layers[layer] = decoder.columns(layer, tags, pairs, times)
            except BadTag as error:
                raise InvalidTag(error.problem) from error
        tags_of = dict(zip(self.layers, columns, strict=True))
        return Document("", Frozen(layers), tokens=tokens, tags=Frozen(tags_of))


class DocumentClusters(RowClusters):
    """Clusters that are counted by document: the counts of each different one are kept.

    The decoders count the tags of many documents together, those of the last ones in `rest`.
    """

    def _begin(self) -> None:
        super()._begin()
        self._own_decoders = deepcopy(self._decoders)  # of single clusters
        self._cuts = _Cuts(self._bag.characters.rows)
        self._known: dict[str, Sequence[ClusterCounts]] = {}
        self._of_documents: Counter[str] = Counter()
        self._text: list[str] = []  # of sentences to be counted one by one

    def _add(self, text: str) -> None:
        if self._plan.resample_by == SENTENCE:
            self._text.append(text)
        else:
            self._bag.add(text)

    def tallies(self, positions: int) -> Tallies:
        """Return the counts of the rows added since the last call, those of a document with this many positions."""
        clusters = self._bag.take()
        found = self._summed(clusters, positions)
        self._of_documents.update(clusters)
        self._forget()
        return found

    def of_sentences(self, sizes: Iterable[int]) -> Iterator[Tallies]:
        """Yield the counts of each sentence added since the last call, given their numbers of positions.

        There is a row of O after each.
        """
        text, self._text = "".join(self._text), []
        yield from self._of_text(text, sizes)

    def of_tags(self, gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> Iterator[Tallies]:
        """Yield the counts of each of some parallel sentences, given the tags of one layer."""
        rows = zip(repeat(1), flat(gold), flat(predicted), strict=False)
        yield from self._of_text(self._bag.text(rows), map(len, gold))

    def _of_text(self, text: str, sizes: Iterable[int]) -> Iterator[Tallies]:
        self._of_documents.update(text.split())
        place = 0
        for size in sizes:
            yield self._summed(Counter(text[place : place + size].split()), size)
            place += size + 1
        self._forget()

    def _summed(self, clusters: Counter[str], positions: int) -> Tallies:
        known = (
            (counts, times) for cluster, times in clusters.items() for counts in self._counts_of(cluster)
        )
        return self._counts.summed(known, positions)

    def _forget(self) -> None:
        """Forget the clusters if there are many."""
        if max(len(self._known), len(self._bag.characters)) > self._sizes.runs:
            self.rest()

    def rest(self) -> None:
        """Let the decoders count the tags of the documents so far, and forget the clusters."""
        for times, clusters in by_power(self._of_documents):
            self._documents_of(clusters, self._decoders, times)
        self._begin()

    def _counts_of(self, cluster: str) -> Sequence[ClusterCounts]:
        """The counts of the parts of a cluster between which no span goes on; many clusters have the same parts."""
        found = self._known.get(cluster)
        if found is not None:
            return found
        parts = [cluster]
        if all(decoder.reads_neighbours for decoder in self._decoders.values()):
            parts = "".join(map(self._cuts.__getitem__, pairwise(BLANK + cluster))).split()
        for part in parts:
            if part not in self._known:
                counts = self._new_counts()
                counts.count(*self._documents_of([part], self._own_decoders, 1), 1)
                self._known[part] = [counts]
        found = self._known[cluster] = [counts for part in parts for counts in self._known[part]]
        return found


class _Cuts(dict[tuple[str, str], str]):
    """The second of two adjacent characters, with a blank before it if no span goes on from the first to it."""

    def __init__(self, rows: Mapping[str, Row]) -> None:
        self._rows = rows

    def __missing__(self, pair: tuple[str, str]) -> str:
        before, here = (map(str, self._rows[character][1:]) for character in pair)
        found = self[pair] = pair[1] if any(map(continues, before, here)) else BLANK + pair[1]
        return found
