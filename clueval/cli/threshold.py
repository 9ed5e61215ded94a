"""``clueval threshold``: chooses a threshold for scores on dev, for ``clueval score --min-score`` on test."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from clueval.cli.declared import REPORT, declared, fields, one_metric, option, preparing, reading
from clueval.cli.printing import complain
from clueval.files.errors import UsageError
from clueval.results.options import Counting
from clueval.studies.threshold import NoThreshold, threshold

_COUNTED = fields(Counting, "counting", ["score_feature", "thresholds", "merge", "where", "pair_by"])


def _counted(options: argparse.Namespace) -> Mapping[str, Any]:
    given = _COUNTED.arguments(options)
    if "score_feature" not in given:
        raise UsageError(
            "--score-feature is required",
            advice="name the feature of the predicted spans that has their scores",
        )
    return given


_DECLARED = declared(
    threshold,
    "GOLD PREDICTED --score-feature F",
    """\
Choose the threshold for the scores of predicted spans that is best on GOLD and PREDICTED: development data, not the
data on which the result is reported.

A JSON file that -o writes is for clueval score --min-score FILE, with other data than GOLD. If several thresholds are
equally good, the highest is chosen. The exit code is 1 if no threshold meets the condition of --maximise.""",
    """\
examples:
  clueval threshold dev.jsonl predicted.jsonl --score-feature score -o t.json
  clueval score test.jsonl predicted-test.jsonl --metric exact --min-score t.json
  clueval threshold dev.jsonl predicted.jsonl --score-feature score --maximise 'precision@recall>=0.95'""",
    [
        one_metric("a threshold"),
        option(
            "counting",
            "--maximise",
            metavar="MEASURE",
            default="f1",
            help="f1, precision@recall>=X or recall@precision>=X (default: f1)",
        ),
        option("counting", "--per-label", action="store_true", help="choose a threshold for each label"),
        _COUNTED._replace(arguments=_counted),
        preparing(without=["min_score", "same_data"]),
        REPORT,
        reading(),
    ],
)


def run(options: argparse.Namespace) -> int:
    try:
        return _DECLARED.run(options)
    except NoThreshold as error:
        complain(f"clueval threshold: {error}")
        return 1


THRESHOLD_COMMAND = _DECLARED._replace(run=run)
