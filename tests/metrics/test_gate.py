"""GATE's evaluation of cases: each rule by hand, and against a plain model."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clueval import score
from clueval.core.case import Case
from clueval.core.count import Plan, count
from clueval.core.document import Document, Pair
from clueval.core.exact import Exact
from clueval.core.metric import AnyMetric, Tally, added
from clueval.core.span import Span
from clueval.files.errors import CluevalWarning, FormatError, LimitError, UsageError
from clueval.metrics.gate import Gate, GateWithin
from clueval.metrics.gate import pairing as pairing_module
from clueval.metrics.gate.counts import GateCounts, average_precisions, macro_report
from clueval.metrics.gate.equality import COMPARISONS, java_double, parse_types
from clueval.metrics.gate.pairing import (
    CONTAINMENTS,
    PAIRINGS,
    Touching,
    kept_within,
    rounded,
    touches,
)
from tests.cases import any_spans, counted, report, spans
from tests.oracles import asked

THRESHOLDS = [None, "all", "rounded", "11", "51", (0.3, 0.5), (-math.inf, 0.9)]


# Pairing


def four(gold: str, predicted: str, **options: Any) -> tuple[int, int, int, int]:
    """Correct strict, correct partial, incorrect strict, incorrect partial."""
    found = report(Gate(**options), gold, predicted)["all"]
    names = ("correct_strict", "correct_partial", "incorrect_strict", "incorrect_partial")
    return tuple(found[name] for name in names)  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("target", "response", "expected"),
    [
        ("A[0,3)", "A[0,3)", (1, 0, 0, 0)),
        ("A[0,3)", "A[1,5)", (0, 1, 0, 0)),
        ("A[0,3)", "B[0,3)", (0, 0, 1, 0)),
        ("A[0,3)", "B[1,5)", (0, 0, 0, 1)),
        ("A[0,3)", "A[3,5)", (0, 0, 0, 0)),
        ("A[5,5)", "A[5,5)", (1, 0, 0, 0)),
        ("A[3,8)", "A[5,5)", (0, 1, 0, 0)),
        ("A[5,8)", "A[5,5)", (0, 0, 0, 0)),
        ("A[3,5)", "A[5,5)", (0, 0, 0, 0)),
        ("A[0,2)[5,8)", "A[0,2)[5,8)", (1, 0, 0, 0)),
        ("A[0,2)[5,8)", "A[0,8)", (0, 1, 0, 0)),
        ("A[0,2)[5,8)", "A[2,5)", (0, 0, 0, 0)),
    ],
)
def test_a_pair_counts_by_place_and_equality(
    target: str, response: str, expected: tuple[int, int, int, int]
) -> None:
    assert four(target, response) == expected


def test_of_equal_scores_the_later_response_wins_then_the_later_target() -> None:
    # [0,10) scores 2 - 2 with both responses, and takes the later one, of which no other target is left
    assert four("T[0,10) T[1,3)", "T[0,4) T[5,9)") == (0, 2, 0, 0)
    # both targets score 2 - 2 with the response, which takes the later one; so it is not wrong for the earlier one
    by_type = report(Gate(by=("f",)), "T[0,4) T[5,9)", "T[0,10)")["all"]
    assert (by_type["correct_partial"], by_type["true_missing_lenient"]) == (1, 1)


ISSUE = "A[0,3) A[1,3) A[2,3)", "A[0,2) A[1,2) A[2,5) B[2,5)"


def lenient(gold: list[Span], predicted: list[Span], *, ordered: bool) -> float:
    metric = Gate()
    return metric.scores(counted(metric, gold, predicted, ordered=ordered), ["label"])["all"]["f1_lenient"]  # type: ignore[no-any-return]


def test_where_the_order_of_a_document_counts_the_last_of_equal_ranges_wins() -> None:
    """The pairs by hand, A before B in [2,5), so that B, the later one, wins ties.

    Values: each gold span of [0,3), [1,3) overlaps [0,2) A and [1,2) A (2), [2,5) A (2) and [2,5) B (0); [2,3) overlaps
    only [2,5) A (2) and B (0). Scores, value less the values of rivals: [2,3) has 0 - 2 = -2 with B and 2 - 4 = -2
    with A; the others have 0 - 6 = -6 with B, 2 - 4 - 4 = -6 with [2,5) A, and 2 - 4 - 2 = -4 with [0,2) and [1,2).
    Of the two with -2, the later response goes first: [2,3) with B, wrong. Then [1,3) with [1,2) and [0,3) with [0,2).
    Two of three gold and of four predicted spans are right: F1 4/7.
    """
    gold, predicted = map(spans, ISSUE)
    swapped = [*predicted[:2], *predicted[:1:-1]]

    assert lenient(gold, predicted, ordered=True) == pytest.approx(4 / 7)
    assert lenient(gold, swapped, ordered=True) == pytest.approx(6 / 7)
    assert (
        lenient(gold, predicted, ordered=False)
        == lenient(gold, swapped, ordered=False)
        == pytest.approx(4 / 7)
    )


# The model: the rules on plain lists, every target with every response


def naive_counts(
    targets: Sequence[Span],
    responses: Sequence[Span],
    equal: Callable[[Span, Span], bool],
    pairing: str = "plugin",
) -> tuple[int, ...]:
    """The ten basic counts; spans have numbers, in the order of a case, as ids."""
    possible = [
        (2 * equal(t, r) + same_place(t, r), t, r)
        for t in targets
        for r in responses
        if same_place(t, r) or t.overlaps(r)
    ]

    def order(pair: tuple[int, Span, Span]) -> tuple[Any, ...]:
        value, t, r = pair
        conflicts = sum(v for v, u, s in possible if (u is t) != (s is r))
        return (value - conflicts, r.start, r.end, r.id, t.start, t.end, t.id)

    def in_turn(pair: tuple[int, Span, Span]) -> tuple[Any, ...]:
        value, t, r = pair
        one, other = (t, r) if pairing == "by-target" else (r, t)
        return -one.id, value, len(positions(t) & positions(r)), -other.id  # type: ignore[operator]

    left = sorted(possible, key=order if pairing == "plugin" else in_turn, reverse=True)
    taken = []
    while left:
        best = left[0]
        taken.append(best)
        left = [(v, t, r) for v, t, r in left if t is not best[1] and r is not best[2]]
    used = {id(r) for _, _, r in taken}
    spurious = [r for r in responses if id(r) not in used]
    singles = [v for v, t, _ in taken if v >= 2 and not any(asked(t, r) for r in spurious)]
    values = [v for v, _, _ in taken]
    return (
        len(targets),
        len(responses),
        *(values.count(v) for v in (3, 2, 1, 0)),
        singles.count(3),
        singles.count(2),
        sum(any(same_place(t, r) for r in responses) for t in targets),
        sum(any(u is t for _, u, _ in possible) for t in targets),
    )


def positions(span: Span) -> set[int]:
    return {at for start, end in span.fragments for at in range(start, end)}


def same_place(a: Span, b: Span) -> bool:
    return a.fragments == b.fragments


VALUES = [1, "1", True]


@st.composite
def annotations(draw: st.DrawFn, most: int = 7) -> list[Span]:
    """Annotations whose places and labels differ, as their ids would order them."""
    found = draw(any_spans(most, size=9, gaps=False))
    names = st.dictionaries(st.sampled_from("fg"), st.sampled_from(VALUES), max_size=2)
    ordered = sorted(found, key=lambda span: (span.start, span.end, span.label))
    return [
        Span(span.start, span.end, span.label, draw(names), id=number) for number, span in enumerate(ordered)
    ]


def counts_of(
    metric: Gate, gold: Sequence[Span], predicted: Sequence[Span], kind: str | None = None
) -> GateCounts:
    return metric.counts(counted(metric, gold, predicted, ordered=True), kind)


STRICT_LOST = spans("T[0,5) T[4,10)"), spans("T[4,10) T[9,14)")
"""A strict match is lost where both neighbours compete for it, but by-response keeps it; swapped, by-target does."""


@given(annotations(), annotations(), st.sampled_from(PAIRINGS))
@example(*STRICT_LOST, "plugin")
@example(*STRICT_LOST, "by-response")
@example(*STRICT_LOST[::-1], "by-target")
@example(spans("A[5,8)"), spans("A[5,5) A[5,8)"), "plugin")
@example(spans("T[0,3) T[3,6)"), spans("T[2,4) T[4,5)"), "by-response")
@example(spans("A[0,10) A[12,13)"), spans("A[0,2) B[0,10) A[2,8) A[2,3)[12,13)"), "by-target")
def test_cases_count_what_the_plain_model_counts(
    targets: list[Span], responses: list[Span], pairing: str
) -> None:
    targets, responses = ([replace(s, id=n) for n, s in enumerate(side)] for side in (targets, responses))

    found = counts_of(Gate(pairing=pairing), targets, responses)

    assert found[:10] == naive_counts(targets, responses, lambda t, r: t.label == r.label, pairing)


@given(annotations(), annotations(), st.sampled_from(COMPARISONS))
def test_features_count_what_the_plain_model_counts(
    targets: list[Span], responses: list[Span], comparison: str
) -> None:
    def text(value: object) -> str | None:
        return None if value is None else str(value).lower()

    def equal(t: Span, r: Span) -> bool:
        values = [(t.features.get(f), r.features.get(f)) for f in "fg"]
        if comparison == "string":
            agree = all(text(a) == text(b) for a, b in values)
        else:
            agree = all(
                (type(a), a) == (type(b), b) or (comparison == "subsumption" and a is None) for a, b in values
            )
        return t.label == r.label and agree

    metric = Gate(features=("f", "g"), feature_comparison=comparison)

    assert counts_of(metric, targets, responses)[:10] == naive_counts(targets, responses, equal)


# Properties


@given(annotations(), annotations(), st.sampled_from(PAIRINGS))
def test_the_identities_of_the_authors_notes_hold(
    targets: list[Span], responses: list[Span], pairing: str
) -> None:
    g = counts_of(Gate(pairing=pairing), targets, responses).report()

    for whole, lost in (("targets", "missing"), ("responses", "spurious")):
        assert g[whole] == g["correct_strict"] + g[f"{lost}_strict"]
        assert g[whole] == g["correct_lenient"] + g[f"{lost}_lenient"]
        assert g[whole] == g["correct_strict"] + g["incorrect_strict"] + g[f"true_{lost}_strict"]
        assert g[whole] == g["correct_lenient"] + g["incorrect_lenient"] + g[f"true_{lost}_lenient"]
    assert g["correct_strict"] <= g["targets_with_strict_responses"] <= g["targets_with_lenient_responses"]
    assert g["correct_lenient"] <= g["targets_with_lenient_responses"] <= g["targets"]
    for way in ("strict", "partial", "lenient"):
        assert g[f"single_correct_{way}"] <= g[f"correct_{way}"]
    assert g["correct_lenient"] + g["incorrect_lenient"] <= min(g["targets"], g["responses"])
    assert min(g.values()) >= 0


# Counts and measures


def test_a_correct_pair_is_single_unless_a_truly_spurious_response_touches_its_target() -> None:
    def single(gold: str, predicted: str) -> int:
        return report(Gate(), gold, predicted)["all"]["single_correct_strict"]  # type: ignore[no-any-return]

    assert single("T[0,10)", "T[0,10)") == 1
    assert single("T[0,10)", "T[0,10) T[2,4)") == 0
    # a response of zero length at the start touches, at the end it does not
    assert single("T[2,10)", "T[2,10) T[2,2)") == 0
    assert single("T[2,10)", "T[2,10) T[10,10)") == 1
    # the second response is taken by another target and does no harm
    assert single("T[0,10) T[12,20)", "T[0,10) T[9,19)") == 1


def test_a_target_is_accurate_if_its_only_response_is_right() -> None:
    found = report(Gate(), "T[0,10)", "T[0,10) T[2,4)")["all"]

    assert (found["accurate_targets_strict"], found["accurate_targets_lenient"]) == (1, 0)
    assert found["targets_with_several_lenient_responses"] == 1


def test_measures_of_nothing() -> None:
    nothing, no_responses, no_targets = (
        report(Gate(), gold, predicted)["all"]
        for gold, predicted in (("", ""), ("T[0,1)", ""), ("", "T[0,1)"))
    )

    assert nothing["precision_strict"] == nothing["recall_lenient"] == nothing["f1_strict"] == 1.0
    assert nothing["single_correct_accuracy_strict"] == nothing["error_rate_strict"] == 0.0
    assert nothing["recall_in_responses_strict"] == no_responses["recall_in_responses_lenient"] == 1.0
    for found in (no_responses, no_targets):
        assert found["precision_strict"] == found["recall_strict"] == found["f1_lenient"] == 0.0


def test_measures_by_hand() -> None:
    gold = "T[0,3) T[5,9) T[20,23) T[30,33)"
    found = report(Gate(), gold, "T[0,3) T[6,9) X[20,23) X[31,35) T[40,41)")["all"]

    assert found["correct_strict"] == found["correct_partial"] == 1
    assert found["incorrect_strict"] == found["incorrect_partial"] == 1
    assert (found["precision_strict"], found["precision_lenient"]) == (0.2, 0.4)
    assert (found["recall_strict"], found["recall_lenient"]) == (0.25, 0.5)
    assert found["f1_strict"] == pytest.approx(2 / 9)
    assert found["f1_average"] == pytest.approx(3 / 9)
    assert (found["error_rate_strict"], found["error_rate_lenient"]) == (0.2, 0.4)
    assert (found["recall_in_responses_strict"], found["recall_in_responses_lenient"]) == (0.5, 0.5)
    assert (found["true_spurious_lenient"], found["true_missing_lenient"]) == (1, 0)


def test_beta_stands_in_the_name_of_f() -> None:
    found = GateCounts(targets=4, responses=2, correct_strict=2).report(beta=2)

    assert found["f2_strict"] == pytest.approx(5 * 0.5 / (4 + 0.5))
    assert "f1_strict" not in found


def test_the_headlines_are_the_strict_and_then_the_lenient_counts_of_all_types() -> None:
    metric = Gate()
    total = counted(metric, spans("A[0,3) B[5,9)"), spans("A[0,3) B[6,9) B[20,21)"))
    entry, headlines = metric.scores(total, ["label"])["all"], metric.headlines(total, ["label"])

    assert list(headlines.items())[:2] == [("all", (2, 3, 1, 1)), ("all.lenient", (2, 3, 2, 2))]
    for counts, how in zip(headlines.values(), ("strict", "lenient"), strict=False):
        rates = [counts.precision, counts.recall, counts.f()]
        assert rates == [entry[f"{name}_{how}"] for name in ("precision", "recall", "f1")]


# Equality, types, values


@pytest.mark.parametrize(
    ("target", "response", "equal", "as_string", "subsumed"),
    [
        ({"f": 1}, {"f": 1}, True, True, True),
        ({"f": 1}, {"f": "1"}, False, True, False),
        ({"f": 1.0}, {"f": "1.0"}, False, True, False),
        ({"f": 1.0}, {"f": "1"}, False, False, False),
        ({"f": True}, {"f": "true"}, False, True, False),
        ({"f": True}, {"f": 1}, False, False, False),
        ({"f": [1, "a"]}, {"f": [1, "a"]}, True, True, True),
        ({"f": [1]}, {"f": [True]}, False, False, False),
        ({"f": {"k": 1}}, {"f": "{k=1}"}, False, True, False),
        ({}, {}, True, True, True),
        ({}, {"f": 1}, False, False, True),
        ({"f": 1}, {}, False, False, False),
        ({"f": 1, "x": 2}, {"f": 1, "x": 3}, True, True, True),
        ({"f": None}, {}, True, True, True),
        ({"f": None}, {"f": 1}, False, False, False),
    ],
)
def test_features_are_compared(
    target: dict[str, Any], response: dict[str, Any], equal: bool, as_string: bool, subsumed: bool
) -> None:
    sides = [Span(0, 1, "T", target)], [Span(0, 1, "T", response)]
    for comparison, expected in zip(COMPARISONS, (equal, as_string, subsumed), strict=True):
        metric = Gate(features=("f",), feature_comparison=comparison)
        assert metric.counts(counted(metric, *sides)).correct_strict == expected


@pytest.mark.parametrize(
    ("number", "text"),
    [(1e7, "1.0E7"), (9999999.5, "9999999.5"), (0.001, "0.001"), (1.5e-7, "1.5E-7"), (-0.0, "-0.0"),
     (100.0, "100.0"), (math.nan, "NaN"), (123456789.125, "1.23456789125E8"), (0.05, "0.05")],
)  # fmt: skip
def test_numbers_are_written_as_java_writes_them(number: float, text: str) -> None:
    assert java_double(number) == text


def test_types_may_have_other_names_in_the_responses() -> None:
    metric = Gate(types=("Person=PER", "Place"))

    found = report(metric, "Person[0,3) Place[5,8) Other[9,10)", "PER[0,3) Place[5,8) Person[20,21)")

    assert list(found["per_type"]) == ["Person", "Place"]
    assert found["all"]["correct_strict"] == found["all"]["responses"] == found["all"]["targets"] == 2


@pytest.mark.parametrize("specs", [["A", "A"], ["A=B", "A=C"], ["A=B", "C=B"], [""], ["=B"], ["A="]])
def test_bad_types_are_refused(specs: list[str]) -> None:
    with pytest.raises(
        UsageError, match=r"^type '[AB]' of the .* is named twice: |^the type '.*' cannot be read"
    ):
        parse_types(specs)


def test_over_all_types_a_response_of_another_type_is_incorrect_and_alone_it_is_spurious() -> None:
    found = report(Gate(), "A[0,3)", "B[0,3)")

    assert found["all"]["incorrect_strict"] == 1
    assert found["per_type"]["A"]["true_missing_lenient"] == 1
    assert found["per_type"]["B"]["true_spurious_lenient"] == 1


def test_macro_is_the_mean_over_types_and_an_empty_type_takes_part() -> None:
    found = macro_report([GateCounts(1, 1, 1, 0, 0, 0, 1), GateCounts(1, 1), GateCounts()])

    assert found["precision_strict"] == found["f1_strict"] == pytest.approx(2 / 3)
    assert found["single_correct_accuracy_strict"] == pytest.approx(1 / 3)
    assert (found["targets"], found["correct_strict"]) == (2, 1)
    assert macro_report([])["f1_lenient"] == 1.0


def test_macro_f_is_the_mean_of_f_not_f_of_the_means() -> None:
    found = macro_report(
        [
            GateCounts(targets=1, responses=4, correct_strict=1),
            GateCounts(targets=4, responses=1, correct_strict=1),
        ]
    )

    assert found["f1_strict"] == pytest.approx(0.4)
    assert (found["precision_strict"], found["recall_strict"]) == (0.625, 0.625)


def having(value: object, start: int = 0, end: int = 3, label: str = "T") -> Span:
    return Span(start, end, label, {"f": value})


def test_nil_annotations_are_left_out_on_both_sides() -> None:
    sides = (
        [having("Q1"), having("NIL", 5, 8)],
        [having("Q1"), having("NIL", 20, 21), having(None, 30, 31)],
    )

    assert counts_of(Gate(features=("f",)), *sides)[:2] == (2, 3)
    assert counts_of(Gate(features=("f",), nil="NIL"), *sides)[:2] == (1, 2)
    assert counts_of(Gate(features=("f",), nil=""), *sides)[:2] == (2, 2)


def test_a_break_down_compares_annotations_with_the_same_value() -> None:
    metric = Gate(by=("f",))
    total = counted(metric, [having(1), having("x", 5, 8)], [having(1), Span(5, 8, "T")])

    groups = metric.scores(total, ["label"])["by"]["f"]

    assert {value: (g["targets"], g["responses"], g["correct_strict"]) for value, g in groups.items()} == {
        "(none)": (0, 1, 0),
        "1": (1, 1, 1),
        "x": (1, 0, 0),
    }


OF_TYPES = (
    [Span(0, 1, "M", {"inst": 1, "kind": "a"}), Span(2, 3, "N", {"inst": 2, "kind": "b"})],
    [Span(0, 1, "M", {"inst": 9, "kind": "a"}), Span(2, 3, "N", {"inst": 2, "kind": "x"})],
)


@pytest.mark.parametrize("comparison", COMPARISONS)
@pytest.mark.parametrize(
    ("features", "correct"),
    [
        ((), (1, 1)),
        (("inst",), (0, 1)),
        (("M[inst]",), (0, 1)),
        (("M[kind]", "N[inst]"), (1, 1)),
        (("M[kind]", "N[inst,kind]"), (1, 0)),
        (("kind", "M[inst]"), (0, 0)),
        (("M[kind]", "kind"), (1, 0)),
    ],
)
def test_features_of_a_type_are_compared_for_it_alone(
    comparison: str, features: tuple[str, ...], correct: tuple[int, int]
) -> None:
    metric = Gate(features=features, feature_comparison=comparison)
    total = counted(metric, *OF_TYPES)

    assert tuple(metric.counts(total, kind).correct_strict for kind in "MN") == correct


# Thresholds

GOLD = spans("T[0,3) T[10,13) T[20,23)")
PREDICTED = spans("T[0,3) T[10,12) T[40,41) T[20,23)")
SCORED = [
    replace(span, features={"score": score})
    for span, score in zip(PREDICTED, (0.9, "0.5", 0.5, 0.126), strict=True)
]


def points_of(metric: Gate, gold: Sequence[Span] = GOLD, predicted: Sequence[Span] = SCORED) -> list[Any]:
    return metric.curve(counted(metric, gold, predicted))


def test_at_a_threshold_only_responses_with_that_score_or_more_take_part() -> None:
    points = points_of(Gate(score_feature="score"))

    assert [(p.threshold, p.counts.responses, p.counts.correct_lenient) for p in points] == [
        (0.126, 4, 3),
        (0.5, 3, 2),
        (0.9, 1, 1),
        (math.inf, 0, 0),
    ]
    assert {p.counts.targets for p in points} == {3}


def test_rounded_thresholds_round_half_up_and_compare_the_unrounded_score() -> None:
    points = points_of(Gate(score_feature="score", thresholds="rounded"))

    assert [(p.threshold, p.counts.responses) for p in points] == [
        (0.13, 3),
        (0.5, 3),
        (0.9, 1),
        (math.inf, 0),
    ]


def test_the_report_names_its_thresholds() -> None:
    metric = Gate(score_feature="score", thresholds="0.5,-Infinity")  # type: ignore[arg-type]

    found = metric.scores(counted(metric, GOLD, SCORED), ["label"])

    assert list(found["thresholds"]) == ["-Infinity", "0.5", "Infinity"]
    assert found["thresholds"]["0.5"]["responses"] == 3
    assert found["thresholds"]["-Infinity"] == found["all"]


@pytest.mark.parametrize(("name", "step"), [("11", 0.1), ("21", 0.05), ("51", 0.02)])
def test_grids_run_from_0_to_1(name: str, step: float) -> None:
    points = points_of(Gate(score_feature="score", thresholds=name))

    assert [p.threshold for p in points[:-1]] == pytest.approx([step * n for n in range(int(name))])
    assert [p.counts.responses for p in points] == [
        sum(float(r.features["score"]) >= p.threshold for r in SCORED) for p in points
    ]


SCORES = st.sampled_from([0.1, 0.126, 0.5, "0.9", 1, 0.125, -2])


@given(any_spans(10), any_spans(10), st.data(), st.sampled_from(THRESHOLDS), st.sampled_from(PAIRINGS))
def test_counts_at_thresholds_are_those_of_evaluations_of_their_own(
    gold: list[Span], predicted: list[Span], data: st.DataObject, thresholds: Any, pairing: str
) -> None:
    scored = [replace(span, features={"score": data.draw(SCORES)}) for span in predicted]
    metric = Gate(score_feature="score", thresholds=thresholds, pairing=pairing)
    total = counted(metric, gold, scored)

    for kind in (None, "A"):
        for threshold, counts in metric.curve(total, kind):
            alone = Gate(types=("A",) if kind else (), pairing=pairing)
            reached = [span for span in scored if float(span.features["score"]) >= threshold]
            assert counts == alone.counts(counted(alone, gold, reached), None)


@given(any_spans(), any_spans(), st.data())
def test_scores_of_an_ordered_document_count_wherever_its_spans_stand(
    gold: list[Span], predicted: list[Span], data: st.DataObject
) -> None:
    scored = [replace(span, features={"score": data.draw(SCORES)}) for span in predicted]
    metric = Gate(score_feature="score")
    by_position = sorted(scored, key=lambda span: (span.start, span.end))

    found = metric.scores(counted(metric, gold, scored, ordered=True), ["label"])

    assert found == metric.scores(counted(metric, gold, by_position, ordered=True), ["label"])


def test_average_precision_by_hand() -> None:
    points = points_of(Gate(score_feature="score"))

    # strictly: 1 of 1 at 0.9, 1 of 3 at 0.5, 2 of 4 at 0.126; recall 1/3, 1/3, 2/3
    found = average_precisions(points)
    assert found["strict"] == pytest.approx(1 / 3 * 1 + 1 / 3 * 2 / 4)
    assert found["lenient"] == pytest.approx(1 / 3 * (1 + 2 / 3 + 3 / 4))


@pytest.mark.parametrize("score", [1e308, -1e308, 1e15, 123456789.25])
def test_scores_of_any_size_can_be_rounded(score: float) -> None:
    sides = [[Span(0, 3, "A", {"score": score})]] * 2

    points = points_of(Gate(score_feature="score", thresholds="rounded"), *sides)

    assert rounded(score) == pytest.approx(score)
    assert sum(p.counts.responses for p in points) == 1


def test_rounded_thresholds_count_a_case_once_for_all_scores_between_two_hundredths() -> None:
    metric = Gate(score_feature="score", thresholds="rounded")
    predicted = [Span(0, 9, "A", {"score": 0.5 + n / 10_000}) for n in range(100)]
    total = counted(metric, spans("A[0,9)"), predicted)

    assert len([key for key in total if key[:2] == ("all", "score")]) == 1
    assert [(p.threshold, p.counts.responses) for p in metric.curve(total)] == [
        (0.5, 100),
        (0.51, 0),
        (math.inf, 0),
    ]


def test_very_many_scores_of_spans_over_one_another_are_refused_with_advice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pairing_module, "MOST_WORK", 10 * (20 + 100) - 1)
    nested = [Span(n, 50 - n, "A", {"score": n / 10}) for n in range(10)]

    with pytest.raises(
        UsageError, match=r"20 annotations, from position 0 on, overlap .* 10 scores: .* too long"
    ) as refusal:
        counted(Gate(score_feature="score"), nested, nested)

    assert "thresholds" in str(refusal.value)
    points = points_of(Gate(score_feature="score", thresholds=(0.0, 0.5)), nested, nested)
    assert [p.counts.responses for p in points] == [10, 5, 0]


@pytest.mark.parametrize(
    ("score", "message"),
    [
        (None, "annotation 4 .* has no score 'score'"),
        ("high", "has the score 'high', which is not a number"),
        ("1_0", "not a number"),
        (True, "not a number"),
        (math.nan, "not a number"),
        (math.inf, "not a number"),
        ([1], "not a number"),
    ],
)
@pytest.mark.parametrize("metric", [Gate(score_feature="score"), GateWithin(score_feature="score")])
def test_a_response_without_a_number_as_its_score_is_named(score: object, message: str, metric: Gate) -> None:
    predicted = [Span(0, 3, "T", {"score": score}, id=4, line=7)]
    sides = (Document("doc7", {"label": side}, file="d.xml") for side in (GOLD, predicted))

    with pytest.raises(FormatError, match=message) as caught:
        count([[Pair(*sides)]], Plan((metric,)))

    assert (caught.value.document, caught.value.file, caught.value.line) == ("doc7", "d.xml", 7)


@pytest.mark.parametrize("metric", [Gate(score_feature="score"), Exact(), Gate()])
def test_a_metric_counts_as_alone_beside_one_that_keeps_no_cases_and_after_it(metric: AnyMetric) -> None:
    """The last one was not counted with the others, and has the name of the first."""
    pairs = [[Pair(Document("d", {"label": GOLD}), Document("d", {"label": SCORED}))]] * 3
    bag = count(pairs, Plan((Gate(score_feature="score"), Exact())))

    assert [tally for *_, tally in bag.in_one_place().tallies_of([metric], bag.layers)] == [
        added([(counted(metric, GOLD, SCORED), 3)])
    ]


def test_scores_have_cases_with_all_that_decides_ties() -> None:
    metric = Gate(score_feature="score", features=("f",), pairing="by-target")
    gold = [Span(0, 3, "T", {"f": 3}), Span(2, 5, "T", {"f": 1})]
    predicted = [Span(0, 4, "T", {"f": f, "score": 0.5}) for f in (1, 2)]

    assert counted(metric, gold, predicted) == counted(metric, gold, predicted[::-1])


# Within others


GAP = [Span.of_fragments([(0, 3), (7, 9)])]


@given(any_spans(), any_spans(), st.sampled_from(CONTAINMENTS))
@example(GAP, spans("A[0,9)"), "coextensive")
@example(spans("A[4,6) A[7,8)"), GAP, "containing")
def test_what_is_kept_within_others_is_found_by_asking_every_one(
    listed: list[Span], around: list[Span], containment: str
) -> None:
    def keeps(a: Span, c: Span) -> bool:
        if containment == "overlapping":
            return touches(a, c)
        if containment == "coextensive":
            return same_place(a, c)
        is_at_border = any(start <= a.start <= end for start, end in c.fragments)
        return positions(a) <= positions(c) if len(a) else is_at_border

    assert kept_within(listed, around, containment) == [a for a in listed if any(keeps(a, c) for c in around)]


@given(any_spans(gaps=False), any_spans(gaps=False))
def test_touching_is_found_as_by_asking_every_span(asking: list[Span], others: list[Span]) -> None:
    index = Touching(others)

    for span in asking:
        assert index.find(span) == [n for n, other in enumerate(others) if asked(span, other)]
        assert [touches(span, other) for other in others] == [asked(span, other) for other in others]


def in_zone(metric: GateWithin, gold: str, predicted: str) -> Tally:
    zone = spans("zone[0,10)")
    sides = (Document("d", {"label": spans(side), "zone": zone}) for side in (gold, predicted))
    bag = count([[Pair(*sides)]], Plan((metric,)))
    assert bag.layers == ["label"]
    return added((tally, 1) for *_, tally in bag.tallies_of([metric], bag.layers))


def test_only_annotations_within_the_containing_layer_are_evaluated() -> None:
    sides = "T[0,3) T[20,23)", "T[0,3) T[30,33)"
    inside = GateWithin(containing="zone")
    exempt = GateWithin(types=("T", "U"), containing="zone", unfiltered="T")
    single = GateWithin(types=("T",), containing="zone", unfiltered="T")
    untyped = GateWithin(containing="zone", unfiltered="T")

    assert inside.counts(in_zone(inside, *sides))[:3] == (1, 1, 1)
    for metric in (exempt, untyped):
        assert metric.counts(in_zone(metric, *sides), "T")[:3] == (2, 1, 1)
        assert metric.counts(in_zone(metric, *sides))[:3] == (1, 1, 1)
    assert untyped.counts(in_zone(untyped, "T[20,23)", ""), "T")[:3] == (1, 0, 0)
    assert single.counts(in_zone(single, *sides)) == single.counts(in_zone(single, *sides), "T")
    assert single.counts(in_zone(single, *sides))[:3] == (2, 1, 1)


def test_a_document_without_the_containing_layer_is_refused_and_so_is_an_empty_one() -> None:
    pair = Pair(*(Document("doc7", {"label": spans("A[0,1)"), "zone": []}) for _ in range(2)))

    with pytest.raises(UsageError, match=r"document 'doc7'.*no layer 'zome'"):
        count([[pair]], Plan((GateWithin(containing="zome"),)))
    with pytest.raises(UsageError, match="no annotation is in 'zone', within which the metric counts"):
        score([pair.gold], [pair.predicted], metrics=GateWithin(containing="zone"))


def test_other_metrics_say_that_they_do_not_score_the_containing_layer(
    recwarn: pytest.WarningsRecorder,
) -> None:
    document = Document("d", {"label": spans("A[0,1)"), "zone": spans("Z[0,2)")}, tokens=["a", "b"])

    score([document], [document], metrics=[GateWithin(containing="zone")])
    assert not recwarn
    with pytest.warns(
        CluevalWarning, match="layer 'zone' is not scored by exact, because gate counts within it"
    ):
        score([document], [document], metrics=["exact", GateWithin(containing="zone")])


# Bad input


NESTED = [Span(n, 6000 - n, "AB"[n % 2]) for n in range(200)]


def test_hundreds_of_spans_over_one_another_find_a_partner_each() -> None:
    metric = Gate()
    found = metric.counts(counted(metric, NESTED, [Span(s.start + 1, s.end, s.label) for s in NESTED]))

    assert sum(found[2:6]) == 200
    assert found.targets_with_several_lenient_responses == 200


@pytest.mark.parametrize("side", [NESTED[:60], spans("A[5,5) " * 60)], ids=["nested", "points"])
@pytest.mark.parametrize("pairing", PAIRINGS)
def test_more_spans_over_one_another_than_can_be_paired_are_refused(
    side: list[Span], pairing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clueval.core.span.MAX_PAIRS", 1000)
    monkeypatch.setattr("clueval.core.span.PAIRS_OF_SPAN", 1)
    with pytest.raises(LimitError, match="more than 1,000 pairs of spans overlap") as refusal:
        counted(Gate(pairing=pairing), side, side)

    assert "leave out spans that are nested" in str(refusal.value)


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"pairing": "best"}, "unknown Gate.pairing 'best'"),
        ({"feature_comparison": "same"}, "unknown Gate.feature_comparison 'same'"),
        ({"features": ("f", "f")}, "feature 'f' is named twice"),
        ({"features": ("M[a]", "M[a]")}, "named twice"),
        ({"features": ("M[a,]",)}, "the name of a feature is empty: ''"),
        ({"features": ("",)}, "the name of a feature is empty: ''"),
        ({"by": (["f"],)}, "Gate.by must be several names, but one of them is a list"),
        ({"types": 3}, "Gate.types must be several names, not an int"),
        ({"features": "fg"}, "not the string 'fg'"),
        ({"features": {"M": "fg"}}, "the features of the type 'M' must be a list of names, not 'fg'"),
        ({"features": {"M": ()}}, "must be a list of names, not \\(\\)"),
        ({"features": {"M": ("a,b",)}}, "those of features no comma"),
        ({"features": {"M[x]": ("a",)}}, "names have no brackets"),
        ({"nil": ""}, "nil needs a feature"),
        ({"thresholds": "all"}, "thresholds needs scores"),
        ({"score_feature": "s", "thresholds": "0.2,x"}, "threshold 'x' is not a number"),
        ({"score_feature": "s", "thresholds": ()}, "no threshold is named"),
        ({"containment": "near"}, "unknown Gate.containment 'near'"),
        ({"unfiltered": "A"}, "unfiltered needs containing"),
        ({"beta": 0}, "beta must be a number above 0"),
        ({"beta": 1e200}, "up to a million, not 1e"),
        ({"beta": "2"}, "beta must be a number above 0, up to a million, not '2'"),
        ({"containing": {}}, "Gate.containing must be text, not a dict"),
        ({"nil": 3, "features": ("f",)}, "Gate.nil must be text, not an int"),
        ({"types": ("A=B", "C=B")}, "'B' of the responses is named twice"),
    ],
)
def test_settings_that_make_no_sense_are_refused(choices: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        GateWithin(**choices)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"types": ("T", "Tpyo")}, "no annotation has the type 'Tpyo'"),
        ({"features": ("typo",)}, "no annotation has the feature 'typo'"),
        ({"by": ("typo",)}, r"the feature 'typo' .*Gate\.by"),
        ({"features": ("M[f]",)}, "no gold annotation has the type 'M'"),
    ],
)
def test_a_type_or_feature_that_no_annotation_has_is_refused(options: dict[str, Any], message: str) -> None:
    metric = Gate(**options)

    with pytest.raises(UsageError, match=message):
        metric.check(counted(metric, [having(1)], [having(1)]))


def test_names_that_occur_are_not_refused_and_a_type_of_one_side_or_a_value_is_a_warning() -> None:
    known, one_side = Gate(types=("T",), features=("f",)), Gate(types=("T=U",))
    known.check(counted(known, [having(1)], [having(1)]))
    nil = Gate(features=("f",), nil="x")
    for metric, message in (
        (one_side, "no predicted annotation has the type 'U'"),
        (nil, "has the value 'x'"),
    ):
        with pytest.warns(CluevalWarning, match=message):
            metric.check(counted(metric, [having(1)], [having(1)]))


@pytest.mark.parametrize("metric", [Gate(), Gate(score_feature="s"), GateWithin()])
def test_a_filter_on_spans_is_refused_with_advice(metric: Gate) -> None:
    sides = [Document("d", {"label": [Span(0, 1, label, {"s": 1}) for label in "AB"]})] * 2

    with pytest.raises(UsageError, match=r"use Gate\.types and Gate\.nil instead"):
        count([[Pair(*sides)]], Plan((metric,), where={"label": frozenset("A")}), ["label"])


def test_a_case_keeps_its_order_of_equal_ranges_only() -> None:
    later_first = Case((tuple(spans("A[4,6) A[0,5)")), tuple(spans("A[3,6) A[1,2)"))), (None, None))
    in_order = Case((tuple(spans("A[0,5) A[4,6)")), tuple(spans("A[1,2) A[3,6)"))), (None, None))

    assert Gate().count(later_first) == Gate().count(in_order)
