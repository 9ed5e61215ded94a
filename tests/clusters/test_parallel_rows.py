"""Sentences of parallel passages of any number of sides: those that differ, and their columns."""

from __future__ import annotations

from collections import Counter
from itertools import chain, repeat
from pathlib import Path
from typing import Any
from unittest.mock import patch
from weakref import ref

import pytest
from corpora import write
from hypothesis import given
from hypothesis import strategies as st

from clueval.clusters.bag import Bag
from clueval.clusters.rows import IrregularRows, ParallelRows, differing, in_batches
from clueval.formats.columns.layout import SIZES, ColumnOptions, Layout, Sizes, layout_of
from clueval.formats.columns.passages import Passage
from clueval.reading.read_options import ReadOptions
from clueval.reading.source import source_of

TAG = st.sampled_from(["O", "O", "B-X", "I-X"])


def sentences_of(sides: int) -> Any:
    """Sentences of rows, each with the tag of every side."""
    return st.lists(st.lists(st.tuples(*[TAG] * sides), min_size=1, max_size=6), max_size=8)


SIDES = st.integers(1, 4).flatmap(sentences_of)
SIDES_OF_THREE = sentences_of(3)


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


@given(
    st.lists(SIDES_OF_THREE.filter(bool), min_size=1, max_size=4),
    st.booleans(),
    st.sampled_from([1, 9, SIZES.characters]),
)
def test_clusters_are_those_of_all_rows(groups: Any, in_order: bool, characters: int) -> None:
    found, expected = (Bag(3, layers=1) for _ in range(2))
    expected.characters = found.characters

    with patch("clueval.formats.columns.documents.SIZES", Sizes(characters=characters)):
        differing_and_same = list(ParallelRows(list(map(passages, groups)), in_order=in_order).tags())
    for _, tags in differing_and_same:
        assert len(tags) in ({3} if in_order else {1, 3})
        found.add(
            found.text_of_same(tags) if len(tags) == 1 else found.text(zip(repeat(1), *tags, strict=False))
        )
    for of_sentence in chain.from_iterable(groups):
        expected.add(expected.text((1, *row) for row in of_sentence) + " ")

    assert found.take() == expected.take()


@given(SIDES.filter(bool))
def test_places_are_those_of_the_rows_that_differ(sentences: Any) -> None:
    found = Bag(len(sentences[0][0]), layers=1)

    rows = ParallelRows([passages(sentences)] * 2)
    text = found.text(rows.rows(["x"]))
    places, again = (list(part.clusters(text)) for part in rows.parts)

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
    assert places == again == expected
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
        ([("a\tO\n",), ("a\tO\tO\n",)], "a line does not fit"),
        ([("a\tO\tO\n",)] * 2, "a line does not fit"),
    ],
)
def test_irregular_passages_are_refused(sides: list[tuple[str, ...]], said: str) -> None:
    with pytest.raises(IrregularRows, match=f"^{said}$"):
        list(ParallelRows([[passage(*of_side) for of_side in sides]]).tags())


@pytest.mark.parametrize(
    ("ids", "is_error"), [((1, 1, 1), False), ((1, 1, 2), True), ((1, None, 1), False), ((None, 1, 2), True)]
)
def test_token_ids_are_compared_where_sides_have_them(
    tmp_path: Path, ids: tuple[int | None, ...], is_error: bool
) -> None:
    tags = iter(["O", "B-X", "I-X"])
    found: list[Passage] = []
    for number, id in enumerate(ids):
        line = f"{f'{id} ' if id else ''}w {next(tags)}\n\n"
        options = ReadOptions(token_id=1, token=2) if id else ReadOptions()
        found += source_of(write(tmp_path / f"{number}.conll", line), options).passages()

    rows = ParallelRows([found])

    assert rows.have_one_text() is not is_error
    assert [columns.tags["label"][0] for columns in rows.columns] == ["O", "B-X", "I-X"]


def test_sides_with_different_tokens_have_not_one_text() -> None:
    assert not ParallelRows([[passage("a\tO\n"), passage("a\tO\n"), passage("b\tO\n")]]).have_one_text()


@pytest.mark.parametrize(
    ("line", "options", "one_by_one", "expected"),
    [
        ("w\tO", {}, False, [2, 2, 1]),
        ("w\tO", {}, True, [1] * 5),
        ("w\t1\tO", {"token_id": 1}, False, [1] * 5),
    ],
)
def test_passages_are_split_together_unless_they_have_token_ids(
    line: str, options: Any, one_by_one: bool, expected: list[int]
) -> None:
    groups = [[passage(f"{line}\n" * 5, of=layout(line, **options))]] * 5

    found = in_batches(groups, Sizes(rows=9), one_by_one=one_by_one)

    assert [len(rows.parts) for rows in found] == expected


@given(st.lists(st.integers(1, 4), min_size=1, max_size=5), st.data())
def test_lines_of_tokens_are_those_of_the_passage(sizes: list[int], data: st.DataObject) -> None:
    one, other = (passage(*(f"w\t{tag}\n" * size for size in sizes)) for tag in ("O", "B-X"))
    rows = [(sentence, row) for sentence, size in enumerate(sizes) for row in range(size)]
    places = data.draw(st.sets(st.sampled_from(rows)))
    begins = {(sentence, 0) for sentence in range(len(sizes))}
    one.anchors = [(*place, 1 + 20 * n) for n, place in enumerate(sorted(places | begins))]

    (part,) = ParallelRows([[one, other]]).parts

    assert [part.line_of(0, position) for position in range(sum(sizes))] == list(one.lines())


def test_rows_of_passages_are_freed_without_the_collector_of_cycles() -> None:
    rows = ParallelRows([[passage("a\tO\n"), passage("a\tB-X\n")]])
    part = ref(rows.parts[0])

    del rows

    assert part() is None
