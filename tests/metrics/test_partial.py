"""Graded credit for partial overlap, against the article's example, a naive model and its own laws."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clueval.core.span import Span
from clueval.files.errors import OverlapError, UsageError
from clueval.metrics.counting import f_measure
from clueval.metrics.metric import Side
from clueval.metrics.partial import Partial, PartialMatch, by_label, glued, matches, refuse_overlaps
from clueval.spans.document import Document
from clueval.spans.flat import by_position

CONTRACT = (
    "This DIAGNOSTIC PLATFORM BENCHMARKING STUDY AND EVALUATION AGREEMENT (the “Agreement”) is made and "
    "entered into as of the last date of signature below (the “Effective Date”), by and between ProYard "
    "Services, a Delaware corporation having its principal place of business at 2140 Science Center Drive "
    "Burley, San Diego, CA, USA, ID 83318 (“PartyA”) and ZOEMENS AG, a German corporation having its "
    "principal place of business at Nuernbergerstrasse 89, 23626 Ratekau (“PartyB”)."
)
"""The text of the article's example: its gold spans are the two parties."""


def part(first: str, last: str) -> Span:
    """The span of the contract from where `first` begins to where `last` ends."""
    start = CONTRACT.index(first)
    return Span(start, CONTRACT.index(last, start) + len(last), "party")


GOLD = [part("ProYard", "(“PartyA”)"), part("ZOEMENS", "(“PartyB”)")]
PREDICTED = [
    part("This", "(the “Agreement”)"),
    # The article prints this one with the comma after it, but counts 135 characters, which is without.
    part("ProYard", "CA, USA"),
    part("83318", "(“PartyA”)"),
    part("ZOEMENS", "(“PartyB”)"),
]


def spans(*ranges: tuple[int, int], label: str = "A") -> list[Span]:
    return [Span(start, end, label) for start, end in ranges]


def partial_matches(gold: Iterable[Span], predicted: Iterable[Span]) -> list[PartialMatch]:
    """The pairs as the metric counts them: label by label."""
    sides = by_label(gold), by_label(predicted)
    for name, groups in zip(("gold", "predicted"), sides, strict=True):
        for group in groups.values():
            refuse_overlaps(group, name)
    golds, predicteds = sides
    return [
        match
        for label in sorted(golds.keys() & predicteds.keys())
        for match in matches(golds[label], predicteds[label])
    ]


def glue_spans(found: Iterable[Span]) -> list[Span]:
    groups = by_label(found)
    return sorted((span for label in sorted(groups) for span in glued(groups[label])), key=by_position)


def ranges(found: Iterable[PartialMatch]) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """The pairs as ((start, end) of gold, (start, end) of predicted)."""
    return [((m.gold.start, m.gold.end), (m.predicted.start, m.predicted.end)) for m in found]


def score(gold: Sequence[Span], predicted: Sequence[Span], **settings: Any) -> dict[str, Any]:
    metric = Partial(**settings)
    return metric.scores(metric.count(Side(gold), Side(predicted)), ["label"])


# The article's example


def test_the_example_has_the_positions_and_lengths_of_the_article() -> None:
    assert [(s.start, s.end) for s in GOLD] == [(190, 346), (351, 473)]
    assert [(s.start, s.end) for s in PREDICTED] == [(0, 86), (190, 325), (330, 346), (351, 473)]
    assert [len(GOLD[0]), len(PREDICTED[1])] == [156, 135]


def test_the_example_pairs_the_second_party_exactly_and_the_first_with_its_first_fragment() -> None:
    found = partial_matches(GOLD, PREDICTED)

    assert [(m.gold, m.predicted) for m in found] == [(GOLD[1], PREDICTED[3]), (GOLD[0], PREDICTED[1])]
    assert [round(m.factor, 4) for m in found] == [1, 0.8654]


def test_the_example_scores_what_the_article_says() -> None:
    report = score(GOLD, PREDICTED)["per_label"]["party"]

    actual = [report[name] for name in ("tp_gold", "fp", "fn", "precision", "recall", "f1")]
    # The article rounds as it goes, so its last digit may be one off.
    assert actual == pytest.approx([1.6490, 2.351, 0.351, 0.4122, 0.8245, 0.5496], abs=1e-4)


