"""Results as HTML for a notebook: the tables and the signature, without script or style sheet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from clueval.reports.table import Report, Table
from clueval.reports.text import shown
from clueval.visible import visible


def render(report: Report, tables: Iterable[Table]) -> str:
    """Return the tables of a report and its signature as HTML; everything in them is escaped."""
    parts = [part for table in tables for part in _table(table)]
    return "".join(
        [*parts, f"<p><small>signature: <code>{escape(visible(report['signature']))}</code></small></p>"]
    )


def _table(table: Table) -> Iterator[str]:
    table = table.cut()
    yield f"<table><caption>{escape(visible(table.title))}</caption><thead><tr>"
    yield from (f"<th>{escape(visible(name))}</th>" for name in table.header)
    yield "</tr></thead><tbody>"
    for row in table.rows:
        first, *others = (escape(shown(cell)) for cell in row)
        yield f'<tr><th style="text-align:left">{first}</th>'
        yield from (f'<td style="text-align:right">{cell}</td>' for cell in others)
        yield "</tr>"
    yield "</tbody></table>"
