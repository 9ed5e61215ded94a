"""Spans and documents as values, what they refuse, and which spans overlap."""

from __future__ import annotations

import pickle
from dataclasses import MISSING, fields, replace
from inspect import signature
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from oracles import naive_components

from clueval import documents_from, score
from clueval.core.document import (
    Document,
    Layers,
    MissingId,
    Sentence,
    same_id,
)
from clueval.core.one_to_one import overlap_groups
from clueval.core.span import (
    MAX_PAIRS,
    MERGED,
    PAIRS_OF_SPAN,
    Frozen,
    Regions,
    Span,
    SpanIndex,
    require_few_pairs,
    shared_positions,
)
from clueval.files.errors import CluevalError, FormatError, LimitError, SpanError
from clueval.reading.span_lists import overlap_components
from clueval.transforms.characters import to_characters
from tests.cases import any_spans, spans

# Spans


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
def test_a_span_refuses_invalid_positions(positions: tuple[int, int], problem: str) -> None:
    with pytest.raises(SpanError, match=rf"^line 7: .*{problem}$"):
        Span(*positions, "A", line=7)


@pytest.mark.parametrize(
    ("fields_of_span", "problem"),
    [
        ({"labels": 3}, "labels must be text or a dictionary, not an int"),
        ({"labels": {1: "A"}}, "layers and labels must be text, not an int"),
        ({"labels": {"x": [2]}}, "layers and labels must be text, not a list"),
        ({"features": [1]}, "features must be a dictionary, not a list"),
        (
            {"parts": [(0, 1), (0, 2)], "line": 7},
            "line 7: the part [0,2) of span [0,2) overlaps the part before it",
        ),
    ],
)
def test_a_span_refuses_what_is_no_label_no_feature_and_no_part(fields_of_span: Any, problem: str) -> None:
    with pytest.raises(SpanError) as caught:
        Span(0, 2, **fields_of_span)

    assert str(caught.value) == problem


def test_positions_of_a_span_may_be_numbers_of_numpy() -> None:
    span = Span(np.int64(0), np.uint8(2), "A")

    assert span == Span(0, 2, "A")
    assert (type(span.start), type(span.end)) == (int, int)


def test_a_span_is_named_with_all_its_labels() -> None:
    with pytest.raises(SpanError) as caught:
        Span(2, 1, {"entity": "PER", "risk": None, "court": "x"})

    assert str(caught.value) == "span [2,1) 'PER|_|x' ends before it starts"


def test_the_parameters_of_a_span_are_its_fields_with_their_defaults() -> None:
    parameters = signature(Span).parameters

    assert list(parameters) == [field.name for field in fields(Span)]
    for field in fields(Span):
        default = parameters[field.name].default
        assert (MISSING if default is parameters[field.name].empty else default) == field.default


def test_equality_ignores_id_and_line() -> None:
    assert Span(0, 1, "A", line=3, id="x") == Span(0, 1, "A")
    assert hash(Span(0, 1, "A", line=3)) == hash(Span(0, 1, "A"))


def test_a_span_has_its_positions_as_length_and_is_always_true() -> None:
    assert (len(Span(3, 8)), len(Span(3, 3))) == (5, 0)
    assert Span(3, 3)


def test_a_pickled_span_is_equal() -> None:
    span = Span(0, 9, {"entity": "PER", "risk": None}, {"score": 0.5}, frozenset({0}), parts=[(0, 3), (7, 9)])

    assert pickle.loads(pickle.dumps(span)) == span


@given(st.dictionaries(st.text(max_size=3), st.integers()))
def test_frozen_is_a_dictionary_with_a_hash(items: dict[str, int]) -> None:
    assert Frozen(items) == items
    assert hash(Frozen(items)) == hash(Frozen(dict(reversed(items.items()))))
    assert len({hash(Frozen(n=number)) for number in range(100)}) > 90


def test_labels_cannot_be_changed() -> None:
    labels: Any = Span(0, 1, {"entity": "PER"}).labels
    with pytest.raises(TypeError, match=r"^Frozen cannot be changed$"):
        labels["entity"] = "LOC"


# Parts


