"""What a result shows first: F1, the headlines, labels with the worst first, a table for each break-down.

With the lines on what was read, this takes at most 40 lines of 80 columns, break-downs aside, which have a row for each
value, worst first. If there are too many labels, those with the most spans are shown. Metrics without a headline
show their first table. Layers without spans, and those of gold only, are left out if another layer has some.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from clueval.core.metric import RATES, AnyMetric
from clueval.core.span import SIDES
from clueval.files.errors import cut_label, visible
from clueval.metrics import with_settings
from clueval.reports import SCREEN
from clueval.reports.language import phrase
from clueval.reports.table import Table, percent
from clueval.results import tables
from clueval.results.inputs import layers_not_predicted
from clueval.results.rows import Row, headline_row, rows_of
from clueval.results.summary import layers_without_spans, summary

LEAST_LABELS = 3
"""The number of labels that are shown in any case."""

_AROUND_TABLES = 7
"""The lines besides the tables and what `summary` yields: three above and two below them, and two for a warning."""

_AROUND_ROWS = 4
"""The lines of a table besides its rows: title, header, rule, and an empty line after it."""

_COLUMNS = (*RATES, *SIDES)

Report = Mapping[str, Any]


class Headline(NamedTuple):
    """The headline of a metric in one sequence, and all rows of that report."""

    metric: str
    sequence: str
    row: Row
    rows: Sequence[Row]

    @property
    def name(self) -> str:
        """The metric, the sequence and `what` the headline counts."""
        return f"{self.metric}, {cut_label(self.sequence)}: {self.what}"

    @property
    def what(self) -> str:
        """What the headline counts, as ``labelled, level 1``."""
        section = [] if self.row["section"] is None else [phrase(self.row["section"])]
        return ", ".join([*section, *_level(self.row)] or [phrase(self.row["average"])])

    @property
    def is_merged(self) -> bool:
        """Whether layers are merged, so that labels are those of several layers."""
        return bool(self.row["section"] == "unlabelled")

    def of_labels(self) -> tuple[list[Row], list[Row]]:
        """Return the rows of labels, and those of averages if there are some, that count as the headline does."""
        same = [
            row
            for row in self.rows
            if row["level"] == self.row["level"]
            and (
                str(row["section"]).startswith("labelled") and row["label"] is not None
                if self.is_merged
                else row["section"] == self.row["section"]
            )
        ]
        labels = [row for row in same if row["label"] is not None]
        return labels, [row for row in same if row["label"] is None] if labels else []


def first_tables(report: Report, metrics: Iterable[AnyMetric]) -> Iterator[Table]:
    """Yield the tables of the first screen of a report made by `Result.to_dict`."""
    reports = _layers_with_spans(report)
    all_headlines = list(headlines(reports))
    with_headline = {headline.metric for headline in all_headlines}
    lines_left = SCREEN - len([*summary(report)]) - _AROUND_TABLES
    if [*report["metrics"]] == ["levels"] and all_headlines:
        yield from _levels(all_headlines, lines_left)
    elif all_headlines:
        entries = [(headline.name, headline.row) for headline in all_headlines]
        yield tables.of_entries(phrase("Headlines"), phrase("metric"), entries, RATES)
        yield from _labels(all_headlines, lines_left - len(entries) - 2 * _AROUND_ROWS)
    for metric, sequences in reports.items():
        for sequence, scores in sequences.items():
            yield from tables.average_precisions(f"{metric}, {cut_label(sequence)}", scores)
    for key, groups in report.get("by", {}).items():
        yield from _break_downs(key, groups)
    others = [metric for metric in metrics if metric.name not in with_headline]
    if others:
        yield from tables.of_report({**report, "metrics": reports}, others, first=True)
    else:
        yield from tables.of_changes(report)


def headline_f1(report: Report, metrics: Sequence[AnyMetric]) -> str:
    """Return the F1 of the headline and what it counts, in words; empty unless one metric was counted, and has one."""
    if len(metrics) != 1 or not report["documents"]:
        return ""
    all_headlines = list(headlines(_layers_with_spans(report), with_rows=False))
    numbers = [(headline, headline.row["f1"]) for headline in all_headlines if headline.row["f1"] is not None]
    if not numbers:
        return ""
    metric, first = metrics[0], numbers[0][0]
    lacking = layers_not_predicted(report.get("inputs", {}))
    lacking = [name for name in lacking if name in report["metrics"][metric.name]]
    several = len(numbers) + len(lacking) > 1
    shown = [
        f"{percent(f1)} %"
        + (phrase(" (layer {layer})", layer=cut_label(visible(headline.sequence))) if several else "")
        for headline, f1 in numbers
    ]
    shown += [phrase("{layer} not predicted", layer=cut_label(visible(name))) for name in lacking]
    if metric.name != "levels" and with_settings(metric) != "exact":
        what = phrase("{what} of metric {metric}", what=first.what, metric=visible(metric.name))
    elif first.is_merged or "untyped" in (report.get("prepared") or {}):
        what = phrase("start and end are right")
    else:
        what = phrase("start, end and label are right")
    return f"F1 {', '.join(shown)}: {what}"


def _layers_with_spans(report: Report) -> Report:
    """Return the reports of the metrics without layers that have no spans, or are not predicted, if another has some.

    A layer of gold alone is masked by those of other names.
    """
    inputs = report.get("inputs", {})
    empty = {*layers_without_spans(inputs)}
    left_out = empty | {*layers_not_predicted(inputs)}
    return {
        metric: {
            sequence: scores
            for sequence, scores in sequences.items()
            if sequence not in (empty if metric == "masking" else left_out)
        }
        for metric, sequences in report["metrics"].items()
    }


def headlines(metrics: Report, with_rows: bool = True) -> Iterator[Headline]:
    """Yield the headline of each metric and sequence that has one, with all rows of the report unless told not to."""
    for metric, sequences in metrics.items():
        for sequence, report in sequences.items():
            head = {"metric": metric, "sequence": sequence, "by": None, "value": None}
            if (row := headline_row(head, report)) is not None:
                rows = [row for _, row in rows_of(head, report)] if with_rows else ()
                yield Headline(metric, sequence, row, rows)


def _levels(all_headlines: Sequence[Headline], most: int) -> Iterator[Table]:
    """Yield a table for each sequence of the metric ``levels``: labelled level 1, all levels unlabelled, the labels."""
    of_levels: list[list[tuple[str, Row]]] = []
    for headline in all_headlines:
        levels = [row for row in headline.rows if row["section"] == "unlabelled" and row["label"] is None]
        of_levels.append([(phrase(tables.LEVELS[row["level"]]), row) for row in levels])
        of_levels[-1][0] = (phrase("exact, unlabelled"), levels[0])
        if not headline.is_merged:
            of_levels[-1].insert(0, (phrase("exact, labelled"), headline.row))
    labels = {id(row): row for headline in all_headlines for row in headline.of_labels()[0]}
    lines = sum(len(levels) + _AROUND_ROWS for levels in of_levels)
    frequent = _with_most_spans(labels.values(), most - lines)
    for headline, of_sequence in zip(all_headlines, of_levels, strict=True):
        label_rows = headline.of_labels()[0]
        rows = _worst_first(row for row in label_rows if id(row) in frequent)
        names = (phrase("exact, {label}", label=_name(row, headline.is_merged)) for row in rows)
        entries = [*of_sequence, *zip(names, rows, strict=True)]
        title = f"{headline.metric}, {cut_label(headline.sequence)}"
        title += tables.how_many(len(rows), len(label_rows))
        yield tables.of_entries(title, "", entries, _COLUMNS)


def _labels(all_headlines: Sequence[Headline], most: int) -> Iterator[Table]:
    """Yield the table of labels of the first metric that has some: of all its sequences."""
    metric = next((headline.metric for headline in all_headlines if headline.of_labels()[0]), None)
    if metric is None:
        return
    of_metric = [headline for headline in all_headlines if headline.metric == metric]
    parts = [headline.of_labels() for headline in of_metric]
    labels = [row for of_labels, _ in parts for row in of_labels]
    frequent = _with_most_spans(labels, most - sum(len(averages) for _, averages in parts))
    several = len(of_metric) > 1 or of_metric[0].is_merged
    entries = [
        (_name(row, several), row)
        for of_labels, averages in parts
        for row in (*_worst_first(row for row in of_labels if id(row) in frequent), *averages)
    ]
    row = labels[0]
    section = [phrase(str(row["section"]).partition(".")[0])] if row["section"] else []
    what = ", ".join([*section, *_level(row)])
    title = tables.titled(metric, "labels") + (f" ({what})" if what else "")
    title += tables.how_many(len(frequent), len(labels))
    yield tables.of_entries(title, phrase("label"), entries, _COLUMNS)


def _break_downs(key: str, groups: Report) -> Iterator[Table]:
    """Yield a table for each headline: a row for each value, the lowest F1 first.

    `groups` are the reports by value; those that are made when they are asked for have a method `headlines`, which
    yields each value with reports that have at least the headlines.
    """
    of_headline: dict[str, list[tuple[str, Row]]] = {}
    reports = getattr(groups, "headlines", None)
    for value, metrics in (
        reports() if reports else ((value, group["metrics"]) for value, group in groups.items())
    ):
        for headline in headlines(metrics, with_rows=False):
            entry = {name: headline.row[name] for name in _COLUMNS}  # there may be many values
            of_headline.setdefault(headline.name, []).append((cut_label(value), entry))
    for name, entries in of_headline.items():
        entries.sort(key=lambda entry: (entry[1]["f1"] is None, entry[1]["f1"]))
        yield tables.of_entries(f"{phrase('By {key}', key=key)}: {name}", key, entries, _COLUMNS)


# Rows


def _level(row: Row) -> list[str]:
    return [] if row["level"] is None else [phrase("level {level}", level=row["level"])]


def _name(row: Row, several: bool) -> str:
    """Return the label or the average of a row, with its layer if there are `several`."""
    name = phrase(row["average"]) if row["label"] is None else row["label"]
    section, _, rest = str(row["section"]).partition(".")
    layer = rest if section == "labelled" and rest else row["sequence"]
    return cut_label(f"{layer}: {name}" if several else name)


def _spans(row: Row) -> float:
    return sum(row[side] or 0 for side in SIDES)


def _with_most_spans(labels: Collection[Row], most: int) -> set[int]:
    """Return the rows of those labels that have the most spans, as `id` names them."""
    frequent = sorted(labels, key=lambda row: -_spans(row))[: max(LEAST_LABELS, most)]
    return {*map(id, frequent)}


def _worst_first(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (row["f1"] is None, row["f1"] or 0.0, -_spans(row)))
