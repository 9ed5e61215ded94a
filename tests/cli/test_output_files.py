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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            "score a.conll a.conll -o r.html",
            "-o r.html: the result cannot be written as html (-o writes text",
        ),
        ("masking a.conll a.conll -o r.html", "--html FILE, --tsv FILE writes others"),
        ("score a.conll a.conll --save -", "only -o writes to standard output (name a file)"),
        ("errors a.conll a.conll --tsv -", "only -o writes to standard output (name a file)"),
    ],
)
def test_an_output_that_cannot_be_written_in_this_form_is_an_error(
    arguments: str, message: str, folder: Path, capsys: Capture
) -> None:
    assert main(arguments.split()) == 2
    assert message in capsys.readouterr().err
    assert [path.name for path in folder.iterdir()] == ["a.conll"]
