"""Findings as tab-separated values, one row each, the context marked with squares.

Each marked piece of the context has a square before and after it::

    🟩 both sides    🟥 only the span in question    🟧 only the other side

so ``Frau 🟩Anna🟩 🟥Weiß🟥 wohnt`` is a span "Anna Weiß" of which the other side has "Anna" only. A piece ends
where any span ends: ``🟩Anna🟩 🟩Weiß🟩`` is one span on one side and two on the other. ``…`` shows where the
context is cut.

A cell that a spreadsheet would run as a formula (it begins with ``=``, ``+``, ``-`` or ``@``) gets an
apostrophe before it, unless `raw` is set; tabs and line ends in a value always become blanks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from clueval.findings.context import Context, Mark
from clueval.findings.rows import LONGEST_CELL, RowColumns, shortened, split_first
from clueval.findings.table import Finding
from clueval.reports.tsv import guarded
from clueval.textfiles import cell
from clueval.writing import whole_file

_PERHAPS_FORMULA = re.compile("\t[-=+@]").search

SQUARES: dict[Mark, str] = {"both": "🟩", "own": "🟥", "other": "🟧", "neither": ""}


def lines(findings: Iterable[Finding], *, raw: bool = False) -> Iterator[str]:
    """Yield the header and a line for each finding, without line ends. With `raw`, formulas are not guarded."""
    columns, findings = split_first(findings)
    table = TableLines(columns, raw=raw)
    yield table.header
    yield from map(table.line, findings)


class TableLines:
    """Makes the lines of a table with these columns. With `raw`, formulas are not guarded."""

    def __init__(self, columns: RowColumns, *, raw: bool) -> None:
        self._columns = columns
        self._safe = cell if raw else guarded

    @property
    def header(self) -> str:
        return "\t".join(map(self._safe, self._columns.names))

    def line(self, finding: Finding) -> str:
        """Return the line of a finding, without its end."""
        cells = ["", marked(finding.context), *map(str, self._columns.cells(finding))]
        line = "\t".join(cells)
        # most lines need no change; this finds it in a third of the time
        if len(line) <= LONGEST_CELL and "".join(cells).isprintable() and not _PERHAPS_FORMULA(line):
            return line
        return "\t".join([self._safe(shortened(each)) for each in cells])


def write(path: Path, findings: Iterable[Finding], *, raw: bool = False) -> int:
    """Write the table, whole or not at all, and return the number of rows. Raises `FileError`."""
    rows = -1
    with whole_file(path) as file:
        for line in lines(findings, raw=raw):
            file.write(line + "\n")
            rows += 1
    return rows


def marked(context: Context) -> str:
    """Return a context with squares around the marked pieces."""
    pieces = [f"{SQUARES[mark]}{text}{SQUARES[mark]}" for text, mark, _ in context.pieces]
    before, after = ("… " if context.cut_before else ""), (" …" if context.cut_after else "")
    return before + context.joiner.join(pieces) + after
