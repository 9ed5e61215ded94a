"""Matrices and labels on screen: of many labels the most frequent are shown, of a long one the beginning."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from clueval import Result, score
from clueval.compat.faireval.config import FairEvalConfig, render_faireval
from clueval.core.document import Document
from clueval.core.span import Span
from clueval.reports.table import Table
from clueval.results.tables import frequencies, most_frequent
from tests.reports.views import page

LONG = "L" + "x" * 20_000


def result(metric: str, *pairs: tuple[str, str]) -> Result:
    """The result where each pair of labels, gold and predicted, stands at a place of its own."""
    sides = [
        Document("d", {"label": [Span(2 * n, 2 * n + 1, pair[side]) for n, pair in enumerate(pairs)]})
        for side in range(2)
    ]
    return score([sides[0]], [sides[1]], metrics=[metric])


def many(metric: str, size: int = 100) -> Result:
    """Gold and predicted labels of their own, and G7 three times as P7."""
    return result(metric, *((f"G{n}", f"P{n}") for n in range(size)), ("G7", "P7"), ("G7", "P7"))


def matrix_of(found: Result) -> Table:
    """The first matrix that is shown."""
    (metric,) = found.metrics
    wanted = "errors (rows" if metric == "fair" else "gold spans of"
    return next(table for table in replace(found, has_all_tables=True).tables() if wanted in table.title)


def test_frequencies_are_the_sums_of_rows_and_columns() -> None:
    assert frequencies({"A": {"B": 2}, "B": {"B": 1, "C": 4}, "C": {}}) == {"A": 2, "B": 8, "C": 4}


def test_most_frequent_labels_keep_their_order() -> None:
    assert most_frequent("ABCD", {"A": 1, "B": 5, "C": 2, "D": 5}, limit=2) == ["B", "D"]
    assert most_frequent("ABCD", {}, limit=4) == ["A", "B", "C", "D"]


def test_labels_that_are_missed_only_are_labels_of_a_matrix() -> None:
    sides = [[Document("d", {"label": spans})] for spans in ([Span(0, 1, {"label": "A"})], [])]
    shown = matrix_of(score(*sides, metrics=["confusion"]))

    assert shown.header == ["gold", "A", "(no label)", "missed"]
    assert shown.rows == [["A", 0, 0, 1]]


def test_a_matrix_of_few_labels_shows_every_cell() -> None:
    shown = matrix_of(result("fair", ("A", "B"), ("A", "A")))

    assert shown.header == ["gold", "A", "B", "_"]
    assert shown.rows == [["A", 0, 1, 0], ["B", 0, 0, 0], ["_", 0, 0, 0]]
    assert shown.title == "fair, label: errors (rows gold, columns predicted; _ is none)"


@pytest.mark.parametrize("metric", ["fair", "confusion"])
def test_a_matrix_of_many_labels_shows_the_most_frequent_and_says_of_how_many(metric: str) -> None:
    shown = matrix_of(many(metric))

    assert "the 40 most frequent of 200 labels" in shown.title
    labels = [name for name in shown.header[1:] if name[0] in "GP"]
    assert len(labels) == 40
    assert {"G7", "P7"} <= {*labels}
    row = next(row for row in shown.rows if row[0] == "G7")
    assert row[shown.header.index("P7")] == 3


@pytest.mark.parametrize("metric", ["fair", "confusion"])
def test_json_has_a_cell_for_every_pair_of_labels_and_no_other(metric: str) -> None:
    report = json.loads(many(metric).to_json())["metrics"][metric]["label"]
    cells = report["confusion"] if metric == "fair" else report["label"]["levels"]["1"]["gold"]["found"]

    assert sum(map(len, cells.values())) == 100
    assert cells["G7"] == {"P7": 3}
    assert cells["G99"] == {"P99": 1}


def test_long_rows_have_one_for_every_pair_of_labels() -> None:
    rows = [row for row in many("fair").rows(long=True) if row["path"].startswith("confusion.")]

    assert len(rows) == 100


def test_faireval_s_report_says_how_many_labels_its_matrix_leaves_out() -> None:
    settings = FairEvalConfig("target.csv", "system.csv", eval_method=())
    report = render_faireval(many("fair").metrics["fair"]["label"], settings, ())
    lines = report.split("### Confusion matrix:\n")[1].split("\n###")[0].splitlines()

    assert len(lines) == 1 + 41 + 1
    assert lines[-1] == "(160 labels with fewer errors are left out)"


Shown = Callable[[Result], str]

FORMS: dict[str, Shown] = {
    "text": str,
    "markdown": lambda found: found.render("markdown"),
    "notebook": lambda found: found._repr_html_(),
    "page": page,
}


@pytest.mark.parametrize("metric", ["levels", "exact", "fair", "confusion", "muc", "gate", "partial"])
@pytest.mark.parametrize("form", FORMS)
def test_a_long_label_is_cut_wherever_it_is_shown(form: str, metric: str) -> None:
    shown = FORMS[form](result(metric, (LONG, "B"), ("A", LONG)))
    length = 60 - len("exact, ") * (metric == "levels")  # what names the row

    assert f"{LONG[:length]}…" in shown
    assert LONG[:61] not in shown
    assert len(shown) < 60_000


@pytest.mark.parametrize("form", FORMS)
def test_a_long_layer_is_cut_in_titles(form: str) -> None:
    document = Document("d", {LONG: [Span(0, 1, "A")]})

    shown = FORMS[form](score([document], [document], metrics=["levels", "confusion"]))

    assert LONG[:61] not in shown.split("signature")[0].split("Signature")[0]


def test_json_and_tsv_have_long_labels_whole() -> None:
    found = result("fair", (LONG, "B"))

    assert LONG in found.to_json()
    assert LONG in found.render("tsv")


def test_long_rows_of_a_confusion_have_no_label_as_a_column() -> None:
    rows = many("confusion").rows(long=True)

    assert {*rows[0]} == {"metric", "sequence", "by", "value", "path", "number"}
    assert "label.levels.1.gold.unlabelled.G7" in {row["path"] for row in rows}
