"""Totals, which are added and sent between processes, and the counts behind a result.

Counts are integers, so their sum does not depend on the order in which they are added.

The counts of each depth of a hierarchy of labels stand in the same totals as all others, under a name of the sequence
that has the depth and the depth of the deepest label of the document. A report at depth n adds the counts of depth n
and, of documents whose labels do not reach it, those of their deepest depth; so counts of documents with different
depths add up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple

from clueval.core.span import Span
from clueval.evaluation.units.unit import Unit, Units, joined_corpora, summed_tallies
from clueval.evaluation.without_layers import depends_on_documents, without_spans
from clueval.files.errors import UsageError
from clueval.first.metrics import with_settings
from clueval.first.metrics.counting import Tallies, Tally, add_tally
from clueval.first.metrics.metric import Metric, sequences_of


class Totals:
    """Documents, positions, and a tally for each metric and sequence.

    `without_layer` has what is counted in a layer that no document so far has, where that does not follow from the
    numbers of documents and positions: by metric and what follows the name of the layer, which is empty or a depth
    (`depth_sequence`). A layer counts in all documents of a corpus, also in those before its first.
    """

    __slots__ = ("documents", "tallies", "tokens", "without_layer")

    def __init__(self, documents: int = 0, tokens: int = 0) -> None:
        self.documents = documents
        self.tokens = tokens
        self.tallies: Tallies = {}
        self.without_layer: Tallies = {}

    @classmethod
    def of(cls, units: Sequence[Unit]) -> Totals:
        """The sum of units."""
        totals = cls(sum(unit.documents for unit in units), sum(unit.tokens for unit in units))
        totals.tallies = summed_tallies(units)
        return totals

    def add(self, metric: str, sequence: str, tally: Tally) -> None:
        add_tally(self.tallies, (metric, sequence), tally)

    def include(self, other: Totals) -> None:
        """Add the counts of other totals."""
        self.documents += other.documents
        self.tokens += other.tokens
        for place, tally in other.tallies.items():
            add_tally(self.tallies, place, tally)
        for place, tally in other.without_layer.items():
            add_tally(self.without_layer, place, tally)


def add_to(receivers: Iterable[Totals], metric: str, sequence: str, tally: Tally) -> None:
    """Add a tally to several totals."""
    for totals in receivers:
        totals.add(metric, sequence, tally)


class UnitPiece(NamedTuple):
    """What was counted in a unit, or in the part of a unit that has these values of the break-downs."""

    key: str
    values: tuple[str, ...]
    totals: Totals


class Unprojected(NamedTuple):
    """A predicted span without a place on the gold text, in predicted positions, and the id of its document.

    A mention of a language model has no positions; the feature `MENTION` has its text.
    """

    document: str
    span: Span

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of the result; a mention has its text, and None for its positions."""
        from clueval.spans.features import MENTION

        span = self.span
        if MENTION in span.features:
            places: dict[str, Any] = {"start": None, "end_exclusive": None, "text": span.features[MENTION]}
        else:
            places = {"start": span.start, "end_exclusive": span.end}
        return {"document": self.document, "label": span.label, **places}


# The counts behind a result

DEPTHS = "depths"
"""The name of the section of a report that has a report for each depth, by its number."""

_MARK = "\x1f"

Depths = Mapping[tuple[int, int], Tally]
"""Tallies by depth and deepest depth."""


