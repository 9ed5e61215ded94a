"""Fair evaluation of cases: its steps by hand, and against plain lists."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clueval.core.case import Case
from clueval.core.span import Span
from clueval.files.errors import CluevalWarning, LimitError, UsageError
from clueval.metrics.fair import DEFAULT_WEIGHTS, Fair, FairError, freeze_weights, parse_weights, weighted
from clueval.metrics.fair.pairing import Item
from clueval.metrics.fair.pairing import pair_up as pair_up_items
from tests.cases import any_spans, case, counted, report, spans
from tests.oracles import item, pair_by_lists

PAPER = (
    "LE = 0.5 FP + 0.5 FN, BES = 0.5 TP + 0.5 FN, BEL = 0.5 TP + 0.5 FP, "
    "BEO = 0.5 TP + 0.25 FP + 0.25 FN, LBE = 0.5 FP + 0.5 FN"
)

RATES = ("precision", "recall", "f1")


def kinds(gold: str, predicted: str, **options: Any) -> list[str]:
    return [finding.kind for finding in Fair(**options).findings(case(gold, predicted))]


def pair_up(
    gold: Sequence[Span], predicted: Sequence[Span]
) -> Iterator[tuple[str, Span | None, Span | None]]:
    """The pairs of spans, in the order of the steps."""
    for kind, *pair in pair_up_items(*(list(map(Item.of, side)) for side in (gold, predicted))):
        one, other = (None if item is None else item.span for item in pair)
        yield kind, one, other


def identity(span: Span) -> Any:
    return Item.of(span).key


def counts(gold: str, predicted: str, version: str = "fair", **options: Any) -> dict[str, int]:
    """The counts of a version that are not 0."""
    overall = report(Fair(**options), gold, predicted)["overall"][version]
    return {kind: n for kind, n in overall.items() if n and kind not in RATES}


def tokens(text: str, *tokens: int) -> Span:
    """A span with some of its tokens."""
    [span] = spans(text)
    return Span(span.start, span.end, span.label, tokens=frozenset(tokens))


# The steps, by hand


@pytest.mark.parametrize(
    ("gold", "predicted", "expected"),
    [
        pytest.param("A[0,4)", "A[0,4)", {"TP": 1}, id="equal"),
        pytest.param("A[2,6)", "A[2,4)", {"BE": 1, "BES": 1}, id="smaller, at the start"),
        pytest.param("A[2,6)", "A[3,4)", {"BE": 1, "BES": 1}, id="smaller, inside"),
        pytest.param("A[2,6)", "A[2,7)", {"BE": 1, "BEL": 1}, id="larger at the end"),
        pytest.param("A[2,6)", "A[1,7)", {"BE": 1, "BEL": 1}, id="larger at both ends"),
        pytest.param("A[2,6)", "A[4,8)", {"BE": 1, "BEO": 1}, id="crossing the end"),
        pytest.param("A[2,6)", "A[0,3)", {"BE": 1, "BEO": 1}, id="crossing the start"),
        pytest.param("A[0,2)", "A[2,4)", {"FN": 1, "FP": 1}, id="spans that touch"),
        pytest.param("A[0,2)", "A[5,7)", {"FN": 1, "FP": 1}, id="spans that overlap nothing"),
        pytest.param("A[0,4) A[6,8)", "A[0,9)", {"BE": 2, "BEL": 2}, id="what is left of a predicted span"),
        pytest.param("A[0,9)", "A[0,4) A[6,8)", {"BE": 2, "BES": 2}, id="what is left of a gold span"),
        pytest.param("A[0,3) A[2,6)", "A[2,3)", {"BE": 1, "BES": 1, "FN": 1}, id="no common tokens left"),
        pytest.param("A[0,4)", "B[2,6)", {"LBE": 1}, id="overlap with another label"),
        pytest.param("A[3,3)", "A[3,3)", {"TP": 1}, id="zero length, equal"),
        pytest.param("A[3,3)", "B[3,3)", {"LE": 1}, id="zero length, another label"),
        pytest.param("A[2,5)", "A[3,3)", {"BE": 1, "BES": 1}, id="zero length, inside"),
        pytest.param("A[3,5)", "A[3,3)", {"FN": 1, "FP": 1}, id="zero length, at the start"),
        pytest.param("A[0,3)[7,9)", "A[0,3)[7,9)", {"TP": 1}, id="equal fragments"),
        pytest.param("A[0,3)[7,9)", "B[0,3)[7,9)", {"LE": 1}, id="equal fragments, another label"),
        pytest.param("A[0,3)[7,9)", "A[0,9)", {"BE": 1, "BEL": 1}, id="the gap, too"),
        pytest.param("A[0,3)[7,9)", "A[0,3)", {"BE": 1, "BES": 1}, id="one fragment"),
        pytest.param("A[0,3)[7,9)", "A[0,3)[8,10)", {"BE": 1, "BEO": 1}, id="crossing a fragment"),
        pytest.param("A[0,3)[7,9)", "A[0,3)[7,10)", {"BE": 1, "BEL": 1}, id="a longer fragment"),
        pytest.param("A[0,3)[7,9)", "A[0,2)[7,9)", {"BE": 1, "BES": 1}, id="a shorter fragment"),
        pytest.param("A[0,3)[7,9)", "B[0,9)", {"LBE": 1}, id="the gap, too, another label"),
        pytest.param("A[0,3)[7,9)", "A[4,6)", {"FN": 1, "FP": 1}, id="in the gap"),
    ],
)
def test_errors_have_one_type_each(gold: str, predicted: str, expected: dict[str, int]) -> None:
    assert counts(gold, predicted) == expected


@pytest.mark.parametrize(
    ("gold", "predicted", "expected"),
    [
        pytest.param(tokens("A[0,3)", 0, 1, 2), tokens("A[0,3)", 0, 2), ["FN", "FP"], id="other tokens"),
        pytest.param(spans("A[0,3)")[0], tokens("A[0,3)", 0, 1, 2), ["TP"], id="all tokens"),
        pytest.param(spans("A[0,3)")[0], tokens("B[0,3)", 0, 2), ["LE"], id="another label"),
        pytest.param(tokens("A[0,3)", 0, 2), tokens("A[1,4)", 1, 3), ["BEO"], id="no token is shared"),
    ],
)
def test_tokens_count_in_equal_spans_and_shared_tokens_alone(
    gold: Span, predicted: Span, expected: list[str]
) -> None:
    assert [kind for kind, *_ in pair_up([gold], [predicted])] == expected


def test_label_errors_take_the_first_predicted_span_of_another_label() -> None:
    found = next(pair_up(spans("A[0,2)"), spans("A[0,1) C[0,2) B[0,2)")))

    assert found == ("LE", *spans("A[0,2) C[0,2)"))


@pytest.mark.parametrize(
    ("better", "worse", "why"),
    [
        ("A[0,5)", "A[0,3)", "shares more tokens"),
        ("A[1,8)", "A[1,9)", "has fewer tokens besides"),
        ("A[1,9)", "A[0,8)", "is the earlier of equals"),
    ],
)
def test_the_most_similar_span_is_taken(better: str, worse: str, why: str) -> None:
    found = list(Fair().findings(case("A[2,7)", f"{better} {worse}")))

    assert [next(finding.predicted for finding in found if finding.gold)] == spans(better), why


def test_the_shorter_of_equally_similar_spans_is_taken() -> None:
    longer, shorter = tokens("A[0,8)", 0, 2), tokens("A[0,6)", 0, 2)
    found = list(pair_up(spans("A[0,4)"), [longer, shorter]))

    assert found[0] == ("BEL", *spans("A[0,4)"), shorter)


def test_shorter_gold_spans_choose_first() -> None:
    assert list(Fair().findings(case("A[0,9) A[2,4)", "A[2,5)"))) == [
        FairError("BES", *spans("A[0,9) A[2,5)")),
        FairError("BEL", *spans("A[2,4) A[2,5)")),
    ]


def test_the_same_label_is_preferred_to_the_better_overlap() -> None:
    assert list(Fair().findings(case("A[0,4)", "B[0,3) A[3,9)"))) == [
        FairError("BEO", *spans("A[0,4) A[3,9)")),
        FairError("LBE", *spans("A[0,4) B[0,3)")),
    ]


def test_label_and_boundary_errors_go_on_with_the_spans_counted_before() -> None:
    assert kinds("A[0,6)", "A[0,3) B[3,5)") == ["BES", "LBE"]


def test_the_order_of_a_case_breaks_ties() -> None:
    """[4,7) C first: [5,8) C and [6,9) A share two tokens, then nothing is left that [4,7) C shares with [6,9)."""
    sorted_, listed = "C[4,7) C[5,8)", "C[5,8) C[4,7)"

    assert kinds(sorted_, "A[6,9)") == ["LBE", "LBE"]
    assert kinds(listed, "A[6,9)") == ["FN", "LBE"]
    assert counts(listed, "A[6,9)") == {"LBE": 2}
    assert counted(Fair(), spans(listed), spans("A[6,9)"), ordered=True)["fair", "FN", "C"] == 1


def test_focus_selects_the_side_under_whose_label_an_error_is_counted() -> None:
    sides = "A[0,2) A[4,8)", "B[0,2) B[5,9)"
    by_focus = {focus: report(Fair(focus), *sides)["per_label"] for focus in ("target", "system")}

    assert by_focus["target"]["A"]["fair"]["LE"] == by_focus["target"]["A"]["fair"]["LBE"] == 1
    assert by_focus["target"]["B"]["fair"]["LE"] == by_focus["target"]["B"]["fair"]["LBE"] == 0
    assert by_focus["system"]["B"]["fair"]["LE"] == by_focus["system"]["B"]["fair"]["LBE"] == 1


def test_the_confusion_matrix_holds_errors_only() -> None:
    gold, predicted = (
        "A[0,2) A[4,8) A[20,22) A[30,31) B[50,51)",
        "A[0,2) A[4,7) B[20,22) B[40,41) B[50,51)",
    )

    assert report(Fair(), gold, predicted)["confusion"] == {
        "A": {"A": 1, "B": 1, "_": 1},
        "B": {},
        "_": {"B": 1},
    }


def test_traditional_counts_go_by_membership_and_fair_ones_pair_one_to_one() -> None:
    assert counts("A[0,2) A[0,2)", "A[0,2)", "traditional") == {"TP": 2}
    assert counts("A[0,2) A[0,2)", "A[0,2)") == {"TP": 1, "FN": 1}


def test_findings_come_by_position() -> None:
    assert list(Fair().findings(case("A[30,32) A[0,4)", "B[10,12) A[0,3)"))) == [
        FairError("BES", *spans("A[0,4) A[0,3)")),
        FairError("FP", None, *spans("B[10,12)")),
        FairError("FN", *spans("A[30,32)"), None),
    ]


def test_swapping_sides_is_not_always_swapping_errors() -> None:
    """The smallest case: swapped, the one gold span takes the better half and leaves nothing to the other."""
    assert kinds("A[0,1) A[0,2)", "A[0,3)") == ["BEL", "BEL"]
    assert kinds("A[0,3)", "A[0,1) A[0,2)") == ["FP", "BES"]


# Settings


def test_labels_and_exclude_select_spans_of_both_sides() -> None:
    sides = "A[0,2) B[3,5) NONE[7,8)", "B[0,2) C[3,5) EMPTY[9,10)"

    assert counts(*sides) == {"LE": 2}
    assert counts(*sides, labels=("A",)) == {"FN": 1}
    assert counts(*sides, exclude=("B", "NONE", "EMPTY")) == {"FN": 1, "FP": 1}
    assert counts(*sides, exclude=()) == {"LE": 2, "FN": 1, "FP": 1}


def test_spans_that_are_not_evaluated_join_no_pairs() -> None:
    assert counts("A[0,4)", "B[0,4) A[3,6)", exclude=("B",)) == {"BE": 1, "BEO": 1}


def test_weights_change_the_weighted_scores_only() -> None:
    overall = report(Fair(weights={"BES": {"TP": 0.5, "FN": 0.5}}), "A[0,4)", "A[0,3)")["overall"]

    assert (overall["weighted"]["precision"], overall["weighted"]["recall"]) == (1.0, 0.5)
    assert overall["fair"]["precision"] == overall["fair"]["recall"] == 0.0


def test_weighted_scores_without_weights_are_fair() -> None:
    overall = report(Fair(), "A[0,4) B[6,7)", "A[0,3) B[6,7)")["overall"]

    assert overall["weighted"] == overall["fair"]
    assert overall["fair"]["f1"] == pytest.approx(2 / 3)


def test_a_metric_is_a_value() -> None:
    metric = Fair(weights={"LE": {"FP": 1}}, labels=["A"])  # type: ignore[arg-type]  # a list does, too

    assert metric == pickle.loads(pickle.dumps(metric))
    assert hash(metric) == hash(Fair(weights={"LE": {"FP": 1}}, labels=("A",)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"focus": "gold"}, "unknown Fair.focus 'gold'"),
        ({"focus": "syste"}, "unknown Fair.focus 'syste' (did you mean system? one of target, system)"),
        ({"focus": 5}, "unknown Fair.focus 5"),
        ({"labels": "PER"}, "labels must be several names, not the string 'PER'"),
        ({"labels": (1,)}, "labels must be several names, but one of them is an int"),
        ({"labels": ("A", "B"), "exclude": ("B", "A")}, "Fair.exclude has every label of Fair.labels"),
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


def test_labels_that_never_occur_are_refused_and_excluded_ones_are_named() -> None:
    total = counted(Fair(exclude=("B", "C")), spans("A[0,2) B[4,5)"), [])

    with pytest.raises(UsageError, match="no span is labelled 'X'"):
        Fair(labels=("A", "X")).check(total)
    Fair(labels=("A", "X"), exclude=("X",)).check(total)  # in FairEval, too, the label is then left out
    with pytest.warns(CluevalWarning, match="fair.exclude: no span has the label 'C'"):
        Fair(exclude=("B", "C")).check(total)


# Weights


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


def test_weights_of_no_errors_give_no_counts() -> None:
    assert weighted({}, DEFAULT_WEIGHTS) == (0.0, 0.0, 0.0, 0.0)


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


# Properties


@st.composite
def spans_with_tokens(draw: st.DrawFn) -> list[Span]:
    """Spans without gaps, of which some have a part of their tokens."""
    found = []
    for span in draw(any_spans(10, gaps=False)):
        held = None
        if len(span) and draw(st.integers(0, 3)) == 0:
            held = draw(st.frozensets(st.integers(span.start, span.end - 1), min_size=1))
        found.append(Span(span.start, span.end, span.label, tokens=held))
    return found


def shown(pair: Sequence[Any]) -> str:
    kind, *sides = pair
    return f"{kind} {[None if span is None else identity(span) for span in sides]}"


@given(spans_with_tokens(), spans_with_tokens())
@example(spans("A[0,2) A[0,2)"), spans("A[0,2)"))
@example([tokens("A[0,3)", 0, 2)], spans("A[0,3) A[2,3)"))
@example(spans("A[3,3)"), spans("A[0,5) A[3,4)"))
@example(spans("A[2,7) A[5,9) A[6,9) A[7,10)"), spans("A[4,7) A[5,10)"))  # the shorter of counted ones
@example(spans("A[0,5) A[5,10) A[6,12) A[8,11)"), spans("B[2,6) B[7,11)"))  # the first that was counted
def test_pairs_are_those_of_plain_lists(gold: list[Span], predicted: list[Span]) -> None:
    plain = pair_by_lists(
        *([item(s.label, s.start, s.end, s.tokens) for s in side] for side in (gold, predicted))
    )
    by_number = [
        (kind, None if i is None else gold[i], None if j is None else predicted[j]) for kind, i, j in plain
    ]

    assert sorted(map(shown, pair_up(gold, predicted))) == sorted(map(shown, by_number))


def test_many_spans_over_one_another_are_paired_as_plain_lists_are() -> None:
    random = Random(3)
    gold, predicted = ([_long_span(random) for _ in range(110)] for _ in range(2))
    plain = pair_by_lists(
        *([item(s.label, s.start, s.end, None) for s in side] for side in (gold, predicted))
    )

    assert Counter(kind for kind, *_ in pair_up(gold, predicted)) == Counter(kind for kind, *_ in plain)


def _long_span(random: Random) -> Span:
    start = random.randrange(60)
    return Span(start, start + 1 + random.randrange(30), random.choice("AB"))


SIDES = any_spans(), any_spans()


@given(*SIDES)
def test_traditional_counts_swap_with_the_sides(gold: list[Span], predicted: list[Span]) -> None:
    distinct = [list({identity(span): span for span in side}.values()) for side in (gold, predicted)]
    one, other = (
        {key: n for key, n in counted(Fair(), *sides).items() if key[0] == "traditional"}
        for sides in (distinct, distinct[::-1])
    )
    swapped = {"TP": "TP", "FN": "FP", "FP": "FN"}

    assert {(version, swapped[kind], label): n for (version, kind, label), n in one.items()} == other


@given(*SIDES)
def test_findings_are_what_is_counted(gold: list[Span], predicted: list[Span]) -> None:
    both = Case((tuple(gold), tuple(predicted)), (None, None))
    found = Counter(
        (error.kind, *(span.label for span in error[1:] if span)) for error in Fair().findings(both)
    )

    assert found == {
        key[1:]: n for key, n in Fair().count(both).items() if key[0] == "fair" and key[1] != "TP"
    }


# Many spans


def nested(number: int) -> tuple[list[Span], list[Span]]:
    ranges = [(place, 4 * number - place) for place in range(number)]
    return [Span(*each, "A") for each in ranges], [Span(start, end - 1, "A") for start, end in ranges]


def test_nested_spans_that_all_overlap_pair_with_their_nearest() -> None:
    assert Counter(kind for kind, *_ in pair_up(*nested(400))) == {"BEL": 399, "BES": 1}


def test_more_nested_spans_than_can_be_compared_are_refused() -> None:
    with pytest.raises(LimitError, match="more than 300,000 pairs of spans overlap"):
        list(pair_up(*nested(600)))


def test_many_equal_spans_are_no_pairs_to_compare() -> None:
    many = spans("A[0,4)") * 2000

    assert Fair().count(Case((tuple(many), tuple(many)), (None, None)))["fair", "TP", "A", "A"] == 2000
