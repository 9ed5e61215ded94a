"""Keys and cases: each rule by a small example, and against a comparison of all pairs of spans."""

from __future__ import annotations

import math
from itertools import chain
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clueval import score
from clueval.core.case import CaseOfKey, are_flat, keys_of, keys_of_triples, other_key, same_key, which_count
from clueval.core.document import Document, Layers, Row
from clueval.core.located import EqualCases, Located, located
from clueval.core.span import Span
from tests.cases import spans

SPANS = [Span(0, 2, "A"), Span(0, 2, "B"), Span(1, 5, "A", features={"n": 1}), Span(4, 6, "A")]
SPANS += [Span(0, 4, "A", tokens=frozenset(tokens)) for tokens in ({0, 3}, {0, 2, 3})]
SPANS += [Span(0, 6, "A", parts=((0, end), (4, 6))) for end in (3, 2)]
NONE = Document("d", {}, tokens=["x"] * 12)


def text(spans_of_x: str | list[Span], length: int = 12, **fields: Any) -> Document:
    x = spans(spans_of_x) if isinstance(spans_of_x, str) else spans_of_x
    return Document("d", {"x": x}, tokens=["x"] * length, **fields)


def keys(*documents: Document | None, layers: tuple[str, ...] = ("x",), **choices: Any) -> list[Any]:
    return [key for column in keys_of(documents, layers, **choices) for key in column.keys]


def key_of_feature(value: object) -> Any:
    (key,) = keys(text([Span(0, 1, "A", features={"n": value})]), NONE, reads={"n"})
    return key


def test_a_key_counts_positions_from_the_first_start_of_its_case() -> None:
    assert keys(text("A[2,4) B[9,10)"), text("A[2,3) B[9,10)")) == [
        (2, None, 3, (0, 1, 1, "A"), (0, 2, 0, "A")),
        (1, None, 3, (0, 1, 0, "B"), (0, 1, 1, "B")),
    ]


def test_equal_cases_at_different_places_have_one_key() -> None:
    gold = text("A[0,2) A[5,7)")

    assert len(set(keys(gold, gold))) == 1


def test_the_order_of_spans_changes_no_key() -> None:
    rotated = [SPANS[n:] + SPANS[:n] for n in range(len(SPANS))]
    orders = {tuple(keys(text(each), NONE, reads={"n", "tokens"})) for each in rotated}

    assert len(orders) == 1


def test_spans_with_features_come_by_start_end_and_side() -> None:
    gold = text([Span(0, 3, "A", features={"n": 1}), Span(1, 2, "A", features={"n": 2})])
    predicted = text([Span(0, 2, "A", features={"n": 1})])

    (key,) = keys(gold, predicted, reads={"n"})

    assert [span[:3] for span in key[3:]] == [(0, 2, 1), (0, 3, 0), (1, 2, 0)]


def test_an_ordered_document_keeps_its_order_in_the_key() -> None:
    sides = text("B[0,2) A[0,2)", ordered=True), NONE

    (key,) = keys(*sides)
    (case,) = located(sides, ["x"])

    assert [span[3] for span in key[3:]] == [span.label for span in case.sides[0] or ()] == ["B", "A"]


def test_a_key_has_no_feature_id_line_or_score_that_no_metric_reads() -> None:
    scored = [Span(3 * n, 3 * n + 1, "A", features={"score": n}, id=n, line=n) for n in range(12_000)]

    assert len(set(keys(text(scored, 36_000), text("", 36_000)))) == 1


def test_parts_and_tokens_count_from_the_start_of_the_case() -> None:
    span = Span(4, 9, "A", {"n": 1}, frozenset({4, 8}), parts=[(4, 6), (8, 9)])
    (key,) = keys(text([span]), NONE, reads={"n", "tokens"})

    assert key[3] == (0, 5, 0, "A", ((0, 2), (4, 5)), (0, 4), (("n", "int", 1),), True)
    assert CaseOfKey(key, "x").gold == (
        Span(0, 5, {"x": "A"}, {"n": 1}, frozenset({0, 4}), parts=[(0, 2), (4, 5)]),
    )


