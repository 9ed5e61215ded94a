"""The masking report: the result of metric `masking` with its leaks, and the forms in which it is written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from clueval.evaluation.observer import Observer
from clueval.evaluation.run import score
from clueval.exceptions import UsageError, checked_call
from clueval.metrics.masking import Masking
from clueval.metrics.masking.mention import risk_by
from clueval.options import field_names
from clueval.studies.masking.collector import LeakCollector, WatchedMasking
from clueval.studies.masking.found import MaskingFindings, by_frequency
from clueval.studies.masking.leak import StringLeakList, by_document

FORMS = ("text", "json")


@dataclass(frozen=True, slots=True)
class MaskingReport(MaskingFindings):
    """What was left unmasked, see `MaskingFindings`; reports of several corpora add up."""

    def to_json(self) -> str:
        """The report as JSON."""
        from clueval.reports.json_text import dumps

        return dumps(self.to_dict())

    def render(self, form: str = "text", *, text: bool = True) -> str:
        """The report as ``text`` or ``json``; without `text`, leaks have positions only."""
        if form == "json":
            return self.to_json()
        if form != "text":
            raise UsageError(f"unknown form {form!r}", advice=f"one of {', '.join(FORMS)}")
        from clueval.studies.masking.text import lines

        return "\n".join(lines(self, text=text))

    def write_table(self, path: str | Path, *, text: bool = True) -> None:
        """Write the leaks as tab-separated values. Raises `FileError`."""
        from clueval.studies.masking.text import write_table

        write_table(Path(path), self, text=text)

    @checked_call
    def write_page(self, path: str | Path, *, text: bool = True, lang: str = "") -> None:
        """Write the web page to sign; `lang` is the language of the texts, such as ``de``.

        Raises `FileError`, and `MissingExtra` without the extra ``report``.
        """
        from clueval.reports.page import write_page
        from clueval.studies.masking.page import render

        write_page(Path(path), render(self, text=text, lang=lang))

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

    def __str__(self) -> str:
        return self.render()


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
