"""The metrics of the core against the first edition, on random corpora; see `tests/second/compare.py`."""

from __future__ import annotations

from random import Random

import pytest

from clueval.core.exact import Exact
from clueval.core.levels import Levels
from clueval.first.metrics.exact import Exact as FirstExact
from tests.second.compare import Setting, compare, difference, disagreements


def settings(random: Random) -> Setting:
    if random.random() < 0.3:
        return "levels", Levels()
    least, of = random.choice([None, 0.3, 0.5, 1]), random.choice(["gold", "union"])
    return FirstExact(min_overlap=least, overlap_of=of), Exact(least, of)


@pytest.mark.parametrize("seed", range(4))
def test_exact_and_levels_equal_the_first_edition(seed: int) -> None:
    found = compare(settings, 30, seed)

    assert disagreements(found) == []


def test_a_difference_is_named_by_its_path() -> None:
    assert difference({"a": {"b": 1}, "c": 0}, {"a": {"b": 1}, "c": 0.0}) == ".c: 0, 0.0"
