"""Which leaks a page may show, found out while documents come."""

from __future__ import annotations

from random import Random

import pytest

from clueval import Document, Span, masking
from clueval.studies.masking.collector import MOST_LEAKS, FirstPlaces
from clueval.studies.masking.leak import NO_EXCERPT


@pytest.mark.parametrize("seed", range(20))
def test_the_first_keys_of_all_are_among_those_that_may_be(seed: int) -> None:
    random = Random(seed)
    keys = random.choices(range(60), k=random.randrange(80))
    first = FirstPlaces(5)
    found = [key for key in keys if first.may_have(key)]

    assert sorted(found)[:5] == sorted(keys)[:5]


def test_keys_that_cannot_be_among_the_first_are_not_kept() -> None:
    first = FirstPlaces(5)

    assert sum(map(first.may_have, range(1000))) == 10


def test_leaks_that_a_page_shows_have_their_text_around_them_and_most_others_have_none() -> None:
    tokens = ["Anna"] * (MOST_LEAKS // 2)
    leaking = [Document(f"d{n}", {"x": [Span(0, 1, "A")]}, tokens=tokens) for n in range(9)]
    masked = [Document(f"d{n}", {"x": []}, tokens=tokens) for n in range(9)]

    leaks = masking(leaking, masked).string_leaks

    assert len(leaks) == 9 * (MOST_LEAKS // 2 - 1)
    assert all(leak.context for leak in leaks[:MOST_LEAKS])
    assert leaks[-1].excerpt == NO_EXCERPT
