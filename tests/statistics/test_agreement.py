"""Coefficients of agreement; `tests/studies/test_agree_properties.py` compares them with other programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import permutations

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
Items = list[list[str | None]]


def tally_of(rows: Items) -> Counter[tuple[int, str, str]]:
    """Ordered pairs of values with the number of annotators of their item."""
    tally: Counter[tuple[int, str, str]] = Counter()
    for row in rows:
        present = [value for value in row if value is not None]
        if len(present) > 1:
            for c, k in permutations(present, 2):
                tally[len(present), c, k] += 1
    return tally


@given(
    st.lists(st.lists(st.sampled_from([*VALUES, None]), min_size=4, max_size=4), min_size=1, max_size=20),
    st.sampled_from(VALUES),
)
def test_alpha_of_a_value_is_alpha_of_this_value_against_all_others(rows: Items, value: str) -> None:
    joined = [[one if one in (value, None) else "other" for one in row] for row in rows]

    assert krippendorff_by_value(coincidences(tally_of(rows))).get(value) == pytest.approx(
        krippendorff(coincidences(tally_of(joined)))
    )


@pytest.mark.parametrize("coefficient", [observed, kappa, scott_pi])
def test_coefficients_of_no_items_are_undefined(coefficient: Callable[..., float | None]) -> None:
    assert coefficient({}) is None


def test_coefficients_are_undefined_if_only_one_value_occurs() -> None:
    assert kappa({("a", "a"): 3}) is scott_pi({("a", "a"): 3}) is fleiss({("a", "a"): 6}, 3) is None
    assert krippendorff({("a", "a"): Fraction(3)}) is None
    assert krippendorff_by_value({("a", "a"): Fraction(3)})["a"] is None
    assert observed({("a", "a"): 3}) == 1


def test_unitizing_without_units_is_undefined() -> None:
    found = unitizing(Unitized({(None, None): Fraction(16)}, {}, {}))

    assert found == {"u": None, "binary": None, "cu": None, "cu_coverage": 0.0, "per_label": {}}
