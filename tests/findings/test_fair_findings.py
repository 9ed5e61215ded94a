from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from corpora import write
from hypothesis import given
from strategies import any_spans

from clueval import Document, Span
from clueval.cli import main
from clueval.findings.fair import FAIR_KINDS, fair_findings
from clueval.first.metrics.fair import Fair
from clueval.first.metrics.metric import Side

SAMPLES = Path(__file__).parents[2] / "clueval" / "samples" / "german"
Capture = pytest.CaptureFixture[str]


@given(any_spans(), any_spans())
def test_there_is_a_row_for_every_error_that_is_counted(gold: list[Span], predicted: list[Span]) -> None:
    tokens = [f"w{n}" for n in range(13)]
    own, other = (Document("d", {"label": side}, tokens=tokens) for side in (gold, predicted))

    rows = list(fair_findings(own, other))

    counts = Fair().scores(Fair().count(Side(gold), Side(predicted)), ["label"])["overall"]["fair"]
    assert Counter(row.kind for row in rows) == Counter(
        {kind: counts[kind] for kind in FAIR_KINDS if counts[kind]}
    )
    for row in rows:
        assert (row.side == "predicted") == (row.kind == "FP")
        assert len(row.other_texts) == (row.kind not in ("FN", "FP"))
        assert row.text == own.text_of(Span(row.start, row.end + 1))


def test_the_command_shows_types_and_filters_by_them(tmp_path: Path, capsys: Capture) -> None:
    paths = [str(SAMPLES / f"{side}.vrt") for side in ("gold", "predicted")]
    options = ["--layer", "entity=2", "--token-id", "4", "--metric", "fair"]

    assert main(["errors", *paths, *options, "--class", "LE,LBE"]) == 0
    shown = capsys.readouterr()
    assert "LE" in shown.out
    assert "BES" not in shown.out
    assert main(["errors", *paths, *options, "--tsv", str(tmp_path / "e.tsv")]) == 0
    kinds = Counter(line.split("\t")[2] for line in (tmp_path / "e.tsv").read_text("utf-8").split("\n")[1:-1])
    main(["score", *paths, *options, "--format", "json"])
    assert sum(kinds.values()) > 0
    assert main(["errors", *paths, *options, "--class", "partial"]) == 2
    assert "no error type 'partial'" in capsys.readouterr().err
    assert main(["errors", *paths, *options, "--html", str(tmp_path / "e.html")]) == 2


def test_nested_spans_have_their_rows(tmp_path: Path, capsys: Capture) -> None:
    gold = write(tmp_path / "g", "Das DET B-S|B-NP\nist V I-S|B-VP\n")
    predicted = write(tmp_path / "p", "Das DET B-S|B-VP\nist V I-S\n")

    assert main(["errors", str(gold), str(predicted), "--input", "conll2000", "--metric", "fair"]) == 0
    output = capsys.readouterr().out
    assert "LE" in output
    assert "FN" in output
