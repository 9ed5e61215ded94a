"""Alternatives to functions of clueval: packages from PyPI, each with a few lines of code.

* **nervaluate** 1.2.1 pairs spans as SemEval-2013 does and counts five categories under four schemes, in one call.
  Metric ``muc`` gives the same numbers (where spans overlap several others, nervaluate's depend on their order).
  ``levels``, ``partial`` and ``gate`` count the agreement of partly overlapping spans in other ways, so a ratio to
  nervaluate compares the cost of different jobs.
* **networkx** 3.6.1 finds connected components; the edges come from a query to an interval tree (**intervaltree**
  3.2.1) for each span. For spans with a length, the result is that of ``overlap_components``.
* **intervaltree**'s own ``merge_overlaps`` finds the same sets of spans. With a loop that chooses the label of each
  layer, the result is that of ``merge_layers``.

We know no alternative to ``error_table``: nervaluate returns the indices of the spans of each category, without
overlapping spans and without text. For ``fair`` see `fair_by_lists`; FairEval itself is not on PyPI.

A package that is not installed is not measured; `missing` returns its name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

Plain = tuple[int, int, str]
"""Start, end (half-open) and label."""

Merged = tuple[int, int, tuple[str | None, ...]]
"""Start, end and the label in each layer."""


def missing(packages: Iterable[str]) -> list[str]:
    """Return the packages that are not installed."""
    return [package for package in packages if find_spec(package) is None]


def as_nervaluate_takes_them(spans: Iterable[Plain]) -> list[dict[str, Any]]:
    """Return the spans of one document for nervaluate's loader ``dict``, with inclusive ends."""
    return [{"label": label, "start": start, "end": end - 1} for start, end, label in spans]


def by_nervaluate(
    gold: Sequence[Sequence[Mapping[str, Any]]],
    predicted: Sequence[Sequence[Mapping[str, Any]]],
    labels: Sequence[str],
) -> dict[str, dict[str, int]]:
    """Return nervaluate's categories over all labels by scheme, for documents as lists of dicts."""
    evaluator = import_module("nervaluate").Evaluator(gold, predicted, tags=list(labels), loader="dict")
    categories = ("correct", "incorrect", "partial", "missed", "spurious")
    return {
        scheme: {category: getattr(result, category) for category in categories}
        for scheme, result in evaluator.evaluate()["overall"].items()
    }


def components_by_networkx(spans: Sequence[Plain]) -> list[list[Plain]]:
    """Return overlap components as connected components of a graph, with the edges of a tree query per span."""
    trees = import_module("intervaltree")
    graph = import_module("networkx").Graph()
    tree = trees.IntervalTree(trees.Interval(start, end, n) for n, (start, end, _) in enumerate(spans))
    graph.add_nodes_from(range(len(spans)))
    for number, (start, end, _) in enumerate(spans):
        graph.add_edges_from((number, other.data) for other in tree.overlap(start, end))
    components = import_module("networkx").connected_components(graph)
    return sorted(sorted(spans[number] for number in component) for component in components)


def _merged(intervals: Iterable[tuple[int, int, Any]]) -> Iterable[tuple[int, int, list[Any]]]:
    """Yield each set of spans that overlaps connect: start, end and the data of all its spans."""
    trees = import_module("intervaltree")
    tree = trees.IntervalTree(trees.Interval(start, end, data) for start, end, data in intervals)
    tree.merge_overlaps(data_reducer=_appended, data_initializer=[])
    return ((each.begin, each.end, each.data) for each in sorted(tree))


def _appended(found: list[Any], data: Any) -> list[Any]:
    found.append(data)
    return found


def components_by_merging(spans: Sequence[Plain]) -> list[list[Plain]]:
    """Return overlap components by ``merge_overlaps`` with a reducer that collects the merged spans."""
    found = _merged((start, end, n) for n, (start, end, _) in enumerate(spans))
    return sorted(sorted(spans[number] for number in numbers) for _, _, numbers in found)


def layers_by_merging(layers: Mapping[str, Sequence[Plain]]) -> list[Merged]:
    """Return the layers merged by ``merge_overlaps``: start, end and for each layer the label with most positions."""
    spans = [
        (start, end, (start, end, layer, label)) for layer, of in layers.items() for start, end, label in of
    ]
    merged: list[Merged] = []
    for first, last, data in _merged(spans):
        positions: dict[str, Counter[str]] = {layer: Counter() for layer in layers}
        for start, end, layer, label in sorted(data):
            positions[layer][label] += end - start
        labels = (max(of, key=of.__getitem__, default=None) for of in positions.values())
        merged.append((first, last, tuple(labels)))
    return merged
