from __future__ import annotations

import math
from itertools import chain
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval.core.case import case_of, keys_of, keys_of_triples, located, same_key
from clueval.core.document import Document, Layers, Row
from clueval.core.span import Span

# Keys, each rule by a small example


def text(layers: dict[str, list[Span]], length: int = 12, **fields: object) -> Document:
    return Document("d", layers, tokens=["x"] * length, **fields)  # type: ignore[arg-type]


def keys(*documents: Document | None, layers: tuple[str, ...] = ("x",), **choices: object) -> list[object]:
    return [key for column in keys_of(documents, layers, **choices) for key in column.keys]  # type: ignore[arg-type]


def test_a_key_counts_positions_from_the_first_start_of_its_case() -> None:
    gold = text({"x": [Span(2, 4, "A"), Span(9, 10, "B")]})
    predicted = text({"x": [Span(2, 3, "A"), Span(9, 10, "B")]})

    assert keys(gold, predicted) == [
        (2, None, 3, (0, 1, 1, "A"), (0, 2, 0, "A")),
        (1, None, 3, (0, 1, 0, "B"), (0, 1, 1, "B")),
    ]


def test_equal_cases_at_different_places_have_one_key() -> None:
    gold = text({"x": [Span(0, 2, "A"), Span(5, 7, "A")]})

    assert len(set(keys(gold, gold))) == 1


def test_the_order_of_spans_changes_no_key() -> None:
    spans = [Span(0, 2, "A"), Span(0, 2, "B"), Span(1, 5, "A", features={"n": 1}), Span(4, 6, "A")]
    orders = {
        tuple(keys(text({"x": spans[n:] + spans[:n]}), text({}), reads={"n"})) for n in range(len(spans))
    }

    assert len(orders) == 1


def test_an_ordered_document_keeps_its_order_in_the_key() -> None:
    spans = [Span(0, 2, "B"), Span(0, 2, "A")]
    (key,) = keys(text({"x": spans}, ordered=True), text({}))

    assert [span[3] for span in key[3:]] == ["B", "A"]  # type: ignore[index]


def test_features_that_are_equal_in_python_but_of_other_types_make_other_keys() -> None:
    values = [1, 1.0, True, "1"]
    found = {
        keys(text({"x": [Span(0, 1, "A", features={"n": value})]}), text({}), reads={"n"})[0]
        for value in values
    }

    assert len(found) == len(values)


def test_a_key_has_no_feature_id_line_or_score_that_no_metric_reads() -> None:
    one = text({"x": [Span(0, 1, "A", features={"score": 0.5}, id=7, line=3)]})
    two = text({"x": [Span(0, 1, "A", features={"score": 0.25}, id=8, line=4)]})

    assert keys(one, text({})) == keys(two, text({}))


def test_twelve_thousand_scores_make_as_many_keys_as_none() -> None:
    scored = [Span(3 * n, 3 * n + 1, "A", features={"score": n}, id=str(n)) for n in range(12_000)]

    assert len(set(keys(text({"x": scored}, 36_000), text({}, 36_000)))) == 1


def test_parts_and_tokens_count_from_the_start_of_the_case() -> None:
    span = Span(4, 9, "A", tokens=frozenset({4, 8}), parts=[(4, 6), (8, 9)])
    (key,) = keys(text({"x": [span]}), text({}), reads={"tokens"})

    assert key[3] == (0, 5, 0, "A", ((0, 2), (4, 5)), (0, 4), (), True)  # type: ignore[index]


def test_spans_of_zero_length_are_in_a_case_with_their_equals_and_what_covers_them_or_begins_there() -> None:
    gold = text({"x": [Span(1, 3, "B"), Span(3, 3, "A"), Span(3, 5, "B"), Span(6, 8, "B")]})
    predicted = text({"x": [Span(3, 3, "C"), Span(7, 7, "A")]})

    assert [[span[3] for span in key[3:]] for key in keys(gold, predicted)] == [  # type: ignore[index]
        ["B"],
        ["A", "C", "B"],
        ["B", "A"],
    ]


