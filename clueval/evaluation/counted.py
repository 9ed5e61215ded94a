"""The counts behind a result, also for each depth of a hierarchy of labels.

The counts of a depth stand in the same totals as all others, under a name of the sequence that has the depth and the
depth of the deepest label of the document. A report at depth n adds the counts of depth n and, of documents whose
labels do not reach it, those of their deepest depth; so counts of documents with different depths add up.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clueval.evaluation.units.unit import Units, joined_corpora
from clueval.exceptions import UsageError
from clueval.metrics import with_settings
from clueval.metrics.counting import Tally
from clueval.metrics.metric import Metric, sequences_of

DEPTHS = "depths"
"""The name of the section of a report that has a report for each depth, by its number."""

_MARK = "\x1f"
_DEPTH = re.compile(r"([1-9][0-9]{0,5})/([1-9][0-9]{0,5})")

Depths = Mapping[tuple[int, int], Tally]
"""Tallies by depth and deepest depth."""


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


def plain_sequence(name: str) -> str | None:
    """Return the sequence of the name of a tally; None if it has an invalid depth.

    >>> plain_sequence("entity"), plain_sequence("entity\x1f1/2"), plain_sequence("entity\x1f2/1")
    ('entity', 'entity', None)
    """
    sequence, mark, depth = name.partition(_MARK)
    found = _DEPTH.fullmatch(depth)
    if mark and (found is None or int(found[1]) > int(found[2])):
        return None
    return sequence


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
