"""``clueval profile``: which spans go wrong, by buckets of their features."""

from __future__ import annotations

from clueval.cli import options as common
from clueval.cli.declared import REPORT, declared, fields, one_metric, option, preparing, put_saying, reading
from clueval.cli.fields import typed
from clueval.files.options import whole
from clueval.files.overwriting import input_path
from clueval.results.options import Counting
from clueval.studies.compared import profile
from clueval.studies.profile import all_features

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
        REPORT,
        reading(),
    ],
    put=put_saying(common.say_unless_shown),
)