def test_a_span_in_one_piece_has_no_parts_and_its_range_as_the_only_fragment() -> None:
    assert [span.parts for span in (Span(2, 5), Span.of_fragments([(2, 5)]))] == [None, None]
    assert Span(2, 5).fragments == ((2, 5),)


def test_parts_come_in_order_and_the_span_reaches_from_the_first_to_the_last() -> None:
    span = Span.of_fragments([[7, 9], [0, 3]], "A", {"score": 1}, id="T1", line=4)

    assert (span.start, span.end, span.parts) == (0, 9, ((0, 3), (7, 9)))
    assert (span.label, span.features, span.id, span.line) == ("A", {"score": 1}, "T1", 4)
    assert len({replace(span, features={}), Span(0, 9, "A"), Span.of_fragments([(0, 3), (7, 9)], "A")}) == 2


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
def test_parts_that_contradict_each_other_are_refused(parts: list[tuple[int, int]], problem: str) -> None:
    with pytest.raises(SpanError, match=f"^line 7: .*{problem}"):
        Span(0, 9, parts=parts, line=7)


def test_no_ranges_make_no_span() -> None:
    with pytest.raises(SpanError, match=r"^line 3: a span needs at least one range"):
        Span.of_fragments([], line=3)


def test_parts_move_to_characters_with_their_span() -> None:
    span = Span.of_fragments([(0, 1), (2, 3)], "A")
    document = to_characters(Document("d", {"label": [span]}, tokens=["ab", "c", "def"]))

    assert document.layers["label"][0].fragments == ((0, 2), (5, 8))


def test_a_span_that_is_placed_elsewhere_keeps_what_it_carries() -> None:
    span = Span(2, 6, "A", {"f": 1}, frozenset({2, 5}), id="T1", line=3, parts=[(2, 3), (5, 6)])
    moved = span.placed(lambda start, end: (2 * start, 2 * end))
    plain = Span(2, 6, "A").placed(lambda start, end: (start + 1, end + 1))

    assert (moved.start, moved.end, moved.parts) == (4, 12, ((4, 6), (10, 12)))
    assert moved.tokens == {4, 5, 10, 11}
    assert (moved.labels, moved.features, moved.id, moved.line) == (span.labels, {"f": 1}, "T1", 3)
    assert (plain, plain.parts, plain.tokens) == (Span(3, 7, "A"), None, None)


# Overlaps


@given(any_spans(12, gaps=False))
def test_components_are_the_connected_components_of_the_overlap_graph(those: list[Span]) -> None:
    numbered = [Span(s.start, s.end, {"n": str(n)}) for n, s in enumerate(those)]

    components = overlap_components(numbered)

    assert {frozenset(int(s.label) for s in c) for c in components} == naive_components(those)


@given(any_spans())
@example(spans("A[0,2)[5,6) A[3,4) A[3,4) A[5,6) A[1,2)"))
@example(spans("A[3,3) B[3,3) C[5,5) D[4,6)"))  # equal spans of zero length share no position
def test_groups_are_the_connected_spans_whose_fragments_share_positions(those: list[Span]) -> None:
    groups = [{number} for number in range(len(those))]
    for one, other in combinations(range(len(those)), 2):
        pieces = product(those[one].fragments, those[other].fragments)
        if any(start < last and first < end for (start, end), (first, last) in pieces):
            both = [group for group in groups if one in group or other in group]
            groups = [*(group for group in groups if group not in both), set().union(*both)]

    found = overlap_groups(those)

    assert sorted(found) == sorted(map(sorted, groups))
    assert found == sorted(found)


@given(any_spans(), any_spans(1))
@example(spans("A[0,1)[3,4) A[6,9)"), spans("A[0,9)"))
@example(spans("A[0,9)"), spans("A[1,2)[4,6)"))
def test_regions_count_the_positions_of_a_span_that_are_in_them(those: list[Span], spans: list[Span]) -> None:
    regions = Regions([part for each in those for part in each.fragments])
    within = {position for each in those for part in each.fragments for position in range(*part)}

    assert (bool(regions), regions.positions) == (bool(those), len(within))
    for span in spans:
        own = {position for part in span.fragments for position in range(*part)}
        assert regions.shared(span) == len(own & within)
        for other in those:
            theirs = {position for part in other.fragments for position in range(*part)}
            assert shared_positions(span, other) == len(own & theirs)


