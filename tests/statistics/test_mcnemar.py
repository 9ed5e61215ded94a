"""McNemar's exact test."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval.exceptions import UsageError
from clueval.statistics import mcnemar_exact


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
