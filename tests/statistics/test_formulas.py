"""Distribution functions, intervals of proportions and Holm's correction, against scipy and statsmodels."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval.files.errors import UsageError
from clueval.statistics import (
    bca,
    bca_levels,
    clopper_pearson,
    holm,
    mcnemar_exact,
    percentile,
    t_p,
    t_quantile,
    wilson,
)
from clueval.statistics.distributions import inverse_beta, regularised_beta, trials_needed, upper_bound

DEGREES = st.one_of(st.floats(1, 10), st.floats(1, 100_000))
SHARES = st.floats(0.0005, 0.9995)


@st.composite
def trials(draw: st.DrawFn) -> tuple[int, int]:
    n = draw(st.one_of(st.integers(1, 30), st.integers(1, 100_000)))
    return draw(st.integers(0, n)), n


@given(SHARES, DEGREES)
def test_a_quantile_of_t_is_that_of_scipy(q: float, df: float) -> None:
    stats = pytest.importorskip("scipy.stats")

    assert t_quantile(q, df) == pytest.approx(stats.t.ppf(q, df), rel=1e-9, abs=1e-9)


def test_a_quantile_of_t_far_out_is_right_or_infinite_if_no_float_holds_it() -> None:
    assert t_quantile(1e-12, 1) == pytest.approx(-1e12 / math.pi, rel=1e-9)  # of Cauchy's distribution
    assert t_quantile(1e-300, 0.5) == -math.inf
    assert t_quantile(0.975, 0.001) == math.inf


@given(st.floats(-40, 40), DEGREES)
def test_a_p_of_t_is_that_of_scipy(t: float, df: float) -> None:
    stats = pytest.importorskip("scipy.stats")

    assert t_p(t, df) == pytest.approx(2 * stats.t.sf(abs(t), df), rel=1e-8, abs=1e-9)


@given(st.floats(0, 1), st.floats(0.5, 3_000), st.floats(0.5, 3_000))
def test_the_incomplete_beta_function_is_that_of_scipy(x: float, a: float, b: float) -> None:
    special = pytest.importorskip("scipy.special")

    assert regularised_beta(x, a, b) == pytest.approx(special.betainc(a, b, x), abs=1e-9)


@given(st.floats(1e-6, 1 - 1e-6), st.floats(0.5, 500), st.floats(0.5, 500))
def test_the_inverse_of_the_incomplete_beta_function_leads_back(p: float, a: float, b: float) -> None:
    assert regularised_beta(inverse_beta(p, a, b), a, b) == pytest.approx(p, abs=1e-9)


@given(trials(), SHARES)
def test_intervals_of_a_proportion_are_those_of_scipy(k_n: tuple[int, int], confidence: float) -> None:
    test = pytest.importorskip("scipy.stats").binomtest(*k_n)
    for interval, method in ((clopper_pearson, "exact"), (wilson, "wilson")):
        expected = tuple(test.proportion_ci(confidence, method=method))

        assert interval(*k_n, confidence) == pytest.approx(expected, abs=1e-9)


@pytest.mark.long  # for the import of statsmodels
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holms_correction_is_that_of_statsmodels(ps: list[float]) -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest")

    assert holm(ps) == pytest.approx(list(multitest.multipletests(ps, method="holm")[1]), abs=1e-12)


def test_holms_correction_by_hand() -> None:
    assert holm([0.04, 0.01, 0.5]) == pytest.approx([0.08, 0.03, 0.5])
    assert holm([0.02, 0.03, 0.02]) == pytest.approx([0.06, 0.06, 0.06])  # none below one that was smaller
    assert holm([0.9, 0.6]) == [1, 1]  # none above 1
    assert holm([]) == []


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (t_quantile, (1.0, 3), "q must be between 0 and 1"),
        (t_quantile, (0.9, 0), "df must be a number above 0"),
        (t_p, (1.0, float("nan")), "df must be a number above 0"),
        (wilson, (3, 2), "3 successes in 2 trials"),
        (wilson, (0, 0), "0 successes in 0 trials"),
        (clopper_pearson, (-1, 2), "-1 successes in 2 trials"),
        (clopper_pearson, (1, 2, 95), "confidence must be between 0 and 1, not 95"),
        (upper_bound, (4, 3, 0.9), "4 successes in 3 trials"),
        (upper_bound, (1, 3, 1), "confidence must be between 0 and 1, not 1"),
        (mcnemar_exact, (-1, 2), "negative: -1 and 2"),
        (holm, ([0.1, 1.5],), "a p-value must be from 0 to 1, not 1.5"),
        (holm, ([math.nan],), "a p-value must be from 0 to 1, not nan"),
        (percentile, ([0.1, math.nan],), "one of the resampled scores is not a finite number"),
        (bca, ([0.1, 0.3], 0.2, []), "there are no scores without a unit"),
        (
            bca_levels,
            ([0.1, 0.3], 0.2, [math.inf]),
            "one of the scores without a unit is not a finite number",
        ),
    ],
)
def test_a_formula_refuses_what_it_cannot_compute(function, arguments, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UsageError, match=message):
        function(*arguments)


# The upper bound of a share, against scipy's beta distribution, and McNemar's exact test


@pytest.mark.parametrize("confidence", [0.01, 0.5, 0.95, 0.999])
@pytest.mark.parametrize(
    ("k", "n"),
    [(0, 1), (0, 59), (1, 2), (3, 100), (99, 100), (5, 100_000), (50_000, 100_000), (99_999, 100_000)],
)
def test_the_bound_is_that_of_scipy(k: int, n: int, confidence: float) -> None:
    beta = pytest.importorskip("scipy.stats").beta

    assert upper_bound(k, n, confidence) == pytest.approx(beta.ppf(confidence, k + 1, n - k), abs=1e-9)
    assert upper_bound(n, n, confidence) == 1


@given(st.integers(0, 1500), st.integers(0, 1500))
def test_mcnemar_is_the_binomial_test_of_scipy(one: int, other: int) -> None:
    stats = pytest.importorskip("scipy.stats")

    expected = stats.binomtest(one, one + other).pvalue if one + other else 1.0

    # far out scipy gives 0: for 10 and 1065, where exact fractions say 2.7e-300, as this function does
    assert mcnemar_exact(one, other) == pytest.approx(expected, rel=1e-9, abs=1e-250)


# How many trials show a small share


@pytest.mark.parametrize(
    ("k", "limit", "confidence", "expected"),
    [
        (0, 0.5, 0.75, 2),  # 0.5 ** 2 is 0.25
        (1, 0.5, 0.5, 3),  # none or one of 3 coins: 4 of 8
        (0, 0.01, 0.95, 299),
        (0, 0.05, 0.95, 59),
        (1, 0.05, 0.95, 93),
        (0, 0.0, 0.95, None),
    ],
)
def test_trials_needed_are_those_by_hand(
    k: int, limit: float, confidence: float, expected: int | None
) -> None:
    assert trials_needed(k, limit, confidence) == expected


@pytest.mark.parametrize("k", [0, 1, 2, 17])
@pytest.mark.parametrize("limit", [0.003, 0.01, 0.2])
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.999])
def test_trials_needed_are_the_least_with_the_bound_of_scipy(k: int, limit: float, confidence: float) -> None:
    beta = pytest.importorskip("scipy.stats").beta
    n = trials_needed(k, limit, confidence)

    assert n is not None
    assert beta.ppf(confidence, k + 1, n - k) <= limit + 1e-9
    assert n - 1 == k or beta.ppf(confidence, k + 1, n - 1 - k) > limit
    assert k or n == math.ceil(math.log(1 - confidence) / math.log(1 - limit))
