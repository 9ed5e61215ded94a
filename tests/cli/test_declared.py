"""A command that is declared: its parser, checks, call, forms and page follow."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Annotated, Any

import pytest
from corpora import write

import clueval
from clueval.cli.commands import COMMANDS, Command, command_called
from clueval.cli.declared import Input, Keywords, Options
from clueval.cli.options import READING
from clueval.cli.outputs import REPORT, ReportOutput, check_outputs
from clueval.files.errors import CluevalError, FileError
from clueval.files.options import inputs_kept, whole
from clueval.reports import FORMS
from clueval.reports.report import Report
from clueval.reports.table import Table

Capture = pytest.CaptureFixture[str]


@dataclass(frozen=True, slots=True)
class Sizes(Report):
    """How many bytes the files have."""

    numbers: dict[str, int]
    title = "Sizes"
    signature = "sizes"

    def content(self) -> dict[str, Any]:
        return {**self.numbers}

    def data(self) -> Iterator[dict[str, Any]]:
        return ({"file": name, "bytes": number} for name, number in self.numbers.items())

    def tables(self) -> Iterator[Table]:
        yield Table("sizes", ["file", "bytes"], [list(row.values()) for row in self.data()])


_UNIT = "bytes"


def sizes(
    gold: Input,
    predicted: Input | None = None,
    *,
    times: Annotated[int, whole] = 1,
    reverse: bool = False,
    named: list[str] | None = None,
    report: ReportOutput = REPORT,
    reading: Keywords = READING,
) -> int:
    """Print how many {_UNIT} the files have.

    usage: GOLD PREDICTED

    counting:
        times N: multiply the numbers
            by 100% of N
        reverse: last file first
        named --name NAME: leave out others

    example:
        clueval sizes gold predicted
    """
    sides = [side for side in (gold, predicted) if side is not None]
    numbers = {side.name: times * side.stat().st_size for side in (sides[::-1] if reverse else sides)}
    return report.put(Sizes({name: n for name, n in numbers.items() if named is None or name in named}))


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path("g"), "abc")
    write(Path("p"), "ab")


COMMAND = Command("sizes", sizes)


def ran(*arguments: str) -> int:
    with inputs_kept():
        values = COMMAND.parsed(["g", "p", *arguments])
        check_outputs(values, COMMAND.outputs)
        code: int = COMMAND.value(values)
        return code


@pytest.mark.parametrize("form", FORMS)
def test_a_declared_command_prints_every_form(form: str, capsys: Capture) -> None:
    assert ran("--format", form, "--times", "2") == 0

    assert capsys.readouterr().out == Sizes({"g": 6, "p": 4}).render(form) + "\n"


def test_an_option_has_the_name_the_type_and_the_help_of_its_parameter(capsys: Capture) -> None:
    assert ran("--format", "json", "--reverse", "--name", "g", "--name", "p") == 0
    assert capsys.readouterr().out.split() == ["{", '"p":', "2,", '"g":', "3", "}"]

    shown = " ".join(COMMAND.help().split())
    assert "Print how many bytes the files have." in shown
    assert "--times N multiply the numbers by 100% of N (default: 1)" in shown
    with pytest.raises(SystemExit):
        ran("--times", "0")
    assert "argument --times: '0' is not a whole number from 1 on" in capsys.readouterr().err


def test_the_ending_of_its_file_chooses_the_form(capsys: Capture) -> None:
    assert ran("-o", "out.csv") == 0

    assert capsys.readouterr() == ("", "wrote out.csv\n")
    assert Path("out.csv").read_text(encoding="utf-8") == "file,bytes\ng,3\np,2\n"


def test_it_writes_a_page() -> None:

    assert ran("-o", "out.html", "-o", "-") == 0
    assert "sizes" in Path("out.html").read_text(encoding="utf-8")


def test_it_replaces_no_input_and_writes_into_no_missing_folder() -> None:
    with pytest.raises(FileError, match="folder does not exist"):
        ran("-o", "nowhere/out.txt")
    with pytest.raises(CluevalError, match="is an input and cannot be overwritten"):
        ran("-o", "g")

    assert Path("g").read_text(encoding="utf-8") == "abc"


def test_commands_without_docstrings_say_what_is_missing() -> None:
    done = subprocess.run(
        [sys.executable, "-OO", "-m", "clueval", "check", "g"], capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stderr) == (
        2,
        "clueval: Python has removed the help that commands are made of (run it without -OO)\n",
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_every_parameter_of_a_command_is_an_argument_or_an_option(command: str) -> None:
    called = command_called(command)
    parameters = signature(called.function).parameters.values()
    names = {parameter.name for parameter in parameters if not isinstance(parameter.default, Options)}

    assert names <= {option.place for option in called.options}


WITHOUT_FILES = {"completion", "formats", "guide", "help", "metrics", "samples"}


def test_every_command_that_reads_files_is_a_function() -> None:
    assert {name for name in COMMANDS if not callable(getattr(clueval, name, None))} == WITHOUT_FILES