@given(any_spans(20), any_spans(4))
@example(spans("A[0,9) A[3,5) A[4,4)"), spans("A[3,5) A[4,4) A[3,3) A[5,9)"))
@example(spans("A[0,3) A[3,3) A[3,6)"), spans("A[3,3)"))  # spans that touch are no neighbours, equal ones are
@example(spans("A[4,6) B[0,9) C[4,6) D[9,12)"), spans("A[5,9)"))  # equal spans are all found
@example(spans("A[0,2) B[3,4)"), spans("A[0,1)[5,6)"))
@example(spans("A[0,3)[7,9) B[0,1)[10,12) C[3,7)"), spans("A[3,7)[9,11)"))
def test_the_index_finds_the_spans_that_overlap_or_are_empty_in_one_place(
    those: list[Span], queries: list[Span]
) -> None:
    index = SpanIndex(those)

    for query in queries:
        near = []
        for number, each in enumerate(those):
            pieces = product(query.fragments, each.fragments)
            overlap = any(start < last and first < end for (start, end), (first, last) in pieces)
            assert query.overlaps(each) == overlap
            near += [number] if overlap or query.start == query.end == each.start == each.end else []
        assert index.near(query) == near


def test_pairs_above_the_limit_are_refused_with_advice() -> None:
    require_few_pairs(MAX_PAIRS, 1)
    require_few_pairs(PAIRS_OF_SPAN * 10_000, 10_000)

    with pytest.raises(LimitError) as caught:
        require_few_pairs(MAX_PAIRS + 1, 1)

    assert str(caught.value) == (
        f"more than {MAX_PAIRS:,} pairs of spans overlap, too many to be compared one by one "
        "(score the document in parts, or leave out spans that are nested or repeated)"
    )


# Documents


@pytest.mark.parametrize(
    ("fields_of_document", "message"),
    [
        (
            {
                "layers": {"label": [Span(6, 8, "A", line=3)]},
                "tokens": ["a", "b"],
                "start": 7,
                "file": "g.vrt",
            },
            "g.vrt:3, document 'd': span [6,8) 'A' of layer 'label' lies outside the text, "
            "which has the positions 7 to 8",
        ),
        (
            {"layers": {"label": [Span(8, 10, "A", line=4)]}, "tokens": ["a", "b"], "start": 7},
            "line 4, document 'd': span [8,10) 'A' of layer 'label' lies outside the text, "
            "which has the positions 7 to 8",
        ),
        (
            {"layers": {"label": [Span(7, 8, "A")]}, "tokens": [], "start": 7},
            "document 'd': span [7,8) 'A' of layer 'label' lies in a document without text",
        ),
        (
            {"layers": {}, "tokens": ["a"], "token_ids": ["1", "2"], "file": "g.vrt"},
            "g.vrt, document 'd': 2 token ids for 1 token",
        ),
        ({"layers": {}, "unit": "byte"}, "document 'd': unit must be 'token' or 'character', not 'byte'"),
        (
            {"layers": {"x": [(0, 1)]}},
            "layer 'x' must have spans, not a tuple (write Span(start, end, label))",
        ),
        ({"layers": {}, "metadata": None}, "metadata must be a dictionary, not None"),
    ],
)
def test_a_document_refuses_what_contradicts_itself(fields_of_document: Any, message: str) -> None:
    with pytest.raises(SpanError) as caught:
        Document("d", **fields_of_document)

    assert str(caught.value) == message


def test_spans_of_a_document_may_begin_with_its_first_position_and_end_with_its_last() -> None:
    document = Document("d", {"label": [Span(7, 9), Span(9, 9)]}, tokens=["a", "b"], start=7)

    assert document.end == 9


def test_the_text_between_positions_counts_from_the_first_of_the_document() -> None:
    tokens = Document("d", {}, tokens=["a", "b", "c", "d"], start=7)
    text = Document("d", {}, text="abcd", unit="character", start=7)

    assert (tokens.text_of(Span(8, 9)), text.text_of(Span(8, 9))) == ("b", "b")
    assert (tokens.text_between(8, 10), text.text_between(8, 10)) == ("b c", "bc")
    assert (
        Document("d", {}).text_between(0, 3) == Document("d", {}, unit="character").text_between(0, 3) == ""
    )