def test_the_example_scores_to_four_decimals_when_rounded_as_the_article_rounds() -> None:
    factor = round((partial_matches(GOLD, PREDICTED))[1].factor, 4)
    tp = round(1 + 0.75 * factor, 4)
    precision, recall = math.floor(tp / 4 * 10_000) / 10_000, round(tp / 2, 4)

    assert (factor, tp, round(4 - tp, 4), round(2 - tp, 4)) == (0.8654, 1.6490, 2.351, 0.351)
    assert (precision, recall, round(f_measure(precision, recall), 4)) == (0.4122, 0.8245, 0.5496)


def test_the_example_is_as_exact_as_a_float_where_nothing_is_rounded() -> None:
    report = score(GOLD, PREDICTED)["micro"]

    tp = 1 + Fraction(3, 4) * Fraction(135, 156)
    assert report["tp_gold"] == report["tp_predicted"] == pytest.approx(float(tp), rel=1e-15)
    assert report["precision"] == pytest.approx(float(tp / 4), rel=1e-15)
    assert report["recall"] == pytest.approx(float(tp / 2), rel=1e-15)


# The steps


@pytest.mark.parametrize(
    ("gold", "predicted", "pairs"),
    [
        # in order of position alone, the long gold span would go to the first predicted one
        pytest.param(
            [(0, 4), (4, 6)], [(2, 4), (4, 6)], [((4, 6), (4, 6)), ((0, 4), (2, 4))], id="equal spans first"
        ),
        pytest.param(
            [(2, 2), (3, 6)], [(0, 5)], [((3, 6), (0, 5))], id="zero length takes none from another"
        ),
        pytest.param([(0, 9)], [(1, 2), (3, 9)], [((0, 9), (1, 2))], id="gold is taken once, by the first"),
        pytest.param([(0, 2), (2, 9)], [(1, 9)], [((0, 2), (1, 9))], id="the first gold span, not the best"),
        pytest.param(
            [(0, 4), (5, 9)],
            [(1, 2), (3, 7)],
            [((0, 4), (1, 2)), ((5, 9), (3, 7))],
            id="the next if it is taken",
        ),
        pytest.param(
            [(0, 2), (2, 9)],
            [(1, 4), (5, 8)],
            [((0, 2), (1, 4)), ((2, 9), (5, 8))],
            id="passed over, still there",
        ),
        pytest.param([(0, 3)], [(3, 5)], [], id="spans that touch do not pair"),
    ],
)
def test_spans_pair_by_the_steps_of_the_article(gold: Any, predicted: Any, pairs: Any) -> None:
    assert ranges(partial_matches(spans(*gold), spans(*predicted))) == pairs


def test_equal_spans_of_zero_length_pair_one_to_one() -> None:
    report = score(spans((3, 3), (3, 3)), spans((3, 3), (3, 3), (3, 3)))["micro"]

    assert (report["tp_gold"], report["fn"], report["fp"]) == (2, 0, 1)


@pytest.mark.parametrize(
    ("gold", "predicted"),
    [
        (spans((5, 5)), spans((3, 8))),
        (spans((3, 8)), spans((5, 5))),
        (spans((5, 5), (9, 9)), spans((3, 8))),
        (spans((3, 8)), spans((5, 5), (9, 9))),
        (spans((5, 5)), spans((5, 8))),
        (spans((5, 5)), spans((6, 6))),
    ],
)
def test_a_span_of_zero_length_matches_only_its_equal(gold: list[Span], predicted: list[Span]) -> None:
    report = score(gold, predicted)["micro"]

    assert (partial_matches(gold, predicted)) == []
    assert (report["tp_gold"], report["fn"], report["fp"]) == (0, len(gold), len(predicted))


def test_an_unmatched_predicted_span_of_zero_length_is_a_false_positive() -> None:
    report = score(spans((0, 2)), spans((0, 2), (7, 7)))["micro"]

    assert (report["tp_predicted"], report["fp"]) == (1, 1)


def test_one_shared_position_is_enough() -> None:
    (match,) = partial_matches(spans((0, 4)), spans((3, 5)))

    assert (match.overlap, match.longest, match.factor, match.exact) == (1, 4, 0.25, False)


