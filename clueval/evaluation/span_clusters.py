"""Counts spans ``(start, end, label)`` of parallel documents by clusters, without building documents.

A cluster is an overlap component: the spans of both sides that overlap, directly or by others. Its positions count from
its first start, so that equal clusters of different documents are one. Each distinct cluster is counted a few times,
however often it occurs (`clueval.evaluation.tallies`). The counts are those of the documents.

Example: gold ``(2, 4, A) (9, 10, B)``, predicted ``(2, 3, A) (9, 10, B)`` are two clusters, ``(0, 2, A)`` of gold with
``(0, 1, A)`` of predicted, and ``(0, 1, B)`` of both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from clueval.clusters.bag import by_power
from clueval.evaluation.engine import Evaluation
from clueval.evaluation.inputs import add_layer
from clueval.evaluation.tallies import ClusterCounts
from clueval.spans.document import Document
from clueval.spans.span import SIDES, Span

Located = tuple[int, int, str]
"""The start, the end and the label of a span."""

Cluster = tuple[tuple[int, int, int, str], ...]
"""The start, the end, the side (0 is gold) and the label of each span, by start."""

MOST = 1 << 14
"""The number of distinct clusters that are collected before they are counted."""


class SpanClusters:
    """The clusters of one layer of parallel documents whose spans come by position, and overlap none of their side.

    `has_text` says whether the number of positions of each document is known; they are characters, or `of_tokens`.
    """

    def __init__(self, layer: str, *, has_text: bool, of_tokens: bool = False) -> None:
        self.layer, self._has_text, self._of_tokens = layer, has_text, of_tokens
        self._known: dict[Cluster, ClusterCounts] = {}
        self._begin()

    def _begin(self) -> None:
        self._documents = self._positions = 0
        self._spans = [0, 0]
        self._clusters: Counter[Cluster] = Counter()
        self._same: Counter[tuple[int, str]] = (
            Counter()
        )  # lengths and labels, where both sides have the same spans

    @property
    def is_full(self) -> bool:
        """Whether they should be counted now, to limit the memory."""
        return len(self._clusters) + len(self._same) > MOST

    def add(self, gold: Sequence[Located], predicted: Sequence[Located], positions: int = 0) -> None:
        """Add the spans of a document, which has this number of positions."""
        self._documents += 1
        self._positions += positions
        self._spans[0] += len(gold)
        self._spans[1] += len(predicted)
        if gold == predicted:
            self._same.update([(end - start, label) for start, end, label in gold])
        else:
            self._clusters.update(_clusters(gold, predicted))

    def count_into(
        self, evaluation: Evaluation, document: str | None = None, metadata: Mapping[str, str] = {}
    ) -> None:
        """Count the documents, and begin again; `document` and `metadata` are those of a single one."""
        if not self._documents:
            return
        for (length, label), number in self._same.items():
            self._clusters[(0, length, 0, label), (0, length, 1, label)] += number
        if self._has_text or self._of_tokens or any(self._spans):  # lists without spans have no layer
            evaluation.see_layers([self.layer])
        counts = ClusterCounts(evaluation.plan, evaluation.layers, evaluation.seen_names)
        if document is None:
            for times, clusters in by_power(self._clusters):
                counts.count(*self._joined(clusters), times)
            tallies = counts.tallies(self._positions)
        else:
            alone = ((self._alone(cluster, evaluation), times) for cluster, times in self._clusters.items())
            tallies = counts.summed(alone, self._positions)
        if not self._has_text:
            evaluation.text = "absent"
        evaluation.count_part(
            tallies,
            documents=self._documents,
            tokens=self._positions,
            document=document or "",
            metadata=metadata,
            unit="character" if self._has_text and not self._of_tokens else "token",
            sentence=None if document is None else 1,
        )
        for side, number in zip(SIDES, self._spans, strict=True):
            if number:
                add_layer(evaluation.inputs, side, self.layer, spans=number)
        self._begin()

    def _alone(self, cluster: Cluster, evaluation: Evaluation) -> ClusterCounts:
        """The counts of one cluster, which are kept."""
        counts = self._known.get(cluster)
        if counts is None:
            if len(self._known) == MOST:
                self._known.clear()
            counts = ClusterCounts(evaluation.plan, evaluation.layers, evaluation.seen_names)
            counts.count(*self._joined([cluster]), 1)
            self._known[cluster] = counts
        return counts

    def _joined(self, clusters: Iterable[Cluster]) -> tuple[Document, Document]:
        """The documents of gold and predicted that have these clusters, with a position between them."""
        sides: tuple[list[Span], list[Span]] = ([], [])
        past = 0
        for cluster in clusters:
            last = 0
            for start, end, side, label in cluster:
                sides[side].append(Span(past + start, past + end, {self.layer: label}))
                last = max(last, end)
            past += last + 1
        gold, predicted = (
            Document("", {self.layer: side}, text="x" * past, unit="character")
            if self._has_text
            else Document("", {self.layer: side})
            for side in sides
        )
        return gold, predicted


def _clusters(gold: Iterable[Located], predicted: Iterable[Located]) -> Iterator[Cluster]:
    """The clusters of one document, by a sweep over the starts; spans that touch do not overlap."""
    first = reach = -1
    cluster: list[tuple[int, int, int, str]] = []
    rows = [(start, end, 0, label) for start, end, label in gold]
    rows += [(start, end, 1, label) for start, end, label in predicted]
    rows.sort()
    for start, end, side, label in rows:
        if start >= reach:
            if cluster:
                yield tuple(cluster)
            first, reach, cluster = start, end, []
        elif end > reach:
            reach = end
        cluster.append((start - first, end - first, side, label))
    if cluster:
        yield tuple(cluster)
