"""What holds of the counts of every metric of cases: any order of spans, texts far apart, labels with other names."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from types import FunctionType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval.core.exact import Exact
from clueval.core.levels import Levels
from clueval.core.metric import Metric, Tally, added
from clueval.core.span import Span
from clueval.metrics.confusion import Confusion
from clueval.metrics.fair import Fair
from clueval.metrics.gate import Gate
from clueval.metrics.gate.pairing import PAIRINGS
from clueval.metrics.muc import Muc
from clueval.metrics.partial import Partial
from tests.cases import any_spans, counted, flat, moved, renamed

NAMES = {"A": "P", "B": "Q"}
"""New names of labels, in the same order."""


def all_spans(spans: list[Span]) -> list[Span]:
    return spans


def flat_by_label(spans: list[Span]) -> list[Span]:
    """The spans that overlap none of their label before them."""
    kept: list[Span] = []
    for span in spans:
        if not any(span.label == other.label and span.overlaps(other) for other in kept):
            kept.append(span)
    return kept


METRICS: list[tuple[Metric, Callable[[list[Span]], list[Span]]]] = [
    (Exact(), all_spans),
    (Exact(min_overlap=0.5), all_spans),
    (Levels(), flat),
    (Confusion(), flat),
    (Fair(), all_spans),
    (Muc(), all_spans),
    (Partial(), flat_by_label),
    (Partial(glue=True), all_spans),
    *((Gate(pairing=pairing), all_spans) for pairing in PAIRINGS),
]
"""The metrics, and the spans of those that are drawn which they count."""


def _id(parameter: object) -> str:
    return parameter.__name__ if isinstance(parameter, FunctionType) else str(parameter)[:40]


of_every_metric = pytest.mark.parametrize(("metric", "countable"), METRICS, ids=_id)


@of_every_metric
@given(gold=any_spans(), predicted=any_spans(), random=st.randoms(use_true_random=False))
def test_the_order_of_spans_changes_nothing(
    metric: Metric, countable: Any, gold: list[Span], predicted: list[Span], random: Random
) -> None:
    sides = [countable(side) for side in (gold, predicted)]
    shuffled = [random.sample(side, len(side)) for side in sides]

    assert counted(metric, *shuffled) == counted(metric, *sides)
    if not isinstance(metric, Fair | Gate):  # in which the order of a document that is `ordered` breaks ties
        assert counted(metric, *shuffled, ordered=True) == counted(metric, *sides)


@of_every_metric
@given(gold=any_spans(), predicted=any_spans(), more_gold=any_spans(), more_predicted=any_spans())
def test_counts_of_two_texts_are_those_of_both_in_one(
    metric: Metric,
    countable: Any,
    gold: list[Span],
    predicted: list[Span],
    more_gold: list[Span],
    more_predicted: list[Span],
) -> None:
    one = countable(gold), countable(predicted)
    other = countable(more_gold), countable(more_predicted)
    together = [[*side, *moved(more, 50)] for side, more in zip(one, other, strict=True)]

    assert counted(metric, *together) == added([(counted(metric, *one), 1), (counted(metric, *other), 1)])


@of_every_metric
@given(gold=any_spans(), predicted=any_spans())
def test_renamed_labels_are_renamed_in_the_counts(
    metric: Metric, countable: Any, gold: list[Span], predicted: list[Span]
) -> None:
    sides = [countable(side) for side in (gold, predicted)]
    tally = Tally()
    for key, number in counted(metric, *sides).items():
        tally[tuple(NAMES.get(part, part) for part in key)] += number

    assert counted(metric, *(renamed(side, NAMES) for side in sides)) == tally
