from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from clueval.evaluation.lockstep.tag_runs import BORDER, Patterns, Rows
from clueval.formats.columns.layout import ColumnOptions, Layout, layout_of
from clueval.formats.columns.sizes import Sizes

LAYOUT = layout_of("w\tO", "\t", ColumnOptions(), True, "f", 1)


def rows(patterns: list[list[str]]) -> Rows:
    text = "".join(f"w\t{tag}\n" for pattern in patterns for tag in [*pattern, BORDER.decode()])
    return Rows.of(text.encode(), LAYOUT)


def occurrences(tags: list[str]) -> list[str]:
    """The patterns of a column in which they are parted by an O."""
    return [pattern for pattern in " ".join(tags).split(" O ") if pattern]


PATTERNS = st.lists(st.lists(st.sampled_from(["B-X", "I-X", "B-Y"]), min_size=1, max_size=3))


@given(PATTERNS)
def test_every_pattern_is_compared_as_often_as_it_occurs(given: list[list[str]]) -> None:
    patterns = Patterns(LAYOUT, merge=False)
    patterns.add_same(rows(given))

    found: Counter[str] = Counter()
    for columns in patterns.take(100):
        for pattern in occurrences(columns.same["label"]):
            found[pattern] += columns.times

    assert found == Counter(map(" ".join, given))


@given(PATTERNS)
def test_the_tokens_of_all_columns_are_all_tokens(given: list[list[str]]) -> None:
    patterns = Patterns(LAYOUT, merge=False)
    patterns.add_disputed(rows(given), rows([["B-Z" for _ in pattern] for pattern in given]))

    assert sum(columns.times * columns.tokens for columns in patterns.take(500)) == 500


def test_patterns_that_differ_stay_in_pairs() -> None:
    patterns = Patterns(LAYOUT, merge=False)
    patterns.add_disputed(rows([["B-X", "I-X"]] * 3), rows([["B-X", "B-X"]] * 3))

    once, twice, rest = patterns.take(6)

    assert once.disputed == twice.disputed == ({"label": ["B-X", "I-X"]}, {"label": ["B-X", "B-X"]})
    assert [once.times, twice.times, rest.tokens] == [1, 2, 0]


def test_layers_are_counted_apart_unless_they_are_merged() -> None:
    layout: Layout = layout_of("w\tO\tO", "\t", ColumnOptions({"x": 2, "y": 3}), True, "f", 1)
    lines = Rows.of(b"w\tB-X\tO\nw\t%s\t%s\n" % (BORDER, BORDER), layout)

    apart, merged = Patterns(layout, merge=False), Patterns(layout, merge=True)
    for patterns in (apart, merged):
        patterns.add_same(lines)

    assert [columns.same for columns in apart.take(1)] == [{"x": ["B-X"]}, {"x": []}, {"y": ["O"]}, {"y": []}]
    assert [columns.same for columns in merged.take(1)] == [{"x": ["B-X"], "y": ["O"]}, {"x": [], "y": []}]


def test_long_patterns_are_counted_before_they_are_too_many() -> None:
    patterns = Patterns(LAYOUT, False, Sizes(run_bytes=10))
    assert not patterns.are_many

    patterns.add_same(rows([["B-X", "I-X", "I-X"]]))
    assert patterns.are_many
    list(patterns.take(3))
    assert not patterns.are_many


def test_what_was_taken_is_gone() -> None:
    patterns = Patterns(LAYOUT, merge=False)
    patterns.add_same(rows([["B-X"]]))

    list(patterns.take(1))

    assert [columns.same for columns in patterns.take(0)] == [{"label": []}]
