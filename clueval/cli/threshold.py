"""``clueval threshold``: chooses a threshold for scores on dev, for ``clueval score --min-score`` on test."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from clueval.cli.declared import (
    OptionGroup,
    declared,
    fields,
    form,
    one_metric,
    option,
    page,
    preparing,
    reading,
    shown_option,
)
from clueval.cli.outputs import rendered
from clueval.cli.printing import complain, put, wrote
from clueval.evaluation.options import Counting
from clueval.files.errors import UsageError
from clueval.files.overwriting import output_path
from clueval.studies.threshold import NoThreshold, Threshold, threshold

_COUNTED = fields(Counting, "counting", ["score_feature", "thresholds", "merge", "where", "pair_by"])


def _counted(options: argparse.Namespace) -> Mapping[str, Any]:
    given = _COUNTED.arguments(options)
    if "score_feature" not in given:
        raise UsageError(
            "--score-feature is required",
            advice="name the feature of the predicted spans that has their scores",
        )
    return given


def _put(found: Threshold, options: argparse.Namespace) -> int:
    if options.output_file is not None:
        found.save(options.output_file)
    if options.html is not None:
        found.write_page(options.html, lang=options.lang or "")
    if options.output_file is not None:  # the file is JSON
        options.format = "text"
    put(rendered(found, options))
    for path in (options.output_file, options.html):
        if path is not None:
            wrote(path)
    return 0


_DECLARED = declared(
    threshold,
    "GOLD PREDICTED --score-feature F",
    """\
Choose the threshold for the scores of predicted spans that is best on GOLD and PREDICTED: development data, not the
data on which the result is reported.

The file that -o writes is for clueval score --min-score FILE, with other data than GOLD. If several thresholds are
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
        shown_option(
            "output",
            "-o",
            "--output-file",
            type=output_path,
            metavar="FILE",
            help="write the threshold as JSON, for --min-score",
        ),
        page("write a web page with the curve"),
        form("the form of the result on standard output"),
        OptionGroup(
            lambda parser: parser.set_defaults(forms=("json",)), lambda _: {}
        ),  # the form of the file
        reading(),
    ],
    put=_put,
)


def run(options: argparse.Namespace) -> int:
    try:
        return _DECLARED.run(options)
    except NoThreshold as error:
        complain(f"clueval threshold: {error}")
        return 1


THRESHOLD_COMMAND = _DECLARED._replace(run=run)
