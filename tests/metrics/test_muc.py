"""The five categories under the four schemes: against nervaluate, a naive model, and their own laws."""

from __future__ import annotations

from itertools import permutations
from random import Random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from nervaluate import Evaluator
from strategies import LABELS, any_spans, at_most, flat_spans

from clueval.core.span import Span
from clueval.metrics.metric import Side
from clueval.metrics.muc import CATEGORIES, SCHEMES, Item, Muc, count_in_stages, flat_pairs, overlap_pairs

NERVALUATE = {"strict": "strict", "exact": "exact", "partial": "partial", "type": "ent_type"}
FIGURES = (*CATEGORIES, "possible", "actual", "precision", "recall", "f1")


def score(gold: list[Span], predicted: list[Span]) -> dict[str, Any]:
    metric = Muc()
    return metric.scores(metric.count(Side(gold), Side(predicted)), ["label"])


def categories(gold: list[Span], predicted: list[Span], scheme: str) -> dict[str, int]:
    """The categories that occur."""
    return {category: n for category in CATEGORIES if (n := score(gold, predicted)[scheme][category])}


def nervaluate(gold: list[Span], predicted: list[Span]) -> dict[str, dict[str, float]]:
    """nervaluate's totals; its ends are inclusive, so it takes no spans of zero length."""
    sides = [
        [[{"label": s.label, "start": s.start, "end": s.end - 1} for s in spans]]
        for spans in (gold, predicted)
    ]
    totals = Evaluator(*sides, tags=list(LABELS), loader="dict").evaluate()["overall"]
    return {
        ours: {name: getattr(totals[theirs], name) for name in FIGURES} for ours, theirs in NERVALUATE.items()
    }


def totals(report: dict[str, Any]) -> dict[str, dict[str, float]]:
    return {scheme: report[scheme] for scheme in SCHEMES}


@pytest.mark.parametrize(
    ("gold", "predicted", "expected"),
    [
        (Span(0, 3, "A"), Span(0, 3, "A"), ("correct", "correct", "correct", "correct")),
        (Span(0, 3, "A"), Span(0, 3, "B"), ("incorrect", "correct", "correct", "incorrect")),
        (Span(0, 3, "A"), Span(1, 5, "A"), ("incorrect", "incorrect", "partial", "correct")),
        (Span(0, 3, "A"), Span(1, 5, "B"), ("incorrect", "incorrect", "partial", "incorrect")),
    ],
)
def test_a_pair_has_a_category_in_each_scheme(gold: Span, predicted: Span, expected: tuple[str, ...]) -> None:
    for scheme, category in zip(SCHEMES, expected, strict=True):
        assert categories([gold], [predicted], scheme) == {category: 1}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_spans_that_touch_are_missed_and_spurious(scheme: str) -> None:
    assert categories([Span(0, 3, "A")], [Span(3, 5, "A")], scheme) == {"missed": 1, "spurious": 1}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_an_exact_match_is_not_lost_to_a_span_that_stands_before_it(scheme: str) -> None:
    gold, predicted = [Span(0, 9, "A")], [Span(0, 4, "A"), Span(0, 9, "A")]

    assert categories(gold, predicted, scheme) == {"correct": 1, "spurious": 1}


def test_a_span_far_longer_than_what_it_shares_is_still_overlapped() -> None:
    # nervaluate takes an overlap of less than 1 % of the gold span for none
    assert categories([Span(0, 1000, "A")], [Span(999, 1001, "A")], "type") == {"correct": 1}


def test_equal_spans_of_zero_length_are_a_pair_and_one_inside_another_span_overlaps_it() -> None:
    assert categories([Span(3, 3, "A")], [Span(3, 3, "A")], "strict") == {"correct": 1}
    assert categories([Span(3, 3, "A")], [Span(2, 4, "A")], "partial") == {"partial": 1}
    assert categories([Span(3, 3, "A")], [Span(3, 4, "A")], "partial") == {"missed": 1, "spurious": 1}


