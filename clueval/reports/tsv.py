"""Results as a table of tab-separated values: one row for each entry of each report.

The columns are the break-down and its value (empty for the whole), metric, sequence, entry (its path in the
JSON report), then every measure that occurs. Rates are fractions. The last line is the signature.
"""

from __future__ import annotations

from collections.abc import Iterator

from clueval.reports.estimates import Estimate, with_estimates
from clueval.reports.table import Report
from clueval.textfiles import cell

_BY_LABEL = {"confusion", "found", "label_counts", "missed", "spurious"}
"""Entries whose keys are labels; each key gets a row, so that no label becomes a column."""

Row = tuple[tuple[str, str, str, str, str], dict[str, float]]


def render(report: Report) -> str:
    """Return a report as TSV."""
    lines = ["\t".join(row) for row in table(report)]
    return "\n".join([*lines, f"# signature: {cell(report['signature'])}"])


def table(report: Report) -> Iterator[list[str]]:
    """Yield the header and the rows; no cell is a formula."""
    rows = [(place, _with_ends(values)) for place, values in _rows(report)]
    measures = list(dict.fromkeys(measure for _, values in rows for measure in values))
    yield ["by", "value", "metric", "sequence", "entry", *measures]
    for place, values in rows:
        numbers = ["" if values.get(measure) is None else repr(values[measure]) for measure in measures]
        yield [*map(guarded, place), *numbers]


def _with_ends(values: dict[str, float]) -> dict[str, float | None]:
    """The numbers of an entry, then the ends of the intervals of those that have one."""
    ends: dict[str, float | None] = {}
    for name, value in values.items():
        if isinstance(value, Estimate):
            ends |= {f"{name}_low": value.low, f"{name}_high": value.high}
    return {**values, **ends}


def _rows(report: Report) -> Iterator[Row]:
    yield from _of_metrics(with_estimates(report)["metrics"], "", "")
    for key, groups in report.get("by", {}).items():
        for value, group in groups.items():
            yield from _of_metrics(with_estimates(group)["metrics"], key, value)


def _of_metrics(metrics: Report, by: str, value: str) -> Iterator[Row]:
    for metric, sequences in metrics.items():
        for sequence, report in sequences.items():
            for entry, values in _entries(report, ()):
                yield (by, value, metric, sequence, "/".join(entry)), values


def _entries(report: Report, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], dict[str, float]]]:
    """Yield the innermost dictionaries of a report with their paths in it."""
    numbers = {key: value for key, value in report.items() if not isinstance(value, dict | list | str)}
    # "unlabelled" holds labels in a report of `confusion`, and further dictionaries in one of `levels`
    if _BY_LABEL & {*path} or path[-1:] == ("unlabelled",):
        for label, n in numbers.items():
            yield (*path, label), {"n": n}
    elif numbers:
        yield path, numbers
    for key, value in report.items():
        if isinstance(value, dict):
            yield from _entries(value, (*path, key))


def guarded(text: str) -> str:
    """Return a cell that a spreadsheet does not run: text that could begin a formula gets an apostrophe
    before it.

    >>> guarded("=1+1"), guarded("PER")
    ("'=1+1", 'PER')
    """
    text = cell(text)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text
