"""The reports on a bag: of everything, and of the values of a break-down."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from clueval.core.bag import Bag, Place
from clueval.core.count import Plan, Unit
from clueval.core.metric import AnyMetric
from clueval.core.span import DEFAULT_LAYER, MERGED
from clueval.core.tally import Tally, added

if TYPE_CHECKING:
    from clueval.metrics.curve import Curve
    from clueval.results.options import Trust
    from clueval.results.units import Units

Reports = dict[str, dict[str, Any]]
"""Reports by metric and sequence."""


class BagReports:
    """The reports of metrics on the places of a bag; documents without layers have the default layer, without spans.

    Attributes:
        metrics: the metrics that have reports; curves are parts of those of their metrics.
        layers: the layers that are counted.
    """

    def __init__(self, bag: Bag, plan: Plan) -> None:
        counting = plan.metrics
        self.metrics = [metric for metric in counting if not hasattr(metric, "with_curves")]
        curves = [cast("Curve", metric) for metric in counting if hasattr(metric, "with_curves")]
        self._curves = {curve.metric.name: curve for curve in curves}
        self.layers = list(bag.layers) or [DEFAULT_LAYER]
        self._merges = plan.merge and bool(bag.layers)
        self._sequences = [MERGED] if self._merges else self.layers
        wholes = [whole for metric in counting if (whole := getattr(metric, "whole", None)) is not None]
        self._counted = list(dict.fromkeys([*self._sequences, *wholes]))
        self._counts = bag.counts(counting)
        self._last: tuple[Place, dict[tuple[str, str], Tally]] | None = None

    def layers_of(self, sequence: str) -> list[str]:
        """Return the layers in which the spans of a sequence have labels."""
        return [sequence] if sequence in self._sequences and not self._merges else self.layers

    def tallies(self, place: Place) -> dict[tuple[str, str], Tally]:
        """Return the counts in a place, by metric and sequence; those of the last place are kept."""
        if self._last is None or self._last[0] != place:
            tallies: dict[tuple[str, str], Tally] = {}
            for sequence, metric, tally in self._counts.at(place, self._counted):
                tallies[metric.name, sequence] = tally
            self._last = place, tallies
        return self._last[1]

    def sequences_of(self, metric: AnyMetric, tallies: Mapping[tuple[str, str], Tally]) -> Sequence[str]:
        """Return the sequences that a metric reports, given what was counted."""
        whole = getattr(metric, "whole", None)
        if whole is not None:
            return [whole]
        own = {sequence: tallies[metric.name, sequence] for sequence in self._sequences}
        return metric.reported(own) if hasattr(metric, "reported") else self._sequences

    def at(self, place: Place) -> Reports:
        """Return the reports on a place, by metric and sequence."""
        tallies = self.tallies(place)
        found: Reports = {}
        for metric in self.metrics:
            found[metric.name] = {}
            for sequence in self.sequences_of(metric, tallies):
                layers = self.layers_of(sequence)
                report = metric.scores(tallies[metric.name, sequence], layers)
                curve = self._curves.get(metric.name)
                if curve is not None:
                    points = curve.scores(tallies[curve.name, sequence], layers)
                    report = curve.with_curves(report, points, layers)
                found[metric.name][sequence] = report
        return found

    def headlines(self, place: Place) -> Reports:
        """Return the reports on a place, of which some metrics make only the part that has the headline."""
        tallies = self.tallies(place)
        found: Reports = {}
        for metric in self.metrics:
            scores = getattr(metric, "headline_report", metric.scores)
            found[metric.name] = {
                sequence: scores(tallies[metric.name, sequence], self.layers_of(sequence))
                for sequence in self.sequences_of(metric, tallies)
            }
        return found

    @property
    def layers_by_sequence(self) -> dict[str, list[str]]:
        """The layers of each sequence."""
        return {sequence: self.layers_of(sequence) for sequence in self._sequences}

    def totals(self, place: Place) -> dict[str, Tally]:
        """Return the sums of what each metric counted in all sequences of a place."""
        tallies = self.tallies(place)
        return {
            metric.name: added((tally, 1) for (name, _), tally in tallies.items() if name == metric.name)
            for metric in self.metrics
        }


class GroupReports(Mapping[str, Mapping[str, Any]]):
    """The reports of a break-down by the values of its groups, in order of the values.

    Each report is made when it is asked for, because those of many documents take much memory. With `trust`, it has
    intervals, too.
    """

    def __init__(self, bag: Bag, plan: Plan, key: str, trust: Trust | None = None) -> None:
        number = plan.by.index(key)

        def value_of(place: Place) -> Place:
            assert isinstance(place, Unit)
            return place.values[number]

        self._bag, self._plan, self._trust = bag, plan, trust
        self._grouped = bag.grouped(value_of)
        self._reports = BagReports(self._grouped, plan)
        self._values = sorted(str(value) for value in self._grouped.documents)
        self._places: dict[str, list[Place]] = {}
        for place in bag.documents if trust is not None else ():
            self._places.setdefault(str(value_of(place)), []).append(place)

    def __getitem__(self, value: str) -> Mapping[str, Any]:
        if value not in self._grouped.documents:
            raise KeyError(value)
        report = {
            "documents": self._grouped.documents[value],
            "tokens": sum(positions[value] for positions in self._grouped.positions.values()),
            "metrics": self._reports.at(value),
        }
        if self._trust is None:
            return report
        from clueval.results.intervals import interval_section  # few results need them

        part = self._bag.grouped(lambda place: place, self._places[value])
        return report | {"intervals": interval_section(units_in(part, self._plan), self._trust)}

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return repr(dict(self))

    def headlines(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield each value with reports that have the headlines, some of which cost less than all scores."""
        for value in self._values:
            yield value, self._reports.headlines(value)


