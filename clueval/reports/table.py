"""A table for all forms of a report: a title, a header, rows of strings and numbers.

Text, Markdown and web pages show the same tables. Rates are shown as percentages with two decimals, as is
usual in the field; JSON and TSV have them as fractions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from clueval.reports.cutting import LONGEST_TEXT, cut_label

Report = Mapping[str, Any]
Cell = str | float


class Rate(NamedTuple):
    """A fraction that is shown as a percentage."""

    value: float | None


class Table(NamedTuple):
    """A table; the first column is text, the others are numbers."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[Cell | Rate]]

    def cut(self) -> Table:
        """Return the table for a screen: labels, names and texts are cut, in the header and in all columns."""
        rows = [[_cut(cell, column) for column, cell in enumerate(row)] for row in self.rows]
        return Table(self.title, [cut_label(name) for name in self.header], rows)


def _cut(cell: Cell | Rate, column: int) -> Cell | Rate:
    if not isinstance(cell, str):
        return cell
    return cut_label(cell, LONGEST_TEXT) if column else cut_label(cell)