def test_spans_of_different_labels_are_counted_apart_and_may_overlap() -> None:
    gold = [Span(0, 9, "outer"), Span(2, 4, "inner")]
    predicted = [Span(0, 9, "inner"), Span(0, 9, "outer")]

    found = partial_matches(gold, predicted)

    assert [(m.gold.label, m.factor) for m in found] == [("inner", 2 / 9), ("outer", 1.0)]


def test_the_label_of_several_layers_is_all_of_them() -> None:
    one, other = {"entity": "PER", "risk": "high"}, {"entity": "PER", "risk": None}

    report = score([Span(0, 3, one)], [Span(0, 3, other)])

    assert list(report["per_label"]) == ["PER|_", "PER|high"]
    assert report["micro"]["tp_gold"] == 0


# The report


def test_macro_is_the_mean_of_the_labels_and_micro_adds_them() -> None:
    gold = spans((0, 4)) + spans((10, 12), label="B")
    report = score(gold, spans((0, 2)), factor=1)

    assert report["per_label"]["A"]["f1"] == 0.5
    assert report["per_label"]["B"]["f1"] == 0
    assert (report["macro"]["recall"], report["macro"]["precision"], report["macro"]["f1"]) == (
        0.25,
        0.25,
        0.25,
    )
    assert (report["micro"]["recall"], report["micro"]["precision"]) == (0.25, 0.5)


def test_further_f_measures_stand_beside_f1() -> None:
    report = score(GOLD, PREDICTED, betas=(2, 0.5))

    for entry in (report["micro"], report["per_label"]["party"]):
        p, r = entry["precision"], entry["recall"]
        assert entry["f2"] == pytest.approx(5 * p * r / (4 * p + r))
        assert entry["f0.5"] == pytest.approx(1.25 * p * r / (0.25 * p + r))


def test_further_macro_f_measures_are_the_mean_of_the_labels_as_f1_is() -> None:
    report = score(GOLD + spans((0, 4)), PREDICTED + spans((0, 3), (7, 9)), betas=(1, 2))

    for name in ("f1", "f2"):
        labels = [entry[name] for entry in report["per_label"].values()]
        assert report["macro"][name] == pytest.approx(sum(labels) / 2)
        assert report["macro"][name] != pytest.approx(report["micro"][name], rel=1e-3)


def test_without_further_betas_a_report_has_the_nine_numbers_and_no_more() -> None:
    assert set(score(GOLD, PREDICTED)["micro"]) == {
        *("precision", "recall", "f1", "gold", "predicted", "tp_gold", "fn", "tp_predicted", "fp")
    }


def test_two_empty_sides_score_zero() -> None:
    report = score([], [], betas=(2,), glue=True)

    assert report["per_label"] == {}
    assert (report["micro"]["f1"], report["macro"]["f1"], report["macro"]["f2"]) == (0, 0, 0)
    assert report["glued"] == {"gold": 0, "predicted": 0}


# Gluing


def test_gluing_makes_overlapping_spans_of_a_label_one() -> None:
    joined = glue_spans(spans((5, 9), (0, 3), (2, 4), (4, 5), (8, 8)))

    assert joined == spans((0, 4), (4, 5), (5, 9))


def test_gluing_leaves_other_labels_apart() -> None:
    both = [Span(0, 4, "A"), Span(2, 6, "B")]

    assert glue_spans(both) == both


def test_a_glued_span_keeps_where_its_first_part_came_from() -> None:
    (one,) = glue_spans([Span(2, 6, "A", id="second", line=9), Span(0, 4, "A", id="first", line=7)])

    assert (one.id, one.line) == ("first", 7)


def test_glued_spans_score_as_one_and_are_counted() -> None:
    report = score(spans((0, 4), (2, 6), (5, 8)), spans((0, 8)), glue=True)

    assert (report["micro"]["gold"], report["micro"]["tp_gold"], report["micro"]["f1"]) == (1, 1, 1)
    assert report["glued"] == {"gold": 2, "predicted": 0}


# Bad input


