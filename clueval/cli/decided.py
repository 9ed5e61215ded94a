"""The options of the commands that read decisions about places."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field

from clueval.cli import options as common
from clueval.cli.convert import put_documents
from clueval.cli.outputs import refuse_to_overwrite
from clueval.cli.printing import remark
from clueval.evaluation.result import Result
from clueval.files.errors import UsageError
from clueval.files.overwriting import input_path
from clueval.findings.choice import Choice
from clueval.findings.decisions import CONFLICTS, PlaceDecisions, read_decisions
from clueval.findings.kept import KeptRows
from clueval.findings.stream import decisions_about_errors
from clueval.formats.format import Format
from clueval.reports.table import Table
from clueval.second.formats.options import Reading
from clueval.second.formats.writing import writer_named
from clueval.second.reading.convert import Conversion
from clueval.second.reading.options import readings_of
from clueval.spans.document import Document
from clueval.studies.corrections import Corrections, corrected_format, in_words, is_flat


def add_decisions(group: argparse._ArgumentGroup) -> None:
    """Add the options that name files of decisions, and say what to do about conflicts."""
    group.add_argument(
        "--decisions",
        action="append",
        type=input_path,
        metavar="FILE",
        help="a file of decisions that a page has exported, a workbook with choices (extra: report), or a folder; can "
        "be repeated",
    )
    group.add_argument(
        "--conflicts",
        choices=CONFLICTS,
        metavar="HOW",
        help=f"what counts where reviewers differ: {' or '.join(CONFLICTS[:2])} by time, or {CONFLICTS[2]} (default: "
        "an error)",
    )


def decisions_of(options: argparse.Namespace) -> PlaceDecisions | None:
    """Return the decisions that the options name; None without files."""
    if options.decisions is None:
        if options.conflicts is not None:
            raise UsageError("--conflicts needs --decisions", advice="add --decisions FILE")
        return None
    return read_decisions(options.decisions, options.conflicts)


MOST_LEFT = 10


@dataclass(slots=True)
class DecidedErrors:
    """What ``clueval errors`` does with decisions: the summary, and gold corrected."""

    options: argparse.Namespace
    decisions: PlaceDecisions
    corrections: Corrections
    form: Format | None = None
    of_gold: str = ""
    gold: KeptRows[Document] = field(default_factory=KeptRows)

    @classmethod
    def of(cls, options: argparse.Namespace, choice: Choice) -> DecidedErrors:
        """Return it for the options. Raises `CluevalError` for decisions that cannot be read, or not be applied."""
        decisions = decisions_of(options)
        if decisions is None:
            raise UsageError("--corrected needs --decisions", advice="add --decisions FILE")
        decisions_about_errors(decisions)
        for name, is_given in (("merge", choice.merge), ("limit", options.limit is not None)):
            if is_given:
                raise UsageError(f"--{name} does not apply to --decisions", advice="leave one out")
        if options.corrected is None:
            return cls(options, decisions, Corrections(choice, decisions))
        reading = common.reading(options)
        readings = readings_of(reading.pop("reading", Reading()), reading)
        form, of_gold = corrected_format(
            options.gold, options.predicted, readings[0], common.preparing_of(options), options.corrected
        )
        gold = KeptRows[Document]()
        refuse_to_overwrite([options.corrected])
        corrections = Corrections(choice, decisions, gold.take, is_flat(form))
        return cls(options, decisions, corrections, form, of_gold, gold)

    def tables(self, result: Result) -> list[Table]:
        """Return the tables about decisions. Raises `UsageError` for conflicts."""
        self.decisions.checked()
        return list(self.corrections.tables(result.metrics))

    def put(self, tables: list[Table]) -> None:
        """Print the summary, and write the corrected gold."""
        remark(self.decisions.words())
        for line in in_words(tables):
            remark(line)
        left = self.corrections.left
        for line in left[:MOST_LEFT]:
            remark(f"not applied: {line}")
        if len(left) > MOST_LEFT:
            remark(f"not applied: {len(left) - MOST_LEFT:,} more")
        if self.form is not None:
            if self.of_gold not in ("", self.form.name):
                written = f"the corrected gold is written in the format {self.form.name}"
                remark(f"the format {self.of_gold} is only read: {written}")
            with self.gold as documents:
                with_ids = "token_id" in common.reading(self.options)
                conversion = Conversion(
                    self.form.name,
                    writer_named(self.form.name),
                    [],
                    with_ids,
                    remark=remark,
                    output=self.options.corrected,
                )
                put_documents(conversion, documents)
