"""A configuration file in the current folder holds defaults of options."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clueval.cli import main

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.conll").write_text("a\tB-X\tO\nb\tI-X\tB-Y\n", encoding="utf-8")
    return tmp_path


def scored(*arguments: str, capsys: Capture) -> tuple[dict[str, object], str]:
    assert main(["score", "a.conll", "a.conll", "--format", "json", *arguments]) == 0
    printed = capsys.readouterr()
    report: dict[str, object] = json.loads(printed.out)
    return report, printed.err


@pytest.mark.parametrize(
    ("name", "head", "table"),
    [("clueval.toml", "", "set"), ("pyproject.toml", "[tool.clueval]\n", "tool.clueval.set")],
)
def test_options_and_settings_come_from_the_file(
    name: str, head: str, table: str, folder: Path, capsys: Capture
) -> None:
    text = f'{head}metric = "partial"\nlayer = {{entity = 2}}\n[{table}.partial]\nfactor = 0.5\n'
    (folder / name).write_text(text, encoding="utf-8")

    report, error = scored(capsys=capsys)

    assert error.splitlines()[0] == f"clueval score: read {name} (--no-config ignores it)"
    assert str(report["signature"]).startswith("metrics:partial(factor=0.5")
    assert report["metrics"]["partial"].keys() == {"entity"}  # type: ignore[index]


def test_the_command_line_replaces_defaults(folder: Path, capsys: Capture) -> None:
    (folder / "clueval.toml").write_text('metric = "exact"\n[set.fair]\nfocus = "system"\n', encoding="utf-8")

    report, _ = scored("--metric", "levels", capsys=capsys)

    assert report["metrics"].keys() == {"levels"}  # type: ignore[attr-defined]


def test_no_config_ignores_the_file(folder: Path, capsys: Capture) -> None:
    (folder / "clueval.toml").write_text('metric = "exact"', encoding="utf-8")

    report, error = scored("--no-config", capsys=capsys)

    assert report["metrics"].keys() == {"levels"}  # type: ignore[attr-defined]
    assert "clueval.toml" not in error


def test_an_option_of_another_command_is_skipped(folder: Path, capsys: Capture) -> None:
    (folder / "clueval.toml").write_text('max-errors = 3\nlayer = ["x=2"]\nquiet = true\n', encoding="utf-8")

    report, error = scored(capsys=capsys)

    assert report["metrics"]["levels"].keys() == {"x"}  # type: ignore[index]
    assert error == ""


def test_a_pyproject_without_a_table_of_clueval_says_nothing(folder: Path, capsys: Capture) -> None:
    (folder / "pyproject.toml").write_text('[project]\nname = "x"\n', encoding="utf-8")

    assert "pyproject" not in scored(capsys=capsys)[1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("metric = ", "clueval.toml: is not TOML"),
        ('metrik = "exact"', "no command has an option 'metrik'; did you mean metric?"),
        ("merge = 3", "merge must be true or false, not an int"),
        ("[set.nope]\nx = 1", "set.nope: there is no such metric"),
        ("set = 3", "set must be a table for each metric"),
        ("metric = 1979-05-27", "metric must be text, a number or a list, not a date"),
    ],
)
def test_a_wrong_file_is_one_line(text: str, message: str, folder: Path, capsys: Capture) -> None:
    (folder / "clueval.toml").write_text(text, encoding="utf-8")

    assert main(["score", "a.conll", "a.conll"]) == 2

    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_table_with_the_name_of_a_command_is_for_this_command(folder: Path, capsys: Capture) -> None:
    (folder / "clueval.toml").write_text(
        'layer = ["x=2"]\n[set.partial]\nfactor = 0.5\n'
        '[score]\nmetric = "partial"\n[score.set.partial]\nglue = true\n[errors]\nmax-errors = 0\n',
        encoding="utf-8",
    )

    report, _ = scored(capsys=capsys)

    assert str(report["signature"]).startswith("metrics:partial(factor=0.5,glue=yes")
    assert report["metrics"]["partial"].keys() == {"x"}  # type: ignore[index]


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ('format = "conlleval"', "conventions a.conll a.conll"),
        ('format = "csv"', "score a.conll a.conll --cite levels.label.unlabelled.1.f1"),
        ('metric = "exact"', "errors a.conll a.conll"),
        ('scheme = "BIO"\ndocument-tag = "doc"', "score s.tsv s.tsv --text t.vrt"),
        ('document-tag = "doc"', "score a.conll a.conll"),
        ('annotation-set = "A"', "check a.conll"),
    ],
)
def test_a_default_that_does_not_apply_is_skipped(
    text: str, command: str, folder: Path, capsys: Capture
) -> None:
    (folder / "clueval.toml").write_text(text, encoding="utf-8")
    (folder / "s.tsv").write_text("start\tend\tlabel\n0\t1\tX\n", encoding="utf-8")
    (folder / "t.vrt").write_text("a\nb\n", encoding="utf-8")

    code = main(command.split())

    assert (code, capsys.readouterr().err.count("clueval.toml")) == (0, 1)


def test_the_ending_of_an_output_replaces_the_default_form(folder: Path) -> None:
    (folder / "clueval.toml").write_text('format = "csv"', encoding="utf-8")

    for name, begins in (("x.json", "{"), ("x", "metric,")):
        assert main(["score", "a.conll", "a.conll", "-o", name]) == 0
        assert (folder / name).read_text(encoding="utf-8").startswith(begins)


def test_a_value_that_no_command_has_is_an_error(folder: Path, capsys: Capture) -> None:
    (folder / "clueval.toml").write_text('format = "jsn"', encoding="utf-8")

    assert main(["conventions", "a.conll", "a.conll"]) == 2
    assert "format cannot be 'jsn' (one of text, json" in capsys.readouterr().err


def test_an_output_of_the_command_line_without_a_blank_replaces_that_of_the_file(folder: Path) -> None:
    (folder / "clueval.toml").write_text('output-file = "a.txt"\n', encoding="utf-8")

    assert main(["score", "a.conll", "a.conll", "-ob.txt"]) == 0

    assert (folder / "b.txt").exists()
    assert not (folder / "a.txt").exists()