def test_spans_of_zero_length_are_in_a_case_with_their_equals_and_what_covers_them_or_begins_there() -> None:
    gold, predicted = text("B[1,3) A[3,3) B[3,5) B[6,8)"), text("C[3,3) A[7,7)")

    assert [[span[3] for span in key[3:]] for key in keys(gold, predicted)] == [
        ["B"],
        ["A", "C", "B"],
        ["B", "A"],
    ]
    with_features = text([Span(2, 4, "A", features={"n": 1})])
    assert [len(key) for key in keys(with_features, text("B[2,2)"), reads={"n"})] == [3 + 2]


@pytest.mark.parametrize("wrap", [lambda value: [value], lambda value: {"k": value}, lambda value: value])
def test_values_that_are_equal_in_python_but_not_in_kind_make_other_keys_wherever_they_are(wrap: Any) -> None:
    values = [1, 1.0, True, 0.0, -0.0, False, "1", None, [1], {1: 1}, {True: 1}]
    values += [frozenset({1}), frozenset({True})]
    of_values = [key_of_feature(wrap(value)) for value in values]

    assert len(set(of_values)) == len(values)
    for key, value in zip(of_values, values, strict=True):
        (span,) = CaseOfKey(key, "x").gold
        assert repr(span.features["n"]) == repr(wrap(value))


def test_a_feature_that_is_not_a_number_makes_one_key() -> None:
    assert key_of_feature(float("nan")) == key_of_feature(float("nan"))


def test_members_of_a_set_have_no_order() -> None:
    one, other = (
        frozenset([0, 8, 1j, 2j]),
        frozenset([2j, 1j, 8, 0]),
    )  # which Python gives in different orders

    assert key_of_feature(one) == key_of_feature(other)


def test_spans_that_differ_in_features_alone_come_by_type_and_value() -> None:
    sets = [frozenset({True}), frozenset({1}), frozenset({2})]
    values = [True, math.nan, -1.5, 9.0, 10.0, 9, 10, [1], [True], *sets, "10", "9", "a'"]
    ordered = [True, -1.5, 9.0, 10.0, math.nan, 9, 10, [1], [True], *sets, "10", "9", "a'"]
    given_spans = [Span(0, 2, "A", features={"n": value}) for value in values]
    for ordering in (given_spans, given_spans[::-1]):
        (key,) = keys(text(ordering), NONE, reads={"n"})
        assert str([span.features["n"] for span in CaseOfKey(key, "x").gold]) == str(ordered)


def test_without_a_text_no_position_is_known() -> None:
    (key,) = keys(Document("d", {"x": spans("A[0,3)")}), Document("d", {}))

    assert key[:2] == (0, 0)


def test_tags_that_differ_outside_all_spans_are_other_positions() -> None:
    gold = text("", 3, tags={"x": ["O", "O", "O"]})
    predicted = text("A[1,2)", 3, tags={"x": ["I-A", "B-A", "O"]})
    (column,) = keys_of([gold, predicted], ["x"])

    assert (column.others, column.keys) == ([0], [(1, 0, 3, (0, 1, 1, "A"))])


def test_tags_of_any_number_of_sides_differ_at_positions_of_the_document() -> None:
    tags = ["O", "O", "B-A"], ["O", "I-A", "B-A"], ["O", "B-A", "B-B"]
    sides = [Document("d", {}, tokens=["x"] * 3, start=7, tags={"x": of_side}) for of_side in tags]
    columns = [next(keys_of(given_sides, ["x"])) for given_sides in (sides[:2], sides, sides[:1] * 3)]

    assert [column.others for column in columns] == [[8], [8, 9], []]


def test_a_filter_marks_the_spans_that_do_not_count() -> None:
    sides = [Document("d", {"x": spans("A[0,2)"), "y": spans(f"{label}[0,2)")}) for label in ("high", "low")]
    (key,) = keys(*sides, where={"y": frozenset({"high"})})

    assert [span[-1] for span in key[3:]] == ["A", False]
    case = CaseOfKey(key, "x")
    assert case.counted == (None, (False,))
    assert [len([*case.counting(side)]) for side in (0, 1)] == [1, 0]


