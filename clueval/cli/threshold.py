"""``clueval threshold``: chooses a threshold for scores on dev, for ``clueval score --min-score`` on test."""

from __future__ import annotations

import argparse
from pathlib import Path

from clueval.cli import options as common
from clueval.cli.chosen import add_one_metric, chosen_metrics, metric_names
from clueval.cli.fields import add_fields, given_fields, group_of
from clueval.cli.outputs import form_of, refuse_to_overwrite, require_page, require_writable
from clueval.cli.parser import Command
from clueval.cli.printing import put, remark, wrote
from clueval.cli.progress import progress
from clueval.evaluation.options import Counting
from clueval.exceptions import UsageError
from clueval.reports.report import FORMS
from clueval.studies.threshold import NoThreshold, threshold
from clueval.transforms.preparing import Preparing

USAGE = "GOLD PREDICTED --score-feature F"
DESCRIPTION = """\
Choose the threshold for the scores of predicted spans that is best on GOLD and PREDICTED: development data, not the
data on which the result is reported.

The file that -o writes is for clueval score --min-score FILE, with other data than GOLD. If several thresholds are
equally good, the highest is chosen. The exit code is 1 if no threshold meets the condition of --maximise."""
EPILOG = """\
examples:
  clueval threshold dev.jsonl predicted.jsonl --score-feature score -o t.json
  clueval score test.jsonl predicted-test.jsonl --metric exact --min-score t.json
  clueval threshold dev.jsonl predicted.jsonl --score-feature score --maximise 'precision@recall>=0.95'"""

_MIN = ("min_score", "same_data")


def add_arguments(parser: Command) -> None:
    common.add_sides(parser)
    add_one_metric(parser, "counting")
    only = ("score_feature", "thresholds", "merge", "where", "pair_by")
    parser.group("counting").add_argument(
        "--maximise",
        metavar="MEASURE",
        default="f1",
        help="f1, precision@recall>=X or recall@precision>=X (default: f1)",
    )
    parser.group("counting").add_argument(
        "--per-label", action="store_true", help="choose a threshold for each label"
    )
    add_fields(parser, Counting, "counting", only=only)
    add_fields(
        parser,
        Preparing,
        "counting",
        only=[name for name in Preparing.__dataclass_fields__ if name not in _MIN],
    )
    group = parser.group("output")
    group.add_argument(
        "-o", "--output-file", type=Path, metavar="FILE", help="write the threshold as JSON, for --min-score"
    )
    group.add_argument(
        "--html", type=Path, metavar="FILE", help="write a web page with the curve (extra: report)"
    )
    parser.set_defaults(forms=FORMS)
    group.add_argument(
        "--format",
        choices=FORMS,
        metavar="FORM",
        help=f"the form of the result on standard output: {', '.join(FORMS)} (default: text)",
    )
    common.add_reading(parser, sides=2)


def run(options: argparse.Namespace) -> int:
    counting, preparing = given_fields(Counting, options), group_of(Preparing, options)
    if "score_feature" not in counting:
        raise UsageError(
            "--score-feature is required",
            advice="name the feature of the predicted spans that has their scores",
        )
    metrics = chosen_metrics(metric_names(options, "exact"), options.set)
    if len(metrics) > 1:
        raise UsageError("a threshold needs exactly one metric", advice="name one with --metric")
    outputs = [options.output_file, options.html]
    require_writable(outputs)
    refuse_to_overwrite(outputs)
    require_page(options.html)
    common.check_pairing(options)
    try:
        with progress([options.gold, options.predicted]) as advance:
            found = threshold(
                options.gold,
                options.predicted,
                metric=metrics[0],
                maximise=options.maximise,
                per_label=options.per_label,
                layers=common.layers(options),
                gold_set=options.gold_set,
                predicted_set=options.predicted_set,
                preparing=preparing,
                progress=advance,
                **counting,
                **common.reading(options),
            )
    except NoThreshold as error:
        remark(f"clueval threshold: {error}")
        return 1
    if options.output_file is not None:
        found.save(options.output_file)
    if options.html is not None:
        found.write_page(options.html)
    # the file is JSON, whatever its ending
    put(found.render(form_of(options) if options.output_file is None else "text"))
    for path in outputs:
        if path is not None:
            wrote(path)
    return 0
