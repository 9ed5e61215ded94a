"""Files and options of a first try: the message says how it is done, or what was read."""

from __future__ import annotations

from pathlib import Path

import pytest

from clueval.cli import main

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("g.conll").write_text("John B-PER\nMay I-PER\nis O\n", encoding="utf-8")
    Path("p.conll").write_text("John B-PER\nMay O\nis O\n", encoding="utf-8")
    Path("e.conll").write_text("", encoding="utf-8")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            '[[{"entity_group": "PER", "start": 0, "end": 4}]]',
            "as a Hugging Face pipeline returns them (write a row",
        ),
        (
            '{"id": 1, "entities": []}',
            "has entities without texts (add the text of each row, or --input mentions",
        ),
    ],
)
def test_json_that_is_not_read_is_answered_with_what_is(row: str, message: str, capsys: Capture) -> None:
    Path("x.json").write_text(row, encoding="utf-8")

    assert main(["score", "x.json", "x.json"]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("metric", ["levels", "confusion"])
def test_overlapping_spans_are_refused_with_their_file_and_the_metrics_that_count_them(
    metric: str, capsys: Capture
) -> None:
    for name, spans in (("g", '[[0, 3, "A"]]'), ("p", '[[0, 3, "A"], [1, 2, "A"]]')):
        Path(f"{name}.jsonl").write_text(f'{{"id": 1, "text": "abc", "label": {spans}}}', encoding="utf-8")

    assert main(["score", "g.jsonl", "p.jsonl", "--metric", metric]) == 2
    error = capsys.readouterr().err
    assert error.startswith("clueval score: p.jsonl:1, document '1': spans ")
    assert f"metric '{metric}' cannot count such spans; exact, fair, gate and muc can" in error
    assert main(["diff", "g.jsonl", "g.jsonl", "p.jsonl", "--unlabelled"]) == 2
    assert capsys.readouterr().err.startswith("clueval diff: p.jsonl:1, document '1': spans ")


def test_a_layer_may_be_one_of_gold_alone(capsys: Capture) -> None:
    Path("r.conll").write_text("John B-PER B-high\nMay I-PER I-high\nis O O\n", encoding="utf-8")

    assert main(["masking", "r.conll", "p.conll", "--layer", "entity=2", "--layer", "risk=3:"]) == 0
    assert "risk: column 3, BIO, 1 gold span, not predicted" in capsys.readouterr().out.splitlines()
    for wrong in ("risk=", "risk=:", "risk=:3", "risk=3:2:", "=3:"):
        assert main(["score", "r.conll", "p.conll", "--layer", wrong]) == 2
        assert f"--layer {wrong!r} cannot be read" in capsys.readouterr().err


def test_a_limit_for_a_class_without_mentions_names_the_classes(capsys: Capture) -> None:
    assert main(["masking", "g.conll", "p.conll", "--fail-under", "entity_recall[high]=1", "-q"]) == 1

    assert "entity_recall[high] is undefined (the classes are _), and must" in capsys.readouterr().err


def test_masking_of_a_redacted_text_asks_for_the_option(capsys: Capture) -> None:
    Path("r.conll").write_text("[Name] O\nMay O\nis O\n", encoding="utf-8")

    assert main(["masking", "g.conll", "r.conll"]) == 2
    assert "must have the same text; for redacted texts add --redacted)" in capsys.readouterr().err


def test_masking_of_empty_files_says_that_nothing_was_checked(capsys: Capture) -> None:
    assert main(["masking", "e.conll", "e.conll"]) == 0

    out, err = capsys.readouterr()
    assert "no leaks" not in out
    assert "no documents, so nothing was checked" in out
    assert "e.conll is empty" in err
