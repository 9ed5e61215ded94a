"""The masking report: the result of metric `masking` with its leaks, in all forms, and limits for its figures.

A limit is written ``FIGURE=X``; X may be a percentage. FIGURE is a figure of a row, with its class in brackets (all
classes without them), as in ``entity_recall[high]``; or a figure of precision; before it, separated by a dot, may stand
the name of the sequence, and must if there are several. It may also be the path of a number below ``metrics`` in the
JSON report.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import Any, ClassVar

from clueval.arguments import checked_call
from clueval.evaluation.observer import Observer
from clueval.evaluation.result import Result
from clueval.evaluation.rows import columns_of, wide_rows
from clueval.evaluation.run import score
from clueval.evaluation.signature import Signature
from clueval.files.errors import UsageError, warn
from clueval.findings.decisions import PlaceDecisions
from clueval.first.metrics import with_settings
from clueval.first.metrics.masking import Masking
from clueval.first.metrics.masking.figures import MOST_DOCUMENTS
from clueval.first.metrics.masking.mention import risk_by
from clueval.options import field_names, fraction
from clueval.reports.language import numeral, phrase, speaking
from clueval.reports.report import READABLE, Data, Report, renderer
from clueval.reports.table import Table, decimals
from clueval.statistics.distributions import trials_needed, upper_bound
from clueval.studies.gates import require_fraction
from clueval.studies.masking.collector import LeakCollector, WatchedMasking
from clueval.studies.masking.found import (
    MaskingFindings,
    by_frequency,
    leak_tables,
    lines,
    number_tables,
    percent_above,
    write_documents,
    write_table,
)
from clueval.studies.masking.leak import Leak, StringLeak
from clueval.studies.masking.review import REVIEWED, Review, ReviewedMasking, is_set_apart

_PLACE = attrgetter("place")


@dataclass(frozen=True, slots=True)
class MaskingReport(MaskingFindings):
    """What was left unmasked, see `MaskingFindings`; reports of several corpora add up."""

    _named_by: ClassVar[Sequence[str]] = Result._named_by
    _title: ClassVar[str] = "What was left unmasked"

    def tables(self, *, text: bool = True) -> Iterator[Table]:
        """Yield the figures, then the leaks, riskiest first; without `text`, leaks have positions only."""
        for tables in number_tables(self):
            yield from tables
        yield from leak_tables(self, text=text)

    def render(
        self, form: str = "text", *, text: bool = True, digits: int | None = None, lang: str = ""
    ) -> str:
        """The report in one of `FORMS`; without `text`, leaks have positions only.

        CSV and TSV have the figures, and `write_table` writes the leaks. `digits` is the number of decimals of the
        other forms, `lang` the language of their sentences and tables.
        """
        if form not in READABLE:
            return Report.render(self, form)
        with decimals(digits), speaking(lang):
            if form == "text":
                return "\n".join(lines(self, text=text))
            return renderer(form)(self._content(), self.tables(text=text))

    def write_table(self, path: str | Path, *, text: bool = True) -> None:
        """Write the leaks as tab-separated values. Raises `FileError`."""
        write_table(Path(path), self, text=text)

    def write_documents(self, path: str | Path) -> None:
        """Write the documents to review, riskiest first, as tab-separated values. Raises `FileError`."""
        write_documents(Path(path), self)

    def write_workbook(self, path: str | Path, *, text: bool = True) -> None:
        """Write a spreadsheet, with documents and leaks to decide on; without `text`, it has positions only.

        Raises `FileError`, and `MissingExtra` without the extra ``report``.
        """
        from clueval.studies.masking.workbook import write

        write(Path(path), self, text=text)

    @checked_call
    def write_page(
        self,
        path: str | Path,
        *,
        title: str | None = None,
        lang: str = "",
        text_lang: str = "",
        text: bool = True,
    ) -> None:
        """Write the web page to decide on leaks and to sign; `lang` and `text_lang` are those of `Result.write_page`.

        Browsers keep decisions by the title, which by default has the names of the files. Without `text`, it has
        positions only. Raises `FileError`, and `MissingExtra` without the extra ``report``.
        """
        from clueval.reports.page import write_page
        from clueval.studies.masking.page import render

        names = ", ".join(self.names)
        with speaking(lang, text_lang):
            shown, store = (
                title or ": ".join(filter(None, (own, names))) for own in (phrase(self._title), self._title)
            )
            write_page(Path(path), render(self, title=shown, store=store, text=text))

    def failures(
        self,
        fail_under: Iterable[str] | str = (),
        fail_over: Iterable[str] | str = (),
        *,
        fail_on_leak: bool = False,
        reviewed: bool = False,
    ) -> list[str]:
        """A line for each limit, such as ``entity_recall[high]=1``, that the figures do not keep.

        A limit is a number or a percentage (``mention_recall=99%``). With `fail_on_leak`, also a line with the number
        of leaks, if there are any: mentions that must be masked and can be read, wholly or in part; `leaks` lists them.
        With `reviewed`, the figures are those as reviewed. Raises `UsageError` for a limit that cannot be read, for an
        unknown figure, and for `reviewed` if no decisions were read.
        """
        if reviewed and self.review is None:
            raise UsageError("no decisions were given", advice="masking(..., decisions='decisions.tsv')")
        figures = self.result.metrics[REVIEWED] if reviewed else self.reports
        leaks = _leaks(figures) if fail_on_leak else ()
        return [*leaks, *_failures(self, figures, fail_under, fail_over)]

    def __add__(self, other: MaskingReport) -> MaskingReport:
        """The report of both corpora. Raises `UsageError` if they were not counted alike."""
        risk = risk_by(self.metric.risk_order)
        return replace(
            self,
            result=self.result.add(other.result),
            leaks=sorted([*self.leaks, *other.leaks], key=lambda leak: leak.order(risk)),
            string_leaks=sorted([*self.string_leaks, *other.string_leaks], key=_PLACE),
            needless=by_frequency([*self.needless, *other.needless]),
            inconsistent=sorted([*self.inconsistent, *other.inconsistent]),
            aligned=self.aligned + other.aligned,
            set_apart=[*self.set_apart, *other.set_apart],
            review=self.review + other.review if self.review and other.review else None,
        )

    def _content(self) -> Mapping[str, Any]:
        return self.result.to_dict()

    def _data(self) -> Data:
        whole = self.to_dict()
        return Data(columns_of(whole), wide_rows(whole))


def masking_report(
    gold: Any,
    predicted: Any,
    metric: Masking,
    observers: Sequence[Observer] = (),
    decisions: PlaceDecisions | None = None,
    **options: Any,
) -> MaskingReport:
    """Return the report on two sides, files or documents; the arguments and errors are those of `clueval.score`.

    Raises `UsageError` for conflicts of `decisions`, and warns if some are stale or lost.
    """
    settings = {name: getattr(metric, name) for name in field_names(Masking)}
    watched = WatchedMasking(**settings)
    collector = LeakCollector(watched)
    metrics = [watched, *([] if decisions is None else [ReviewedMasking(**settings, decisions=decisions)])]
    result = score(gold, predicted, metrics=metrics, observers=[collector, *observers], **options)
    risk = risk_by(metric.risk_order)
    found = MaskingReport(
        result,
        sorted(collector.leaks, key=lambda leak: leak.order(risk)),
        sorted(collector.string_leaks, key=_PLACE),
        by_frequency(collector.needless.items()),
        sorted(collector.inconsistent),
    )
    return found if decisions is None else _as_decided(found, decisions)


def _as_decided(report: MaskingReport, decisions: PlaceDecisions) -> MaskingReport:
    """Return the report with what was decided about its leaks; those that are none are set apart."""
    leaks = [replace(leak, decision=decisions.at(*leak.key, leak.fingerprint)) for leak in report.leaks]
    strings = [replace(one, decision=decisions.at(*one.key, one.fingerprint)) for one in report.string_leaks]
    found: list[Leak | StringLeak] = [*leaks, *strings]
    decisions.checked()
    if decisions.number("stale") or decisions.lost:
        warn(decisions.words())
    review = Review.of(found, decisions)
    metrics = with_settings(report.metric)
    choices = {**report.signature.choices, "metrics": metrics}
    signature = Signature(choices).citing(reviewed=review.fingerprint)
    return replace(
        report,
        result=replace(report.result, signature=signature),
        leaks=[leak for leak in leaks if not is_set_apart(leak)],
        string_leaks=[leak for leak in strings if not is_set_apart(leak)],
        set_apart=[leak for leak in found if is_set_apart(leak)],
        review=review,
    )


NEAR = 1e-12
"""A figure that misses its limit by no more than this keeps it."""

_FIGURE = re.compile(r"(?:(?P<sequence>.+)\.)?(?P<name>[a-z_]+)(?:\[(?P<kind>.*)\])?", re.DOTALL)

_BOUND = re.compile(r"((?:.+\.)?)document_leak_upper((?:\[.*\])?)", re.DOTALL)
"""The figure that is a bound, with what stands before and after its name."""

_MISSING = object()


def _leaks(figures: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line with the number of mentions that are not protected, if there are any."""
    rows = [figures_of["classes"]["all"] for figures_of in figures.values()]
    if number := sum(row["mentions"] - row["protected"] for row in rows):
        yield phrase(
            "{n} leak: a mention that must be masked can be read|"
            "{n} leaks: mentions that must be masked can be read",
            n=number,
        )


