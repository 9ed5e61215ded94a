"""``clueval profile``: which spans go wrong, by buckets of their features."""

from __future__ import annotations

import argparse

from clueval.cli import options as common
from clueval.cli.declared import OUTPUT, declared, fields, one_metric, option, preparing, reading
from clueval.cli.fields import typed
from clueval.cli.outputs import put_forms
from clueval.evaluation.options import Counting
from clueval.options import whole
from clueval.overwriting import input_path
from clueval.studies.profile import Profile, all_features, profile


def _put(found: Profile, options: argparse.Namespace) -> int:
    put_forms(found, options)
    common.say_unless_shown(options, found.result)
    return 0


PROFILE_COMMAND = declared(
    profile,
    "GOLD PREDICTED",
    """\
Show which spans go wrong: precision, recall and F1 by buckets of a feature.

A bucket is a group of spans with the same value of the feature, such as the same length. Its gold spans give the
recall, its predicted spans the precision. Buckets with fewer than 20 spans on a side are marked.""",
    """\
examples:
  clueval profile gold.conll predicted.conll
  clueval profile gold.conll predicted.conll --feature length,seen --train train.conll --format markdown
  clueval profile gold.vrt predicted.vrt --layer entity=2 --feature length --buckets 4""",
    [
        option(
            "counting",
            "--feature",
            metavar="NAME,...",
            help=f"the features: {', '.join(all_features())} (the last three with --train; default: all)",
        ),
        option(
            "counting",
            "--train",
            type=input_path,
            metavar="FILE",
            help="the training data, which is read like GOLD",
        ),
        option(
            "counting",
            "--buckets",
            type=typed(whole),
            metavar="K",
            help="sort numbers into K buckets of about equal size",
        ),
        one_metric("a profile"),
        fields(Counting, "counting", ["merge", "where", "pair_by"]),
        preparing(),
        OUTPUT,
        reading(),
    ],
    put=_put,
)
