"""Results as LaTeX, to paste into a paper: a table for each, with the rules of the package booktabs.

The signature is a comment above the tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clueval.files.visible import visible
from clueval.reports.table import Content, Table
from clueval.reports.text import shown, summary

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


def render(report: Content, tables: Iterable[Table]) -> str:
    """Return the tables of a report in LaTeX, with the numbers of documents and positions as a comment.

    Without a report, only the tables.
    """
    lines = []
    if report:
        lines = [f"% {line}" for line in (*summary(report), f"signature: {visible(report['signature'])}")]
    lines.append(r"% needs \usepackage{booktabs}")
    for table in tables:
        lines += _table(table)
    return "\n".join(lines)


def _table(table: Table) -> Iterator[str]:
    table = table.cut()
    yield r"\begin{table}"
    yield r"\centering"
    yield rf"\caption{{{escaped(table.caption)}.}}"
    yield rf"\begin{{tabular}}{{l{'r' * (len(table.header) - 1)}}}"
    yield r"\toprule"
    yield _row(map(escaped, table.header))
    yield r"\midrule"
    for row in table.rows:
        yield _row(escaped(shown(cell)) for cell in row)
    yield r"\bottomrule"
    yield r"\end{tabular}"
    yield r"\end{table}"


def _row(cells: Iterable[str]) -> str:
    return rf"{' & '.join(cells)} \\"


def escaped(text: str) -> str:
    """Return text that is shown unchanged: nothing in it is a command of LaTeX.

    >>> escaped("50 % of a_b")
    '50 \\\\% of a\\\\_b'
    """
    return visible(text).translate(_ESCAPES)
