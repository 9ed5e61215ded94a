"""Results, which can be compared and added if their signatures allow it (`clueval.evaluation.signature`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from clueval.evaluation.inputs import add_passed_over, include, no_inputs, passed_over, reported, schemes_of
from clueval.evaluation.observer import AddingObserver, added, sections_of
from clueval.evaluation.preparation import plain_tally
from clueval.evaluation.signature import Signature, require_same, with_settings
from clueval.exceptions import UsageError
from clueval.metrics.counting import Tally
from clueval.metrics.metric import Metric
from clueval.spans.span import Span
from clueval.version import SCHEMA, __version__

if TYPE_CHECKING:
    from clueval.reports.table import Table

FORMS = {
    "text": "clueval.reports.text",
    "json": "clueval.reports.json_text",
    "csv": "clueval.reports.csv_text",
    "tsv": "clueval.reports.tsv",
    "markdown": "clueval.reports.markdown",
    "latex": "clueval.reports.latex",
}
"""The forms of a result and their modules, each imported when it is first used."""


class Unprojected(NamedTuple):
    """A predicted span without a place on the gold text, in predicted positions, and the id of its document."""

    document: str
    span: Span


@dataclass(frozen=True, slots=True)
class Counted:
    """The counts behind a result, so that results can be added.

    Attributes:
        tallies: by the names of metric and sequence.
        sequences: the layers of each sequence.
    """

    metrics: Sequence[Metric]
    tallies: Mapping[tuple[str, str], Tally]
    sequences: Mapping[str, Sequence[str]]

    def __add__(self, other: Counted) -> Counted:
        """The sum of both. Raises `UsageError` if the metrics or their settings differ."""
        if {metric.name: metric for metric in self.metrics} != {
            metric.name: metric for metric in other.metrics
        }:
            names = [
                "+".join(sorted(with_settings(metric) for metric in side.metrics)) for side in (self, other)
            ]
            raise UsageError(f"counts of {names[0]} and of {names[1]} do not add up")
        tallies = {key: Tally(tally) for key, tally in self.tallies.items()}
        for key, tally in other.tallies.items():
            tallies.setdefault(key, Tally()).update(tally)
        sequences = {
            name: list(dict.fromkeys([*self.sequences.get(name, ()), *other.sequences.get(name, ())]))
            for name in dict.fromkeys([*self.sequences, *other.sequences])
        }
        return Counted(self.metrics, tallies, sequences)

    def tally_of(self, metric: Metric) -> Tally:
        """The counts of a metric in all sequences together."""
        total: Tally = Tally()
        for (name, _), tally in self.tallies.items():
            if name == metric.name:
                total.update(tally)
        return total

    def scores(self) -> dict[str, dict[str, Any]]:
        """The reports, by metric and sequence."""
        return {
            metric.name: {
                sequence: metric.scores(self.tallies.get((metric.name, sequence), Tally()), layers)
                for sequence, layers in self.sequences.items()
            }
            for metric in self.metrics
        }


class Difference(NamedTuple):
    """A number of a report that differs between two results: its path in the report, and both values.

    The path begins with the sequence. A value is None if the result has no such number, or it is undefined.
    """

    path: tuple[str, ...]
    own: float | None
    other: float | None

    @property
    def change(self) -> float | None:
        """`other` minus `own`; None if one of them is None."""
        return None if self.own is None or self.other is None else self.other - self.own


@dataclass(frozen=True, slots=True)
class Result:
    """The result of an evaluation.

    Attributes:
        repaired_tags: the number of repaired tags of each side.
        metrics: the reports, by metric and sequence; each metric documents the shape of its report.
        groups: the same for each value of each key of a break-down; None without a break-down.
        unprojected: predicted spans without a place on the gold text, counted as spurious; None if texts were not
            aligned.
        counted: the counts, to add results.
        scored_by: the metrics, which make the tables.
        prepared: the numbers of changes by each transform; None without transforms.
        sections: the reports of observers, by name.
        observers: the observers that can be added.
        inputs: by side ``format``, ``files`` and ``layers``; of each layer the ``source`` (the column, from 1) and
            the ``scheme``, both None if spans do not come from tags, and the number of ``spans`` without filters.
        passed_over: by side, what the formats did not read, such as relations: numbers by kind.
    """

    documents: int
    tokens: int
    repaired_tags: Mapping[str, int]
    metrics: Mapping[str, Mapping[str, Any]]
    signature: Signature
    groups: Mapping[str, Mapping[str, Mapping[str, Any]]] | None = None
    unprojected: Sequence[Unprojected] | None = None
    counted: Counted | None = field(default=None, compare=False, repr=False)
    scored_by: Sequence[Metric] = field(default=(), compare=False, repr=False)
    prepared: Mapping[str, Tally] | None = None
    sections: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    observers: Sequence[AddingObserver] = field(default=(), compare=False, repr=False)
    inputs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    passed_over: Mapping[str, Mapping[str, int]] = field(default_factory=lambda: passed_over(no_inputs()))

    def compare(self, other: Result, *, force: bool = False) -> dict[str, list[Difference]]:
        """The numbers that differ, by metric, in the order of the reports; a metric may be in one result only.

        Raises `UsageError` if the signatures differ, unless `force` is given.
        """
        if not force:
            require_same(self.signature, other.signature, "compared")
        names = dict.fromkeys([*self.metrics, *other.metrics])
        return {
            name: list(_differences(self.metrics.get(name, {}), other.metrics.get(name, {})))
            for name in names
        }

    def add(self, other: Result, *, force: bool = False) -> Result:
        """The result of both corpora together: counts are added, and scores are computed again.

        Raises `UsageError` if the signatures differ, unless `force` is given; then the new signature has both
        values of choices that differ. Raises `UsageError` in any case for different metrics, and for results
        without counts, with a break-down, of aligned texts, or with observers that cannot be added.
        """
        if not force:
            require_same(self.signature, other.signature, "added")
        for result in (self, other):
            cannot = result.sections.keys() - {observer.name for observer in result.observers}
            if result.groups is not None or result.unprojected is not None or cannot:
                raise UsageError(
                    "results with a break-down, of aligned texts or with observers that do not add cannot be added",
                    advice="score both corpora together",
                )
        if self.counted is None or other.counted is None:
            raise UsageError(
                "a result without its counts cannot be added", advice="score both corpora together"
            )
        inputs = no_inputs()
        for result in (self, other):
            include(inputs, result.inputs)
        counted, observers = self.counted + other.counted, added(self.observers, other.observers)
        return replace(
            self,
            documents=self.documents + other.documents,
            tokens=self.tokens + other.tokens,
            repaired_tags={
                side: self.repaired_tags.get(side, 0) + other.repaired_tags.get(side, 0)
                for side in dict.fromkeys([*self.repaired_tags, *other.repaired_tags])
            },
            metrics=counted.scores(),
            signature=_joined(self.signature, other.signature, schemes_of(inputs)),
            counted=counted,
            prepared=_added(self.prepared, other.prepared),
            sections=sections_of(observers),
            observers=observers,
            inputs=reported(inputs, (), ()),
            passed_over=_summed(self.passed_over, other.passed_over),
        )

    def to_dict(self) -> dict[str, Any]:
        """The result as plain dictionaries, strings, integers and floats. Rates are fractions."""
        report: dict[str, Any] = {
            "clueval": __version__,
            "schema": SCHEMA,
            "signature": str(self.signature),
            "documents": self.documents,
            "tokens": self.tokens,
            "repaired_tags": dict(self.repaired_tags),
            "inputs": {side: dict(found) for side, found in self.inputs.items()},
            "passed_over": {side: dict(numbers) for side, numbers in self.passed_over.items()},
            "metrics": {name: dict(sequences) for name, sequences in self.metrics.items()},
        }
        if self.groups is not None:
            report["by"] = {key: dict(values) for key, values in self.groups.items()}
        if self.unprojected is not None:
            report["unprojected"] = [
                {"document": document, "label": span.label, "start": span.start, "end_exclusive": span.end}
                for document, span in self.unprojected
            ]
        if self.prepared is not None:
            report["prepared"] = {name: plain_tally(tally) for name, tally in self.prepared.items()}
        report.update(self.sections)
        return report

    def to_json(self) -> str:
        """`to_dict` as indented JSON; equal results give equal bytes."""
        from clueval.reports.json_text import dumps

        return dumps(self.to_dict())

    def render(self, form: str) -> str:
        """The result in a form of `FORMS`, as ``clueval score --format`` prints it. Raises `UsageError` for others."""
        if form not in FORMS:
            raise UsageError(f"unknown form {form!r}", advice=f"one of {', '.join(FORMS)}")
        if form == "json":
            return self.to_json()
        render = import_module(FORMS[form]).render
        shows_tables = form in ("text", "markdown", "latex")
        rendered: str = render(self.to_dict(), self.tables()) if shows_tables else render(self.to_dict())
        return rendered

    def tables(self) -> Iterator[Table]:
        """The reports as tables: first for all documents, then for each group of a break-down."""
        from clueval.metrics.tables import of_report, of_section

        yield from of_report(self.to_dict(), self.scored_by)
        for name, section in self.sections.items():
            yield from of_section(name, section)

    def _repr_html_(self) -> str:
        from clueval.reports.notebook import render

        return render(self.to_dict(), self.tables())

    def __str__(self) -> str:
        return self.render("text")


def _joined(first: Signature, second: Signature, schemes: str) -> Signature:
    """A signature with both values of choices that differ; `schemes` is the scheme unless a side has documents."""
    both = {
        key: " and ".join(value for value in pair if value is not None)
        for key, pair in first.differences(second).items()
    }
    if "scheme" in both and "documents" not in (first.choices.get("scheme"), second.choices.get("scheme")):
        both["scheme"] = schemes
    return Signature({**first.choices, **both})


def _added(
    first: Mapping[str, Tally] | None, second: Mapping[str, Tally] | None
) -> Mapping[str, Tally] | None:
    """The numbers of changes by transforms in both corpora together."""
    if first is None and second is None:
        return None
    both = first or {}, second or {}
    return {
        name: both[0].get(name, Tally()) + both[1].get(name, Tally())
        for name in dict.fromkeys([*both[0], *both[1]])
    }


def _summed(
    first: Mapping[str, Mapping[str, int]], second: Mapping[str, Mapping[str, int]]
) -> dict[str, dict[str, int]]:
    """What the formats of both results did not read, by side and kind."""
    total = no_inputs()
    for each in (first, second):
        for side, numbers in each.items():
            add_passed_over(total, side, numbers)
    return passed_over(total)


def _differences(first: object, second: object, path: tuple[str, ...] = ()) -> Iterator[Difference]:
    """The numbers that differ between two reports."""
    if isinstance(first, Mapping) or isinstance(second, Mapping):
        reports = [report if isinstance(report, Mapping) else {} for report in (first, second)]
        for key in dict.fromkeys([*reports[0], *reports[1]]):
            yield from _differences(reports[0].get(key), reports[1].get(key), (*path, str(key)))
    elif first != second:
        values = [value if isinstance(value, int | float) else None for value in (first, second)]
        yield Difference(path, *values)
