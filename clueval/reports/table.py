"""Tables of reports: a title, a header, and rows of cells.

A cell is text, a number, None, or one of the types below. Rates are fractions, shown as percentages; files of data have
them as fractions. `Find` and the parts of `Shares` filter the places of a page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import NamedTuple

from clueval.files.errors import UsageError, assigned, cut_label, visible
from clueval.reports.language import numeral, phrase


class Rate(NamedTuple):
    """A fraction that is shown as a percentage; None is undefined. An `Estimate` is shown with its interval."""

    value: float | None


class Estimate(float):
    """A rate with the ends of its interval, None if it has none; `in_short` it is shown without them."""

    low: float | None
    high: float | None
    in_short: bool

    def __new__(
        cls, value: float, low: float | None, high: float | None, *, in_short: bool = False
    ) -> Estimate:
        estimate = super().__new__(cls, value)
        estimate.low, estimate.high, estimate.in_short = low, high, in_short
        return estimate

    def __str__(self) -> str:
        """Return the rate in percent, with half the width of the interval and its ends.

        >>> str(Estimate(0.871, 0.846, 0.892))
        '87.1 ± 2.3 [84.6, 89.2]'
        """
        if self.low is None or self.high is None:
            return f"{percent(self, 1)} [-]"
        ends = "" if self.in_short else f" [{percent(self.low, 1)}, {percent(self.high, 1)}]"
        return f"{percent(self, 1)} ± {percent((self.high - self.low) / 2, 1)}{ends}"


MOST_DECIMALS = 10
_DECIMALS: ContextVar[int | None] = ContextVar("decimals", default=None)


def decimals(number: int | None) -> AbstractContextManager[None]:
    """Show numbers with this many decimals while the context lasts; None: each kind as usual.

    Raises `UsageError` for a number that is not from 0 to 10.
    """
    if number is not None and (type(number) is not int or not 0 <= number <= MOST_DECIMALS):
        raise UsageError(f"digits must be a whole number from 0 to {MOST_DECIMALS}, not {number!r}")
    return assigned(_DECIMALS, number)


def percent(fraction: float, usual: int = 2, sign: str = "") -> str:
    """Return a fraction in percent with its `usual` decimals, or as many as `decimals` says.

    >>> with decimals(1):
    ...     percent(0.76356), percent(0.015, sign="+")
    ('76.4', '+1.5')
    """
    return with_decimals(100 * fraction, usual, sign)


def with_decimals(number: float, usual: int, sign: str = "") -> str:
    """Return a number with its `usual` decimals, or as many as `decimals` says."""
    return numeral(number, f"{sign},.{_digits(usual)}f")


def _digits(usual: int) -> int:
    digits = _DECIMALS.get()
    return usual if digits is None else digits


class Part(NamedTuple):
    """A part of a bar: a number, what it counts, and the values of facets that list these places."""

    number: int
    name: str
    find: Mapping[str, str]


class Shares(NamedTuple):
    """A bar that is divided by counts. Parts at the same place have the same pattern in all bars of a report."""

    parts: Sequence[Part]


class Dot(NamedTuple):
    """A fraction on the axis that it shares with the other dots of its column, with the ends of its interval.

    `sd` is the standard deviation over the runs of a system, if it is their mean.
    """

    value: float
    low: float | None = None
    high: float | None = None
    is_baseline: bool = False
    sd: float | None = None


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


def shown(cell: Cell) -> str:
    """Return a cell as text: whole numbers are grouped, rates in percent with two decimals or as `decimals` says.

    >>> shown(Rate(0.8163)), shown(1234), shown(None), shown(Dot(0.5, 0.4, 0.6))
    ('81.63', '1,234', '-', '50.00 [40.00, 60.00]')
    """
    match cell:
        case Find():
            return shown(cell.cell)
        case Shares():
            return ", ".join(f"{numeral(part.number)} {part.name}" for part in cell.parts if part.number)
        case Dot(value, low, high, _, sd):
            ends = "" if low is None or high is None else f" [{percent(low)}, {percent(high)}]"
            return percent(value) + ("" if sd is None else f" ({phrase('sd')} {percent(sd)})") + ends
        case Rate(value) if value is not None:
            return str(value) if isinstance(value, Estimate) else percent(value)
        case None | Rate():
            return "-"
        case str():
            return visible(cut_label(cell))
        case _:
            return numeral(int(cell)) if cell == int(cell) else with_decimals(cell, 3)


def plain(cell: Cell) -> str | float | None:
    """Return a cell as data: rates are fractions, without their intervals.

    >>> plain(Rate(0.5)), plain(Find(3, {"label": "PER"}))
    (0.5, 3)
    """
    match cell:
        case Find():
            return plain(cell.cell)
        case Rate() | Dot():
            return None if cell.value is None else float(cell.value)
        case Shares():
            return shown(cell)
    return cell


def ends_of(cell: Cell) -> tuple[float | None, float | None]:
    """Return the ends of the interval of a cell; None without one."""
    estimate = cell.value if isinstance(cell, Rate) else cell
    return (estimate.low, estimate.high) if isinstance(estimate, Estimate | Dot) else (None, None)


def text_columns(table: Table) -> set[int]:
    """Return the numbers of the columns of words and bars, the first of which names the rows; others have numbers."""
    return {0} | {
        number
        for number, cells in enumerate(zip(*table.rows, strict=True))
        if any(isinstance(cell, Shares) for cell in cells)
        or (all(isinstance(cell, str) for cell in cells) and any(cell[:1].isalpha() for cell in cells))
    }


def difference(first: float | None, second: float | None) -> str:
    """Return by how many points the second of two rates is greater, as the rates are shown.

    >>> difference(0.81602, 0.81334), difference(0.5, None)
    ('-0.27', '')
    """
    if first is None or second is None:
        return ""
    digits = _digits(2)
    return with_decimals(round(100 * second, digits) - round(100 * first, digits), digits, "+")


def caption(table: Table) -> str:
    """Return the title, which says that numbers are percentages, where a column has rates."""
    cells = [cell.cell if isinstance(cell, Find) else cell for row in table.rows for cell in row]
    has_sign = any("%" in name for name in table.header)
    if not has_sign and any(isinstance(cell, Rate | Dot) for cell in cells):
        return phrase("{title}, in %", title=visible(table.title))
    return visible(table.title)
