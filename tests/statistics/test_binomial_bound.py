"""The upper bound of a share, against scipy's beta distribution."""

from __future__ import annotations

import math

import pytest

from clueval.exceptions import UsageError
from clueval.statistics.proportions import upper_bound


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
