"""The reports of a break-down, which are made one by one."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from clueval import Result, score
from clueval.evaluation.score_path import headline_rates, number_at
from clueval.evaluation.totals import GroupReports
from clueval.metrics import METRICS

SAMPLES = Path(__file__).parents[1] / "samples" / "german"
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
