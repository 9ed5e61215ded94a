"""``clueval gate``: scores predicted annotations against gold as GATE's plugin Evaluation does."""

from __future__ import annotations

import argparse
from pathlib import Path

from clueval.cli import options as common
from clueval.cli import printing
from clueval.cli.fields import add_fields, given_fields, group_of
from clueval.cli.outputs import (
    add_output,
    form_of,
    put_result,
    refuse_to_overwrite,
    require_page,
    require_writable,
)
from clueval.cli.parser import Command
from clueval.cli.progress import add_jobs, workers
from clueval.compat.gate.run import gate
from clueval.evaluation.options import Counting
from clueval.exceptions import UsageError
from clueval.metrics.gate import Gate
from clueval.metrics.gate.list_evaluation import Lists
from clueval.reports.report import FORMS

USAGE = "GOLD [PREDICTED]"
DESCRIPTION = """\
Score predicted annotations against gold as GATE's plugin Evaluation does: strict and lenient.

GOLD and PREDICTED are files or folders, as for clueval score --metric gate. Without PREDICTED, the files of GOLD
have both sides: in GATE's documents (formats gate-xml and bdoc), the annotation sets --gold-set and
--predicted-set."""
EPILOG = """\
examples:
  clueval gate corpus/ --gold-set Key --predicted-set Response --types Person,Place --features id
  clueval gate corpus/ --gold-set Key --predicted-set Response --reference-set Old --html page.html
  clueval gate corpus/ --gold-set Key --predicted-set Response --types Person --features id \\
      --list-type List --edge-feature ids"""

_PREFIX = "clueval"


def add_arguments(parser: Command) -> None:
    common.add_sides(parser)
    add_fields(parser, Gate, "counting")
    add_fields(parser, Counting, "counting", only=("where", "by", "pair_by"))
    parser.group("counting").add_argument(
        "--reference-set",
        metavar="SET",
        help="another annotation set of the predicted files, such as an older run, to compare with",
    )
    parser.group("counting").add_argument(
        "--pair",
        action="append",
        default=[],
        metavar="GOLDSET:PREDICTEDSET",
        help="annotation sets to compare, instead of --gold-set and --predicted-set; can be repeated, which adds "
        "micro and macro averages over the pairs",
    )
    add_fields(parser, Lists, "candidate lists")
    common.add_preparing(parser)
    common.add_reading(parser, sides=2, sets=None)
    _add_outputs(parser)
    add_jobs(parser)


def _add_outputs(parser: Command) -> None:
    add_output(parser, FORMS)
    group = parser.group("output")
    group.add_argument("--gate-tsv", type=Path, metavar="FILE", help="write GATE's table of 31 columns")
    group.add_argument(
        "--name", metavar="ID", default="", help="the id of the evaluation in the table (evaluationId)"
    )
    group.add_argument(
        "--html",
        type=Path,
        metavar="FILE",
        help="write a web page with the scores and their curve (extra: report)",
    )
    group.add_argument(
        "--write-indicators",
        type=Path,
        metavar="FOLDER",
        help="write copies of the predicted files (formats gate-xml and bdoc) that show the result for each "
        "annotation",
    )
    group.add_argument(
        "--indicator-prefix",
        metavar="P",
        help="with --write-indicators: the prefix P of the annotation sets P_Res, P_Ref and P_Diff in the copies "
        f"(default: {_PREFIX})",
    )


def run(options: argparse.Namespace) -> int:
    outputs = [options.html, options.gate_tsv, options.output_file]
    require_writable(outputs)
    metric, lists = group_of(Gate, options), _lists(options)
    if options.indicator_prefix is not None and options.write_indicators is None:
        raise UsageError("--indicator-prefix needs --write-indicators", advice="add it")
    preparing = common.preparing_of(options)
    refuse_to_overwrite(outputs)
    require_page(options.html)
    counting = given_fields(Counting, options)
    common.check_pairing(options)
    with workers(options, [options.gold, options.predicted]) as work:
        result = gate(
            options.gold,
            options.predicted,
            metric=metric,
            lists=lists,
            gold_set=options.gold_set,
            predicted_set=options.predicted_set,
            reference_set=options.reference_set,
            table=options.gate_tsv,
            page=options.html,
            indicators=options.write_indicators,
            indicator_prefix=_PREFIX if options.indicator_prefix is None else options.indicator_prefix,
            pairs=options.pair,
            evaluation=options.name,
            wrote=printing.remark,
            layers=common.layers(options),
            counting=Counting(**counting),
            preparing=preparing,
            workers=work,
            **common.reading(options),
        )
    put_result([result.render(form_of(options), all=True)], options.output_file)
    if options.output_file is not None or form_of(options) != "text":
        common.say_what_was_read(options, result)  # the text on the terminal has these lines
    return 0


def _lists(options: argparse.Namespace) -> Lists | None:
    """Return the options for candidate lists, or None. Raises `UsageError` if one of two options is missing."""
    given = given_fields(Lists, options)
    for name in ("list_type", "edge_feature") if given else ():
        if name not in given:
            first = next(iter(given)).replace("_", "-")
            raise UsageError(f"--{first} needs --{name.replace('_', '-')}", advice="add it")
    return Lists(**given) if given else None
