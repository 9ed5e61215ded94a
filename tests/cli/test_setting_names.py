"""Settings of metrics in errors: as options on the command line, as class and field in Python."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from corpora import write

import clueval
from clueval import score
from clueval.cli import main
from clueval.cli.commands import COMMANDS, command_called
from clueval.cli.config import in_options, with_options
from clueval.files.errors import CluevalError, UsageError
from clueval.metrics import METRICS, metric_class
from clueval.metrics.gate import Gate

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def file(tmp_path: Path) -> str:
    return str(write(tmp_path / "a.conll", "Ada\tB-PER\n"))


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ("score --metric gate(beta=0)", "gate(beta=...) must be a number above 0, up to a million, not 0.0"),
        ("score --metric gate(by=x)", "no annotation has the feature 'x' (check gate(by=...))"),
        ("score --metric fair(labels=X)", "no span is labelled 'X' (check fair(labels=...))"),
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
    error = with_options(CluevalError("too long", advice="raise align=..."), "score")

    assert str(error) == "too long (raise --max-alignment)"


@pytest.mark.parametrize("quoted", ["'Gate.beta'", '"Gate.beta"'])
def test_value_that_looks_like_a_setting_stays_unchanged(quoted: str) -> None:
    assert with_options(CluevalError(f"no type {quoted}"), "score").problem == f"no type {quoted}"


@pytest.mark.parametrize("name", METRICS)
def test_class_of_every_metric_is_translated(name: str) -> None:
    error = with_options(CluevalError(f"check {metric_class(name).__name__}.x"), "score")

    assert error.problem == f"check {name}(x=...)"


_COMMAND_LINE = re.compile(r"(?<![\w-])--[a-z]")

OUTPUTS = {
    "studies/conventions.py": ("invalid tags are treated in another way (--invalid)",),
    # properties of a style sheet
    "reports/page.py": (' class="heat" style="--heat:', "--from:", ";--width:", '<i style="--value:'),
}
"""Text of reports, which the command line prints, as what `phrase` is given; it is no message of a function."""


def literals(tree: ast.Module) -> Iterator[str]:
    """Yield the strings of a module, except docstrings, declared options, and what describes a format."""
    left_out: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            left_out.add(node.value)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in ("option", "option_field", "FileFormat", "Described", "_lines", "phrase"):
                left_out.update(ast.walk(node))
        elif isinstance(node, ast.FunctionDef) and node.name == "recognised_by":
            left_out.update(ast.walk(node))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in left_out:
            yield node.value


def test_no_message_outside_the_command_line_names_an_option_as_it_does() -> None:
    package = Path(clueval.__file__).parent
    found = {}
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package).as_posix()
        source = path.read_text(encoding="utf-8")
        others = ("cli/", "browser/", "files/names.py")  # the table of synonyms serves the command line, too
        if not name.startswith(others) and _COMMAND_LINE.search(source):
            wrong = [
                text
                for text in literals(ast.parse(source))
                if _COMMAND_LINE.search(re.sub(r"clueval [a-z]+ .*", "", text))
                and text not in OUTPUTS.get(name, ())
            ]
            found |= {name: wrong} if wrong else {}

    assert not found


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_translated_from_its_name_in_python(command: str) -> None:
    options = [
        option for option in command_called(command).options if option.flags and option.place != "align"
    ]
    names = [option.place.rpartition(".")[2] for option in options]
    for name, option in zip(names, options, strict=True):
        flag = next((each for each in option.flags if each.startswith("--")), None)
        if flag is not None:
            assert in_options(f"see {option.place}=...", command) == f"see {flag}"
            if names.count(name) == 1 and name != "align":  # `by` is also a setting of the metric gate
                assert in_options(f"see {name}=...", command) == f"see {flag}"


def test_a_number_of_align_is_an_option_of_its_own() -> None:
    message = in_options("raise align=..., or leave out align=True", "score")

    assert message == "raise --max-alignment, or leave out --align"


@pytest.mark.parametrize(
    ("python", "option"),
    [
        ("layers={'entity': 2}", "--layer entity=2"),
        ("layers={'a': (2, 3), 'b': (4, None)}", "--layer a=2:3 --layer b=4:"),
        ("metrics='exact'", "--metric exact"),
        ("Reading.labels=['A', 'B']", "--labels A,B"),
        ("Reading.ignore_punct=False", "--no-ignore-punctuation"),
        ("Reading.token=-2", "--token -2"),
        ("merge=True", "--merge"),
        ("pair_by", "--pair-by"),
        ("Trust.seed", "--seed"),
        ("entity=2", "entity=2"),
        ("text", "text"),
        ("/tmp/gold_map", "/tmp/gold_map"),
        ("'gold_map'", "'gold_map'"),
        ("don't gold_map's", "don't --gold-map's"),
        ("layers={'a': 'it\\'s}'}", "--layer a=it's}"),
    ],
)
def test_values_are_written_as_on_the_command_line(python: str, option: str) -> None:
    assert in_options(f"as in {python}", "score") == f"as in {option}"


@pytest.mark.parametrize(
    ("content", "python", "arguments", "named"),
    [
        ("Ada\tx\ty\tB-A\n", lambda path: score(path, path, text="t.vrt"), "--text t.vrt", "text='t.vrt'"),
        ("Ada\tE-A\nx\tL-A\n", lambda path: score(path, path), "", "scheme=..."),
        (
            "Ada\tB-A\n",
            lambda path: score(path, path, layers={"a": 7}),
            "--layer a=7",
            "layers={'NAME': COLUMN}",
        ),
        ("Ada\tB-A\n", lambda path: score(path, path, document_column=7), "--document-column 7", "layers="),
        ('{"text": "a"}\n', lambda path: score(path, path), "", "input=..."),
    ],
)
def test_an_error_of_a_file_is_worded_for_the_caller(
    tmp_path: Path, content: str, python: Callable[[str], Any], arguments: str, named: str, capsys: Capture
) -> None:
    path = str(write(tmp_path / "a.txt", content))

    with pytest.raises(CluevalError) as raised:
        python(path)
    assert main(["score", path, path, *arguments.split()]) == 2

    assert named in str(raised.value)
    assert "--" not in str(raised.value)
    assert str(raised.value) != capsys.readouterr().err.removeprefix("clueval score: ").strip()
