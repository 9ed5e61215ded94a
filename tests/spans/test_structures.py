"""Spans, documents, the index, components and merging: as values, by hand, and against scans."""

from __future__ import annotations

import gc
import pickle
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import naive_components
from strategies import any_spans, flat_spans

from clueval.core.document import Document
from clueval.core.matching import joined_labels, match_spans
from clueval.core.merging import merge_layers
from clueval.core.span import Frozen, Span
from clueval.files.errors import CluevalError, FormatError, OverlapError, SpanError
from clueval.spans.components import UnionFind, component_firsts, overlap_components
from clueval.spans.flat import Flat, in_order_and_flat, label_in
from clueval.spans.index import SpanIndex
from clueval.spans.making import making_many
from clueval.transforms.characters import to_characters


class TestSpan:
    @pytest.mark.parametrize(
        ("positions", "problem"),
        [
            ((-1, 2), r"\[-1,2\) 'A' starts before position 0"),
            ((-1, 0), r"\[-1,0\) 'A' starts before position 0"),
            ((0, -1), r"\[0,-1\) 'A' ends before it starts"),
            ((1, 0), r"\[1,0\) 'A' ends before it starts"),
            ((0.0, 1), r"integers, not 0.0 and 1"),
            (("0", 1), r"integers, not '0' and 1"),
            ((True, 1), r"integers, not True and 1"),
        ],
    )
    def test_constructor_refuses_invalid_positions(self, positions: tuple[int, int], problem: str) -> None:
        with pytest.raises(SpanError, match=rf"^line 7: .*{problem}$"):
            Span(*positions, "A", line=7)

    def test_equality_ignores_id_and_line(self) -> None:
        assert Span(0, 1, "A", line=3, id="x") == Span(0, 1, "A")
        assert hash(Span(0, 1, "A", line=3)) == hash(Span(0, 1, "A"))

    def test_labels_cannot_be_changed(self) -> None:
        labels = Span(0, 1, {"entity": "PER"}).labels
        with pytest.raises(TypeError):
            labels["entity"] = "LOC"  # type: ignore[index]

    def test_pickled_span_is_equal(self) -> None:
        span = Span(0, 1, {"entity": "PER", "risk": None}, {"score": 0.5}, frozenset({0}))

        assert pickle.loads(pickle.dumps(span)) == span

    def test_touching_spans_do_not_overlap(self) -> None:
        assert not Span(0, 3).overlaps(Span(3, 5))
        assert Span(0, 4).overlaps(Span(3, 5))


@pytest.mark.parametrize("number", [2, 10**6])
@pytest.mark.parametrize("enabled", [True, False])
def test_garbage_collector_is_restored_also_after_an_exception(number: int, enabled: bool) -> None:
    (gc.enable if enabled else gc.disable)()
    try:
        with making_many(number):
            assert gc.isenabled() == (enabled and number == 2)
        assert gc.isenabled() == enabled

        with pytest.raises(SpanError), making_many(number):
            Span(1, 0)
        assert gc.isenabled() == enabled
    finally:
        gc.enable()


class TestDocument:
    def test_text_of_a_span_is_found_by_corpus_position_or_character(self) -> None:
        assert Document("d", {}, tokens=["a", "b", "c"], start=7).text_of(Span(8, 10)) == "b c"
        assert Document("d", {}, text="abc", unit="character").text_of(Span(1, 3)) == "bc"
        assert Document("d", {}, text="abc", unit="character", start=4).text_between(5, 7) == "bc"


def test_errors_name_their_place_also_after_pickling() -> None:
    error = FormatError("a NUL", file="g.vrt", line=3, document="d1", advice="remove it")

    again = pickle.loads(pickle.dumps(error))

    assert str(error) == str(again) == "g.vrt:3, document 'd1': a NUL (remove it)"
    assert (type(again), again.line) == (FormatError, 3)
    assert "\n" not in str(CluevalError("a\nb\x1b[31m"))


@given(any_spans(), any_spans(max_size=3))
def test_the_index_finds_what_a_scan_finds(spans: list[Span], queries: list[Span]) -> None:
    index = SpanIndex(spans)

    for query in queries:
        expected = sorted((s for s in spans if s.overlaps(query)), key=lambda s: (s.start, s.end))
        found = index.overlapping(query)
        assert [(s.start, s.end) for s in found] == [(s.start, s.end) for s in expected]
        assert sorted(s.label for s in found) == sorted(s.label for s in expected)


