"""Fair evaluation: its steps by hand, against plain lists, and against the published numbers."""

from __future__ import annotations

import csv
import pickle
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clueval.core.ranges import intersect
from clueval.core.span import Span
from clueval.files.errors import LimitError, UsageError
from clueval.metrics.fair import DEFAULT_WEIGHTS, Fair, FairError, pairing, parse_weights
from clueval.metrics.fair.pairing import (
    Item,
    Leftover,
    Pair,
    item,
    neighbours,
    overlap_kind,
    pair_up,
    runs_of,
    size_of,
    subtract,
)
from clueval.metrics.fair.weights import freeze_weights, weighted_rates
from clueval.metrics.metric import Side
from tests.oracles import pair_by_lists, tally_pairs
from tests.readings import fair_documents

PUBLISHED = Path(__file__).parents[3] / "shared" / "data" / "faireval-ner"

PAPER = (
    "LE = 0.5 FP + 0.5 FN, BES = 0.5 TP + 0.5 FN, BEL = 0.5 TP + 0.5 FP, "
    "BEO = 0.5 TP + 0.25 FP + 0.25 FN, LBE = 0.5 FP + 0.5 FN"
)


def by_place(pairs: Iterator[Pair]) -> list[Pair]:
    return sorted(pairs, key=repr)


# Strategies ----------------------------------------------------------------------------------------------


@st.composite
def items(draw: st.DrawFn, size: int = 14, labels: str = "AB", holes: bool = True) -> Item:
    """Spans that nest, cross, repeat, have holes, or have no length at all."""
    start = draw(st.integers(0, size))
    end = draw(st.integers(start, size + 1))
    tokens = None
    if holes and end > start and draw(st.integers(0, 3)) == 0:
        tokens = draw(st.frozensets(st.integers(start, end - 1), min_size=1))
    return item(draw(st.sampled_from(labels)), start, end, tokens)


LISTS = st.lists(items(), max_size=12)


def spans_of(these: Sequence[Item]) -> list[Span]:
    return [Span(start, end, label, tokens=tokens) for label, start, end, tokens in these]


def side(*texts: str) -> Side:
    """A side from spans as they label themselves: "A[0,4)"."""
    return Side([span(text) for text in texts])


def span(text: str) -> Span:
    label, _, extent = text.rstrip(")").partition("[")
    start, _, end = extent.partition(",")
    return Span(int(start), int(end), label)


def kinds(gold: Side, predicted: Side, **options: Any) -> list[str]:
    return [finding.kind for finding in Fair(**options).findings(gold, predicted)]


def report(gold: Side, predicted: Side, **options: Any) -> dict[str, Any]:
    metric = Fair(**options)
    return metric.scores(metric.count(gold, predicted), ("label",))


def counts(gold: Side, predicted: Side, version: str = "fair", **options: Any) -> dict[str, int]:
    """The counts of a version that are not 0."""
    overall = report(gold, predicted, **options)["overall"][version]
    return {kind: n for kind, n in overall.items() if n and kind not in ("precision", "recall", "f1")}


# The steps, by hand --------------------------------------------------------------------------------------


HOLED_A, HOLED_B, FULL = (
    Side([Span(0, 3, label, tokens=frozenset(tokens))])
    for label, tokens in (("A", (0, 2)), ("B", (0, 2)), ("A", (0, 1, 2)))
)


