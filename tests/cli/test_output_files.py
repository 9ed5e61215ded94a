"""The file of ``-o``: standard output, and the form by the ending of its name."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from clueval.cli import main

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.conll").write_text("a\tB-X\nb\tI-X\n", encoding="utf-8")
    (tmp_path / "p.conll").write_text("a\tB-X\n\nb\tB-X\n", encoding="utf-8")
    (tmp_path / "q.conll").write_text("a\tB-X\n\nb\tO\n", encoding="utf-8")
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
        ("r.txt", "F1 100.00 %"),
        ("r", "F1 100.00 %"),
    ],
)
def test_the_ending_of_the_file_gives_the_form(name: str, begins: str, folder: Path) -> None:
    assert main(["score", "a.conll", "a.conll", "-o", name]) == 0
    assert (folder / name).read_text(encoding="utf-8").startswith(begins)


def test_a_form_that_is_named_counts_more_than_the_ending(folder: Path) -> None:
    assert main(["score", "a.conll", "a.conll", "-o", "r.json", "--format", "csv"]) == 0
    assert (folder / "r.json").read_text(encoding="utf-8").startswith("metric,")


OUTPUTS = [
    ("errors p.conll q.conll --tsv", "comment\t"),
    ("errors p.conll q.conll --html", "<!doctype html>"),
    ("errors p.conll q.conll q.conll --html", "<!doctype html>"),
    ("conventions p.conll q.conll --html", "<!doctype html>"),
    ("diff p.conll q.conll p.conll --html", "<!doctype html>"),
    ("agree p.conll q.conll --tsv", "document\t"),
    ("agree p.conll q.conll --html", "<!doctype html>"),
    ("gate p.conll q.conll --gate-tsv", "evaluationId\t"),
    ("masking p.conll q.conll --tsv", "document\t"),
    ("masking p.conll q.conll --documents", "document\tclass\t"),
    ("score p.conll q.conll --save", '{"clueval_counts":'),
    ("curate p.conll q.conll -o c.conll --undecided", "document\t"),
    ("score p.conll q.conll -o", "F1 "),
    ("convert p.conll --to spans -o", "document\t"),
    ("merge p.conll -o", "document\t"),
    ("check p.conll -o", "p.conll: no problems"),
]


@pytest.mark.parametrize(("command", "begins"), OUTPUTS)
def test_every_output_may_be_the_standard_output(
    command: str, begins: str, folder: Path, capsys: Capture
) -> None:
    if "--html" in command:
        pytest.importorskip("jinja2")
    before = {*folder.iterdir(), folder / "c.conll"}

    assert main([*command.split(), "-", "-q"]) in (0, 1)
    printed = capsys.readouterr()

    assert printed.out.startswith(begins)
    assert printed.out.count(begins) == 1
    assert printed.err == ""
    assert {*folder.iterdir()} <= before


@pytest.mark.parametrize("command", ["errors", "masking"])
def test_a_spreadsheet_may_be_the_standard_output(command: str, folder: Path, capfdbinary: Any) -> None:
    pytest.importorskip("xlsxwriter")

    assert main([command, "p.conll", "q.conll", "--xlsx", "-", "-q"]) == 0
    assert capfdbinary.readouterr().out.startswith(b"PK")


@pytest.mark.parametrize("command", ["errors", "masking"])
@pytest.mark.parametrize("ending", ["html", "xlsx"])
def test_the_ending_of_a_page_or_spreadsheet_means_the_option(
    ending: str, command: str, folder: Path
) -> None:
    pytest.importorskip("jinja2")
    pytest.importorskip("xlsxwriter")

    assert main([command, "p.conll", "q.conll", "-o", f"one.{ending}"]) == 0
    assert main([command, "p.conll", "q.conll", f"--{ending}", f"two.{ending}"]) == 0
    one, two = (written_to(folder / f"{name}.{ending}") for name in ("one", "two"))
    assert one == two


def written_to(path: Path) -> dict[str, bytes]:
    """The content of a file; of a workbook that of its parts without the one with the time."""
    if path.suffix != ".xlsx":
        return {"": path.read_bytes()}
    with ZipFile(path) as book:
        return {name: book.read(name) for name in book.namelist() if name != "docProps/core.xml"}


def test_errors_are_printed_in_spite_of_quiet(folder: Path, capsys: Capture) -> None:
    assert main(["score", "p.conll", "q.conll", "-q", "--fail-under", "f1=1", "-o", "r.txt"]) == 1
    assert "is below 1" in capsys.readouterr().err
    assert main(["score", "p.conll", "no.conll", "-q"]) == 2
    assert "no such file" in capsys.readouterr().err
    assert main(["score", "p.conll", "q.conll", "-o", "r.txt"]) == 0
    assert "wrote r.txt" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("score p.conll q.conll --metric exact", "66.7 "),
        ("score p.conll q.conll --metric exact --format markdown", "66.7 |"),
        ("score p.conll q.conll --metric exact --format latex", "66.7 &"),
        ("conventions p.conll q.conll", "66.7 "),
        ("agree p.conll q.conll", " 66.7"),
        ("compare p.conll x=p.conll y=q.conll --resample-by sentence", "66.7 "),
    ],
)
def test_digits_are_the_decimals_of_tables(command: str, shown: str, folder: Path, capsys: Capture) -> None:
    assert main([*command.split(), "-q"]) == 0
    assert "66.67" in capsys.readouterr().out
    assert main([*command.split(), "-q", "--digits", "1"]) == 0
    found = capsys.readouterr().out
    assert shown in found
    assert "66.67" not in found.partition("difference")[0]
