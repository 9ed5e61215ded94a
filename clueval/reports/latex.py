"""Results as LaTeX, to paste into a paper: a `tabular` for each table, the signature as a comment and below it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clueval.reports.table import Report, Table
from clueval.reports.text import shown, summary
from clueval.visible import visible

# after the \\ of a row, [ or * would be read as part of it
_ESCAPES = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "[": "{[}",
        "*": "{*}",
        **{character: f"\\{character}" for character in "&%$#_{}"},
    }
)


def render(report: Report, tables: Iterable[Table]) -> str:
    """A report in LaTeX: what was read, its tables, the signature."""
    lines = [line for table in tables for line in _table(table)]
    head = [*(escaped(line) for line in summary(report)), ""]
    return "\n".join([*head, *lines, rf"Signature: \texttt{{{escaped(report['signature'])}}}"])


def _table(table: Table) -> Iterator[str]:
    table = table.cut()
    yield rf"\paragraph{{{escaped(table.title)}}}"
    yield ""
    yield rf"\begin{{tabular}}{{l{'r' * (len(table.header) - 1)}}}"
    yield r"\hline"
    yield _row(map(escaped, table.header))
    yield r"\hline"
    for row in table.rows:
        yield _row(escaped(shown(cell)) for cell in row)
    yield r"\hline"
    yield r"\end{tabular}"
    yield ""


def _row(cells: Iterable[str]) -> str:
    return rf"{' & '.join(cells)} \\"


def escaped(text: str) -> str:
    """Text that is shown as it is: nothing in it is a command of LaTeX.

    >>> escaped("50 % of a_b")
    '50 \\\\% of a\\\\_b'
    """
    return visible(text).translate(_ESCAPES)
