"""Alphas for unitizing, against the definitions of Krippendorff et al. 2016 position by position."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import pairwise, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval.statistics.agreement import Unitized, coincidences, unitizing

LENGTH = 8


@st.composite
def continua(draw):
    """Documents: for each of two or three annotators, units (start, end, value) that do not overlap."""
    documents = []
    for _ in range(draw(st.integers(1, 3))):
        annotators = []
        for _ in range(draw(st.integers(2, 3))):
            cuts = sorted(draw(st.sets(st.integers(0, LENGTH), max_size=6)))
            units = [(a, b, draw(st.sampled_from(["x", "y", None]))) for a, b in pairwise(cuts)]
            annotators.append([unit for unit in units if unit[2] is not None])
        documents.append(annotators)
    return documents


def data_of(documents):
    """What the coefficients need, counted position by position."""
    pairs, squares, overlaps = Counter(), Counter(), defaultdict(Fraction)
    for annotators in documents:
        m = len(annotators)
        values = [[value_at(units, position) for position in range(LENGTH)] for units in annotators]
        for one, other in permutations(values, 2):
            for c, k in zip(one, other, strict=True):
                pairs[m, c, k] += 1
        for own, units in enumerate(annotators):
            for start, end, value in units:
                squares[value] += (end - start) ** 2
                shared = sum(
                    values[j][position] is not None
                    for j in range(m)
                    if j != own
                    for position in range(start, end)
                )
                overlaps[value] += Fraction(shared, m - 1) ** 2
    return Unitized(coincidences(pairs), squares, overlaps)


def value_at(units, position):
    return next((value for start, end, value in units if start <= position < end), None)


def by_definition(data):
    """u, binary and cu as the specification writes them, with expected coincidences e and x."""
    values = {c for c, _ in data.pairs}
    sums = {c: sum(n for (a, _), n in data.pairs.items() if a == c) for c in values}
    total = sum(sums.values())
    squares = {**data.squares, None: sums.get(None, 0)}
    alone = total**2 - sum(squares.values())
    found = {"u": None, "binary": None, "cu": None, "per_label": {}}

    def e(c, k):
        return total * (sums[c] * sums[k] - (c == k) * squares[c]) / Fraction(alone)

    if alone:
        expected = total - sum(e(c, c) for c in values)
        same = sum(data.pairs.get((c, c), 0) for c in values)
        found["u"] = float(1 - (total - same) / expected) if expected else None
        gaps = sum(e(None, k) for k in values if k is not None) if None in values else 0
        found["binary"] = float(1 - (sums[None] - data.pairs.get((None, None), 0)) / gaps) if gaps else None
    units = {pair: n for pair, n in data.pairs.items() if None not in pair}
    r = {c: sum(n for (a, _), n in units.items() if a == c) for c, _ in units}
    total = sum(r.values())
    alone = total**2 - sum(data.overlaps.values())

    def x(c, k):
        return total * (r[c] * r[k] - (c == k) * data.overlaps.get(c, 0)) / Fraction(alone)

    if alone:
        expected = total - sum(x(c, c) for c in r)
        same = sum(units.get((c, c), 0) for c in r)
        found["cu"] = float(1 - (total - same) / expected) if expected else None
        for k in r:
            others = sum(x(c, k) for c in r if c != k)
            part = sum(x(k, c) for c in r) / r[k] * (r[k] - units.get((k, k), 0))
            found["per_label"][k] = float(1 - part / others) if others else None
    return found


@given(continua())
def test_unitizing_is_the_definition(documents):
    data = data_of(documents)
    found = unitizing(data)
    expected = by_definition(data)

    assert [found[name] for name in ("u", "binary", "cu")] == [
        pytest.approx(expected[name]) for name in ("u", "binary", "cu")
    ]
    alphas = {label: each["alpha"] for label, each in found["per_label"].items() if each["coverage"]}
    assert alphas == pytest.approx(expected["per_label"])


def test_unitizing_by_hand():
    documents = [
        [[(0, 2, "P"), (4, 6, "L")], [(0, 2, "P"), (4, 7, "L")], [(0, 2, "R")]],
    ]
    found = unitizing(data_of(documents))

    assert found["cu_coverage"] == float(Fraction(8, 3 * LENGTH))
    assert found["per_label"]["L"] == {"alpha": 1.0, "coverage": pytest.approx(2 / 5)}
    assert found["cu"] == 0.375


@given(continua())
def test_unitizing_of_copies_is_full_agreement_or_undefined(documents):
    copies = [[annotators[0]] * 3 for annotators in documents]
    found = unitizing(data_of(copies))

    assert {found[name] for name in ("u", "binary", "cu")} <= {1.0, None}


def test_unitizing_without_units_is_undefined():
    found = unitizing(data_of([[[], []]]))

    assert found == {"u": None, "binary": None, "cu": None, "cu_coverage": 0.0, "per_label": {}}
