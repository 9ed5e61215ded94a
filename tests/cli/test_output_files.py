"""The file of ``-o``: standard output, and the form by the ending of its name."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from clueval.cli import main
from clueval.cli.commands import COMMANDS, command_called

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.conll").write_text("a\tB-X\nb\tI-X\n", encoding="utf-8")
    (tmp_path / "p.conll").write_text("a\tB-X\n\nb\tB-X\n", encoding="utf-8")
    (tmp_path / "q.conll").write_text("a\tB-X\n\nb\tO\n", encoding="utf-8")
    return tmp_path


def test_a_report_is_written_to_several_files_and_printed(folder: Path, capsys: Capture) -> None:
    given = ["-o", "r.json", "-o", "r.md", "-o", "-", "--format", "csv", "-q"]

    assert main(["score", "a.conll", "a.conll", *given]) == 0
    assert capsys.readouterr().out.startswith("metric,")
    assert (folder / "r.json").read_text(encoding="utf-8").startswith("{")
    assert (folder / "r.md").read_text(encoding="utf-8").startswith("F1 100.00 %")


LINES = {
    "score": "p.conll q.conll",
    "conventions": "p.conll q.conll",
    "errors": "p.conll q.conll",
    "compare": "p.conll x=p.conll y=q.conll --resample-by sentence",
    "diff": "p.conll q.conll p.conll",
    "masking": "p.conll q.conll",
    "agree": "p.conll q.conll",
    "profile": "p.conll q.conll",
    "threshold": "gold.jsonl scored.jsonl --score-feature score",
    "check": "p.conll",
}
"""Arguments of each command whose file of ``-o`` has a form by its ending."""

ANY_NAME = {"convert", "merge", "curate", "faireval", "completion"}
"""The file of ``-o`` is of documents, of FairEval's report, or a script."""

NO_FILE = {"formats", "guide", "help", "metrics", "samples"}

FORMS = [".txt", ".json", ".csv", ".tsv", ".md", ".tex"]


def test_every_command_is_in_these_tests() -> None:
    with_file = {name for name in COMMANDS if "-o" in command_called(name).by_flag}

    assert with_file == {*LINES} | ANY_NAME
    assert {*COMMANDS} == with_file | NO_FILE


@pytest.fixture
def scored(folder: Path) -> None:
    row = {"id": "1", "text": "Ada", "spans": [{"start": 0, "end": 3, "label": "P", "score": 0.5}]}
    for name in ("gold.jsonl", "scored.jsonl"):
        (folder / name).write_text(json.dumps(row) + "\n", encoding="utf-8")


@pytest.mark.usefixtures("scored")
@pytest.mark.parametrize("command", LINES)
@pytest.mark.parametrize("name", ["x.docx", "x.DOC", "x.log", "x.txt.bak", "x.docx.gz", "x.yaml", "1.0"])
def test_an_ending_that_is_no_form_is_an_error_that_names_the_forms(
    command: str, name: str, folder: Path, capsys: Capture
) -> None:
    before = {*folder.iterdir()}

    assert main([command, *LINES[command].split(), "-o", name]) == 2
    error = capsys.readouterr().err
    assert "is not the ending of a form" in error or f"{name!r} does not end in the name of a form" in error
    assert error.count("\n") == 1
    own = {"check": [".txt"]}
    assert all(ending in error for ending in own.get(command, FORMS))
    assert {*folder.iterdir()} == before


@pytest.mark.usefixtures("scored")
@pytest.mark.parametrize("command", LINES)
@pytest.mark.parametrize("name", ["x.txt", "x.TXT", "x.txt.gz"])
def test_txt_is_text(command: str, name: str, folder: Path, capsys: Capture) -> None:
    line = [command, *LINES[command].split()]
    assert main(line) in (0, 1)
    text = capsys.readouterr().out

    assert main([*line, "-o", name]) in (0, 1)
    content = (folder / name).read_bytes()
    assert (gzip.decompress(content) if name.endswith(".gz") else content).decode() == text


