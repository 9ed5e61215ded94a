"""Several runs of a system."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval.statistics.jackknife import spread_of, standard_deviation

SCORES = st.lists(st.floats(0, 1), min_size=2, max_size=8)


@given(SCORES)
def test_the_deviation_of_runs_is_that_of_numpy(scores: list[float]) -> None:
    numpy = pytest.importorskip("numpy")

    assert standard_deviation(scores) == pytest.approx(float(numpy.std(scores, ddof=1)), abs=1e-12)


@given(SCORES, SCORES)
def test_without_an_error_over_units_two_groups_are_compared_by_welchs_test(
    one: list[float], other: list[float]
) -> None:
    stats = pytest.importorskip("scipy.stats")
    if len({*one}) < 2 or len({*other}) < 2:
        return
    difference = math.fsum(other) / len(other) - math.fsum(one) / len(one)
    spread = spread_of(0.0, 100, [one, other])
    expected = stats.ttest_ind(other, one, equal_var=False)
    if not expected.df > 0:  # too small to compute
        return

    assert spread.df == pytest.approx(expected.df, rel=1e-6)
    assert spread.p(difference) == pytest.approx(expected.pvalue, abs=1e-6)


def test_a_single_run_adds_nothing() -> None:
    assert spread_of(0.1, 11, [[0.5]]) == pytest.approx((0.01, 10))
    assert standard_deviation([0.5]) is None


def test_runs_that_do_not_differ_leave_no_doubt() -> None:
    assert spread_of(0.0, 2, [[0.5, 0.5]]).p(0.0) == 1
    assert spread_of(0.0, 2, [[0.5, 0.5]]).p(0.1) == 0
