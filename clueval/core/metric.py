"""How metrics count and report: tallies and rates, and the interface of metrics.

A metric is a frozen dataclass of its settings, whose values are in the signature. `count` counts one case and returns a
`Tally`, a `collections.Counter` whose keys are tuples of strings and integers; tallies add up over a corpus, in any
order and in any process. `scores` divides last: it turns the sum into the report. `headlines` has the counts of which
rates follow, so that tests and intervals need not call `scores` for each resample.

**0/0 is 0** in every rate of this module, as in conlleval and (with a warning) seqeval. Floats are added by
`math.fsum`, which rounds once, so that a sum is the same whatever the order of its parts and under every version of
Python (the built-in `sum` compensates for rounding from Python 3.12 on).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from operator import mul
from typing import Any, ClassVar, NamedTuple, Protocol, TypeGuard

from clueval.core.case import Case, Where
from clueval.core.document import Document, Pair
from clueval.core.span import SIDES, Span, name_of, require_flat
from clueval.files.errors import UsageError

# Counts and rates


class Tally(Counter[tuple[Any, ...]]):
    """Counts by key; the class of each metric documents its keys."""

    def __init__(self, counts: Mapping[Any, float] | Iterable[Any] = ()) -> None:
        if counts:  # one is made for each case, and an empty Counter takes several times as long
            self.update(counts)


EPSILON = 1e-12
"""Rates that are equal may be computed with this difference."""

RATES = ("precision", "recall", "f1")
"""The names of the usual rates in reports."""


def add_to(total: Tally, tally: Tally, times: int) -> None:
    """Add a tally, taken a number of times, to a total."""
    for key, number in tally.items():
        total[key] = total.get(key, 0) + number * times


def added(tallies: Iterable[tuple[Tally, int]]) -> Tally:
    """Return the sum of tallies, each taken a number of times."""
    total = Tally()
    for tally, times in tallies:
        add_to(total, tally, times)
    return total


def rate(part: float, whole: float) -> float:
    """Return ``part / whole``; 0/0 is 0."""
    return part / whole if whole else 0.0


def f_measure(precision: float, recall: float, beta: float = 1.0) -> float:
    """Return the weighted harmonic mean of precision and recall (van Rijsbergen 1979); 0 if both are 0."""
    weight = beta * beta
    return rate((1 + weight) * precision * recall, weight * precision + recall)


class Counts(NamedTuple):
    """The number of spans of each side, and the number of true positives **of that side**.

    CLUEval classifies the spans of each side separately, so `tp_gold` and `tp_predicted` may differ. Metrics
    that pair one to one have the same number in both. `gold` and `predicted` are the supports.
    """

    gold: float = 0
    predicted: float = 0
    tp_gold: float = 0
    tp_predicted: float = 0

    @classmethod
    def total(cls, counts: Iterable[Counts]) -> Counts:
        """Add counts; each sum is rounded once, and sums of whole numbers stay whole."""
        columns = list(zip(*counts, strict=True))
        sums = zip(map(sum, columns), columns, strict=True)
        return cls(*[math.fsum(column) if isinstance(total, float) else total for total, column in sums])

    @property
    def precision(self) -> float:
        return rate(self.tp_predicted, self.predicted)

    @property
    def recall(self) -> float:
        return rate(self.tp_gold, self.gold)

    def f(self, beta: float = 1.0) -> float:
        return f_measure(self.precision, self.recall, beta)

    def report(self) -> dict[str, float]:
        """Return the nine numbers of a PRF entry: the rates as fractions, then the counts."""
        precision, recall = self.precision, self.recall
        return prf(self, precision, recall, f_measure(precision, recall))


def prf(counts: Counts, precision: float, recall: float, f1: float) -> dict[str, float]:
    """Return a PRF entry with the given rates and counts."""
    gold, predicted, tp_gold, tp_predicted = counts
    return {
        "precision": precision,
        "recall": recall,
        "f1": f1,
        "gold": gold,
        "predicted": predicted,
        "tp_gold": tp_gold,
        "fn": gold - tp_gold,
        "tp_predicted": tp_predicted,
        "fp": predicted - tp_predicted,
    }


def counts_by_label(total: Tally) -> dict[str, Counts]:
    """Return the counts of each label from a tally with the keys ``(count, label)``, labels in order."""
    names = Counts._fields
    labels = sorted({key[1] for key in total if key[0] in names})
    return {label: Counts(*[total.get((name, label), 0) for name in names]) for label in labels}


def averages_of(per_label: Mapping[str, Counts], *, is_weighted: bool = True) -> dict[str, Any]:
    """Return the report of some labels.

    ``micro`` has the sums of the counts, divided. ``macro`` has the means of the labels' rates (f1: the mean of the
    f1s), and ``weighted``, unless it is not wanted, their means weighted by gold support; both have the sums of the
    counts. ``per_label`` has the entry of each label.
    """
    total = Counts.total(per_label.values())
    reports = {label: counts.report() for label, counts in per_label.items()}
    averages = {"micro": total.report(), "macro": _average(total, reports.values())}
    if is_weighted:
        averages["weighted"] = _average(
            total, reports.values(), [counts.gold for counts in per_label.values()]
        )
    return {**averages, "per_label": reports}


def _average(
    total: Counts, entries: Collection[Mapping[str, float]], weights: Sequence[float] | None = None
) -> dict[str, float]:
    """Return the means of the labels' rates, weighted by `weights` if there are any, and the sums of the counts."""
    whole = len(entries) if weights is None else math.fsum(weights)

    def mean(name: str) -> float:
        rates = [entry[name] for entry in entries]
        return rate(math.fsum(rates if weights is None else map(mul, rates, weights)), whole)

    return prf(total, mean("precision"), mean("recall"), mean("f1"))


# Metrics

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
