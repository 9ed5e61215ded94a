"""Means over documents: beside each ``micro`` of a report, the mean of its rates in the single documents.

A rate counts in the documents in which it is defined: precision with predicted spans, recall with gold spans, F1 with
any span. The standard deviation ``sd`` divides by the number of these documents; without any, mean and deviation are
None. ``documents`` is the number of documents with any span. This is ``macro_doc`` of the HIPE scorer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from clueval.evaluation.units.columns import Path, entry_at
from clueval.evaluation.units.unit import DOCUMENT, Unit, Units
from clueval.first.metrics.counting import Tally
from clueval.first.metrics.metric import Metric

KEY = "document_mean"

Report = Mapping[str, Any]

_SUPPORTS = {"precision": ("predicted",), "recall": ("gold",), "f1": ("gold", "predicted")}


def with_document_means(
    reports: Mapping[str, Report],
    metrics: Sequence[Metric],
    sequences: Mapping[str, Sequence[str]],
    units: Sequence[Unit],
) -> dict[str, dict[str, Any]]:
    """Return the reports, by metric and sequence, with the means beside each ``micro``.

    `units` are the documents of the reports.
    """
    by_name = {metric.name: metric for metric in metrics}
    found: dict[str, dict[str, Any]] = {}
    for name, by_sequence in reports.items():
        found[name] = {}
        for sequence, report in by_sequence.items():
            layers = sequences.get(sequence) or list(sequences)
            paths = list(_paths(report))
            means = _means(by_name[name], sequence, layers, units, paths) if paths else {}
            found[name][sequence] = _inserted(report, means)
    return found


def documents_of(units: Units | None) -> Sequence[Unit] | None:
    """Return the counts of each document; None if counts were not kept by document."""
    return None if units is None or units.by != DOCUMENT else units.units


def has_means(reports: Mapping[str, Report]) -> bool:
    """Return whether any report has means over documents."""
    return any(
        KEY in entry_at(report, path[:-1])
        for by in reports.values()
        for report in by.values()
        for path in _paths(report)
    )


def _paths(report: Report, path: Path = ()) -> Iterator[Path]:
    """Yield the paths of the entries called ``micro``."""
    for name, value in report.items():
        if isinstance(value, Mapping):
            if name == "micro" and _SUPPORTS.keys() | {"gold", "predicted"} <= value.keys():
                yield (*path, name)
            elif name not in ("per_label", KEY):
                yield from _paths(value, (*path, name))


def _means(
    metric: Metric, sequence: str, layers: Sequence[str], units: Sequence[Unit], paths: Sequence[Path]
) -> dict[Path, dict[str, Any]]:
    values: dict[Path, dict[str, list[float]]] = {path: {rate: [] for rate in _SUPPORTS} for path in paths}
    for unit in units:
        tally = unit.tallies.get((metric.name, sequence))
        report = metric.scores(Tally(tally), layers) if tally else {}
        for path, by_rate in values.items():
            entry = entry_at(report, path)
            for rate, supports in _SUPPORTS.items():
                if any(entry.get(support) for support in supports):
                    by_rate[rate].append(entry[rate])
    return {path: _summary(by_rate) for path, by_rate in values.items()}


def _summary(by_rate: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    means: dict[str, Any] = dict.fromkeys(by_rate)
    deviations = dict(means)
    for rate, values in by_rate.items():
        if values:
            mean = means[rate] = math.fsum(values) / len(values)
            deviations[rate] = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
    return {**means, "sd": deviations, "documents": len(by_rate["f1"])}


def _inserted(report: Report, means: Mapping[Path, Mapping[str, Any]], path: Path = ()) -> dict[str, Any]:
    """Return the report with each mean after its ``micro``."""
    found: dict[str, Any] = {}
    for name, value in report.items():
        here = (*path, name)
        found[name] = _inserted(value, means, here) if isinstance(value, Mapping) else value
        if here in means:
            found[KEY] = dict(means[here])
    return found
