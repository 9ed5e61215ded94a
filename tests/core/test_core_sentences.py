"""Sentences as units: texts are cut where no span reaches over, for metrics of cases and of documents alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import pytest

from clueval.core.bag import Bag
from clueval.core.case import Case, Where
from clueval.core.count import FEW_DOCUMENTS, Plan, Unit, count, each
from clueval.core.document import Document, Notes, Pair, Sentence
from clueval.core.exact import Exact
from clueval.core.metric import AnyMetric, DocumentMetric, Metric
from clueval.core.sentences import TextParts
from clueval.core.span import Span
from clueval.core.tally import Tally
from clueval.files.errors import UsageError


@dataclass(frozen=True)
class Words(DocumentMetric):
    """Counts the words of gold's spans; with `different`, each word of a document once."""

    name: ClassVar[str] = "words"
    different: bool = False

    def count_documents(self, pairs: Sequence[Pair], sequence: str, where: Where) -> Tally:
        tally = Tally()
        for side in [side for pair in pairs for side in pair.sides]:
            words = [side.text_of(span) for span in side.layers.get(sequence, ())]
            tally.update((word,) for word in (set(words) if self.different else words))
        return tally

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        return dict(total)


class Within(Words):
    """One that counts within the layer `frame`."""

    @property
    def within(self) -> str | None:
        return "frame"


class Aligned(Words):
    same_text: ClassVar[bool] = False


@dataclass(frozen=True)
class AtOnce(Metric):
    """Counts spans when their case is read."""

    name: ClassVar[str] = "at once"

    @property
    def keeps(self) -> bool:
        return False

    def count(self, case: Case) -> Tally:
        return Tally({("spans",): len(case.gold)}) if case.gold else Tally()

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        return dict(total)


@dataclass(frozen=True)
class Beside:
    """A step that sets the first span of predicted beside the text."""

    signature: tuple[str, str] = ("beside", "yes")
    zeros: tuple[tuple[str, ...], ...] = ()

    def __call__(self, pairs: Sequence[Pair]) -> Sequence[Pair]:
        return each(self.changed, pairs)

    def changed(self, pair: Pair) -> list[Pair]:
        lost = Document("d", {"x": pair.predicted.layers["x"][:1]}, tokens=["lost"] * 3)
        kept = replace(pair.predicted, layers={"x": pair.predicted.layers["x"][1:]})
        return [replace(pair, predicted=kept), Pair(Document("d", {}), lost, beside=True)]

    def check(self, notes: Notes) -> Sequence[str]:
        return ()


def document(*spans: tuple[int, int], name: str = "d", start: int = 0, **changes: Any) -> Document:
    """A document of three sentences: of three, two and four words."""
    ends = [start, start + 3, start + 5, start + 9]
    sentences = [Sentence(*ends[number : number + 2]) for number in range(3)]
    layers = {"x": [Span(start + first, start + end, {"x": "A"}) for first, end in spans]}
    return Document(
        name,
        layers,
        tokens=["a", "b", "c", "d", "e", "a", "b", "c", "d"],
        sentences=sentences,
        start=start,
        **changes,
    )


def bag_of(metric: AnyMetric, *documents: Document, units: str = "sentence", **plan: Any) -> Bag:
    return count([[Pair(each, each)] for each in documents], Plan((metric,), units=units, **plan))


def by_unit(bag: Bag, metric: AnyMetric) -> dict[tuple[str | None, int | None], Tally]:
    found = {}
    for place, sequence, _, tally in bag.tallies_of([metric], ["x"]):
        assert isinstance(place, Unit)
        assert sequence == "x"
        found[place.name, place.sentence] = +tally
    return found


@pytest.mark.parametrize("start", [0, 7])
def test_a_metric_of_documents_counts_each_part_of_a_text_as_a_document(start: int) -> None:
    bag = bag_of(Words(), document((0, 1), (3, 4), (5, 6), (8, 9), start=start))

    assert by_unit(bag, Words()) == {
        ("d", 1): {("a",): 2},
        ("d", 2): {("d",): 2},
        ("d", 3): {("a",): 2, ("d",): 2},
    }


