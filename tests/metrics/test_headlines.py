"""The rates of headlines and the sizes of entries are those of the report, for many shapes of corpora."""

from __future__ import annotations

from random import Random

import pytest

from clueval.core.exact import Exact
from clueval.core.levels import Levels
from clueval.core.metric import AnyMetric, Tally
from clueval.metrics.coverage import Coverage
from clueval.metrics.fair import Fair
from clueval.metrics.gate import Gate
from clueval.metrics.muc import Muc
from clueval.metrics.noisy import Noisy
from clueval.metrics.partial import Partial
from clueval.metrics.strings import Strings
from tests.cases import counted, spans
from tests.random_corpora import KINDS, MIXED, corpus, headline_difference, sum_of
from tests.random_texts import draw

OF_CASES: list[AnyMetric] = [Fair(), Fair(focus="system"), Muc(), Partial(glue=True, factor=1)]


@pytest.mark.parametrize("kind", [*KINDS, MIXED])
@pytest.mark.parametrize("metric", OF_CASES, ids=str)
def test_headlines_are_those_of_the_report(metric: AnyMetric, kind: str) -> None:
    random = Random(kind)
    for _ in range(5):
        assert headline_difference(metric, sum_of(corpus(random, kind), metric), ["x"]) is None


@pytest.mark.parametrize("metric", [Exact(), Levels(), Coverage(), Strings()], ids=str)
def test_headlines_of_flat_corpora_or_texts_are_those_of_the_report(metric: AnyMetric) -> None:
    random = Random(7)
    for _ in range(40):
        made = corpus(random, "flat") if isinstance(metric, Exact | Levels) else draw(random)
        assert headline_difference(metric, sum_of(made, metric), made.layers) is None


GOLD, PREDICTED = "A[0,4) A[6,8) B[10,12)", "A[0,4) B[6,8) B[10,13) B[20,22)"
"""One right, one label wrong, one boundary wrong, one too many. What MUC pairs has the label of gold."""


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        (Muc(), {"strict": (3, 4), "partial": (3, 4), "per_label.A.strict": (2, 2)}),
        (Gate(), {"all": (3, 4), "macro": (3, 4), "per_type.A": (2, 1), "per_type.B": (1, 3)}),
        (Fair(), {"overall.traditional": (3, 4), "overall.fair": (3, 4), "overall.weighted": (3, 4)}),
    ],
    ids=str,
)
def test_sizes_are_the_gold_and_predicted_spans_of_an_entry(
    metric: AnyMetric, expected: dict[str, tuple[int, int]]
) -> None:
    sizes = metric.sizes(counted(metric, spans(GOLD), spans(PREDICTED)), ["label"])

    assert {path: sizes[path] for path in expected} == expected


def test_headlines_of_noisy_are_the_spans_and_the_matches() -> None:
    numbers = {("gold", "A"): 2, ("gold", "B"): 1, ("predicted", "B"): 3, ("matched", "B"): 1}
    documents = {("document", 2, 0, 0): 1, ("document", 1, 3, 1): 1}

    headlines = Noisy().headlines(Tally(numbers | documents), ["label"])

    assert headlines == {
        "ALL": (3, 3, 1, 1),
        "per_label.A": (2, 0, 0, 0),
        "per_label.B": (1, 3, 1, 1),
        "file_mean.precision": (1, 1, 1 / 3, 1 / 3),
        "file_mean.recall": (2, 2, 1, 1),
        "file_mean.f1": (1, 1, 0.5, 0.5),
    }
