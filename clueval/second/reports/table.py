"""Tables of reports: a title, a header, and rows of cells.

A cell is text, a number, None, or one of the types below. Rates are fractions, shown as percentages; files of data have
them as fractions. `Find` and the parts of `Shares` filter the places of a page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from clueval.files.visible import visible
from clueval.second.reports.language import numeral, phrase

LONGEST_LABEL = 60
"""The number of characters of a label or a name that readers are shown."""


class Rate(NamedTuple):
    """A fraction that is shown as a percentage; None is undefined."""

    value: float | None


class Part(NamedTuple):
    """A part of a bar: a number, what it counts, and the values of facets that list these places."""

    number: int
    name: str
    find: Mapping[str, str]


class Shares(NamedTuple):
    """A bar that is divided by counts. Parts at the same place have the same pattern in all bars of a report."""

    parts: Sequence[Part]


class Dot(NamedTuple):
    """A fraction on the axis that it shares with the other dots of its column, with the ends of its interval."""

    value: float
    low: float | None = None
    high: float | None = None
    is_baseline: bool = False


Simple = str | float | Rate | None


class Find(NamedTuple):
    """A cell that lists places: those with these values of facets. `heat`, from 0 to 1, colours it."""

    cell: Simple
    find: Mapping[str, str]
    heat: float | None = None


Cell = Simple | Shares | Dot | Find


class Table(NamedTuple):
    """A table; the first column names the rows. On a page it is closed at first if it `is_folded`."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    is_folded: bool = False


def shown(cell: Cell, digits: int | None = None) -> str:
    """Return a cell as text: whole numbers are grouped, rates in percent with two decimals or with `digits`.

    >>> shown(Rate(0.8163)), shown(1234), shown(None), shown(Dot(0.5, 0.4, 0.6))
    ('81.63', '1,234', '–', '50.00 [40.00, 60.00]')
    """
    match cell:
        case Find():
            return shown(cell.cell, digits)
        case Shares():
            return ", ".join(f"{numeral(part.number)} {part.name}" for part in cell.parts if part.number)
        case Dot(value, low, high):
            ends = () if low is None or high is None else (low, high)
            rates = [shown(Rate(each), digits) for each in (value, *ends)]
            return rates[0] + (f" [{rates[1]}, {rates[2]}]" if ends else "")
        case Rate(value) if value is not None:
            return numeral(100 * value, f",.{2 if digits is None else digits}f")
        case None | Rate():
            return "–"
        case str():
            return cut(visible(cell))
        case _:
            return numeral(cell, "," if cell == int(cell) else f",.{3 if digits is None else digits}f")


def plain(cell: Cell) -> str | float | None:
    """Return a cell as data: rates are fractions.

    >>> plain(Rate(0.5)), plain(Find(3, {"label": "PER"}))
    (0.5, 3)
    """
    match cell:
        case Find():
            return plain(cell.cell)
        case Rate() | Dot():
            return cell.value
        case Shares():
            return shown(cell)
    return cell


def cut(label: str) -> str:
    """Return a label as readers are shown it."""
    return label if len(label) <= LONGEST_LABEL else f"{label[:LONGEST_LABEL]}…"


def caption(table: Table) -> str:
    """Return the title, which says that numbers are percentages, where a column has rates."""
    cells = [cell.cell if isinstance(cell, Find) else cell for row in table.rows for cell in row]
    if any(isinstance(cell, Rate | Dot) for cell in cells):
        return phrase("{title}, in %", title=cut(visible(table.title)))
    return cut(visible(table.title))
