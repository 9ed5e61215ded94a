from __future__ import annotations

import math
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import pairwise, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval.statistics.agreement import (
    Unitized,
    coincidences,
    fleiss,
    kappa,
    krippendorff,
    krippendorff_by_value,
    observed,
    scott_pi,
    unitizing,
)

VALUES = "abc"

items = st.lists(st.lists(st.sampled_from(VALUES), min_size=3, max_size=3), min_size=1, max_size=20)
"""The values of three annotators for some items."""

gapped = st.lists(st.lists(st.sampled_from([*VALUES, None]), min_size=4, max_size=4), min_size=1, max_size=20)
"""The same of four annotators, None where one has no value."""


def pairs_of(rows, i=0, j=1):
    return Counter((row[i], row[j]) for row in rows)


def tally_of(rows):
    """Ordered pairs of values with the number of annotators of their item."""
    tally = Counter()
    for row in rows:
        present = [value for value in row if value is not None]
        if len(present) > 1:
            for c, k in permutations(present, 2):
                tally[len(present), c, k] += 1
    return tally


def close(own, other):
    """Whether a coefficient is that of another program, whose undefined ones are NaN."""
    if own is None:
        return math.isnan(other)
    return own == pytest.approx(other, abs=1e-12)


# Against other programs


@given(items)
def test_kappa_is_that_of_scikit_learn(rows):
    assert close(kappa(pairs_of(rows)), _sklearn(rows))


def _sklearn(rows):
    one, other = ([row[i] for row in rows] for i in (0, 1))
    from sklearn.metrics import cohen_kappa_score  # large packages are imported where they are used

    return cohen_kappa_score(one, other) if {*one} != {*other} or len({*one}) > 1 else math.nan


@given(items)
def test_pi_is_that_of_nltk(rows):
    data = [(f"a{i}", str(n), row[i]) for n, row in enumerate(rows) for i in (0, 1)]
    found = scott_pi(pairs_of(rows))

    if found is None:
        assert len({label for _, _, label in data}) == 1
    else:
        from nltk.metrics.agreement import AnnotationTask

        assert found == pytest.approx(AnnotationTask(data=data).pi())


@given(items)
def test_fleiss_is_that_of_statsmodels(rows):
    tally = Counter({(c, k): n for (_, c, k), n in tally_of(rows).items()})
    found = fleiss(tally, 3)

    if found is None:
        assert len({value for row in rows for value in row}) == 1
    else:
        import numpy as np
        from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

        table, _ = aggregate_raters(np.array([[VALUES.index(value) for value in row] for row in rows]))
        assert found == pytest.approx(fleiss_kappa(table))


@given(gapped)
def test_alpha_is_that_of_the_program_krippendorff(rows):
    found = krippendorff(coincidences(tally_of(rows)))
    paired = {value for row in rows if sum(map(bool, row)) > 1 for value in row if value is not None}

    if len(paired) < 2:
        assert found is None
    else:
        import krippendorff as krippendorff_program
        import numpy as np

        data = np.array(
            [[math.nan if row[i] is None else VALUES.index(row[i]) for row in rows] for i in range(4)]
        )
        assert found == pytest.approx(
            krippendorff_program.alpha(reliability_data=data, level_of_measurement="nominal")
        )


@given(gapped, st.sampled_from(VALUES))
def test_alpha_of_a_value_is_alpha_of_this_value_against_all_others(rows, value):
    joined = [[one if one in (value, None) else "other" for one in row] for row in rows]

    assert krippendorff_by_value(coincidences(tally_of(rows))).get(value) == pytest.approx(
        krippendorff(coincidences(tally_of(joined)))
    )


@pytest.mark.parametrize("coefficient", [observed, kappa, scott_pi])
def test_coefficients_of_no_items_are_undefined(coefficient):
    assert coefficient({}) is None


def test_coefficients_are_undefined_if_only_one_value_occurs():
    assert kappa({("a", "a"): 3}) is scott_pi({("a", "a"): 3}) is fleiss({("a", "a"): 6}, 3) is None
    assert (
        krippendorff({("a", "a"): Fraction(3)})
        is krippendorff_by_value({("a", "a"): Fraction(3)})["a"]
        is None
    )
    assert observed({("a", "a"): 3}) == 1


# Alphas for unitizing, against the definitions of Krippendorff et al. 2016 position by position


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


def test_unitizing_without_units_is_undefined():
    found = unitizing(data_of([[[], []]]))

    assert found == {"u": None, "binary": None, "cu": None, "cu_coverage": 0.0, "per_label": {}}
