"""``clueval masking``: what was left unmasked."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from clueval.cli.decided import add_decisions, decisions_of
from clueval.cli.declared import (
    JOBS,
    OUTPUT,
    OptionGroup,
    declared,
    fields,
    option,
    page_with_texts,
    preparing,
    reading,
    shown_option,
)
from clueval.cli.fields import typed
from clueval.cli.outputs import form_of, put_form
from clueval.cli.printing import complain, name_of_output, remark, wrote
from clueval.compat.masking.run import PROGRAMS, SETTINGS, masking
from clueval.files.errors import UsageError
from clueval.files.overwriting import output_path
from clueval.first.metrics.masking import Masking
from clueval.options import column
from clueval.reports.language import phrase, speaking
from clueval.second.results.options import Counting
from clueval.studies.masking.report import MaskingReport, require_limits

_COUNTED = "what is counted"
_REDACTED = "redacted texts"
_LIMITS = "limits"


def _required(options: argparse.Namespace) -> Mapping[str, Any]:
    """Raise `UsageError` for limits that cannot be read."""
    require_limits(options.fail_under, options.fail_over)
    if options.reviewed and options.decisions is None:
        raise UsageError("--reviewed needs --decisions", advice="add --decisions FILE")
    return {}


def _decisions(options: argparse.Namespace) -> Mapping[str, Any]:
    """Return the decisions, read before anything is counted."""
    found = decisions_of(options)
    return {} if found is None else {"decisions": found}


def _aligned(number: int) -> str:
    if not number:
        return phrase("no redacted text had to be aligned")
    return phrase(
        "{n} redacted text had to be aligned; in these texts about 0.3 % of the mentions have a wrong status, with "
        "surrogates 1.6 %|"
        "{n} redacted texts had to be aligned; in these texts about 0.3 % of the mentions have a wrong status, with "
        "surrogates 1.6 %",
        n=number,
    )


def _where(options: argparse.Namespace) -> str:
    """Say where the list of leaks is; the text and the tables of a report show the first ones."""
    files = [name_of_output(path) for path in (options.tsv, options.html, options.xlsx) if path is not None]
    form = form_of(options)
    if form == "json":
        output = options.output_file
        files.append(phrase("the report") if output is None else name_of_output(output))
    if files:
        return phrase("listed in {files}", files=", ".join(files))
    if form in ("csv", "tsv"):
        return phrase("--tsv FILE lists all")
    return phrase("see the leaks in the report; --tsv FILE lists all")


def _put(report: MaskingReport, options: argparse.Namespace) -> int:
    """Write the report, and return the exit code: 1 if a limit is not kept."""
    with speaking(options.lang):
        if options.align:
            remark(f"clueval masking: {_aligned(report.aligned)}")
        leaks = report.failures(fail_on_leak=options.fail_on_leak, reviewed=options.reviewed)
        limits = report.failures(options.fail_under, options.fail_over, reviewed=options.reviewed)
        failures = [*(f"{line} ({_where(options)})" for line in leaks), *limits]
    text = not options.no_text
    if options.html is not None:
        report.write_page(options.html, text=text, lang=options.lang or "", text_lang=options.text_lang or "")
        wrote(options.html)
    if options.tsv is not None:
        report.write_table(options.tsv, text=text)
        wrote(options.tsv)
    if options.documents is not None:
        report.write_documents(options.documents)
        wrote(options.documents)
    if options.xlsx is not None:
        report.write_workbook(options.xlsx, text=text)
        wrote(options.xlsx)
    put_form(report, options, text=text, lang=options.lang or "")
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
  clueval masking gold.vrt predicted.vrt --layer entity=2 --layer risk=3 --entity 5 --html report.html
  clueval masking gold/ published/ --redacted --placeholder 'Person [A-Z]'
  clueval masking gold/ predicted/ --fail-on-leak --tsv leaks.tsv
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
        OptionGroup(lambda parser: add_decisions(parser.group("decisions")), _decisions),
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
        OUTPUT,
        page_with_texts("write a web page to sign and to print", speaks=True),
        shown_option("output", "--tsv", type=output_path, metavar="FILE", help="write the leaks as a table"),
        shown_option(
            "output",
            "--documents",
            type=output_path,
            metavar="FILE",
            help="write the documents to review as a table, riskiest first",
        ),
        shown_option(
            "output",
            "--xlsx",
            type=output_path,
            metavar="FILE",
            help="write documents and leaks as a spreadsheet, with a column for your choice (extra: report)",
        ),
        shown_option(
            "output", "--no-text", action="store_true", help="show positions only, no text of the documents"
        ),
        JOBS,
    ],
    put=_put,
)