@pytest.mark.parametrize("risks", [("high", "low"), ("low", "high")])
@pytest.mark.parametrize("end", [4, 0])
@pytest.mark.parametrize(("asked", "counted"), [("high", 1), ("low", 1), ("none", 0)])
def test_filter_counts_a_span_where_the_other_layer_has_any_label_that_is_asked_for(
    risks: tuple[str, str], end: int, asked: str, counted: int
) -> None:
    """The second span only makes ``none`` a risk that occurs; it has no entity."""
    layers = {
        "entity": [Span(0, end, "PER")],
        "risk": [*(Span(0, end, risk) for risk in risks), Span(6, 7, "none")],
    }
    side = [Document("d", layers, text="Anna am.", unit="character")]

    result = score(side, side, metrics="exact", where=[f"risk={asked}"])

    assert result.get("exact.entity.micro.gold") == counted


def test_filter_takes_the_label_of_most_positions_and_of_equal_ones_the_earliest() -> None:
    """[0,4) has two positions of each of A and B, first A; [4,9) has three of B and two of A.

    [9,16) has three of B and twice two of A; [16,20) has twice one of A, first, and two of B.
    """
    labels = "A[0,2) B[2,4) A[4,6) B[6,9) A[9,11) B[11,14) A[14,16) A[16,17) B[17,19) A[19,20)"
    document = Document("d", {"e": spans("P[0,4) P[4,9) P[9,16) P[16,20)"), "x": spans(labels)})

    flags = {label: which_count(document.layers["e"], document, {"x": frozenset(label)}) for label in "AB"}

    assert flags == {"A": [True, False, True, True], "B": [False, True, False, False]}


def test_a_span_counts_if_it_meets_the_filters_of_all_layers() -> None:
    document = Document("d", {"x": spans("A[0,2) A[2,4) B[4,6)"), "y": spans("high[0,2) low[2,6)")})
    by_risk, by_label = {"y": frozenset({"high"})}, {"x": frozenset({"A"})}

    for where in ({**by_risk, **by_label}, {**by_label, **by_risk}):
        assert which_count(document.layers["x"], document, where) == [True, False, False]
    assert which_count(document.layers["x"], document, by_label) == [True, True, False]


def test_merged_layers_make_one_sequence_with_a_label_for_each_layer() -> None:
    layers = {"x": spans("A[0,2)"), "y": spans("high[1,4)")}
    sides = Document("d", layers, tokens=["x"] * 4), NONE

    (key,) = keys(*sides, layers=("x", "y"), merge=True)
    (case,) = located(sides, ("x", "y"), merge=True)

    assert key == (4, None, 3, (0, 4, 0, (("x", "A"), ("y", "high"))))
    assert (case.sequence, case.sides[0]) == ("merged", CaseOfKey(key, "merged").gold)


def test_a_side_that_lacks_the_document_is_missing_in_its_keys_and_cases() -> None:
    (key,) = keys(text("A[0,2)"), None, text("A[0,2)"))

    assert key[2] == 0b101
    assert CaseOfKey(key, "x").sides[1] is None


def test_rows_give_the_keys_of_their_spans_and_are_refused_outside_the_text() -> None:
    rows = [(0, 2, "A"), (1, 3, "B"), (5, 6, "A")]
    as_rows, as_spans = (
        Document("d", Layers({}, {"x": rows}), tokens=["x"] * 6),
        text("A[0,2) B[1,3) A[5,6)", 6),
    )

    assert keys(as_rows, as_spans) == keys(as_spans, as_rows)
    for row in [(0, 7, "A"), (3, 2, "A"), (-1, 2, "A")]:
        with pytest.raises(ValueError, match=r"lies outside the text|ends before|starts before"):
            Document("d", Layers({}, {"x": [row]}), tokens=["x"] * 6)


@pytest.mark.parametrize(
    ("places", "flat"),
    [("02 23", True), ("02 13", False), ("23 01", False), ("11 13", False), ("01 11", False)],
)
def test_rows_are_flat_that_come_by_position_and_neither_overlap_nor_are_empty(
    places: str, flat: bool
) -> None:
    assert are_flat([(int(start), int(end), "A") for start, end in places.split()]) is flat


