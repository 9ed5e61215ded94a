"""Curves over scores and average precision: by hand and against scikit-learn."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval import Result, score
from clueval.core.count import Plan, count
from clueval.core.document import Document, Pair
from clueval.core.exact import Exact
from clueval.core.levels import Levels
from clueval.core.metric import AnyMetric
from clueval.core.span import Span
from clueval.files.errors import UsageError
from clueval.metrics.curve import Curve
from clueval.metrics.fair import Fair
from clueval.metrics.strings import Strings
from tests.scoring import reports, scored

GOLD = [(0, 1, "A"), (2, 3, "A"), (4, 5, "A")]
SCORED = [(0, 1, "A", 0.9), (6, 7, "A", 0.8), (2, 3, "A", 0.5)]


def side(spans: Any) -> Document:
    """The document of rows of start, end, label and, maybe, score."""
    made = [
        Span(start, end, {"x": label}, {"p": score[0]} if score else {})
        for start, end, label, *score in spans
    ]
    return Document("d", {"x": made})


def curve(gold: Any, predicted: Any, metric: AnyMetric, **settings: Any) -> dict[str, Any]:
    found: dict[str, Any] = scored([side(gold)], [side(predicted)], Curve(metric, "p", **settings))["x"]
    return found


def per_label(result: Result, metric: str) -> list[tuple[str, Any]]:
    report = result.metrics[metric]["label"]
    section = report["labelled"]["label"]["1"] if metric == "levels" else report
    return list(section["per_label"].items())


def test_the_case_of_three_gold_spans() -> None:
    report = curve(GOLD, SCORED, Exact())

    assert report["average_precision"] == pytest.approx(1 / 3 + 2 / 3 * 1 / 3)
    assert [(each["threshold"], each["precision"], each["recall"]) for each in report["curve"]] == [
        (0.5, pytest.approx(2 / 3), pytest.approx(2 / 3)),
        (0.8, 0.5, pytest.approx(1 / 3)),
        (0.9, 1.0, pytest.approx(1 / 3)),
    ]
    assert max(each["f1"] for each in report["curve"]) == report["curve"][0]["f1"] == pytest.approx(2 / 3)
    assert report["per_label"]["A"]["average_precision"] == report["average_precision"]


SPANS = st.lists(
    st.tuples(st.integers(0, 9), st.sampled_from("AB"), st.sampled_from([0.1, 0.2, 0.5, 0.9])),
    unique_by=lambda each: each[:2],
    max_size=8,
).map(lambda spans: [(start, start + 1, label, score) for start, label, score in spans])


@pytest.mark.long
@given(SPANS, SPANS)
def test_average_precision_is_that_of_scikit_learn(gold: Any, predicted: Any) -> None:
    from sklearn.metrics import average_precision_score

    golds = {span[:3] for span in gold}
    found = {span[:3]: span[3] for span in predicted}
    every = sorted(golds | found.keys())
    if golds and found:
        # spans that were not predicted have the lowest score; the curve never reaches that threshold
        expected = average_precision_score(
            [each in golds for each in every], [found.get(each, -1.0) for each in every]
        )
        never = len([each for each in golds if each not in found])
        last = never / len(golds) * len(golds) / len(every)
        assert curve(gold, predicted, Exact())["average_precision"] == pytest.approx(expected - last)


@pytest.mark.parametrize(
    ("metric", "settings"),
    [
        (Exact(), {}),
        (Exact(), {"thresholds": (0.2, 0.5)}),
        (Exact(min_overlap=0.5), {"thresholds": (0.2, 0.5)}),
    ],
)
@given(SPANS, SPANS)
def test_the_curve_at_a_score_is_the_report_on_what_has_it(
    metric: Exact, settings: dict[str, Any], gold: Any, predicted: Any
) -> None:
    for point in curve(gold, predicted, metric, **settings)["curve"]:
        kept = [span for span in predicted if span[3] >= point["threshold"]]
        micro = scored([side(gold)], [side(kept)], metric)["x"]["micro"]
        assert {name: micro[name] for name in ("precision", "recall", "f1")} == {
            name: value for name, value in point.items() if name != "threshold"
        }


def test_the_curves_of_other_metrics_stand_beside_their_micro_average() -> None:
    found = curve(GOLD, SCORED, Levels())
    report = scored([side(GOLD)], [side(SCORED)], Levels())["x"]

    both = Curve(Levels(), "p").with_curves(report, found, ["x"])

    assert len(both["curve"]) == 11
    assert both["labelled"]["x"]["1"]["per_label"]["A"]["average_precision"] == both["average_precision"]
    assert "curve" not in both["labelled"]["x"]["2"]["per_label"]["A"]


def test_a_score_of_a_repeated_span_is_a_threshold_at_which_nothing_changes() -> None:
    report = curve(GOLD[:1], [(0, 1, "A", 0.9), (0, 1, "A", 0.2)], Exact())

    assert [(each["threshold"], each["precision"], each["recall"]) for each in report["curve"]] == [
        (0.2, 1.0, 1.0),
        (0.9, 1.0, 1.0),
    ]


@pytest.mark.parametrize("metric", ["exact", "levels", "partial"])
def test_a_label_has_each_of_the_given_thresholds_also_those_that_no_span_of_it_reaches(metric: str) -> None:
    predicted = [Span(3, 4, "B", {"p": 0.3}), Span(5, 6, "C", {"p": 0.1})]

    result = score([[Span(0, 1, "A")]], [predicted], metrics=metric, score_feature="p", thresholds=[0.2, 0.5])

    curves = [entry["curve"] for _, entry in per_label(result, metric)]
    assert [[point["threshold"] for point in points] for points in curves] == [[0.2, 0.5]] * 3
    assert {point["f1"] for points in curves for point in points} == {0.0}


def test_only_metrics_with_micro_averages_have_curves() -> None:
    with pytest.raises(UsageError, match="metric 'fair' has no micro average"):
        Curve(Fair(), "p")


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (None, "has no score"),
        *[
            (value, "has no number as its score")
            for value in (math.nan, 10**400, "high", "1_0", "inf", True, [1])
        ],
    ],
)
@pytest.mark.parametrize("thresholds", [None, (0.5,)])
def test_a_score_must_be_a_number(value: object, says: str, thresholds: tuple[float, ...] | None) -> None:
    advice = r"\(every predicted span needs a finite number in this feature\)"
    with pytest.raises(
        UsageError, match=rf"document 'd': the predicted span \[0,1\) 'A' {says} 'p' {advice}$"
    ):
        curve(GOLD, [(0, 1, "A", value)], Exact(), thresholds=thresholds)


def test_the_order_of_spans_and_the_parts_of_a_corpus_change_nothing() -> None:
    metric = Curve(Exact(), "p")
    whole = scored([side(GOLD), side(GOLD[:1])], [side(SCORED[::-1]), side(SCORED[:1])], metric)
    bags = [count([[Pair(side(GOLD[:n]), side(SCORED[:n]))]], Plan((metric,))) for n in (1, 3)]
    bags[0].include(bags[1])

    assert reports(bags[0], Plan((metric,))) == whole


def test_a_layer_may_have_full_stops_in_its_name() -> None:
    gold = Document("d", {"a.b": [Span(0, 1, {"a.b": "A"})]})
    predicted = Document("d", {"a.b": [Span(0, 1, {"a.b": "A"}, {"p": 0.5})]})

    found = scored([gold], [predicted], Curve(Levels(), "p"))["a.b"]

    assert found["per_label"]["A"]["average_precision"] == 1.0


def test_predicted_spans_without_a_place_are_predicted_at_their_score() -> None:
    placed = {"x": [Span(0, 3, {"x": "A"}, {"p": 0.9})]}
    gold, predicted = (Document("d", placed, text="Ann", unit="character") for _ in range(2))
    lost = Document("d", {"x": [Span(0, 0, {"x": "A"}, {"p": 0.5, "mention": "Bob"})]}, unit="character")
    pairs = [Pair(gold, predicted), Pair(Document("d", {}, unit="character"), lost, beside=True)]

    for metric in (Exact(), Strings()):
        made = Curve(metric, "p", None if metric == Exact() else (0.5, 0.9))
        points = made.scores(made.count_documents(pairs, "x", {}), ["x"])["curve"]
        assert [(each["threshold"], each["precision"]) for each in points] == [(0.5, 0.5), (0.9, 1.0)]
