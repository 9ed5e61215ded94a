"""``clueval conventions``: the same data under every convention at once."""

from __future__ import annotations

import argparse
from pathlib import Path

from clueval.cli import options as common
from clueval.cli.outputs import (
    add_output,
    check_outputs,
    put_forms,
    refuse_two_forms,
)
from clueval.cli.parser import Command
from clueval.cli.progress import progress
from clueval.reports.report import FORMS
from clueval.studies.conventions import conventions

USAGE = "GOLD PREDICTED"
DESCRIPTION = """\
Score predicted spans against gold under every usual convention: conlleval, seqeval (default and strict),
CLUEval's levels, MUC, FairEval, loio, GATE. The table has a row for each, with its rule for correct spans.

GOLD and PREDICTED are files or folders, as for clueval score; with GOLD alone, the file has both sides."""
EPILOG = """\
examples:
  clueval conventions gold.conll predicted.conll
  clueval conventions gold.vrt predicted.vrt --layer entity=2 --layer risk=3 --format markdown
  clueval conventions both.conll --html conventions.html"""


def add_arguments(parser: Command) -> None:
    common.add_sides(parser)
    add_output(parser, FORMS)
    parser.group("output").add_argument(
        "--html",
        type=Path,
        metavar="FILE",
        help="write a web page; add -o FILE for another form, too (extra: report)",
    )
    common.add_preparing(parser, without=["by_depth"])
    common.add_reading(parser, sides=2)
    common.add_pairing(parser)


def run(options: argparse.Namespace) -> int:
    common.check_pairing(options)
    preparing = common.preparing_of(options)
    check_outputs([options.html, options.output_file], options.html)
    refuse_two_forms(options)
    with progress([options.gold, options.predicted]) as advance:
        table = conventions(
            options.gold,
            options.predicted,
            layers=common.layers(options),
            gold_set=options.gold_set,
            predicted_set=options.predicted_set,
            progress=advance,
            preparing=preparing,
            pair_by=common.pairing_of(options),
            **common.reading(options),
        )
    put_forms(table, options)
    common.say_what_was_read(options, table.result)
    return 0