def _failures(
    report: MaskingReport,
    figures: Mapping[str, Mapping[str, Any]],
    fail_under: Iterable[str] | str,
    fail_over: Iterable[str] | str,
) -> Iterator[str]:
    """Yield a line for each limit that is not kept; a figure that is undefined, or of an absent class, keeps none.

    Raises `UsageError` for a limit that cannot be read and for an unknown figure.
    """
    for limits, is_lower in ((fail_under, True), (fail_over, False)):
        for figure, limit in map(_limit, [limits] if isinstance(limits, str) else limits):
            value = _value(figures, figure)
            require_fraction(figure, figure.partition("[")[0].rpartition(".")[2], limit)
            word = phrase("under") if is_lower else phrase("over")
            if value is None:
                yield phrase(
                    "{figure} is undefined{why}, and must not be {word} {limit}",
                    figure=figure,
                    why=_why(figures, figure),
                    word=word,
                    limit=numeral(limit, "g"),
                )
            elif (value < limit - NEAR) if is_lower else (value > limit + NEAR):
                of_documents = None if is_lower else _BOUND.fullmatch(figure)
                if of_documents is None:
                    shown = {"value": numeral(value, ".6g"), "limit": numeral(limit, "g")}
                    yield phrase("{figure} is {value}, {word} {limit}", figure=figure, word=word, **shown)
                    continue
                number, leaking = (
                    int(_value(figures, name.join(of_documents.groups())) or 0)
                    for name in ("documents", "documents_exposed")
                )
                needed = _documents_needed(number, leaking, limit, report.metric.confidence)
                bound = percent_above(value)
                yield phrase(
                    "{figure}: the upper bound is {bound} %, over {limit} %; {needed}",
                    figure=figure,
                    bound=bound,
                    limit=numeral(100 * limit, "g"),
                    needed=needed,
                )


