"""Sums: whole numbers are counted, floats are added with one rounding, so the order of addition is no choice."""

from __future__ import annotations

import builtins
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import LABELS, at_most, flat_spans

from clueval import Document, Span, UsageError, score
from clueval.core.metric import AnyMetric, Counts, averages_of
from clueval.metrics import METRICS, metric_named
from clueval.metrics.fair import Fair, parse_weights, weighted
from clueval.metrics.gate import Gate
from clueval.metrics.partial import Partial
from tests.cases import counted

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
    gold = [Span(10 * n + k, 10 * n + k + 1, str(n)) for n in range(10) for k in range(10)]
    predicted = [
        Span(10 * n + k, 10 * n + k + (1 if k == 0 else 2), str(n)) for n in range(10) for k in range(10)
    ]

    result = score([gold], [predicted], metrics=["exact", "gate"])

    assert result.get("exact.label.macro.precision") == result.get("exact.label.weighted.recall") == 0.1
    assert result.get("gate.label.macro.recall_strict") == 0.1


def test_the_further_f_measures_of_partial_have_a_mean_that_is_rounded_once() -> None:
    spans = [Span(0, 10, str(n)) for n in range(10)], [Span(0, 1, str(n)) for n in range(10)]
    metric = Partial(factor=1, betas=(2,))
    report = metric.scores(counted(metric, *spans), LAYERS)

    assert report["macro"]["f2"] == report["per_label"]["0"]["f2"] == 0.1


def test_overlap_factors_of_labels_add_up_with_one_rounding() -> None:
    # 0.1 + 0.2 + 0.3 is 0.6000000000000001 if it is rounded twice
    gold = [Span(0, 10, label) for label in "ABC"]
    predicted = [Span(0, length, label) for length, label in enumerate("ABC", 1)]
    metric = Partial(factor=1)

    assert metric.scores(counted(metric, gold, predicted), LAYERS)["micro"]["tp_gold"] == 0.6


def test_weights_of_errors_add_up_with_one_rounding() -> None:
    weights = parse_weights("LE = 0.1 FP, BES = 0.2 FP, BEL = 0.3 FP")

    assert weighted({"LE": 1, "BES": 1, "BEL": 1}, weights).predicted == 0.6


def test_average_precision_is_rounded_once() -> None:
    # right or wrong by falling score: 0 1 1 0 1 of three; 1/3 * (1/2 + 2/3 + 3/5) = 53/90
    gold = [Span(10 * n, 10 * n + 1, "A") for n in (1, 2, 4)]
    predicted = [Span(10 * n, 10 * n + 1, "A", {"score": 1 - n / 10}) for n in range(5)]

    result = score([gold], [predicted], metrics=[Gate(score_feature="score")])

    assert result.get("gate.label.average_precision.strict") == 53 / 90


def test_a_weight_that_no_sum_could_hold_is_refused() -> None:
    with pytest.raises(UsageError, match="the weight of LE as FP must be a number of 0 or more, up to 1e100"):
        Fair(weights={"LE": {"FP": 1e308}})


# Any order, any cuts ---------------------------------------------------------------------------------------


@st.composite
def documents(draw: st.DrawFn) -> list[tuple[Document, Document]]:
    return [
        tuple(document_of(str(n), draw(flat_spans()), draw(st.integers(0, 9))) for _ in range(2))
        for n in range(draw(st.integers(1, 7)))
    ]


def document_of(id_: str, spans: list[Span], seed: int) -> Document:
    """A document with a score for each span, among them such that add up with rounding."""
    scored = [
        Span(span.start, span.end, span.labels, {"score": (seed + n) % 10 / 10})
        for n, span in enumerate(spans)
    ]
    return Document(id_, {"label": scored}, tokens=TOKENS)


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
@at_most(30)
@given(data=st.data(), pairs=documents())
def test_a_report_is_the_same_to_the_last_bit_in_any_order_and_with_any_cuts(
    metric: AnyMetric, data: st.DataObject, pairs: list[tuple[Document, Document]]
) -> None:
    order = data.draw(st.permutations(range(len(pairs))))
    cut = data.draw(st.integers(0, len(pairs)))
    straight = score(*zip(*pairs, strict=True), metrics=[metric])
    halves = [[pairs[n] for n in half] for half in (order[cut:], order[:cut])]
    parts = [score(*zip(*half, strict=True), metrics=[metric]) for half in halves if half]

    with sum_of_whole_numbers():
        report = straight.metrics
    together = parts[0] if len(parts) == 1 else parts[0] + parts[1]

    assert report == together.metrics
    assert json.loads(json.dumps(report)) == report


@pytest.mark.parametrize("name", ["fair", "gate", "muc", "partial"])
def test_metrics_that_need_every_span_refuse_a_filter(name: str) -> None:
    text = [
        Document("d7", {"label": [Span(0, 2, "A", {"score": 1})], "kind": [Span(0, 2, "in")]}, tokens=TOKENS)
    ]

    with pytest.raises(UsageError, match=f"metric {name!r} cannot leave spans out of the count"):
        score(text, text, metrics=[EVERY[name]], where={"kind": ["in"]})


def test_many_labels_make_the_same_averages_in_any_order() -> None:
    counts = {f"{label}{n}": Counts(7 + n, 5 + n, n % 7, n % 5) for n in range(40) for label in LABELS}
    backwards = dict(reversed(counts.items()))

    assert averages_of(counts) == averages_of(backwards)
