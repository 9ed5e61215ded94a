"""The masking report: the result of metric `masking` with its leaks, and the forms in which it is written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from clueval.evaluation.observer import Observer
from clueval.evaluation.result import Result
from clueval.evaluation.rows import columns_of, wide_rows
from clueval.evaluation.run import score
from clueval.exceptions import checked_call
from clueval.metrics.masking import Masking
from clueval.metrics.masking.mention import risk_by
from clueval.options import field_names
from clueval.reports.report import READABLE, Data, Report, renderer
from clueval.reports.table import Table
from clueval.studies.masking.collector import LeakCollector, WatchedMasking
from clueval.studies.masking.found import MaskingFindings, by_frequency
from clueval.studies.masking.leak import StringLeakList, by_document
from clueval.studies.masking.text import leak_tables, lines, number_tables


@dataclass(frozen=True, slots=True)
class MaskingReport(MaskingFindings):
    """What was left unmasked, see `MaskingFindings`; reports of several corpora add up."""

    named_by: ClassVar[Sequence[str]] = Result.named_by
    title: ClassVar[str] = "What was left unmasked"

    def tables(self, *, text: bool = True) -> Iterator[Table]:
        """Yield the figures, then the leaks, riskiest first; without `text`, leaks have positions only."""
        for tables in number_tables(self):
            yield from tables
        yield from leak_tables(self, text=text)

    def render(self, form: str = "text", *, text: bool = True) -> str:
        """The report in one of `FORMS`; without `text`, leaks have positions only.

        CSV and TSV have the figures, and `write_table` writes the leaks.
        """
        if form == "text":
            return "\n".join(lines(self, text=text))
        if form in READABLE:
            return renderer(form)(self._content(), self.tables(text=text))
        return Report.render(self, form)

    def write_table(self, path: str | Path, *, text: bool = True) -> None:
        """Write the leaks as tab-separated values. Raises `FileError`."""
        from clueval.studies.masking.text import write_table

        write_table(Path(path), self, text=text)

    @checked_call
    def write_page(
        self, path: str | Path, *, title: str | None = None, lang: str = "", text: bool = True
    ) -> None:
        """Write the web page to sign; `lang` is the language of the texts, such as ``de``.

        Without `text`, it has positions only. Raises `FileError`, and `MissingExtra` without the extra ``report``.
        """
        from clueval.reports.page import write_page
        from clueval.studies.masking.page import render

        write_page(Path(path), render(self, title=title or self.title, text=text, lang=lang))

    def failures(
        self, fail_under: Iterable[str] | str = (), fail_over: Iterable[str] | str = ()
    ) -> list[str]:
        """A line for each limit, such as ``entity_recall[high]=1``, that the figures do not keep."""
        from clueval.studies.masking.gates import failures

        return list(failures(self, fail_under, fail_over))

    def __add__(self, other: MaskingReport) -> MaskingReport:
        """The report of both corpora. Raises `UsageError` if they were not counted alike."""
        risk = risk_by(self.metric.risk_order)
        return replace(
            self,
            result=self.result.add(other.result),
            leaks=sorted([*self.leaks, *other.leaks], key=lambda leak: leak.order(risk)),
            string_leaks=StringLeakList(by_document([*self.string_leaks, *other.string_leaks])),
            needless=by_frequency([*self.needless, *other.needless]),
            inconsistent=sorted([*self.inconsistent, *other.inconsistent]),
            aligned=self.aligned + other.aligned,
        )

    def _content(self) -> Mapping[str, Any]:
        return self.result.to_dict()

    def _data(self) -> Data:
        whole = self.to_dict()
        return Data(columns_of(whole), wide_rows(whole))


def masking_report(
    gold: Any, predicted: Any, metric: Masking, observers: Sequence[Observer] = (), **options: Any
) -> MaskingReport:
    """Return the report on two sides, files or documents; the arguments and errors are those of `clueval.score`."""
    watched = WatchedMasking(**{name: getattr(metric, name) for name in field_names(Masking)})
    collector = LeakCollector(watched)
    result = score(gold, predicted, metrics=[watched], observers=[collector, *observers], **options)
    risk = risk_by(metric.risk_order)
    return MaskingReport(
        result,
        sorted(collector.leaks, key=lambda leak: leak.order(risk)),
        StringLeakList(collector.string_leaks),
        by_frequency(collector.needless.items()),
        sorted(collector.inconsistent),
    )
