"""GATE's thresholds: what is counted at each score is what an evaluation of its own counts."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import at_most

from clueval.core.span import Span
from clueval.files.errors import UsageError
from clueval.metrics.gate import Gate, GateCounts
from clueval.metrics.gate import thresholds as thresholds_module
from clueval.metrics.gate.pairing import PAIRINGS, Component
from clueval.metrics.gate.thresholds import rounded
from clueval.metrics.metric import Side

Place = tuple[int, int]


def side(places: list[tuple[int, int, str]], scores: list[int]) -> Side:
    """Spans by start, length and label; their scores are hundredths and halves of them."""
    return Side(
        [
            Span(start, start + length, label, {"score": score / 200}, id=number)
            for number, ((start, length, label), score) in enumerate(zip(places, scores, strict=True))
        ]
    )


SPANS = st.tuples(st.integers(0, 8), st.sampled_from([0, 0, 1, 2, 3, 8]), st.sampled_from("AAB"))


@st.composite
def sides(draw: st.DrawFn) -> Side:
    places = draw(st.lists(SPANS, max_size=16))
    return side(places, draw(st.lists(st.integers(0, 12), min_size=len(places), max_size=len(places))))


def counts_at_each_threshold(metric: Gate, gold: Side, predicted: Side) -> list[tuple[float, GateCounts]]:
    return [(point.threshold, point.counts) for point in metric.curve(metric.count(gold, predicted))]


@at_most(150)
@given(sides(), sides(), st.sampled_from(PAIRINGS), st.sampled_from(["all", "rounded", "51"]))
@example(
    side([(0, 3, "A"), (0, 3, "A")], [0, 0]),
    side([(0, 0, "A"), (0, 3, "A"), (1, 2, "A")], [1, 2, 3]),
    "plugin",
    "all",
)
def test_counts_at_each_score_are_those_of_evaluations_of_their_own(
    gold: Side, predicted: Side, pairing: str, thresholds: str
) -> None:
    metric = Gate(score_feature="score", thresholds=thresholds, pairing=pairing)
    alone = Gate(pairing=pairing)

    for threshold, counts in counts_at_each_threshold(metric, gold, predicted):
        reached = [span for span in predicted.spans if span.features["score"] >= threshold]
        assert counts == alone.counts(alone.count(gold, Side(reached)))


def test_a_pair_is_given_up_for_a_better_one_and_what_it_leaves_free_is_taken() -> None:
    gold = side([(0, 4, "A"), (3, 6, "A")], [0, 0])  # [0,4) [3,9)
    # [2,9) takes the later target first; [3,9) has its place and puts it out, so it takes the other
    predicted = side([(2, 7, "A"), (3, 6, "A")], [4, 2])
    metric = Gate(score_feature="score")

    last, first, nothing = (counts[2:6] for _, counts in counts_at_each_threshold(metric, gold, predicted))

    assert nothing == (0, 0, 0, 0)
    assert first == (0, 1, 0, 0)
    assert last == Gate().counts(Gate().count(gold, predicted))[2:6]


def test_rounded_thresholds_pair_once_for_all_scores_between_two_hundredths(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    paired: list[int] = []
    count_component = thresholds_module.count_component

    def counting(problem: object, component: Component) -> list[int]:
        paired.append(len(component.responses))
        return count_component(problem, component)  # type: ignore[arg-type]

    monkeypatch.setattr(thresholds_module, "count_component", counting)
    gold = Side([Span(0, 9, "A")])
    predicted = Side([Span(0, 9, "A", {"score": 0.5 + n / 10_000}, id=n) for n in range(100)])

    report = Gate(score_feature="score", thresholds="rounded")
    curve = report.curve(report.count(gold, predicted))

    assert paired == [100]
    assert [point.threshold for point in curve] == [0.5, 0.51, math.inf]
    assert [point.counts.responses for point in curve] == [100, 0, 0]


@pytest.mark.parametrize("score", [1e308, -1e308, 1e15, 123456789.25])
def test_scores_of_any_size_can_be_rounded(score: float) -> None:
    assert rounded(score) == pytest.approx(score)
    metric = Gate(score_feature="score", thresholds="rounded")

    predicted = Side([Span(0, 3, "A", {"score": score})])

    assert sum(p.counts.responses for p in metric.curve(metric.count(predicted, predicted))) == 1


def test_very_many_scores_of_spans_over_one_another_are_refused_with_advice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(thresholds_module, "MOST_WORK", 10 * (20 + 100) - 1)
    nested = Side([Span(n, 50 - n, "A", {"score": n / 10}, id=n) for n in range(10)])

    with pytest.raises(
        UsageError, match=r"20 annotations, from position 0 on, overlap .* 10 scores: .* too long"
    ) as refusal:
        Gate(score_feature="score").count(nested, nested)

    assert "thresholds" in str(refusal.value)
    grid = Gate(score_feature="score", thresholds=(0.0, 0.5))
    assert [p.counts.responses for p in grid.curve(grid.count(nested, nested))] == [10, 5, 0]
