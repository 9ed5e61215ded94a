"""The interface of metrics, and the values that they are given.

A metric is a frozen dataclass of its settings. Their values are in the signature, the line that says all choices on
which a score depends. `needs` says what it needs (`Needs`). `count` counts one sequence of one document, that is, one
of its layers or all layers merged, and returns a `Tally`; tallies can be added over documents, in any order and in any
process. `scores` turns the sum into the report, `headlines` names the rates of a report to cite, `tables` shows it, and
`check` refuses settings that name a label, type or feature that never occurred.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

from clueval.core.span import DEFAULT_LAYER, Span
from clueval.files.errors import UsageError
from clueval.first.metrics.counting import Tally, f_measure
from clueval.spans.document import Document

if TYPE_CHECKING:
    from clueval.first.metrics.rates import DeclaredRates
    from clueval.reports.table import Table

Rates = tuple[float, float, float]
"""Precision, recall, F1."""


class Side(NamedTuple):
    """One side of one sequence in one document; a *sequence* is one layer, or all layers merged.

    `spans` are in the order of the document. `counted` says of each span whether it is counted (None: all are); a span
    that a filter excludes can still be matched. `document` is None where a metric is called on spans alone; `tags`
    are the tags of its positions as they are written, or None; `sequence` its name, where it is known.
    """

    spans: Sequence[Span]
    counted: Sequence[bool] | None = None
    document: Document | None = None
    tags: Sequence[str] | None = None
    sequence: str | None = None


class Needs(NamedTuple):
    """The needs of a metric beyond labels and tags.

    Args:
        documents: the metric reads features, sentences or texts, so whole documents must be built.
        same_text: both sides must have the same text; False: the texts may differ.
        every_span: None if a filter may exclude spans; otherwise advice on what to do instead of filtering.
        within: a layer within which the metric counts; the layer itself is not scored.
        whole: the only sequence, if all layers of a document are counted together; sides have documents, no spans.
        sequences: chooses the sequences to report, from the tallies of all; None: all are reported.
        contiguous: the metric cannot count discontinuous spans.
        nested: spans of a side may overlap, and each group of spans that overlap can be counted on its own.
        places: spans need places in the text; False: those without one are counted together with the others.
        choices: returns what the signature must say of the sum of all counts; None: nothing.
        rates: yields, given the keys of a tally and the layers, how rates follow from it; see
            `clueval.first.metrics.rates`.
        outside: returns the tally of a number of positions that are outside every span; None: they change nothing.
        empty: returns the tally of a number of documents without spans. None: they change nothing, or, if `documents`,
            it depends on the documents.
        headline: returns the part of `scores` that has the headline, where this costs less; None: `scores` is called.
    """

    documents: bool = False
    same_text: bool = True
    every_span: str | None = None
    within: str | None = None
    whole: str | None = None
    sequences: Callable[[Mapping[str, Tally]], Sequence[str]] | None = None
    choices: Callable[[Tally], Mapping[str, str]] | None = None
    contiguous: bool = False
    nested: bool = False
    places: bool = True
    rates: Callable[[Collection[tuple[Any, ...]], Sequence[str]], Iterator[DeclaredRates]] | None = None
    outside: Callable[[int], Tally] | None = None
    empty: Callable[[int], Tally] | None = None
    headline: Callable[[Tally, Sequence[str]], dict[str, Any]] | None = None


def no_tally(documents: int) -> Tally:
    """Return the tally, for `Needs.empty`, of documents that change nothing if they have no spans."""
    return Tally()


class Metric(Protocol):
    """The interface; see the module's docstring. A metric need not inherit from it, but then it defines everything.

    What is here is for a metric without special needs, whose report has the averages of labels.
    """

    __slots__ = ()

    name: ClassVar[str]
    zero: ClassVar[str]  # the value of 0/0, for the signature

    @property
    def needs(self) -> Needs:
        """Return the needs of the metric, which may depend on its settings."""
        return Needs()

    def count(self, gold: Side, predicted: Side) -> Tally:
        """Count one sequence of one document. Raises `OverlapError` if spans overlap and the metric forbids it."""

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        """Return the report on everything counted, for a sequence whose spans have these layers."""

    def headlines(self, report: Mapping[str, Any]) -> Mapping[str, Rates]:
        """Return the rates that summarise all spans together, by the name to cite them by."""
        return {self.name: rates_of(report["micro"])}

    def tables(self, title: str, report: Mapping[str, Any]) -> Iterator[Table]:
        """Yield the tables of a report; each title begins with `title`."""
        ...

    def check(self, total: Tally) -> None:
        """Raise `UsageError` for a setting that names something that never occurred in the data."""
        return


def refuse_filter(metric: Metric, sides: Sequence[Side] | None = None) -> None:
    """Raise `UsageError` if a filter excludes spans from a metric that must count every span.

    `sides` are the sides of one document, which are checked; None: the caller knows that there is a filter.
    """
    instead = metric.needs.every_span
    leaving = [side for side in sides or () if side.counted is not None]
    if instead is None or (sides is not None and not leaving):
        return
    document = next((side.document.id for side in leaving if side.document is not None), None)
    raise UsageError(
        f"metric {metric.name!r} cannot leave spans out of the count, as a filter on a layer asks for",
        document=document,
        advice=instead,
    )


def sequences_of(
    metric: Metric, sequences: Mapping[str, Sequence[str]], tallies: Mapping[tuple[str, str], Tally]
) -> Mapping[str, Sequence[str]]:
    """Return those of the sequences, with their layers, that a metric reports; `tallies` are by metric and sequence.

    Documents without layers have the default layer, without spans.
    """
    needs, sequences = metric.needs, sequences or {DEFAULT_LAYER: [DEFAULT_LAYER]}
    if needs.whole is not None:
        return {needs.whole: list(dict.fromkeys(layer for of in sequences.values() for layer in of))}
    if needs.sequences is None:
        return sequences
    own = {name: tallies.get((metric.name, name), Tally()) for name in sequences}
    return {name: sequences[name] for name in needs.sequences(own)}


def rates_of(entry: Mapping[str, float], ending: str = "") -> Rates:
    """Return the rates of an entry of a report; F1 is computed if the entry has only other F-betas."""
    precision, recall = entry[f"precision{ending}"], entry[f"recall{ending}"]
    f1 = entry.get(f"f1{ending}")
    return precision, recall, f_measure(precision, recall) if f1 is None else f1
