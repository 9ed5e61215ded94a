"""Results as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clueval.reports.estimates import Estimate
from clueval.reports.table import Cell, Rate, Report, Table
from clueval.visible import visible


def render(report: Report, tables: Iterable[Table]) -> str:
    """Return a report as text: the numbers of documents and positions, its tables, the signature."""
    return "\n".join(
        [*summary(report), "", *(line for table in tables for line in _table(table)), *_foot(report)]
    )


def render_tables(found: Iterable[Table]) -> str:
    """Return tables only, as text."""
    return "\n".join(line for table in found for line in _table(table))


def summary(report: Report) -> Iterator[str]:
    """Yield the numbers of documents and positions, then repaired tags and the method of intervals, if any."""
    documents, tokens = report["documents"], report["tokens"]
    yield f"{documents:,} document{'s' * (documents != 1)}, {tokens:,} position{'s' * (tokens != 1)}"
    for side, n in report["repaired_tags"].items():
        if n:
            yield f"{n:,} repaired tag{'s' * (n != 1)} in {side}"
    if "intervals" in report:
        yield from _about_intervals(report["intervals"])


def _about_intervals(section: Report) -> Iterator[str]:
    """Yield how intervals were computed, and what to know about them."""
    resampled = (
        f", {section['resamples']:,} resamples, seed {section['seed']}" if section["resamples"] else ""
    )
    yield (
        f"{100 * section['confidence']:g} % intervals by {section['method']} over {section['units']:,} units "
        f"(by {visible(section['resample_by'])}){resampled}"
    )
    for remark in section["remarks"]:
        yield f"remark: {visible(remark)}"


def _foot(report: Report) -> Iterator[str]:
    yield f"signature: {visible(report['signature'])}"


def _table(table: Table) -> Iterator[str]:
    table = table.cut()
    cells = [
        [visible(title) for title in table.header],
        *([shown(cell) for cell in row] for row in table.rows),
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    yield visible(table.title)
    for number, row in enumerate(cells):
        first, *others = row
        yield "  ".join(
            [first.ljust(widths[0]), *(c.rjust(w) for c, w in zip(others, widths[1:], strict=True))]
        ).rstrip()
        if number == 0:
            yield "  ".join("-" * width for width in widths)
    yield ""


def shown(cell: Cell | Rate) -> str:
    """Return a cell as text: rates as percentages, integers with separators, other numbers with 3 decimals."""
    if isinstance(cell, Rate):
        if isinstance(cell.value, Estimate):
            return str(cell.value)
        return "-" if cell.value is None else f"{100 * cell.value:.2f}"
    if isinstance(cell, str):
        return visible(cell)
    return f"{int(cell):,}" if cell == int(cell) else f"{cell:,.3f}"
