"""Results as Markdown, to paste into a README or a pull request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from clueval.files.visible import visible
from clueval.reports.table import Content, Table
from clueval.reports.text import shown, summary


def render(report: Content, tables: Iterable[Table]) -> str:
    """Return a report in Markdown: the numbers of documents and positions, its tables, the signature.

    Without a report, only the tables.
    """
    lines = [line for table in tables for line in _table(table)]
    if not report:
        return "\n".join(lines)
    head = [*(escaped(line) for line in summary(report)), ""]
    return "\n".join([*head, *lines, signature_line(report)])


def _table(table: Table) -> Iterator[str]:
    table = table.cut()
    yield f"**{escaped(table.caption)}**"
    yield ""
    yield row_of([escaped(title) for title in table.header])
    yield row_of(["---", *["---:"] * (len(table.header) - 1)])
    for row in table.rows:
        yield row_of([escaped(shown(cell)) for cell in row])
    yield ""


def signature_line(report: Content) -> str:
    """Return the last line of a report."""
    return f"Signature: `{visible(report['signature']).replace('`', '')}`"


def row_of(cells: Sequence[str]) -> str:
    """Return a row of a table."""
    return f"| {' | '.join(cells)} |"


def escaped(text: str) -> str:
    """Escape text so that Markdown and HTML show it unchanged, with visible escapes for invisible characters."""
    text = visible(text)
    for character in "\\`*_[]#|":
        text = text.replace(character, f"\\{character}")
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
