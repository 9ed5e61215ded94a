"""A saved result as the only argument of ``clueval score``: shown, and scored by other metrics."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clueval import load_result, score
from clueval.cli import main

Capture = pytest.CaptureFixture[str]
GOLD = "-DOCSTART- O\n\nAda B-PER\nKing I-PER\nin O\nRom B-LOC\n\n" * 4


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("gold.conll").write_text(GOLD, encoding="utf-8")
    Path("predicted.conll").write_text(GOLD.replace("I-PER", "O"), encoding="utf-8")
    score("gold.conll", "predicted.conll", metrics="exact", save="s.clueval")


def as_json(capsys: Capture, *arguments: str) -> dict[str, object]:
    assert main(["score", *arguments, "--format", "json", "-q"]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def test_a_saved_result_is_shown_as_it_was(capsys: Capture) -> None:
    whole = as_json(capsys, "gold.conll", "predicted.conll", "--metric", "exact")

    assert as_json(capsys, "s.clueval") == whole


@pytest.mark.parametrize(
    "options",
    [
        ["--metric", "fair"],
        ["--metric", "exact,levels,muc"],
        ["--metric", "partial(factor=0.25)"],
        ["--metric", "fair", "--intervals", "--confidence", "0.9"],
        ["--metric", "gate", "--fail-under", "f1=0.1"],
    ],
    ids=" ".join,
)
def test_a_saved_result_is_scored_by_other_metrics_as_the_files_are(
    options: list[str], capsys: Capture
) -> None:
    assert as_json(capsys, "s.clueval", *options) == as_json(
        capsys, "gold.conll", "predicted.conll", *options
    )


def test_a_gate_of_a_saved_result_fails(capsys: Capture) -> None:
    assert main(["score", "s.clueval", "--metric", "levels", "--fail-under", "exact.f1=0.9", "-q"]) == 2
    assert main(["score", "s.clueval", "--fail-under", "f1=0.9", "-q"]) == 1
    assert "exact.label.micro.f1: 0.5 is below 0.9" in capsys.readouterr().err
    gate = ["--fail-if-worse", "s.clueval", "--significant", "--allow-drop", "0.1"]
    assert main(["score", "s.clueval", *gate, "-q"]) == 0


def test_a_saved_result_of_other_metrics_is_saved_and_written() -> None:
    assert main(["score", "s.clueval", "--metric", "fair", "--save", "t.clueval", "-o", "t.json", "-q"]) == 0

    assert load_result("t.clueval").to_dict() == load_result("s.clueval").scored("fair").to_dict()
    assert json.loads(Path("t.json").read_text(encoding="utf-8"))["metrics"].keys() == {"fair"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--layer", "label=2"], "--layer is for texts, and s.clueval is a saved result"),
        (["--where", "label=PER"], "--where is for texts"),
        (["--resample-by", "sentence"], "--resample-by is for texts"),
        (["--ignore-label", "PER"], "--ignore-label is for texts"),
        (["--input", "conll"], "--input is for texts"),
        (["--gold-set", "a"], "--gold-set is for texts"),
        (["--metric", "masking"], "metric 'masking' cannot count this corpus any more"),
        (["-o", "s.clueval"], "is an input and cannot be overwritten"),
        (["predicted.conll"], "is a report or a saved result"),
    ],
)
def test_what_a_saved_result_cannot_do_is_one_line(
    arguments: list[str], message: str, capsys: Capture
) -> None:
    assert main(["score", "s.clueval", *arguments]) == 2
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1


def test_options_for_texts_in_a_configuration_file_are_skipped(capsys: Capture) -> None:
    shown = as_json(capsys, "s.clueval")
    Path("clueval.toml").write_text('metric = "fair"\nlayer = ["label=2"]\n', encoding="utf-8")

    assert as_json(capsys, "s.clueval") == shown