@pytest.mark.usefixtures("scored")
@pytest.mark.parametrize("command", [name for name in LINES if name != "check"])
@pytest.mark.parametrize("form", ["json", "csv", "tsv", "markdown", "latex"])
def test_the_ending_of_every_form_is_what_format_prints(
    command: str, form: str, folder: Path, capsys: Capture
) -> None:
    line = [command, *LINES[command].split()]
    name = {"markdown": "x.md", "latex": "x.tex"}.get(form, f"x.{form}")
    assert main([*line, "--format", form]) in (0, 1)
    printed = capsys.readouterr().out

    assert main([*line, "-o", name]) in (0, 1)
    assert main([*line, "-o", f"{name}.gz"]) in (0, 1)
    assert (folder / name).read_text(encoding="utf-8") == printed
    assert gzip.decompress((folder / f"{name}.gz").read_bytes()).decode() == printed


@pytest.mark.usefixtures("scored")
@pytest.mark.parametrize("command", LINES)
def test_a_hyphen_and_a_pipe_have_the_text_whatever_their_name(
    command: str, folder: Path, capsys: Capture
) -> None:
    line = [command, *LINES[command].split()]
    assert main(line) in (0, 1)
    text = capsys.readouterr().out
    assert main([*line, "-o", "-"]) in (0, 1)
    assert capsys.readouterr().out == text

    os.mkfifo(folder / "x.docx")
    reader = os.open(folder / "x.docx", os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert main([*line, "-o", "x.docx"]) in (0, 1)
        assert os.read(reader, 1 << 16).decode() == text
    finally:
        os.close(reader)


def test_the_open_file_of_standard_output_has_the_text(folder: Path) -> None:
    line = [sys.executable, "-m", "clueval", "score", "p.conll", "q.conll", "-q"]
    plain = subprocess.run(line, capture_output=True, check=True, timeout=60)
    found = subprocess.run([*line, "-o", "/dev/stdout"], capture_output=True, check=True, timeout=60)

    assert found.stdout == plain.stdout


def test_a_form_of_the_configuration_does_not_allow_another_ending(folder: Path, capsys: Capture) -> None:
    (folder / "clueval.toml").write_text('format = "json"\n', encoding="utf-8")

    assert main(["score", "p.conll", "q.conll", "-o", "x.docx"]) == 2
    assert "does not end in the name of a form" in capsys.readouterr().err
    assert main(["score", "p.conll", "q.conll", "-o", "x.csv"]) == 0
    assert (folder / "x.csv").read_text(encoding="utf-8").startswith("metric,")


def test_documents_go_to_files_of_any_name(folder: Path) -> None:
    for line in (
        "convert p.conll --to spans -o c.docx",
        "merge p.conll -o m.docx",
        "curate p.conll q.conll -o u.docx",
    ):
        assert main(line.split()) == 0
        assert (folder / line.split()[-1]).is_file()


OUTPUTS = [
    ("errors p.conll q.conll --format tsv -o", "document\t"),
    ("diff p.conll q.conll p.conll -o", "What changed: "),
    ("score p.conll q.conll -o", "F1 "),
    ("convert p.conll --to spans -o", "document\t"),
    ("merge p.conll -o", "document\t"),
    ("check p.conll -o", "p.conll: no problems"),
]


@pytest.mark.parametrize(("command", "begins"), OUTPUTS)
def test_the_result_of_every_command_may_be_the_standard_output(
    command: str, begins: str, folder: Path, capsys: Capture
) -> None:
    before = {*folder.iterdir()}

    assert main([*command.split(), "-", "-q"]) in (0, 1)
    printed = capsys.readouterr()

    assert printed.out.startswith(begins)
    assert printed.out.count(begins) == 1
    assert printed.err == ""
    assert {*folder.iterdir()} <= before


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
    assert re.search(r"66\.67|[+-]\d+\.\d\d", found) is None
