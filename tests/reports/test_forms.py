"""The forms of a result: the same from Python and from the command line; nothing in a label is a command of a form."""

from __future__ import annotations

import csv
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from corpora import write

from clueval import Document, Span, conventions, score
from clueval.cli import main
from clueval.reports.files import FORMS
from clueval.reports.report import Report

Capture = pytest.CaptureFixture[str]

TEXT = "a B-X\nb O\nc B-Y\n"


@pytest.fixture
def paths(tmp_path: Path) -> tuple[str, str]:
    return str(write(tmp_path / "g", TEXT)), str(write(tmp_path / "p", TEXT.replace("B-Y", "O")))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("function", [score, conventions])
def test_render_gives_what_the_command_prints(
    form: str, function: Callable[..., Report], paths: tuple[str, str], capsys: Capture
) -> None:
    assert main([function.__name__, *paths, "--format", form]) == 0

    assert capsys.readouterr().out == function(*paths).render(form) + "\n"


@pytest.mark.parametrize("command", ["score", "conventions"])
def test_a_result_goes_to_a_file_as_it_is_printed(
    command: str, paths: tuple[str, str], tmp_path: Path, capsys: Capture
) -> None:
    assert main([command, *paths]) == 0
    printed = capsys.readouterr().out
    assert main([command, *paths, "-o", str(tmp_path / "out.txt")]) == 0

    assert capsys.readouterr().out == ""
    assert (tmp_path / "out.txt").read_text(encoding="utf-8") == printed


def test_check_writes_its_list_to_a_file(tmp_path: Path, capsys: Capture) -> None:
    wrong = write(tmp_path / "a.conll", "a X\nb Q\n")
    output = tmp_path / "out.txt"

    assert main(["check", str(wrong), "-o", str(output)]) == 1
    assert capsys.readouterr().out == ""
    assert output.read_text(encoding="utf-8").endswith("a.conll: 2 problems\n")


def test_csv_of_conventions_has_a_row_for_each_convention(paths: tuple[str, str]) -> None:
    table = conventions(*paths)
    rows = list(csv.DictReader(StringIO(table.render("csv"))))
    expected = table.to_dict()["conventions"]["label"]

    assert [row["convention"] for row in rows] == [*expected]
    assert [row["f1"] for row in rows] == [str(row["f1"]) for row in expected.values()]


def test_csv_quotes_labels_and_runs_no_formula() -> None:
    document = Document("d", {"label": [Span(0, 1, '=1,"x"\n')]})
    text = score([document], [document], metrics="exact").render("csv")
    rows = list(csv.DictReader(StringIO(text)))

    assert '\'=1,"x" ' in {row["label"] for row in rows}
    assert not any(cell.startswith("=") for row in rows for cell in row.values())


def test_latex_is_a_table_of_booktabs_with_the_signature(paths: tuple[str, str]) -> None:
    result = score(*paths, metrics="exact")
    lines = result.render("latex").split("\n")

    assert lines[1] == "% 1 document, 3 positions"
    assert f"% signature: {result.signature}" in lines
    assert r"\caption{exact: labels, in \%.}" in lines
    assert r"micro & 100.00 & 50.00 & 66.67 & 2 & 1 \\" in lines
    for rule in (r"\toprule", r"\midrule", r"\bottomrule", r"\end{tabular}", r"\end{table}"):
        assert lines.count(rule) == lines.count(r"\begin{table}")


@pytest.mark.parametrize(
    ("label", "shown"),
    [
        ("a_b", r"a\_b"),
        ("50%", r"50\%"),
        ("{x}&$#", r"\{x\}\&\$\#"),
        ("\\input{x}", r"\textbackslash{}input\{x\}"),
        ("~^", r"\textasciitilde{}\textasciicircum{}"),
        ("[1]*", "{[}1]{*}"),
        ("<|>", r"\textless{}\textbar{}\textgreater{}"),
    ],
)
def test_latex_runs_nothing_that_a_label_says(label: str, shown: str) -> None:
    document = Document("d", {"label": [Span(0, 1, label)]})
    text = score([document], [document], metrics="exact").render("latex")

    assert rf"{shown} & 100.00 & 100.00 & 100.00 &" in text
