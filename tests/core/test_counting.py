"""Counting texts: metrics of documents, sentences as units, and groups of several sides."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

import clueval
from clueval.core.bag import NO_LAYER, Bag
from clueval.core.case import Case, CaseOfKey, Where, keys_of, presence
from clueval.core.count import FEW_DOCUMENTS, DocumentPlace, Plan, Step, changed, count
from clueval.core.document import Document, Group, Layers, Pair, Sentence
from clueval.core.exact import Exact
from clueval.core.levels import Levels
from clueval.core.located import TextParts, located
from clueval.core.metric import (
    AnyMetric,
    Counts,
    DocumentMetric,
    Metric,
    Tally,
    added,
    require_no_gaps,
    score_of,
)
from clueval.core.span import Span
from clueval.files.errors import LimitError, OverlapError, UsageError
from tests.cases import spans

# Metrics of documents: which pairs and layers they are given


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


class Flat(Labels):
    gaps: ClassVar[bool] = False


class Whole(Labels):
    filters: ClassVar[str | None] = "filter documents"

    @property
    def whole(self) -> str | None:
        return "all"


PAIR = Pair(
    Document("g", {"x": [Span(0, 2, {"x": "A"})]}),
    Document("p", {"y": [Span(1, 3, {"y": "B"})], "x": [Span(0, 2, {"x": "A"})]}),
)


def counted(metric: DocumentMetric, pairs: Sequence[Pair], **plan: Any) -> Tally:
    """Return what a metric counts in the sequences of a text."""
    bag = count([pairs], Plan((metric,), **plan))
    tallies = [tally for of in bag.tallies.values() for (name, _), tally in of.items() if name != NO_LAYER]
    return sum(tallies, Tally())


def test_f_weighs_recall_by_beta() -> None:
    counts = Counts(4, 2, 1, 1)  # precision 1/2, recall 1/4

    assert (counts.f(), counts.f(1.0)) == (pytest.approx(1 / 3),) * 2
    assert counts.f(2.0) == pytest.approx(5 * (1 / 8) / (4 * (1 / 2) + 1 / 4))


def test_sums_are_rounded_once_and_whole_numbers_stay_whole() -> None:
    tenths, whole = Counts(0.1, 1, 0.1, 1), Counts(1, 2**53, 1, 1)

    assert Counts.total([tenths] * 10) == (1.0, 10, 1.0, 10)
    assert repr(tuple(Counts.total([whole, whole]))) == f"(2, {2**54}, 2, 2)"
    assert added([(Tally({("a",): 2}), 3), (Tally({("b",): 1}), 1)]) == {("a",): 6, ("b",): 1}


def test_layers_are_merged_in_their_order_before_they_are_counted() -> None:
    assert counted(Labels(), [PAIR], merge=True) == {
        ("merged", "merged", "A|_"): 1,
        ("merged", "merged", "A|B"): 1,
    }


def test_a_metric_that_merges_has_all_layers_in_their_order() -> None:
    seen = []

    class Seen(Labels):
        merges: ClassVar[bool] = True

        def count_documents(self, pairs: Sequence[Pair], sequence: str, where: Where) -> Tally:
            seen.append((sequence, [list(side.layers) for side in pairs[0].sides]))
            return Tally()

    counted(Seen(), [PAIR], merge=True)

    assert seen == [("merged", [["x", "y"], ["x", "y"]])]


def test_pairs_beside_their_text_are_counted_with_the_others() -> None:
    beside = Pair(Document("g", {}), Document("p", {"x": spans("A[0,0)")}), beside=True)
    pairs = [Pair(Document("g", {"x": []}), Document("p", {"x": []})), beside]

    assert counted(Labels(), pairs) == {("beside",): 1, ("x", "x", "A"): 1}


def test_a_discontinuous_span_is_refused_with_its_document() -> None:
    gap = Document("g", {"x": spans("A[0,1)[2,3)")}, file="f")

    with pytest.raises(UsageError, match=r"^f, document 'g': span \[0,3\) 'A' has gaps"):
        counted(Flat(), [Pair(gap, gap)])


def test_a_filter_on_a_layer_is_refused_for_the_metric_not_for_a_document() -> None:
    with pytest.raises(UsageError, match=r"^metric 'labels' cannot leave spans out"):
        counted(Whole(), [PAIR], where={"x": frozenset("A")})
    assert counted(Whole(), [PAIR], where={"document": frozenset("g")}) == {}


def test_a_layer_counts_in_the_documents_before_its_first_whatever_the_order_and_the_parts() -> None:
    class Documents(Labels):
        def count_documents(self, pairs: Sequence[Pair], sequence: str, where: Where) -> Tally:
            return Tally({("documents", pairs[0].gold.id): len(pairs)})

    texts = [
        [Pair(Document(name, layers), Document(name, layers))]
        for name, layers in (("1", {"x": []}), ("2", {"x": [], "y": []}), ("3", {"x": []}))
    ]
    plan = Plan((Documents(),))
    in_parts, turned = count(texts[:1], plan), count(texts[1:], plan)
    in_parts.include(count(texts[1:], plan))
    turned.include(count(texts[:1], plan))

    for bag in (count(texts, plan), in_parts, turned):
        (tally,) = [tally for _, name, _, tally in bag.tallies_of(plan.metrics, bag.layers) if name == "y"]
        assert tally == {("documents", name): 1 for name in "123"}


# Sentences as units: texts are cut where no span reaches over


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
class Beside(Step):
    """A step that sets the first span of predicted beside the text."""

    signature: ClassVar[tuple[str, str]] = ("beside", "yes")

    def __call__(self, pairs: Sequence[Pair]) -> Sequence[Pair]:
        return [new for pair in pairs for new in self.changed(pair)]

    def changed(self, pair: Pair) -> list[Pair]:
        lost = Document("d", {"x": pair.predicted.layers["x"][:1]}, tokens=["lost"] * 3)
        kept = replace(pair.predicted, layers={"x": pair.predicted.layers["x"][1:]})
        return [replace(pair, predicted=kept), Pair(Document("d", {}), lost, beside=True)]


def document(*ranges: tuple[int, int], name: str = "d", start: int = 0, **changes: Any) -> Document:
    """A document of three sentences: of three, two and four words."""
    ends = [start, start + 3, start + 5, start + 9]
    sentences = [Sentence(*ends[number : number + 2]) for number in range(3)]
    layers = {"x": [Span(start + first, start + end, {"x": "A"}) for first, end in ranges]}
    return Document(name, layers, tokens=[*"abcdeabcd"], sentences=sentences, start=start, **changes)


def bag_of(metric: AnyMetric, *documents: Document, units: str = "sentence", **plan: Any) -> Bag:
    return count([[Pair(each, each)] for each in documents], Plan((metric,), units=units, **plan))


def by_unit(bag: Bag, metric: AnyMetric) -> dict[tuple[str | None, int | None], Tally]:
    tallies = {}
    for place, sequence, _, tally in bag.tallies_of([metric], ["x"]):
        assert isinstance(place, DocumentPlace)
        assert sequence == "x"
        tallies[place.name, place.sentence] = +tally
    return tallies


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
    sentences = [Sentence(0, 3), Sentence(3, 7)]
    text = Document("d", {"x": spans("A[1,2) A[4,6)")}, text="ab cdef", unit="character", sentences=sentences)

    assert by_unit(bag_of(Words(), text), Words()) == {("d", 1): {("b",): 2}, ("d", 2): {("de",): 2}}


def test_a_part_of_a_document_has_its_tokens_tags_and_lines_and_no_sentences() -> None:
    tokens, ids = list("abcd"), list("1234")
    gold = Document(
        "d", {"x": spans("A[11,12)")}, tokens, start=10, token_ids=ids, lines=[4, 5, 7, 8], tags={"x": tokens}
    )
    gold = replace(gold, sentences=[Sentence(10, 12), Sentence(12, 14)])
    predicted = Document("d", Layers({}, {"x": [(12, 13, "A")]}), unit="character", start=10)
    parts = [pair.sides for pair in TextParts([Pair(gold, predicted)]).cut_pair(Pair(gold, predicted))]

    assert [(of_gold.start, of_gold.tokens, of_gold.token_ids, of_gold.lines) for of_gold, _ in parts] == [
        (10, ["a", "b"], ["1", "2"], [4, 5]),
        (12, ["c", "d"], ["3", "4"], [7, 8]),
    ]
    assert [of_gold.tags for of_gold, _ in parts] == [{"x": ["a", "b"]}, {"x": ["c", "d"]}]
    assert [(part.text, part.tags, part.sentences) for sides in parts for part in sides[1:]] == [
        (None, {}, ())
    ] * 2
    assert [[len(side.layers["x"]) for side in sides] for sides in parts] == [[1, 0], [0, 1]]
    assert [part.sentences for part, _ in parts] == [(), ()]


def test_parts_have_the_number_of_their_first_sentence_and_a_text_without_tokens_is_one_part() -> None:
    ranges = [Sentence(0, 0), Sentence(0, 1), Sentence(1, 2), Sentence(2, 4)]
    words, nothing = Document("d", {}, list("abcd"), sentences=ranges), Document("d", {}, sentences=ranges)

    assert [part[:2] for part in TextParts([Pair(words, nothing)])] == [(2, 1), (3, 1), (4, 2)]
    assert list(TextParts([Pair(nothing, nothing)])) == [(1, 0, 0, sys.maxsize)]


def test_a_text_given_as_rows_is_not_cut_where_one_reaches_over() -> None:
    document_of = partial(
        Document, "d", tokens=list("abcdef"), sentences=[Sentence(n, n + 2) for n in (0, 2, 4)]
    )
    sides = document_of({"x": []}), document_of(Layers({}, {"x": [(1, 3, "A")]}))

    assert [part[:2] for part in TextParts([Pair(*sides)])] == [(1, 4), (3, 2)]


def test_errors_of_spans_that_a_metric_cannot_count_have_the_line_and_advice() -> None:
    gap = Span.of_fragments([(0, 1), (2, 3)], "A", line=4)
    with pytest.raises(UsageError) as of_gap:
        require_no_gaps(Levels(), [Span(0, 1), gap])
    with pytest.raises(OverlapError) as of_overlap:
        Levels().require_flat("gold", [Span(0, 3, "A"), gap, Span(1, 2, "B", line=5)])

    assert str(of_gap.value) == (
        "line 4: span [0,3) 'A' has gaps, and metric 'levels' cannot count such spans (exact, fair, gate, muc and "
        "partial can; or make each fragment a span with fragments='split', or one span from start to end with "
        "fragments='hull')"
    )
    assert str(of_overlap.value) == (
        "line 5: spans [0,3) 'A' and [1,2) 'B' of one sequence overlap "
        "(metric 'levels' cannot count such spans; exact, fair, gate and muc can)"
    )


@pytest.mark.parametrize(
    ("known", "named"), [({}, "f.txt, document 'd': "), ({"document": "e", "file": "g"}, "g, document 'e': ")]
)
def test_a_limit_of_a_step_names_the_document_where_the_step_does_not(
    known: dict[str, str], named: str
) -> None:
    def step(pairs: Sequence[Pair]) -> Sequence[Pair]:
        raise LimitError("too many", **known)

    with pytest.raises(LimitError) as caught:
        changed(step, [Pair(Document("d", {}, file="f.txt"), Document("d", {}))])  # type: ignore[arg-type]  # it has no signature

    assert str(caught.value) == f"{named}too many"


def test_the_error_for_a_score_names_the_file_the_line_and_the_span() -> None:
    with pytest.raises(UsageError) as caught:
        score_of(Span(0, 1, "A", line=3), "p", Document("d", {}, file="p.tsv"))

    assert str(caught.value) == (
        "p.tsv:3, document 'd': the predicted span [0,1) 'A' has no score 'p' "
        "(every predicted span needs a finite number in this feature)"
    )


def test_documents_are_units_where_the_counts_of_parts_are_not_those_of_the_whole() -> None:
    metric = Words(different=True)
    apart, twice = document((0, 1), (3, 4), name="apart"), document((0, 1), (5, 6), name="twice")
    again = replace(apart, id="again")
    bag = bag_of(metric, apart, twice, again, units="document or sentence")

    assert by_unit(bag, metric) == {
        ("apart", None): {("a",): 2, ("d",): 2},
        ("twice", None): {("a",): 2},
        ("again", None): {("a",): 2, ("d",): 2},
    }
    assert by_unit(bag_of(metric, apart, units="document or sentence"), metric).keys() == {
        ("apart", number) for number in (1, 2, 3)
    }
    with pytest.raises(
        UsageError, match=r"^f, document 'twice': metric 'words' does not count sentences one"
    ):
        bag_of(metric, replace(twice, file="f"))


@pytest.mark.parametrize("documents", [FEW_DOCUMENTS - 1, FEW_DOCUMENTS])
def test_metrics_of_documents_count_sentences_until_the_tenth_document_begins(documents: int) -> None:
    names = [str(number) for number in range(documents)]
    bag = bag_of(Words(), *(document((0, 1), name=name) for name in names), units="document or sentence")

    sentences: Sequence[int | None] = (1, 2, 3) if documents < FEW_DOCUMENTS else (None,)
    assert list(by_unit(bag, Words())) == [(name, number) for name in names for number in sentences]


def test_a_metric_that_keeps_no_cases_counts_them_in_their_sentences() -> None:
    bag = bag_of(AtOnce(), document((0, 1), (1, 2), (8, 9)))

    assert by_unit(bag, AtOnce()) == {("d", 1): {("spans",): 2}, ("d", 2): {}, ("d", 3): {("spans",): 1}}


def test_cases_beside_the_text_have_no_positions_whatever_their_documents_have() -> None:
    words = Document("d", {"x": spans("A[0,1)")}, list("ab"), token_ids=list("12"), tags={"x": ["B-A", "O"]})
    letters = Document("d", {"x": spans("A[0,1)")}, text="ab", unit="character")
    bags = [
        count([[Pair(side, replace(side, tags={}), beside=True)]], Plan((Exact(),)))
        for side in (words, letters)
    ]

    assert [list(bag.keys) for bag in bags] == [[("x", (0, 0, 3, (0, 1, 0, "A"), (0, 1, 1, "A")))]] * 2


def test_spans_beside_the_text_are_in_no_sentence() -> None:
    given_document = document((0, 1), (8, 9))
    words = by_unit(bag_of(Words(), given_document, steps=(Beside(),)), Words())
    exact = by_unit(bag_of(Exact(), given_document, steps=(Beside(),)), Exact())

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


# Groups: the documents that several sides have of one text

NAMES = ("ann", "bob", "cat")


def side_of(text: str, name: str = "d", **fields: Any) -> Document:
    return Document(name, {"x": spans(text)}, tokens=["x"] * 12, **fields)


def group(*sides: str | None, name: str = "d") -> list[Group]:
    return [Group(tuple(None if text is None else side_of(text, name) for text in sides))]


def test_cases_of_a_group_have_the_spans_of_all_sides_and_none_of_one_that_lacks_the_document() -> None:
    sides = group("A[2,4)", None, "B[3,6) A[8,9)")[0].sides
    ((_, keys, ranges, others),) = keys_of(sides, ["x"])
    at = list(located(sides, ["x"]))

    assert keys == [(4, None, 0b101, (0, 2, 0, "A"), (1, 4, 2, "B")), (1, None, 0b101, (0, 1, 2, "A"))]
    assert (ranges, others) == ([(2, 6), (8, 9)], [])
    assert CaseOfKey(keys[0], "x").sides == ((Span(0, 2, {"x": "A"}),), None, (Span(1, 4, {"x": "B"}),))
    assert CaseOfKey(keys[0], "x").equal == 0
    assert [case.first for case in at] == [2, 8]
    assert at[0].sides == ((Span(2, 4, {"x": "A"}),), None, (Span(3, 6, {"x": "B"}),))
    assert at[1].sides == ((), None, (Span(8, 9, {"x": "A"}),))


def test_equal_positions_of_a_case_are_those_that_all_sides_share() -> None:
    ((_, (key,), _, _),) = keys_of(group("A[0,4)", "A[0,2)", "A[0,4)")[0].sides, ["x"])

    assert CaseOfKey(key, "x").equal == 2


def test_a_bag_knows_the_documents_and_positions_of_the_sides_that_are_present() -> None:
    texts = [group("", "", ""), group("", None, ""), group("", None, None), group("A[0,1)", "", "")]
    bag = count(texts, Plan((), sides=NAMES), ["x"])
    bag.include(count([group("", "", "", name="f")], Plan((), sides=NAMES), ["x"]))

    assert presence([1, None, 3]) == 0b101
    (place,) = bag.documents
    assert {present: of[place] for present, of in bag.shared.items()} == {0b111: 3, 0b101: 1, 0b001: 1}
    assert {present: of[place] for present, of in bag.positions.items()} == {0b111: 36, 0b101: 12, 0b001: 12}
    assert bag.read.spans == {("ann", "x"): 1, ("bob", "x"): 0, ("cat", "x"): 0}
    assert bag.grouped(lambda place: ()).shared == {0b111: {(): 3}, 0b101: {(): 1}, 0b001: {(): 1}}


def test_the_first_document_that_is_there_says_the_id_the_metadata_and_the_sentences() -> None:
    theirs = side_of("A[0,1)", metadata={"m": "1"}, sentences=[Sentence(0, 6), Sentence(6, 12)])
    text = Group((None, theirs, side_of("A[7,8)", metadata={"m": "2"})))
    bag = count([[text]], Plan((), sides=NAMES, by=("m",), units="sentence"), ["x"])

    assert text.first is theirs
    assert list(bag.documents) == [DocumentPlace(("1",), "d", 1), DocumentPlace(("1",), "d", 2)]


def test_the_positions_of_a_group_are_those_of_the_side_that_has_the_text() -> None:
    without_text = Document("d", {"x": []})

    assert Group((None, without_text, side_of(""))).positions == 12
    assert Group((None, without_text)).positions == 0
    with pytest.raises(ValueError, match="no side has the text"):
        Group((None, None))


def test_a_case_of_a_group_that_a_metric_cannot_count_names_the_document() -> None:
    with pytest.raises(OverlapError, match=r"document 'd': .* of one sequence overlap"):
        count([group(None, "A[0,4) B[2,6)", "")], Plan((Levels(),), sides=NAMES), ["x"])


FLAT = st.lists(st.sampled_from("OAB"), min_size=12, max_size=12).map(
    lambda letters: " ".join(f"{letter}[{n},{n + 1})" for n, letter in enumerate(letters) if letter != "O")
)


@given(st.lists(st.tuples(FLAT, FLAT), max_size=4))
def test_a_group_of_two_is_counted_as_a_pair(texts: list[tuple[str, str]]) -> None:
    plan = Plan((Exact(), Levels()))
    groups = [group(*sides, name=str(n)) for n, sides in enumerate(texts)]
    pairs = [[Pair(*each.sides)] for (each,) in groups]  # type: ignore[arg-type]  # both have it

    assert state(count(groups, plan, ["x"])) == state(count(pairs, plan, ["x"]))


def state(bag: Bag) -> object:
    return bag.keys, bag.places, bag.documents, bag.shared, bag.positions, bag.tallies, bag.read.spans


def test_the_id_of_a_document_counts_before_metadata_with_the_name_document() -> None:
    document = Document("x", {"label": [Span(0, 1, "A")]}, tokens=["a"], metadata={"document": "other"})

    assert clueval.score([document], [document], metrics="exact", where={"document": ["x"]}).f1 == 1
    with pytest.raises(UsageError, match="no document has document=other"):
        clueval.score([document], [document], metrics="exact", where={"document": ["other"]})
