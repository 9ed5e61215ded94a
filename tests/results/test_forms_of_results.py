"""What is said of results: metrics, settings, rows, tables, paths and warnings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import clueval
from clueval.core.exact import Exact
from clueval.core.levels import Levels
from clueval.files.errors import UsageError
from clueval.metrics import chosen_metrics, metric_named
from clueval.metrics.gate import Gate, GateWithin
from clueval.results import first_screen, inputs, paths, rows
from clueval.results.tables import tables_of
from tests.random_corpora import Corpus, sum_of

# Metrics and settings


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("levels", {"level": 2}),
        ("exact", {"min_overlap": 2}),
        ("exact", {"overlap_of": "all"}),
        ("fair", {"focus": "gold"}),
        ("fair", {"labels": "A"}),
        ("fair", {"weights": {"LE": 1}}),
        ("partial", {"factor": 2}),
        ("partial", {"betas": (0,)}),
        ("partial", {"glue": 1}),
        ("noisy", {"threshold": "0.1"}),
        ("noisy", {"max_alignment": 0}),
        ("gate", {"types": "A"}),
        ("gate", {"pairing": "best"}),
        ("gate", {"nil": "x"}),
        ("gate", {"unfiltered": "A"}),
        ("gate", {"containment": "near"}),
        ("gate", {"beta": 0}),
        ("gate", {"thresholds": "0.5"}),
    ],
)
def test_a_metric_names_the_setting_that_it_refuses(name: str, settings: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="|".join(settings).rstrip("s")):
        metric_named(name, **settings)


@pytest.mark.parametrize("given", [3, {"exact": 1}, None])
def test_what_is_no_metric_is_refused(given: Any) -> None:
    with pytest.raises(UsageError, match="metric"):
        chosen_metrics(given)


def test_gate_counts_documents_if_it_counts_within_a_layer() -> None:
    assert type(Gate()) is Gate
    assert type(Gate(containing="zone")) is GateWithin
    assert type(Gate((), (), "equality", "plugin", None, None, None, "zone")) is GateWithin
    assert Gate(containing="zone") == GateWithin(containing="zone")


# Rows, tables, paths and warnings


def test_the_curve_of_coverage_is_none_of_its_tables() -> None:
    spans = [clueval.Span(0, 1, "A", {"p": 0.9})]
    result = clueval.score([spans], [spans], metrics="coverage", score_feature="p")
    report = result.metrics["coverage"]["label"]

    assert "curve" in report
    assert [table.title for table in tables_of(metric_named("coverage"), "coverage", report)] == [
        "coverage, tokens"
    ]


def test_a_group_that_lacks_the_report_of_a_sequence_has_no_row_of_it() -> None:
    def side(group: str, *layers: str) -> clueval.Document:
        spans = [clueval.Span(0, 1, "A")]
        return clueval.Document("d", dict.fromkeys(layers, spans), tokens=["w"], metadata={"m": group})

    documents = [side("a", "x"), side("b", "risk", "y")]
    report = clueval.score(documents, documents, metrics="masking", by="m").to_dict()
    reported = {value: list(group["metrics"]["masking"]) for value, group in report["by"]["m"].items()}

    assert reported == {"a": ["x"], "b": ["y"]}
    found = {(row["sequence"], row["value"]) for row in rows.wide_rows(report)}
    assert found == {("x", None), ("x", "a"), ("y", None), ("y", "b")}


def test_a_break_down_is_shown_whether_or_not_its_reports_are_made_when_asked_for() -> None:
    sides = [
        [clueval.Document(str(n), {"label": [clueval.Span(0, 1, label)]}) for n, label in enumerate(labels)]
        for labels in ("AB", "BB")
    ]
    result = clueval.score(*sides, metrics="exact", by="document")
    made = [*first_screen.first_tables(result.to_dict(), [Exact()])]

    assert made == list(result.tables())
    assert [table.title for table in made] == [
        "Headlines",
        "exact: labels",
        "By document: exact, label: micro",
    ]


def test_the_headline_of_levels_costs_less_and_is_that_of_the_report() -> None:
    gold = [clueval.Span(0, 2, {"x": "A", "y": "B"}), clueval.Span(3, 5, {"x": "A"})]
    predicted = [clueval.Span(0, 2, {"x": "A", "y": "A"}), clueval.Span(3, 9, {"x": "A"})]
    sides = [[clueval.Document("d", {"x": spans})] for spans in (gold, predicted)]
    total = sum_of(Corpus("flat", ["x"], *sides), Levels())
    part, whole = Levels().headline_report(total, ["x", "y", "z"]), Levels().scores(total, ["x", "y", "z"])

    assert part["unlabelled"] == {"1": whole["unlabelled"]["1"]}
    assert part["labelled"] == {
        layer: {"1": {"micro": levels["1"]["micro"]}} for layer, levels in whole["labelled"].items()
    }
    assert part["labelled"]["y"]["1"]["micro"]["gold"] == 1


def test_a_path_that_is_wrong_is_answered_with_the_nearest_of_the_result() -> None:
    reports = clueval.score([["B-A", "B-B"]], [["B-A", "O"]], metrics="exact").metrics

    for wrong, meant in (
        ("exact.label.mikro.f1", "exact.label.micro.f1"),
        ("exact.overall_f1", "exact.label.micro.f1"),
        ("macro avg.f1-score", "exact.label.macro.f1"),
        ("accuracy", "exact.label.token_accuracy"),
        ("a.recal", "exact.label.per_label.A.recall"),
    ):
        with pytest.raises(UsageError) as error:
            paths.whole_path(reports, wrong)
        assert str(error.value) == f"there is no score {wrong!r} (did you mean {meant}?)"


def test_files_that_are_empty_or_swapped_are_warned_of(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("predicted.conll", "gold.conll", "c")]
    for file in files:
        file.write_text("" if file.name != "c" else "x")

    assert list(inputs.empty_files(files)) == [f"{files[0]}, {files[1]} are empty"]
    assert list(inputs.empty_files([files[2]])) == []
    assert list(inputs.swapped(*files[:2])) == [
        f"{files[0]} counts as gold, because it comes first, and {files[1]} as predicted"
    ]
    assert list(inputs.swapped(files[1], files[0])) == []
