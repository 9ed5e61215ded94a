"""The interface of metrics: a metric counts a case, and makes a report of a sum of counts.

A metric is a frozen dataclass of its settings, whose values are in the signature. `count` counts one case and returns a
`Tally`; tallies add up over a corpus, in any order and in any process. `scores` turns the sum into the report.
`headlines` has the counts of which rates follow, so that tests and intervals need not call `scores` for each resample.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol, TypeGuard

from clueval.core.case import Case, Where
from clueval.core.document import Document, Pair
from clueval.core.overlap import require_flat
from clueval.core.span import SIDES, Span, name_of
from clueval.core.tally import Counts, Tally
from clueval.files.errors import UsageError

Sizes = tuple[float, float]
"""What an entry of a report weighs on each side: usually its numbers of gold and of predicted spans."""


class Reporting(Protocol):
    """What metrics of cases and of documents have in common: a name, and a report on a sum of counts.

    Attributes:
        name: the key of the metric in reports.
        zero: the value of 0/0, for the signature.
        gaps: the metric can count discontinuous spans.
        filters: None if a filter may exclude spans; otherwise advice on what to do instead of filtering.
        places: spans need places in the text; False: those without one are counted together with the others.
        same_text: both sides must have the same text; False: the texts may differ.
        whole: the name of its only sequence, if it counts all layers together; None: it counts each sequence.
        within: the layer within which it counts, which is no sequence itself; None: everywhere.
    """

    __slots__ = ()

    name: ClassVar[str]
    zero: ClassVar[str] = "0"
    gaps: ClassVar[bool] = True
    filters: ClassVar[str | None] = None
    places: ClassVar[bool] = True
    same_text: ClassVar[bool] = True

    @property
    def whole(self) -> str | None:
        return None

    @property
    def within(self) -> str | None:
        return None

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        """Return the report on a sum of counts, for a sequence whose spans have labels in these layers.

        These are the layer of the sequence, or all layers of the merged sequence.
        """
        raise NotImplementedError

    def headline_report(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        """Return at least the part of the report that has the headline, which may take less time."""
        return self.scores(total, layers)

    def reported(self, tallies: Mapping[str, Tally]) -> Sequence[str]:
        """Return those of the sequences, given their counts, that have a report."""
        return list(tallies)

    def headlines(self, total: Tally, layers: Sequence[str]) -> Mapping[str, Counts]:
        """Return the counts behind the rates of entries, by their paths in the report, that of all spans first.

        They are sums of what each key of the tally adds. At the path of a rate, they are counts whose recall it is.
        Only an entry whose report does not have its four counts must be here, or one that is a headline.
        """
        return {}

    def sizes(self, total: Tally, layers: Sequence[str]) -> Mapping[str, Sizes]:
        """Return the sizes of the entries whose report does not have them as ``gold`` and ``predicted``, by path."""
        return {}

    def choices(self, total: Tally) -> Mapping[str, str]:
        """Return what the signature must say beyond the settings, given the sum of all counts."""
        return {}

    def check(self, total: Tally) -> None:
        """Raise `UsageError` for a setting that names something that never occurred in the data."""
        return


class Metric(Reporting, Protocol):
    """A metric of cases. One without special needs inherits what is here, and defines `name`, `count` and `scores`;
    and `headlines`, if `result.f1`, intervals and tests are wanted.

    Attributes:
        flat: spans of one side must not overlap; see `require_flat`.
        reads: the features of spans that the metric reads, and `clueval.core.case.TOKENS`.
        keeps: cases are kept, so that their counts can be asked for later; False: each case is counted at once, with
            all its features, since nearly every case is different (scores of single spans).
    """

    __slots__ = ()

    flat: ClassVar[bool] = False

    @property
    def reads(self) -> frozenset[str]:
        return frozenset()

    @property
    def keeps(self) -> bool:
        return True

    def require_flat(self, side: str, spans: Sequence[Span]) -> None:
        """Raise `OverlapError` for spans of one side that overlap; discontinuous ones may. Asked of flat metrics."""
        advice = f"metric {self.name!r} cannot count such spans; exact, fair, gate and muc can"
        require_flat([span for span in spans if span.parts is None], advice=advice)

    def count(self, case: Case) -> Tally:
        """Count one case. Costs at most n log n for n spans, and the pairs that overlap."""
        raise NotImplementedError


class DocumentMetric(Reporting, Protocol):
    """A metric that needs whole documents: texts, sentences, or spans that do not overlap.

    It counts all pairs of one text at once, one for each gold. Its tallies are added at once.

    Attributes:
        merges: documents come with all layers, in order, if these are to be merged, and the metric merges them.
    """

    __slots__ = ()

    merges: ClassVar[bool] = False

    def count_documents(self, pairs: Sequence[Pair], sequence: str, where: Where) -> Tally:
        """Count the pairs of one text in one sequence; `where` has the labels that count, by layer.

        A pair beside its text has predicted spans without a place, and a gold document without spans.
        """
        raise NotImplementedError


AnyMetric = Metric | DocumentMetric


def is_of_cases(metric: AnyMetric) -> TypeGuard[Metric]:
    """Return whether a metric counts cases; otherwise it counts documents."""
    return not hasattr(metric, "count_documents")


def split_metrics(metrics: Sequence[AnyMetric]) -> tuple[list[Metric], list[DocumentMetric]]:
    """Return the metrics that count cases, and those that need documents."""
    of_documents = [metric for metric in metrics if not is_of_cases(metric)]
    of_cases = [metric for metric in metrics if is_of_cases(metric)]
    return of_cases, of_documents  # type: ignore[return-value]  # told apart by their methods


def keeping_metrics(metrics: Sequence[AnyMetric]) -> list[Metric]:
    """Return the metrics whose cases are kept."""
    return [metric for metric in metrics if is_of_cases(metric) and metric.keeps]


def features_read(metrics: Sequence[AnyMetric]) -> frozenset[str]:
    """Return the features of spans that metrics read in the cases that are kept."""
    return frozenset[str]().union(*(metric.reads for metric in keeping_metrics(metrics)))


def require_countable(metric: Metric, case: Case) -> None:
    """Raise `UsageError` or `OverlapError` for a case that a metric cannot count."""
    if not metric.gaps:
        for spans in case.sides:
            require_no_gaps(metric, spans or ())
    if metric.flat:
        for number, spans in enumerate(case.sides):
            metric.require_flat(SIDES[number] if number < len(SIDES) else f"side {number + 1}", spans or ())


def require_no_gaps(metric: AnyMetric, spans: Sequence[Span]) -> None:
    """Raise `UsageError` for the first of some spans that has gaps, which a metric cannot count."""
    for span in spans:
        if span.parts is not None:
            raise UsageError(
                f"span {name_of(span)} has gaps, and metric {metric.name!r} cannot count such spans",
                line=span.line,
                advice="exact, fair, gate, muc and partial can; or make each fragment a span with "
                "fragments='split', or one span from start to end with fragments='hull'",
            )


def finite_number(value: object) -> float | None:
    """Return a number, also one that is written as a string, if it is finite, otherwise None."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str) and "_" in value:  # only Python reads underscores in numbers
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def score_of(span: Span, feature: str, document: Document) -> float:
    """Return the score of a predicted span. Raises `UsageError` for a score that is missing or no finite number."""
    value = span.features.get(feature)
    number = finite_number(value)
    if number is None:
        problem = "has no score" if value is None else "has no number as its score"
        raise UsageError(
            f"the predicted span {name_of(span)} {problem} {feature!r}",
            **document.in_errors,
            line=span.line,
            advice="every predicted span needs a finite number in this feature",
        )
    return number
