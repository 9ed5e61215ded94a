from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from clueval.evaluation.lockstep.tag_runs import BORDER, Rows, TagRuns
from clueval.formats.columns.layout import ColumnOptions, Layout, layout_of
from clueval.formats.columns.sizes import Sizes

LAYOUT = layout_of("w\tO", "\t", ColumnOptions(), True, "f", 1)


def rows(tag_runs: list[list[str]]) -> Rows:
    text = "".join(f"w\t{tag}\n" for run in tag_runs for tag in [*run, BORDER.decode()])
    return Rows.of(text.encode(), LAYOUT)


def occurrences(tags: list[str]) -> list[str]:
    """The tag runs of a column in which they are parted by an O."""
    return [run for run in " ".join(tags).split(" O ") if run]


PATTERNS = st.lists(st.lists(st.sampled_from(["B-X", "I-X", "B-Y"]), min_size=1, max_size=3))


@given(PATTERNS)
def test_tag_runs_are_compared_as_often_as_they_occur(given: list[list[str]]) -> None:
    tag_runs = TagRuns(LAYOUT, merge=False)
    tag_runs.add_same(rows(given))

    found: Counter[str] = Counter()
    for columns in tag_runs.take(100):
        for run in occurrences(columns.same["label"]):
            found[run] += columns.times

    assert found == Counter(map(" ".join, given))


@given(PATTERNS)
def test_tokens_of_all_columns_are_all_tokens(given: list[list[str]]) -> None:
    tag_runs = TagRuns(LAYOUT, merge=False)
    tag_runs.add_disputed(rows(given), rows([["B-Z" for _ in run] for run in given]))

    assert sum(columns.times * columns.tokens for columns in tag_runs.take(500)) == 500


def test_tag_runs_that_differ_stay_in_pairs() -> None:
    tag_runs = TagRuns(LAYOUT, merge=False)
    tag_runs.add_disputed(rows([["B-X", "I-X"]] * 3), rows([["B-X", "B-X"]] * 3))

    once, twice, rest = tag_runs.take(6)

    assert once.disputed == twice.disputed == ({"label": ["B-X", "I-X"]}, {"label": ["B-X", "B-X"]})
    assert [once.times, twice.times, rest.tokens] == [1, 2, 0]


def test_layers_are_counted_separately_unless_they_are_merged() -> None:
    layout: Layout = layout_of("w\tO\tO", "\t", ColumnOptions({"x": 2, "y": 3}), True, "f", 1)
    lines = Rows.of(b"w\tB-X\tO\nw\t%s\t%s\n" % (BORDER, BORDER), layout)

    apart, merged = TagRuns(layout, merge=False), TagRuns(layout, merge=True)
    for tag_runs in (apart, merged):
        tag_runs.add_same(lines)

    assert [columns.same for columns in apart.take(1)] == [{"x": ["B-X"]}, {"x": []}, {"y": ["O"]}, {"y": []}]
    assert [columns.same for columns in merged.take(1)] == [{"x": ["B-X"], "y": ["O"]}, {"x": [], "y": []}]


def test_long_tag_runs_are_taken_before_there_are_too_many() -> None:
    tag_runs = TagRuns(LAYOUT, False, Sizes(run_bytes=10))
    assert not tag_runs.are_many

    tag_runs.add_same(rows([["B-X", "I-X", "I-X"]]))
    assert tag_runs.are_many
    list(tag_runs.take(3))
    assert not tag_runs.are_many


def test_tag_runs_are_taken_once() -> None:
    tag_runs = TagRuns(LAYOUT, merge=False)
    tag_runs.add_same(rows([["B-X"]]))

    list(tag_runs.take(1))

    assert [columns.same for columns in tag_runs.take(0)] == [{"label": []}]