@pytest.mark.parametrize(
    ("gold", "predicted", "expected"),
    [
        pytest.param(side("A[0,4)"), side("A[0,4)"), {"TP": 1}, id="equal"),
        pytest.param(side("A[0,3)"), HOLED_A, {"FN": 1, "FP": 1}, id="other tokens in the same range"),
        pytest.param(side("A[0,3)"), FULL, {"TP": 1}, id="all tokens of the range"),
        pytest.param(side("A[0,3)"), HOLED_B, {"LE": 1}, id="another label, whatever its tokens"),
        pytest.param(side("A[2,6)"), side("A[2,4)"), {"BE": 1, "BES": 1}, id="smaller, at the start"),
        pytest.param(side("A[2,6)"), side("A[3,4)"), {"BE": 1, "BES": 1}, id="smaller, inside"),
        pytest.param(side("A[2,6)"), side("A[2,7)"), {"BE": 1, "BEL": 1}, id="larger at the end"),
        pytest.param(side("A[2,6)"), side("A[1,7)"), {"BE": 1, "BEL": 1}, id="larger at both ends"),
        pytest.param(side("A[2,6)"), side("A[4,8)"), {"BE": 1, "BEO": 1}, id="crossing the end"),
        pytest.param(side("A[2,6)"), side("A[0,3)"), {"BE": 1, "BEO": 1}, id="crossing the start"),
        pytest.param(side("A[0,2)"), side("A[2,4)"), {"FN": 1, "FP": 1}, id="spans that touch"),
        pytest.param(side("A[0,2)"), side("A[5,7)"), {"FN": 1, "FP": 1}, id="spans that overlap nothing"),
        pytest.param(
            side("A[0,4)", "A[6,8)"),
            side("A[0,9)"),
            {"BE": 2, "BEL": 2},
            id="what is left of a predicted span",
        ),
        pytest.param(
            side("A[0,9)"), side("A[0,4)", "A[6,8)"), {"BE": 2, "BES": 2}, id="what is left of a gold span"
        ),
        pytest.param(
            side("A[0,3)", "A[2,6)"), side("A[2,3)"), {"BE": 1, "BES": 1, "FN": 1}, id="no common tokens left"
        ),
        pytest.param(side("A[0,4)"), side("B[2,6)"), {"LBE": 1}, id="overlap with another label"),
        pytest.param(side("A[3,3)"), side("A[3,3)"), {"TP": 1}, id="zero length, equal"),
        pytest.param(side("A[2,5)"), side("A[3,3)"), {"BE": 1, "BES": 1}, id="zero length, inside"),
        pytest.param(side("A[3,5)"), side("A[3,3)"), {"FN": 1, "FP": 1}, id="zero length, at the start"),
    ],
)
def test_errors_have_one_type_each(gold: Side, predicted: Side, expected: dict[str, int]) -> None:
    assert counts(gold, predicted) == expected


def test_a_label_error_takes_the_first_predicted_span_of_another_label() -> None:
    gold, predicted = side("A[0,2)"), side("C[0,2)", "B[0,2)")

    assert [finding[1:] for finding in Fair().findings(gold, predicted) if finding.kind == "LE"] == [
        (span("A[0,2)"), span("C[0,2)"))
    ]


@pytest.mark.parametrize(
    ("better", "worse", "why"),
    [
        ("A[0,5)", "A[0,3)", "shares more tokens"),
        ("A[1,8)", "A[1,9)", "has fewer tokens besides"),
        ("A[1,9)", "A[0,8)", "is the earlier of equals"),
    ],
)
def test_the_most_similar_candidate_is_taken(better: str, worse: str, why: str) -> None:
    found = list(Fair().findings(side("A[2,7)"), side(better, worse)))

    assert next(finding.predicted for finding in found if finding.gold) == span(better), why


def test_shorter_span_is_taken_of_equally_similar_ones() -> None:
    longer, shorter = (Span(0, end, "A", tokens=frozenset({0, 2})) for end in (8, 6))
    found = list(Fair().findings(side("A[0,4)"), Side([longer, shorter])))

    assert found[0] == FairError("BEL", span("A[0,4)"), shorter)


def test_shorter_gold_spans_choose_first() -> None:
    gold, predicted = side("A[0,9)", "A[2,4)"), side("A[2,5)")

    assert list(Fair().findings(gold, predicted)) == [
        FairError("BES", span("A[0,9)"), span("A[2,5)")),
        FairError("BEL", span("A[2,4)"), span("A[2,5)")),
    ]


