from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from itertools import groupby, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval.evaluation.lockstep.hunks import Differences, find_differences, fits, is_plain, outside_test
from clueval.evaluation.lockstep.tag_runs import Rows
from clueval.formats.columns.layout import ColumnOptions, Layout, layout_of


def layout(line: str = "w\tO", layers: dict[str, int] | None = None, token: int | None = None) -> Layout:
    return layout_of(line, "\t", ColumnOptions(layers, token), True, "f", 1)


def lines(*rows: str) -> list[bytes]:
    return [row.replace("/", "\t").encode() for row in rows]


def found(rows: Rows) -> list[str]:
    """The rows as they are written here."""
    width = rows.layout.width
    return [b"/".join(rows.fields[n : n + width]).decode() for n in range(0, len(rows.fields), width)]


GOLD = lines("a/O", "b/B-X", "c/O", "d/B-Y", "e/I-Y", "f/O", "g/O")
PREDICTED = lines("a/O", "b/B-X", "c/O", "d/B-Y", "e/O", "f/O", "g/O")


def differences(gold: list[bytes], predicted: list[bytes], end: bytes = b"\n") -> Differences:
    of_both = find_differences(gold, predicted, end, layout())
    assert of_both is not None
    return of_both


def test_hunk_of_the_example_in_the_docstring() -> None:
    same, gold, predicted = differences(GOLD, PREDICTED)

    assert found(gold) == ["d/B-Y", "e/I-Y", "O/O"]
    assert found(predicted) == ["d/B-Y", "e/O", "O/O"]
    assert found(same) == ["O/B-X", "O/O"]


def test_hunks_of_sentences_end_with_the_sentence() -> None:
    gold = lines("a/B-X", "a/B-X\nb/I-X", "a/B-X\nb/O")
    predicted = lines("a/B-X", "a/B-X\nb/I-Y", "a/B-X\nb/O")

    same, of_gold, of_predicted = differences(gold, predicted, b"\n\n")

    assert found(of_gold) == ["a/B-X", "b/I-X", "O/O"]
    assert found(of_predicted) == ["a/B-X", "b/I-Y", "O/O"]
    assert found(same) == ["O/B-X", "O/O", "O/B-X", "O/O"]


@pytest.mark.parametrize(
    "line", ["a", "a/O/O", "x/O", "/O", "a/O\r", "a/O\0", "a/B-\udcff"], ids=ascii
)  # in place of a/O
def test_lines_that_differ_in_more_than_tags_have_no_differences(line: str) -> None:
    predicted = [line.replace("/", "\t").encode("utf-8", "surrogateescape"), *PREDICTED[1:]]

    assert find_differences(GOLD, predicted, b"\n", layout()) is None
    assert find_differences(GOLD, predicted[1:], b"\n", layout()) is None


@pytest.mark.parametrize("text", ["a\n", "a\tO\tO\n", "a\tO\nb\n", "a\nb\tO\tO\n", "\tO\n", "a\tO\n\tO\n"])
def test_lines_with_another_number_of_fields_do_not_fit(text: str) -> None:
    assert not fits(text.encode(), layout())
    assert fits(b"a\tO\nb\tB-X\n", layout())


def test_layout_is_plain_if_the_token_is_first_and_the_layers_are_adjacent() -> None:
    assert is_plain(layout("a\tb\tc\td", {"y": 3, "x": 2}))
    assert not is_plain(layout("a\tb\tc\td", {"y": 4, "x": 2}))
    assert not is_plain(layout("a\tb\tc\td", {"x": 3}, token=2))


@pytest.mark.parametrize(
    ("line", "is_outside"),
    [("a/O/O/x", True), ("a/O/B-X/x", False), ("a/B-X/O/x", False), ("<s>", True), ("", True)],
)
def test_line_is_outside_if_all_its_tags_are_or_it_has_none(line: str, is_outside: bool) -> None:
    text = line.replace("/", "\t").encode()

    assert outside_test(layout("a\tb\tc\td", {"x": 2, "y": 3}))(text) == is_outside
    assert outside_test(layout("a\tb\tc", {"x": 2, "y": 3}))(text.removesuffix(b"\tx")) == is_outside


TAGS = st.lists(st.tuples(*[st.sampled_from(["O", "O", "B-X", "I-X"])] * 2), max_size=12)


