"""Sentences of parallel passages of any number of sides: those that differ, and their columns."""

from __future__ import annotations

from collections import Counter
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest
from corpora import write
from hypothesis import given
from hypothesis import strategies as st

from clueval.clusters.bag import Bag
from clueval.clusters.places import DifferingRows
from clueval.clusters.rows import IrregularRows, ParallelSentences, differing
from clueval.formats.columns.layout import ColumnOptions, Layout, layout_of
from clueval.formats.columns.passages import Passage
from clueval.formats.columns.sizes import SIZES, Sizes
from clueval.reading.read_options import ReadOptions
from clueval.reading.source import source_of

TAG = st.sampled_from(["O", "O", "B-X", "I-X"])
SIDES = st.integers(1, 4).flatmap(
    lambda sides: st.lists(st.lists(st.tuples(*[TAG] * sides), min_size=1, max_size=6), max_size=8)
)
"""Sentences of rows, each with the tag of every side."""


def layout(line: str = "w\tO", **options: Any) -> Layout:
    return layout_of(line, "\t", ColumnOptions({"x": line.count("\t") + 1}, **options), True, "f", 1)


def passage(*sentences: str, of: Layout | None = None) -> Passage:
    return Passage(
        "f",
        "d",
        {},
        of or layout(),
        0,
        True,
        tokens=sum(each.count("\n") for each in sentences),
        sentences=list(sentences),
        heads=[""] * len(sentences),
        anchors=[(0, 0, 1)],
    )


def passages(sentences: list[list[tuple[str, ...]]]) -> list[Passage]:
    """A passage of each side."""
    sides = len(sentences[0][0])
    return [
        passage(*("".join(f"w{n}\t{row[side]}\n" for n, row in enumerate(rows)) for rows in sentences))
        for side in range(sides)
    ]


@given(SIDES.filter(bool), st.sampled_from([SIZES, Sizes(rows=2, characters=9)]), st.booleans())
def test_clusters_are_those_of_all_rows_at_any_size(sentences: Any, sizes: Sizes, in_order: bool) -> None:
    waiting, sides = ParallelSentences(sizes, in_order=in_order), len(sentences[0][0])
    found, expected = (Bag(sides, layers=1) for _ in range(2))
    expected.characters = found.characters

    for some in (sentences[:1], sentences[1:]):
        if some:
            waiting.add(passages(some))
    assert waiting.number == len(sentences)
    for tables in waiting.tables():
        columns = [table.tags()["x"] for table in tables]
        assert len(columns) in ({sides} if in_order else {1, sides})
        found.add(
            found.text_of_same(columns)
            if len(columns) == 1
            else found.text(zip(repeat(1), *columns, strict=False))
        )
    for rows in sentences:
        expected.add(expected.text((1, *row) for row in rows) + " ")

    assert found.take() == expected.take()
    assert waiting.number == 0
    assert not list(waiting.tables())


@given(SIDES.filter(bool))
def test_places_are_those_of_the_rows_that_differ(sentences: Any) -> None:
    rows = DifferingRows(passages(sentences))
    found = Bag(len(sentences[0][0]), layers=1)

    places = list(rows.clusters(found.text(rows.rows(["x"]))))

    position, expected = 0, []
    for of_sentence in sentences:
        text = found.text((1, *row) for row in of_sentence)
        if any(len(set(row)) > 1 for row in of_sentence):
            at = 0
            for cluster in text.split():
                at = text.index(cluster, at)
                expected.append((cluster, position + at))
                at += len(cluster)
        position += len(of_sentence)
    assert places == expected
    assert Counter(rows.same.tags["x"])["O"] >= sum(
        all(len(set(row)) == 1 for row in of_sentence) for of_sentence in sentences
    )


def test_sentences_that_differ_on_any_side_are_told() -> None:
    one, other = "a\tO\n", "a\tB-X\n"

    assert differing([passage(one, other, one)] * 3) == [False, False, False]
    assert differing([passage(one, other, one), passage(one, other, other)]) == [False, False, True]
    assert differing([passage(one, one), passage(one, one), passage(other, one)]) == [True, False]
    three = layout("w\tO\tO")
    for layers, expected in ((three.layers, False), ((("x", 1),), True)):
        sides = [passage("a\tO\tO\n", of=each) for each in (three, three._replace(layers=layers))]
        assert differing(sides) == [expected]


@pytest.mark.parametrize(
    ("sides", "said"),
    [
        ([("a\tO\n",), ("a\tO\n", "a\tO\n")], "different numbers of sentences"),
        ([("a\tO\n",), ("a\tO\n",), ("a\tO\nb\tO\n",)], "sentences of different lengths"),
        ([("a\tO\n",), ("a\tO\n",), ("b\tO\n",)], "different tokens"),
        ([("a\tO\n",), ("a\tO\tO\n",)], "a line does not fit"),
        ([("a\tO\tO\n",)] * 2, "a line does not fit"),
    ],
)
def test_irregular_passages_are_refused(sides: list[tuple[str, ...]], said: str) -> None:
    waiting = ParallelSentences(SIZES)

    def split() -> None:
        waiting.add([passage(*of_side) for of_side in sides])
        list(waiting.tables())

    with pytest.raises(IrregularRows, match=f"^{said}$"):
        split()


@pytest.mark.parametrize(
    ("ids", "is_error"), [((1, 1, 1), False), ((1, 1, 2), True), ((1, None, 1), False), ((None, 1, 2), True)]
)
def test_token_ids_are_compared_where_sides_have_them(
    tmp_path: Path, ids: tuple[int | None, ...], is_error: bool
) -> None:
    tags = iter(["O", "B-X", "I-X"])
    waiting, found = ParallelSentences(SIZES), []
    for number, id in enumerate(ids):
        line = f"{f'{id} ' if id else ''}w {next(tags)}\n\n"
        options = ReadOptions(token_id=1, token=2) if id else ReadOptions()
        found += source_of(write(tmp_path / f"{number}.conll", line), options).passages()

    waiting.add(found)

    if is_error:
        with pytest.raises(IrregularRows, match=r"^different token ids$"):
            list(waiting.tables())
    else:
        (tables,) = waiting.tables()
        assert [table.tags()["label"][0] for table in tables] == ["O", "B-X", "I-X"]
