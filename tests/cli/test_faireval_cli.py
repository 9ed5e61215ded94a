"""``clueval faireval`` takes what FairEval's own program takes: ``--config``, token lists, a folder as `eval_out`."""

from __future__ import annotations

from pathlib import Path

import pytest

import clueval
from clueval.cli import main

Capture = pytest.CaptureFixture[str]

GOLD = "PER\t1\t2\t1, 2\nLOC\t4\t6\t4, 6\n\nEMPTY\t999\t999\t999\n"
SYSTEM = "PER\t1\t2\t1, 2\nLOC\t4\t6\t4, 5, 6\n\nORG\t1\t1\t1\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gold.csv").write_text(GOLD, encoding="utf-8")
    (tmp_path / "system.csv").write_text(SYSTEM, encoding="utf-8")
    return tmp_path


def config(folder: Path, *lines: str) -> Path:
    path = folder / "run.config"
    path.write_text("\n".join(["target_in = gold.csv", "system_in = system.csv", *lines]), encoding="utf-8")
    return path


def test_the_config_may_be_named_by_the_option_of_fairevals_program(folder: Path, capsys: Capture) -> None:
    config(folder)

    assert main(["faireval", "run.config"]) == 0
    report = capsys.readouterr().out
    for arguments in (
        ["--config", "run.config"],
        ["--config=run.config"],
        ["run.config", "--config=run.config"],
    ):
        assert main(["faireval", *arguments]) == 0
        assert capsys.readouterr().out == report
    assert report == clueval.faireval("run.config")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], "CONFIG is missing"),
        (["run.config", "--config", "none.config"], "two config files are named"),
        (["--config"], "--config needs a value"),
        (["--config", "none.config"], "none.config"),
    ],
)
def test_a_config_that_is_missing_or_named_twice_is_an_error_of_one_line(
    folder: Path, capsys: Capture, arguments: list[str], problem: str
) -> None:
    config(folder)
    try:
        code: object = main(["faireval", *arguments])
    except SystemExit as stop:  # as argparse ends
        code = stop.code

    assert code == 2
    error = capsys.readouterr().err
    assert problem in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("name", ["results", "results/", "new/"])
def test_a_folder_as_eval_out_gets_a_file(folder: Path, capsys: Capture, name: str) -> None:
    (folder / "results").mkdir()
    config(folder, f"eval_out = {name}")

    assert main(["faireval", "run.config"]) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert (folder / name / "eval.csv").read_text(encoding="utf-8") == clueval.faireval("run.config")
    assert captured.err == f"wrote {Path(name) / 'eval.csv'}\n"


def test_a_file_as_eval_out_is_written(folder: Path) -> None:
    config(folder, "eval_out = results")

    assert main(["faireval", "run.config"]) == 0
    assert (folder / "results").read_text(encoding="utf-8") == clueval.faireval("run.config")


@pytest.mark.parametrize("name", ["gold.csv/", "new/deep/"])
def test_a_folder_that_cannot_be_made_is_an_error_of_one_line(
    folder: Path, capsys: Capture, name: str
) -> None:
    config(folder, f"eval_out = {name}")

    assert main(["faireval", "run.config"]) == 2
    error = capsys.readouterr().err
    assert f"{name[:-1]}: cannot be written: " in error
    assert error.count("\n") == 1
    assert (folder / "gold.csv").read_text(encoding="utf-8") == GOLD


def test_no_folder_is_made_for_files_that_cannot_be_read(folder: Path) -> None:
    (folder / "system.csv").write_text("PER\tone\t2\t\n", encoding="utf-8")
    config(folder, "eval_out = new/")

    assert main(["faireval", "run.config"]) == 2
    assert not (folder / "new").exists()


@pytest.mark.parametrize("tokens", ["x", "-", "", " ", "x, y", "-,", "_", "9, 10"])
def test_a_token_list_without_a_token_of_the_span_means_the_whole_range(folder: Path, tokens: str) -> None:
    whole = clueval.faireval(config(folder))
    (folder / "gold.csv").write_text(GOLD.replace("1, 2", tokens), encoding="utf-8")

    assert clueval.faireval("run.config") == whole
    (document, _) = clueval.read("gold.csv", input="fair-spans")
    first, second = document.layers["label"]
    assert (first.start, first.end, first.tokens) == (0, 2, None)
    assert second.tokens == {3, 5}


@pytest.mark.parametrize(
    ("tokens", "shown"),
    [("1, x", "x"), ("x, 1", "x"), ("1; 2", "1; 2"), ("1.0", "1.0"), ("1-2", "1-2"), ("-, 1", "-")],
)
def test_a_token_list_that_is_a_number_in_part_is_an_error_with_file_and_line(
    folder: Path, capsys: Capture, tokens: str, shown: str
) -> None:
    config(folder)
    (folder / "gold.csv").write_text(GOLD.replace("4, 6", tokens), encoding="utf-8")

    assert main(["faireval", "run.config"]) == 2
    assert f"gold.csv:2: the token is {shown!r}, not a whole number" in capsys.readouterr().err
