"""Exact with a minimum overlap: one to one, as many pairs as possible, with most shared positions."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval import Span, UsageError, score
from clueval.core.exact import Exact
from clueval.core.one_to_one import best_pairs
from tests.cases import counted

RANGES = st.lists(
    st.builds(lambda start, length: (start, start + length), st.integers(0, 6), st.integers(0, 5)),
    max_size=5,
    unique=True,
)


def correct(gold: Any, predicted: Any, **settings: Any) -> tuple[int, int]:
    tally = counted(Exact(**settings), *([Span(*each, "A") for each in side] for side in (gold, predicted)))
    return tally["tp_gold", "A"], tally["tp_predicted", "A"]


def test_the_case_of_two_gold_spans_in_one_predicted() -> None:
    assert correct([(0, 4), (4, 6)], [(0, 6)], min_overlap=0.5) == (1, 1)
    assert correct([(0, 4), (4, 6)], [(0, 6)]) == (0, 0)


@pytest.mark.parametrize(
    ("least", "of", "true"), [(0.5, "gold", 1), (0.51, "gold", 0), (0.25, "union", 1), (0.26, "union", 0)]
)
def test_the_share_is_of_gold_or_of_both(least: float, of: str, true: int) -> None:
    assert correct([(0, 4)], [(2, 8)], min_overlap=least, overlap_of=of) == (true, true)


def test_labels_must_be_equal_and_fragments_share_positions() -> None:
    gap = Span.of_fragments([(0, 3), (7, 9)], "A")
    for other, true in ((Span(3, 7, "A"), 0), (Span(7, 9, "A"), 1), (Span(7, 9, "B"), 0)):
        tally = counted(Exact(min_overlap=0.4), [gap], [other])
        assert tally["tp_gold", "A"] == true


@given(RANGES, RANGES, st.sampled_from([0.01, 0.25, 0.5, 1.0]), st.sampled_from(["gold", "union"]))
def test_matches_are_the_best_of_all_matchings(gold: Any, predicted: Any, least: float, of: str) -> None:
    def worth(one: tuple[int, int], other: tuple[int, int]) -> int | None:
        shared = max(0, min(one[1], other[1]) - max(one[0], other[0]))
        size = one[1] - one[0] if of == "gold" else one[1] - one[0] + other[1] - other[0] - shared
        return shared if one == other or (shared and shared >= least * size) else None

    shorter, longer = sorted((gold, predicted), key=len)
    best = (0, 0)
    for order in permutations(longer, len(shorter)):
        pairs = [
            (one, two) if shorter is gold else (two, one) for one, two in zip(shorter, order, strict=True)
        ]
        worths = [each for each in (worth(*pair) for pair in pairs) if each is not None]
        best = max(best, (len(worths), sum(worths)))

    assert correct(gold, predicted, min_overlap=least, overlap_of=of) == (best[0], best[0])
    table = [{n: w for n, two in enumerate(predicted) if (w := worth(one, two)) is not None} for one in gold]
    chosen = best_pairs(table)
    assert (len(chosen), sum(table[one][two] for one, two in chosen.items())) == best


@pytest.mark.parametrize(
    "settings", [{"min_overlap": 0}, {"min_overlap": 1.5}, {"min_overlap": "x"}, {"overlap_of": "x"}]
)
def test_wrong_settings_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"Exact\.(min_overlap must be|overlap_of)"):
        Exact(**settings)


def test_the_signature_names_the_settings_only_if_they_are_set() -> None:
    sides = [["B-A"]], [["B-A"]]

    assert "metrics:exact|" in str(score(*sides, metrics="exact").signature)
    named = score(*sides, metrics=[Exact(min_overlap=0.5)]).signature
    assert "metrics:exact(min_overlap=0.5)|" in str(named)
    assert named.options()["metrics"] == [Exact(min_overlap=0.5)]


@pytest.mark.parametrize(
    ("share", "length", "of"), [(0.55, 55, 100), (0.07, 7, 100), (0.28, 7, 25), (0.14, 7, 50)]
)
def test_a_share_that_is_exactly_enough_is_enough(share: float, length: int, of: int) -> None:
    """The product of the share and the length, rounded, may be greater than the number of shared positions."""
    result = score([[(0, of, "A")]], [[(0, length, "A")]], metrics=[Exact(min_overlap=share)])

    assert result.get("exact.label.micro.tp_gold") == 1
