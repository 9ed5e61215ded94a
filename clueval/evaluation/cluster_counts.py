"""Counts documents that stand for several equal parts of a corpus: each is counted once and multiplied."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from clueval.evaluation.plan import Plan
from clueval.evaluation.tallies import count_sides, in_unit, positions_of, sequences_in, sides_of
from clueval.metrics.counting import Tally
from clueval.spans.document import Document
from clueval.spans.making import making_many
from clueval.spans.seen_names import SeenNames

Tallies = dict[tuple[str, str], Tally]
"""The counts by metric and sequence."""


class ClusterCounts:
    """The counts of a plan in clusters, out of which no span reaches. `seen_names` gets the labels of filters."""

    def __init__(self, plan: Plan, layers: Sequence[str], seen_names: SeenNames) -> None:
        self._plan, self._seen_names = plan, seen_names
        self._where = plan.where.on_layers(layers)
        self._layers = [layer for layer in layers if all(layer != each.needs.within for each in plan.metrics)]
        sequences = sequences_in(plan, self._layers)
        self._places = [(metric, sequence) for metric in plan.metrics for sequence in sequences]
        self._positions = 0
        self._tallies: Tallies = {}

    def count(self, gold: Document, predicted: Document, times: int) -> None:
        """Count two documents, made of clusters with a position between them, this number of times."""
        gold, predicted = in_unit(self._plan.unit, gold, predicted)
        self._seen_names.see_labels((gold, predicted), self._where)
        self._positions += times * positions_of(gold, predicted)
        with making_many(positions_of(gold, predicted)):
            for sequence, own, other in sides_of(self._plan, self._layers, gold, predicted):
                for metric in self._plan.metrics:
                    total = self._tallies.setdefault((metric.name, sequence), Tally())
                    for key, number in count_sides(metric, own, other).items():
                        total[key] += number * times

    def tallies(self, positions: int) -> Tallies:
        """Return the counts by metric and sequence of a text of `positions` positions, which agree outside clusters."""
        return self.summed([(self, 1)], positions)

    def summed(self, parts: Iterable[tuple[ClusterCounts, int]], positions: int) -> Tallies:
        """Return the counts of clusters, each a number of times, in a text of `positions` positions."""
        found: Tallies = {}
        for counts, times in parts:
            positions -= counts._positions * times
            for key, tally in counts._tallies.items():
                total = found.get(key)
                if total is None:
                    total = found[key] = Tally()
                for name, number in tally.items():
                    total[name] = total.get(name, 0) + number * times
        for metric, sequence in self._places:
            total = found.get((metric.name, sequence))
            if total is None:
                total = found[metric.name, sequence] = Tally()
            if metric.needs.outside is not None:
                total.update(metric.needs.outside(positions))
        return found
