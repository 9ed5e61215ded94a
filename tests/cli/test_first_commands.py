"""Commands that a newcomer writes from the README alone and that cannot work: the message says how it is done."""

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
    ("command", "message"),
    [
        ("score", "required: GOLD; - is standard input"),
        ("score g.conll p.conll --metric seqeval", "its numbers are those of 'exact'"),
        ("score g.conll p.conll --metric exact --fail-under exact.label.micro.f1=90", "micro.f1=0.9)"),
        ("masking g.conll p.conll --fail-under entity_recall=90", "entity_recall=0.9)"),
        ("masking g.conll p.conll --fail-over leaks=0", "documents_exposed counts documents that leak"),
        ("errors g.conll p.conll --metric exact", "those of --level 1 --labelled LAYER"),
        ("metrics seqeval", "its numbers are those of 'exact'"),
        ("compare s.clueval s.clueval", "has 1 document (score again with --resample-by sentence"),
        ("score e.conll e.conll --fail-if-worse s.clueval", "score the baseline with the same options"),
    ],
)
def test_a_command_that_cannot_work_says_how_it_is_done(command: str, message: str, capsys: Capture) -> None:
    assert main(["score", "g.conll", "p.conll", "--save", "s.clueval", "-q"]) == 0
    capsys.readouterr()

    try:
        code = main(command.split())
    except SystemExit as ended:
        code = int(str(ended.code))

    error = capsys.readouterr().err
    assert (code, error.count("\n")) == (2, 1)
    assert message in error


def test_masking_of_empty_files_says_that_nothing_was_checked(capsys: Capture) -> None:
    assert main(["masking", "e.conll", "e.conll"]) == 0

    out, err = capsys.readouterr()
    assert "no leaks" not in out
    assert "no documents, so nothing was checked" in out
    assert "e.conll is empty" in err
