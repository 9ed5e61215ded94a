"""Settings of metrics in errors: as options on the command line, as class and field in Python."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpora import write

from clueval import score
from clueval.cli import main
from clueval.cli.setting_names import with_options
from clueval.exceptions import CluevalError, UsageError
from clueval.metrics import METRICS, metric_class
from clueval.metrics.gate import Gate

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def file(tmp_path: Path) -> str:
    return str(write(tmp_path / "a.conll", "Ada\tB-PER\n"))


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (
            "gate --thresholds 11",
            "--thresholds need scores (name the feature that has the scores with --score-feature)",
        ),
        ("gate --by-feature x", "no annotation has the feature 'x' (check --by-feature)"),
        ("gate --list-type= --edge-feature e", "--list-type is empty (name a type or feature)"),
        ("score --metric gate --set gate.beta=0", "--set gate.beta must be greater than 0, not 0.0"),
        ("score --metric gate --set gate.by=x", "no annotation has the feature 'x' (check --set gate.by)"),
        ("score --metric fair --set fair.labels=X", "no span is labelled 'X' (check --set fair.labels)"),
    ],
)
def test_error_on_the_command_line_names_a_setting_as_an_option(
    file: str, options: str, problem: str, capsys: Capture
) -> None:
    command, *more = options.split()

    assert main([command, file, file, *more]) == 2
    assert capsys.readouterr().err == f"clueval {command}: {problem}\n"


@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("convert --to conll", "--annotation-set"),
        ("check", "--annotation-set"),
        ("score", "--gold-set and --predicted-set"),
    ],
)
def test_advice_on_annotation_sets_names_the_options_of_the_command(
    tmp_path: Path, command: str, option: str, capsys: Capture
) -> None:
    rows = [f'{{"text": "Ada", "label": [], "username": "{name}"}}\n' for name in ("ada", "bob")]
    file = str(write(tmp_path / "a.jsonl", "".join(rows)))
    name, *more = command.split()

    assert main([name, file, *([file] if name == "score" else []), *more]) > 0
    printed = capsys.readouterr()
    assert f"(its sets: 'ada', 'bob'; select with {option})" in printed.out + printed.err


def test_advice_on_gaps_names_options(tmp_path: Path, capsys: Capture) -> None:
    row = '{"text": "a b c", "label": [{"fragments": [[0, 1], [2, 3]], "label": "A"}]}'
    file = str(write(tmp_path / "a.jsonl", row))

    assert main(["score", file, file]) == 2
    assert "a span with --fragments split, or one span" in capsys.readouterr().err


def test_error_in_python_names_a_setting_by_class_and_field(file: str) -> None:
    with pytest.raises(UsageError, match=r"^no annotation has the feature 'x' \(check Gate.by\)$"):
        score(file, file, metrics=[Gate(by=("x",))])


def test_error_about_a_long_text_names_the_limit_of_the_alignment() -> None:
    error = with_options(CluevalError("too long", advice="raise Counting.align"), "score")

    assert str(error) == "too long (raise --max-alignment)"


@pytest.mark.parametrize("quoted", ["'Gate.beta'", '"Gate.beta"'])
def test_value_that_looks_like_a_setting_stays_unchanged(quoted: str) -> None:
    assert with_options(CluevalError(f"no type {quoted}"), "gate").problem == f"no type {quoted}"


@pytest.mark.parametrize("name", METRICS)
def test_class_of_every_metric_is_translated(name: str) -> None:
    error = with_options(CluevalError(f"check {metric_class(name).__name__}.x"), "score")

    assert error.problem == f"check --set {name}.x"