def _documents_needed(number: int, leaking: int, limit: float, confidence: float) -> str:
    """Say how many documents would keep a limit of the bound, of which none, or as many as now, leak.

    >>> _documents_needed(60, 0, 0.01, 0.95)
    '60 documents cannot show less than 4.9 %: 299 documents without a leak are needed'
    """
    least = percent_above(upper_bound(0, number, confidence))
    without, needed = (trials_needed(k, limit + NEAR, confidence) for k in (0, leaking))
    if without is None:
        return phrase(
            "{n} document cannot show less than {least} %, and {most} would not be enough|"
            "{n} documents cannot show less than {least} %, and {most} would not be enough",
            n=number,
            least=least,
            most=MOST_DOCUMENTS,
        )
    begin = phrase(
        "{n} document cannot show less than {least} %: |{n} documents cannot show less than {least} %: ",
        n=number,
        least=least,
    )
    begin = begin if without > number else ""
    if not leaking:
        return begin + phrase("{without} documents without a leak are needed", without=without)
    return begin + phrase(
        "{without} documents without a leak are needed, or {many} of which {n} leaks|"
        "{without} documents without a leak are needed, or {many} of which {n} leak",
        without=without,
        many=phrase("over {number}", number=MOST_DOCUMENTS) if needed is None else numeral(needed),
        n=leaking,
    )


