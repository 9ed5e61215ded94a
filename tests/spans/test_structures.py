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

from clueval.exceptions import CluevalError, FormatError, OverlapError, SpanError
from clueval.spans.components import component_firsts, overlap_components
from clueval.spans.document import Document
from clueval.spans.flat import Flat, label_in
from clueval.spans.index import SpanIndex
from clueval.spans.match_classes import joined_labels
from clueval.spans.merging import merge_layers
from clueval.spans.span import Frozen, Span, making_many


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
