"""Metrics of documents: which pairs and layers they are given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from clueval.core.bag import NO_LAYER, Bag
from clueval.core.case import Where
from clueval.core.count import Plan, count
from clueval.core.document import Document, Pair
from clueval.core.metric import DocumentMetric
from clueval.core.span import Span
from clueval.core.tally import Tally
from clueval.files.errors import UsageError


@dataclass(frozen=True)
class Labels(DocumentMetric):
    """Counts the labels of spans in a sequence, and pairs that stand beside their text."""

    name: ClassVar[str] = "labels"

    def count_documents(self, pairs: Sequence[Pair], sequence: str, where: Where) -> Tally:
        tally = Tally()
        for pair in pairs:
            tally["beside",] += pair.beside
            for side in pair.sides:
                tally.update((sequence, *side.layers, span.label) for span in side.layers.get(sequence, ()))
        return +tally

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        return dict(total)


class OfLayers(Labels):
    merges: ClassVar[bool] = True


class Flat(Labels):
    gaps: ClassVar[bool] = False


class Whole(Labels):
    filters: ClassVar[str | None] = "filter documents"

    @property
    def whole(self) -> str | None:
        return "all"


def pair() -> Pair:
    gold = Document("g", {"x": [Span(0, 2, {"x": "A"})]})
    predicted = Document("p", {"y": [Span(1, 3, {"y": "B"})], "x": [Span(0, 2, {"x": "A"})]})
    return Pair(gold, predicted)


def counted(metric: DocumentMetric, pairs: Sequence[Pair], **plan: Any) -> Tally:
    """Return what a metric counts in the sequences of a text."""
    bag = count([pairs], Plan((metric,), **plan))
    tallies = [tally for of in bag.tallies.values() for (name, _), tally in of.items() if name != NO_LAYER]
    return sum(tallies, Tally())


def test_layers_are_merged_in_their_order_before_they_are_counted() -> None:
    assert counted(Labels(), [pair()], merge=True) == {
        ("merged", "merged", "A|_"): 1,
        ("merged", "merged", "A|B"): 1,
    }


def test_a_metric_that_merges_has_all_layers_in_their_order() -> None:
    seen = []

    class Seen(OfLayers):
        def count_documents(self, pairs: Sequence[Pair], sequence: str, where: Where) -> Tally:
            seen.append((sequence, [list(side.layers) for side in pairs[0].sides]))
            return Tally()

    count([[pair()]], Plan((Seen(),), merge=True))

    assert seen == [("merged", [["x", "y"], ["x", "y"]])]


def test_pairs_beside_their_text_are_counted_with_the_others() -> None:
    beside = Pair(Document("g", {}), Document("p", {"x": [Span(0, 0, {"x": "A"})]}), beside=True)

    found = counted(Labels(), [Pair(Document("g", {"x": []}), Document("p", {"x": []})), beside])

    assert found == {("beside",): 1, ("x", "x", "A"): 1}


def test_a_discontinuous_span_is_refused_with_its_document() -> None:
    gap = Document("g", {"x": [Span.of_fragments([(0, 1), (2, 3)], {"x": "A"})]}, file="f")

    with pytest.raises(UsageError, match=r"^f, document 'g': span \[0,3\) 'A' has gaps"):
        counted(Flat(), [Pair(gap, gap)])


def test_a_filter_on_a_layer_is_refused_for_the_metric_not_for_a_document() -> None:
    with pytest.raises(UsageError, match=r"^metric 'labels' cannot leave spans out"):
        counted(Whole(), [pair()], where={"x": frozenset("A")})
    assert counted(Whole(), [pair()], where={"document": frozenset("g")}) == {}


def test_a_layer_counts_in_the_documents_before_its_first_whatever_the_order_and_the_parts() -> None:
    class Documents(OfLayers):
        def count_documents(self, pairs: Sequence[Pair], sequence: str, where: Where) -> Tally:
            return Tally({("documents", pairs[0].gold.id): len(pairs)})

    def of_y(bag: Bag) -> Tally:
        (tally,) = [tally for _, name, _, tally in bag.tallies_of([Documents()], bag.layers) if name == "y"]
        return tally

    texts = [
        [Pair(Document(name, layers), Document(name, layers))]
        for name, layers in (("1", {"x": []}), ("2", {"x": [], "y": []}), ("3", {"x": []}))
    ]
    plan = Plan((Documents(),))
    in_parts = count(texts[:1], plan)
    in_parts.include(count(texts[1:], plan))
    turned = count(texts[1:], plan)
    turned.include(count(texts[:1], plan))

    expected = {("documents", name): 1 for name in "123"}
    assert of_y(count(texts, plan)) == of_y(in_parts) == of_y(turned) == expected
