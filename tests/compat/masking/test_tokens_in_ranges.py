"""Tokens in ranges that may lie in each other, against a search in each range."""

from __future__ import annotations

import re
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from clueval.compat.masking.program import TextTokens

PLACES = st.integers(0, 14)


@given(st.text("ab- ", max_size=14), st.lists(st.tuples(PLACES, PLACES), max_size=6))
def test_tokens_in_ranges_are_those_of_a_search_in_each(text: str, ranges: list[tuple[int, int]]) -> None:
    ranges = [(min(start, len(text)), min(end, len(text))) for start, end in ranges]
    pattern = re.compile("[a-z]+")

    found = dict(TextTokens(pattern, text).within(ranges))

    assert found == Counter(match.span() for one in ranges for match in pattern.finditer(text, *one))