def test_the_same_label_is_preferred_to_the_better_overlap() -> None:
    gold, predicted = side("A[0,4)"), side("B[0,3)", "A[3,9)")

    assert list(Fair().findings(gold, predicted)) == [
        FairError("BEO", span("A[0,4)"), span("A[3,9)")),
        FairError("LBE", span("A[0,4)"), span("B[0,3)")),
    ]


def test_label_and_boundary_errors_go_on_with_the_spans_counted_before() -> None:
    gold, predicted = side("A[0,6)"), side("A[0,3)", "B[3,5)")

    assert kinds(gold, predicted) == ["BES", "LBE"]


def test_focus_selects_the_side_under_whose_label_an_error_is_counted() -> None:
    gold, predicted = side("A[0,2)", "A[4,8)"), side("B[0,2)", "B[5,9)")
    by_focus = {focus: report(gold, predicted, focus=focus)["per_label"] for focus in ("target", "system")}

    assert by_focus["target"]["A"]["fair"]["LE"] == by_focus["target"]["A"]["fair"]["LBE"] == 1
    assert by_focus["target"]["B"]["fair"]["LE"] == by_focus["target"]["B"]["fair"]["LBE"] == 0
    assert by_focus["system"]["B"]["fair"]["LE"] == by_focus["system"]["B"]["fair"]["LBE"] == 1


def test_the_confusion_matrix_holds_errors_only() -> None:
    gold = side("A[0,2)", "A[4,8)", "A[20,22)", "A[30,31)", "B[50,51)")
    predicted = side("A[0,2)", "A[4,7)", "B[20,22)", "B[40,41)", "B[50,51)")

    assert report(gold, predicted)["confusion"] == {
        "A": {"A": 1, "B": 1, "_": 1},
        "B": {},
        "_": {"B": 1},
    }


def test_the_confusion_matrix_has_a_row_for_every_label_and_only_cells_that_count() -> None:
    spans = Side([Span(2 * i, 2 * i + 1, f"L{i:04}") for i in range(1200)])
    confusion = report(spans, side())["confusion"]

    assert len(confusion) == 1201
    assert confusion["L0007"] == {"_": 1}


def test_traditional_counts_go_by_membership_and_fair_ones_pair_one_to_one() -> None:
    gold, predicted = side("A[0,2)", "A[0,2)"), side("A[0,2)")

    assert counts(gold, predicted, "traditional") == {"TP": 2}
    assert counts(gold, predicted) == {"TP": 1, "FN": 1}


def test_findings_come_by_position() -> None:
    gold, predicted = side("A[30,32)", "A[0,4)"), side("B[10,12)", "A[0,3)")

    assert list(Fair().findings(gold, predicted)) == [
        FairError("BES", span("A[0,4)"), span("A[0,3)")),
        FairError("FP", None, span("B[10,12)")),
        FairError("FN", span("A[30,32)"), None),
    ]


def test_swapping_sides_is_not_always_swapping_errors() -> None:
    """The smallest case: swapped, the one gold span takes the better half and leaves nothing to the other."""
    two, one = side("A[0,1)", "A[0,2)"), side("A[0,3)")

    assert kinds(two, one) == ["BEL", "BEL"]
    assert kinds(one, two) == ["FP", "BES"]


# Settings ------------------------------------------------------------------------------------------------


def test_labels_and_exclude_select_spans_of_both_sides() -> None:
    gold, predicted = side("A[0,2)", "B[3,5)", "NONE[7,8)"), side("B[0,2)", "C[3,5)", "EMPTY[9,10)")

    assert counts(gold, predicted) == {"LE": 2}
    assert counts(gold, predicted, labels=("A",)) == {"FN": 1}
    assert counts(gold, predicted, exclude=("B", "NONE", "EMPTY")) == {"FN": 1, "FP": 1}
    assert counts(gold, predicted, exclude=()) == {"LE": 2, "FN": 1, "FP": 1}


