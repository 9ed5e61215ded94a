from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval.evaluation.lockstep.hunks import find_hunks, fits, is_plain
from clueval.evaluation.lockstep.tag_runs import BOTH, Rows
from clueval.formats.columns.layout import ColumnOptions, Layout, layout_of


def layout(line: str = "w\tO", layers: dict[str, int] | None = None, token: int | None = None) -> Layout:
    return layout_of(line, "\t", ColumnOptions(layers, token), True, "f", 1)


def lines(*rows: str) -> list[bytes]:
    return [row.replace("/", "\t").encode() for row in rows]


def found(rows: Rows) -> list[str]:
    """The rows as they are written here."""
    width = rows.layout.width
    joined = (b"/".join(rows.fields[n : n + width]) for n in range(0, len(rows.fields), width))
    return [line.replace(BOTH, b"|").decode() for line in joined]


GOLD = lines("a/O", "b/B-X", "c/O", "d/B-Y", "e/I-Y", "f/O", "g/O")
PREDICTED = lines("a/O", "b/B-X", "c/O", "d/B-Y", "e/O", "f/O", "g/O")


def hunks(gold: list[bytes], predicted: list[bytes], end: bytes = b"\n") -> Rows:
    of_both = find_hunks(gold, predicted, end, layout())
    assert of_both is not None
    return of_both


def test_hunks_of_the_example_in_the_docstring() -> None:
    assert found(hunks(GOLD, PREDICTED)) == ["O/B-X", "O/O", "O/B-Y", "e/I-Y|O", "O/O"]


def test_hunks_end_with_the_sentence() -> None:
    gold = lines("a/B-X", "a/B-X\nb/I-X", "a/B-X\nb/O")
    predicted = lines("a/B-X", "a/B-X\nb/I-Y", "a/B-X\nb/O")

    same, different = ["O/B-X", "O/O"], ["O/B-X", "b/I-X|I-Y", "O/O"]
    assert found(hunks(gold, predicted, b"\n\n")) == [*same, *same, *different]


@pytest.mark.parametrize(
    "line", ["a", "a/O/O", "x/O", "/O", "a/O\r", "a/O\0", "a/B-\udcff"], ids=ascii
)  # in place of a/O
def test_lines_that_differ_in_more_than_tags_have_no_hunks(line: str) -> None:
    predicted = [line.replace("/", "\t").encode("utf-8", "surrogateescape"), *PREDICTED[1:]]

    assert find_hunks(GOLD, predicted, b"\n", layout()) is None
    assert find_hunks(GOLD, predicted[1:], b"\n", layout()) is None


@pytest.mark.parametrize("text", ["a\n", "a\tO\tO\n", "a\tO\nb\n", "a\nb\tO\tO\n", "\tO\n", "a\tO\n\tO\n"])
def test_lines_with_another_number_of_fields_do_not_fit(text: str) -> None:
    assert not fits(text.encode(), layout())
    assert fits(b"a\tO\nb\tB-X\n", layout())


def test_layout_is_plain_if_the_token_is_first_and_the_layers_are_adjacent() -> None:
    assert is_plain(layout("a\tb\tc\td", {"y": 3, "x": 2}))
    assert not is_plain(layout("a\tb\tc\td", {"y": 4, "x": 2}))
    assert not is_plain(layout("a\tb\tc\td", {"x": 3}, token=2))


TAGS = st.lists(st.tuples(*[st.sampled_from(["O", "O", "B-X", "I-X"])] * 2), max_size=12)


@given(TAGS)
def test_hunks_keep_the_tags_of_all_lines_that_are_not_outside(tags: list[tuple[str, str]]) -> None:
    rows = hunks(*(lines(*(f"w/{pair[side]}" for pair in tags)) for side in (0, 1)))

    sides = (tag.split(BOTH) for tag in rows.column(1) if tag != b"O")
    kept = [(each[0].decode(), each[-1].decode()) for each in sides]
    assert kept == [pair for pair in tags if pair != ("O", "O")]
