"""Sums: whole numbers are counted, floats are added with one rounding, so the order of addition is no choice."""

from __future__ import annotations

import builtins
import json
import pickle
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import LABELS, at_most, flat_spans

from clueval.core.span import Span
from clueval.files.errors import UsageError
from clueval.metrics import METRICS, metric_named
from clueval.metrics.counting import Counts, Tally, averages_of
from clueval.metrics.fair import Fair, parse_weights
from clueval.metrics.fair.weights import weigh
from clueval.metrics.gate import Gate, GateCounts, macro_report
from clueval.metrics.metric import Metric, Side
from clueval.metrics.partial import Partial
from clueval.spans.document import Document

SETTINGS: Mapping[str, dict[str, Any]] = {
    "fair": {"weights": {"LE": {"FP": 0.1, "FN": 0.7}, "BES": {"TP": 0.2, "FN": 0.3}, "FN": {"FN": 0.9}}},
    "partial": {"factor": 0.7, "betas": (0.3, 2)},
    "gate": {"score_feature": "score"},
}
EVERY = {name: metric_named(name, **SETTINGS.get(name, {})) for name in METRICS}
TOKENS = [f"w{n}" for n in range(14)]
LAYERS = ("label",)


# By hand ---------------------------------------------------------------------------------------------------


def test_ten_labels_with_a_tenth_right_have_a_tenth_as_their_mean() -> None:
    # ten times 0.1, added one after the other, is 0.9999999999999999
    per_label = {str(n): Counts(10, 10, 1, 1) for n in range(10)}

    averages = averages_of(per_label)

    assert averages["macro"]["precision"] == averages["weighted"]["recall"] == 0.1
    assert macro_report([GateCounts(10, 10, 1)] * 10)["recall_strict"] == 0.1


def test_the_further_f_measures_of_partial_have_a_mean_that_is_rounded_once() -> None:
    spans = [Span(0, 10, str(n)) for n in range(10)], [Span(0, 1, str(n)) for n in range(10)]
    metric = Partial(factor=1, betas=(2,))
    report = metric.scores(metric.count(*map(Side, spans)), LAYERS)

    assert report["macro"]["f2"] == report["per_label"]["0"]["f2"] == 0.1


def test_overlap_factors_of_labels_add_up_with_one_rounding() -> None:
    # 0.1 + 0.2 + 0.3 is 0.6000000000000001 if it is rounded twice
    gold = [Span(0, 10, label) for label in "ABC"]
    predicted = [Span(0, length, label) for length, label in enumerate("ABC", 1)]
    metric = Partial(factor=1)

    assert metric.scores(metric.count(Side(gold), Side(predicted)), LAYERS)["micro"]["tp_gold"] == 0.6


def test_weights_of_errors_add_up_with_one_rounding() -> None:
    weights = parse_weights("LE = 0.1 FP, BES = 0.2 FP, BEL = 0.3 FP")

    assert weigh({"LE": 1, "BES": 1, "BEL": 1}, weights, "FP") == 0.6


def test_average_precision_is_rounded_once() -> None:
    # right or wrong by falling score: 0 1 1 0 1 of three; 1/3 * (1/2 + 2/3 + 3/5) = 53/90
    gold = [Span(10 * n, 10 * n + 1, "A") for n in (1, 2, 4)]
    predicted = [Span(10 * n, 10 * n + 1, "A", {"score": 1 - n / 10}) for n in range(5)]
    metric = Gate(score_feature="score")

    report = metric.scores(metric.count(Side(gold), Side(predicted)), LAYERS)

    assert report["average_precision"]["strict"] == 53 / 90


def test_whole_numbers_stay_whole_in_a_sum_of_counts() -> None:
    total = Counts.total([Counts(1, 2, 1, 0.5), Counts(3, 2, 0, 0.25), Counts(2**60 + 1)])

    assert (total.gold, total.predicted, total.tp_gold, total.tp_predicted) == (2**60 + 5, 4, 1, 0.75)
    assert [type(number) for number in (total.gold, total.tp_predicted)] == [int, float]


def test_a_weight_that_no_sum_could_hold_is_refused() -> None:
    with pytest.raises(UsageError, match="the weight of LE as FP must be a number of 0 or more, up to 1e100"):
        Fair(weights={"LE": {"FP": 1e308}})


# Any order, any cuts ---------------------------------------------------------------------------------------


@st.composite
def documents(draw: st.DrawFn) -> list[tuple[Side, Side]]:
    return [
        tuple(side_of(str(n), draw(flat_spans()), draw(st.integers(0, 9))) for _ in range(2))
        for n in range(draw(st.integers(1, 7)))
    ]


def side_of(id_: str, spans: list[Span], seed: int) -> Side:
    """A side with a score for each span, among them such that add up with rounding."""
    scored = [
        Span(span.start, span.end, span.labels, {"score": (seed + n) % 10 / 10})
        for n, span in enumerate(spans)
    ]
    return Side(scored, document=Document(id_, {"label": scored}, tokens=TOKENS))


@contextmanager
def sum_of_whole_numbers() -> Iterator[None]:
    """The built-in `sum`, which refuses floats: from Python 3.12 on it adds them in another way."""
    real = sum

    def checked(values: Iterable[Any], /, start: Any = 0) -> Any:
        every = list(values)
        assert not any(isinstance(value, float) for value in (*every, start)), "use math.fsum for floats"
        return real(every, start)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(builtins, "sum", checked)
        yield


@pytest.mark.parametrize("metric", EVERY.values(), ids=EVERY)
@at_most(40)
@given(data=st.data(), pairs=documents())
def test_a_report_is_the_same_to_the_last_bit_in_any_order_and_with_any_cuts(
    metric: Metric, data: st.DataObject, pairs: list[tuple[Side, Side]]
) -> None:
    tallies = [metric.count(*pair) for pair in pairs]
    order = data.draw(st.permutations(range(len(tallies))))
    cut = data.draw(st.integers(0, len(tallies)))

    straight = together(tallies)
    parts = [together([tallies[n] for n in half]) for half in (order[cut:], order[:cut])]

    assert all(type(number) is int for number in straight.values())
    assert pickle.loads(pickle.dumps(straight)) == straight
    with sum_of_whole_numbers():
        report = metric.scores(straight, LAYERS)
    assert report == metric.scores(together(parts), LAYERS)
    assert json.loads(json.dumps(report)) == report


@pytest.mark.parametrize("name", ["fair", "gate", "muc", "partial"])
@pytest.mark.parametrize("side", [0, 1])
def test_metrics_that_need_every_span_refuse_a_filter(name: str, side: int) -> None:
    sides = [Side([Span(0, 2, "A", {"score": 1})])] * 2
    sides[side] = sides[side]._replace(counted=[False], document=Document("d7", {}))

    with pytest.raises(
        UsageError, match=f"document 'd7': metric {name!r} cannot leave spans out of the count"
    ):
        EVERY[name].count(*sides)


def together(tallies: Iterable[Tally]) -> Tally:
    total = Tally()
    for tally in tallies:
        total.update(tally)
    return total


def test_many_labels_make_the_same_averages_in_any_order() -> None:
    counts = {f"{label}{n}": Counts(7 + n, 5 + n, n % 7, n % 5) for n in range(40) for label in LABELS}
    backwards = dict(reversed(counts.items()))

    assert averages_of(counts) == averages_of(backwards)
