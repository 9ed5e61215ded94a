"""Finds the groups of rates of a report: entries that a recipe computes, means over labels, and all others.

A metric whose rates do not follow from the counts in its report can say itself how they follow from its tally
(`Needs.rates`). Whatever a group computes is compared with what the metric does; if it is something else, the metric
scores every corpus.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clueval.evaluation.units.columns import UnitColumns, summed
from clueval.evaluation.units.rates import (
    EntryRates,
    MeanRates,
    RateGroup,
    ScoredRates,
    SummedRates,
    sizes_in,
)
from clueval.evaluation.units.recipes import Path, Recipe, entries, entry_at, is_rate, recipe_of
from clueval.metrics.counting import SummedKeyRates, Tally

_OF_LABELS = ("per_label", "per_type")
_ENDINGS = [("macro",), ("weighted",)]


def groups_of(source: UnitColumns, wanted: Path | None = None) -> Iterator[RateGroup]:
    """Yield the groups of all rates of a report, or the one group that has the rate that is `wanted`."""
    others: list[Path] = []
    is_right, known = _Checks(source), _Entries(source)
    for path, entry in entries(source.report):
        found = {(*path, name) for name, value in entry.items() if is_rate(name, value)}
        if wanted is not None and wanted not in found:
            continue
        group = (
            (known.mean_at(path) if path[-1:] in _ENDINGS else None) or known.sum_at(path) or known.at(path)
        )
        if group is not None and {*group.paths} <= found and is_right(group):
            found -= {*group.paths}
            if wanted is None or wanted in group.paths:
                yield group
        others += sorted(found) if wanted is None else found & {wanted}
    if others:
        yield ScoredRates(others, source)


class _Entries:
    """The entries of a report that recipes compute, and the means over labels."""

    def __init__(self, source: UnitColumns) -> None:
        self._source = source
        self._found: dict[Path, EntryRates | None] = {}
        self._summed: dict[Path, SummedRates] = {}
        own = source.metric.needs.rates
        for found in own(source.by_key) if own is not None else ():
            paths, sizes = [(*found.path, name) for name in found.rates], sizes_in(source, found.path)
            parts = found.parts if isinstance(found, SummedKeyRates) else [(found.keys, found.function)]
            entries_of = [
                EntryRates(
                    paths, list(map(source.column_of_key, keys)), sizes, Recipe((), found.rates, function)
                )
                for keys, function in parts
            ]
            if isinstance(found, SummedKeyRates):
                self._summed[found.path] = SummedRates(paths, entries_of, sizes, found.function)
            else:
                (self._found[found.path],) = entries_of

    def at(self, path: Path) -> EntryRates | None:
        """Return the entry at a path; None if no recipe computes it."""
        if path not in self._found:
            self._found[path] = self._by_recipe(path)
        return self._found[path]

    def sum_at(self, path: Path) -> SummedRates | None:
        """Return the rates at a path that follow from sums over parts of the tally, if the metric says so."""
        return self._summed.get(path)

    def mean_at(self, path: Path) -> MeanRates | None:
        """Return the mean over labels at a path, if there are labels beside it and recipes compute them all."""
        for beside in ((*path[:-1], name) for name in _OF_LABELS):
            labels = [self.at((*beside, label)) for label in entry_at(self._source.report, beside)]
            known = [label for label in labels if label is not None and label.recipe.is_defined]
            if not known or len(known) < len(labels):
                continue
            nothing = self._source.metric.scores(Tally(), self._source.layers)
            if entry_at(
                nothing, beside
            ):  # settings name labels, which are in the mean though they do not occur
                return None
            names = known[0].recipe.rates
            paths, empty = [(*path, name) for name in names], list(map(entry_at(nothing, path).get, names))
            return MeanRates(paths, known, sizes_in(self._source, path), path[-1] == "weighted", empty)
        return None

    def _by_recipe(self, path: Path) -> EntryRates | None:
        recipe = recipe_of(entry_at(self._source.report, path))
        columns = None if recipe is None else self._source.of([(*path, name) for name in recipe.counts])
        if recipe is None or columns is None:
            return None
        paths = [(*path, name) for name in recipe.rates]
        return EntryRates(paths, columns, sizes_in(self._source, path), recipe)


class _Checks:
    """Whether a group computes what the metric does: for all units, and without the first, a middle, the last kind."""

    def __init__(self, source: UnitColumns) -> None:
        last = len(source.kinds) - 1
        self._left_out = sorted({0, last // 2, last} & {*range(last + 1)})
        self._times = source.times
        self._reports: list[Mapping[str, object]] = [source.report]
        for number in self._left_out:
            rest = Tally(source.total)
            rest.subtract(source.kinds[number])
            self._reports.append(source.metric.scores(+rest, source.layers))

    def __call__(self, group: RateGroup) -> bool:
        sums = []
        for column in group.columns:
            total = summed(column, self._times)
            sums.append([total, *(total - column.at(number) for number in self._left_out)])
        return all(
            value == entry_at(report, path[:-1]).get(path[-1], value)
            for values, path in zip(group.values(sums), group.paths, strict=True)
            for value, report in zip(values, self._reports, strict=True)
        )
