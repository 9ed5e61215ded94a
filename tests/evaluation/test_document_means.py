"""Means over documents stand beside each micro average."""

from __future__ import annotations

import math
import pickle
from pathlib import Path
from typing import Any

import pytest

from clueval import Result, UsageError, score
from clueval.evaluation.score_path import headline_rates, number_at
from clueval.evaluation.totals import GroupReports
from clueval.metrics import METRICS

SAMPLES = Path(__file__).parents[1] / "samples" / "german"
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
