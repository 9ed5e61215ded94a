"""Spans, documents, components and merging: as values, by hand, and against scans."""

from __future__ import annotations

import gc
import pickle
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import naive_components
from strategies import any_spans, flat_spans

from clueval.core.count import MANY, collector_paused
from clueval.core.document import Document, Pair
from clueval.core.matching import merge_layers
from clueval.core.overlap import overlap_components
from clueval.core.span import Frozen, Span
from clueval.files.errors import CluevalError, FormatError, SpanError
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


def plain_merged(layers: dict[str, list[Span]]) -> list[Span]:
    """The merged spans, from the components that comparing all pairs finds."""
    all_spans = [(name, span) for name, spans in layers.items() for span in spans]
    merged = []
    for numbers in naive_components([span for _, span in all_spans]):
        members = sorted(
            (all_spans[number] for number in numbers), key=lambda each: (each[1].start, each[1].end)
        )
        labels: dict[str, str | None] = {}
        for name in layers:
            own = [span for layer, span in members if layer == name]
            sizes = Counter[str]()
            for span in own:
                sizes[span.labels.get(name, span.label)] += len(span)
            labels[name] = max(sizes, key=lambda label: sizes[label], default=None)
        merged.append(Span(members[0][1].start, max(span.end for _, span in members), labels))
    return sorted(merged, key=lambda span: (span.start, span.end))


@pytest.mark.parametrize("number", [2, MANY])
@pytest.mark.parametrize("enabled", [True, False])
def test_the_garbage_collector_is_restored_also_after_an_exception(number: int, enabled: bool) -> None:
    document = Document("d", {"label": [Span(0, 1)] * number})
    (gc.enable if enabled else gc.disable)()
    try:
        with collector_paused([Pair(document, document)]):
            assert gc.isenabled() == (enabled and number == 2)
        assert gc.isenabled() == enabled
        with pytest.raises(SpanError), collector_paused([Pair(document, document)]):
            Span(1, 0)
        assert gc.isenabled() == enabled
    finally:
        gc.enable()


@given(st.dictionaries(st.text(max_size=3), st.integers()))
def test_frozen_is_a_dictionary_with_a_hash(items: dict[str, int]) -> None:
    assert Frozen(items) == items
    assert hash(Frozen(items)) == hash(Frozen(dict(reversed(items.items()))))


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