@given(flat_spans(zero_length=True), st.randoms(use_true_random=False))
def test_flat_spans_are_sorted_by_position(spans: list[Span], random: Random) -> None:
    shuffled = random.sample(spans, len(spans))

    flat = Flat.of(shuffled)

    assert list(flat.spans) == sorted(spans, key=lambda span: (span.start, span.end))
    assert [shuffled[number] for number in flat.order] == flat.spans
    assert [(span.start, span.end) for span in flat.spans] == [*zip(flat.starts, flat.ends, strict=True)]


@given(any_spans())
def test_spans_are_flat_if_no_two_overlap_or_are_equal(spans: list[Span]) -> None:
    clash = any(
        one.overlaps(other) or (one.start, one.end) == (other.start, other.end)
        for one, other in combinations(spans, 2)
    )

    if clash:
        with pytest.raises(OverlapError):
            Flat.of(spans)
    else:
        assert len(Flat.of(spans).spans) == len(spans)


def test_component_begins_after_the_end_of_all_spans_before_it() -> None:
    assert list(component_firsts([])) == []
    assert list(component_firsts([(0, 9), (1, 2), (3, 4), (9, 9), (9, 9), (9, 12)])) == [0, 3, 5]


@given(any_spans())
def test_components_are_the_connected_components_of_the_overlap_graph(spans: list[Span]) -> None:
    numbered = [Span(s.start, s.end, {"n": str(n)}) for n, s in enumerate(spans)]

    components = overlap_components(numbered)

    assert {frozenset(int(s.label) for s in c) for c in components} == naive_components(spans)


class TestMerging:
    def test_a_chain_of_overlaps_becomes_one_span_with_the_majority_labels(self) -> None:
        entity = [Span(0, 2, {"entity": "PER"}), Span(3, 7, {"entity": "LOC"})]
        risk = [Span(1, 4, {"risk": "high"})]

        assert merge_layers({"entity": entity, "risk": risk}) == [
            Span(0, 7, {"entity": "LOC", "risk": "high"})
        ]

    def test_layers_may_be_a_mapping_or_a_list(self) -> None:
        entity, risk = [Span(0, 2, {"entity": "PER"})], [Span(1, 3, {"risk": "low"})]

        assert merge_layers([entity, risk]) == merge_layers({"entity": entity, "risk": risk})

    @given(flat_spans(("a",)), flat_spans(("b",)), flat_spans(("c",)))
    def test_merging_is_idempotent_and_independent_of_the_order_of_layers(
        self, a: list[Span], b: list[Span], c: list[Span]
    ) -> None:
        merged = merge_layers({"a": a, "b": b, "c": c})

        assert merge_layers(dict.fromkeys("abc", merged)) == merged
        assert merge_layers({"c": c, "a": a, "b": b}) == merged

    @given(flat_spans(zero_length=True), flat_spans(("b",), zero_length=True), flat_spans(("c", "a")))
    def test_merging_is_joining_the_labels_of_each_component(
        self, a: list[Span], b: list[Span], c: list[Span]
    ) -> None:
        layers = {"a": a, "b": b, "c": c}

        assert merge_layers(layers) == plain_merged(layers)


def plain_merged(layers: Mapping[str, list[Span]]) -> list[Span]:
    """Merging as it is described: components, of each the joined labels."""
    spans = [Span(s.start, s.end, {name: label_in(name, s)}) for name, of in layers.items() for s in of]
    merged = []
    for component in overlap_components(spans):
        whole = Span(component[0].start, max(span.end for span in component))
        labels = joined_labels(whole, component)
        merged.append(replace(whole, labels={name: labels.get(name) for name in layers}))
    return merged


@given(st.dictionaries(st.text(max_size=3), st.integers()))
def test_frozen_is_a_dictionary_with_a_hash(items: dict[str, int]) -> None:
    assert Frozen(items) == items
    assert hash(Frozen(items)) == hash(Frozen(dict(reversed(items.items()))))


# The index of spans, flat sequences and disjoint sets, where they differ from what matching needs of them


@given(flat_spans(zero_length=True), any_spans(max_size=3))
def test_an_index_of_flat_spans_finds_what_a_scan_finds(spans: list[Span], queries: list[Span]) -> None:
    index = SpanIndex(reversed(spans))

    for query in queries:
        assert index.overlapping(query) == [span for span in spans if span.overlaps(query)]


def test_index_distinguishes_spans_of_zero_length_from_spans_that_they_touch() -> None:
    flat = [Span(0, 3), Span(3, 3), Span(3, 6)]

    for spans in (flat, [*flat, Span(2, 5)]):
        assert SpanIndex(spans).overlapping(Span(3, 3)) == [span for span in spans if span == Span(2, 5)]


def test_an_index_of_spans_that_overlap_gives_them_by_position_and_equal_ones_all() -> None:
    spans = [Span(4, 6, "A"), Span(0, 9, "B"), Span(4, 6, "C"), Span(9, 12, "D")]

    assert SpanIndex(spans).overlapping(Span(5, 9)) == [spans[1], spans[0], spans[2]]