def test_partial_pairs_are_worth_a_half() -> None:
    report = score([Span(0, 2, "A"), Span(4, 6, "A")], [Span(0, 2, "A"), Span(5, 7, "A"), Span(8, 9, "A")])

    partial = report["partial"]
    assert (partial["precision"], partial["recall"], partial["f1"]) == (0.5, 0.75, 0.6)


def test_a_pair_of_two_labels_stands_in_the_row_of_the_gold_label() -> None:
    rows = score([Span(0, 2, "A")], [Span(0, 2, "B"), Span(4, 5, "B")])["per_label"]

    assert rows["A"]["strict"]["incorrect"] == 1
    assert (rows["B"]["strict"]["incorrect"], rows["B"]["strict"]["spurious"]) == (0, 1)


def test_two_empty_sides_score_zero() -> None:
    report = score([], [])

    assert report["per_label"] == {}
    assert report["strict"] == dict.fromkeys(FIGURES, 0)


@st.composite
def loosely_coupled(draw: st.DrawFn) -> tuple[list[Span], list[Span]]:
    """Flat sides in which every span overlaps at most one span of the other side."""
    gold, predicted = draw(flat_spans(size=30)), draw(flat_spans(size=30))
    predicted = [p for p in predicted if sum(map(p.overlaps, gold)) <= 1]
    gold = [g for g in gold if sum(map(g.overlaps, predicted)) <= 1]
    return gold, predicted


@given(loosely_coupled())
def test_totals_are_nervaluates_where_every_span_overlaps_at_most_one(
    sides: tuple[list[Span], list[Span]],
) -> None:
    assert totals(score(*sides)) == nervaluate(*sides)


def figures_in_every_order(gold: list[Span], predicted: list[Span]) -> dict[str, list[dict[str, float]]]:
    """nervaluate's totals in every order of the spans of either side, by scheme."""
    theirs = [nervaluate(list(g), list(p)) for g in permutations(gold) for p in permutations(predicted)]
    return {scheme: [totals[scheme] for totals in theirs] for scheme in SCHEMES}


@given(flat_spans(size=7), flat_spans(size=7))
@example(
    [Span(0, 2, "PER"), Span(3, 6, "PER")],
    [Span(0, 1, "LOC"), Span(1, 5, "PER")],
)
@at_most(60)
def test_totals_of_flat_spans_are_nervaluates_wherever_those_do_not_depend_on_the_order(
    gold: list[Span], predicted: list[Span]
) -> None:
    gold, predicted = gold[:3], predicted[:3]
    report = score(gold, predicted)

    for scheme, theirs in figures_in_every_order(gold, predicted).items():
        if all(figures == theirs[0] for figures in theirs):
            assert report[scheme] == theirs[0]


@given(any_spans(size=8, max_size=3), any_spans(size=8, max_size=3))
@at_most(60)
def test_totals_of_any_spans_are_nervaluates_wherever_those_do_not_depend_on_the_order_save_under_type(
    gold: list[Span], predicted: list[Span]
) -> None:
    gold, predicted = ([span for span in side if len(span)] for side in (gold, predicted))
    report = score(gold, predicted)

    for scheme, theirs in figures_in_every_order(gold, predicted).items():
        if scheme != "type" and all(figures == theirs[0] for figures in theirs):
            assert report[scheme] == theirs[0]


@given(any_spans(), any_spans(), st.randoms(use_true_random=False))
def test_the_order_of_the_spans_does_not_matter(
    gold: list[Span], predicted: list[Span], random: Random
) -> None:
    shuffled = [random.sample(side, len(side)) for side in (gold, predicted)]

    assert score(*shuffled) == score(gold, predicted)


