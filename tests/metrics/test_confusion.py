"""Confusion of labels: by hand, and its sums beside those of levels."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from clueval.core.count import Plan, count
from clueval.core.document import Document, Pair
from clueval.core.levels import LEVELS, UNMATCHED, Levels, classes_of
from clueval.core.span import Span
from clueval.files.errors import OverlapError
from clueval.metrics.confusion import Confusion
from tests.cases import any_spans, counted, flat, report, spans


def cells(gold: str, predicted: str, side: str, level: int) -> dict[str, Any]:
    """The cells of a matrix that are not 0, by row and column."""
    matrix = report(Confusion(), gold, predicted)["label"]["levels"][str(level)][side]
    found = dict(matrix["found"])
    for column in ("unlabelled", UNMATCHED[side]):
        for label, number in matrix[column].items():
            found[label] = found[label] | ({column: number} if number else {})
    return found


@pytest.mark.parametrize(
    ("gold", "predicted", "level", "of_gold", "of_predicted"),
    [
        ("A[0,4)", "A[0,4)", 1, {"A": {"A": 1}}, {"A": {"A": 1}}),
        ("A[0,4)", "B[0,4)", 1, {"A": {"B": 1}}, {"B": {"A": 1}}),
        ("A[0,4)", "B[0,5)", 1, {"A": {"missed": 1}}, {"B": {"spurious": 1}}),
        ("A[0,4)", "B[0,5)", 2, {"A": {"B": 1}}, {"B": {"spurious": 1}}),
        ("A[0,4)", "B[0,1) C[1,4)", 3, {"A": {"C": 1}}, {"B": {"A": 1}, "C": {"A": 1}}),
        ("A[0,4)", "B[0,1) C[1,6)", 4, {"A": {"C": 1}}, {"B": {"A": 1}, "C": {"spurious": 1}}),
        ("A[0,3)[7,9)", "B[0,3)[7,9)", 1, {"A": {"B": 1}}, {"B": {"A": 1}}),
        ("A[0,3)[7,9)", "B[0,3)[7,9) A[0,3)[7,9)", 1, {"A": {"A": 1}}, {"A": {"A": 1}, "B": {"A": 1}}),
        ("B[0,3)[7,9)", "B[0,3)[7,9) A[0,3)[7,9)", 1, {"B": {"B": 1}}, {"A": {"B": 1}, "B": {"B": 1}}),
        ("A[0,3)[7,9)", "A[0,9)", 4, {"A": {"missed": 1}}, {"A": {"spurious": 1}}),
        ("A[0,3)[7,9) A[4,6)", "A[4,6)", 1, {"A": {"A": 1, "missed": 1}}, {"A": {"A": 1}}),
    ],
)
def test_a_span_is_in_the_column_of_the_label_that_matches_it(
    gold: str, predicted: str, level: int, of_gold: dict[str, Any], of_predicted: dict[str, Any]
) -> None:
    assert cells(gold, predicted, "gold", level) == of_gold
    assert cells(gold, predicted, "predicted", level) == of_predicted


def test_a_match_without_a_label_in_the_layer_is_unlabelled() -> None:
    gold, predicted = [Span(0, 2, {"x": "A", "y": "B"})], [Span(0, 2, {"x": "A", "y": None})]
    tally = counted(Confusion(), gold, predicted)

    assert Confusion().scores(tally, ["y"])["y"]["levels"]["1"]["gold"] == {
        "found": {"B": {}},
        "unlabelled": {"B": 1},
        "missed": {"B": 0},
    }


def test_spans_that_a_filter_excludes_still_match_others() -> None:
    layers = {"x": spans("A[0,2)"), "y": spans("B[0,2)")}, {"x": spans("A[0,2)"), "y": spans("C[0,2)")}
    pair = Pair(*(Document("d", of) for of in layers))
    bag = count([[pair]], Plan((Confusion(),), where={"y": frozenset("B")}))
    tally = next(
        tally for _, sequence, _, tally in bag.tallies_of([Confusion()], ["x", "y"]) if sequence == "x"
    )

    assert tally == {("gold", "x", "A", "exact", "A"): 1}


def test_spans_that_overlap_are_refused_save_discontinuous_ones() -> None:
    with pytest.raises(OverlapError, match=r"spans \[0,4\) 'A' and \[3,5\) 'B' of one sequence overlap"):
        counted(Confusion(), spans("A[0,4) B[3,5)"), [])

    assert counted(Confusion(), spans("A[0,4) B[3,4)[6,7)"), []).total() == 2


FLAT = any_spans().map(flat)


@given(FLAT, FLAT)
def test_rows_add_up_to_the_spans_and_the_diagonal_is_what_levels_found(
    gold: list[Span], predicted: list[Span]
) -> None:
    labelled = Levels().scores(counted(Levels(), gold, predicted), ["label"])["labelled"]["label"]
    matrices = Confusion().scores(counted(Confusion(), gold, predicted), ["label"])["label"]["levels"]

    for level in map(str, LEVELS):
        for side, right in (("gold", "tp_gold"), ("predicted", "tp_predicted")):
            matrix = matrices[level][side]
            for label, counts in labelled[level]["per_label"].items():
                row = matrix["found"].get(label, {})
                rest = matrix["unlabelled"].get(label, 0) + matrix[UNMATCHED[side]].get(label, 0)
                assert sum(row.values()) + rest == counts[side]
                assert row.get(label, 0) == counts[right]


@given(FLAT, FLAT)
def test_the_classes_of_all_labels_add_up_to_those_of_levels(gold: list[Span], predicted: list[Span]) -> None:
    of_levels = Levels().scores(counted(Levels(), gold, predicted), ["label"])["classes"]
    found = Confusion().scores(counted(Confusion(), gold, predicted), ["label"])["label"]["classes"]

    for side, classes in of_levels.items():
        per_label = found[side].values()
        assert {kind: sum(each[kind] for each in per_label) for kind in classes_of(side)} == classes
