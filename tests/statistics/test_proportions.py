"""The upper bound of a share, against scipy's beta distribution, and McNemar's exact test."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval.exceptions import UsageError
from clueval.statistics import mcnemar_exact
from clueval.statistics.distributions import upper_bound


def test_no_event_in_59_trials_has_a_bound_below_five_percent() -> None:
    assert upper_bound(0, 59) == pytest.approx(1 - 0.05 ** (1 / 59), abs=1e-12)
    assert upper_bound(0, 59) < 0.05 < upper_bound(0, 58)


def test_all_events_have_the_bound_one() -> None:
    assert upper_bound(7, 7) == 1.0


@pytest.mark.parametrize("confidence", [0.01, 0.5, 0.95, 0.999])
@pytest.mark.parametrize(
    ("k", "n"), [(0, 1), (1, 2), (3, 100), (99, 100), (5, 100_000), (50_000, 100_000), (99_999, 100_000)]
)
def test_the_bound_is_that_of_scipy(k: int, n: int, confidence: float) -> None:
    beta = pytest.importorskip("scipy.stats").beta

    assert upper_bound(k, n, confidence) == pytest.approx(beta.ppf(confidence, k + 1, n - k), abs=1e-9)


def test_the_bound_solves_its_definition() -> None:
    p = upper_bound(2, 9)

    below = math.fsum(math.comb(9, i) * p**i * (1 - p) ** (9 - i) for i in range(3))

    assert below == pytest.approx(0.05, abs=1e-9)


@pytest.mark.parametrize(
    ("k", "n", "confidence"), [(-1, 3, 0.9), (4, 3, 0.9), (0, 0, 0.9), (1, 3, 1), (1, 3, 0)]
)
def test_numbers_that_are_no_share_are_refused(k: int, n: int, confidence: float) -> None:
    with pytest.raises(UsageError):
        upper_bound(k, n, confidence)


@pytest.mark.parametrize(
    ("one", "other", "p"),
    [
        (0, 0, 1.0),
        (1, 0, 1.0),
        (5, 5, 1.0),
        (4, 5, 1.0),
        (0, 5, 0.0625),
        (1, 9, 22 / 1024),
        (9, 1, 22 / 1024),
    ],
)
def test_mcnemar_by_hand(one: int, other: int, p: float) -> None:
    assert mcnemar_exact(one, other) == p


@given(st.integers(0, 1500), st.integers(0, 1500))
def test_mcnemar_is_the_binomial_test_of_scipy(one: int, other: int) -> None:
    stats = pytest.importorskip("scipy.stats")

    expected = stats.binomtest(one, one + other).pvalue if one + other else 1.0

    # far out scipy gives 0: for 10 and 1065, where exact fractions say 2.7e-300, as this function does
    assert mcnemar_exact(one, other) == pytest.approx(expected, rel=1e-9, abs=1e-250)


def test_counts_of_disagreements_cannot_be_negative() -> None:
    with pytest.raises(UsageError, match="negative: -1 and 2"):
        mcnemar_exact(-1, 2)
