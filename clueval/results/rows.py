"""The rows of a result for tables of data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from clueval.core.tally import RATES
from clueval.results.paths import NAMES, ROW, Report, Row, headline_paths, number_at, numbers_in, rows_of

_ENDS = tuple(f"{rate}_{end}" for rate in RATES for end in ("low", "high"))
"""The ends of intervals, columns of a row if the result has intervals."""

LONG_ROW = ("metric", "sequence", "by", "value", "path", "number")
"""The columns of a row that has one number."""


def columns_of(report: Report) -> tuple[str, ...]:
    """Return the columns of `wide_rows`: with intervals, the ends of each rate come last."""
    return (*ROW, *_ENDS) if "intervals" in report else ROW


def wide_rows(report: Report) -> Iterator[Row]:
    """Yield a row for each entry of the reports in a dictionary of `Result.to_dict`."""
    ends = dict.fromkeys(_ENDS) if "intervals" in report else {}
    for head, metric_report in _reports(with_estimates(report)):
        for _, row in rows_of(head, metric_report):
            row |= ends
            for rate in RATES if ends else ():
                if hasattr(value := row[rate], "low"):  # an `Estimate`
                    row |= {rate: float(value), f"{rate}_low": value.low, f"{rate}_high": value.high}
            yield row


def long_rows(report: Report) -> Iterator[Row]:
    """Yield a row for each number of the reports in a dictionary of `Result.to_dict`."""
    for head, metric_report in _reports(report):
        for path, number in numbers_in(metric_report):
            if number is None or (isinstance(number, int | float) and not isinstance(number, bool)):
                yield {**head, "path": ".".join(path), "number": number}


def scores_of(report: Report) -> dict[str, float]:
    """Return all rates by short paths, as ``exact.PER.f1``; those of a headline also as ``exact.f1``.

    `report` is as for `wide_rows`. Undefined rates are left out; a sequence is in the paths if there are several, and
    ``per_label`` before a label whose path would be that of something else, as of a label ``micro``.
    """
    reports = report["metrics"]
    scores: dict[str, float] = {}
    for path in headline_paths(reports):
        place = path[: 2 if len(reports[path[0]]) > 1 else 1]
        (rate,) = {*RATES}.intersection(path[-1].split("_"))
        number = number_at(reports, path)
        if number is not None:
            scores[".".join([*place, rate])] = number
    rows = list(wide_rows(report))
    several = len({row["sequence"] for row in rows}) > 1
    for row in rows:
        names = [row[name] for name in NAMES if several or name != "sequence"]
        place = tuple(str(name) for name in names if name not in (None, ""))
        taken = row["label"] is not None and any(".".join([*place, rate]) in scores for rate in RATES)
        if taken:  # a label that is called like an average or a section
            place = (*place[:-1], "per_label", place[-1])
        for name, value in row.items():
            if isinstance(value, float):
                scores.setdefault(".".join([*place, name]), float(value))
    return scores


def _reports(report: Report) -> Iterator[tuple[Row, Report]]:
    """Yield the report of each metric and sequence, on all documents and then on each group that has it."""
    pairs = [(metric, sequence) for metric, sequences in report["metrics"].items() for sequence in sequences]
    groups = {None: {None: report}, **report.get("by", {})}
    if len(pairs) > 1:  # reports that are made when they are asked for are made once
        groups = {by: dict(values) for by, values in groups.items()}
    for metric, sequence in pairs:
        for by, values in groups.items():
            for value, group in values.items():
                head = {"metric": metric, "sequence": sequence, "by": by, "value": value}
                if sequence in group["metrics"][metric]:
                    yield head, group["metrics"][metric][sequence]


# Intervals


def with_estimates(content: Report) -> Report:
    """Return the content of a result in which each rate that has an interval is an `Estimate`.

    The reports of groups have intervals only if the report has some.
    """
    if "intervals" not in content:
        return content
    estimated = {**content, "metrics": _with_intervals(content["metrics"], content["intervals"]["scores"])}
    if "by" in content:
        estimated["by"] = {
            key: {value: with_estimates(group) for value, group in groups.items()}
            for key, groups in content["by"].items()
        }
    return estimated


def _with_intervals(report: Report, intervals: Report) -> dict[str, Any]:
    from clueval.reports.table import Estimate  # few results have intervals

    estimates: dict[str, Any] = {}
    for name, value in report.items():
        interval = intervals.get(name)
        if isinstance(value, Mapping) and isinstance(interval, Mapping):
            estimates[name] = _with_intervals(value, interval)
        elif isinstance(value, float) and isinstance(interval, Mapping):
            estimates[name] = Estimate(value, interval.get("low"), interval.get("high"))
        else:
            estimates[name] = value
    return estimates
