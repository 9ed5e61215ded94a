"""A fair report as FairEval prints it: five sections of tab-separated tables, rates in percent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from clueval.reports.matrices import frequencies, most_frequent

VERSIONS = ("traditional", "fair", "weighted")

_COLUMNS = {
    "traditional": ("TP", "FP", "FN"),
    "fair": ("TP", "FP", "LE", "BE", "LBE", "FN"),
}
_RATES = ("precision", "recall", "f1")


def render_faireval(
    report: Mapping[str, Any],
    *,
    settings: Mapping[str, str] | None = None,
    methods: Sequence[str] = VERSIONS,
    weights: Mapping[str, Mapping[str, float]] | None = None,
    label_order: Iterable[str] | None = None,
) -> str:
    """Return the settings, the results of each method, their comparison, the confusion, the target's labels.

    `report` is the report of the metric ``fair``, `weights` are its weights: the table of
    the weighted evaluation has a column for each error type in them, in their order. Labels are
    sorted, except in the last table, which has them in `label_order`; FairEval has them in the order in which
    they first occur in the target.
    """
    sections = [] if settings is None else [_section("Evaluation settings", settings.items())]
    for method in methods:
        columns = _COLUMNS.get(method) or (tuple(weights) if weights else _COLUMNS["fair"])
        sections.append(_section(f"{method.title()} evaluation", _results(report, method, columns)))
    sections.append(_section("Comparison", _comparison(report["overall"], methods)))
    sections.append(_section("Confusion matrix", _confusion(report["confusion"])))
    sections.append(_section("Target data stats", _stats(report["label_counts"], label_order)))
    return "\n".join(sections)


def _section(title: str, rows: Iterable[Iterable[object]]) -> str:
    return "".join([f"### {title}:\n", *("\t".join(map(str, row)) + "\n" for row in rows)])


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.2f}"


def _results(report: Mapping[str, Any], method: str, columns: Sequence[str]) -> Iterator[list[object]]:
    yield ["Label", *columns, "Prec", "Rec", "F1"]
    rows = [(label, report["per_label"][label]) for label in sorted(report["per_label"])]
    for name, versions in [*rows, ("overall", report["overall"])]:
        counts = versions[method]
        yield [name, *(counts[column] for column in columns), *(_percent(counts[rate]) for rate in _RATES)]


def _comparison(overall: Mapping[str, Mapping[str, float]], methods: Sequence[str]) -> Iterator[list[str]]:
    yield ["Version", "Prec", "Rec", "F1"]
    for method in methods:
        yield [method.title(), *(_percent(overall[method][rate]) for rate in _RATES)]


def _confusion(confusion: Mapping[str, Mapping[str, int]]) -> Iterator[list[object]]:
    every = sorted(label for label in confusion if label != "_")
    often = most_frequent(every, frequencies(confusion))
    labels = [*often, "_"]
    yield ["Target\\System", *labels]
    for target in labels:
        row = confusion.get(target, {})
        yield [target, *(row.get(system, 0) for system in labels)]
    if len(often) < len(every):
        yield [f"({len(every) - len(often)} labels with fewer errors are left out)"]


def _stats(counts: Mapping[str, int], order: Iterable[str] | None) -> Iterator[list[object]]:
    total = sum(counts.values())
    yield ["Label", "Freq", "%"]
    for label in dict.fromkeys([*(order or ()), *sorted(counts)]):
        if label in counts:
            yield [label, counts[label], _percent(counts[label] / total)]
