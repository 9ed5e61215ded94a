"""A table for all forms of a report: a title, a header, rows of strings and numbers.

Text, Markdown and web pages show the same tables. Rates are shown as percentages with two decimals, as is
usual in the field; JSON and TSV have them as fractions. A table on a screen is as wide as its longest label, so text,
Markdown and web pages cut labels; JSON, CSV and TSV have them in full.

Tables are made of the numbers of a report, whatever the metric; where a number is an `Estimate`, its interval is
shown with it.

A matrix of all labels grows with the square of their number, so it shows the most frequent ones if they are many.
Reports hold only the cells that are not zero; JSON and TSV have all of these cells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from clueval.files.errors import UsageError
from clueval.reports.language import numeral, phrase

Content = Mapping[str, Any]
"""A result as plain dictionaries."""

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

    @property
    def caption(self) -> str:
        """The title, which says that rates are percentages, where no column does."""
        rates = {
            name
            for row in self.rows
            for name, cell in zip(self.header, row, strict=True)
            if isinstance(cell, Rate)
        }
        if not rates or any("%" in name for name in rates):
            return self.title
        return phrase("{title}, in %", title=self.title)


def _cut(cell: Cell | Rate, column: int) -> Cell | Rate:
    if not isinstance(cell, str):
        return cell
    return cut_label(cell, LONGEST_TEXT) if column else cut_label(cell)


_DECIMALS: ContextVar[int | None] = ContextVar("decimals", default=None)


@contextmanager
def decimals(number: int | None) -> Iterator[None]:
    """Show numbers with this many decimals while the context lasts; None: each kind as usual.

    Raises `UsageError` for a number that is not from 0 to 10.
    """
    if number is not None and (type(number) is not int or not 0 <= number <= MOST_DECIMALS):
        raise UsageError(f"digits must be a whole number from 0 to {MOST_DECIMALS}, not {number!r}")
    token = _DECIMALS.set(number)
    try:
        yield
    finally:
        _DECIMALS.reset(token)


MOST_DECIMALS = 10


def with_decimals(value: float, usual: int, sign: str = "") -> str:
    """Return a number with its `usual` decimals, or as many as `decimals` says; with `sign` ``+`` also a plus.

    >>> with decimals(1):
    ...     with_decimals(76.356, 2), with_decimals(1.5, 2, "+")
    ('76.4', '+1.5')
    """
    own = _DECIMALS.get()
    return numeral(value, f"{sign},.{usual if own is None else own}f")


def with_sign(number: int) -> str:
    """Return a difference of counts: ``+23``, ``-1``, ``0``."""
    return numeral(number, "+," if number else ",")


def rate_difference(rate: float, other: float) -> str:
    """Return a rate less another in percentage points: the difference of the two percentages that are shown.

    >>> rate_difference(2 / 3, 1 / 3), rate_difference(0.5, 0.5)
    ('+33.34', '0.00')
    """
    own = _DECIMALS.get()
    number = round(100 * rate, 2 if own is None else own) - round(100 * other, 2 if own is None else own)
    return with_decimals(number, 2, "+" if number else "")


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


class Estimate(float):
    """A rate with the ends of its interval, None if it has none."""

    low: float | None
    high: float | None

    def __new__(cls, value: float, low: float | None, high: float | None) -> Estimate:
        estimate = super().__new__(cls, value)
        estimate.low, estimate.high = low, high
        return estimate

    def __str__(self) -> str:
        """Return the rate in percent, with half the width of the interval and its ends.

        >>> str(Estimate(0.871, 0.846, 0.892))
        '87.1 ± 2.3 [84.6, 89.2]'
        """
        if self.low is None or self.high is None:
            return f"{with_decimals(100 * self, 1)} [-]"
        numbers = (100 * self, 50 * (self.high - self.low), 100 * self.low, 100 * self.high)
        rate, half, low, high = (with_decimals(number, 1) for number in numbers)
        return f"{rate} ± {half} [{low}, {high}]"


def with_estimates(content: Content) -> Content:
    """Return the content of a result in which each rate that has an interval is an `Estimate`.

    The reports of groups have intervals only if the report has some.
    """
    if "intervals" not in content:
        return content
    found = {**content, "metrics": _estimated(content["metrics"], content["intervals"]["scores"])}
    if "by" in content:
        found["by"] = {
            key: {value: with_estimates(group) for value, group in groups.items()}
            for key, groups in content["by"].items()
        }
    return found


def _estimated(report: Mapping[str, Any], intervals: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in report.items():
        interval = intervals.get(name)
        if isinstance(value, Mapping) and isinstance(interval, Mapping):
            found[name] = _estimated(value, interval)
        elif isinstance(value, float) and isinstance(interval, Mapping):
            found[name] = Estimate(value, interval.get("low"), interval.get("high"))
        else:
            found[name] = value
    return found


MOST_LABELS = 40
"""The greatest number of labels that a matrix shows."""


def frequencies(cells: Mapping[str, Mapping[str, int]]) -> Counter[str]:
    """Return how often each label occurs in a matrix: the sum of its row and its column.

    >>> sorted(frequencies({"A": {"A": 2, "B": 1}, "B": {}}).items())
    [('A', 5), ('B', 1)]
    """
    found: Counter[str] = Counter(dict.fromkeys(cells, 0))
    for label, row in cells.items():
        for other, number in row.items():
            found[label] += number
            found[other] += number
    return found


def most_frequent(labels: Iterable[str], often: Mapping[str, int], limit: int = MOST_LABELS) -> list[str]:
    """Return the most frequent labels, in the order in which they are given; of equally frequent ones the
    first.

    >>> most_frequent(["C", "A", "B"], {"A": 1, "B": 2, "C": 1}, limit=2)
    ['C', 'B']
    """
    listed = list(labels)
    if len(listed) <= limit:
        return listed
    places = sorted(range(len(listed)), key=lambda place: -often.get(listed[place], 0))[:limit]
    return [listed[place] for place in sorted(places)]


def how_many(shown: int, labels: int) -> str:
    """Return the end of the title of a matrix that does not show all labels.

    >>> how_many(40, 1_200), how_many(3, 3)
    (', the 40 most frequent of 1,200 labels', '')
    """
    if shown >= labels:
        return ""
    return phrase(", the {shown} most frequent of {labels} labels", shown=shown, labels=labels)


def labels_of(matrix: Mapping[str, Any], unmatched: str) -> tuple[list[str], int]:
    """Return the labels that a matrix shows, in their order, and the number of all its labels.

    `matrix` has cells under ``found``; spans without a partner or label are under `unmatched` and
    ``unlabelled``.
    """
    often = frequencies(matrix["found"])
    labels = sorted(often)
    for column in ("unlabelled", unmatched):
        often.update(matrix[column])
    return most_frequent(labels, often), len(labels)