@given(TAGS)
def test_differences_keep_the_tags_of_all_lines_that_are_not_outside(tags: list[tuple[str, str]]) -> None:
    sides = [lines(*(f"w/{pair[side]}" for pair in tags)) for side in (0, 1)]

    same, gold, predicted = differences(*sides)

    pairs = [*zip(same.column(1), same.column(1), strict=True)]
    pairs += zip(gold.column(1), predicted.column(1), strict=True)
    kept = [tuple(map(bytes.decode, pair)) for pair in pairs if pair != (b"O", b"O")]
    assert sorted(kept) == sorted(pair for pair in tags if pair != ("O", "O"))


def runs_of(rows: Rows, layout: Layout) -> list[tuple[str, ...]]:
    """The runs of rows in spans, each with the tags of its layers as they are written in a line."""
    found = []
    tags = [rows.column(column) for _, column in layout.layers]
    lines = b"\n".join(map(b"/".join, zip(*tags, strict=True))).decode().split("\n")
    outside = "/".join("O" for _ in layout.layers)
    for is_outside, run in groupby(lines, outside.__eq__):
        if not is_outside and any(run_lines := list(run)):
            found.append(tuple(run_lines))
    return sorted(found)


def expected_runs(sides: Sequence[Sequence[tuple[str, str]]]) -> tuple[list[Any], list[Any], list[Any]]:
    """The same, found one row at a time: runs of rows in spans of a sentence, which differ or are the same."""
    same, gold, predicted = [], [], []
    for is_outside, rows in groupby(zip(*sides, strict=True), lambda pair: pair == (("O", "O"), ("O", "O"))):
        if not is_outside:
            own, other = zip(*rows, strict=True)
            if own == other:
                same.append(own)
            else:
                gold.append(own)
                predicted.append(other)
    return same, gold, predicted


def split(runs: Iterable[Sequence[tuple[str, str]]], number: int) -> list[tuple[str, ...]]:
    """The runs of the first `number` layers: a row whose tags are O there parts them."""
    found = []
    for run in runs:
        for is_outside, rows in groupby(run, lambda row: set(row[:number]) == {"O"}):
            if not is_outside:
                found.append(tuple("/".join(row[:number]) for row in rows))
    return sorted(found)


@pytest.mark.parametrize(("before", "layers", "after"), [*product((1, 2), (1, 2), (0, 1, 2))])
@pytest.mark.parametrize("end", [b"\n", b"\n\n"])
def test_differences_are_those_that_are_found_one_row_at_a_time(
    before: int, layers: int, after: int, end: bytes
) -> None:
    rng = random.Random(f"{before} {layers} {after}")
    of_file = layout(
        "\t".join("w" * (before + layers + after)),
        {"x": before + 1, "y": before + 2} if layers == 2 else {"x": before + 1},
    )
    second = ("O", "O", "B-Y") if layers == 2 else ("O",)
    sides: tuple[list[bytes], list[bytes]] = ([], [])
    expected: tuple[list[Any], list[Any], list[Any]] = ([], [], [])
    for number in range(40):
        lengths = rng.randint(1, 9)
        own = [(rng.choice(("O", "O", "B-X", "I-X")), rng.choice(second)) for _ in range(lengths)]
        other = [(rng.choice(("O", "B-X")), rng.choice(second)) if rng.random() < 0.1 else row for row in own]
        for side, rows in zip(sides, (own, other), strict=True):
            fields = [[f"O{number}"] * before + [*row][:layers] + ["O"] * after for row in rows]
            side += [b"\n".join("\t".join(line).encode() for line in fields)]
        for found, more in zip(expected, expected_runs((own, other)), strict=True):
            found += more
    gold, predicted = sides
    if end == b"\n":  # the lines of one sentence; an outside line parts the runs
        outside = b"\t".join([b"w"] * before + [b"O"] * (layers + after))
        gold, predicted = (
            [line for piece in side for line in (*piece.split(b"\n"), outside)] for side in sides
        )

    of_both = find_differences(gold, predicted, end, of_file)

    assert of_both is not None
    for rows, runs in zip(of_both, expected, strict=True):
        assert runs_of(rows, of_file) == split(runs, layers)
