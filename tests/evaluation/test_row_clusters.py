"""Clusters of rows, each case by tags written out by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest
from corpora import write
from hypothesis import given
from hypothesis import strategies as st
from readings import LEVELS, parts_of, row_clusters

from clueval import Document, Span
from clueval.core.span import SIDES
from clueval.evaluation.engine import Evaluation
from clueval.evaluation.row_clusters import DocumentClusters
from clueval.files.errors import FormatError, TextMismatch
from clueval.first.metrics import metric_named
from clueval.formats.columns.layout import Sizes
from clueval.reading.read_options import ReadOptions
from clueval.reading.source import source_of
from clueval.spans.filters import SeenNames
from clueval.tagging.decoder import Decoder, decode
from clueval.tagging.schemes import neighbours_of
from clueval.transforms.group import Group

PLAN = LEVELS._replace(
    metrics=tuple(map(metric_named, ("levels", "exact", "fair", "partial", "gate", "muc", "confusion")))
)


def decoders(*layers: str) -> Any:
    return {(side, layer): Decoder(None, "conlleval") for side in SIDES for layer in layers}


def counts_of_documents(merge: bool, *columns: Sequence[str]) -> Any:
    """The counts of two documents with the tags of two layers of gold, and of predicted."""
    evaluation = Evaluation(PLAN._replace(merge=merge), ["x", "y"])
    spans = [
        [Span(start, end, {layer: label}) for start, end, label in decode(tags)]
        for layer, tags in zip(["x", "y"] * 2, columns, strict=True)
    ]
    tokens = ["w"] * len(columns[0])
    tags = [dict(zip(("x", "y"), columns[side : side + 2], strict=True)) for side in (0, 2)]
    own, other = (
        Document("d", {"x": spans[side], "y": spans[side + 1]}, tokens=tokens, tags=tags[side // 2])
        for side in (0, 2)
    )
    evaluation.count_group(Group(own, other, ()))
    return {key: +tally for key, tally in evaluation.total.tallies.items() if +tally}


TAGS = st.sampled_from(["O", "O", "B-X", "I-X", "B-Y", "I-Y"])


@given(st.lists(st.tuples(TAGS, TAGS, TAGS, TAGS), min_size=1, max_size=30), st.booleans())
def test_rows_have_the_counts_of_their_document(rows: list[tuple[str, ...]], merge: bool) -> None:
    columns = list(zip(*rows, strict=True))
    plan, found = PLAN._replace(merge=merge), dict[Any, Any]()

    for places in [[0, 1]] if merge else [[0], [1]]:
        names = ["xy"[place] for place in places]
        clusters = row_clusters(names, decoders("x", "y"), plan)
        sides = [columns[place + side] for side in (0, 2) for place in places]
        clusters.add(zip(repeat(1), *sides, strict=False))
        found |= clusters.tallies(len(rows))

    assert {key: +tally for key, tally in found.items() if +tally} == counts_of_documents(merge, *columns)


@given(
    st.lists(st.lists(st.tuples(TAGS, TAGS, TAGS, TAGS), min_size=1, max_size=6), min_size=1, max_size=6),
    st.booleans(),
    st.sampled_from([Sizes(), Sizes(runs=2)]),
)
def test_sentences_have_the_counts_of_their_documents(sentences: Any, merge: bool, sizes: Sizes) -> None:
    plan = PLAN._replace(merge=merge, resample_by="sentence")
    both = decoders("x", "y")
    clusters = DocumentClusters(plan, ["x", "y"], both, sizes, SeenNames(plan.where))

    for some in (sentences, sentences[::-1]):
        for rows in some:
            clusters.add((1, *row) for row in rows)
            clusters.add([(1, *["O"] * 4)])
        found = list(clusters.of_sentences(map(len, some)))

        for rows, tallies in zip(some, found, strict=True):
            expected = counts_of_documents(merge, *zip(*rows, strict=True))
            assert {key: +tally for key, tally in tallies.items() if +tally} == expected
    clusters.rest()
    number = sum(len(list(decode(tags))) for rows in sentences for tags in list(zip(*rows, strict=True))[:2])
    assert sum(both["gold", layer].spans() for layer in "xy") == 2 * number


def test_tags_that_depend_on_their_neighbours_are_counted_by_whole_clusters() -> None:
    plan = LEVELS._replace(resample_by="sentence")
    both = {(side, "x"): Decoder("IOB1", "discard") for side in SIDES}
    assert not both["gold", "x"].reads_neighbours
    clusters = DocumentClusters(plan, ["x"], both, Sizes(), SeenNames(plan.where))

    tags = ["I-X", "B-X", "I-X", "O", "B-X"]
    (found,) = clusters.of_tags([tags], [tags])

    (expected,) = {len(list(Decoder("IOB1", "discard").columns("x", tags, neighbours_of(tags))))}
    assert found["levels", "x"]["class", "gold", "exact"] == expected


class TestCountedOnce:
    """Rows of which both sides have the same tags."""

    def test_rows_count_as_often_as_they_occur(self) -> None:
        both = decoders("x")
        clusters = row_clusters(["x"], both)

        for _ in range(4):
            clusters.add_same([["I-X", "O", "B-Y", "O"]])
            clusters.add([(1, "I-Z", "I-Z"), (1, "B-Z", "O"), (1, "O", "O")])

        found = clusters.tallies(99)["levels", "x"]
        assert [found["class", side, "exact"] for side in SIDES] == [3 * 4, 3 * 4]
        assert [both[side, "x"].spans() for side in SIDES] == [4 * 4, 3 * 4]
        assert [both[side, "x"].repaired() for side in SIDES] == [2 * 4, 2 * 4]


def counts(*sources: Any) -> Any:
    parts, end = parts_of(*sources)
    assert end is not None
    tally = Counter[Any]()
    for each in parts:
        for of_metric in each.tallies.values():
            tally.update(of_metric)
    return [(tally["class", side, "exact"], tally["class", side, "missed"]) for side in SIDES]


class TestLinesThatAreTheSame:
    def test_they_may_have_other_tags_on_the_other_side(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.conll", "a B-X O\nb O B-Y\n\n")
        sources = [source_of(path, ReadOptions(layers={"x": column}, token=1)) for column in (2, 3)]

        assert counts(*sources) == [(0, 1), (0, 1)]

    @pytest.mark.parametrize("turn", [1, -1])
    def test_their_tags_may_be_read_otherwise_on_the_other_side(self, tmp_path: Path, turn: int) -> None:
        path = write(tmp_path / "a.conll", "a I-X\n\nb B-Y\n\n")
        sources = [
            source_of(path, ReadOptions(scheme="BIO", invalid=invalid))
            for invalid in ("conlleval", "discard")
        ]

        assert counts(*sources[::turn]) == [(1, 1), (1, 0)][::turn]


def test_token_ids_are_compared_and_differ_in_a_document(tmp_path: Path) -> None:
    options = ReadOptions(token_id=1, layers={"x": 3}, token=2)
    text = "1 a B-X\n2 b O\n\n3 c O\n4 d O\n\n"
    tags = text.replace("d O", "d B-Y")

    def read(own: str, other: str) -> Any:
        sources = [
            source_of(write(tmp_path / f"{n}.conll", each), options) for n, each in enumerate((own, other))
        ]
        return counts(*sources)

    assert read(text, text) == [(1, 0), (1, 0)]
    assert read(text, tags) == [(1, 0), (1, 1)]
    with pytest.raises(TextMismatch):
        read(text, tags.replace("4 d", "9 d"))
    for other in (text, tags):
        for again in ("1", "2", "3"):
            with pytest.raises(FormatError, match=f"token id '{again}' is already used"):
                read(text.replace("4 d", f"{again} d"), other.replace("4 d", f"{again} d"))
