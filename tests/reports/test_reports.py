"""Every result has every form, rows, numbers by short paths, a display in a notebook, a page."""

from __future__ import annotations

import csv
import json
import pickle
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from corpora import write

from clueval import (
    Document,
    Span,
    agree,
    compare,
    conventions,
    masking,
    profile,
    score,
    threshold,
)
from clueval.cli import main
from clueval.reports import ENDINGS, FORMS
from clueval.reports.report import Report
from clueval.reports.table import Rate, Table
from tests.reports.views import page

GOLD = [[Span(0, 1, "A"), Span(2, 4, "B")], [Span(1, 2, "A")]]
OTHER = [[Span(0, 1, "A"), Span(2, 3, "B")], [Span(0, 1, "B")]]
TAGS = [["B-A", "O", "B-B", "I-B"], ["O", "B-A"]], [["B-A", "O", "B-B", "O"], ["B-B", "O"]]
SCORED = [
    [Span(0, 1, "A", {"score": 0.9}), Span(2, 3, "B", {"score": 0.4})],
    [Span(0, 1, "B", {"score": 0.2})],
]


def _counted(predicted: Any) -> Any:
    return score(GOLD, predicted, metrics="exact", resample_by="document")


RESULTS: dict[str, Callable[[], Report]] = {
    "Result": lambda: score(GOLD, OTHER, metrics=["exact", "levels"]),
    "Conventions": lambda: conventions(*TAGS),
    "Profile": lambda: profile(GOLD, OTHER, train=[Document("t", {"label": GOLD[0]})]),
    "Comparison": lambda: compare(_counted(GOLD), _counted(OTHER), names=["one", "two"]),
    "Agreement": lambda: agree({"anna": GOLD, "bob": OTHER}),
    "Threshold": lambda: threshold(GOLD, SCORED, score_feature="score"),
    "MaskingReport": lambda: masking(
        [{"text": "Anna saw Bob", "spans": [(0, 4, "PER"), (9, 12, "PER")]}],
        [{"text": "Anna saw Bob", "spans": [(0, 4, "PER")]}],
    ),
}
"""Makes a small result of each kind."""


@pytest.fixture(params=RESULTS)
def result(request: pytest.FixtureRequest) -> Report:
    found = RESULTS[request.param]()
    assert type(found).__name__ == request.param
    return found


@pytest.mark.few(5)
@pytest.mark.parametrize("form", FORMS)
def test_every_result_has_every_form(result: Report, form: str) -> None:
    text = result.render(form)

    assert text.strip()
    assert text == result.render(form)
    assert str(result) == result.render("text")


def test_rows_have_the_same_keys_and_are_those_of_csv_and_tsv(result: Report) -> None:
    rows = result.rows()
    header, *lines = csv.reader(StringIO(result.render("csv")))
    of_tsv = [line.split("\t") for line in result.render("tsv").split("\n")]
    lines, of_tsv = (
        [line for line in each if not line[0].startswith("# signature")] for each in (lines, of_tsv)
    )

    assert {tuple(row) for row in rows} == {tuple(header)}
    assert of_tsv == [header, *lines]
    assert len(lines) == len(rows) > 0


def test_scores_are_floats_by_path(result: Report) -> None:
    scores = result.scores()

    assert scores
    assert all(type(value) is float and path for path, value in scores.items())


def test_json_is_that_of_the_dictionary(result: Report) -> None:
    assert json.loads(result.render("json")) == json.loads(json.dumps(result.to_dict()))
    assert result.to_json() == result.render("json")


def spoil(value: Any) -> None:
    """Empty dictionaries and lists at any depth."""
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            spoil(item)
        value.clear()


def test_what_a_result_returns_can_be_changed_without_changing_the_result(result: Report) -> None:
    def shown() -> list[str]:
        return [*map(result.render, FORMS), str(result.scores())]

    before = shown()
    for name in ("to_dict", "rows", "scores", "metrics", "inputs", "repaired_tags", "passed_over"):
        value = getattr(result, name, None)
        spoil(value() if callable(value) else value)

    assert shown() == before


