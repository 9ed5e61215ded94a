"""Results, and the signature that says what they are.

Two results can be compared, or added, if they are of the same kind: if their signatures are equal but for the
version (``scores`` in them grows whenever a number changes). If they are not, both refuse and say what differs,
unless `force` is given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from clueval.evaluation.inputs import include, no_inputs, schemes_of
from clueval.evaluation.observer import AddingObserver, added, sections_of
from clueval.evaluation.preparation import plain_tally
from clueval.evaluation.signature import Signature, _described, require_same
from clueval.exceptions import UsageError
from clueval.metrics.counting import Tally
from clueval.metrics.metric import Metric, sequences_of
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
"""The forms of a result and their modules, which are imported when they are asked for."""


class Unprojected(NamedTuple):
    """A predicted span that has no place on the gold text, as it was, and the id of its document."""

    document: str
    span: Span


@dataclass(frozen=True, slots=True)
class Counted:
    """What a result was computed from, so that results can be added: metrics, tallies, layers by sequence.

    A tally stands under the names of its metric and its sequence.
    """

    metrics: Sequence[Metric]
    tallies: Mapping[tuple[str, str], Tally]
    sequences: Mapping[str, Sequence[str]]

    def __add__(self, other: Counted) -> Counted:
        """Both together. Raises `UsageError` if they were not counted by equal metrics."""
        if {metric.name: metric for metric in self.metrics} != {
            metric.name: metric for metric in other.metrics
        }:
            names = [
                "+".join(sorted(_described(metric) for metric in side.metrics)) for side in (self, other)
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

    def scores(self) -> dict[str, dict[str, Any]]:
        """The reports, by metric and sequence."""
        return {
            metric.name: {
                sequence: metric.scores(self.tallies.get((metric.name, sequence), Tally()), layers)
                for sequence, layers in sequences_of(metric, self.sequences, self.tallies).items()
            }
            for metric in self.metrics
        }


class Difference(NamedTuple):
    """A number of a report that two results do not share: where it stands in it, and both values.

    The path begins with the sequence; a value is None where one of the results has no such number, or it is
    undefined there.
    """

    path: tuple[str, ...]
    own: float | None
    other: float | None

    @property
    def change(self) -> float | None:
        """The other value less the own; None where one of them is not there."""
        return None if self.own is None or self.other is None else self.other - self.own


@dataclass(frozen=True, slots=True)
class Result:
    """What an evaluation found.

    `metrics` holds, by metric and sequence, the reports whose shapes the documentation of each metric gives.
    `groups` holds the same for each value of the metadata that the evaluation was broken down by, if it was;
    `unprojected`, if texts were aligned, the predicted spans without a place on the gold text, which count as
    wrong. `scored_by` are the metrics, which make the tables. `prepared` holds, if there were transforms, what each
    has changed; `sections` are the reports of the observers, by their names, and `observers` those that add.
    `inputs` says of each side what was read: ``format``, ``files`` and, in ``layers``, of each its ``source`` (the
    column, from 1), its ``scheme`` (both None where spans do not come from tags) and how many ``spans`` it has, those
    that are filtered out, too.
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

    def compare(self, other: Result, *, force: bool = False) -> dict[str, list[Difference]]:
        """The numbers in which two results differ, by metric, in the order of the reports.

        Metrics of either are compared. Raises `UsageError` if the signatures differ, unless `force` is given.
        """
        if not force:
            require_same(self.signature, other.signature, "compared")
        names = dict.fromkeys([*self.metrics, *other.metrics])
        return {
            name: list(_differences(self.metrics.get(name, {}), other.metrics.get(name, {})))
            for name in names
        }

    def add(self, other: Result, *, force: bool = False) -> Result:
        """The result of both corpora together: counts are added, and the scores computed anew.

        Raises `UsageError` if the signatures differ, unless `force` is given; the choices that differ then have
        both values in the signature. Raises it, too, for results of different metrics and for those that do not
        have their counts, or are broken down, of aligned texts or with sections of observers that do not add.
        """
        if not force:
            require_same(self.signature, other.signature, "added")
        for result in (self, other):
            cannot = result.sections.keys() - {observer.name for observer in result.observers}
            if result.groups is not None or result.unprojected is not None or cannot:
                raise UsageError(
                    "results that are broken down, of aligned texts or with observers that do not add cannot be added",
                    advice="evaluate both corpora in one go",
                )
        if self.counted is None or other.counted is None:
            raise UsageError("a result without its counts cannot be added", advice="evaluate both in one go")
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
            inputs=inputs,
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain dictionaries, strings, integers and floats. Rates are fractions."""
        report: dict[str, Any] = {
            "clueval": __version__,
            "schema": SCHEMA,
            "signature": str(self.signature),
            "documents": self.documents,
            "tokens": self.tokens,
            "repaired_tags": dict(self.repaired_tags),
            "inputs": {side: dict(found) for side, found in self.inputs.items()},
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
        """`to_dict` as JSON, indented, the same bytes for the same result."""
        from clueval.reports.json_text import dumps  # only where it is wanted: most programs read the numbers

        return dumps(self.to_dict())

    def render(self, form: str) -> str:
        """The result in one of `FORMS`, as ``clueval score --format`` prints it. Raises `UsageError` for another."""
        if form not in FORMS:
            raise UsageError(f"unknown form {form!r}", advice=f"one of {', '.join(FORMS)}")
        if form == "json":
            return self.to_json()
        render = import_module(FORMS[form]).render
        shows_tables = form in ("text", "markdown", "latex")
        rendered: str = render(self.to_dict(), self.tables()) if shows_tables else render(self.to_dict())
        return rendered

    def tables(self) -> Iterator[Table]:
        """The reports as tables, those of each group of a break-down after the whole."""
        from clueval.metrics.tables import of_report, of_section

        yield from of_report(self.to_dict(), self.scored_by)
        for name, section in self.sections.items():
            yield from of_section(name, section)

    def _repr_html_(self) -> str:
        from clueval.reports.notebook import render

        return render(self.to_dict(), self.tables())

    def __str__(self) -> str:
        return self.render("text")


def _joined(own: Signature, other: Signature, schemes: str) -> Signature:
    """A signature with both values of what differs; these are the schemes of both, unless one has documents."""
    both = {
        key: " and ".join(value for value in pair if value is not None)
        for key, pair in own.differences(other).items()
    }
    if "scheme" in both and "documents" not in (own.choices.get("scheme"), other.choices.get("scheme")):
        both["scheme"] = schemes
    return Signature({**own.choices, **both})


def _added(own: Mapping[str, Tally] | None, other: Mapping[str, Tally] | None) -> Mapping[str, Tally] | None:
    """What transforms have changed in both corpora together."""
    if own is None and other is None:
        return None
    sides = own or {}, other or {}
    return {
        name: sides[0].get(name, Tally()) + sides[1].get(name, Tally())
        for name in dict.fromkeys([*sides[0], *sides[1]])
    }


def _differences(own: object, other: object, path: tuple[str, ...] = ()) -> Iterator[Difference]:
    """The numbers of two reports that are not the same."""
    if isinstance(own, Mapping) or isinstance(other, Mapping):
        sides = [side if isinstance(side, Mapping) else {} for side in (own, other)]
        for key in dict.fromkeys([*sides[0], *sides[1]]):
            yield from _differences(sides[0].get(key), sides[1].get(key), (*path, str(key)))
    elif own != other:
        values = [side if isinstance(side, int | float) else None for side in (own, other)]
        yield Difference(path, *values)
