"""``clueval gate``: scores predicted annotations against gold as GATE's plugin Evaluation does."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from clueval.cli import options as common
from clueval.cli import printing
from clueval.cli.declared import (
    JOBS,
    OUTPUT,
    OptionGroup,
    declared,
    fields,
    option,
    page,
    preparing,
    reading,
    shown_option,
)
from clueval.cli.fields import add_fields, given_fields, group_of
from clueval.cli.outputs import put_form
from clueval.compat.gate.run import gate
from clueval.evaluation.result import Result
from clueval.files.errors import UsageError
from clueval.files.overwriting import output_folder, output_path
from clueval.first.metrics.gate import Gate
from clueval.first.metrics.gate.list_evaluation import Lists
from clueval.second.results.options import Counting


def _lists(options: argparse.Namespace) -> Lists | None:
    """Return the options for candidate lists, or None. Raises `UsageError` if one of two options is missing."""
    given = given_fields(Lists, options)
    for name in ("list_type", "edge_feature") if given else ():
        if name not in given:
            first = next(iter(given)).replace("_", "-")
            raise UsageError(f"--{first} needs --{name.replace('_', '-')}", advice="add it")
    return Lists(**given) if given else None


def _files(options: argparse.Namespace) -> Mapping[str, Any]:
    """Return the arguments that name files, and what is in them."""
    prefix = options.indicator_prefix
    if prefix is not None and options.write_indicators is None:
        raise UsageError("--indicator-prefix needs --write-indicators", advice="add it")
    return {
        "table": options.gate_tsv,
        "page": options.html,
        "lang": options.lang or "",
        "indicators": options.write_indicators,
        "wrote": printing.remark,
        **({} if prefix is None else {"indicator_prefix": prefix}),
    }


def _put(result: Result, options: argparse.Namespace) -> int:
    put_form(result, options, all=True)
    common.say_unless_shown(options, result)
    return 0


GATE_COMMAND = declared(
    gate,
    "GOLD [PREDICTED]",
    """\
Score predicted annotations against gold as GATE's plugin Evaluation does: strict and lenient.

GOLD and PREDICTED are files or folders, as for clueval score --metric gate. Without PREDICTED, the files of GOLD
have both sides: in GATE's documents (formats gate-xml and bdoc), the annotation sets --gold-set and
--predicted-set.""",
    """\
examples:
  clueval gate corpus/ --gold-set Key --predicted-set Response --types Person,Place --features id
  clueval gate corpus/ --gold-set Key --predicted-set Response --reference-set Old --html page.html
  clueval gate corpus/ --gold-set Key --predicted-set Response --types Person --features id \\
      --list-type List --edge-feature ids""",
    [
        OptionGroup(
            lambda parser: add_fields(parser, Gate, "counting"),
            lambda options: {"metric": group_of(Gate, options)},
        ),
        fields(Counting, "counting", ["where", "by", "pair_by"]),
        option(
            "counting",
            "--reference-set",
            metavar="SET",
            help="another annotation set of the predicted files, such as an older run, to compare with",
        ),
        option(
            "counting",
            "--pair",
            to="pairs",
            action="append",
            default=[],
            metavar="GOLDSET:PREDICTEDSET",
            help="annotation sets to compare, instead of --gold-set and --predicted-set; can be repeated, which adds "
            "micro and macro averages over the pairs",
        ),
        OptionGroup(
            lambda parser: add_fields(parser, Lists, "candidate lists"),
            lambda options: {"lists": _lists(options)},
        ),
        preparing(),
        reading(sets=None),
        OUTPUT,
        shown_option(
            "output", "--gate-tsv", type=output_path, metavar="FILE", help="write GATE's table of 31 columns"
        ),
        option(
            "output",
            "--name",
            to="evaluation",
            metavar="ID",
            default="",
            help="the id of the evaluation in the table (evaluationId)",
        ),
        page("write a web page with the scores and their curve"),
        shown_option(
            "output",
            "--write-indicators",
            type=output_folder,
            metavar="FOLDER",
            help="write copies of the predicted files (formats gate-xml and bdoc) that show the result for each "
            "annotation",
        ),
        shown_option(
            "output",
            "--indicator-prefix",
            metavar="P",
            help="with --write-indicators: the prefix P of the annotation sets P_Res, P_Ref and P_Diff in the copies "
            "(default: clueval)",
        )._replace(arguments=_files),
        JOBS,
    ],
    put=_put,
)
