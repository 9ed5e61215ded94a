"""The five categories under the four schemes: against nervaluate, a naive model, and their laws."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from hypothesis import example, given
from nervaluate import Evaluator

from clueval.core.span import Span, are_neighbours
from clueval.metrics.muc import CATEGORIES, SCHEMES, Muc
from tests.cases import any_spans, counted, renamed, report, spans

NERVALUATE = {"strict": "strict", "exact": "exact", "partial": "partial", "type": "ent_type"}
FIGURES = (*CATEGORIES, "possible", "actual", "precision", "recall", "f1")


def categories(gold: str, predicted: str, scheme: str) -> dict[str, int]:
    """The categories that occur."""
    found = report(Muc(), gold, predicted)[scheme]
    return {category: found[category] for category in CATEGORIES if found[category]}


def score(gold: list[Span], predicted: list[Span]) -> dict[str, Any]:
    return Muc().scores(counted(Muc(), gold, predicted), ["label"])


@pytest.mark.parametrize(
    ("gold", "predicted", "expected"),
    [
        ("A[0,3)", "A[0,3)", ("correct", "correct", "correct", "correct")),
        ("A[0,3)", "B[0,3)", ("incorrect", "correct", "correct", "incorrect")),
        ("A[0,3)", "A[1,5)", ("incorrect", "incorrect", "partial", "correct")),
        ("A[0,3)", "B[1,5)", ("incorrect", "incorrect", "partial", "incorrect")),
        ("A[0,3)[7,9)", "A[0,3)[7,9)", ("correct", "correct", "correct", "correct")),
        ("A[0,3)[7,9)", "A[0,3)[7,10)", ("incorrect", "incorrect", "partial", "correct")),
        ("A[0,3)[7,9)", "A[0,9)", ("incorrect", "incorrect", "partial", "correct")),
        ("A[3,3)", "A[3,3)", ("correct", "correct", "correct", "correct")),
        ("A[3,3)", "B[3,3)", ("incorrect", "correct", "correct", "incorrect")),
        ("A[3,3)", "A[2,4)", ("incorrect", "incorrect", "partial", "correct")),
        ("A[0,1000)", "A[999,1001)", ("incorrect", "incorrect", "partial", "correct")),
    ],
)
def test_a_pair_has_a_category_in_each_scheme(gold: str, predicted: str, expected: tuple[str, ...]) -> None:
    for scheme, category in zip(SCHEMES, expected, strict=True):
        assert categories(gold, predicted, scheme) == {category: 1}


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    ("gold", "predicted"), [("A[0,3)", "A[3,5)"), ("A[0,3)[7,9)", "A[4,6)"), ("A[3,3)", "A[3,4)")]
)
def test_spans_that_share_no_position_are_missed_and_spurious(gold: str, predicted: str, scheme: str) -> None:
    assert categories(gold, predicted, scheme) == {"missed": 1, "spurious": 1}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_an_exact_match_is_not_lost_to_a_span_that_stands_before_it(scheme: str) -> None:
    assert categories("A[0,9)", "A[0,4) A[0,9)", scheme) == {"correct": 1, "spurious": 1}


def test_partial_pairs_are_worth_a_half() -> None:
    partial = report(Muc(), "A[0,2) A[4,6)", "A[0,2) A[5,7) A[8,9)")["partial"]

    assert (partial["precision"], partial["recall"], partial["f1"]) == (0.5, 0.75, 0.6)


def test_a_pair_of_two_labels_stands_in_the_row_of_the_gold_label() -> None:
    rows = report(Muc(), "A[0,2)", "B[0,2) B[4,5)")["per_label"]

    assert rows["A"]["strict"]["incorrect"] == 1
    assert (rows["B"]["strict"]["incorrect"], rows["B"]["strict"]["spurious"]) == (0, 1)


def test_two_empty_sides_score_zero() -> None:
    found = score([], [])

    assert found["per_label"] == {}
    assert found["strict"] == dict.fromkeys(FIGURES, 0)


# nervaluate


def nervaluate(gold: list[Span], predicted: list[Span]) -> dict[str, dict[str, float]]:
    """nervaluate's totals; its ends are inclusive, so it takes no spans of zero length."""
    sides = [
        [[{"label": s.label, "start": s.start, "end": s.end - 1} for s in side]] for side in (gold, predicted)
    ]
    totals = Evaluator(*sides, tags=["A", "B"], loader="dict").evaluate()["overall"]
    return {
        ours: {name: getattr(totals[theirs], name) for name in FIGURES} for ours, theirs in NERVALUATE.items()
    }


