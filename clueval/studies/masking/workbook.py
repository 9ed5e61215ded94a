"""A masking report as a spreadsheet: summary, documents to review, leaks with a choice, string leaks, and settings.

In the context of a leak, its readable text is red, bold and underlined, and what is masked of it green and bold; what
is masked around it is orange and italic. Only the first leaks, `MOST_LEAKS`, have a context; the others show their own
text. The first column is for the reader: *choice* offers `LEAK_CHOICES`. The workbook is a file of decisions (see
`clueval.findings.decisions`); it has choices that hold, and no times. See `clueval.findings.xlsx` for the rest.
"""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any

from clueval.files.visible import visible_lines
from clueval.findings.decisions import LEAK_CHOICES
from clueval.findings.xlsx import Fragment, RowSheets, short, tables_sheet
from clueval.reports.table import Table
from clueval.reports.workbook import require_package, whole_workbook
from clueval.studies.masking.documents import COLUMNS as DOCUMENT_COLUMNS
from clueval.studies.masking.found import MaskingFindings, number_tables, where_masked
from clueval.studies.masking.leak import Leak, ShownPiece, StringLeak

_DECIDED = ("comment", "reviewer", "fingerprint")
_PLACE = ("document", "start", "end_exclusive")
_OF_LEAKS = ("class", "status", "entity", "label", "annotator", "mentions", "protected", "text")


def write(path: Path, report: MaskingFindings, *, text: bool = True) -> None:
    """Write the workbook, whole or not at all; without `text`, it has positions only.

    Raises `MissingExtra` without XlsxWriter, `FileError` if the file cannot be written.
    """
    require_package()
    with whole_workbook(path) as book:
        sentences = [f"{sentence[0].upper()}{sentence[1:]}." for sentence in report.sentences()]
        sentences += [] if report.review is None else [f"Decisions: {report.review.in_words()}."]
        tables_sheet(book, "Summary", sentences, chain.from_iterable(number_tables(report)))
        documents = RowSheets(book, "Documents", ("comment", *DOCUMENT_COLUMNS))
        for one in report.documents_to_review:
            name, *cells = one.cells()
            documents.add(cells, "", [(visible_lines(str(name)), "neither")], None)
        context, with_text = ("context", ()) if text else ("exposed", ("label", "text"))
        columns = [name for name in (*_PLACE, *_OF_LEAKS) if name not in with_text]
        leaks = RowSheets(book, "Leaks", ("choice", context, *columns, *_DECIDED), LEAK_CHOICES)
        for leak in report.all_leaks:
            row: dict[str, Any] = {**leak.to_dict(), "end_exclusive": leak.end, "entity": where_masked(leak)}
            row |= {"label": leak.label, "text": leak.text}
            cells = [*(row[name] for name in columns), *_decided(leak)]
            leaks.add(cells, _choice(leak), _fragments(leak, text=text), None)
        strings = RowSheets(book, "Strings", ("choice", context, *_PLACE, *_DECIDED), LEAK_CHOICES)
        for string in report.all_string_leaks:
            cells = [string.document, string.start, string.end, *_decided(string)]
            strings.add(cells, _choice(string), _fragments(string, text=text), None)
        for sheets in (documents, leaks, strings):
            sheets.finish()
        settings = [[name, value] for name, value in report.signature.choices.items()]
        signature = [f"signature: {report.signature}"]
        tables_sheet(book, "Settings", signature, [Table("settings", ["setting", "value"], settings)])


def _choice(leak: Leak | StringLeak) -> str:
    return "" if leak.decision is None else leak.decision.holds


def _decided(leak: Leak | StringLeak) -> list[str]:
    """Return the comment, the reviewer and the fingerprint."""
    said = ("", "") if leak.decision is None else (leak.decision.comment, leak.decision.reviewer)
    return [*said, leak.fingerprint]


def _fragments(leak: Leak | StringLeak, *, text: bool) -> list[Fragment]:
    """Return the text around a leak as fragments, or what is exposed of it, without its text."""
    if not text:
        exposed = leak.exposed if isinstance(leak, Leak) else [(leak.start, leak.end)]
        return [(" ".join(f"{start}-{end}" for start, end in exposed), "neither")]
    pieces = leak.context or (ShownPiece(leak.text, "exposed", is_own=True),)
    return short([_fragment(piece) for piece in pieces if piece.text])


def _fragment(piece: ShownPiece) -> Fragment:
    text, is_masked = visible_lines(piece.text), piece.style == "masked"
    if piece.is_own:
        return text, "both" if is_masked else "own"
    return text, "other" if is_masked else "neither"
