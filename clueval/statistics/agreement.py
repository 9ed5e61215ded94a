"""Coefficients of agreement, from whole numbers: Cohen's kappa, Scott's pi, Fleiss' kappa, Krippendorff's alphas.

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

Sources: Cohen 1960; Scott 1955; Fleiss 1971; Krippendorff 2019, chapter 12 (nominal data, missing values);
Krippendorff, Mathet, Bouvry, Widlöcher 2016, "On the reliability of unitizing textual continua".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple, TypeVar

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
    """Return Scott's pi; None as for `kappa`."""
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
    table: defaultdict[tuple[Value, Value], Fraction] = defaultdict(Fraction)
    for (m, c, k), n in tally.items():
        table[c, k] += Fraction(n, m - 1)
    return dict(table)


def margins(table: Mapping[tuple[Value, Value], Fraction]) -> dict[Value, Fraction]:
    """Return how often each value occurs in a table of weighted pairs."""
    sums: defaultdict[Value, Fraction] = defaultdict(Fraction)
    for (c, _), n in table.items():
        sums[c] += n
    return dict(sums)


def krippendorff(table: Coincidences[Value]) -> float | None:
    """Return Krippendorff's alpha for nominal values; None if there are not two different values."""
    sums = margins(table)
    total = sum(sums.values())
    differ = total - sum(n for (c, k), n in table.items() if c == k)
    return alpha_of((total - 1) * differ, total * total - sum(n * n for n in sums.values()))


def krippendorff_by_value(table: Coincidences[Value]) -> dict[Value, float | None]:
    """Return alpha of each value against all others; None if no other value occurs."""
    sums = margins(table)
    total = sum(sums.values())
    return {
        value: alpha_of((total - 1) * (margin - table.get((value, value), 0)), margin * (total - margin))
        for value, margin in sums.items()
    }


def fleiss(tally: Mapping[tuple[Value, Value], int], annotators: int) -> float | None:
    """Return Fleiss' kappa of items that all `annotators` gave a value; None as for `kappa`.

    `tally` counts the ordered pairs of annotators, so an item counts annotators * (annotators - 1) times.
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


GAP = None
"""The value of a gap."""


class Unitized(NamedTuple):
    """What Krippendorff's alphas for unitizing need, where annotators mark units of any length and give them values.

    A document of an annotator consists of units (length > 0) with values, and gaps between them, whose value is None.
    All numbers are sums over documents. `pairs` has the weighted pairs of values of positions, gaps included;
    `squares` has for each value the sum of the squared lengths of its units; `overlaps` the sum over units of the
    square of w, the positions of the unit at which another annotator has a unit, summed over all others and divided
    by their number.
    """

    pairs: Coincidences[Any]
    squares: Mapping[Any, int]
    overlaps: Mapping[Any, Fraction]


def unitizing(data: Unitized) -> dict[str, Any]:
    """Return the coefficients by name, and `per_label` those of each value; None where one is not defined.

    * ``u``: alpha of units and gaps; ``binary``: alpha of what is a unit and what is a gap;
    * ``cu``: alpha of the values of overlapping units, without gaps; ``cu_coverage``: the share of pairs of
      values it is based on;
    * for each value ``alpha`` (as ``cu``, the value against others) and ``coverage``.

    By hand, A [0,2) P, [4,6) L; B [0,2) P, [4,7) L; C [0,2) R in ten positions, and A [1,2) P, B nothing in four:

    >>> half = Fraction(1, 2)
    >>> pairs = {(None, None): 22, ("P", "P"): 2, ("L", "L"): 2, ("P", "R"): 2, ("R", "P"): 2, (None, "P"): 1,
    ...     ("P", None): 1, (None, "L"): 3, ("L", None): 3}
    >>> table = {pair: Fraction(n) for pair, n in pairs.items()}
    >>> overlaps = {"P": Fraction(8), "L": Fraction(2), "R": Fraction(4)}
    >>> found = unitizing(Unitized(table, {"P": 9, "L": 13, "R": 4}, overlaps))
    >>> round(found["u"], 4), round(found["binary"], 4), round(found["cu"], 4), found["cu_coverage"] == 8 / 38
    (0.3843, 0.5304, 0.375, True)
    """
    sums = margins(data.pairs)
    total, equal = _sum(sums.values()), _sum(n for (c, k), n in data.pairs.items() if c == k)
    gaps = sums.get(GAP, Fraction(0))
    # pairs of positions that are not in one unit
    different = total * total - gaps - sum(data.squares.values())
    units = {pair: n for pair, n in data.pairs.items() if GAP not in pair}
    paired = margins(units)
    all_paired, same = _sum(paired.values()), _sum(n for (c, k), n in units.items() if c == k)
    of_two_units = all_paired * all_paired - sum(data.overlaps.values())
    per_label = {}
    for value in sorted(value for value in {*sums, *data.squares} if value is not GAP):
        margin = paired.get(value, Fraction(0))
        differ = margin - units.get((value, value), 0)
        chance = margin * all_paired - data.overlaps.get(value, 0)
        per_label[value] = {
            "alpha": alpha_of(chance * differ, margin * margin * (all_paired - margin)),
            "coverage": ratio(margin, sums.get(value, 0)),
        }
    both_gaps = data.pairs.get((GAP, GAP), 0)
    return {
        "u": alpha_of((total - equal) * different, total * (total * total - _squares(sums))),
        "binary": alpha_of((gaps - both_gaps) * different, total * gaps * (total - gaps)),
        "cu": alpha_of(
            (all_paired - same) * of_two_units, all_paired * (all_paired * all_paired - _squares(paired))
        ),
        "cu_coverage": ratio(all_paired, total),
        "per_label": per_label,
    }


def _sum(numbers: Iterable[Fraction]) -> Fraction:
    return sum(numbers, Fraction(0))


def _squares(sums: Mapping[Any, Fraction]) -> Fraction:
    return _sum(n * n for n in sums.values())
