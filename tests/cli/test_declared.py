"""A command that is declared: its parser, checks, call, forms and page follow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from corpora import write

from clueval.cli.declared import REPORT, declared, option, reading
from clueval.cli.fields import typed
from clueval.cli.outputs import check_outputs, settle_output
from clueval.cli.parser import CommandParser
from clueval.files.errors import CluevalError, FileError
from clueval.files.options import whole
from clueval.files.overwriting import inputs_kept
from clueval.reports.files import FORMS
from clueval.reports.report import Report
from clueval.reports.table import Table

Capture = pytest.CaptureFixture[str]


@dataclass(frozen=True, slots=True)
class Sizes(Report):
    """How many bytes the files have."""

    numbers: dict[str, int]
    title = "Sizes"
    signature = "sizes"

    def to_dict(self) -> dict[str, Any]:
        return {**self.numbers}

    def tables(self) -> Iterator[Table]:
        yield Table("sizes", ["file", "bytes"], [[name, number] for name, number in self.numbers.items()])


def sizes(gold: Path, predicted: Path, *, times: int = 1, **_: Any) -> Sizes:
    return Sizes({side.name: times * side.stat().st_size for side in (gold, predicted)})


SIZES_COMMAND = declared(
    sizes,
    "GOLD PREDICTED",
    "Print how many bytes the files have.",
    "example:\n  clueval sizes gold predicted",
    [
        option("counting", "--times", type=typed(whole), metavar="N", help="multiply the numbers by N"),
        REPORT,
        reading(),
    ],
)


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path("g"), "abc")
    write(Path("p"), "ab")


def ran(*arguments: str) -> int:
    parser = CommandParser(prog="clueval sizes")
    SIZES_COMMAND.add_arguments(parser)
    with inputs_kept():
        options = parser.parse_args(["g", "p", *arguments])
        settle_output(options)
        check_outputs(options)
        return SIZES_COMMAND.run(options)


@pytest.mark.parametrize("form", FORMS)
def test_a_declared_command_prints_every_form(form: str, capsys: Capture) -> None:
    assert ran("--format", form, "--times", "2") == 0

    assert capsys.readouterr().out == Sizes({"g": 6, "p": 4}).render(form) + "\n"


def test_the_ending_of_its_file_chooses_the_form(capsys: Capture) -> None:
    assert ran("-o", "out.csv") == 0

    assert capsys.readouterr() == ("", "wrote out.csv\n")
    assert Path("out.csv").read_text(encoding="utf-8") == "table,file,bytes\nsizes,g,3\nsizes,p,2\n"


def test_it_writes_a_page() -> None:

    assert ran("-o", "out.html", "-o", "-") == 0
    assert "sizes" in Path("out.html").read_text(encoding="utf-8")


def test_it_replaces_no_input_and_writes_into_no_missing_folder() -> None:
    with pytest.raises(FileError, match="folder does not exist"):
        ran("-o", "nowhere/out.txt")
    with pytest.raises(CluevalError, match="is an input and cannot be overwritten"):
        ran("-o", "g")

    assert Path("g").read_text(encoding="utf-8") == "abc"