@dataclass(frozen=True, slots=True)
class Counted:
    """The counts behind a result, so that results can be added.

    Attributes:
        tallies: by the names of metric and sequence.
        sequences: the layers of each sequence.
        units: the counts of each unit; the whole corpus is one if units were not asked for.

    Results with a break-down add up, because their units have the counts of each of its values.
    """

    metrics: Sequence[Metric]
    tallies: Mapping[tuple[str, str], Tally]
    sequences: Mapping[str, Sequence[str]]
    units: Units | None = None

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
            add_tally(tallies, key, tally)
        sequences = {
            name: list(dict.fromkeys([*self.sequences.get(name, ()), *other.sequences.get(name, ())]))
            for name in dict.fromkeys([*self.sequences, *other.sequences])
        }
        units = None
        if self.units is not None and other.units is not None:
            units = joined_corpora(self.units, other.units)
        return Counted(self.metrics, tallies, sequences, units)

    def with_sequences(self, others: Counted) -> Counted:
        """The same counts, in which the layers that only `others` have are layers without spans.

        Raises `UsageError` for a metric that reads documents, if it counts something in documents without spans.
        """
        new = [name for name in others.sequences if name not in self.sequences]
        if not new or self.units is None or not any(unit.documents for unit in self.units.units):
            return self
        for metric in filter(depends_on_documents, self.metrics):
            raise UsageError(
                f"results of metric {metric.name!r} cannot be added if one of them lacks the layer {new[0]!r}",
                advice="score both corpora together",
            )
        depths = {name.partition(_MARK)[2] for _, name in self.tallies if has_depth(name)}
        if depths or any(has_depth(name) for _, name in others.tallies):
            depths.add("1/1")  # the counts of this depth are in the reports of all

        def of_unit(unit: Unit) -> Unit:
            tallies = {key: Tally(tally) for key, tally in unit.tallies.items()}
            for metric, layer in product(self.metrics, new):
                if metric.needs.whole is None:
                    tally = without_spans(metric, unit.documents, unit.tokens)
                    add_tally(tallies, (metric.name, layer), tally)
                    for depth in depths:
                        counted = tally if depth == "1/1" else Tally()
                        add_tally(tallies, (metric.name, f"{layer}{_MARK}{depth}"), counted)
            return unit._replace(tallies=tallies)

        units = replace(
            self.units,
            units=list(map(of_unit, self.units.units)),
            groups={
                key: {value: list(map(of_unit, members)) for value, members in values.items()}
                for key, values in self.units.groups.items()
            },
        )
        return replace(self, tallies=summed_tallies(units.units), units=units)

    def groups(self) -> Mapping[str, GroupReports] | None:
        """The reports of the break-downs; None without a break-down."""
        found = {} if self.units is None else self.units.groups
        return {
            key: GroupReports({value: Totals.of(units) for value, units in values.items()}, self)
            for key, values in found.items()
        } or None

    def tally_of(self, metric: Metric) -> Tally:
        """The counts of a metric in all sequences together."""
        found = [
            tally
            for (name, sequence), tally in self.tallies.items()
            if name == metric.name and not has_depth(sequence)
        ]
        if len(found) == 1:
            return found[0]
        total: Tally = Tally()
        for tally in found:
            total.update(tally)
        return total

    def scores(self) -> dict[str, dict[str, Any]]:
        """The reports, by metric and sequence."""
        by_depth = tallies_by_depth(self.tallies)
        return {
            metric.name: {
                sequence: self._report(metric, sequence, layers, by_depth.get((metric.name, sequence), {}))
                for sequence, layers in sequences_of(metric, self.sequences, self.tallies).items()
            }
            for metric in self.metrics
        }

    def headlines(self) -> dict[str, dict[str, Any]]:
        """The reports by metric and sequence, of which some metrics make only the part that has the headline."""
        return {
            metric.name: {
                sequence: (metric.needs.headline or metric.scores)(
                    self.tallies.get((metric.name, sequence), Tally()), layers
                )
                for sequence, layers in sequences_of(metric, self.sequences, self.tallies).items()
            }
            for metric in self.metrics
        }

    def _report(
        self, metric: Metric, sequence: str, layers: Sequence[str], by_depth: Depths
    ) -> dict[str, Any]:
        report = metric.scores(self.tallies.get((metric.name, sequence), Tally()), layers)
        depths = depth_reports(metric, by_depth, layers)
        return {**report, DEPTHS: depths} if depths else report


def depth_sequence(sequence: str, depth: int, deepest: int) -> str:
    """Return the name under which a sequence is counted at a depth, in documents with this deepest depth."""
    return f"{sequence}{_MARK}{depth}/{deepest}"


def has_depth(name: str) -> bool:
    """Return whether the name of a tally has a depth."""
    return _MARK in name


def tallies_by_depth(tallies: Mapping[tuple[str, str], Tally]) -> dict[tuple[str, str], Depths]:
    """Return the tallies that have a depth, by metric and sequence."""
    found: dict[tuple[str, str], dict[tuple[int, int], Tally]] = {}
    for (name, place), tally in tallies.items():
        sequence, mark, depth = place.partition(_MARK)
        if mark:
            at, of = depth.split("/")
            found.setdefault((name, sequence), {})[int(at), int(of)] = tally
    return dict(found)


def depth_reports(metric: Metric, found: Depths, layers: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the report of a metric for each depth; empty if depths were not counted."""
    reports = {}
    all_deepest = {deepest for _, deepest in found}
    for number in range(1, max(all_deepest, default=0) + 1):
        total: Tally = Tally()
        for deepest in all_deepest:
            total.update(found.get((min(number, deepest), deepest), Tally()))
        reports[str(number)] = metric.scores(total, layers)
    return reports


class GroupReports(Mapping[str, Mapping[str, Any]]):
    """The reports of a break-down by the values of its groups, in order of the values.

    Each report is made when it is asked for, because those of many documents take much memory.
    """

    def __init__(self, groups: Mapping[str, Totals], counted: Counted) -> None:
        """Take the totals by value, which must not change; `counted` has the metrics and the layers of sequences."""
        self._groups, self._counted = dict(sorted(groups.items())), counted

    def __getitem__(self, value: str) -> Mapping[str, Any]:
        totals = self._groups[value]
        scores = self._of(totals).scores()
        return {"documents": totals.documents, "tokens": totals.tokens, "metrics": scores}

    def __iter__(self) -> Iterator[str]:
        return iter(self._groups)

    def __len__(self) -> int:
        return len(self._groups)

    def __repr__(self) -> str:
        return repr(dict(self))

    def headlines(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield each value with the parts of the scores that have the headlines, which cost less than all scores."""
        for value, totals in self._groups.items():
            yield value, self._of(totals).headlines()

    def _of(self, totals: Totals) -> Counted:
        return Counted(self._counted.metrics, totals.tallies, self._counted.sequences)
