"""Graded credit for partial overlap: the article's example, a naive model, and its own laws."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clueval.core.count import Plan, count
from clueval.core.document import Document, Pair
from clueval.core.span import Span
from clueval.files.errors import OverlapError, UsageError
from clueval.metrics.partial import Partial, glued, pairs_of
from tests.cases import any_spans, counted, report, spans

GOLD, PREDICTED = "party[190,346) party[351,473)", "party[0,86) party[190,325) party[330,346) party[351,473)"
"""The article's example."""


def score(gold: list[Span], predicted: list[Span], **options: Any) -> dict[str, Any]:
    return Partial(**options).scores(counted(Partial(**options), gold, predicted), ["label"])


def ranges(gold: str, predicted: str) -> str:
    """The pairs, as spans."""
    pairs = pairs_of(spans(gold), spans(predicted))
    return " ".join(f"{g.start}-{g.end}:{p.start}-{p.end}" for g, p in pairs)


# The article's example


def test_the_example_scores_what_the_article_says() -> None:
    found = report(Partial(), GOLD, PREDICTED)["per_label"]["party"]

    actual = [found[name] for name in ("tp_gold", "fp", "fn", "precision", "recall", "f1")]
    # The article rounds as it goes, so its last digit may be one off.
    assert actual == pytest.approx([1.6490, 2.351, 0.351, 0.4122, 0.8245, 0.5496], abs=1e-4)


# The steps


@pytest.mark.parametrize(
    ("gold", "predicted", "pairs"),
    [
        # in order of position alone, the long gold span would go to the first predicted one
        pytest.param("A[0,4) A[4,6)", "A[2,4) A[4,6)", "4-6:4-6 0-4:2-4", id="equal spans first"),
        pytest.param("A[2,2) A[3,6)", "A[0,5)", "3-6:0-5", id="zero length takes none from another"),
        pytest.param("A[0,9)", "A[1,2) A[3,9)", "0-9:1-2", id="gold is taken once, by the first"),
        pytest.param("A[0,2) A[2,9)", "A[1,9)", "0-2:1-9", id="the first gold span, not the best"),
        pytest.param("A[0,4) A[5,9)", "A[1,2) A[3,7)", "0-4:1-2 5-9:3-7", id="the next if it is taken"),
        pytest.param("A[0,2) A[2,9)", "A[1,4) A[5,8)", "0-2:1-4 2-9:5-8", id="passed over, still there"),
        pytest.param("A[0,3)", "A[3,5)", "", id="spans that touch do not pair"),
        pytest.param("A[3,3) A[3,3)", "A[3,3) A[3,3) A[3,3)", "3-3:3-3 3-3:3-3", id="zero length"),
        pytest.param("A[3,8)", "A[5,5)", "", id="zero length in another"),
        pytest.param("A[0,3)[7,9)", "A[4,6)", "", id="in a gap"),
    ],
)
def test_spans_pair_by_the_steps_of_the_article(gold: str, predicted: str, pairs: str) -> None:
    assert ranges(gold, predicted) == pairs


@pytest.mark.parametrize(
    ("gold", "predicted", "tp"),
    [
        ("A[0,4)", "A[0,4)", 1),
        ("A[0,4)", "A[3,5)", 0.75 / 4),
        ("A[0,3)[7,9)", "A[0,3)[7,10)", 0.75 * 5 / 6),
        ("A[0,3)[7,9)", "A[0,9)", 0.75 * 5 / 9),
        ("A[0,3)[3,5)", "A[0,5)", 1),
        ("A[3,3)", "A[3,3)", 1),
        ("A[3,8)", "A[5,5)", 0),
        ("A[0,4)", "B[0,4)", 0),
        ("outer[0,9) inner[2,4)", "inner[0,9) outer[0,9)", 1 + 0.75 * 2 / 9),
    ],
)
def test_a_pair_counts_the_share_that_both_have_of_the_longer_one(
    gold: str, predicted: str, tp: float
) -> None:
    assert report(Partial(), gold, predicted)["micro"]["tp_gold"] == pytest.approx(tp)


def test_the_label_of_several_layers_is_all_of_them() -> None:
    one, other = {"entity": "PER", "risk": "high"}, {"entity": "PER", "risk": None}

    found = score([Span(0, 3, one)], [Span(0, 3, other)])

    assert list(found["per_label"]) == ["PER|_", "PER|high"]
    assert found["micro"]["tp_gold"] == 0


# The report


def test_macro_is_the_mean_of_the_labels_and_micro_adds_them() -> None:
    found = report(Partial(factor=1), "A[0,4) B[10,12)", "A[0,2)")

    assert (found["per_label"]["A"]["f1"], found["per_label"]["B"]["f1"]) == (0.5, 0)
    assert [found["macro"][name] for name in ("recall", "precision", "f1")] == [0.25, 0.25, 0.25]
    assert (found["micro"]["recall"], found["micro"]["precision"]) == (0.25, 0.5)


def test_further_f_measures_stand_beside_f1() -> None:
    found = report(Partial(betas=(2, 0.5)), GOLD, PREDICTED)

    for entry in (found["micro"], found["per_label"]["party"]):
        p, r = entry["precision"], entry["recall"]
        assert entry["f2"] == pytest.approx(5 * p * r / (4 * p + r))
        assert entry["f0.5"] == pytest.approx(1.25 * p * r / (0.25 * p + r))


def test_further_macro_f_measures_are_the_mean_of_the_labels_as_f1_is() -> None:
    found = report(Partial(betas=(1, 2)), GOLD + " A[600,604)", PREDICTED + " A[600,603) A[607,609)")

    for name in ("f1", "f2"):
        labels = [entry[name] for entry in found["per_label"].values()]
        assert found["macro"][name] == pytest.approx(sum(labels) / 2)


