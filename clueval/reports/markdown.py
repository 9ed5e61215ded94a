"""Results as Markdown, to paste into a README or a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from clueval.reports.tables import Report, Table, tables
from clueval.reports.text import shown, summary


def render(report: Report) -> str:
    """The tables of a report in Markdown, and its signature."""
    lines = [line for table in tables(report) for line in _table(table)]
    head = [*(_escaped(line) for line in summary(report)), ""]
    return "\n".join([*head, *lines, f"Signature: `{report['signature'].replace('`', '')}`"])


def _table(table: Table) -> Iterator[str]:
    table = table.cut()
    yield f"**{_escaped(table.title)}**"
    yield ""
    yield _row([_escaped(title) for title in table.header])
    yield _row(["---", *["---:"] * (len(table.header) - 1)])
    for row in table.rows:
        yield _row([_escaped(shown(cell)) for cell in row])
    yield ""


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(text: str) -> str:
    """Text that means nothing in Markdown or HTML."""
    for character in "\\`*_[]#|":
        text = text.replace(character, f"\\{character}")
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