def test_weights_change_the_weighted_scores_only() -> None:
    gold, predicted = side("A[0,4)"), side("A[0,3)")
    overall = report(gold, predicted, weights={"BES": {"TP": 0.5, "FN": 0.5}})["overall"]

    assert (overall["weighted"]["precision"], overall["weighted"]["recall"]) == (1.0, 0.5)
    assert overall["fair"]["precision"] == overall["fair"]["recall"] == 0.0


def test_weighted_scores_without_weights_are_fair() -> None:
    overall = report(side("A[0,4)", "B[6,7)"), side("A[0,3)", "B[6,7)"))["overall"]

    assert overall["weighted"] == overall["fair"]
    assert overall["fair"]["f1"] == pytest.approx(2 / 3)


def test_a_metric_is_a_value() -> None:
    metric = Fair(weights={"LE": {"FP": 1}}, labels=["A"])  # type: ignore[arg-type]  # a list does, too

    assert metric == pickle.loads(pickle.dumps(metric))
    assert hash(metric) == hash(Fair(weights={"LE": {"FP": 1}}, labels=("A",)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"focus": "gold"}, "focus must be 'target' or 'system', not 'gold'"),
        ({"labels": "PER"}, "labels must be several labels, not the string 'PER'"),
        ({"weights": {"XE": {}}}, "unknown error type 'XE' in the weights"),
        ({"weights": {"LE": {"XP": 1}}}, "LE cannot count as 'XP'"),
        ({"weights": {"LE": {"FP": -1}}}, "the weight of LE as FP must be a number of 0 or more, not -1"),
        ({"weights": {"LE": {"FP": float("nan")}}}, "must be a number of 0 or more, not nan"),
        ({"weights": {"LE": 1}}, "the weight of LE must map TP, FP and FN to numbers, not 1"),
        ({"weights": "LE"}, "weights must map error types to weights, not 'LE'"),
        ({"weights": {"BE": {"FP": 1}, "BES": {"FP": 1}}}, "weights name BE and one of BES, BEL, BEO"),
    ],
)
def test_settings_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as refused:
        Fair(**options)

    assert message in str(refused.value)


# Weights -------------------------------------------------------------------------------------------------


def test_a_formula_gives_weights_in_its_order_and_the_whole_counts() -> None:
    assert list(parse_weights(PAPER)) == ["LE", "BES", "BEL", "BEO", "LBE", "TP", "FP", "FN"]
    assert parse_weights(PAPER)["BEO"] == {"TP": 0.5, "FP": 0.25, "FN": 0.25}
    assert parse_weights(PAPER)["FN"] == {"FN": 1}


@pytest.mark.parametrize(
    "formula", ["LE=0.5FP+0.5FN", "LE = 0.5 * FP + .5*FN", " LE =0.50 FP +\t0.5FN + 0 TP "]
)
def test_asterisks_and_blanks_in_a_formula_are_optional(formula: str) -> None:
    assert {part: n for part, n in parse_weights(formula)["LE"].items() if n} == {"FP": 0.5, "FN": 0.5}


@pytest.mark.parametrize(
    ("formula", "column", "problem"),
    [
        ("", 1, "expected an error type"),
        ("LE", 3, "expected '=', found the end"),
        ("LE = ", 6, "expected a weight, such as 0.5, found the end"),
        ("LE = FP", 6, "expected a weight, such as 0.5, found 'FP'"),
        ("LE = 0.5 XX", 10, "expected TP, FP or FN, known are TP, FP, FN, found 'XX'"),
        ("LE = 0,5 FP", 7, "expected TP, FP or FN, found ','"),
        ("LE = 0.5 FP 0.5 FN", 13, "expected '+', ',' or the end, found '0.5'"),
        ("LE = -1 FP", 6, "expected a weight, such as 0.5, found '-'"),
        ("LE = 1 FP, XE = 1 FP", 12, "found 'XE'"),
        ("LE = 1 FP,", 11, "expected an error type"),
        ("LE = 1 FP, LE = 1 FN", 12, "LE already has weights"),
        ("LE = 1 FP + 1 FP", 15, "FP is named twice in one sum"),
        ("LE = 1 FP; BE = 1 FP", 10, "found ';'"),
    ],
)
def test_a_formula_that_cannot_be_read_is_refused_at_the_place(
    formula: str, column: int, problem: str
) -> None:
    with pytest.raises(UsageError) as refused:
        parse_weights(formula)

    assert f"weights formula, column {column}: " in str(refused.value)
    assert problem in str(refused.value)


