"""``clueval masking``: what was left unmasked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Annotated

import clueval
from clueval.cli.config import in_options
from clueval.cli.declared import Input, Keywords, Output, fields, without_none
from clueval.cli.options import DECISIONS, PREPARING, READING
from clueval.cli.outputs import REPORT_WITH_TEXTS, ReportOutput
from clueval.cli.printing import complain, remark, wrote
from clueval.cli.progress import JOBS, Jobs
from clueval.compat.masking import PROGRAMS, SETTINGS
from clueval.files.errors import CluevalError, FileError, UsageError
from clueval.files.options import column
from clueval.metrics.masking import Masking
from clueval.reports import READABLE
from clueval.reports.language import in_language
from clueval.results.options import Counting
from clueval.studies.masking.limits import listed_in_words, require_limits

_SETTINGS = " ".join(SETTINGS)
_PROGRAMS = ", ".join(PROGRAMS)


@contextmanager
def _hiding_text() -> Iterator[None]:
    """Let errors in documents say where they are, and not what stands there."""
    try:
        yield
    except FileError:
        raise
    except CluevalError as error:
        if error.file is not None or error.document is not None:
            error.problem, error.advice = (
                "there is an error here",
                "without --no-text, the message describes it",
            )
        raise


def masking(
    gold: Input,
    predicted: Input | None = None,
    *,
    settings: Keywords = fields(Masking, "counting", _SETTINGS),
    weight_column: Annotated[int, column] | None = None,
    counting: Keywords = fields(Counting, "counting", "merge where by pair_by"),
    conventions: str = "",
    fail_on_leak: bool = False,
    fail_under: list[str] | None = None,
    fail_over: list[str] | None = None,
    reviewed: bool = False,
    decisions: Keywords = DECISIONS,
    redacted: bool = False,
    placeholder: list[str] | None = None,
    align: bool = False,
    preparing: Keywords = PREPARING,
    reading: Keywords = READING,
    report: ReportOutput = REPORT_WITH_TEXTS,
    documents: Output | None = None,
    no_text: bool = False,
    jobs: Jobs = JOBS,
) -> int:
    """Report what was left unmasked. Gold spans say what must be masked, predicted spans what was.

    GOLD and PREDICTED are files or folders, as for clueval score. A mention is protected if no letter or digit of it
    can be read, an entity if all its mentions are. The exit code is 1 if a limit is not kept: --fail-on-leak,
    --fail-under, --fail-over.

    usage: GOLD PREDICTED

    counting:
        weight_column COLUMN: the column of the gold files that has the weight of each token
        conventions NAME,...: also count as other programs do: {_PROGRAMS}
    limits:
        fail_on_leak: exit with 1 if a mention that must be masked can be read, wholly or in part, or if there is no
            mention that must be masked; for string leaks and uncertain mentions add --fail-over string_leaks=0 and
            --fail-over uncertain=0
        fail_under FIGURE=X: exit with 1 if a figure is below X, as in entity_recall[high]=1 or mention_recall=99%;
            can be repeated
        fail_over FIGURE=X: exit with 1 if a figure is above X, as in document_leak_upper=0.05; can be repeated
        reviewed: apply the limits to the figures as reviewed (--decisions)
    redacted:
        redacted: PREDICTED is a redacted text, or a folder with one for each gold document, named like its id or its
            file
        placeholder REGEX: a further placeholder in redacted texts; can be repeated
        align: redacted texts may differ in more than placeholders: surrogates, deletions, edits (extra: align)
    output:
        documents FILE: write the documents to review as a table, riskiest first
        no_text: show positions only, no text of the documents

    examples:
        clueval masking gold.vrt predicted.vrt --layer entity=2 --layer risk=3
        clueval masking gold.vrt predicted.vrt --layer entity=2 --layer risk=3 --entity 5 -o report.html
        clueval masking gold/ published/ --redacted --placeholder 'Person [A-Z]'
        clueval masking gold/ predicted/ --fail-on-leak -o leaks.tsv
        clueval masking gold/ predicted/ --fail-under entity_recall[high]=1 --fail-over document_leak_upper=0.05
    """
    limits = fail_under or [], fail_over or []
    require_limits(*limits)
    if reviewed and decisions["decisions"] is None:
        raise UsageError("--reviewed needs --decisions", advice="add --decisions FILE")
    with _hiding_text() if no_text else nullcontext(), jobs.counting(gold, predicted) as work:
        content = clueval.masking(
            gold,
            predicted,
            conventions=conventions,
            redacted=redacted,
            placeholder=placeholder or (),
            align=align,
            **without_none(weight_column=weight_column),
            **work,
            **settings,
            **counting,
            **decisions,
            **preparing,
            **reading,
        )
    with in_language(report.lang):
        if align:
            remark(f"clueval masking: {content.aligned_in_words()}")
        lists = [str(path) for path in report.files if report.form_in(path) not in READABLE]
        lists += ["-"] if report.prints and report.form not in READABLE else []
        leaks = content.failures(fail_on_leak=fail_on_leak, reviewed=reviewed)
        listed = f" ({listed_in_words(lists)})" if content.mentions else ""
        failures = [f"{in_options(line, 'masking')}{listed}" for line in leaks]
        failures += content.failures(*limits, reviewed=reviewed)
    report.put(content.showing(text=not no_text))
    if documents is not None:
        content.write_documents(documents)
        wrote(documents)
    for line in failures:
        complain(f"clueval masking: {line}")
    return 1 if failures else 0