@given(any_spans(), any_spans())
def test_every_span_has_one_category_and_the_rows_add_up(gold: list[Span], predicted: list[Span]) -> None:
    report = score(gold, predicted)

    for scheme in SCHEMES:
        assert (report[scheme]["possible"], report[scheme]["actual"]) == (len(gold), len(predicted))
        for figure in (*CATEGORIES, "possible", "actual"):
            assert report[scheme][figure] == sum(row[scheme][figure] for row in report["per_label"].values())
    for label, row in report["per_label"].items():
        assert row["strict"]["possible"] == sum(span.label == label for span in gold)


@given(any_spans(), any_spans())
def test_swapped_sides_swap_missed_with_spurious(gold: list[Span], predicted: list[Span]) -> None:
    one, other = score(gold, predicted), score(predicted, gold)

    for scheme in SCHEMES:
        assert one[scheme]["missed"] == other[scheme]["spurious"]
        assert one[scheme]["precision"] == other[scheme]["recall"]
        assert one[scheme]["correct"] == other[scheme]["correct"]


def best_pairing(gold: list[Span], predicted: list[Span]) -> tuple[int, int]:
    """The most pairs of equal label, and the most pairs with them, by trying everything."""
    if not gold:
        return 0, 0
    first, rest = gold[0], gold[1:]
    found = [best_pairing(rest, predicted)]
    for number, span in enumerate(predicted):
        if first.overlaps(span):
            labels, pairs = best_pairing(rest, predicted[:number] + predicted[number + 1 :])
            found.append((labels + (first.label == span.label), pairs + 1))
    return max(found)


@given(any_spans(max_size=5), any_spans(max_size=5))
@example([Span(0, 5), Span(6, 7)], [Span(1, 10), Span(2, 3)])
def test_pairing_of_overlapping_spans_is_a_greatest_one(gold: list[Span], predicted: list[Span]) -> None:
    pairs = list(overlap_pairs(gold, predicted))
    unlabelled = [[Span(span.start, span.end) for span in side] for side in (gold, predicted)]

    assert all(gold[number].overlaps(predicted[partner]) for number, partner in pairs)
    assert len({number for number, _ in pairs}) == len({partner for _, partner in pairs}) == len(pairs)
    assert len(pairs) == best_pairing(*unlabelled)[1]


@given(flat_spans(zero_length=True), flat_spans(zero_length=True))
def test_pairing_of_flat_spans_has_the_most_equal_labels_and_then_the_most_pairs(
    gold: list[Span], predicted: list[Span]
) -> None:
    pairs = list(flat_pairs(gold, predicted))

    assert all(gold[number].overlaps(predicted[partner]) for number, partner in pairs)
    assert len({number for number, _ in pairs}) == len({partner for _, partner in pairs}) == len(pairs)
    labels = sum(gold[number].label == predicted[partner].label for number, partner in pairs)
    assert (labels, len(pairs)) == best_pairing(gold, predicted)


@given(any_spans(), any_spans(), any_spans())
def test_counts_of_documents_add_up(one: list[Span], other: list[Span], third: list[Span]) -> None:
    metric = Muc()
    moved = [[Span(s.start + 100, s.end + 100, s.labels) for s in side] for side in (other, third)]

    apart = metric.count(Side(one), Side(other)) + metric.count(Side(other), Side(third))

    assert apart == metric.count(Side([*one, *moved[0]]), Side([*other, *moved[1]]))


def test_thousands_of_spans_that_all_overlap_are_paired() -> None:
    n = 3_000
    nested = [Span(number, 2 * n - number, "A") for number in range(n)]
    shifted = [Span(number + 1, 2 * n - number + 1, "B") for number in range(n)]

    assert score(nested, shifted)["partial"]["partial"] == n


def located(spans: list[Span]) -> list[Item]:
    return [Item(span.start, span.end, span.label, span.parts or ()) for span in spans]


@given(any_spans(25, fragments=True), any_spans(25, fragments=True))
def test_counts_are_those_of_the_stages_alone(gold: list[Span], predicted: list[Span]) -> None:
    assert Muc().count(Side(gold), Side(predicted)) == count_in_stages(located(gold), located(predicted))
