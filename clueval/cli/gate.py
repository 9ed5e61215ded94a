"""``clueval gate``: gold against predicted, as GATE's plugin Evaluation scores."""

from __future__ import annotations

import argparse
from pathlib import Path

from clueval.cli import options as common
from clueval.cli import printing
from clueval.cli.forms import FORMS, rendered
from clueval.cli.jobs import add_jobs, places, remark
from clueval.cli.outputs import refuse_to_overwrite, require_page, require_writable
from clueval.cli.progress import progress
from clueval.cli.settings import add_gate_settings, add_lists, candidate_lists, gate_metric
from clueval.compat.gate.run import gate
from clueval.exceptions import UsageError

USAGE = "GOLD [PREDICTED]"
DESCRIPTION = """\
Score predicted annotations against gold as GATE's plugin Evaluation does: strict and lenient.

GOLD and PREDICTED are files or folders, as for clueval score --metric gate. With GOLD alone, the files have both
sides: in GATE's documents (formats gate-xml and bdoc), the annotation sets --gold-set and --predicted-set."""
EPILOG = """\
examples:
  clueval gate corpus/ --gold-set Key --predicted-set Response --types Person,Place --features id
  clueval gate corpus/ --gold-set Key --predicted-set Response --reference-set Old --html page.html
  clueval gate corpus/ --gold-set Key --predicted-set Response --types Person --features id \\
      --list-type List --edge-feature ids"""

_PREFIX = "clueval"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    common.add_sides(parser)
    group = parser.add_argument_group("scoring")
    common.add_sets(group)
    group.add_argument(
        "--reference-set",
        metavar="SET",
        help="another annotation set of the predicted files, of an older run, to compare with",
    )
    common.add_selection(group)
    common.add_pair_by(group)
    _add_outputs(parser.add_argument_group("output"))
    add_gate_settings(parser, "settings").add_argument(
        "--beta",
        action="append",
        type=common.number,
        metavar="B",
        help="report F-beta, which weighs recall B times as much as precision, in place of F1",
    )
    add_lists(parser.add_argument_group("candidate lists"))
    add_jobs(parser)
    common.add_reading(parser, pairs=True)


def _add_outputs(group: argparse._ArgumentGroup) -> None:
    common.add_output(group, FORMS)
    group.add_argument("--gate-tsv", type=Path, metavar="FILE", help="write GATE's table of 31 columns")
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
        help="write copies of the predicted files (formats gate-xml and bdoc) that show what became of each "
        "annotation",
    )
    group.add_argument(
        "--indicator-prefix",
        metavar="P",
        help="with --write-indicators: what the annotation sets P_Res, P_Ref and P_Diff in the copies begin with "
        f"(default: {_PREFIX})",
    )


def run(options: argparse.Namespace) -> int:
    require_writable([options.html, options.gate_tsv])
    metric, lists = gate_metric(options), candidate_lists(options)
    if options.indicator_prefix is not None and options.write_indicators is None:
        raise UsageError("--indicator-prefix is for --write-indicators", advice="add it")
    refuse_to_overwrite([options.gold, options.predicted, options.text], [options.html, options.gate_tsv])
    require_page(options.html)
    with (
        places(options) as (jobs, executor),
        progress([options.gold, options.predicted]) as advance,
    ):
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
            wrote=printing.remark,
            layers=common.layers(options),
            where=options.where,
            by=options.by,
            pair_by=options.pair_by,
            progress=advance,
            jobs=jobs,
            executor=executor,
            remark=remark(options),
            **common.reading(options),
        )
    printing.put(rendered(result, options.output))
    return 0
