"""A table for all forms of a report: a title, a header, rows of strings and numbers.

Text, Markdown and web pages show the same tables. Rates are shown as percentages with two decimals, as is
usual in the field; JSON and TSV have them as fractions. A table on a screen is as wide as its longest label, so text,
Markdown and web pages cut labels; JSON, CSV and TSV have them in full.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

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


LONGEST_LABEL = 60
"""The number of characters of a label or a name that are shown."""

LONGEST_TEXT = 200
"""The number of characters that are shown of a cell with text from the corpus."""


def cut_label(label: str, longest: int = LONGEST_LABEL) -> str:
    """Return a label as it is shown: a label longer than `longest` is cut there and ends with ``…``.

    >>> cut_label("PER"), len(cut_label("x" * 1000))
    ('PER', 61)
    """
    return label if len(label) <= longest else f"{label[:longest]}…"
