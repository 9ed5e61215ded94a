from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval.formats.column_format import Layout
from clueval.formats.xml_text import unescape
from clueval.reading.byte_reader import BOTH, TagCharacters, find_hunks, fits, is_plain
from clueval.reading.clusters import RowCharacters


def layout(line: str = "w\tO", layers: dict[str, int] | None = None, token: int | None = None) -> Layout:
    width = len(line.split("\t"))
    columns = {name: column - 1 for name, column in (layers or {"label": width}).items()}
    return Layout(width, "\t", (token or 1) - 1, columns)


def lines(*rows: str) -> list[bytes]:
    return [row.replace("/", "\t").encode() for row in rows]


def found(fields: list[bytes], width: int = 2) -> list[str]:
    """The rows as they are written here."""
    joined = (b"/".join(fields[n : n + width]) for n in range(0, len(fields), width))
    return [line.replace(BOTH, b"|").decode() for line in joined]


GOLD = lines("a/O", "b/B-X", "c/O", "d/B-Y", "e/I-Y", "f/O", "g/O")
PREDICTED = lines("a/O", "b/B-X", "c/O", "d/B-Y", "e/O", "f/O", "g/O")


def hunks(gold: list[bytes], predicted: list[bytes]) -> list[bytes]:
    of_both = find_hunks(gold, predicted, b"\n\n", layout(), marked=False)
    assert of_both is not None
    return of_both


def test_hunks_of_the_example_in_the_docstring() -> None:
    assert found(hunks([b"\n".join(GOLD)], [b"\n".join(PREDICTED)])) == [
        "O/B-X",
        "O/O",
        "O/B-Y",
        "e/I-Y|O",
        "O/O",
    ]


def test_lines_outside_every_span_have_no_hunks() -> None:
    assert hunks(lines("a/O", "b/O"), lines("a/O", "b/O")) == hunks([], []) == []


def test_hunks_end_with_the_sentence() -> None:
    gold = lines("a/B-X", "a/B-X\nb/I-X", "a/B-X\nb/O")
    predicted = lines("a/B-X", "a/B-X\nb/I-Y", "a/B-X\nb/O")

    same, different = ["O/B-X", "O/O"], ["O/B-X", "b/I-X|I-Y", "O/O"]
    assert found(hunks(gold, predicted)) == [*same, *same, *different]


@pytest.mark.parametrize(
    "line", ["a", "a/O/O", "x/O", "/O", "a/O\0", "a/B-\udcff"], ids=ascii
)  # in place of a/O
def test_lines_that_differ_in_more_than_tags_have_no_hunks(line: str) -> None:
    predicted = [line.replace("/", "\t").encode("utf-8", "surrogateescape"), *PREDICTED[1:]]

    assert find_hunks(GOLD, predicted, b"\n\n", layout(), marked=False) is None
    assert find_hunks([b"\n".join(GOLD)], [b"\n".join(predicted)], b"\n\n", layout(), marked=False) is None


def test_sentences_that_end_at_other_lines_have_no_hunks() -> None:
    gold, predicted = lines("a/O\na/O", "a/O\na/B-X"), lines("a/O", "a/O\na/O\na/O")

    assert find_hunks(gold, predicted, b"\n\n", layout(), marked=False) is None
    assert find_hunks(lines("a/O\na/O"), lines("a/B-X"), b"\n\n", layout(), marked=False) is None


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
    fields = hunks(*([b"\n".join(lines(*(f"w/{pair[side]}" for pair in tags)))] for side in (0, 1)))

    sides = (tag.split(BOTH) for tag in fields[1::2] if tag != b"O")
    kept = [(each[0].decode(), each[-1].decode()) for each in sides]
    assert kept == [pair for pair in tags if pair != ("O", "O")]


def runs_of(fields: list[bytes], of_file: Layout) -> list[tuple[str, ...]]:
    """The runs of rows in spans of either side, each with the tags of its layers as they are written here."""
    tags = [fields[column :: of_file.width] for column in of_file.layers.values() if isinstance(column, int)]
    written = [b"/".join(row).replace(BOTH, b"|").decode() for row in zip(*tags, strict=True)]
    return split(written, "/".join("O" for _ in tags))


def split(written: Iterable[str], outside: str) -> list[tuple[str, ...]]:
    """The runs of rows that are not outside, in any order."""
    return sorted(tuple(run) for is_outside, run in groupby(written, outside.__eq__) if not is_outside)


def joined(own: Sequence[str], other: Sequence[str]) -> str:
    """The tags of both sides of a row as they are written here."""
    return "/".join(one if one == two else f"{one}|{two}" for one, two in zip(own, other, strict=True))


@pytest.mark.parametrize(("before", "layers", "after"), [*product((1, 2, 3), (1, 2), (0, 1, 2))])
def test_hunks_are_those_that_are_found_one_row_at_a_time(before: int, layers: int, after: int) -> None:
    rng = random.Random(f"{before} {layers} {after}")
    of_file = layout(
        "\t".join("w" * (before + layers + after)),
        {"x": before + 1, "y": before + 2} if layers == 2 else {"x": before + 1},
    )
    second = ("O", "O", "B-Y")
    sides: tuple[list[bytes], list[bytes]] = ([], [])
    expected: list[tuple[str, ...]] = []
    for number in range(40):
        own = [(rng.choice(("O", "O", "B-X", "I-X")), rng.choice(second)) for _ in range(rng.randint(1, 9))]
        other = [(rng.choice(("O", "B-X")), rng.choice(second)) if rng.random() < 0.1 else row for row in own]
        for side, rows in zip(sides, (own, other), strict=True):
            fields = [[f"O{number}", *["B-Z"] * (before - 1), *row[:layers], *["O"] * after] for row in rows]
            side += [b"\n".join("\t".join(line).encode() for line in fields)]
        written = [joined(*(row[:layers] for row in pair)) for pair in zip(own, other, strict=True)]
        expected += split(written, "/".join("O" * layers))
    gold, predicted = sides

    of_both = find_hunks(gold, predicted, b"\n\n", of_file, marked=False)

    assert of_both is not None
    assert runs_of(of_both, of_file) == sorted(expected)
    assert len(of_both) // of_file.width == sum(
        len(run) + 1 for run in expected
    )  # a line that is outside follows each


@pytest.mark.parametrize(("decode", "label"), [(unescape, "<"), (None, "&lt;")])
def test_tags_of_one_or_both_sides_become_the_character_of_their_row(
    decode: Callable[[str], str] | None, label: str
) -> None:
    rows = RowCharacters(4)
    characters = TagCharacters(rows, "\t", decode=decode)

    tags = [b"O\tO", b"B-X\tO", b"B-X\0I-X\tO", b"O\tB-&lt;\0O", b"O\tO\0I-Y", b"B-x y\tO"]
    written = "".join(map(characters.__getitem__, tags))

    assert written[0] == " "
    assert list(map(rows.rows.__getitem__, written[1:])) == [
        (1, "B-X", "O", "B-X", "O"),
        (1, "B-X", "O", "I-X", "O"),
        (1, "O", f"B-{label}", "O", "O"),
        (1, "O", "O", "O", "I-Y"),
        (1, "B-x y", "O", "B-x y", "O"),
    ]
    assert characters[b"B-X\tO\0O"] == characters[b"B-X\tO"]