def test_positions_with_equal_tags_follow_from_the_spans() -> None:
    assert CaseOfKey((4, None, 3, (0, 4, 0, "A"), (0, 2, 1, "A")), "x").equal == 2
    assert CaseOfKey((4, None, 3, (0, 4, 0, "A"), (2, 4, 1, "A")), "x").equal == 1  # B-A is not I-A
    assert (CaseOfKey(same_key(), "x").equal, CaseOfKey(other_key(), "x").equal) == (1, 0)
    assert CaseOfKey(other_key(), "x").length == 1
    assert CaseOfKey((4, None, 3, (0, 4, 0, "A"), (2, 2, 0, "B"), (0, 4, 1, "A")), "x").equal == 4


def test_a_discontinuous_span_has_the_tags_of_its_positions() -> None:
    for both in ("A[0,4) B[0,1)[3,4)", "B[0,1)[3,4) A[0,4)"):
        (key,) = keys(text(both), text("A[0,4)"))
        assert CaseOfKey((4, None, *key[2:]), "x").equal == 2


def test_around_has_the_spans_of_the_other_side_that_overlap() -> None:
    case = CaseOfKey((6, None, 3, (0, 6, 0, "A"), (0, 2, 1, "A"), (2, 4, 1, "A"), (2, 3, 0, "B")), "x")

    assert case.around == ([[0, 1], [1]], [[0], [0, 1]])


# Cases where they stand


def test_cases_of_two_equal_spans_can_be_kept_apart() -> None:
    sides = [text("A[0,2) B[4,5) C[7,9) D[10,11)"), text("A[0,2) X[4,5) C[7,8) D[11,12)")]
    equal: list[EqualCases] = []

    assert [case.first for case in located(sides, ["x"], equal=equal)] == [4, 7, 10, 11]
    assert [(each.sequence, each.spans()) for each in equal] == [("x", [Span(0, 2, {"x": "A"})])]
    assert [case.first for case in located(sides, ["x"])] == [0, 4, 7, 10, 11]


def test_spans_with_gaps_and_spans_of_one_side_are_no_equal_cases() -> None:
    sides = [text("A[0,1)[2,3) B[5,6) B[5,6)"), text("A[0,1)[2,3)")]

    assert [case.first for case in located(sides, ["x"], equal=[])] == [0, 5]


def test_located_cases_have_the_order_and_the_filter_of_their_keys() -> None:
    layers = {"x": [Span(0, 2, "A", {"n": n}) for n in (3, 1, 2)], "y": spans("high[0,1)")}
    sides = [Document("d", layers, tokens=["x"] * 4), NONE, None]

    (case,) = located(sides, ["x"], reads={"n"}, where={"y": frozenset({"high"})})
    (unfiltered,) = located(sides, ["x"], reads={"n"})
    (other,) = located(sides, ["x"], where={"y": frozenset({"low"})})

    assert [span.features["n"] for span in (case.sides[0] or ())] == [1, 2, 3]
    assert case.sides[1:] == ((), None)
    assert (case.counted, other.counted) == (((True,) * 3, (), None), ((False,) * 3, (), None))
    assert unfiltered.counted == (None, None, None)


def test_located_cases_keep_the_order_of_an_ordered_document_and_merge_layers() -> None:
    layers = {"x": [Span(0, 2, "B"), Span(0, 2, "A")], "y": [Span(0, 2, "C")]}
    ordered, other = (Document("d", layers, tokens=["x"] * 4, ordered=ordered) for ordered in (True, False))

    (case,) = located([ordered, other], ["x"])
    layers = {"x": [Span(0, 2, "B"), Span(4, 5, "A")], "y": [Span(0, 2, "C")]}
    merged = list(located([Document("d", layers, tokens=["x"] * 5), NONE], ["x", "y"], merge=True))

    assert [[span.label for span in side or ()] for side in case.sides] == [["B", "A"], ["A", "B"]]
    assert [[span.label for span in each.sides[0] or ()] for each in merged] == [["B|C"], ["A|_"]]


def test_a_case_has_the_spans_of_a_side_that_count() -> None:
    gold, predicted = text("A[0,2) B[1,3)"), text("A[0,2)")
    layers = {"x": gold.layers["x"], "y": spans("high[2,3)")}
    (key,) = keys(Document("d", layers, tokens=["x"] * 12), predicted, where={"y": frozenset({"high"})})
    case = CaseOfKey(key, "x")

    assert [(number, span.label) for number, span in case.counting(0)] == [(1, "B")]
    assert [list(CaseOfKey((*key[:3], (0, 2, 0, "A")), "x").counting(side)) for side in (0, 1)] == [
        [(0, Span(0, 2, {"x": "A"}))],
        [],
    ]