def units_in(bag: Bag, plan: Plan) -> Units:
    """Return the units of a bag."""
    from clueval.results.units import units_of  # few results need them

    reports = BagReports(bag, plan)
    return units_of(bag, reports.metrics, reports.layers_by_sequence, plan.units)


# Headlines and numbers

Path = tuple[str, ...]
"""The path of a number: metric, sequence, place in the report."""

RATES = ("precision", "recall", "f1")

_ENDINGS = ("", "_strict")
_OF_CLASSES = "entity_recall"
"""The only rate of the headline of `masking`: an entity counts as found if all its mentions are masked."""


def number_at(reports: Mapping[str, Any], path: Path) -> float | None:
    """Return the number at a path; None if it is undefined, or there is none."""
    found: Any = reports
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found if isinstance(found, int | float) else None


def headline_paths(reports: Mapping[str, Any], rates: slice = slice(None)) -> Iterator[Path]:
    """Yield the paths of the rates of all headlines, from the metric on; or of some of each headline's `rates`."""
    for metric, sequences in reports.items():
        for sequence, report in sequences.items():
            for path in headline_rates(sequence, report)[rates]:
                yield metric, sequence, *path


def headline_rates(sequence: str, report: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return the paths, below the sequence, of the rates of the headline: precision, recall and F1, if it has them.

    >>> headline_rates("entity", {"micro": {"precision": 1.0, "recall": 0.5, "f1": 0.6667}})
    [('micro', 'precision'), ('micro', 'recall'), ('micro', 'f1')]
    """
    layer = None if sequence == MERGED else sequence
    for place in (
        *([("labelled", layer, "1", "micro")] if layer is not None else []),
        ("unlabelled", "1"),
        ("micro",),
        ("tokens", "micro"),
        ("overall", "fair"),
        ("strict",),
        ("all",),
        ("ALL",),
        ("classes", "all"),
    ):
        entry: Any = report
        for name in place:
            entry = entry.get(name) if isinstance(entry, Mapping) else None
        found = _of_entry(entry) if isinstance(entry, Mapping) else []
        if found:
            return [(*place, name) for name in found]
    return []


def _of_entry(entry: Mapping[str, Any]) -> list[str]:
    for ending in _ENDINGS:
        found = [f"{name}{ending}" for name in RATES if f"{name}{ending}" in entry]
        if found:
            return found
    return [_OF_CLASSES] if _OF_CLASSES in entry else []
