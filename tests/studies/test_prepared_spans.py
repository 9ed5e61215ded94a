"""The options that change spans before counting, in every function and command that compares gold with predicted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from corpora import write

import clueval
from clueval.cli import main
from clueval.files.errors import UsageError

GOLD = [[(0, 2, "CITY"), (4, 5, "PER")]]
PREDICTED = [[(0, 2, "STREET"), (4, 6, "PER")]]
MAP = {"CITY": "PLACE", "STREET": "PLACE", "*": "*"}


def test_errors_are_those_of_changed_spans() -> None:
    def found(**options: Any) -> list[tuple[str | None, int]]:
        places = clueval.errors(GOLD, PREDICTED, labelled="label", level=1, **options)
        return sorted(((row.side, row.start) for place in places for row in place.findings), key=str)

    assert found() == [("gold", 0), ("gold", 4), ("predicted", 0), ("predicted", 4)]
    assert found(label_map=MAP) == [("gold", 4), ("predicted", 4)]
    assert found(ignore_label="PER", ignored="touching", untyped=True) == []
    assert found(any_of=[PREDICTED]) == []
    with pytest.raises(UsageError, match="no entry for 'CITY'"):
        found(label_map={"PER": "PER", "STREET": "X"})


def test_conventions_count_changed_spans() -> None:
    tags = [["B-CITY", "I-CITY", "O"]], [["B-STREET", "I-STREET", "O"]]

    for sides in ((GOLD, PREDICTED), tags):
        rows = clueval.conventions(*sides, label_map=MAP)
        expected = clueval.score(*sides, metrics="exact", label_map=MAP).f1
        assert rows.to_dict()["conventions"]["label"]["conlleval"]["f1"] == expected


def test_diff_compares_runs_after_the_same_changes() -> None:
    documents = [
        [clueval.Document("d", {"label": [clueval.Span(0, 2, label)]})] for label in ("CITY", "X", "STREET")
    ]

    def states(**options: Any) -> list[tuple[str, str]]:
        found = clueval.diff(*documents, labelled="label", **options)
        return sorted((row["state"], row["side"]) for place in found for row in place.findings)

    assert states() == [("changed", "gold"), ("fixed", "predicted"), ("new", "predicted")]
    assert states(label_map=MAP) == [("fixed", "gold"), ("fixed", "predicted")]


def test_diff_compares_each_run_with_the_alternative_that_counts_in_it() -> None:
    group = [clueval.Span(0, 2, "A", {"group": 1}), clueval.Span(0, 3, "A", {"group": 1})]
    runs = [[clueval.Document("d", {"label": [clueval.Span(0, end, "A")]})] for end in (3, 9)]

    found = clueval.diff([clueval.Document("d", {"label": group})], *runs)

    rows = [(row["state"], row["side"], row["end_inclusive"]) for place in found for row in place.findings]
    assert ("new", "predicted", 8) in rows
    assert "fixed" not in {state for state, _, _ in rows}


def test_masking_and_gate_count_changed_spans() -> None:
    text = "Anna in Bern."
    gold = [clueval.Document("d", {"label": [clueval.Span(0, 4, "X")]}, text=text, unit="character")]
    predicted = [clueval.Document("d", {"label": []}, text=text, unit="character")]

    assert (
        clueval.masking(gold, predicted).result.metrics["masking"]["label"]["classes"]["all"]["mentions"] == 1
    )
    masked = clueval.masking(gold, predicted, gold_map={"X": ""})
    assert masked.to_dict()["prepared"] == {"labels": {"gold/dropped": 1}}


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    names = {"gold": "CITY", "predicted": "STREET", "new": "STREET"}
    paths = [write(tmp_path / f"{name}.conll", f"a\tB-{label}\nb\tO\n") for name, label in names.items()]
    return [*map(str, paths), str(write(tmp_path / "map.tsv", "CITY\tPLACE\nSTREET\tPLACE\n"))]


@pytest.mark.parametrize(
    ("command", "number"),
    [("score", 2), ("errors", 2), ("conventions", 2), ("masking", 2), ("diff", 3)],
)
def test_commands_take_the_options_of_changes(
    command: str, number: int, files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    more = ["--labelled", "label"] if command in ("errors", "diff") else []
    assert main([command, *files[:number], "--label-map", files[3], *more]) == 0
    assert main([command, *files[:number], "--depth", "1", *more]) == 2

    assert "--depth needs a hierarchy" in capsys.readouterr().err


def test_errors_of_the_command_line_say_what_was_changed(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["errors", *files[:2], "--labelled", "label", "--label-map", files[3]]) == 0

    assert "changed before counting: labels: gold/renamed 1, predicted/renamed 1" in capsys.readouterr().err


def test_results_are_compared_by_what_was_changed(files: list[str], tmp_path: Path) -> None:
    saved = [str(tmp_path / name) for name in ("a.clueval", "b.clueval")]
    assert main(["score", *files[:2], "--save", saved[0]]) == 0
    assert main(["score", *files[:2], "--label-map", files[3], "--save", saved[1]]) == 0

    assert main(["compare", *saved]) == 2


def test_agreement_is_that_of_changed_spans(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    documents = {
        name: [clueval.Document("d", {"label": [clueval.Span(0, 2, label)]}, tokens=["t"] * 9)]
        for name, label in (("anna", "CITY"), ("bob", "STREET"))
    }

    def f1(**options: Any) -> Any:
        return clueval.agree(documents, **options).to_dict()["agreement"]["label"]["f1"]["exact"]["mean"]

    assert (f1(), f1(label_map=MAP), f1(untyped=True)) == (0.0, 1.0, 1.0)
    found = clueval.agree(documents, label_map=MAP).to_dict()
    assert found["prepared"] == {"labels": {"anna/renamed": 1, "bob/renamed": 1}}
    assert "|labels:map(" in found["signature"]
    with pytest.raises(UsageError, match=r"no entry for 'CITY' .* of anna"):
        clueval.agree(documents, label_map={"X": "Y"})
    with pytest.raises(UsageError, match="agree has no option 'gold_map'"):
        clueval.agree(documents, gold_map=MAP)

    files = [write(tmp_path / f"{name}.conll", f"a\tB-{name}\nb\tO\n") for name in "xy"]
    assert main(["agree", *map(str, files), "--untyped", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["agreement"]["label"]["f1"]["exact"]["mean"] == 1.0
