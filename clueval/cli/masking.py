"""``clueval masking``: what was left unmasked."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from clueval.cli import options as common
from clueval.cli.declared import (
    JOBS,
    REPORT_WITH_TEXTS,
    OptionGroup,
    declared,
    fields,
    option,
    preparing,
    reading,
    shown_option,
)
from clueval.cli.fields import typed
from clueval.cli.outputs import form_of, put_report
from clueval.cli.printing import complain, remark, wrote
from clueval.compat.masking.run import PROGRAMS, SETTINGS, masking
from clueval.files.errors import UsageError
from clueval.files.options import column
from clueval.files.overwriting import output_path
from clueval.files.writing import is_written_through
from clueval.metrics.masking import Masking
from clueval.reports.files import READABLE
from clueval.reports.files import form_of as form_of_file
from clueval.reports.language import in_language
from clueval.results.options import Counting
from clueval.studies.masking.limits import listed_in_words, require_limits
from clueval.studies.masking.report import MaskingReport

_COUNTED = "counting"
_REDACTED = "redacted"
_LIMITS = "limits"


def _required(options: argparse.Namespace) -> Mapping[str, Any]:
    """Raise `UsageError` for limits that cannot be read."""
    require_limits(options.fail_under, options.fail_over)
    if options.reviewed and options.decisions is None:
        raise UsageError("--reviewed needs --decisions", advice="add --decisions FILE")
    return {}


def _lists(options: argparse.Namespace) -> list[str]:
    """Return the files that list all leaks."""
    forms = [(p, form_of(options) if is_written_through(p) else form_of_file(p)) for p in options.written]
    files = [str(path) for path, form in forms if form not in READABLE]
    return files + (["-"] if options.prints and form_of(options) not in READABLE else [])


def _put(report: MaskingReport, options: argparse.Namespace) -> int:
    """Write the report, and return the exit code: 1 if a limit is not kept."""
    with in_language(options.lang):
        if options.align:
            remark(f"clueval masking: {report.aligned_in_words()}")
        leaks = report.failures(fail_on_leak=options.fail_on_leak, reviewed=options.reviewed)
        limits = report.failures(options.fail_under, options.fail_over, reviewed=options.reviewed)
        failures = [*(f"{line} ({listed_in_words(_lists(options))})" for line in leaks), *limits]
    put_report(report.showing(text=not options.no_text), options)
    if options.documents is not None:
        report.write_documents(options.documents)
        wrote(options.documents)
    for line in failures:
        complain(f"clueval masking: {line}")
    return 1 if failures else 0


MASKING_COMMAND = declared(
    masking,
    "GOLD PREDICTED",
    """\
Report what was left unmasked. Gold spans say what must be masked, predicted spans what was.

GOLD and PREDICTED are files or folders, as for clueval score. A mention is protected if no letter or digit of it can be
read, an entity if all its mentions are. The exit code is 1 if a limit is not kept: --fail-on-leak, --fail-under,
--fail-over.""",
    """\
examples:
  clueval masking gold.vrt predicted.vrt --layer entity=2 --layer risk=3
  clueval masking gold.vrt predicted.vrt --layer entity=2 --layer risk=3 --entity 5 -o report.html
  clueval masking gold/ published/ --redacted --placeholder 'Person [A-Z]'
  clueval masking gold/ predicted/ --fail-on-leak -o leaks.tsv
  clueval masking gold/ predicted/ --fail-under entity_recall[high]=1 --fail-over document_leak_upper=0.05""",
    [
        fields(Masking, _COUNTED, [*SETTINGS]),
        option(
            _COUNTED,
            "--weight-column",
            metavar="COLUMN",
            type=typed(column),
            help="the column of the gold files that has the weight of each token",
        ),
        fields(Counting, _COUNTED, ["merge", "where", "by", "pair_by"]),
        option(
            _COUNTED,
            "--conventions",
            metavar="NAME,...",
            default="",
            help=f"also count as other programs do: {', '.join(PROGRAMS)}",
        ),
        shown_option(
            _LIMITS,
            "--fail-on-leak",
            action="store_true",
            help="exit with 1 if a mention that must be masked can be read, wholly or in part",
        ),
        shown_option(
            _LIMITS,
            "--fail-under",
            action="append",
            default=[],
            metavar="FIGURE=X",
            help="exit with 1 if a figure is below X, as in entity_recall[high]=1 or mention_recall=99%%; "
            "can be repeated",
        ),
        shown_option(
            _LIMITS,
            "--fail-over",
            action="append",
            default=[],
            metavar="FIGURE=X",
            help="exit with 1 if a figure is above X, as in document_leak_upper=0.05; can be repeated",
        )._replace(arguments=_required),
        shown_option(
            _LIMITS,
            "--reviewed",
            action="store_true",
            help="apply the limits to the figures as reviewed (--decisions)",
        ),
        OptionGroup(lambda parser: common.add_decisions(parser.group("decisions")), common.decisions_of),
        option(
            _REDACTED,
            "--redacted",
            action="store_true",
            help="PREDICTED is a redacted text, or a folder with one for each gold document, named like its id or its "
            "file",
        ),
        option(
            _REDACTED,
            "--placeholder",
            action="append",
            default=[],
            metavar="REGEX",
            help="a further placeholder in redacted texts; can be repeated",
        ),
        option(
            _REDACTED,
            "--align",
            action="store_true",
            help="redacted texts may differ in more than placeholders: surrogates, deletions, edits (extra: align)",
        ),
        preparing(),
        reading(),
        REPORT_WITH_TEXTS,
        shown_option(
            "output",
            "--documents",
            type=output_path,
            metavar="FILE",
            help="write the documents to review as a table, riskiest first",
        ),
        shown_option(
            "output", "--no-text", action="store_true", help="show positions only, no text of the documents"
        ),
        JOBS,
    ],
    put=_put,
)
