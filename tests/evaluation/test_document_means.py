"""Means over documents, reports of groups, and reports for each depth of a hierarchy."""

from __future__ import annotations

import json
import math
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from corpora import write

from clueval import Result, UsageError, load_result, score
from clueval.cli import main
from clueval.evaluation.score_path import headline_rates, number_at
from clueval.evaluation.totals import GroupReports
from clueval.metrics import METRICS

SAMPLES = Path(__file__).parents[2] / "clueval" / "samples" / "german"
GOLD = [["B-A", "O", "B-B"], ["B-A", "O", "O"], ["O", "O", "O"], ["O", "O", "O"]]
PREDICTED = [["B-A", "O", "B-A"], ["O", "O", "O"], ["B-A", "O", "O"], ["O", "O", "O"]]


def test_a_rate_is_averaged_over_the_documents_in_which_it_is_defined() -> None:
    documents = [
        [[(n, n + 1, tag[2:]) for n, tag in enumerate(tags) if tag != "O"] for tags in side]
        for side in (GOLD, PREDICTED)
    ]

    found = score(*documents, metrics="exact", average="document").metrics["exact"]["label"]["document_mean"]

    # precision 1/2, -, 0, -; recall 1/2, 0, -, -; f1 1/2, 0, 0, -
    assert found == {
        "precision": 0.25,
        "recall": 0.25,
        "f1": pytest.approx(1 / 6),
        "sd": {"precision": 0.25, "recall": 0.25, "f1": pytest.approx(math.sqrt(2 / 9 * 1 / 4))},
        "documents": 3,
    }


def test_means_stand_beside_every_micro_and_do_not_depend_on_processes(tmp_path: Path) -> None:
    paths = [str(SAMPLES / f"{side}.vrt") for side in ("gold", "predicted")]
    options: dict[str, Any] = {
        "layers": {"entity": 2, "risk": 3},
        "token_id": 4,
        "average": "document",
        "metrics": "levels,partial,coverage",
    }
    result = score(*paths, **options, by="domain")

    assert result.get("levels.entity.labelled.entity.1.document_mean.f1") is not None
    assert result.get("coverage.risk.tokens.document_mean.documents") == result.documents
    assert all(
        "document_mean" in each["metrics"]["partial"]["risk"]
        for each in (result.groups or {})["domain"].values()
    )
    assert score(*paths, **options, by="domain", jobs=2).to_dict() == result.to_dict()
    assert "Means over documents" in str(result)
    assert {row["average"] for row in result.rows()} >= {"document_mean"}
    whole = score(*paths, **options)
    assert (whole + whole).get("partial.risk.document_mean.f1") == whole.get("partial.risk.document_mean.f1")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"average": "sentence"}, "unknown average"),
        ({"average": "document", "resample_by": "sentence"}, "cannot be used with"),
    ],
)
def test_wrong_averages_are_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        score(GOLD, PREDICTED, **options)


# The reports of a break-down, which are made one by one


ALL = [name for name in METRICS if name != "noisy"]


@pytest.fixture(scope="module")
def result() -> Result:
    paths = (str(SAMPLES / f"{side}.vrt") for side in ("gold", "predicted"))
    return score(*paths, token_id=4, layers={"entity": 2, "risk": 3}, metrics=ALL, by="document")


def groups_of(result: Result) -> GroupReports:
    assert result.groups is not None
    found = result.groups["document"]
    assert isinstance(found, GroupReports)
    return found


def test_group_reports_are_those_of_the_documents_scored_alone(result: Result) -> None:
    paths = [str(SAMPLES / f"{side}.vrt") for side in ("gold", "predicted")]
    for document, report in groups_of(result).items():
        alone = score(
            *paths,
            token_id=4,
            layers={"entity": 2, "risk": 3},
            metrics=ALL,
            where={"document": document},
        )

        assert report == {"documents": 1, "tokens": alone.tokens, "metrics": alone.metrics}


def test_group_reports_have_headlines_equal_to_those_of_whole_reports(result: Result) -> None:
    groups = groups_of(result)
    for value, found in groups.headlines():
        for metric, sequences in groups[value]["metrics"].items():
            for sequence, report in sequences.items():
                paths = headline_rates(sequence, report)

                assert headline_rates(sequence, found[metric][sequence]) == paths
                assert [number_at(found[metric][sequence], path) for path in paths] == [
                    number_at(report, path) for path in paths
                ]


def test_group_reports_can_be_pickled_and_are_shown_as_dictionaries(result: Result) -> None:
    groups = groups_of(result)

    assert pickle.loads(pickle.dumps(groups)) == groups
    assert repr(groups) == repr(result.to_dict()["by"]["document"])


# Reports for each depth of a hierarchy: the same as those of single depths, in every way of counting


BY_DEPTH = [[(0, 2, "LOC.city"), (4, 5, "LOC")], [(0, 1, "PER")], [(0, 1, "LOC.city.old")]]
FOUND_BY_DEPTH = [[(0, 2, "LOC.street"), (4, 5, "LOC")], [(0, 1, "LOC")], [(0, 1, "LOC.city.new")]]


def report_of(metric: str = "exact", **options: Any) -> Any:
    return score(BY_DEPTH, FOUND_BY_DEPTH, metrics=metric, hierarchy=".", **options).metrics[metric]["label"]


@pytest.mark.parametrize("metric", [name for name in METRICS if name not in ("masking", "noisy", "strings")])
def test_depths_are_the_reports_of_single_depths(metric: str) -> None:
    depths = report_of(metric, by_depth=True)["depths"]

    assert list(depths) == ["1", "2", "3"]
    for depth, found in depths.items():
        assert found == report_of(metric, depth=int(depth))


def test_depths_leave_the_report_of_all_labels_as_it_is() -> None:
    found = report_of(by_depth=True)
    del found["depths"]

    assert found == report_of(depth=9)


def test_depths_of_results_add_whatever_depth_their_labels_have(tmp_path: Path) -> None:
    def result(*numbers: int) -> Any:
        sides = ([side[number] for number in numbers] for side in (BY_DEPTH, FOUND_BY_DEPTH))
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
    result = score(BY_DEPTH, FOUND_BY_DEPTH, metrics="muc", hierarchy=".", by_depth=True)

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
        score(BY_DEPTH, FOUND_BY_DEPTH, metrics="exact", **options)
