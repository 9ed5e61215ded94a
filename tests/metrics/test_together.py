"""All metrics through the public functions: files in, reports out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from corpora import Corpus, tagged_corpora, vrt, write
from hypothesis import given

from clueval import Document, Span, metrics, read, score
from clueval.cli import main
from clueval.files.errors import CluevalError, UsageError
from clueval.metrics import METRICS

COUNTED_ANYWHERE = ["levels", "exact", "fair", "partial", "gate", "muc", "confusion"]


@given(corpora=tagged_corpora())
def test_every_metric_counts_raw_text_as_it_counts_documents(
    tmp_path: Path, corpora: tuple[Corpus, Corpus]
) -> None:
    paths = [write(tmp_path / f"{n}.vrt", vrt(side)) for n, side in enumerate(corpora)]
    raw = score(*paths, metrics=COUNTED_ANYWHERE, layers={"x": 2})
    plain = score(*(read(path, {"x": 2}) for path in paths), metrics=COUNTED_ANYWHERE)

    if any(corpora[0]):
        assert raw.metrics == plain.metrics


def test_fair_from_span_files_is_the_same_raw_and_document_by_document(tmp_path: Path) -> None:
    gold = write(tmp_path / "g", "A\t1\t3\t1, 2, 3\nB\t2\t2\t2\n\nEMPTY\t999\t999\t999\n\nA\t1\t1\t1\n")
    predicted = write(tmp_path / "p", "A\t1\t2\t1, 2\nB\t2\t2\t2\n\nA\t4\t4\t4\n\nB\t1\t1\t1\n")

    raw = score(gold, predicted, metrics=["fair"])
    plain = score(read(gold), read(predicted), metrics=["fair"])

    assert raw.metrics == plain.metrics
    assert (raw.documents, plain.documents) == (3, 3)
    assert raw.metrics["fair"]["label"]["overall"]["fair"] == {
        "TP": 1,
        "FP": 1,
        "FN": 0,
        "LE": 1,
        "BE": 1,
        "BES": 1,
        "BEL": 0,
        "BEO": 0,
        "LBE": 0,
        "precision": pytest.approx(1 / 3),
        "recall": 0.5,
        "f1": pytest.approx(0.4),
    }


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
