"""GATE's tagging evaluation: each rule by hand, then against a plain quadratic model."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Callable, Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clueval.core.span import Span
from clueval.files.errors import FormatError, LimitError, UsageError
from clueval.metrics.counting import Tally
from clueval.metrics.gate import (
    FeatureTest,
    Gate,
    GateCounts,
    average_precision,
    kept_within,
    macro_report,
    parse_thresholds,
    parse_types,
)
from clueval.metrics.gate.annotations import CONTAINMENTS
from clueval.metrics.gate.equality import features_from_text, java_double
from clueval.metrics.gate.pairing import PAIRINGS, Touching, touches
from clueval.metrics.metric import Side
from clueval.reading.source import chosen_set
from clueval.spans.document import Document

Place = tuple[int, int]


def spans(*places: Place, label: str = "T", first_id: int = 0) -> list[Span]:
    return [Span(start, end, label, id=first_id + n) for n, (start, end) in enumerate(places)]


def counted(targets: Sequence[Span], responses: Sequence[Span], **choices: object) -> GateCounts:
    metric = Gate(**choices)  # type: ignore[arg-type]
    return metric.counts(metric.count(Side(targets), Side(responses)))


def four(counts: GateCounts) -> tuple[int, int, int, int]:
    """Correct strict, correct partial, incorrect strict, incorrect partial."""
    return counts[2:6]  # type: ignore[return-value]


def having(value: object, start: int = 0, end: int = 3, label: str = "T") -> Span:
    return Span(start, end, label, {"f": value})


def scored(start: int, end: int, score: object, label: str = "T", number: int | None = None) -> Span:
    return Span(start, end, label, {"score": score}, id=number)


# The model: section 4 of the rules on plain lists, every target with every response -----------------------


def same_place(a: Span, b: Span) -> bool:
    return (a.start, a.end) == (b.start, b.end)


def naive_counts(
    targets: Sequence[Span], responses: Sequence[Span], equal: Callable[[Span, Span], bool]
) -> tuple[int, ...]:
    """The counts of the ten basic counters, under ``plugin``."""
    possible = [
        (2 * equal(t, r) + same_place(t, r), t, r)
        for t in targets
        for r in responses
        if same_place(t, r) or t.overlaps(r)
    ]

    def order(pair: tuple[int, Span, Span]) -> tuple[object, ...]:
        value, t, r = pair
        conflicts = sum(v for v, u, s in possible if (u is t) != (s is r))
        return (value - conflicts, r.start, r.end, r.id, t.start, t.end, t.id)

    left = sorted(possible, key=order, reverse=True)  # type: ignore[arg-type]
    taken = []
    while left:
        best = left[0]
        taken.append(best)
        left = [(v, t, r) for v, t, r in left if t is not best[1] and r is not best[2]]
    used = {id(r) for _, _, r in taken}
    spurious = [r for r in responses if id(r) not in used]
    singles = [v for v, t, _ in taken if v >= 2 and not any(naive_set_query(t, r) for r in spurious)]
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


def naive_set_query(asking: Span, a: Span) -> bool:
    s, e = asking.start, asking.end
    return (a.start < s and a.end > s) or (s <= a.start < e)


@st.composite
def annotations(draw: st.DrawFn, max_size: int = 7, size: int = 10, score: bool = False) -> list[Span]:
    """Annotations of both sides in any order, with unique ids; overlapping, equal, of zero length."""
    places = draw(st.lists(st.tuples(st.integers(0, size), st.integers(0, 4)), max_size=max_size))
    ids = draw(st.permutations(range(len(places))))
    return [
        Span(
            start,
            start + length,
            draw(st.sampled_from("AB")),
            {
                **draw(st.dictionaries(st.sampled_from("fg"), st.sampled_from([1, "1", True]), max_size=2)),
                **({"score": draw(st.sampled_from([0.1, 0.126, 0.5, "0.9", 1]))} if score else {}),
            },
            id=number,
        )
        for (start, length), number in zip(places, ids, strict=True)
    ]


# Pairing ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "response", "expected"),
    [
        (Span(0, 3, "A"), Span(0, 3, "A"), (1, 0, 0, 0)),
        (Span(0, 3, "A"), Span(1, 5, "A"), (0, 1, 0, 0)),
        (Span(0, 3, "A"), Span(0, 3, "B"), (0, 0, 1, 0)),
        (Span(0, 3, "A"), Span(1, 5, "B"), (0, 0, 0, 1)),
        (Span(0, 3, "A"), Span(3, 5, "A"), (0, 0, 0, 0)),
        (Span(5, 5, "A"), Span(5, 5, "A"), (1, 0, 0, 0)),
        (Span(3, 8, "A"), Span(5, 5, "A"), (0, 1, 0, 0)),
        (Span(5, 8, "A"), Span(5, 5, "A"), (0, 0, 0, 0)),
        (Span(3, 5, "A"), Span(5, 5, "A"), (0, 0, 0, 0)),
    ],
)
def test_a_pair_counts_by_place_and_equality(target: Span, response: Span, expected: tuple[int, ...]) -> None:
    assert four(counted([target], [response])) == expected


def test_a_strict_match_is_lost_where_both_neighbours_compete_for_it() -> None:
    targets, responses = spans((0, 5), (4, 10)), spans((4, 10), (9, 14))

    assert four(counted(targets, responses)) == (0, 2, 0, 0)
    assert four(counted(targets, responses, pairing="by-target")) == (0, 2, 0, 0)
    assert four(counted(targets, responses, pairing="by-response")) == (1, 0, 0, 0)


def test_by_target_keeps_the_strict_match_where_by_response_does_not() -> None:
    targets, responses = spans((4, 10), (9, 14)), spans((0, 5), (4, 10))

    assert four(counted(targets, responses, pairing="by-target")) == (1, 0, 0, 0)
    assert four(counted(targets, responses, pairing="by-response")) == (0, 2, 0, 0)


@pytest.mark.parametrize("pairing", ["by-response", "by-target"])
def test_the_sequential_pairings_prefer_the_value_and_then_the_longest_overlap(pairing: str) -> None:
    one, several = [Span(0, 10, "A")], [Span(0, 2, "A"), Span(2, 8, "A"), Span(0, 10, "B")]
    sides = (one, several) if pairing == "by-target" else (several, one)

    outcome = Gate(pairing=pairing).outcome(Side(sides[0]), Side(sides[1]))

    (pair,) = outcome.pairs
    assert {(pair.target.start, pair.target.end), (pair.response.start, pair.response.end)} == {
        (0, 10),
        (2, 8),
    }


def test_of_equal_scores_the_later_response_wins_then_the_later_target() -> None:
    outcome = Gate().outcome(Side(spans((0, 10))), Side(spans((0, 4), (5, 9))))
    assert [pair.response.start for pair in outcome.pairs] == [5]

    outcome = Gate().outcome(Side(spans((0, 4), (5, 9))), Side(spans((0, 10))))
    assert [pair.target.start for pair in outcome.pairs] == [5]


def test_of_equal_ranges_the_greater_id_wins() -> None:
    responses = [Span(0, 3, "T", id=2), Span(0, 3, "T", id=10)]

    outcome = Gate().outcome(Side(spans((0, 3))), Side(responses))

    assert [pair.response.id for pair in outcome.pairs] == [10]


def test_without_ids_the_place_in_the_list_is_the_id() -> None:
    responses = [Span(0, 3, "T", {"n": 1}), Span(0, 3, "T", {"n": 2})]

    outcome = Gate().outcome(Side([Span(0, 3, "T")]), Side(responses))

    assert [pair.response.features["n"] for pair in outcome.pairs] == [2]


@given(annotations(), annotations())
@example(spans((0, 5), (4, 10)), spans((4, 10), (9, 14)))
@example([Span(5, 8, "A", id=0)], [Span(5, 8, "A", id=0), Span(5, 5, "A", id=1)])
def test_components_count_what_the_quadratic_model_counts(targets: list[Span], responses: list[Span]) -> None:
    def same_type(t: Span, r: Span) -> bool:
        return t.label == r.label

    assert counted(targets, responses)[:10] == naive_counts(targets, responses, same_type)


@given(annotations(), annotations(), st.sampled_from(["equality", "string", "subsumption"]))
def test_features_count_what_the_quadratic_model_counts(
    targets: list[Span], responses: list[Span], comparison: str
) -> None:
    def text(value: object) -> str | None:
        return {None: None, bool: "true"}.get(type(value), str(value))

    def equal(t: Span, r: Span) -> bool:
        values = [(t.features.get(f), r.features.get(f)) for f in "fg"]
        if comparison == "string":
            agree = all((a is None) == (b is None) and (a is None or text(a) == text(b)) for a, b in values)
        else:
            agree = all(
                (type(a), a) == (type(b), b) or (comparison == "subsumption" and a is None) for a, b in values
            )
        return t.label == r.label and agree

    found = counted(targets, responses, features=("f", "g"), feature_comparison=comparison)

    assert found[:10] == naive_counts(targets, responses, equal)


@given(annotations(), annotations(), st.randoms(), st.sampled_from(PAIRINGS))
def test_the_order_of_annotations_with_ids_does_not_matter(
    targets: list[Span], responses: list[Span], random: object, pairing: str
) -> None:
    shuffled = [list(targets), list(responses)]
    for side in shuffled:
        random.shuffle(side)  # type: ignore[attr-defined]

    assert counted(*shuffled, pairing=pairing) == counted(targets, responses, pairing=pairing)


@given(annotations(), annotations())
def test_touching_is_found_as_by_asking_every_span(asking: list[Span], others: list[Span]) -> None:
    index = Touching(others)

    for span in asking:
        asked = [other for other in others if naive_set_query(span, other)]
        assert index.find(span) == sorted(asked, key=lambda other: (other.start, other.end))
        assert [touches(span, other) for other in others] == [naive_set_query(span, o) for o in others]


# Counts and measures ---------------------------------------------------------------------------------------


def test_a_correct_pair_is_single_unless_a_truly_spurious_response_touches_its_target() -> None:
    target = spans((0, 10))

    assert counted(target, spans((0, 10)))[6:8] == (1, 0)
    assert counted(target, spans((0, 10), (2, 4)))[6:8] == (0, 0)
    # the second response is taken by another target and does no harm
    assert counted(spans((0, 10), (12, 20)), spans((0, 10), (9, 19)))[6:8] == (1, 1)


def test_a_target_is_accurate_if_its_only_response_is_right() -> None:
    counts = counted(spans((0, 10)), spans((0, 10), (2, 4)))

    assert (counts.accurate_targets_strict, counts.accurate_targets_lenient) == (1, 0)
    assert counts.targets_with_several_lenient_responses == 1


def test_measures_of_nothing() -> None:
    nothing, no_responses, no_targets = (
        counted([], []),
        counted(spans((0, 1)), []),
        counted([], spans((0, 1))),
    )

    assert (nothing.precision_strict, nothing.recall_lenient, nothing.report()["f1_strict"]) == (
        1.0,
        1.0,
        1.0,
    )
    assert nothing.report()["single_correct_accuracy_strict"] == 0.0
    assert nothing.report()["error_rate_strict"] == 0.0
    assert nothing.report()["recall_in_responses_strict"] == 1.0
    for counts in (no_responses, no_targets):
        assert (counts.precision_strict, counts.recall_strict, counts.report()["f1_lenient"]) == (
            0.0,
            0.0,
            0.0,
        )
    assert no_responses.report()["recall_in_responses_lenient"] == 1.0


def test_measures_by_hand() -> None:
    targets = spans((0, 3), (5, 9), (20, 23), (30, 33))
    responses = [
        *spans((0, 3), (6, 9)),
        Span(20, 23, "X", id=7),
        Span(31, 35, "X", id=8),
        Span(40, 41, "T", id=9),
    ]

    report = counted(targets, responses).report()

    assert report["correct_strict"] == report["correct_partial"] == 1
    assert report["incorrect_strict"] == report["incorrect_partial"] == 1
    assert (report["precision_strict"], report["precision_lenient"]) == (0.2, 0.4)
    assert (report["recall_strict"], report["recall_lenient"]) == (0.25, 0.5)
    assert report["f1_strict"] == pytest.approx(2 / 9)
    assert report["f1_lenient"] == pytest.approx(4 / 9)
    assert report["f1_average"] == pytest.approx(3 / 9)
    assert (report["error_rate_strict"], report["error_rate_lenient"]) == (0.2, 0.4)
    assert (report["recall_in_responses_strict"], report["recall_in_responses_lenient"]) == (0.5, 0.5)
    assert (report["true_spurious_lenient"], report["true_missing_lenient"]) == (1, 0)


def test_beta_stands_in_the_name_of_f() -> None:
    report = GateCounts(targets=4, responses=2, correct_strict=2).report(beta=2)

    assert report["f2_strict"] == pytest.approx(5 * 0.5 / (4 + 0.5))
    assert "f1_strict" not in report


@given(annotations(), annotations(), st.sampled_from(PAIRINGS))
def test_the_identities_of_the_authors_notes_hold(
    targets: list[Span], responses: list[Span], pairing: str
) -> None:
    g = counted(targets, responses, pairing=pairing).report()

    for whole, lost in (("targets", "missing"), ("responses", "spurious")):
        assert g[whole] == g["correct_strict"] + g[f"{lost}_strict"]
        assert g[whole] == g["correct_lenient"] + g[f"{lost}_lenient"]
        assert g[whole] == g["correct_strict"] + g["incorrect_strict"] + g[f"true_{lost}_strict"]
        assert g[whole] == g["correct_lenient"] + g["incorrect_lenient"] + g[f"true_{lost}_lenient"]
        assert g[f"{lost}_strict"] == g["incorrect_strict"] + g[f"true_{lost}_strict"]
        assert g[f"{lost}_lenient"] == g["incorrect_lenient"] + g[f"true_{lost}_lenient"]
    assert g["correct_strict"] <= g["targets_with_strict_responses"] <= g["targets_with_lenient_responses"]
    assert g["correct_lenient"] <= g["targets_with_lenient_responses"] <= g["targets"]
    for way in ("strict", "partial", "lenient"):
        assert g[f"single_correct_{way}"] <= g[f"correct_{way}"]
    assert g["correct_lenient"] + g["incorrect_lenient"] <= min(g["targets"], g["responses"])
    assert min(g.values()) >= 0


# Equality --------------------------------------------------------------------------------------------------


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
        ({}, {}, True, True, True),
        ({}, {"f": 1}, False, False, True),
        ({"f": 1}, {}, False, False, False),
        ({"f": 1, "x": 2}, {"f": 1, "x": 3}, True, True, True),
        ({"f": None}, {}, True, True, True),
        ({"f": None}, {"f": 1}, False, False, False),
    ],
)
def test_features_are_compared(
    target: dict[str, object], response: dict[str, object], equal: bool, as_string: bool, subsumed: bool
) -> None:
    one, other = Span(0, 1, "T", target), Span(0, 1, "T", response)

    assert FeatureTest(("f",)).agree(one, other) is equal
    assert FeatureTest(("f",), "string").agree(one, other) is as_string
    assert FeatureTest(("f",), "subsumption").agree(one, other) is subsumed


def test_every_feature_is_compared_not_only_the_first() -> None:
    one, other = Span(0, 1, "T", {"f": 1, "g": 1}), Span(0, 1, "T", {"f": 1, "g": 2})

    assert not FeatureTest(("f", "g")).agree(one, other)


@pytest.mark.parametrize(
    ("number", "text"),
    [(1e7, "1.0E7"), (9999999.5, "9999999.5"), (0.001, "0.001"), (1.5e-7, "1.5E-7"), (-0.0, "-0.0"),
     (100.0, "100.0"), (math.nan, "NaN"), (123456789.125, "1.23456789125E8"), (0.05, "0.05")],
)  # fmt: skip
def test_numbers_are_written_as_java_writes_them(number: float, text: str) -> None:
    assert java_double(number) == text


def test_types_may_have_other_names_in_the_responses() -> None:
    metric = Gate(types=("Person=PER", "Place"))
    targets = [Span(0, 3, "Person"), Span(5, 8, "Place"), Span(9, 10, "Other")]
    responses = [Span(0, 3, "PER"), Span(5, 8, "Place"), Span(20, 21, "Person")]

    tally = metric.count(Side(targets), Side(responses))
    report = metric.scores(tally, ["label"])

    assert list(report["per_type"]) == ["Person", "Place"]
    assert report["all"]["correct_strict"] == report["all"]["responses"] == report["all"]["targets"] == 2


@pytest.mark.parametrize("specs", [["A", "A"], ["A=B", "A=C"], ["A=B", "C=B"], [""], ["=B"], ["A="]])
def test_bad_types_are_refused(specs: list[str]) -> None:
    with pytest.raises(UsageError, match="type"):
        parse_types(specs)


# Types, macro, containing, NIL, break-downs ----------------------------------------------------------------


def test_over_all_types_a_response_of_another_type_is_incorrect_and_alone_it_is_spurious() -> None:
    metric = Gate()

    report = metric.scores(metric.count(Side([Span(0, 3, "A")]), Side([Span(0, 3, "B")])), ["label"])

    assert report["all"]["incorrect_strict"] == 1
    assert report["per_type"]["A"]["true_missing_lenient"] == 1
    assert report["per_type"]["B"]["true_spurious_lenient"] == 1


def test_macro_is_the_mean_over_types_and_an_empty_type_takes_part() -> None:
    right, wrong = GateCounts(1, 1, 1, 0, 0, 0, 1), GateCounts(1, 1)

    report = macro_report([right, wrong, GateCounts()])

    assert report["precision_strict"] == pytest.approx(2 / 3)
    assert report["f1_strict"] == pytest.approx(2 / 3)
    assert report["single_correct_accuracy_strict"] == pytest.approx(1 / 3)
    assert (report["targets"], report["correct_strict"]) == (2, 1)
    assert macro_report([])["f1_lenient"] == 1.0


def test_macro_f_is_the_mean_of_f_not_f_of_the_means() -> None:
    members = [
        GateCounts(targets=1, responses=4, correct_strict=1),
        GateCounts(targets=4, responses=1, correct_strict=1),
    ]

    report = macro_report(members)

    assert report["f1_strict"] == pytest.approx(0.4)
    assert (report["precision_strict"], report["recall_strict"]) == (0.625, 0.625)


@given(annotations(), annotations(), st.sampled_from(CONTAINMENTS))
def test_what_is_kept_within_others_is_found_by_asking_every_one(
    listed: list[Span], around: list[Span], containment: str
) -> None:
    def keeps(a: Span, c: Span) -> bool:
        if containment == "overlapping":
            return naive_set_query(a, c)
        if containment == "coextensive":
            return same_place(a, c)
        return a.start >= c.start and a.end <= c.end

    expected = [a for a in listed if any(keeps(a, c) for c in around)]

    assert kept_within(listed, around, containment) == expected


def test_only_annotations_within_the_containing_layer_are_evaluated() -> None:
    def side(*places: Place) -> Side:
        listed = spans(*places)
        layers = {"label": listed, "zone": [Span(0, 10, {"zone": "z"})]}
        return Side(listed, document=Document("d", layers, unit="character"))

    gold, predicted = side((0, 3), (20, 23)), side((0, 3), (30, 33))
    inside = Gate(containing="zone")
    exempt = Gate(types=("T", "U"), containing="zone", unfiltered="T")

    assert inside.counts(inside.count(gold, predicted))[:3] == (1, 1, 1)
    tally = exempt.count(gold, predicted)
    assert exempt.counts(tally, "T")[:3] == (2, 1, 1)
    assert exempt.counts(tally)[:3] == (1, 1, 1)
    single = Gate(types=("T",), containing="zone", unfiltered="T")
    tally = single.count(gold, predicted)
    assert single.counts(tally) == single.counts(tally, "T") == single.outcome(gold, predicted).counts
    assert single.counts(tally).targets == 2


def test_nil_annotations_are_left_out_on_both_sides() -> None:
    targets, responses = (
        [having("Q1"), having("NIL", 5, 8)],
        [having("Q1"), having("NIL", 20, 21), having(None, 30, 31)],
    )

    assert counted(targets, responses, features=("f",))[:2] == (2, 3)
    assert counted(targets, responses, features=("f",), nil="NIL")[:2] == (1, 2)
    assert counted(targets, responses, features=("f",), nil="")[:2] == (2, 2)


def test_a_break_down_compares_annotations_with_the_same_value() -> None:
    metric = Gate(by=("f",))

    tally = metric.count(Side([having(1), having("x", 5, 8)]), Side([having(1), Span(5, 8, "T")]))
    groups = metric.scores(tally, ["label"])["by"]["f"]

    assert {value: (g["targets"], g["responses"], g["correct_strict"]) for value, g in groups.items()} == {
        "1": (1, 1, 1),
        "x": (1, 0, 0),
        "(none)": (0, 1, 0),
    }


# Thresholds ------------------------------------------------------------------------------------------------

GOLD = [Span(0, 3, "T"), Span(10, 13, "T"), Span(20, 23, "T")]
SCORED = [scored(0, 3, 0.9), scored(10, 12, "0.5"), scored(40, 41, 0.5), scored(20, 23, 0.126)]


def test_at_a_threshold_only_responses_with_that_score_or_more_take_part() -> None:
    metric = Gate(score_feature="score")

    points = metric.curve(metric.count(Side(GOLD), Side(SCORED)))

    assert [(p.threshold, p.counts.responses, p.counts.correct_lenient) for p in points] == [
        (0.126, 4, 3),
        (0.5, 3, 2),
        (0.9, 1, 1),
        (math.inf, 0, 0),
    ]
    assert {p.counts.targets for p in points} == {3}


def test_the_report_names_its_thresholds() -> None:
    metric = Gate(score_feature="score", thresholds="0.5,-Infinity")

    report = metric.scores(metric.count(Side(GOLD), Side(SCORED)), ["label"])

    assert list(report["thresholds"]) == ["-Infinity", "0.5", "Infinity"]
    assert report["thresholds"]["0.5"]["responses"] == 3
    assert report["thresholds"]["-Infinity"] == report["all"]


def test_rounded_thresholds_round_half_up_and_compare_the_unrounded_score() -> None:
    metric = Gate(score_feature="score", thresholds="rounded")

    points = metric.curve(metric.count(Side(GOLD), Side(SCORED)))

    assert [(p.threshold, p.counts.responses) for p in points] == [
        (0.13, 3),
        (0.5, 3),
        (0.9, 1),
        (math.inf, 0),
    ]


@pytest.mark.parametrize(("name", "step"), [("11", 0.1), ("21", 0.05), ("51", 0.02)])
def test_grids_run_from_0_to_1(name: str, step: float) -> None:
    metric = Gate(score_feature="score", thresholds=name)

    points = metric.curve(metric.count(Side(GOLD), Side(SCORED)))

    assert len(points) == int(name) + 1
    assert [p.threshold for p in points[:-1]] == pytest.approx([step * n for n in range(int(name))])
    assert [p.counts.responses for p in points] == [
        sum(float(r.features["score"]) >= p.threshold for r in SCORED) for p in points
    ]


@given(
    st.lists(st.tuples(annotations(), annotations(score=True)), min_size=1, max_size=3),
    st.sampled_from(["all", "rounded", "11", (0.3, 0.126), (-math.inf, 0.5)]),
    st.sampled_from(PAIRINGS),
)
@example([([Span(5, 8, "A", id=0)], [scored(5, 8, 0.5, "A", 0), scored(5, 5, 0.9, "A", 1)])], "all", "plugin")
def test_thresholds_are_those_of_evaluations_of_their_own(
    documents: list[tuple[list[Span], list[Span]]], thresholds: str | tuple[float, ...], pairing: str
) -> None:
    metric = Gate(score_feature="score", thresholds=thresholds, pairing=pairing)
    total = Tally()
    for targets, responses in documents:
        total.update(metric.count(Side(targets), Side(responses)))

    for kind in (None, "A"):
        for threshold, counts in metric.curve(total, kind):
            alone = Gate(types=("A",) if kind else (), pairing=pairing)
            expected = GateCounts()
            for targets, responses in documents:
                reached = [r for r in responses if float(r.features["score"]) >= threshold]
                expected += alone.counts(alone.count(Side(targets), Side(reached)))
            assert counts == expected


def test_minus_infinity_is_no_threshold() -> None:
    with_scores = Gate(score_feature="score", thresholds=(-math.inf,))

    point = with_scores.curve(with_scores.count(Side(GOLD), Side(SCORED)))[0]

    assert point.counts == counted(GOLD, SCORED)


def test_average_precision_by_hand() -> None:
    metric = Gate(score_feature="score")
    points = metric.curve(metric.count(Side(GOLD), Side(SCORED)))

    # strictly: 1 of 1 at 0.9, 1 of 3 at 0.5, 2 of 4 at 0.126; recall 1/3, 1/3, 2/3
    assert average_precision(points) == pytest.approx(1 / 3 * 1 + 1 / 3 * 2 / 4)
    assert average_precision(points, lenient=True) == pytest.approx(1 / 3 * (1 + 2 / 3 + 3 / 4))


def test_average_precision_is_that_of_scikit_learn_where_each_response_has_its_own_place() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    right = [True, False, True, True, False, False, True]
    values = [0.9, 0.8, 0.8, 0.6, 0.5, 0.3, 0.2]
    targets = [Span(10 * n, 10 * n + 5, "T") for n, is_right in enumerate(right) if is_right]
    responses = [scored(10 * n, 10 * n + 5, value) for n, value in enumerate(values)]
    metric = Gate(score_feature="score")

    found = average_precision(metric.curve(metric.count(Side(targets), Side(responses))))

    assert found == pytest.approx(metrics.average_precision_score(right, values))


# The metric ------------------------------------------------------------------------------------------------


def test_the_indicator_annotations_carry_group_and_target() -> None:
    targets, responses = spans((0, 3), (10, 13)), spans((1, 3), (20, 22), first_id=5)

    indicators = Gate().outcome(Side(targets), Side(responses)).indicators()

    assert [(s.start, s.label, s.features.get("gate.plugin.evaluation.targetId")) for s in indicators] == [
        (1, "T_CP", 0),
        (10, "T_ML", 1),
        (20, "T_SL", None),
    ]


@given(annotations(), annotations())
def test_the_outcome_counts_what_the_metric_counts(targets: list[Span], responses: list[Span]) -> None:
    metric = Gate()
    outcome = metric.outcome(Side(targets), Side(responses))
    groups = outcome.groups()

    assert outcome.counts == counted(targets, responses)
    assert [len(groups[name]) for name in ("CS", "CP", "IS", "IP")] == list(four(outcome.counts))
    assert len(groups["ML"]) == outcome.counts.report()["true_missing_lenient"]
    assert len(groups["SL"]) == outcome.counts.report()["true_spurious_lenient"]
    assert len(outcome.single_correct("CS")) == outcome.counts.single_correct_strict


NESTED = [Span(n, 6000 - n, "AB"[n % 2], id=n) for n in range(600)]


def test_hundreds_of_spans_over_one_another_find_a_partner_each() -> None:
    counts = counted(NESTED[:300], [Span(span.start + 1, span.end, span.label) for span in NESTED[:300]])

    assert sum(four(counts)) == 300
    assert counts.targets_with_several_lenient_responses == 300


@pytest.mark.few(5)
@pytest.mark.parametrize("responses", [NESTED, spans(*[(5, 5)] * 600)], ids=["nested", "points"])
@pytest.mark.parametrize("pairing", PAIRINGS)
def test_more_spans_over_one_another_than_can_be_paired_are_refused(
    responses: list[Span], pairing: str
) -> None:
    with pytest.raises(LimitError, match="more than 300,000 pairs of spans overlap") as refusal:
        counted(responses, responses, pairing=pairing)

    assert "leave out spans that are nested" in str(refusal.value)


def test_spans_that_are_refused_take_little_memory() -> None:
    tracemalloc.start()
    with pytest.raises(LimitError):
        counted(NESTED, NESTED)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert most < 50_000_000


def test_many_spans_below_one_that_lies_over_all_are_paired() -> None:
    many = [Span(n, n + 2, "A", id=n) for n in range(20_000)]
    around = Span(0, 30_000, "B", id=20_000)

    assert counted([*many, around], [*many, around]).correct_strict > 19_000


# Bad input -------------------------------------------------------------------------------------------------


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
def test_a_response_without_a_number_as_its_score_is_named(score: object, message: str) -> None:
    responses = [scored(0, 3, score, number=4)]
    document = Document("doc7", {"label": responses}, unit="character", file="d.xml")

    with pytest.raises(FormatError, match=message) as caught:
        Gate(score_feature="score").count(Side(GOLD), Side(responses, document=document))

    assert "d.xml, document 'doc7'" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"pairing": "best"}, "unknown Gate.pairing 'best'"),
        ({"feature_comparison": "same"}, "unknown comparison of features 'same'"),
        ({"features": ("f", "f")}, "feature 'f' is named twice"),
        ({"features": ("",)}, "empty"),
        ({"features": "fg"}, "not the string 'fg'"),
        ({"nil": ""}, "nil needs a feature"),
        ({"thresholds": "all"}, "thresholds need scores"),
        ({"score_feature": "s", "thresholds": "0.2,x"}, "threshold 'x' is not a number"),
        ({"score_feature": "s", "thresholds": ()}, "no threshold is named"),
        ({"containment": "near"}, "unknown containment 'near'"),
        ({"beta": 0}, "beta must be greater than 0"),
        ({"types": ("A=B", "C=B")}, "'B' of the responses is named twice"),
    ],
)
def test_settings_that_make_no_sense_are_refused(choices: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Gate(**choices)  # type: ignore[arg-type]


def test_a_type_or_feature_that_no_annotation_has_can_be_refused() -> None:
    sides = Side([having(1)]), Side([having(1)])

    for metric, message in (
        (Gate(types=("T", "Tpyo")), "no annotation has the type 'Tpyo'"),
        (Gate(features=("typo",)), "no annotation has the feature 'typo'"),
    ):
        with pytest.raises(UsageError, match=message):
            metric.check(metric.count(*sides))
    known = Gate(types=("T",), features=("f",))
    known.check(known.count(*sides))


def test_an_unknown_set_and_an_unknown_layer_are_refused_with_the_document() -> None:
    document = Document("doc7", {"Key": spans((0, 3))}, unit="character")

    with pytest.raises(UsageError, match=r"document 'doc7': the document has no annotation set 'Kex'.*'Key'"):
        chosen_set(document, "Kex")
    with pytest.raises(UsageError, match=r"document 'doc7'.*no layer 'zone'"):
        Gate(containing="zone").count(Side([], document=document), Side([], document=document))


def test_thresholds_are_sorted_and_unique() -> None:
    assert parse_thresholds([0.5, 0.1, 0.5]) == (0.1, 0.5)


# Features of one type


def of_types(comparison: str, features: tuple[str, ...]) -> tuple[int, int]:
    """The correct targets of types M and N; responses differ in ``inst`` for M and in ``kind`` for N."""
    gold = [
        Span(0, 1, "M", {"inst": 1, "kind": "a"}),
        Span(2, 3, "N", {"inst": 2, "kind": "b"}),
    ]
    predicted = [
        Span(0, 1, "M", {"inst": 9, "kind": "a"}),
        Span(2, 3, "N", {"inst": 2, "kind": "x"}),
    ]
    metric = Gate(features=features, feature_comparison=comparison)
    report = metric.scores(metric.count(Side(gold), Side(predicted)), ["label"])["per_type"]
    return report["M"]["correct_strict"], report["N"]["correct_strict"]


@pytest.mark.parametrize("comparison", ["equality", "string", "subsumption"])
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
    assert of_types(comparison, features) == correct


def test_features_of_types_are_read_from_text_and_checked() -> None:
    assert features_from_text("M[inst],N[kind,id]") == ("M[inst]", "N[kind,id]")
    for wrong in (("M[a]", "M[a]"), ("a", "M[a,a]"), ("M[a,]",)):
        with pytest.raises(UsageError, match=r"named twice|is empty"):
            Gate(features=wrong)
    report = Gate(features=("M[a]", "N[b]"), types=("M=X", "N"))
    sides = [Side([Span(0, 1, kind, {"a": 1, "b": 2})]) for kind in ("M", "X")]
    assert report.scores(report.count(*sides), ["label"])["per_type"]["M"]["correct_strict"] == 1