def test_a_result_can_be_pickled(result: Report) -> None:
    assert page(pickle.loads(pickle.dumps(result))) == page(result)  # our own bytes


def test_a_notebook_shows_the_tables(result: Report) -> None:
    shown = [table for table in result.tables() if not getattr(table, "is_folded", False)]

    assert result._repr_html_().count("<table>") == len(shown) > 0


@pytest.mark.few(5)
@pytest.mark.parametrize("ending", [ending for ending, form in ENDINGS.items() if form in FORMS])
def test_the_ending_of_a_file_chooses_its_form(result: Report, ending: str, tmp_path: Path) -> None:
    result.write(tmp_path / f"out{ending}")

    assert (tmp_path / f"out{ending}").read_text(encoding="utf-8") == f"{result.render(ENDINGS[ending])}\n"


def test_every_result_has_a_page_in_a_language(result: Report, tmp_path: Path) -> None:
    result.write(tmp_path / "out.html", lang="de")

    assert 'lang="de"' in (tmp_path / "out.html").read_text(encoding="utf-8")


def test_numbers_of_a_result_have_short_paths() -> None:
    numbers = score(*TAGS, metrics="exact").scores()

    assert numbers["exact.f1"] == numbers["exact.micro.f1"] == pytest.approx(1 / 3)
    assert numbers["exact.A.f1"] == pytest.approx(2 / 3)


def test_numbers_of_several_sequences_have_their_names() -> None:
    sides = [[Document("d", {"x": [Span(0, 1, "A")], "y": [Span(0, 1, "B")]}, tokens=["a"])]] * 2
    numbers = score(*sides, metrics="exact").scores()

    assert numbers["exact.x.f1"] == numbers["exact.y.B.f1"] == 1.0


class Toy(Report):
    """A study with what a study must write, and what names its rows."""

    title = "Toy"
    signature = "toy"
    named_by = ("layer", "label")

    def content(self) -> dict[str, Any]:
        return {"toy": True}

    def data(self) -> Iterator[dict[str, Any]]:
        yield {"layer": "t", "label": "A", "rate": 0.5, "n": None}
        yield {"layer": "u", "label": "A", "rate": None, "n": 3}

    def tables(self) -> Iterator[Table]:
        yield Table("t", ["label", "rate"], [["A", Rate(0.5)], ["B", Rate(None)]])


def test_a_study_writes_its_dictionary_its_data_and_its_tables_alone() -> None:
    toy = Toy()

    assert toy.rows() == [*toy.data()]
    assert toy.render("csv") == "layer,label,rate,n\nt,A,0.5,\nu,A,,3"
    assert toy.scores() == {"t.A.rate": 0.5}
    assert "signature: toy" in str(toy)
    assert "<h1>Toy</h1>" in page(toy)


# What a form writes

TEXT = "a B-X\nb O\nc B-Y\n"


@pytest.fixture
def paths(tmp_path: Path) -> tuple[str, str]:
    return str(write(tmp_path / "g", TEXT)), str(write(tmp_path / "p", TEXT.replace("B-Y", "O")))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("function", [score, conventions])
def test_render_gives_what_the_command_prints(
    form: str, function: Callable[..., Report], paths: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([function.__name__, *paths, "--format", form]) == 0

    assert capsys.readouterr().out == function(*paths).render(form) + "\n"


def test_csv_of_conventions_has_a_row_for_each_convention(paths: tuple[str, str]) -> None:
    table = conventions(*paths)
    rows = list(csv.DictReader(StringIO(table.render("csv"))))
    expected = table.to_dict()["conventions"]["label"]

    assert [row["convention"] for row in rows] == [*expected]
    assert [row["f1"] for row in rows] == [str(row["f1"]) for row in expected.values()]


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


def test_check_writes_its_list_to_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = write(tmp_path / "a.conll", "a X\nb Q\n")
    output = tmp_path / "out.txt"

    assert main(["check", str(wrong), "-o", str(output)]) == 1
    assert capsys.readouterr().out == ""
    assert output.read_text(encoding="utf-8").endswith("a.conll: 2 problems\n")
