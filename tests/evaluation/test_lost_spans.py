"""Predicted spans that have no place on the gold text: counted as wrong, listed, and at no position."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpora import write

from clueval import Document, Span, score
from clueval.cli import main
from clueval.evaluation.result import Result
from clueval.metrics.gate import Gate

pytest.importorskip("rapidfuzz")

METRICS = ["levels", "exact", "fair", "partial", "gate", "muc", "confusion"]
GOLD = "Frau O\nAnna B-PER\nWeiß I-PER\nsprach O\n"
PREDICTED = "Frau O\nAnna B-PER\nWeiß O\nsprach O\nxx B-LOC\n"


@pytest.fixture
def result(tmp_path: Path) -> Result:
    """Gold "Anna Weiß", predicted "Anna", and "xx" after the end of the gold text."""
    paths = write(tmp_path / "g.conll", GOLD), write(tmp_path / "p.conll", PREDICTED)
    return score(*paths, metrics=METRICS, align=True)


def test_positions_are_the_tokens_of_gold_in_every_metric_that_counts_them(result: Result) -> None:
    assert result.counted is not None
    positions = {
        metric: tally["positions", "all"]
        for (metric, _), tally in result.counted.tallies.items()
        if ("positions", "all") in tally
    }

    assert positions == {"exact": 4}
    assert result.tokens == 4


def test_token_accuracy_is_over_the_gold_text_alone(result: Result) -> None:
    # O B I O against O B O O: three of four
    assert result.metrics["exact"]["label"]["token_accuracy"] == 3 / 4


def test_lost_span_is_wrong_in_every_metric(result: Result) -> None:
    found = {metric: report["label"] for metric, report in result.metrics.items()}

    assert found["levels"]["labelled"]["label"]["4"]["per_label"]["LOC"]["fp"] == 1
    assert found["exact"]["per_label"]["LOC"]["fp"] == 1
    assert found["fair"]["per_label"]["LOC"]["fair"]["FP"] == 1
    assert found["partial"]["per_label"]["LOC"]["fp"] == 1
    assert found["gate"]["per_type"]["LOC"]["true_spurious_strict"] == 1
    assert found["muc"]["strict"]["spurious"] == 1
    assert "LOC" in str(found["confusion"])


def test_lost_span_is_counted_once_for_each_of_its_layers() -> None:
    both = Span(1, 2, {"entity": "PER", "risk": "high"})
    gold = Document("d", {"entity": (), "risk": ()}, tokens=["Frau"])
    predicted = Document("d", {"entity": [both], "risk": [both]}, tokens=["Frau", "xx"])

    metrics = score([gold], [predicted], metrics=["exact"], align=True).metrics["exact"]

    assert [metrics[layer]["micro"]["predicted"] for layer in ("entity", "risk")] == [1, 1]


def test_two_lost_spans_that_overlap_are_both_wrong() -> None:
    gold = Document("d", {"label": ()}, tokens=["Frau"])
    predicted = Document("d", {"label": [Span(1, 3, "A"), Span(2, 3, "A")]}, tokens=["Frau", "xx", "yy"])

    report = score([gold], [predicted], metrics=["muc"], align=True).metrics["muc"]["label"]

    assert report["strict"]["spurious"] == 2


def test_text_output_lists_every_lost_span(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [str(write(tmp_path / "g.conll", GOLD)), str(write(tmp_path / "p.conll", PREDICTED))]

    assert main(["score", *paths, "--align"]) == 0

    lines = capsys.readouterr().out.split("\n")
    title = next(number for number, line in enumerate(lines) if "no position in the gold text" in line)
    assert lines[title + 1].split() == ["document", "label", "start", "end_inclusive"]
    assert lines[title + 3].split() == ["1", "LOC", "4", "4"]


def test_text_output_has_no_list_where_every_span_has_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(write(tmp_path / "g.conll", GOLD))

    assert main(["score", path, path, "--align"]) == 0

    assert "no place" not in capsys.readouterr().out


def test_lost_span_is_counted_by_gate_if_its_own_text_has_it_within_the_frame() -> None:
    frame = {"Key:Section": [Span(0, 2, "Section")]}
    gold = Document("d", {"label": (), "Key:Section": [Span(0, 1, "Section")]}, tokens=["Frau", "kam"])
    inside = Document("d", {"label": [Span(1, 2, "A")]} | frame, tokens=["Frau", "xx", "kam"])
    outside = Document("d", {"label": [Span(3, 4, "A")]} | frame, tokens=["Frau", "xx", "kam", "yy"])

    for predicted, spurious in ((inside, 1), (outside, 0)):
        result = score([gold], [predicted], metrics=[Gate(containing="Key:Section")], align=True)
        assert result.metrics["gate"]["label"]["all"]["true_spurious_strict"] == spurious