@pytest.mark.parametrize(
    ("first", "second"), [((0, 4), (3, 6)), ((0, 9), (2, 3)), ((0, 4), (0, 4)), ((3, 8), (5, 5))]
)
def test_overlapping_spans_of_a_label_are_an_error_that_names_both_and_the_document(
    first: tuple[int, int], second: tuple[int, int]
) -> None:
    document = Document("d7", {}, file="gold.xml")
    found = [Span(*first, "A"), Span(*second, "A", line=12)]

    with pytest.raises(OverlapError) as caught:
        Partial().count(Side(found, document=document), Side([]))

    assert str(caught.value) == (
        "gold.xml:12, document 'd7': "
        f"gold spans [{first[0]},{first[1]}) 'A' and [{second[0]},{second[1]}) 'A' overlap, "
        "which metric 'partial' forbids within a label (correct them, or join them with Partial.glue; "
        "exact, fair, gate and muc count them)"
    )


def test_overlapping_spans_are_an_error_of_the_function_too() -> None:
    with pytest.raises(OverlapError, match=r"predicted spans \[0,4\) 'A' and \[3,6\) 'A' overlap"):
        partial_matches([], spans((0, 4), (3, 6)))


def test_spans_are_found_to_overlap_when_they_are_not_neighbours_in_the_order_given() -> None:
    with pytest.raises(OverlapError, match=r"\[0,9\) 'A' and \[2,3\) 'A'"):
        partial_matches(spans((2, 3), (20, 30), (0, 9)), [])


def test_a_span_of_zero_length_may_touch_another() -> None:
    touching = spans((3, 3), (3, 5), (5, 5), (5, 5))

    assert len(partial_matches(touching, touching)) == 4


@pytest.mark.parametrize(
    "settings",
    [
        {"factor": -0.1},
        {"factor": 1.1},
        {"factor": math.nan},
        {"factor": "0.75"},
        {"factor": True},
        {"glue": 1},
        {"betas": 2},
        {"betas": [2]},
        {"betas": (0,)},
        {"betas": (-1,)},
        {"betas": (math.inf,)},
        {"betas": (math.nan,)},
        {"betas": ("2",)},
    ],
    ids=str,
)
def test_settings_outside_their_range_are_an_error_that_shows_the_value(settings: dict[str, Any]) -> None:
    ((name, value),) = settings.items()
    shown = value[0] if isinstance(value, tuple) else value

    with pytest.raises(UsageError) as caught:
        Partial(**settings)

    assert name.removesuffix("s") in str(caught.value)
    assert str(caught.value).endswith(f", not {shown!r}")


# Laws


@st.composite
def one_side(draw: st.DrawFn) -> list[Span]:
    """Spans of a few labels, short and crowded; those of one label do not overlap, some have no length."""
    found = []
    for label in draw(st.sampled_from(["A", "AB", "B", ""])):
        end = 0
        for gap, length in draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), max_size=7)):
            found.append(Span(end + gap, end + gap + length, label))
            end += gap + length
    return draw(st.permutations(found))


@st.composite
def any_spans(draw: st.DrawFn) -> list[Span]:
    pairs = draw(
        st.lists(st.tuples(st.integers(0, 12), st.integers(0, 5), st.sampled_from("AB")), max_size=9)
    )
    return [Span(start, start + length, label) for start, length, label in pairs]


factors = st.floats(0, 1)


def naive(gold: list[Span], predicted: list[Span], label: str, factor: float) -> Fraction:
    """True positives as a fraction, by the rules of the article word for word; cubic."""
    expected = sorted((s.start, s.end) for s in gold if s.label == label)
    actual = sorted((s.start, s.end) for s in predicted if s.label == label)
    tp = Fraction(0)
    for pair in list(actual):
        if pair in expected:
            expected.remove(pair)
            actual.remove(pair)
            tp += 1
    for start, end in actual:
        for taken in expected:
            overlap = len(set(range(start, end)) & set(range(*taken)))
            if overlap:
                tp += Fraction(factor) * Fraction(overlap, max(end - start, taken[1] - taken[0]))
                expected.remove(taken)
                break
    return tp


@given(one_side(), one_side(), factors)
@example(spans((0, 0), (0, 1)), spans((0, 0), (0, 0), (0, 2)), 0.75)
def test_true_positives_equal_the_naive_model(gold: list[Span], predicted: list[Span], factor: float) -> None:
    report = score(gold, predicted, factor=factor)

    labels = {span.label for span in gold + predicted}
    assert list(report["per_label"]) == sorted(labels)
    for label in labels:
        expected = float(naive(gold, predicted, label, factor))
        assert report["per_label"][label]["tp_gold"] == pytest.approx(expected, rel=1e-14)
    total = float(sum(naive(gold, predicted, label, factor) for label in labels))
    assert report["micro"]["tp_gold"] == pytest.approx(total, rel=1e-14)