@pytest.mark.parametrize("wrap", [lambda value: [value], lambda value: {"k": value}, lambda value: value])
def test_values_that_are_equal_in_python_but_not_in_kind_make_other_keys_wherever_they_are(wrap: Any) -> None:
    values = [1, 1.0, True, 0.0, -0.0, False, "1", None, [1], {1: 1}, {True: 1}]
    documents = [text({"x": [Span(0, 1, "A", features={"n": wrap(value)})]}) for value in values]
    found = [keys(document, text({}), reads={"n"})[0] for document in documents]

    assert len(set(found)) == len(values)  # type: ignore[arg-type]
    for key, value in zip(found, values, strict=True):
        (span,) = case_of(key, "x").gold  # type: ignore[arg-type]
        assert repr(span.features["n"]) == repr(wrap(value))


def test_spans_that_differ_in_features_alone_come_by_type_and_value() -> None:
    values = [True, math.nan, -1.5, 9.0, 10.0, 9, 10, [1], "10", "9"]
    ordered = [True, -1.5, 9.0, 10.0, math.nan, 9, 10, [1], "10", "9"]
    spans = [Span(0, 2, "A", features={"n": value}) for value in values]
    for ordering in (spans, spans[::-1]):
        (key,) = keys(text({"x": ordering}), text({}), reads={"n"})
        assert str([span.features["n"] for span in case_of(key, "x").gold]) == str(ordered)  # type: ignore[arg-type]


def test_a_feature_that_is_not_a_number_makes_one_key() -> None:
    documents = [text({"x": [Span(0, 1, "A", features={"n": float("nan")})]}) for _ in range(2)]

    assert len({keys(document, text({}), reads={"n"})[0] for document in documents}) == 1


def test_without_a_text_no_position_is_known() -> None:
    (key,) = keys(Document("d", {"x": [Span(0, 3, "A")]}), Document("d", {}))

    assert key[:2] == (0, 0)  # type: ignore[index]


def test_tags_that_differ_outside_all_spans_are_other_positions() -> None:
    gold = text({"x": []}, 3, tags={"x": ["O", "O", "O"]})
    predicted = text({"x": [Span(1, 2, "A")]}, 3, tags={"x": ["I-A", "B-A", "O"]})
    (column,) = keys_of([gold, predicted], ["x"])

    assert column.others == [0]
    assert column.keys == [(1, 0, 3, (0, 1, 1, "A"))]


def test_a_filter_marks_the_spans_that_do_not_count() -> None:
    gold = text({"x": [Span(0, 2, "A")], "y": [Span(0, 2, "high")]})
    predicted = text({"x": [Span(0, 2, "A")], "y": [Span(0, 2, "low")]})
    (key,) = keys(gold, predicted, where={"y": frozenset({"high"})})

    assert [span[-1] for span in key[3:]] == ["A", False]  # type: ignore[index]


def test_merged_layers_make_one_sequence_with_a_label_for_each_layer() -> None:
    gold = text({"x": [Span(0, 2, "A")], "y": [Span(1, 4, "high")]})
    (key,) = keys(gold, text({}), layers=("x", "y"), merge=True)

    assert key == (4, None, 3, (0, 4, 0, (("x", "A"), ("y", "high"))))


def test_a_side_that_lacks_the_document_is_missing_in_its_keys_and_cases() -> None:
    gold = text({"x": [Span(0, 2, "A")]})
    (key,) = keys(gold, None, gold)
    case = case_of(key, "x")  # type: ignore[arg-type]

    assert key[2] == 0b101  # type: ignore[index]
    assert case.sides[1] is None


def test_rows_give_the_keys_of_their_spans() -> None:
    rows = [(0, 2, "A"), (1, 3, "B"), (5, 6, "A")]
    as_rows = Document("d", Layers({}, rows={"x": rows}), tokens=["x"] * 6)
    as_spans = text({"x": [Span(*row) for row in rows]}, 6)

    assert keys(as_rows, as_spans) == keys(as_spans, as_rows)


def test_a_row_outside_the_text_is_refused() -> None:
    with pytest.raises(ValueError, match="lies outside the text"):
        Document("d", Layers({}, rows={"x": [(0, 7, "A")]}), tokens=["x"] * 6)


# Cases


