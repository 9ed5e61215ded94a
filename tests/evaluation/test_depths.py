"""Reports for each depth of a hierarchy: the same as those of single depths, in every way of counting."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from corpora import write

from clueval import load_result, score
from clueval.cli import main
from clueval.exceptions import UsageError
from clueval.metrics import METRICS

GOLD = [[(0, 2, "LOC.city"), (4, 5, "LOC")], [(0, 1, "PER")], [(0, 1, "LOC.city.old")]]
PREDICTED = [[(0, 2, "LOC.street"), (4, 5, "LOC")], [(0, 1, "LOC")], [(0, 1, "LOC.city.new")]]


def report(metric: str = "exact", **options: Any) -> Any:
    return score(GOLD, PREDICTED, metrics=metric, hierarchy=".", **options).metrics[metric]["label"]


@pytest.mark.parametrize("metric", [name for name in METRICS if name not in ("masking", "noisy", "strings")])
def test_depths_are_the_reports_of_single_depths(metric: str) -> None:
    depths = report(metric, by_depth=True)["depths"]

    assert list(depths) == ["1", "2", "3"]
    for depth, found in depths.items():
        assert found == report(metric, depth=int(depth))


def test_depths_leave_the_report_of_all_labels_as_it_is() -> None:
    found = report(by_depth=True)
    del found["depths"]

    assert found == report(depth=9)


def test_depths_of_results_add_whatever_depth_their_labels_have(tmp_path: Path) -> None:
    def result(*numbers: int) -> Any:
        sides = ([side[number] for number in numbers] for side in (GOLD, PREDICTED))
        return score(*sides, metrics="exact", hierarchy=".", by_depth=True, resample_by="document")

    whole, parts = result(0, 1, 2), result(0) + result(2) + result(1)
    whole.save(tmp_path / "whole.clueval")

    assert parts.metrics == whole.metrics == load_result(tmp_path / "whole.clueval").metrics


def test_depths_are_those_of_the_hierarchy_even_where_labels_do_not_reach_them(tmp_path: Path) -> None:
    places = write(tmp_path / "places.txt", "PLACE\n  CITY\n  STREET\n")
    sides = [[(0, 2, "PLACE")]], [[(0, 2, "PLACE")]]

    result = score(*sides, metrics="exact", hierarchy=places, by_depth=True)

    assert list(result.metrics["exact"]["label"]["depths"]) == ["1", "2"]
    assert "|depth:each(" in str(result.signature)


def test_depths_are_counted_by_files_in_processes_and_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("gold.vrt", "predicted.vrt")
    files = [
        write(tmp_path / name, f"a\tB-{label}\nb\tO\n\nc\tB-P\n")
        for name, label in zip(names, ("L.c", "L.s"), strict=True)
    ]
    options = ["--metric", "exact", "--hierarchy", ".", "--by-depth", "--input", "conll", "--format", "json"]
    arguments = ["score", *map(str, files), *options]

    assert main(arguments) == 0
    depths = json.loads(capsys.readouterr().out)["metrics"]["exact"]["label"]["depths"]
    with ThreadPoolExecutor(1) as pool:
        others = score(
            *files, metrics="exact", hierarchy=".", by_depth=True, input="conll", executor=pool, jobs=2
        )

    assert [depths[n]["micro"]["tp_gold"] for n in "12"] == [2, 1]
    assert others.to_dict()["metrics"]["exact"]["label"]["depths"] == depths


def test_depths_have_tables() -> None:
    result = score(GOLD, PREDICTED, metrics="muc", hierarchy=".", by_depth=True)

    assert "By depth: muc, label" in str(result)
    assert "muc, label, depth 3" in result.render("text", all=True)
    assert result.get("muc.label.depths.1.strict.f1") == 0.75
    assert {row["section"] for row in result.rows()} >= {"strict", "depths.1.strict"}


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"by_depth": True}, "by_depth needs a hierarchy"),
        ({"by_depth": True, "hierarchy": ".", "depth": 1}, "cannot be used together"),
        ({"by_depth": True, "hierarchy": ".", "align": True}, "cannot be used when texts are aligned"),
        ({"by_depth": True, "hierarchy": ".", "resample_by": "sentence"}, "does not count by sentence"),
    ],
)
def test_depths_that_cannot_be_counted_are_an_error(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        score(GOLD, PREDICTED, metrics="exact", **options)