def test_two_empty_sides_score_zero() -> None:
    found = score([], [], betas=(2,), glue=True)

    assert found["per_label"] == {}
    assert (found["micro"]["f1"], found["macro"]["f1"], found["macro"]["f2"]) == (0, 0, 0)
    assert found["glued"] == {"gold": 0, "predicted": 0}


# Gluing


def test_gluing_makes_spans_that_share_positions_one() -> None:
    joined = [span.fragments for span in glued(spans("A[0,3) A[2,4) A[4,5) A[5,9) A[8,8) A[9,9) A[9,9)"))]

    assert joined == [((0, 4),), ((4, 5),), ((5, 9),), ((9, 9),), ((9, 9),)]


def test_gluing_discontinuous_spans_joins_ranges_that_touch() -> None:
    assert [span.fragments for span in glued(spans("A[0,3)[7,9) A[2,5) A[5,7)"))] == [
        ((0, 5), (7, 9)),
        ((5, 7),),
    ]
    assert [span.fragments for span in glued(spans("A[0,3)[7,9) A[3,5)[8,9)"))] == [((0, 5), (7, 9))]


def test_glued_spans_score_as_one_and_are_counted() -> None:
    found = report(Partial(glue=True), "A[0,4) A[2,6) A[5,8) B[1,3)", "A[0,8)")

    assert (found["micro"]["gold"], found["micro"]["tp_gold"], found["micro"]["precision"]) == (2, 1, 1)
    assert found["glued"] == {"gold": 2, "predicted": 0}


# Bad input


@pytest.mark.parametrize(
    ("first", "second"), [("[0,4)", "[3,6)"), ("[0,9)", "[2,3)"), ("[0,4)", "[0,4)"), ("[3,8)", "[5,5)")]
)
@pytest.mark.parametrize("number", [0, 600])  # of other spans in the case
def test_overlapping_spans_of_a_label_are_an_error_that_names_both_and_the_document(
    first: str, second: str, number: int
) -> None:
    [one], [other] = spans(f"A{first}"), spans(f"A{second}")
    gold = [one, Span(other.start, other.end, "A", line=12), *(Span(0, 20, f"L{n}") for n in range(number))]
    pair = Pair(Document("d7", {"label": gold}, file="gold.xml"), Document("d7", {"label": []}))

    with pytest.raises(OverlapError) as caught:
        count([[pair]], Plan((Partial(),)))

    assert str(caught.value).replace(":12", "") == (
        "gold.xml, document 'd7': "
        f"gold spans {first} 'A' and {second} 'A' overlap, "
        "which metric 'partial' forbids within a label (correct them, or join them with Partial.glue; "
        "exact, fair, gate and muc count them)"
    )


def test_spans_that_overlap_without_touching_in_order_are_found() -> None:
    with pytest.raises(OverlapError, match=r"predicted spans \[0,9\) 'A' and \[4,6\) 'A' overlap"):
        counted(Partial(), [], spans("B[0,20) A[0,9) A[4,6)"))


def test_fragments_that_cross_without_sharing_a_position_are_no_overlap() -> None:
    assert report(Partial(), "A[0,3)[7,9) A[4,6)", "")["micro"]["gold"] == 2


def test_a_span_of_zero_length_may_touch_another() -> None:
    touching = "A[3,3) A[3,5) A[5,5) A[5,5)"

    assert report(Partial(), touching, touching)["micro"]["tp_gold"] == 4


@pytest.mark.parametrize(
    "options",
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
def test_settings_outside_their_range_are_an_error_that_shows_the_value(options: dict[str, Any]) -> None:
    ((name, value),) = options.items()
    shown = value[0] if isinstance(value, tuple) else value

    with pytest.raises(UsageError) as caught:
        Partial(**options)

    assert name.removesuffix("s") in str(caught.value)
    assert str(caught.value).endswith(f", not {shown!r}")


# Laws


@st.composite
def one_side(draw: st.DrawFn, labels: tuple[str, ...] = ("A", "AB", "B", "")) -> list[Span]:
    """Spans of a few labels, short and crowded; those of one label do not overlap, some have no length."""
    found = []
    for label in draw(st.sampled_from(labels)):
        end = 0
        for gap, length in draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), max_size=7)):
            found.append(Span(end + gap, end + gap + length, label))
            end += gap + length
    return draw(st.permutations(found))


SIDES = one_side(), one_side()
FACTORS = st.floats(0, 1)


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


@given(*SIDES, FACTORS)
@example(spans("A[0,0) A[0,1)"), spans("A[0,0) A[0,0) A[0,2)"), 0.75)
def test_true_positives_equal_the_naive_model(gold: list[Span], predicted: list[Span], factor: float) -> None:
    found = score(gold, predicted, factor=factor)

    labels = {span.label for span in gold + predicted}
    assert list(found["per_label"]) == sorted(labels)
    for label in labels:
        expected = float(naive(gold, predicted, label, factor))
        assert found["per_label"][label]["tp_gold"] == pytest.approx(expected, rel=1e-14)


@given(any_spans(), any_spans())
@example([], [Span(2, 2, "B"), Span(1, 4, "B", parts=[(1, 2), (3, 4)]), Span(2, 4, "B")])
def test_gluing_within_the_metric_is_gluing_first(gold: list[Span], predicted: list[Span]) -> None:
    first = [
        [span for label in "AB" for span in glued([each for each in side if each.label == label])]
        for side in (gold, predicted)
    ]
    within = score(gold, predicted, glue=True)

    assert within["micro"] == score(*first)["micro"]
    assert within["glued"] == {"gold": len(gold) - len(first[0]), "predicted": len(predicted) - len(first[1])}