def test_a_case_has_the_spans_of_its_key() -> None:
    gold = text({"x": [Span(4, 9, "A", {"n": 1}, frozenset({4, 8}), parts=[(4, 6), (8, 9)])]})
    (key,) = keys(gold, text({}), reads={"n", "tokens"})

    assert case_of(key, "x").gold == (  # type: ignore[arg-type]
        Span(0, 5, {"x": "A"}, {"n": 1}, frozenset({0, 4}), parts=[(0, 2), (4, 5)]),
    )


def test_positions_with_equal_tags_follow_from_the_spans() -> None:
    assert case_of((4, None, 3, (0, 4, 0, "A"), (0, 2, 1, "A")), "x").equal == 2
    assert case_of((4, None, 3, (0, 4, 0, "A"), (2, 4, 1, "A")), "x").equal == 1  # B-A is not I-A
    assert case_of(same_key(), "x").equal == 1


def test_around_has_the_spans_of_the_other_side_that_overlap() -> None:
    case = case_of((6, None, 3, (0, 6, 0, "A"), (0, 2, 1, "A"), (2, 4, 1, "A"), (2, 3, 0, "B")), "x")

    assert case.around == ([[0, 1], [1]], [[0], [0, 1]])


# Properties


def rows_of(labels: str = "AB") -> st.SearchStrategy[list[Row]]:
    ends = st.tuples(st.integers(0, 14), st.integers(0, 14)).map(sorted)
    row = st.tuples(ends, st.sampled_from(labels)).map(lambda drawn: (*drawn[0], drawn[1]))
    return st.lists(row, max_size=9)


def linked(one: Row, two: Row) -> bool:
    has_point = one[0] == one[1] or two[0] == two[1]
    return (one[0] < two[1] and two[0] < one[1]) or (has_point and one[0] == two[0])


def model(gold: list[Row], predicted: list[Row]) -> list[list[tuple[int, int, int, str]]]:
    """The cases as sets of connected spans, found by comparing all pairs."""
    spans = [(*row, 0) for row in gold] + [(*row, 1) for row in predicted]
    cases: list[list[tuple[int, int, str, int]]] = []
    for span in spans:
        touched = [case for case in cases if any(linked(span[:3], each[:3]) for each in case)]
        cases = [case for case in cases if case not in touched] + [[span, *chain.from_iterable(touched)]]
    found = []
    for case in cases:
        first = min(span[0] for span in case)
        found.append(sorted((start - first, end - first, side, label) for start, end, label, side in case))
    return sorted(found)


@given(rows_of(), rows_of())
def test_keys_are_the_connected_sets_of_spans(gold: list[Row], predicted: list[Row]) -> None:
    found = keys_of_triples(gold, predicted)

    assert sorted(list(key[3:]) for key in found) == model(gold, predicted)


@given(rows_of(), rows_of(), st.booleans())
def test_rows_and_documents_have_the_same_keys(gold: list[Row], predicted: list[Row], has_text: bool) -> None:
    tokens = ["x"] * 14 if has_text else None
    one, two = (
        Document("d", {"x": [Span(*row) for row in rows]}, tokens=tokens) for rows in (gold, predicted)
    )

    assert keys(one, two) == keys_of_triples(gold, predicted, has_text=has_text)


@given(rows_of(), rows_of())
def test_located_cases_are_those_of_the_keys(gold: list[Row], predicted: list[Row]) -> None:
    one, two = (text({"x": [Span(*row) for row in rows]}, 14) for rows in (gold, predicted))
    (column,) = keys_of([one, two], ["x"])
    moved = [
        tuple(
            tuple((span.start - case.first, span.end - case.first, span.label) for span in side or ())
            for side in case.sides
        )
        for case in located([one, two], ["x"])
    ]

    assert moved == [
        tuple(
            tuple((span.start, span.end, span.label) for span in side or ())
            for side in case_of(key, "x").sides
        )
        for key in column.keys
    ]


@given(rows_of(), st.integers(0, 5))
def test_a_moved_text_has_the_same_keys(gold: list[Row], by: int) -> None:
    moved = [(start + by, end + by, label) for start, end, label in gold]

    assert keys_of_triples(gold, gold) == keys_of_triples(moved, moved)
