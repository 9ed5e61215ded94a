"""The counts behind a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clueval.evaluation.depths import DEPTHS, Depths, depth_reports, has_depth, tallies_by_depth
from clueval.evaluation.settings import with_settings
from clueval.evaluation.units.unit import Units, joined_corpora
from clueval.exceptions import UsageError
from clueval.metrics.counting import Tally
from clueval.metrics.metric import Metric, sequences_of


@dataclass(frozen=True, slots=True)
class Counted:
    """The counts behind a result, so that results can be added.

    Attributes:
        tallies: by the names of metric and sequence.
        sequences: the layers of each sequence.
        units: the counts of each unit; the whole corpus is one if units were not asked for.
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
            tallies.setdefault(key, Tally()).update(tally)
        sequences = {
            name: list(dict.fromkeys([*self.sequences.get(name, ()), *other.sequences.get(name, ())]))
            for name in dict.fromkeys([*self.sequences, *other.sequences])
        }
        units = None
        if self.units is not None and other.units is not None:
            units = joined_corpora(self.units, other.units)
        return Counted(self.metrics, tallies, sequences, units)

    def tally_of(self, metric: Metric) -> Tally:
        """The counts of a metric in all sequences together."""
        total: Tally = Tally()
        for (name, sequence), tally in self.tallies.items():
            if name == metric.name and not has_depth(sequence):
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