def figures_in_every_order(gold: list[Span], predicted: list[Span]) -> dict[str, list[dict[str, float]]]:
    """nervaluate's totals in every order of the spans of either side, by scheme."""
    theirs = [nervaluate(list(g), list(p)) for g in permutations(gold) for p in permutations(predicted)]
    return {scheme: [totals[scheme] for totals in theirs] for scheme in SCHEMES}


def flat(side: list[Span]) -> list[Span]:
    """The spans that overlap none before them."""
    kept: list[Span] = []
    for span in side:
        if not any(span.overlaps(other) for other in kept):
            kept.append(span)
    return kept


WHOLE = any_spans(3, size=8, empty=False, gaps=False)


@given(WHOLE, WHOLE)
@example(spans("A[0,2) A[3,6)"), spans("B[0,1) A[1,5)"))
def test_totals_are_nervaluates_wherever_those_do_not_depend_on_the_order_save_under_type(
    gold: list[Span], predicted: list[Span]
) -> None:
    found = score(gold, predicted)

    for scheme, theirs in figures_in_every_order(gold, predicted).items():
        if scheme != "type" and all(figures == theirs[0] for figures in theirs):
            assert found[scheme] == theirs[0]


@given(WHOLE.map(flat), WHOLE.map(flat))
def test_totals_of_flat_spans_are_nervaluates_under_type_too(gold: list[Span], predicted: list[Span]) -> None:
    theirs = figures_in_every_order(gold, predicted)["type"]

    if all(figures == theirs[0] for figures in theirs):
        assert score(gold, predicted)["type"] == theirs[0]


# Laws


def most_pairs(gold: list[Span], predicted: list[Span]) -> tuple[int, int]:
    """The most pairs of equal label, and the most pairs with them, by trying everything."""
    if not gold:
        return 0, 0
    first, rest = gold[0], gold[1:]
    found = [most_pairs(rest, predicted)]
    for number, span in enumerate(predicted):
        if are_neighbours(first, span):
            labels, pairs = most_pairs(rest, predicted[:number] + predicted[number + 1 :])
            found.append((labels + (first.label == span.label), pairs + 1))
    return max(found)


FEW = any_spans(5)


@given(FEW, FEW)
@example(spans("A[0,5) A[6,7)"), spans("A[1,10) A[2,3)"))
@example(spans("A[1,4) A[5,6)"), spans("A[2,9) A[0,3)"))
@example(
    spans("A[2,8) A[3,4)[7,8)"), spans("A[5,7) A[2,4)")
)  # the one that ends first is no good choice here
def test_as_many_spans_as_possible_are_paired(gold: list[Span], predicted: list[Span]) -> None:
    gold, predicted = renamed(gold, {"A": "A", "B": "A"}), renamed(predicted, {"A": "B", "B": "B"})
    gold = [span for span in gold if all(span.fragments != other.fragments for other in predicted)]

    assert score(gold, predicted)["partial"]["partial"] == most_pairs(gold, predicted)[1]


@given(FEW.map(flat), FEW.map(flat))
@example(spans("A[0,2)"), spans("B[0,1) A[1,2)"))
@example(spans("A[0,2) A[3,6)"), spans("B[0,1) A[1,5)"))
@example(spans("A[2,2) A[2,2) A[2,2)"), spans("B[2,2) B[2,2)"))
def test_pairs_of_flat_spans_have_the_most_equal_labels_and_then_the_most_pairs(
    gold: list[Span], predicted: list[Span]
) -> None:
    gold, predicted = ([span for span in side if span.parts is None] for side in (gold, predicted))
    found = score(gold, predicted)["type"]

    assert (found["correct"], found["correct"] + found["incorrect"]) == most_pairs(gold, predicted)


SIDES = any_spans(), any_spans()


@given(*SIDES)
def test_every_span_has_one_category_and_the_rows_add_up(gold: list[Span], predicted: list[Span]) -> None:
    found = score(gold, predicted)

    for scheme in SCHEMES:
        assert (found[scheme]["possible"], found[scheme]["actual"]) == (len(gold), len(predicted))
        for figure in (*CATEGORIES, "possible", "actual"):
            assert found[scheme][figure] == sum(row[scheme][figure] for row in found["per_label"].values())
    for label, row in found["per_label"].items():
        assert row["strict"]["possible"] == sum(span.label == label for span in gold)