@given(one_side(), one_side())
def test_factor_of_zero_counts_exact_matches_only(gold: list[Span], predicted: list[Span]) -> None:
    report = score(gold, predicted, factor=0)

    def multiset(side: list[Span]) -> Counter[tuple[int, int, str]]:
        return Counter((s.start, s.end, s.label) for s in side)

    assert report["micro"]["tp_gold"] == (multiset(gold) & multiset(predicted)).total()


@given(one_side(), factors)
def test_identical_sides_score_one(side: list[Span], factor: float) -> None:
    report = score(side, side, factor=factor, betas=(2,))

    rates = [
        entry[name] for entry in report["per_label"].values() for name in ("precision", "recall", "f1", "f2")
    ]
    assert set(rates) <= {1.0}
    assert report["micro"]["f1"] == bool(side)


@given(one_side(), one_side(), factors)
def test_true_and_false_positives_are_all_predicted_and_with_negatives_all_gold(
    gold: list[Span], predicted: list[Span], factor: float
) -> None:
    entry = score(gold, predicted, factor=factor)["micro"]

    assert (entry["gold"], entry["predicted"]) == (len(gold), len(predicted))
    assert entry["tp_predicted"] + entry["fp"] == pytest.approx(len(predicted))
    assert entry["tp_gold"] + entry["fn"] == pytest.approx(len(gold))
    assert min(entry["fp"], entry["fn"]) >= 0


@given(one_side(), one_side(), factors, factors)
def test_more_support_never_lowers_a_score(
    gold: list[Span], predicted: list[Span], one: float, other: float
) -> None:
    less, more = (score(gold, predicted, factor=factor)["micro"] for factor in sorted((one, other)))

    assert less["tp_gold"] <= more["tp_gold"]


@given(st.lists(st.tuples(one_side(), one_side()), max_size=4), st.randoms())
def test_counts_of_documents_add_up_to_those_of_one_document_with_all_of_them(
    documents: list[tuple[list[Span], list[Span]]], random: Random
) -> None:
    metric = Partial()
    tallies = [metric.count(Side(gold), Side(predicted)) for gold, predicted in documents]
    random.shuffle(tallies)

    def shifted(side: int) -> list[Span]:
        return [
            Span(s.start + 1000 * n, s.end + 1000 * n, s.label)
            for n, pair in enumerate(documents)
            for s in pair[side]
        ]

    assert sum(tallies, Counter()) == metric.count(Side(shifted(0)), Side(shifted(1)))


@given(one_side(), one_side())
def test_pairs_share_no_span_and_have_one_label_each(gold: list[Span], predicted: list[Span]) -> None:
    found = partial_matches(gold, predicted)

    assert len({id(m.gold) for m in found}) == len({id(m.predicted) for m in found}) == len(found)
    assert all(m.gold.label == m.predicted.label for m in found)
    assert all(0 < m.factor <= 1 for m in found)
    assert all(m.exact == (m.gold == m.predicted) == (m.factor == 1) for m in found)


@given(any_spans())
def test_glued_spans_cover_the_same_positions_and_never_overlap(found: list[Span]) -> None:
    joined = glue_spans(found)

    def covered(some: list[Span]) -> set[tuple[int, str]]:
        return {(position, s.label) for s in some for position in range(s.start, s.end)}

    assert covered(joined) == covered(found)
    assert glue_spans(joined) == joined
    assert all(not a.overlaps(b) for a in joined for b in joined if a is not b and a.label == b.label)


@given(any_spans(), any_spans())
def test_gluing_within_the_metric_is_gluing_first(gold: list[Span], predicted: list[Span]) -> None:
    within, first = Partial(glue=True), Partial()

    tally = within.count(Side(gold), Side(predicted))
    glued_first = first.count(Side(glue_spans(gold)), Side(glue_spans(predicted)))

    assert first.scores(tally, ["label"])["micro"] == first.scores(glued_first, ["label"])["micro"]
    lost = len(gold) - len(glue_spans(gold)), len(predicted) - len(glue_spans(predicted))
    assert within.scores(tally, ["label"])["glued"] == {"gold": lost[0], "predicted": lost[1]}