def test_weights_of_no_errors_give_no_rates() -> None:
    assert weighted_rates({}, DEFAULT_WEIGHTS) == {"precision": 0.0, "recall": 0.0, "f1": 0.0}


@given(
    st.dictionaries(
        st.sampled_from(["LE", "BES", "BEL", "BEO", "LBE", "TP"]),
        st.dictionaries(
            st.sampled_from(["TP", "FP", "FN"]), st.integers(0, 8).map(lambda n: n / 8), min_size=1
        ),
        min_size=1,
    )
)
def test_a_formula_says_the_weights_it_was_made_of(weights: dict[str, dict[str, float]]) -> None:
    formula = ", ".join(
        f"{kind} = " + " + ".join(f"{weight} {part}" for part, weight in parts.items())
        for kind, parts in weights.items()
    )

    assert parse_weights(formula) == freeze_weights(weights)


# Properties ----------------------------------------------------------------------------------------------


@given(LISTS, LISTS, st.sampled_from(["lists", "neighbours"]))
@example([("A", 0, 2, None), ("A", 0, 2, None)], [("A", 0, 2, None)], "neighbours")
@example([("A", 0, 3, frozenset({0, 2}))], [("A", 0, 3, None), ("A", 2, 3, None)], "neighbours")
@example([("A", 3, 3, None)], [("A", 0, 5, None), ("A", 3, 4, None)], "neighbours")
def test_pairs_are_those_of_plain_lists_wherever_they_are_searched(
    gold: list[Item], predicted: list[Item], searched: str
) -> None:
    with pytest.MonkeyPatch.context() as patch:  # however few the spans are
        patch.setattr(pairing, "_LIST_IS_FASTER", 10**6 if searched == "lists" else 0)
        pairs = by_place(pair_up(gold, predicted))

    assert pairs == by_place(pair_by_lists(gold, predicted))


@pytest.mark.parametrize("labels", ["A", "AB", "ABCDEFG"])
def test_many_spans_over_one_another_are_paired_as_plain_lists_are(labels: str) -> None:
    for seed in range(3):
        gold, predicted = (many_items(seed + side, 110, labels) for side in (0, 10))
        assert len(gold) * len(predicted) > pairing._LIST_IS_FASTER

        assert by_place(pair_up(gold, predicted)) == by_place(pair_by_lists(gold, predicted))


def test_spans_that_overlap_few_others_are_searched_by_what_they_overlap() -> None:
    gold = [("AB"[n % 2], 3 * n, 3 * n + 4, None) for n in range(60)]
    predicted = [("ABB"[n % 3], 3 * n + 1, 3 * n + 5, None) for n in range(60)]

    assert by_place(pair_up(gold, predicted)) == by_place(pair_by_lists(gold, predicted))


def leftovers(these: Sequence[Item]) -> list[Leftover]:
    return [
        Leftover(place, label, start, end, [(start, end)], end - start)
        for place, (label, start, end, _) in enumerate(these)
    ]


