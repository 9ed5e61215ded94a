"""The tables of a whole result: those of the metrics, break-downs, and what was changed before counting."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from clueval.core.metric import AnyMetric
from clueval.metrics.tables import named, tables_of
from clueval.reports.language import phrase
from clueval.reports.table import Cell, Table, cut

Report = Mapping[str, Any]


def of_report(report: Report, metrics: Iterable[AnyMetric], *, first: bool = False) -> Iterator[Table]:
    """Yield the tables of a report made by `Result.to_dict`, in its order, for the metrics given; or the `first`."""
    by_name = {metric.name: metric for metric in metrics}

    def of_metrics(found: Report, where: str) -> Iterator[Table]:
        for name, sequences in found.items():
            for sequence, own in sequences.items() if name in by_name else ():
                title = f"{where}{name}, {cut(sequence)}"
                yield from islice(tables_of(by_name[name], title, own), 1 if first else None)

    yield from of_metrics(report["metrics"], "")
    for key, groups in report.get("by", {}).items():
        yield _overview(key, groups)
        for value, group in groups.items():
            yield from of_metrics(group["metrics"], f"{key} {cut(value)}: ")
    yield from of_changes(report)


def of_changes(report: Report) -> Iterator[Table]:
    """Yield the tables of what was changed before counting: spans that have no place, and numbers of steps."""
    if report.get("unprojected"):
        yield _unprojected(report["unprojected"])
    prepared = report.get("prepared", {})
    if numbers := [[name, number] for name, number in prepared.items() if isinstance(number, int)]:
        title = phrase("Changed before counting: gold spans with alternatives")
        yield Table(title, named(["", "number"]), [[phrase(str(name)), number] for name, number in numbers])
    for name, changed in prepared.items():
        if changed and not isinstance(changed, int):
            title = phrase("Changed before counting: {what}", what=phrase(name))
            rows: list[list[Cell]] = [[phrase(what), number] for what, number in changed.items()]
            yield Table(title, named(["", "number"]), rows)


def _unprojected(spans: Sequence[Report]) -> Table:
    """Return the table of predicted spans that alignment lost, by positions in the predicted text; or of mentions."""
    title = phrase("Predicted spans that have no position in the gold text (each counts as wrong)")
    if "text" in spans[0]:
        mentions = [[span["document"], span["label"], cut(span["text"])] for span in spans]
        return Table(title, named(["document", "label", "text"]), mentions)
    rows = [
        [span["document"], span["label"], str(span["start"]), str(span["end_exclusive"] - 1)]
        for span in spans
    ]
    return Table(title, named(["document", "label", "start", "end_inclusive"]), rows)


def _overview(key: str, groups: Report) -> Table:
    rows = [[value, group["documents"], group["tokens"]] for value, group in groups.items()]
    return Table(phrase("By {key}", key=key), [key, *named(["documents", "tokens"])], rows)