def test_spans_in_order_and_flat_come_by_position_or_are_refused_by_document() -> None:
    assert in_order_and_flat([Span(4, 6), Span(0, 2)]) == [Span(0, 2), Span(4, 6)]
    with pytest.raises(
        OverlapError, match=r"document 'd4': spans \[0,2\) and \[1,3\) of one sequence overlap"
    ):
        in_order_and_flat([Span(0, 2), Span(1, 3)], "d4")


@pytest.mark.parametrize("positions", [(0, 0), (3, 3), (0, 2)])
def test_equal_spans_are_not_flat(positions: tuple[int, int]) -> None:
    with pytest.raises(OverlapError):
        in_order_and_flat([Span(*positions), Span(*positions)])
    with pytest.raises(OverlapError):
        in_order_and_flat([Span(7, 8), Span(*positions), Span(*positions)])


def test_spans_of_zero_length_are_sorted() -> None:
    flat = Flat.of([Span(3, 3), Span(1, 1), Span(2, 2)])

    assert (flat.starts, flat.order) == ([1, 2, 3], [1, 2, 0])


def test_an_overlap_is_refused_with_the_line_of_the_second_span_and_advice() -> None:
    crossing = [Span(1, 3, line=7), Span(0, 2, line=9)]
    message = (
        "line 7, document 'd4': spans [0,2) and [1,3) of one sequence overlap "
        "(spans of one sequence must not overlap)"
    )

    for refuse in (
        lambda: Flat.of(crossing, "d4"),
        lambda: match_spans(crossing, [], document="d4"),
        lambda: match_spans([], crossing, document="d4"),
    ):
        with pytest.raises(OverlapError) as caught:
            refuse()
        assert str(caught.value) == message


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=12))
def test_disjoint_sets_are_those_of_repeated_unions(pairs: list[tuple[int, int]]) -> None:
    sets = UnionFind(8)
    plain = {number: {number} for number in range(8)}
    for one, other in pairs:
        sets.unite(one, other)
        joined = plain[one] | plain[other]
        plain.update(dict.fromkeys(joined, joined))

    assert all((sets.find(n) == sets.find(m)) == (m in plain[n]) for n in range(8) for m in range(8))


# Spans, their dictionaries and documents as values: length, truth, what cannot be changed, what is refused


def test_span_has_its_positions_as_length_and_is_always_true() -> None:
    assert (len(Span(3, 8)), len(Span(3, 3))) == (5, 0)
    assert Span(3, 3)


def test_a_span_is_named_with_all_its_labels() -> None:
    with pytest.raises(SpanError) as caught:
        Span(2, 1, {"entity": "PER", "risk": None, "court": "x"})

    assert str(caught.value) == "span [2,1) 'PER|_|x' ends before it starts"


def test_frozen_dictionary_names_its_class_when_it_refuses_a_change() -> None:
    with pytest.raises(TypeError, match=r"^Frozen cannot be changed$"):
        Frozen(a=1).update(b=2)


def test_frozen_dictionaries_of_different_items_have_different_hashes() -> None:
    assert len({hash(Frozen(n=number)) for number in range(100)}) > 90


class TestParts:
    def test_of_a_span_in_one_piece_are_none_and_its_range_is_the_only_fragment(self) -> None:
        assert [span.parts for span in (Span(2, 5), Span.of_fragments([(2, 5)]))] == [None, None]
        assert Span(2, 5).fragments == ((2, 5),)

    def test_come_in_order_and_the_span_reaches_from_the_first_to_the_last(self) -> None:
        span = Span.of_fragments([[7, 9], [0, 3]], "A", {"score": 1}, id="T1", line=4)

        assert (span.start, span.end, span.parts) == (0, 9, ((0, 3), (7, 9)))
        assert (span.label, span.features, span.id, span.line) == ("A", {"score": 1}, "T1", 4)

    def test_are_part_of_the_value_of_a_span_and_survive_pickling_and_copying(self) -> None:
        span = Span.of_fragments([(0, 3), (7, 9)], "A")

        assert span != Span(0, 9, "A")
        assert len({span, Span(0, 9, "A"), Span.of_fragments([(0, 3), (7, 9)], "A")}) == 2
        assert pickle.loads(pickle.dumps(span)).parts == replace(span).parts == ((0, 3), (7, 9))

    @pytest.mark.parametrize(
        ("parts", "problem"),
        [
            ([(0, 3), (2, 9)], r"the part \[2,9\) of span \[0,9\) overlaps the part before it"),
            ([(0, 3), (5, 5), (7, 9)], r"the part \[5,5\) of span \[0,9\) is empty"),
            ([(0, 3), (7, 8)], r"the parts of span \[0,9\) do not reach from its start to its end"),
            ([], "do not reach"),
            ([(0, 3), (7.0, 9)], "positions must be integers"),
        ],
    )
    def test_that_contradict_each_other_are_refused(self, parts: list[tuple[int, int]], problem: str) -> None:
        with pytest.raises(SpanError, match=problem):
            Span(0, 9, parts=parts)

    def test_none_at_all_make_no_span(self) -> None:
        with pytest.raises(SpanError, match="a span needs at least one range"):
            Span.of_fragments([])

    def test_decide_whether_spans_overlap(self) -> None:
        one, other = Span.of_fragments([(0, 3), (7, 9)]), Span.of_fragments([(3, 7), (9, 11)])

        assert not one.overlaps(other)
        assert one.overlaps(Span(2, 4))
        assert other.overlaps(Span.of_fragments([(0, 1), (10, 12)]))

    def test_move_to_characters_with_their_span(self) -> None:
        span = Span.of_fragments([(0, 1), (2, 3)], "A")
        document = to_characters(Document("d", {"label": [span]}, tokens=["ab", "c", "def"]))

        assert document.layers["label"][0].fragments == ((0, 2), (5, 8))