@given(LISTS, LISTS)
def test_neighbours_of_a_span_are_the_spans_that_overlap_it(gold: list[Item], predicted: list[Item]) -> None:
    one, other = leftovers(gold), leftovers(predicted)

    found = neighbours(one, other)

    for spans, others, of in ((one, other, found[0]), (other, one, found[1])):
        for span in spans:
            assert sorted(each.index for each in of[span.index]) == [
                each.index for each in others if each.start < span.end and span.start < each.end
            ]


def many_items(seed: int, number: int, labels: str) -> list[Item]:
    random = Random(seed)
    starts = [random.randrange(60) for _ in range(number)]
    extents = [(start, start + 1 + random.randrange(30)) for start in starts]
    return [
        item(
            random.choice(labels),
            start,
            end,
            frozenset(random.sample(range(start, end), random.randint(1, end - start)))
            if random.random() < 0.3
            else None,
        )
        for start, end in extents
    ]


@given(LISTS, LISTS)
def test_every_span_leaves_its_list_exactly_once(gold: list[Item], predicted: list[Item]) -> None:
    """It may be a partner again after that, of boundary errors, but nothing takes it out a second time."""
    pairs = list(pair_up(gold, predicted))
    assert {i for _, i, _ in pairs if i is not None} == set(range(len(gold)))
    assert {j for _, _, j in pairs if j is not None} == set(range(len(predicted)))
    assert len(pairs) <= len(gold) + len(predicted)
    for kind in ("TP", "LE", "FN", "FP"):
        once = Counter(place for found, *places in pairs if found == kind for place in enumerate(places))
        assert all(n == 1 for (_, place), n in once.items() if place is not None)


@given(LISTS, LISTS)
def test_errors_swap_with_the_sides_where_no_span_overlaps_more_than_one(
    gold: list[Item], predicted: list[Item]
) -> None:
    gold, predicted = without_crowds(gold, predicted), without_crowds(predicted, gold)
    predicted = without_crowds(predicted, gold)
    swapped = {"FN": "FP", "FP": "FN", "BES": "BEL", "BEL": "BES"}

    assert Counter(swapped.get(kind, kind) for kind, _, _ in pair_up(gold, predicted)) == Counter(
        kind for kind, _, _ in pair_up(predicted, gold)
    )


def without_crowds(these: list[Item], others: list[Item]) -> list[Item]:
    """The spans that overlap (or equal in range) at most one of the others."""
    return [
        one for one in these if sum(overlap_kind(*one[1:3], *other[1:3]) is not None for other in others) <= 1
    ]


@given(st.lists(items(holes=False), max_size=12), st.lists(items(holes=False), max_size=12))
def test_fair_is_traditional_where_no_two_different_spans_overlap(
    gold: list[Item], predicted: list[Item]
) -> None:
    gold = apart(gold, [])
    predicted = apart(predicted, gold)
    overall = report(Side(spans_of(gold)), Side(spans_of(predicted)))["overall"]

    for number in overall["traditional"]:
        assert overall["fair"][number] == overall["traditional"][number]


def apart(these: list[Item], others: list[Item]) -> list[Item]:
    """The spans that overlap none before them and none of the others, unless they are the same span."""
    kept: list[Item] = []
    for one in these:
        if one not in kept and not any(
            overlap_kind(*one[1:3], *other[1:3]) for other in [*kept, *others] if other != one
        ):
            kept.append(one)
    return kept


@given(LISTS)
def test_a_side_compared_with_itself_has_no_errors(spans: list[Item]) -> None:
    same = Side(spans_of(spans))

    assert counts(same, same) == ({"TP": len(spans)} if spans else {})
    assert list(Fair().findings(same, same)) == []


@given(LISTS)
def test_spans_against_an_empty_side_are_all_missed_or_spurious(spans: list[Item]) -> None:
    full, empty = Side(spans_of(spans)), Side([])
    number = len(spans)

    assert counts(full, empty) == ({"FN": number} if number else {})
    assert counts(empty, full) == ({"FP": number} if number else {})