def test_a_document_begins_at_another_position_with_its_spans_and_sentences() -> None:
    document = Document(
        "d", {"x": spans("A[7,8)")}, tokens=["a", "b"], start=7, sentences=[Sentence(7, 9, "s")]
    )
    moved = document.from_position(3)

    assert (moved.start, moved.layers["x"], moved.sentences) == (
        3,
        [Span(3, 4, {"x": "A"})],
        [Sentence(3, 5, "s")],
    )
    assert moved.from_position(7) == document
    assert document.from_position(7) is document


def test_spans_of_the_merged_layer_keep_the_layers_of_their_labels() -> None:
    spans_of_x = [Span(0, 1, {"x": "A"})]

    assert Document("d", {MERGED: spans_of_x}).layers[MERGED] == spans_of_x
    assert Document("d", {"y": spans_of_x}).layers["y"] == [Span(0, 1, {"y": "A"})]


def test_layers_of_rows_and_of_spans_are_equal_shown_and_pickled_alike() -> None:
    layers = Layers({"y": [Span(0, 1, {"y": "B"})]}, {"x": [(0, 2, "A")]}, line=4)
    same = Layers({"x": [Span(0, 2, {"x": "A"})], "y": [Span(0, 1, {"y": "B"})]})
    copied = pickle.loads(pickle.dumps(layers))

    assert layers == same == copied
    assert hash(layers) == hash(same) != hash(Layers({"x": [Span(0, 2, {"x": "A"})]}))
    assert repr(layers) == repr(dict(layers))
    assert [copied[name][0].line for name in copied] == [4, None]


def test_an_id_that_is_missing_is_that_of_any_document() -> None:
    assert [same_id(*ids) for ids in (("1", "1"), ("1", "2"))] == [True, False]
    assert same_id(MissingId("1"), "2")
    assert same_id("1", MissingId("2"))


def test_a_plain_label_belongs_to_the_layer_and_other_labels_stay() -> None:
    named, several, none = Span(1, 2, {"entity": "LOC"}), Span(2, 3, {"a": "x", "b": "y"}), Span(3, 4)

    document = Document("d", {"entity": [Span(0, 1, "PER", line=3), named, several, none]})

    assert document.layers["entity"] == [Span(0, 1, {"entity": "PER"}), named, several, none]
    assert document.layers["entity"][0].line == 3


def test_errors_name_their_place_also_after_pickling() -> None:
    error = FormatError("a NUL", file="g.vrt", line=3, document="d1", advice="remove it")

    again = pickle.loads(pickle.dumps(error))

    assert str(error) == str(again) == "g.vrt:3, document 'd1': a NUL (remove it)"
    assert (type(again), again.line) == (FormatError, 3)
    assert "\n" not in str(CluevalError("a\nb\x1b[31m"))


def test_metadata_of_documents_are_texts_as_in_rows() -> None:
    metadata: dict[str, Any] = {"year": 2020, "final": True, "court": "BGH", "judge": None}
    document = Document("d", {"l": [Span(0, 1, "A")]}, metadata=metadata)
    row = {"text": "Ada", "label": [[0, 1, "A"]], "meta": metadata}

    assert document.metadata == {"year": "2020", "final": "true", "court": "BGH"}
    assert [read.metadata for read in documents_from([row], "doccano")] == [document.metadata]
    assert score([document], [document], metrics="exact", by="year").to_dict()["by"]["year"].keys() == {
        "2020"
    }


def test_metadata_of_a_document_with_other_metadata_are_texts() -> None:
    document = replace(Document("d", {"l": [Span(0, 1, "A")]}), metadata={"year": np.int64(2020)})  # type: ignore[dict-item]

    assert document.metadata == {"year": "2020"}


@pytest.mark.parametrize("value", [[2020], np.array([1, 2]), np.array([1])])
def test_metadata_that_is_no_text_is_named(value: Any) -> None:
    with pytest.raises(SpanError, match="metadata 'year' must be text or a number, not a") as error:
        Document("d", {}, metadata={"year": value})
    assert str(error.value).endswith(type(value).__name__)


def test_names_of_metadata_are_texts() -> None:
    assert Document("d", {}, metadata={2020: "x"}).metadata == {"2020": "x"}  # type: ignore[dict-item]
