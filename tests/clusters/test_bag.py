"""Clusters of rows: the same as those that a list of rows has, however the rows come."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval.clusters import bag
from clueval.clusters.bag import Bag, Row, RowCharacters, by_power
from clueval.files.errors import FormatError

OUTSIDE = (1, "O", "O")
ROWS = st.lists(st.sampled_from([OUTSIDE, OUTSIDE, (1, "B-X", "O"), (1, "I-X", "I-X"), (3, "I-X", "I-X")]))


def runs(rows: list[Row]) -> Counter[tuple[Row, ...]]:
    """The runs of rows between two that are outside every span, by taking the rows one by one."""
    return Counter(tuple(run) for is_outside, run in groupby(rows, OUTSIDE.__eq__) if not is_outside)


def rows_of(found: Bag, cluster: str) -> tuple[Row, ...]:
    *rows, last = zip(*found.characters.columns_of([cluster]), strict=True)
    assert last == OUTSIDE
    return tuple(rows)


@given(st.lists(ROWS))
def test_clusters_are_the_runs_of_rows_however_these_come(parts: list[list[Row]]) -> None:
    found = Bag(sides=2, layers=1)

    for part in parts:
        found.add(found.text(part))

    clusters = {rows_of(found, cluster): times for cluster, times in found.take().items()}
    assert clusters == runs([row for part in parts for row in part])
    assert not found.take()


@given(ROWS, ROWS)
def test_a_cluster_that_the_next_rows_may_continue_is_not_taken(first: list[Row], second: list[Row]) -> None:
    found = Bag(sides=2, layers=1)
    found.add(found.text(first))

    clusters = found.take(ends=False)
    assert found.is_open == bool(first and first[-1] != OUTSIDE)
    found.add(found.text(second))
    clusters.update(found.take())

    assert {rows_of(found, each): times for each, times in clusters.items()} == runs(first + second)


@pytest.mark.parametrize("sides", [1, 2, 3])
def test_tags_that_all_sides_have_are_those_of_each_side(sides: int) -> None:
    for columns in (["B-X", "O", "I-Y"],), (["B-X", "O", "O"], ["O", "O", "I-Z"]):
        found = Bag(sides, len(columns))
        rows = [(1, *row * sides) for row in zip(*columns, strict=True)]

        assert found.text_of_same(columns) == found.text(rows)
        assert found.text_of_same(columns)[1] == " "


def test_a_row_outside_every_span_is_a_blank_whatever_its_length() -> None:
    characters = RowCharacters(2)

    assert characters[7, "O", "O"] == characters[1, "O", "O"] == " "
    assert characters[7, "O", "B-X"] != characters[1, "O", "B-X"]


def test_new_tags_are_checked_once() -> None:
    seen: list[str] = []
    characters = RowCharacters(2, seen.append)

    for row in [(1, "B-X", "O")] * 2 + [(1, "O", "O")]:
        characters[row]

    assert seen == ["B-X", "O", "O", "O"]


def test_characters_are_no_surrogates_and_no_white_space() -> None:
    characters = RowCharacters(1)

    text = "".join(characters[1, f"B-{n}"] for n in range(0xB000))

    assert len(set(text)) == 0xB000
    assert text.encode().decode() == text
    assert text.split() == [text]


def test_more_rows_than_characters_are_refused() -> None:
    with patch.object(bag, "MOST", 3):
        characters = RowCharacters(1)
        assert len({characters[1, "B-X"], characters[1, "B-Y"], characters[1, "O"]}) == 3
        with pytest.raises(FormatError, match="more than 2 different combinations of tags"):
            characters[1, "B-Z"]


@given(st.dictionaries(st.text("abc", min_size=1), st.integers(1, 5000)))
def test_powers_of_two_sum_to_the_multiplicities(clusters: dict[str, int]) -> None:
    found: Counter[str] = Counter()
    for times, some in by_power(Counter(clusters)):
        assert times.bit_count() == 1
        for each in some:
            found[each] += times

    assert found == clusters


def test_clusters_are_examined_in_parts_of_limited_size() -> None:
    parts = list(by_power(Counter({str(n): 3 for n in range(9000)})))

    assert [(times, len(some)) for times, some in parts] == [
        *[(1, 4096), (1, 4096), (1, 808)],
        *[(2, 4096), (2, 4096), (2, 808)],
    ]