def test_a_text_is_not_cut_where_a_span_of_any_layer_reaches_over() -> None:
    of_layer_x, of_two = document((2, 4)), document((2, 3))
    framed = replace(of_two, layers={**of_two.layers, "frame": [Span(0, 4, {"frame": "F"})]})

    assert [part[:2] for part in TextParts([Pair(of_layer_x, of_two)])] == [(1, 5), (3, 4)]
    assert by_unit(bag_of(Within(), framed), Within()) == {("d", 1): {("c",): 2}, ("d", 3): {}}


def test_characters_are_cut_as_tokens_are() -> None:
    text = Document(
        "d",
        {"x": [Span(1, 2, {"x": "A"}), Span(4, 6, {"x": "A"})]},
        text="ab cdef",
        unit="character",
        sentences=[Sentence(0, 3), Sentence(3, 7)],
    )

    assert by_unit(bag_of(Words(), text), Words()) == {("d", 1): {("b",): 2}, ("d", 2): {("de",): 2}}


def test_counts_of_parts_that_are_not_those_of_the_whole_are_refused_with_the_document() -> None:
    metric = Words(different=True)

    with pytest.raises(
        UsageError, match=r"^f, document 'd': metric 'words' does not count sentences one by one"
    ):
        bag_of(metric, document((0, 1), (5, 6), file="f"))


def test_documents_are_units_where_the_counts_of_parts_are_not_those_of_the_whole() -> None:
    metric = Words(different=True)
    apart, twice = document((0, 1), (3, 4), name="apart"), document((0, 1), (5, 6), name="twice")

    again = document((0, 1), (3, 4), name="again")

    bag = bag_of(metric, apart, twice, again, units="document or sentence")

    assert by_unit(bag, metric) == {
        ("apart", None): {("a",): 2, ("d",): 2},
        ("twice", None): {("a",): 2},
        ("again", None): {("a",): 2, ("d",): 2},
    }
    assert by_unit(bag_of(metric, apart, units="document or sentence"), metric).keys() == {
        ("apart", number) for number in (1, 2, 3)
    }


@pytest.mark.parametrize("documents", [FEW_DOCUMENTS - 1, FEW_DOCUMENTS])
def test_metrics_of_documents_count_sentences_until_the_tenth_document_begins(documents: int) -> None:
    names = [str(number) for number in range(documents)]
    bag = bag_of(Words(), *(document((0, 1), name=name) for name in names), units="document or sentence")

    sentences: Sequence[int | None] = (1, 2, 3) if documents < FEW_DOCUMENTS else (None,)
    assert list(by_unit(bag, Words())) == [(name, number) for name in names for number in sentences]


def test_a_metric_that_keeps_no_cases_counts_them_in_their_sentences() -> None:
    bag = bag_of(AtOnce(), document((0, 1), (1, 2), (8, 9)))

    assert by_unit(bag, AtOnce()) == {("d", 1): {("spans",): 2}, ("d", 2): {}, ("d", 3): {("spans",): 1}}


def test_spans_beside_the_text_are_in_no_sentence() -> None:
    given = document((0, 1), (8, 9))

    words = by_unit(bag_of(Words(), given, steps=(Beside(),)), Words())
    exact = by_unit(bag_of(Exact(), given, steps=(Beside(),)), Exact())

    assert words == {("d", 1): {("a",): 1}, ("d", 2): {}, ("d", 3): {("d",): 2}, ("d", None): {("lost",): 1}}
    assert exact["d", None] == {("predicted", "A"): 1}


@pytest.mark.parametrize(
    ("metric", "plan", "why"),
    [
        (Aligned(), {}, "metric 'words' aligns whole documents, so sentences cannot be units"),
        (Exact(), {"align": Beside()}, "sentences cannot be units if the texts of the two sides may differ"),
    ],
)
def test_texts_that_may_differ_are_not_cut(metric: AnyMetric, plan: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        bag_of(metric, document((0, 1), (5, 6)), **plan)

    bag = bag_of(metric, document((0, 1), (5, 6)), units="document or sentence", **plan)
    assert {place[1:3] for place in bag.documents} == {("d", None)}  # type: ignore[index]  # units are tuples
