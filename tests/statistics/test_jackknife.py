"""The jackknife: by hand, against the package resample, its bounds, and several runs of a system."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval.statistics.distributions import t_quantile
from clueval.statistics.jackknife import (
    detectable,
    difference_jackknife,
    effective_number,
    logit_jackknife,
    spread_of,
    standard_deviation,
    standard_error,
)

SCORES = st.lists(st.floats(0.01, 0.99), min_size=2, max_size=30)


@given(SCORES)
def test_the_standard_error_is_that_of_resample(values: list[float]) -> None:
    jackknife = pytest.importorskip("resample.jackknife")
    numpy = pytest.importorskip("numpy")
    without = [(math.fsum(values) - value) / (len(values) - 1) for value in values]

    expected = math.sqrt(jackknife.variance(numpy.mean, values))

    assert standard_error(without) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_equal_units_are_as_effective_as_they_are_many() -> None:
    assert effective_number([7] * 12) == pytest.approx(12)
    assert effective_number([100, 1, 1]) == pytest.approx(102**2 / 10_002)
    assert effective_number([0, 0]) == 0


@pytest.mark.parametrize(
    ("score", "ends"), [(1.0, (0.05 ** (1 / 120), 1.0)), (0.0, (0.0, 1 - 0.05 ** (1 / 120)))]
)
@pytest.mark.parametrize(("other", "se"), [(0.0, 0.0), (0.5, 0.5 * 119 / 120)])
def test_a_score_without_an_error_has_a_bound_and_the_standard_error_of_its_values_without_a_unit(
    score: float, ends: tuple[float, float], other: float, se: float
) -> None:
    interval = logit_jackknife(score, [abs(score - other), *[score] * 119], 120, 120.0, 0.95)

    assert (interval.low, interval.high) == ends
    assert interval.se == pytest.approx(se)
    assert interval.bound
    assert interval.to_dict()["bound"] is True


@pytest.mark.parametrize(
    ("score", "without", "units", "reason"),
    [
        (0.5, [0.5, 0.5], 1, "only one unit has anything to count"),
        (1.0, [1.0], 1, "only one unit has anything to count"),
        (0.0, [0.0, 0.0], 0, "no unit has anything to count"),
        (0.5, [0.5, 0.5, 0.5], 3, "all units have the same score"),
        (0.1, [0.1, 0.1, 0.1], 3, "all units have the same score"),  # their mean is not 0.1 in floating point
        (1.5, [1.4, 1.6, 1.5], 3, "the score does not lie between 0 and 1"),
    ],
)
def test_no_interval_has_a_reason(score: float, without: list[float], units: int, reason: str) -> None:
    report = logit_jackknife(score, without, units, len(without), 0.95).to_dict()

    assert (report["low"], report["high"]) == (None, None)
    assert report["reason"].startswith(reason)


@given(st.floats(0.05, 0.95), SCORES, st.floats(0.5, 0.99))
def test_the_interval_contains_the_score_and_stays_between_0_and_1(
    score: float, without: list[float], confidence: float
) -> None:
    interval = logit_jackknife(score, without, len(without), len(without), confidence)

    if interval.low is not None and interval.high is not None:
        assert 0 <= interval.low <= score + 1e-12
        assert score - 1e-12 <= interval.high <= 1


def test_a_difference_in_five_units_has_no_interval() -> None:
    interval = difference_jackknife(0.1, [0.1] * 9, 5, 9.0, 0.95)

    assert interval.low is None
    assert interval.reason == "the systems differ in 5 units, fewer than 6"


def test_the_interval_of_a_difference_is_symmetrical() -> None:
    interval = difference_jackknife(0.1, [0.1, 0.12, 0.08, 0.11, 0.09, 0.1], 6, 6.0, 0.95)
    half = t_quantile(0.975, 5) * standard_error([0.1, 0.12, 0.08, 0.11, 0.09, 0.1])

    assert (interval.low, interval.high) == (0.1 - half, 0.1 + half)


def test_the_detectable_difference_is_2_8_standard_errors_if_there_are_many_units() -> None:
    assert detectable(1.0, 100_000) == pytest.approx(1.96 + 0.8416, abs=1e-3)


RUNS = st.lists(st.floats(0, 1), min_size=2, max_size=8)


@given(RUNS)
def test_the_deviation_of_runs_is_that_of_numpy(scores: list[float]) -> None:
    numpy = pytest.importorskip("numpy")

    assert standard_deviation(scores) == pytest.approx(float(numpy.std(scores, ddof=1)), abs=1e-12)


@given(RUNS, RUNS)
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