# Properties


ENDS = st.tuples(st.integers(0, 14), st.integers(0, 14)).map(sorted)
ROWS = st.lists(st.tuples(ENDS, st.sampled_from("AB")).map(lambda drawn: (*drawn[0], drawn[1])), max_size=9)


def linked(one: Row, two: Row) -> bool:
    has_point = one[0] == one[1] or two[0] == two[1]
    return (one[0] < two[1] and two[0] < one[1]) or (has_point and one[0] == two[0])


def model(gold: list[Row], predicted: list[Row]) -> list[list[tuple[int, int, int, str]]]:
    """The cases as sets of connected spans, by comparing all pairs."""
    all_spans = [(*row, 0) for row in gold] + [(*row, 1) for row in predicted]
    cases: list[list[tuple[int, int, str, int]]] = []
    for span in all_spans:
        touched = [case for case in cases if any(linked(span[:3], each[:3]) for each in case)]
        cases = [case for case in cases if case not in touched] + [[span, *chain.from_iterable(touched)]]
    moved = []
    for case in cases:
        first = min(span[0] for span in case)
        moved.append(sorted((start - first, end - first, side, label) for start, end, label, side in case))
    return sorted(moved)


@given(ROWS, ROWS, st.integers(0, 5))
def test_keys_are_the_connected_sets_of_spans_wherever_they_stand(
    gold: list[Row], predicted: list[Row], by: int
) -> None:
    moved = [[(start + by, end + by, label) for start, end, label in side] for side in (gold, predicted)]

    assert sorted(list(key[3:]) for key in keys_of_triples(*moved)) == model(gold, predicted)


FLAT: list[Row] = [(0, 2, "A"), (2, 3, "B"), (5, 6, "A")]
POINTS: list[Row] = [(3, 3, "A"), (3, 3, "B")]
TIED: list[Row] = [(0, 2, "B"), (0, 2, "A")]


@given(ROWS, ROWS, st.booleans())
@example(FLAT, FLAT, True)
@example(FLAT, FLAT, False)
@example(POINTS, POINTS, True)
@example([(1, 3, "B"), (3, 3, "A"), (3, 5, "B")], [(3, 3, "C")], True)
@example(TIED, [(1, 2, "C")], True)
def test_rows_and_documents_have_the_same_keys_and_located_cases_are_those_of_the_keys(
    gold: list[Row], predicted: list[Row], has_text: bool
) -> None:
    tokens = ["x"] * 14 if has_text else None
    sides = [Document("d", {"x": [Span(*row) for row in rows]}, tokens=tokens) for rows in (gold, predicted)]
    of_documents = keys(*sides)

    assert of_documents == keys_of_triples(gold, predicted, has_text=has_text)
    assert [
        [
            [(span.start - case.first, span.end - case.first, span.label) for span in side or ()]
            for side in case.sides
        ]
        for case in located(sides, ["x"])
    ] == [
        [[(span.start, span.end, span.label) for span in side or ()] for side in CaseOfKey(key, "x").sides]
        for key in of_documents
    ]
    of_rows = [Document("d", Layers({}, {"x": rows}), tokens=tokens) for rows in (gold, predicted)]
    equal: list[EqualCases] = []
    apart = [values_of(case) for case in located(sides, ["x"], equal=equal)]
    for same in (of_rows, [of_rows[0], sides[1]], [sides[0], of_rows[1]]):
        equal_rows: list[EqualCases] = []
        assert [values_of(case) for case in located(same, ["x"], equal=equal_rows)] == apart
        assert [each.spans() for each in equal_rows] == [each.spans() for each in equal]
    moved = [document.from_position(5) for document in sides]
    assert [case.key for case in located(moved, ["x"])] == [case.key for case in located(sides, ["x"])]


def values_of(case: Located) -> tuple[object, ...]:
    return case.sequence, case.first, case.sides, case.counted