class TestDocumentAsAValue:
    def test_its_spans_may_begin_with_the_first_position_and_end_with_the_last(self) -> None:
        document = Document("d", {"label": [Span(7, 9), Span(9, 9)]}, tokens=["a", "b"], start=7)

        assert document.end == 9

    @pytest.mark.parametrize(
        ("span", "message"),
        [
            (
                Span(6, 8, "A", line=3),
                "g.vrt:3, document 'd': span [6,8) 'A' of layer 'label' lies outside the text, "
                "which has the positions 7 to 8",
            ),
            (
                Span(8, 10, "A", line=4),
                "g.vrt:4, document 'd': span [8,10) 'A' of layer 'label' lies outside the text, "
                "which has the positions 7 to 8",
            ),
        ],
    )
    def test_a_span_outside_the_text_is_refused_with_its_place(self, span: Span, message: str) -> None:
        with pytest.raises(SpanError) as caught:
            Document("d", {"label": [span]}, tokens=["a", "b"], start=7, file="g.vrt")

        assert str(caught.value) == message

    def test_a_span_in_an_empty_text_is_refused_without_positions(self) -> None:
        with pytest.raises(SpanError) as caught:
            Document("d", {"label": [Span(7, 8, "A")]}, tokens=[], start=7)

        assert str(caught.value) == (
            "document 'd': span [7,8) 'A' of layer 'label' lies in a document without text"
        )

    def test_token_ids_of_a_wrong_number_are_refused_with_document_and_file(self) -> None:
        with pytest.raises(SpanError) as caught:
            Document("d", {}, tokens=["a"], token_ids=["1", "2"], file="g.vrt")

        assert str(caught.value) == "g.vrt, document 'd': 2 token ids for 1 tokens"

    def test_an_unknown_unit_is_refused_with_the_known_ones(self) -> None:
        with pytest.raises(SpanError) as caught:
            Document("d", {}, unit="byte")  # type: ignore[arg-type]  # what is refused

        assert str(caught.value) == "document 'd': unit must be 'token' or 'character', not 'byte'"

    def test_text_between_two_positions_counts_from_the_first_of_the_document(self) -> None:
        tokens = Document("d", {}, tokens=["a", "b", "c", "d"], start=7)
        text = Document("d", {}, text="abcd", unit="character", start=7)

        assert (tokens.text_between(8, 9), text.text_between(8, 9)) == ("b", "b")
        assert (tokens.text_between(8, 10), text.text_between(8, 10)) == ("b c", "bc")

    def test_text_of_a_document_without_text_is_empty(self) -> None:
        assert Document("d", {}).text_between(0, 3) == ""
        assert Document("d", {}, unit="character").text_between(0, 3) == ""

    def test_plain_label_belongs_to_the_layer_and_other_labels_stay(self) -> None:
        named, several, none = Span(1, 2, {"entity": "LOC"}), Span(2, 3, {"a": "x", "b": "y"}), Span(3, 4)

        document = Document("d", {"entity": [Span(0, 1, "PER", line=3), named, several, none]})

        assert document.layers["entity"] == [Span(0, 1, {"entity": "PER"}), named, several, none]
        assert document.layers["entity"][0].line == 3
        assert Document("d", {"entity": [Span(0, 1, "PER")]}).layers["entity"][0].labels == {"entity": "PER"}
