"""A table, as every form of a report shows it: a title, a header, rows of strings and numbers.

Text, Markdown and web pages show the same tables. Rates are shown as percentages with two decimals, as the field
prints them; JSON and TSV have them as fractions.
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
