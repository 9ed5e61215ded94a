from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import permutations

import krippendorff as krippendorff_program
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.metrics.agreement import AnnotationTask
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

from clueval.statistics.agreement import (
    coincidences,
    fleiss,
    kappa,
    krippendorff,
    krippendorff_of,
    observed,
    scott_pi,
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


# Worked by hand: the positions of two documents, 10 by A, B, C and 4 by A, B


BY_HAND = Counter({("O", "O"): 8, ("P", "P"): 2, ("L", "L"): 2, ("O", "L"): 1, ("P", "O"): 1})


def test_kappa_by_hand():
    assert observed(BY_HAND) == 12 / 14
    assert kappa(BY_HAND) == 75 / 103


def test_alpha_by_hand():
    rows = [["P", "P", "R"]] * 2 + [["L", "L", "O"]] * 2 + [["O", "L", "O"]] + [["O", "O", "O"]] * 5
    rows += [["P", "O", None]] + [["O", "O", None]] * 3
    table = coincidences(tally_of(rows))

    assert {c: table.get((c, c), 0) for c in "OPLR"} == {"O": 22, "P": 2, "L": 2, "R": 0}
    assert krippendorff(table) == float(1 - Fraction(37 * 12, 714))


# Against other programs


@given(items)
def test_kappa_is_that_of_scikit_learn(rows):
    assert close(kappa(pairs_of(rows)), _sklearn(rows))


def _sklearn(rows):
    one, other = ([row[i] for row in rows] for i in (0, 1))
    return cohen_kappa_score(one, other) if {*one} != {*other} or len({*one}) > 1 else math.nan


@given(items)
def test_pi_is_that_of_nltk(rows):
    data = [(f"a{i}", str(n), row[i]) for n, row in enumerate(rows) for i in (0, 1)]
    found = scott_pi(pairs_of(rows))

    if found is None:
        assert len({label for _, _, label in data}) == 1
    else:
        assert found == pytest.approx(AnnotationTask(data=data).pi())


@given(items)
def test_fleiss_is_that_of_statsmodels(rows):
    tally = Counter({(c, k): n for (_, c, k), n in tally_of(rows).items()})
    found = fleiss(tally, 3)

    if found is None:
        assert len({value for row in rows for value in row}) == 1
    else:
        table, _ = aggregate_raters(np.array([[VALUES.index(value) for value in row] for row in rows]))
        assert found == pytest.approx(fleiss_kappa(table))


@given(gapped)
def test_alpha_is_that_of_the_program_krippendorff(rows):
    found = krippendorff(coincidences(tally_of(rows)))
    paired = {value for row in rows if sum(map(bool, row)) > 1 for value in row if value is not None}

    if len(paired) < 2:
        assert found is None
    else:
        data = np.array(
            [[math.nan if row[i] is None else VALUES.index(row[i]) for row in rows] for i in range(4)]
        )
        assert found == pytest.approx(
            krippendorff_program.alpha(reliability_data=data, level_of_measurement="nominal")
        )


@given(gapped, st.sampled_from(VALUES))
def test_alpha_of_a_value_is_alpha_of_this_value_against_all_others(rows, value):
    joined = [[one if one in (value, None) else "other" for one in row] for row in rows]

    assert krippendorff_of(coincidences(tally_of(rows)), value) == pytest.approx(
        krippendorff(coincidences(tally_of(joined)))
    )


@pytest.mark.parametrize("coefficient", [observed, kappa, scott_pi])
def test_coefficients_of_no_items_are_undefined(coefficient):
    assert coefficient({}) is None


def test_coefficients_are_undefined_if_only_one_value_occurs():
    assert kappa({("a", "a"): 3}) is scott_pi({("a", "a"): 3}) is fleiss({("a", "a"): 6}, 3) is None
    assert krippendorff({("a", "a"): Fraction(3)}) is krippendorff_of({("a", "a"): Fraction(3)}, "a") is None
    assert observed({("a", "a"): 3}) == 1
