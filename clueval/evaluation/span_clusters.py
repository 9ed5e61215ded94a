"""Counts parallel spans ``(start, end, label)``, in lists and in rows of two files, by clusters.

A cluster is an overlap component: the spans of both sides that overlap, directly or by others. Its positions count from
its first start, so that equal clusters of different documents are one. Each distinct cluster is counted a few times,
however often it occurs (`clueval.evaluation.tallies`). The counts are those of the documents.

Example: gold ``(2, 4, A) (9, 10, B)``, predicted ``(2, 3, A) (9, 10, B)`` are two clusters, ``(0, 2, A)`` of gold with
``(0, 1, A)`` of predicted, and ``(0, 1, B)`` of both.

Lists of spans that are no tuples of plain numbers and a text, rows that are not flat (`clueval.formats.flat_rows`) and
spans that `SpanClusters.add` refuses are counted as documents, which also say what is wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, zip_longest
from operator import itemgetter, le, lt
from typing import Any, TypeVar

from clueval.clusters.bag import by_power
from clueval.core.span import DEFAULT_LAYER, SIDES, Frozen, Span
from clueval.evaluation.engine import Evaluation
from clueval.evaluation.inputs import add_layer
from clueval.evaluation.plan import Plan
from clueval.evaluation.tallies import ClusterCounts
from clueval.formats.flat_rows import FlatSpans, ReadRow
from clueval.formats.format import UNPLACED
from clueval.reading.given import Given
from clueval.reading.items import pairs, span_documents
from clueval.reading.pairing import with_same_id
from clueval.reading.same_text import ends_early, first_line
from clueval.reading.source import Source
from clueval.spans.document import Document, same_id
from clueval.transforms.group import Group

Located = tuple[int, int, str]
"""The start, the end and the label of a span."""

Cluster = tuple[tuple[int, int, int, str], ...]
"""The start, the end, the side (0 is gold) and the label of each span."""

MOST = 1 << 14
"""The number of distinct clusters that are collected before they are counted."""

LARGEST = 64
"""The most spans of a cluster, or of each side if both have the same; a larger one hardly ever occurs twice."""

SMALL = 8
"""The most spans of a small cluster; larger ones are counted as soon as they have `MOST` spans together."""

BATCH = 500
"""The number of lists that are checked together."""

_by_number = itemgetter(2, 3)

Label = TypeVar("Label", str, tuple[int, str])


class SpanClusters:
    """The clusters of one layer of parallel documents.

    `has_text` says whether the number of positions of each document is known; they are characters, or `of_tokens`.
    `nested` says whether spans may overlap others of their side, as they may for some metrics (`Needs.nested`).
    """

    def __init__(self, layer: str, *, has_text: bool, of_tokens: bool = False, nested: bool = False) -> None:
        self.layer, self._has_text, self._of_tokens, self._nested = layer, has_text, of_tokens, nested
        self._known: dict[Cluster, ClusterCounts] = {}
        self._begin()

    def _begin(self) -> None:
        self._documents = self._positions = self._in_large = 0
        self._spans = [0, 0]
        self._clusters: Counter[Cluster] = Counter()
        self._equal: Counter[Cluster] = Counter()  # gold's part, where both sides have the same spans

    @property
    def is_full(self) -> bool:
        """Whether they should be counted now, to limit the memory."""
        return len(self._clusters) + len(self._equal) > MOST or self._in_large > MOST

    def add(
        self,
        gold: Sequence[Located],
        predicted: Sequence[Located],
        positions: int = 0,
        *,
        flat: bool = False,
        ordered: tuple[bool, bool] = (False, False),
    ) -> bool:
        """Add the spans of a document, which has this number of positions; none is empty.

        `flat`: it is known that the spans of each side come by position and overlap none of their side. `ordered` are
        the sides whose order counts (`Document.ordered`). Returns False, and adds nothing, if the document must be
        counted as it is: spans of a side overlap and must not, or a cluster is too large.
        """
        equal = gold == predicted
        own, other = gold, predicted
        in_order = True
        flat = flat or (_is_flat(own) and (equal or _is_flat(other)))
        if not flat:
            own, other = sorted(gold), sorted(predicted)
            flat = _is_flat(own) and _is_flat(other)
            if not (flat or self._nested):
                return False
            gold, predicted = gold if ordered[0] else own, predicted if ordered[1] else other
            equal = list(gold) == list(predicted) or (flat and own == other)
            in_order = own == list(gold) and other == list(predicted)
        if flat and equal:
            clusters: list[Cluster] = [((0, end - start, 0, label),) for start, end, label in own]
        elif in_order:
            clusters = list(_clusters(own, () if equal else other))
        else:
            clusters = list(_in_given_order(gold, () if equal else predicted))
        sizes = list(map(len, clusters))
        if max(sizes, default=0) > LARGEST:
            return False
        self._in_large += sum([size for size in sizes if size > SMALL])
        (self._equal if equal else self._clusters).update(clusters)
        self._documents += 1
        self._positions += positions
        self._spans[0] += len(gold)
        self._spans[1] += len(predicted)
        return True

    def count_into(
        self, evaluation: Evaluation, document: str | None = None, metadata: Mapping[str, str] = {}
    ) -> None:
        """Count the documents, and begin again; `document` and `metadata` are those of a single one."""
        if not self._documents:
            return
        for cluster, number in self._equal.items():
            self._clusters[cluster + tuple((start, end, 1, label) for start, end, _, label in cluster)] += (
                number
            )
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
        labels: dict[str, Frozen] = {}
        past = 0
        for cluster in clusters:
            last = 0
            for start, end, side, label in cluster:
                if label not in labels:
                    labels[label] = Frozen({self.layer: label})
                sides[side].append(Span(past + start, past + end, labels[label]))
                last = max(last, end)
            past += last + 1
        gold, predicted = (
            Document("", {self.layer: side}, text="x" * past, unit="character")
            if self._has_text
            else Document("", {self.layer: side})
            for side in sides
        )
        return gold, predicted


def _is_flat(spans: Iterable[Located]) -> bool:
    """Return whether spans come by position, and none overlaps another."""
    past = 0
    for start, end, _ in spans:
        if start < past:
            return False
        past = end
    return True


def _clusters(
    gold: Iterable[tuple[int, int, Label]], predicted: Iterable[tuple[int, int, Label]]
) -> Iterator[tuple[tuple[int, int, int, Label], ...]]:
    """The clusters of one document, by a sweep over the starts; spans that touch do not overlap."""
    first = reach = -1
    cluster: list[tuple[int, int, int, Label]] = []
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


def _in_given_order(gold: Iterable[Located], predicted: Iterable[Located]) -> Iterator[Cluster]:
    """The clusters of one document; the spans of each side stay in their order, on which metrics may depend."""
    numbered = (
        [(start, end, (number, label)) for number, (start, end, label) in enumerate(side)]
        for side in (gold, predicted)
    )
    for cluster in _clusters(*numbered):
        rows = sorted(cluster, key=_by_number)
        yield tuple([(start, end, side, label) for start, end, side, (_, label) in rows])


def _nested_in(plan: Plan) -> bool:
    """Return whether the clusters of a plan may have spans that overlap others of their side."""
    return not plan.merge and all(metric.needs.nested for metric in plan.metrics)


# Lists in memory


def count_spans(evaluation: Evaluation, given: Given) -> bool:
    """Count all lists, and return whether it was possible; if not, nothing was counted. Holds some thousand clusters.

    Raises the errors of `Given.documents`.
    """
    plan = evaluation.plan
    if given.golds or not plan.counts_clusters([DEFAULT_LAYER]):
        return False
    single = plan.counts_by_document([DEFAULT_LAYER])
    clusters = SpanClusters(DEFAULT_LAYER, has_text=False, nested=_nested_in(plan))
    done = 0
    both = pairs(given.gold, given.predicted, "documents")
    while batch := list(islice(both, BATCH)):
        plain, flat = are_plain(list(chain.from_iterable(batch)))
        for number, pair in enumerate(batch, done):
            if not ((plain or are_plain(pair)[0]) and clusters.add(*pair, flat=flat)):
                evaluation.count_group(Group(*span_documents(pair, number, given.ids)))
            elif single:
                clusters.count_into(evaluation, str(number) if given.ids is None else given.ids[number])
        done += len(batch)
        if clusters.is_full:
            clusters.count_into(evaluation)
    clusters.count_into(evaluation)
    return True


def are_plain(lists: Sequence[Any]) -> tuple[bool, bool]:
    """Return whether these are lists of tuples ``(start, end, label)`` of valid, not empty spans.

    Also return whether the spans of each list come by position and do not overlap.
    """
    if not set(map(type, lists)) <= {list, tuple}:
        return False, False
    spans = list(chain.from_iterable(lists))
    number = len(spans)
    if list(map(type, spans)).count(tuple) != number or list(map(len, spans)).count(3) != number:
        return False, False
    parts = list(chain.from_iterable(spans))
    if list(map(type, parts)) != [int, int, str] * number:
        return False, False
    starts, ends = parts[::3], parts[1::3]
    if min(starts, default=0) < 0 or not all(map(lt, starts, ends)):
        return False, False
    past = 0
    for length in map(len, lists):
        if length:
            past += length
            ends[past - 1] = 0  # the first span of the next list may be anywhere
    return True, all(map(le, ends, islice(starts, 1, None)))


# Rows of files


def count_rows(evaluation: Evaluation, gold: Source, predicted: Source) -> bool:
    """Count two files of rows, and return whether it was possible; if not, nothing was counted.

    Some rows are counted only when `count_unfinished` is called.
    """
    layer, *others = {name for each in (gold, predicted) for name in each.options.layers or (DEFAULT_LAYER,)}
    of_sentences = gold.form.sentences is not None
    if (
        others
        or not evaluation.plan.counts_clusters([layer])
        or (of_sentences and evaluation.plan.unit is not None)
    ):
        return False
    if (own := gold.rows()) is None or (other := predicted.rows()) is None:
        return False
    single = evaluation.plan.counts_by_document([layer])
    rows = evaluation.unfinished.setdefault(
        layer,
        SpanClusters(
            layer,
            has_text=gold.form.has_text,
            of_tokens=of_sentences or gold.form.of_tokens,
            nested=_nested_in(evaluation.plan),
        ),
    )
    ordered = gold.form.ordered, predicted.form.ordered
    nameless = gold.form.nameless or predicted.form.nameless
    for first, second in zip_longest(map(_content, own), map(_content, other)):
        if first is None or second is None:
            extra = _document(*(first or second))
            raise ends_early(gold, predicted, first is None, extra.id, first_line(extra))
        (row, of_gold), (other_row, of_predicted) = first, second
        if (
            isinstance(of_gold, FlatSpans)
            and isinstance(of_predicted, FlatSpans)
            and (nameless or same_id(row.id, other_row.id))
            and of_gold.text == of_predicted.text
            and rows.add(of_gold.spans, of_predicted.spans, len(of_gold.text), ordered=ordered)
        ):
            if single:
                rows.count_into(evaluation, row.id, row.metadata())
            elif rows.is_full:
                rows.count_into(evaluation)
        else:
            pair = with_same_id(_document(*first), _document(*second), nameless)
            group = Group(*pair, ())
            if UNPLACED in group.predicted.metadata:
                from clueval.evaluation.unplaced import set_apart  # few formats have such spans

                group = set_apart(group, evaluation.inputs)
            evaluation.count_group(group)
    return True


def _content(row: ReadRow) -> tuple[ReadRow, FlatSpans | Document]:
    """Return a row with its spans, if it is flat, or else with its document."""
    flat = row.flat()
    return row, row.document() if flat is None else flat


def _document(row: ReadRow, content: FlatSpans | Document) -> Document:
    return content if isinstance(content, Document) else row.document()


def count_unfinished(evaluation: Evaluation) -> None:
    """Count the rows that `count_rows` has not counted yet."""
    for rows in evaluation.unfinished.values():
        rows.count_into(evaluation)
