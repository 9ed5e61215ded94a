"""All metrics through the public functions: files in, reports out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from corpora import write

from clueval import Document, Span, metrics, score
from clueval.cli import main
from clueval.files.errors import CluevalError, UsageError
from clueval.metrics import METRICS

COUNTED_ANYWHERE = ["levels", "exact", "fair", "partial", "gate", "muc", "confusion"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--metric", "fair(weights='LE = x')"],
            "fair(weights=...): weights formula, column 6: expected a weight",
        ),
        (["--metric", "levels(focus=system)"], "metric levels has no setting 'focus' (it has none)"),
        (["--metric", "levels"], "of one sequence overlap (metric 'levels' cannot count such spans"),
        (["--layer", "x=2"], "has no columns to name as layers"),
    ],
)
def test_settings_that_make_no_sense_are_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    spans = str(write(tmp_path / "spans.csv", "A\t1\t3\t1, 2, 3\nB\t2\t2\t2\n"))

    assert main(["score", spans, spans, *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_metrics_that_are_offered_are_the_known_ones() -> None:
    for name in METRICS:
        gold: list[Any] = []
        if name in COUNTED_ANYWHERE:
            assert list(score(gold, gold, metrics=[name]).metrics) == [name]
    with pytest.raises(UsageError, match="no metric is named"):
        score([], [], metrics=[])
    with pytest.raises(CluevalError, match="unknown metric"):
        score([], [], metrics=["f1"])


@pytest.mark.parametrize("metric", METRICS)
def test_spans_with_labels_in_layers_that_are_not_scored_are_counted(metric: str) -> None:
    spans = [Span(0, 2, {"x": "A", "y": "B"}), Span(3, 4, {"x": "A"})]
    documents = [Document("d", {"x": spans}, tokens=["w"] * 4)]

    assert list(score(documents, documents, metrics=metric).metrics[metric])


def test_each_class_of_a_metric_is_in_the_package_of_metrics() -> None:
    for name in metrics.METRICS:
        found = metrics.metric_class(name)
        assert getattr(metrics, found.__name__) is found
    with pytest.raises(AttributeError, match="has no attribute 'Accuracy'"):
        metrics.Accuracy  # noqa: B018  # it is asked for