def test_two_empty_sides_have_a_report() -> None:
    empty = report(Side([]), Side([]))

    assert empty["overall"]["fair"]["f1"] == 0.0
    assert (empty["per_label"], empty["confusion"], empty["label_counts"]) == ({}, {"_": {}}, {})


@given(LISTS, LISTS)
def test_findings_are_what_is_counted(gold: list[Item], predicted: list[Item]) -> None:
    sides = Side(spans_of(gold)), Side(spans_of(predicted))
    counted = counts(*sides)

    assert Counter(kinds(*sides)) == {kind: n for kind, n in counted.items() if kind not in ("TP", "BE")}


@given(LISTS, LISTS)
def test_labels_of_a_report_are_sorted(gold: list[Item], predicted: list[Item]) -> None:
    made = report(Side(spans_of(gold)), Side(spans_of(predicted)))

    assert list(made["per_label"]) == sorted(made["per_label"])


def nested(number: int) -> tuple[list[Item], list[Item]]:
    gold: list[Item] = [("A", i, 4 * number - i, None) for i in range(number)]
    return gold, [(label, start, end - 1, tokens) for label, start, end, tokens in gold]


def test_nested_spans_that_all_overlap_pair_with_their_nearest() -> None:
    kinds = Counter(kind for kind, _, _ in pair_up(*nested(400)))

    assert kinds == {"BEL": 399, "BES": 1}


def test_more_nested_spans_than_can_be_compared_are_refused() -> None:
    with pytest.raises(LimitError, match="more than 300,000 pairs of spans overlap"):
        list(pair_up(*nested(600)))


TOKENS = st.frozensets(st.integers(0, 20))


@given(TOKENS, TOKENS)
def test_runs_are_sets(one: frozenset[int], other: frozenset[int]) -> None:
    left, shared = runs_of(one), intersect(runs_of(one), runs_of(other))
    subtract(left, shared)

    assert {place for start, end in shared for place in range(start, end)} == one & other
    assert {place for start, end in left for place in range(start, end)} == one - other
    assert size_of(left) == len(one - other)


# The published numbers -----------------------------------------------------------------------------------


@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published data are not here")
def test_every_published_number_comes_out() -> None:
    golds, predictions = (
        fair_documents(enumerate((PUBLISHED / name).read_text().split("\n"), 1), file=name)
        for name in ("target.csv", "system.csv")
    )
    metric = Fair(weights=parse_weights(PAPER))
    made = metric.scores(tally_pairs(zip(golds, predictions, strict=True), metric), ("label",))
    tables = published_tables()

    for version in ("Traditional", "Fair", "Weighted"):
        for row in tables[f"{version} evaluation"]:
            label = row.pop("Label")
            own = (made["overall"] if label == "overall" else made["per_label"][label])[version.lower()]
            assert {name: shown(own, name) for name in row} == row
        rates = made["overall"][version.lower()]
        [row] = [row for row in tables["Comparison"] if row["Version"] == version]
        assert {name: shown(rates, name) for name in RATES} == {name: row[name] for name in RATES}
    for row in tables["Confusion matrix"]:
        target = row.pop("Target\\System")
        cells = made["confusion"][target]
        assert {label: str(cells.get(label, 0)) for label in row} == row
    assert {row["Label"]: int(row["Freq"]) for row in tables["Target data stats"]} == made["label_counts"]


RATES = {"Prec": "precision", "Rec": "recall", "F1": "f1"}


def shown(own: dict[str, float], name: str) -> str:
    return f"{100 * own[RATES[name]]:.2f}" if name in RATES else str(own[name])


def published_tables() -> dict[str, list[dict[str, str]]]:
    sections = (PUBLISHED / "expected.tsv").read_text().split("### ")[1:]
    tables = {}
    for section in sections:
        title, _, rows = section.partition(":\n")
        tables[title] = list(csv.DictReader(rows.strip().split("\n"), delimiter="\t", quoting=csv.QUOTE_NONE))
    return tables
