"""The file of ``-o``: standard output, and the form by the ending of its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from clueval.cli import main

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.conll").write_text("a\tB-X\nb\tI-X\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("command", ["score a.conll a.conll", "convert a.conll --to spans", "check a.conll"])
def test_a_hyphen_as_output_is_standard_output(command: str, folder: Path, capsys: Capture) -> None:
    assert main(command.split()) == 0
    expected = capsys.readouterr().out

    assert main([*command.split(), "-o", "-"]) == 0
    assert capsys.readouterr().out == expected
    assert not (folder / "-").exists()


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("r.json", "{"),
        ("r.CSV", "metric,sequence"),
        ("r.tsv", "metric\tsequence"),
        ("r.md", "1 document"),
        ("r.tex", "% "),
        ("r.txt", "1 document"),
        ("r", "1 document"),
    ],
)
def test_the_ending_of_the_file_gives_the_form(name: str, begins: str, folder: Path) -> None:
    assert main(["score", "a.conll", "a.conll", "-o", name]) == 0
    assert (folder / name).read_text(encoding="utf-8").startswith(begins)


def test_a_form_that_is_named_counts_more_than_the_ending(folder: Path) -> None:
    assert main(["score", "a.conll", "a.conll", "-o", "r.json", "--format", "csv"]) == 0
    assert (folder / "r.json").read_text(encoding="utf-8").startswith("metric,")
