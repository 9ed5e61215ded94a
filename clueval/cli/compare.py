"""``clueval compare``: is one system better than another?"""

from __future__ import annotations

import argparse
from pathlib import Path

from clueval.cli.fields import add_fields, given_fields, typed
from clueval.cli.outputs import (
    add_output,
    add_quiet,
    check_outputs,
    put_forms,
    refuse_two_forms,
)
from clueval.cli.parser import Command, CommandParser
from clueval.evaluation.options import Trust
from clueval.options import number
from clueval.overwriting import input_path
from clueval.reports.report import FORMS
from clueval.studies.compare import compare

USAGE = "A B [C ...]"
DESCRIPTION = """\
Compare systems that were scored on the same gold: with intervals, the difference to the first system, a
paired test of each difference, and the difference that this test set can show.

A, B, ... are files that clueval score --save has written. Several runs of one system are separated by
commas: A1,A2,A3."""
EPILOG = """\
examples:
  clueval score gold.conll a.conll --metric exact --save a.clueval
  clueval score gold.conll b.conll --metric exact --save b.clueval
  clueval compare a.clueval b.clueval
  clueval compare a1.clueval,a2.clueval b1.clueval,b2.clueval --score exact.label.micro.f1 --format latex"""


def add_arguments(parser: CommandParser) -> None:
    parser.add_argument(
        "systems",
        nargs="+",
        metavar="SYSTEM",
        help="a saved result, or the results of several runs of one system; the first is the baseline",
    )
    group = parser.group("what is compared")
    group.add_argument(
        "--score",
        action="append",
        metavar="PATH",
        help="a rate by its place below metrics in the JSON, as exact.entity.micro.f1; can be repeated (default: "
        "precision, recall and F1 of every headline)",
    )
    group.add_argument(
        "--detect",
        type=typed(number),
        metavar="X",
        help="print how many such units it takes to show a difference of X, a fraction such as 0.01",
    )
    group.add_argument(
        "--force", action="store_true", help="compare although signatures or gold files differ"
    )
    add_fields(parser, Trust, "what is compared", only=("confidence", "resamples", "seed"))
    add_output(parser, FORMS)
    parser.group("output").add_argument(
        "--html",
        type=Path,
        metavar="FILE",
        help="write a web page: intervals, differences by label, the units that differ most; add -o FILE for the "
        "tables, too (extra: report)",
    )
    add_quiet(parser)


def run(options: argparse.Namespace) -> int:
    systems = [[input_path(run) for run in name.split(",") if run] for name in options.systems]
    check_outputs([options.output_file, options.html], options.html)
    refuse_two_forms(options)
    baseline, *others = systems
    comparison = compare(
        baseline,
        others,
        scores=options.score,
        names=names_of(options.systems),
        detect=options.detect,
        force=options.force,
        details=options.html is not None,
        **given_fields(Trust, options),
    )
    put_forms(comparison, options)
    return 0


def names_of(systems: list[str]) -> list[str]:
    """The names of systems: of their files without folder and ending, if these differ."""
    short = [
        ",".join(
            Path(run).name.removesuffix(".gz").removesuffix(".clueval") for run in name.split(",") if run
        )
        for name in systems
    ]
    if len({*short}) == len(short):
        return short
    return (
        systems if len({*systems}) == len(systems) else [f"{n}: {name}" for n, name in enumerate(systems, 1)]
    )


COMPARE_COMMAND = Command(USAGE, DESCRIPTION, EPILOG, add_arguments, run)
