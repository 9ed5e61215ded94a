"""``clueval profile``: which spans go wrong, by buckets of their features."""

from __future__ import annotations

import argparse

from clueval.cli import options as common
from clueval.cli.chosen import add_one_metric, chosen_metrics, metric_names
from clueval.cli.fields import add_fields, given_fields, group_of, typed
from clueval.cli.outputs import add_output, form_of, put_result, refuse_to_overwrite, require_writable
from clueval.cli.parser import Command
from clueval.cli.progress import progress
from clueval.evaluation.options import Counting
from clueval.exceptions import UsageError
from clueval.options import whole
from clueval.overwriting import input_path
from clueval.reports.report import FORMS
from clueval.studies.profile import all_features, profile
from clueval.transforms.preparing import Preparing

USAGE = "GOLD PREDICTED"
DESCRIPTION = """\
Show which spans go wrong: precision, recall and F1 by buckets of a feature.

A bucket is a group of spans with the same value of the feature, such as the same length. Its gold spans give the
recall, its predicted spans the precision. Buckets with fewer than 20 spans on a side are marked."""
EPILOG = """\
examples:
  clueval profile gold.conll predicted.conll
  clueval profile gold.conll predicted.conll --feature length,seen --train train.conll --format markdown
  clueval profile gold.vrt predicted.vrt --layer entity=2 --feature length --buckets 4"""


def add_arguments(parser: Command) -> None:
    common.add_sides(parser)
    group = parser.group("counting")
    group.add_argument(
        "--feature",
        metavar="NAME,...",
        help=f"the features: {', '.join(all_features())} (the last three with --train; default: all)",
    )
    group.add_argument(
        "--train", type=input_path, metavar="FILE", help="the training data, which is read like GOLD"
    )
    group.add_argument(
        "--buckets",
        type=typed(whole),
        metavar="K",
        help="sort numbers into K buckets of about equal size",
    )
    add_one_metric(parser, "counting")
    add_fields(parser, Counting, "counting", only=("merge", "where", "pair_by"))
    add_fields(parser, Preparing, "counting")
    add_output(parser, FORMS)
    common.add_reading(parser, sides=2)


def run(options: argparse.Namespace) -> int:
    counting, preparing = given_fields(Counting, options), group_of(Preparing, options)
    metrics = chosen_metrics(metric_names(options, "exact"), options.set)
    if len(metrics) > 1:
        raise UsageError("a profile needs exactly one metric", advice="name one with --metric")
    require_writable([options.output_file])
    refuse_to_overwrite([options.output_file])
    common.check_pairing(options)
    with progress([options.gold, options.predicted]) as advance:
        found = profile(
            options.gold,
            options.predicted,
            feature=options.feature,
            train=options.train,
            metric=metrics[0],
            buckets=options.buckets,
            layers=common.layers(options),
            gold_set=options.gold_set,
            predicted_set=options.predicted_set,
            counting=Counting(**counting),
            preparing=preparing,
            progress=advance,
            **common.reading(options),
        )
    put_result([found.render(form_of(options))], options.output_file)
    if options.output_file is not None or form_of(options) != "text":
        common.say_what_was_read(options, found.result)
    return 0
