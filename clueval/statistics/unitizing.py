"""Krippendorff's alphas for unitizing: annotators mark units of any length in a continuum and give them values.

A document of an annotator consists of units (length > 0) with values, and gaps between them, whose value is None.
`Unitized` holds what the coefficients need: the weighted pairs of values of positions (as in
`clueval.statistics.agreement`, gaps included), the sum of the squared lengths of the units of each value, and the
sum of their squared overlaps with units of others. All are sums over documents; a coefficient divides last, and is
None where it is not defined.

* ``u``: alpha of units and gaps; ``binary``: alpha of what is a unit and what is a gap;
* ``cu``: alpha of the values of overlapping units, without gaps; ``cu_coverage``: the share of pairs of values it is
  based on;
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

Source: Krippendorff, Mathet, Bouvry, Widlöcher 2016, "On the reliability of unitizing textual continua".
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from clueval.statistics.agreement import Coincidences, alpha_of, margins, ratio

GAP = None
"""The value of a gap."""


class Unitized(NamedTuple):
    """What the coefficients need; `pairs` has gaps as the value None.

    `squares` has for each value the sum of the squared lengths of its units; `overlaps` the sum over units of the
    square of w, the positions of the unit at which another annotator has a unit, summed over all others and divided
    by their number.
    """

    pairs: Coincidences[Any]
    squares: Mapping[Any, int]
    overlaps: Mapping[Any, Fraction]


def unitizing(data: Unitized) -> dict[str, Any]:
    """Return the coefficients by name, and `per_label` those of each value."""
    pairs, sums = data.pairs, margins(data.pairs)
    total = sum(sums.values(), Fraction(0))
    expected = _Expected(total, sums, {**data.squares, GAP: sums.get(GAP, Fraction(0))})
    equal = sum((n for (c, k), n in pairs.items() if c == k), Fraction(0))
    values = sorted(value for value in {*sums, *data.squares} if value is not GAP)
    gaps = sums.get(GAP, Fraction(0))
    units = {pair: n for pair, n in pairs.items() if GAP not in pair}
    paired = margins(units)
    all_paired = sum(paired.values(), Fraction(0))
    by_chance = _Expected(all_paired, paired, data.overlaps)
    same = sum((n for (c, k), n in units.items() if c == k), Fraction(0))
    return {
        "u": expected.alpha(total - equal, expected.unequal()),
        "binary": expected.alpha(gaps - pairs.get((GAP, GAP), 0), gaps * (total - gaps)),
        "cu": by_chance.alpha(all_paired - same, by_chance.unequal()),
        "cu_coverage": ratio(all_paired, total),
        "per_label": {value: _of_value(value, units, paired, by_chance, sums) for value in values},
    }


def _of_value(
    value: Any,
    units: Coincidences[Any],
    paired: Mapping[Any, Fraction],
    by_chance: _Expected,
    sums: Mapping[Any, Fraction],
) -> dict[str, float | None]:
    """Return alpha and coverage of one value."""
    own = paired.get(value, Fraction(0))
    differ = own - units.get((value, value), 0)
    chance = own * by_chance.total - by_chance.alone.get(value, 0)
    alpha = alpha_of(chance * differ, own * own * (by_chance.total - own))
    return {"alpha": alpha, "coverage": ratio(own, sums.get(value, 0))}


class _Expected(NamedTuple):
    """The pairs of values expected by chance: `alone` are the pairs of a unit with itself, which cannot occur.

    Sums of pairs are not yet multiplied by total / (total ** 2 - sum of `alone`), which `alpha` does.
    """

    total: Fraction
    sums: Mapping[Any, Fraction]
    alone: Mapping[Any, Fraction | int]

    def unequal(self) -> Fraction:
        """Return the sum of all pairs of different values."""
        return self.total * self.total - sum((n * n for n in self.sums.values()), Fraction(0))

    def alpha(self, differ: Fraction, expected: Fraction) -> float | None:
        """Return alpha for this observed disagreement and these pairs of values that count as disagreement."""
        pairs = self.total * self.total - sum(self.alone.values())
        return alpha_of(differ * pairs, self.total * expected)
