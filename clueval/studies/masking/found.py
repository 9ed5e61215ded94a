"""What a masking report has found: figures, leaks, the sentence on documents; as text for a terminal and as tables.

The leaks are also a table of tab-separated values, for a spreadsheet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import ceil, floor, log10
from pathlib import Path
from typing import Any

from clueval.evaluation.result import Result
from clueval.evaluation.signature import Signature
from clueval.files.visible import visible
from clueval.files.writing import whole_file
from clueval.first.metrics.masking import Masking
from clueval.first.metrics.masking.mention import risk_by
from clueval.first.metrics.tables import first_of, named, of_report, of_section
from clueval.reports import separated
from clueval.reports.language import numeral, phrase
from clueval.reports.report import Report
from clueval.reports.table import Table, cut_label
from clueval.reports.text import foot, narrow, render, summary
from clueval.studies.masking.documents import COLUMNS as DOCUMENT_COLUMNS
from clueval.studies.masking.documents import DocumentToReview, documents_of
from clueval.studies.masking.leak import Inconsistent, Leak, StringLeak
from clueval.studies.masking.review import REVIEWED, Review

CONVENTION = "convention "
"""What the names of observers that count as another program does begin with; the name of the program follows."""


@dataclass(frozen=True, slots=True)
class MaskingFindings(Report):
    """What was left unmasked: `result` has the figures, `leaks` each mention that is not protected.

    `string_leaks` are the words of mentions elsewhere in the text. `needless` are masks without any character of
    a mention, each with its text and how often it occurs, most frequent first; `inconsistent` are the entities
    whose mentions have several replacements; `aligned` is the number of redacted texts that had to be aligned.
    `set_apart` are the leaks that were decided to be none, and `review` says what was decided, None if no decisions
    were read; figures as reviewed are those of the metric `REVIEWED`. `names` are those of the files or folders.
    """

    result: Result
    leaks: Sequence[Leak]
    string_leaks: Sequence[StringLeak]
    needless: Sequence[tuple[str, int]] = field(default=(), repr=False)
    inconsistent: Sequence[Inconsistent] = field(default=(), repr=False)
    aligned: int = 0
    set_apart: Sequence[Leak | StringLeak] = ()
    review: Review | None = None
    names: Sequence[str] = ()

    @property
    def signature(self) -> Signature:
        return self.result.signature

    @property
    def reports(self) -> Mapping[str, Mapping[str, Any]]:
        """The report of each sequence, with the figures of other programs' conventions in that of the first."""
        found: dict[str, Any] = dict(self.result.metrics["masking"])
        if found and (conventions := self._conventions()):
            first = next(iter(found))
            found[first] = {**found[first], "conventions": conventions}
        return found

    def _conventions(self) -> dict[str, Any]:
        sections = self.result.sections.items()
        return {
            name.removeprefix(CONVENTION): dict(of) for name, of in sections if name.startswith(CONVENTION)
        }

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain dictionaries, lists, strings and numbers; leaks have positions, no text."""
        found = self.result.to_dict()
        for name in self.result.sections:
            found.pop(name, None)
        found["metrics"] = {**found["metrics"], "masking": dict(self.reports)}
        found["leaks"] = [leak.to_dict() for leak in self.leaks]
        found["string_leaks"] = [leak.to_dict() for leak in self.string_leaks]
        if self.review is not None:
            found["set_apart"] = [leak.to_dict() for leak in self.set_apart]
            found["decisions"] = self.review.to_dict()
        return found

    @property
    def all_leaks(self) -> list[Leak]:
        """The leaks, riskiest first, and among them those that are set apart."""
        risk = risk_by(self.metric.risk_order)
        apart = (leak for leak in self.set_apart if isinstance(leak, Leak))
        return sorted((*self.leaks, *apart), key=lambda leak: leak.order(risk))

    @property
    def all_string_leaks(self) -> list[StringLeak]:
        """The string leaks, and among them those that are set apart."""
        apart = (leak for leak in self.set_apart if isinstance(leak, StringLeak))
        return sorted((*self.string_leaks, *apart), key=lambda leak: leak.place)

    @property
    def documents_to_review(self) -> list[DocumentToReview]:
        """The documents with leaks, riskiest first."""
        return documents_of(self.leaks, risk_by(self.metric.risk_order))

    @property
    def metric(self) -> Masking:
        """The metric, with its settings."""
        found = self.result.scored_by[0]
        assert isinstance(found, Masking)
        return found

    def sentences(self) -> Iterator[str]:
        """The sentence on documents, in words, for each sequence; then those as reviewed."""
        for metric, reports in self.result.metrics.items():
            for name, report in reports.items():
                begin = f"{name}: " if len(reports) > 1 else ""
                begin += phrase("as reviewed, ") if metric == REVIEWED else ""
                yield begin + documents_in_words(report["classes"]["all"], self.metric.confidence)


def documents_in_words(row: Mapping[str, Any], confidence: float) -> str:
    """The numbers of documents that leak, and their bound, as a sentence.

    >>> documents_in_words({"documents": 59, "documents_exposed": 0, "document_leak_upper": 0.0495}, 0.95)
    '0 of 59 documents leak; if these are a random sample, under 5 % of all do (95 % confidence)'
    """
    number, exposed, bound = row["documents"], row["documents_exposed"], row["document_leak_upper"]
    if not number:
        return phrase("no document has a mention")
    begin = phrase(
        "{exposed} of {n} document leaks|{exposed} of {n} documents leak", exposed=exposed, n=number
    )
    if bound >= 1:
        return begin + phrase("; if these are a random sample, all others may leak, too")
    return begin + phrase(
        "; if these are a random sample, under {share} % of all do ({confidence} % confidence)",
        share=percent_above(bound),
        confidence=numeral(100 * confidence, "g"),
    )


def percent_above(share: float) -> str:
    """The smallest percentage with two digits, or a whole one, that is not below a share.

    >>> percent_above(0.0495), percent_above(0.0501), percent_above(0.123), percent_above(0.00012)
    ('5', '5.1', '13', '0.012')
    """
    places = 0 if share >= 0.1 else 1 - floor(log10(100 * share))
    return numeral(ceil(round(100 * share * 10**places, 6)) / 10**places, "g")


def by_frequency(counted: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """Texts and their numbers, most frequent first; equal texts are added."""
    total: dict[str, int] = {}
    for text, number in counted:
        total[text] = total.get(text, 0) + number
    return sorted(total.items(), key=lambda one: (-one[1], one[0]))


MOST_LEAKS = 200
"""How many leaks the text shows; JSON and TSV have all."""

MOST_DOCUMENTS = 20
"""How many documents to review the text shows."""


def lines(report: MaskingFindings, *, text: bool) -> Iterator[str]:
    """Yield the lines: the sentence on documents, the tables, documents and leaks riskiest first, the signature."""
    whole = report.result.to_dict()
    yield from summary(whole)
    yield from (f"{sentence[0].upper()}{sentence[1:]}." for sentence in report.sentences())
    yield ""
    figures, groups, *conventions = number_tables(report)
    yield _narrow(figures)
    if report.result.groups is not None:
        yield _narrow(groups)
    yield from (render({}, tables) for tables in conventions)
    yield from _documents(report.documents_to_review)
    yield from _leaks(report, text=text)
    if report.review is not None:
        yield f"{phrase('decisions')}: {visible(report.review.in_words())}"
    yield from foot(whole)


def number_tables(report: MaskingFindings) -> Iterator[Iterator[Table]]:
    """Yield the tables of figures, those of break-downs, then those of each convention of another program."""
    whole, reports = report.result.to_dict(), report.reports
    yield chain.from_iterable(
        metric.tables(f"{metric.name}, {cut_label(name)}", one)
        for metric in report.result.scored_by
        for name, one in whole["metrics"][metric.name].items()
    )
    yield of_report({**whole, "metrics": {}}, report.result.scored_by)
    for name, one in reports.items():
        for program, section in one["conventions"].items():
            title = phrase("as {program} counts, {layer}", program=program, layer=cut_label(name))
            yield of_section(title, section)


def _narrow(found: Iterable[Table]) -> str:
    return render({}, (part for table in found for part in narrow(table)))


def leak_tables(report: MaskingFindings, *, text: bool) -> Iterator[Table]:
    """Yield the first documents, leaks and string leaks as tables."""
    documents = report.documents_to_review
    if documents:
        yield Table(
            _title(phrase("documents to review, riskiest first"), len(documents), MOST_DOCUMENTS),
            named(name.replace("_", " ") for name in DOCUMENT_COLUMNS),
            [one.cells() for one in documents[:MOST_DOCUMENTS]],
        )
    decided = () if report.review is None else ("decision",)
    listed = [
        [
            f"{leak.document} [{leak.start},{leak.end})",
            *(leak.kind, phrase(leak.status), where_masked(leak)),
            *([leak.label, _words(leak)] if text else []),
            *(_said(leak) for _ in decided),
        ]
        for leak in report.leaks[:MOST_LEAKS]
    ]
    if listed:
        header = ["leak", "class", "status", "entity", *(["label", "text"] if text else []), *decided]
        yield Table(_title(phrase("leaks, riskiest first"), len(report.leaks)), named(header), listed)
    for what, strings in (
        (phrase("string leaks: words of a mention elsewhere in the text"), report.string_leaks),
        (phrase("leaks set apart: harmless, or an error of the annotation"), report.set_apart),
    ):
        rows = [
            [
                f"{one.document} [{one.start},{one.end})",
                *([cut_label(one.text)] if text else []),
                *(_said(one) for _ in decided),
            ]
            for one in strings[:MOST_LEAKS]
        ]
        if rows:
            header = ["leak", *(["text"] if text else []), *decided]
            yield Table(_title(what, len(strings)), named(header), rows)
    if report.review is not None:
        numbers: list[list[str | int]] = [
            [phrase(name), number]
            for name, number in report.review.to_dict().items()
            if isinstance(number, int)
        ]
        yield Table(phrase("decisions"), named(["places", "number"]), numbers)


def _said(leak: Leak | StringLeak) -> str:
    return "" if leak.decision is None else leak.decision.said()


def _title(what: str, number: int, most: int = MOST_LEAKS) -> str:
    return what + (first_of(most, number) if number > most else "")


def _documents(found: Sequence[DocumentToReview]) -> Iterator[str]:
    number = len(found)
    if number:
        yield phrase(
            "{n} document to review, riskiest first|{n} documents to review, riskiest first", n=number
        )
    for one in found[:MOST_DOCUMENTS]:
        yield visible(f"  {one.document}: {one.in_words()}")
    if number > MOST_DOCUMENTS:
        yield phrase("  ... {number} more (--documents has all)", number=number - MOST_DOCUMENTS)
    if number:
        yield ""


def _leaks(report: MaskingFindings, *, text: bool) -> Iterator[str]:
    if not report.result.documents:
        yield phrase("no documents, so nothing was checked")
        return
    if not report.leaks:
        yield phrase("no leaks")
    for leaks, title in (
        (report.leaks, phrase("{n} leak, riskiest first|{n} leaks, riskiest first", n=len(report.leaks))),
        (
            report.string_leaks,
            phrase(
                "{n} string leak: words of a mention elsewhere in the text|"
                "{n} string leaks: words of a mention elsewhere in the text",
                n=len(report.string_leaks),
            ),
        ),
        (
            report.set_apart,
            phrase(
                "{n} leak set apart: harmless, or an error of the annotation|"
                "{n} leaks set apart: harmless, or an error of the annotation",
                n=len(report.set_apart),
            ),
        ),
    ):
        if leaks:
            yield title
            yield from _listed(leaks, text=text)
    yield ""


def _listed(leaks: Sequence[Leak | StringLeak], *, text: bool) -> Iterator[str]:
    for leak in leaks[:MOST_LEAKS]:
        line, words = _line(leak), f": {_words(leak)}" if text else ""
        decision = f"; {leak.decision.in_words()}" if _said(leak) and leak.decision is not None else ""
        yield visible(f"  {line}{words}{decision}")
    if len(leaks) > MOST_LEAKS:
        yield phrase("  ... {number} more (--tsv or --format json has all)", number=len(leaks) - MOST_LEAKS)


def _line(leak: Leak | StringLeak) -> str:
    place = f"{leak.document} [{leak.start},{leak.end})"
    if isinstance(leak, StringLeak):
        return place
    return f"{place} {leak.kind}, {leak.label}, {phrase(leak.status)}; {where_masked(leak)}"


def _words(leak: Leak | StringLeak) -> str:
    """Return the text of a leak and, if it is masked in part, what can be read of it."""
    if isinstance(leak, StringLeak) or leak.status != "partial":
        return cut_label(leak.text)
    readable = " ".join(leak.text[start - leak.start : end - leak.start] for start, end in leak.exposed)
    return phrase("{text} (readable: {readable})", text=cut_label(leak.text), readable=cut_label(readable))


def where_masked(leak: Leak) -> str:
    """Return in how many places the entity of a leak is masked, in words."""
    if leak.mentions == 1:
        return phrase("its only place")
    return phrase("masked in {protected} of {n} places", protected=leak.protected, n=leak.mentions)


COLUMNS = (
    *("document", "annotator", "start", "end_exclusive", "class", "status", "exposed"),
    *("mentions", "protected", "same_words", "same_words_protected"),
)


DECIDED = ("fingerprint", "choice", "state", "comment", "reviewer")
"""The columns of a table if decisions were read."""


def write_table(path: Path, report: MaskingFindings, *, text: bool) -> None:
    """Write the table, whole or not at all; without `text`, it has positions only. Raises `FileError`."""
    decided = () if report.review is None else DECIDED
    columns = (*COLUMNS, *(("label", "text") if text else ()), *decided)
    with whole_file(path) as file:
        file.write(f"{separated.render(columns, _rows(report), 'tsv')}\n")


def write_documents(path: Path, report: MaskingFindings) -> None:
    """Write the documents to review as a table, whole or not at all. Raises `FileError`."""
    rows = (dict(zip(DOCUMENT_COLUMNS, one.cells(), strict=True)) for one in report.documents_to_review)
    with whole_file(path) as file:
        file.write(f"{separated.render(DOCUMENT_COLUMNS, rows, 'tsv')}\n")


def _rows(report: MaskingFindings) -> Iterator[dict[str, Any]]:
    """Yield a row for each leak, then for each string leak."""
    for leak in report.all_leaks:
        exposed = " ".join(f"{start}-{end}" for start, end in leak.exposed)
        more = {"end_exclusive": leak.end, "exposed": exposed, "label": leak.label, "text": leak.text}
        yield {**leak.to_dict(), **more}
    for one in report.all_string_leaks:
        more = {"end_exclusive": one.end, "status": "string", "label": None, "text": one.text}
        yield {**dict.fromkeys(COLUMNS), **one.to_dict(), **more}
