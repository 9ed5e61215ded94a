"""Weights from keys, exact sums under all of them, bootstrap intervals, randomisation."""

from __future__ import annotations

from collections import Counter
from hashlib import shake_128
from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval.files.errors import UsageError
from clueval.statistics import bca, bca_levels, percentile
from clueval.statistics.resampling import (
    BOOTSTRAP,
    SWAP,
    all_swapped_sums,
    exact_p,
    sampled_p,
    weighted_sums,
    weights_of,
)

ROWS = st.lists(st.dictionaries(st.integers(0, 2), st.integers(1, 50)), max_size=8)


def test_the_weights_of_a_key_follow_from_its_hash() -> None:
    digest = shake_128(b"clueval-1\nbootstrap\n12345\nd1").digest(50)
    limits = (94, 189, 235, 251, 255)

    expected = [sum(byte >= limit for limit in limits) for byte in digest]
    assert list(weights_of("d1", BOOTSTRAP, 50, 12345)) == expected


def test_the_coins_of_a_key_are_the_lowest_bits_of_another_stream() -> None:
    digest = shake_128(b"clueval-1\nswap\n7\nd1").digest(50)

    assert list(weights_of("d1", SWAP, 50, 7)) == [byte & 1 for byte in digest]


@given(ROWS, st.sampled_from([1, 10**6, 10**9]))
def test_sums_are_those_of_single_weights(rows: list[dict[int, int]], factor: int) -> None:
    keyed = [
        (f"d{number}", {column: count * factor for column, count in row.items()})
        for number, row in enumerate(rows)
    ]

    sums = weighted_sums(keyed, 3, BOOTSTRAP, 20, 12345)

    for column, found in enumerate(sums):
        expected = [
            sum(weights_of(key, BOOTSTRAP, 20, 12345)[b] * row.get(column, 0) for key, row in keyed)
            for b in range(20)
        ]
        assert list(found) == expected


@pytest.mark.parametrize(
    ("count", "message"),
    [(0.5, "whole numbers from 0"), (-1, "whole numbers from 0"), (1 << 62, "too large to be resampled")],
)
def test_sums_of_counts_that_are_not_whole_or_too_large_are_refused(count: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        weighted_sums([("d", {0: count})], 1, BOOTSTRAP, 5, 1)


def test_ends_of_a_percentile_interval_are_order_statistics() -> None:
    assert percentile(list(range(9_999)), 0.95) == (249, 9_749)
    assert percentile([3, 1, 2], 0.95) == (1, 3)


@given(st.lists(st.integers(0, 40), min_size=10, max_size=30), st.floats(0.2, 0.8))
def test_levels_of_bca_are_those_of_scipy(sample: list[int], place: float) -> None:
    stats = pytest.importorskip("scipy.stats")
    numpy = pytest.importorskip("numpy")
    if len(set(sample)) < 2:
        return
    score = sum(sample) / len(sample)
    grid = numpy.linspace(score - place, score - place + 1, 1_001)  # on which a quantile is its own level
    given = SimpleNamespace(bootstrap_distribution=grid)

    expected = stats.bootstrap(
        (sample,), numpy.mean, n_resamples=0, bootstrap_result=given, method="BCa", vectorized=False
    ).confidence_interval

    without = [(sum(sample) - value) / (len(sample) - 1) for value in sample]
    levels = bca_levels(grid.tolist(), score, without)
    assert levels == pytest.approx([float(end - grid[0]) for end in expected], abs=1e-9)


def test_bca_of_a_symmetrical_bootstrap_is_the_percentile_interval() -> None:
    resampled = [number / 1_000 for number in range(1_001)]

    assert bca_levels(resampled, 0.5, [0.4, 0.5, 0.6]) == pytest.approx((0.025, 0.975))
    assert bca(resampled, 0.5, [0.4, 0.5, 0.6]) == percentile(resampled)


def test_bca_takes_scores_that_differ_by_rounding_as_equal() -> None:
    exact = [0.1, 0.3, 0.3, 0.3, 0.5]
    rounded = [0.1, 0.1 + 0.2, 0.1 + 0.2, 0.3, 0.5]

    assert bca_levels(rounded, 0.3, [0.2, 0.3, 0.4]) == bca_levels(exact, 0.3, [0.2, 0.3, 0.4])


def test_bca_refuses_resamples_on_one_side() -> None:
    with pytest.raises(UsageError, match="the bias is infinite"):
        bca([0.5, 0.6], 0.4, [0.4, 0.5])


@given(st.lists(st.integers(-5, 5), max_size=6))
def test_all_swaps_are_all_subsets(numbers: list[int]) -> None:
    subsets = [
        sum(number for number, chosen in zip(numbers, choice, strict=True) if chosen)
        for choice in product((False, True), repeat=len(numbers))
    ]

    assert Counter(all_swapped_sums(numbers)) == Counter(subsets)


def test_ties_count_against_the_difference() -> None:
    assert exact_p(0.1, [0.1, -0.1, 0.1 + 1e-16, 0.0]) == 0.75
    assert sampled_p(0.1, [0.1, 0.0, 0.05]) == 0.5


@given(st.lists(st.integers(-9, 9), min_size=2, max_size=9))
def test_exact_p_is_that_of_scipy(differences: list[int]) -> None:
    stats = pytest.importorskip("scipy.stats")

    expected = stats.permutation_test(
        (differences, [0] * len(differences)),
        lambda one, other: float(sum(one) - sum(other)),
        permutation_type="samples",
        n_resamples=10**6,
    ).pvalue

    swapped = [sum(differences) - 2 * taken for taken in all_swapped_sums(differences)]
    assert exact_p(sum(differences), swapped) == pytest.approx(expected)