def require_limits(*limits: Iterable[str]) -> None:
    """Raise `UsageError` for a limit that cannot be read, before anything is counted."""
    for one in (one for several in limits for one in several):
        _limit(one)


def _limit(text: str) -> tuple[str, float]:
    figure, equals, limit = text.rpartition("=")
    try:
        if not (figure and equals):
            raise ValueError
        return figure, fraction(limit)
    except ValueError:
        raise UsageError(
            f"the limit {text!r} cannot be read",
            advice="write it FIGURE=X, as in entity_recall[high]=1 or mention_recall=99%",
        ) from None


_Reports = Mapping[str, Mapping[str, Any]]


def _value(reports: _Reports, figure: str) -> float | None:
    """Return the value of a figure; None if it is undefined or of an absent class."""
    match = _FIGURE.fullmatch(figure)
    found = _MISSING
    if match is not None and match["sequence"] is None:
        named = {name: _of_report(one, match["name"], match["kind"]) for name, one in reports.items()}
        found = next(iter(named.values()), None)
        if found is not _MISSING and len(named) > 1:
            raise UsageError(
                f"there are several sequences, and {figure!r} names none",
                advice=f"write it {next(iter(named))}.{figure}",
            )
    elif match is not None and match["sequence"] in reports:
        found = _of_report(reports[match["sequence"]], match["name"], match["kind"])
    if found is _MISSING:
        found = _at({"masking": reports}, figure)
    if found is _MISSING or (found is not None and not isinstance(found, int | float)):
        raise UsageError(f"there is no figure {figure!r}", advice=_advice(reports, figure))
    return found


def _why(reports: _Reports, figure: str) -> str:
    """Return the classes that there are, if no mention has the class of a figure."""
    match = _FIGURE.fullmatch(figure)
    kinds = sorted({kind for one in reports.values() for kind in one["classes"]} - {"all"})
    if match is None or match["kind"] in (None, "all", *kinds):
        return ""
    return phrase(" (the classes are {names})", names=", ".join(kinds))


def _of_report(report: Mapping[str, Any], name: str, kind: str | None) -> Any:
    classes = report["classes"]
    if kind is None and name == "string_leaks":
        return report[name]
    if name in classes["all"]:
        return classes.get("all" if kind is None else kind, {}).get(name)
    return report["precision"].get(name, _MISSING) if kind is None else _MISSING


def _at(report: Any, path: str) -> Any:
    """Return the value at a path whose keys are separated by dots; a key may hold dots itself."""
    if not isinstance(report, Mapping):
        return _MISSING
    if path in report:
        return report[path]
    readings = (_at(report[key], path[len(key) + 1 :]) for key in report if path.startswith(f"{key}."))
    found = [value for value in readings if value is not _MISSING]
    if len(found) > 1:
        raise UsageError(
            f"the path {path!r} can be read in {len(found)} ways", advice="name the figure alone"
        )
    return found[0] if found else _MISSING


def _advice(reports: _Reports, figure: str) -> str:
    from clueval.hints import nearest  # only for figures that do not exist

    first = next(iter(reports.values()), None)
    if first is None:
        return "there are no spans, so there are no figures"
    names = [name for row in (first["classes"]["all"], first["precision"]) for name in row]
    asked = figure.partition("[")[0].rpartition(".")[2]
    if asked in ("leak", "leaks", "leaked"):
        return "documents_exposed counts documents that leak, missed and partial the mentions"
    if nearest(asked.lower(), ["recall"], 0.8):
        head = figure.partition("[")[0]
        begin, kind = head.removesuffix(asked), figure.removeprefix(head)
        strict = (f"{begin}{name}{kind}" for name in ("mention_recall", "entity_recall"))
        return f"did you mean {' or '.join(strict)}?"
    near = nearest(asked, names, 0.7)
    return f"did you mean {near}?" if near else f"one of {', '.join(names)}"
