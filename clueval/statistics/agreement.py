"""Coefficients of agreement, from whole numbers: Cohen's kappa, Scott's pi, Fleiss' kappa, Krippendorff's alpha.

An *item* gets a *value* from each annotator. Two annotators have a table of pairs ``{(c, k): n}``: for n items, the
first gave c and the second k. For more annotators, `coincidences` makes such a table from all ordered pairs of
annotators, each item weighted by 1/(m - 1), where m is the number of its annotators. The tables are counts, so
they add over documents; a coefficient divides last, and is None where it is not defined.

By hand, the labels of ten positions by three annotators and of four positions by two of them: of the 38 values, 26
are O, and the weighted pairs of equal values are 22 (O), 2 and 2:

>>> table = {("O", "O"): Fraction(22), ("P", "P"): Fraction(2), ("L", "L"): Fraction(2), ("O", "P"): Fraction(1),
...     ("P", "O"): Fraction(1), ("O", "L"): Fraction(3), ("L", "O"): Fraction(3), ("P", "R"): Fraction(2),
...     ("R", "P"): Fraction(2)}
>>> round(krippendorff(table), 4)
0.3782

Sources: Cohen 1960; Scott 1955; Fleiss 1971; Krippendorff 2019, chapter 12 (nominal data, missing values).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping
from fractions import Fraction
from typing import TypeVar

Value = TypeVar("Value", bound=Hashable)

Pairs = Mapping[tuple[Value, Value], int]
Coincidences = Mapping[tuple[Value, Value], Fraction]


def ratio(numerator: int | Fraction, denominator: int | Fraction) -> float | None:
    """Return the quotient, or None for a denominator of 0."""
    return float(Fraction(numerator) / denominator) if denominator else None


def alpha_of(differ: int | Fraction, expected: int | Fraction) -> float | None:
    """Return 1 minus the ratio of observed to expected disagreement; None if none is expected."""
    return float(1 - Fraction(differ) / expected) if expected else None


def observed(pairs: Pairs[Value]) -> float | None:
    """Return the share of items with equal values; None without items."""
    return ratio(sum(n for (c, k), n in pairs.items() if c == k), sum(pairs.values()))


def kappa(pairs: Pairs[Value]) -> float | None:
    """Return Cohen's kappa; None without items, and if both annotators give all items the same value.

    >>> kappa({("O", "O"): 8, ("P", "P"): 2, ("L", "L"): 2, ("O", "L"): 1, ("P", "O"): 1}) == 75 / 103
    True
    """
    return _beyond_chance(pairs, lambda row, column: row * column)


def scott_pi(pairs: Pairs[Value]) -> float | None:
    """Return Scott's pi; None as for `kappa`.

    >>> scott_pi({("a", "a"): 1, ("b", "b"): 1})
    1.0
    """
    return _beyond_chance(pairs, lambda row, column: Fraction((row + column) ** 2, 4))


def _beyond_chance(pairs: Pairs[Value], by_chance: Callable[[int, int], int | Fraction]) -> float | None:
    rows: defaultdict[Value, int] = defaultdict(int)
    columns: defaultdict[Value, int] = defaultdict(int)
    equal = 0
    for (c, k), n in pairs.items():
        rows[c] += n
        columns[k] += n
        equal += n * (c == k)
    n = sum(rows.values())
    expected = sum(by_chance(rows[c], columns[c]) for c in {*rows, *columns})  # n squared times the share
    return ratio(n * equal - expected, n * n - expected)


def coincidences(tally: Mapping[tuple[int, Value, Value], int]) -> dict[tuple[Value, Value], Fraction]:
    """Return the table of weighted pairs; the keys of `tally` are the number of annotators m and an ordered pair.

    >>> coincidences({(2, "a", "b"): 1, (2, "b", "a"): 1, (3, "a", "b"): 4, (3, "b", "a"): 4})["a", "b"]
    Fraction(3, 1)
    """
    found: defaultdict[tuple[Value, Value], Fraction] = defaultdict(Fraction)
    for (m, c, k), n in tally.items():
        found[c, k] += Fraction(n, m - 1)
    return dict(found)


def margins(table: Mapping[tuple[Value, Value], Fraction]) -> dict[Value, Fraction]:
    """Return how often each value occurs in a table of weighted pairs."""
    found: defaultdict[Value, Fraction] = defaultdict(Fraction)
    for (c, _), n in table.items():
        found[c] += n
    return dict(found)


def krippendorff(table: Coincidences[Value]) -> float | None:
    """Return Krippendorff's alpha for nominal values; None if there are not two different values."""
    sums = margins(table)
    total = sum(sums.values())
    differ = total - sum(n for (c, k), n in table.items() if c == k)
    return alpha_of((total - 1) * differ, total * total - sum(n * n for n in sums.values()))


def krippendorff_of(table: Coincidences[Value], value: Value) -> float | None:
    """Return alpha of one value against all others; None if the value, or any other, does not occur.

    >>> krippendorff_of({("a", "a"): Fraction(2), ("b", "b"): Fraction(2)}, "a")
    1.0
    """
    sums = margins(table)
    total, own = sum(sums.values()), sums.get(value, Fraction(0))
    differ = own - table.get((value, value), 0)
    return alpha_of((total - 1) * differ, own * (total - own))


def fleiss(tally: Mapping[tuple[Value, Value], int], annotators: int) -> float | None:
    """Return Fleiss' kappa of items that all `annotators` gave a value; None as for `kappa`.

    `tally` counts the ordered pairs of annotators, so an item counts annotators * (annotators - 1) times.

    >>> fleiss({("a", "a"): 2, ("b", "b"): 2}, 2)
    1.0
    """
    sums: defaultdict[Value, int] = defaultdict(int)
    equal = 0
    for (c, k), n in tally.items():
        sums[c] += n
        equal += n * (c == k)
    total = sum(sums.values())  # items * k * (k - 1), so shares of values are sums / total
    if annotators < 2 or not total:
        return None
    expected = Fraction(sum(n * n for n in sums.values()), total * total)
    return ratio(Fraction(equal, total) - expected, 1 - expected)
