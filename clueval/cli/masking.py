"""``clueval masking``: what was left unmasked."""

from __future__ import annotations

import argparse
from pathlib import Path

from clueval.cli import options as common
from clueval.cli.fields import add_fields, given_fields, typed
from clueval.cli.outputs import (
    add_output,
    add_page,
    form_of,
    put_result,
    refuse_to_overwrite,
    require_page,
    require_writable,
)
from clueval.cli.parser import Command
from clueval.cli.printing import remark, wrote
from clueval.cli.progress import add_jobs, workers
from clueval.compat.masking.run import PROGRAMS, SETTINGS, masking
from clueval.evaluation.options import Counting
from clueval.metrics.masking import Masking
from clueval.options import column
from clueval.reports.report import FORMS
from clueval.studies.masking.gates import require_limits
from clueval.studies.masking.report import MaskingReport

USAGE = "GOLD PREDICTED"
DESCRIPTION = """\
Report what was left unmasked. Gold spans say what must be masked, predicted spans what was.

GOLD and PREDICTED are files or folders, as for clueval score. A mention is protected if no letter or digit of it can be
read, an entity if all its mentions are. The exit code is 1 if a limit (--fail-under, --fail-over) is not kept."""
EPILOG = """\
examples:
  clueval masking gold.vrt predicted.vrt --layer entity=2 --layer risk=3
  clueval masking gold.vrt predicted.vrt --layer entity=2 --layer risk=3 --entity 5 --html report.html
  clueval masking gold/ published/ --redacted --placeholder 'Person [A-Z]'
  clueval masking gold/ predicted/ --fail-under entity_recall[high]=1 --fail-over document_leak_upper=0.05"""

_COUNTED = "what is counted"


def add_arguments(parser: Command) -> None:
    common.add_sides(parser)
    add_fields(parser, Masking, _COUNTED, only=[*SETTINGS])
    parser.group(_COUNTED).add_argument(
        "--weight-column",
        metavar="COLUMN",
        type=typed(column),
        help="the column of the gold files that has the weight of each token",
    )
    add_fields(parser, Counting, _COUNTED, only=("merge", "where", "by", "pair_by"))
    parser.group(_COUNTED).add_argument(
        "--conventions",
        metavar="NAME,...",
        default="",
        help=f"also count as other programs do: {', '.join(PROGRAMS)}",
    )
    _add_limits(parser)
    _add_redacted(parser)
    common.add_preparing(parser, without=["by_depth"])
    common.add_reading(parser, sides=2)
    _add_outputs(parser)
    add_jobs(parser)


def _add_redacted(parser: Command) -> None:
    group = parser.group("redacted texts")
    group.add_argument(
        "--redacted",
        action="store_true",
        help="PREDICTED is a redacted text, or a folder with one for each gold document, named like its id or its file",
    )
    group.add_argument(
        "--placeholder",
        action="append",
        default=[],
        metavar="REGEX",
        help="a further placeholder in redacted texts; can be repeated",
    )
    group.add_argument(
        "--align",
        action="store_true",
        help="redacted texts may differ in more than placeholders: surrogates, deletions, edits (extra: align)",
    )


def _add_limits(parser: Command) -> None:
    group = parser.group("limits")
    for flag, word, example in (
        ("--fail-under", "below", "entity_recall[high]=1"),
        ("--fail-over", "above", "document_leak_upper=0.05"),
    ):
        group.add_argument(
            flag,
            action="append",
            default=[],
            metavar="FIGURE=X",
            help=f"exit with 1 if a figure is {word} X, as in {example}; can be repeated",
        )


def _add_outputs(parser: Command) -> None:
    add_output(parser, FORMS)
    group = parser.group("output")
    add_page(group, "write a web page to sign and to print")
    group.add_argument("--tsv", type=Path, metavar="FILE", help="write the leaks as a table")
    group.add_argument("--no-text", action="store_true", help="show positions only, no text of the documents")


def run(options: argparse.Namespace) -> int:
    outputs = [options.html, options.tsv, options.output_file]
    require_limits(options.fail_under, options.fail_over)
    require_writable(outputs)
    counting = given_fields(Counting, options)
    settings = given_fields(Masking, options)
    common.check_pairing(options)
    preparing = common.preparing_of(options)
    refuse_to_overwrite(outputs)
    require_page(options.html, options.lang)
    with workers(options, [options.gold, options.predicted]) as work:
        report = masking(
            options.gold,
            options.predicted,
            layers=common.layers(options),
            weight_column=options.weight_column,
            conventions=options.conventions,
            redacted=options.redacted,
            placeholder=options.placeholder,
            align=options.align,
            gold_set=options.gold_set,
            predicted_set=options.predicted_set,
            counting=Counting(**counting),
            preparing=preparing,
            workers=work,
            **settings,
            **common.reading(options),
        )
    if options.align:
        remark(
            f"clueval masking: {report.aligned:,} redacted text{'s' * (report.aligned != 1)} had to be aligned; "
            "in these texts about 0.3 % of the mentions have a wrong status, with surrogates 1.6 %"
        )
    return _put(report, options)


def _put(report: MaskingReport, options: argparse.Namespace) -> int:
    """Write the report, and return the exit code: 1 if a limit is not kept."""
    failures = report.failures(options.fail_under, options.fail_over)
    text = not options.no_text
    if options.html is not None:
        report.write_page(options.html, text=text, lang=options.lang or "")
        wrote(options.html)
    if options.tsv is not None:
        report.write_table(options.tsv, text=text)
        wrote(options.tsv)
    put_result([report.render(form_of(options), text=text)], options.output_file)
    for line in failures:
        remark(f"clueval masking: {line}")
    return 1 if failures else 0
