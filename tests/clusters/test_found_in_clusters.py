"""What is found in clusters, and its places, against tags that are decoded one sentence after another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import pytest
from corpora import write
from hypothesis import given
from hypothesis import strategies as st

from clueval.clusters import places
from clueval.clusters.places import Clusters
from clueval.clusters.rows import IrregularRows, ParallelRows
from clueval.formats.columns.layout import Sizes
from clueval.reading.read_options import ReadOptions
from clueval.reading.source import Source, source_of
from clueval.spans.document import Document, MissingId
from clueval.tagging.decoder import decode

TAG = st.sampled_from(["O", "O", "B-X", "I-X"])
TOKEN_ROWS = st.integers(1, 3).flatmap(
    lambda sides: st.lists(
        st.lists(st.tuples(*[st.tuples(TAG, TAG)] * sides), min_size=1, max_size=6), min_size=1, max_size=8
    )
)
"""Sentences of rows, each with the tags of every side in two layers."""

LAYERS = ["x", "y"]

Located = tuple[int, str, int, int]
"""The side, the layer, the first and the last position of a span."""


def sources(folder: Path, *texts: str, **options: Any) -> list[Source]:
    given = ReadOptions(sizes=Sizes(sentences=3), **options)
    return [source_of(write(folder / f"{side}.conll", text), given) for side, text in enumerate(texts)]


def written(folder: Path, sentences: list[list[tuple[tuple[str, str], ...]]]) -> list[Source]:
    """A file of each side, in which each token is another word."""
    texts = ["" for _ in sentences[0][0]]
    number = 0
    for rows in sentences:
        for row in rows:
            for side, tags in enumerate(row):
                texts[side] += f"w{number} {' '.join(tags)}\n"
            number += 1
        texts = [f"{text}\n" for text in texts]
    return sources(folder, *texts, layers={"x": 2, "y": 3})


def all_spans(documents: Sequence[Document]) -> Iterator[tuple[int, Located]]:
    """Every span by position, with its position."""
    found = [
        (side, layer, span.start, span.end)
        for side, document in enumerate(documents)
        for layer in LAYERS
        for span in document.layers.get(layer, ())
    ]
    yield from sorted(((each[2], each) for each in found), key=lambda each: each[0])


def moved(found: Located, by: int) -> Located:
    side, layer, start, end = found
    return side, layer, start + by, end + by


def spans_of(rows: list[tuple[tuple[str, str], ...]], begin: int) -> list[Located]:
    """The spans of a sentence."""
    return [
        (side, name, begin + start, begin + end)
        for side in range(len(rows[0]))
        for layer, name in enumerate(LAYERS)
        for start, end, _ in decode([row[side][layer] for row in rows])
    ]


@given(TOKEN_ROWS, st.sampled_from([0, 5, 1 << 15]))
def test_spans_of_clusters_are_those_of_their_sentences(sentences: Any, most: int) -> None:
    expected, of_same, everywhere = [], Counter[Any](), []
    position = 0
    for sentence in sentences:
        spans = spans_of(sentence, position)
        everywhere += spans
        if any(len(set(row)) > 1 for row in sentence):
            expected += spans
        else:
            of_same.update((*moved(span, -position)[:2], span[3] - span[2]) for span in spans)
        position += len(sentence)

    found, same, placed = [], Counter[Any](), []
    with TemporaryDirectory() as folder, patch.object(places, "_MOST", most):
        files = written(Path(folder), sentences)
        with_places, of_all = (Clusters(files, all_spans) for _ in range(2))
        for passages in zip(*(file.passages() for file in files), strict=True):
            rows = ParallelRows([passages])
            assert rows.have_one_text()
            for _, of_part in with_places.found(rows):
                for by, of_cluster in of_part:
                    assert of_cluster
                    found += [moved(each, by) for each in of_cluster]
            for of_cluster, times in with_places.counted(rows):
                for side, layer, start, end in of_cluster:
                    same[side, layer, end - start] += times
            for each in of_all.everywhere(rows):
                words = each.tokens[each.begin : each.begin + each.size]
                first = int(words[0][1:])
                assert words == [f"w{first + n}" for n in range(each.size)]
                assert each.found
                placed += [moved(span, each.by + first - each.begin) for span in each.found]

    assert sorted(found) == sorted(expected)
    assert same == of_same
    assert sorted(placed) == sorted(everywhere)


@pytest.mark.parametrize(("most", "times"), [(6, 2), (5, 6)])
def test_a_cluster_is_examined_again_only_after_many_others(
    tmp_path: Path, most: int, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each passage has three sentences of one cluster; there are two different ones, of two rows and a border."""
    monkeypatch.setattr(places, "_MOST", most)
    one, other = "a B-X\nb I-X\n\n" * 3, "a B-X\nb B-X\n\n" * 3
    gold = (one + other) * 3
    files = sources(tmp_path, gold, gold.replace("a B-X", "a B-Y"))
    seen: list[int] = []

    def examine(documents: Sequence[Document]) -> Iterator[tuple[int, str]]:
        seen.append(len(documents))
        return iter([(0, "found")])

    def found(clusters: Clusters[str], rows: ParallelRows) -> list[Any]:
        return [each for _, of_part in clusters.found(rows) for each in of_part]

    for read in (found, Clusters.everywhere):
        seen.clear()
        clusters = Clusters(files, examine)
        for passages in zip(*(file.passages() for file in files), strict=True):
            assert len(list(read(clusters, ParallelRows([passages])))) == 3
        assert seen == [2] * times


def test_documents_of_passages_have_their_text_where_they_differ(tmp_path: Path) -> None:
    text = (
        "<text id='d' year='1'>\n<s id='s1'>\n1\ta\tO\n2\tb\tO\n</s>\n<s>\n3\tc\tB-X\n</s>\n"
        "<s id='s3'>\n4\td\tB-X\n5\te\tO\n</s>\n</text>\n<text>\n<s>\n1\tf\tB-X\n</s>\n</text>\n"
    )
    paths = [tmp_path / "g.vrt", tmp_path / "p.vrt"]
    for path, each in zip(paths, (text, text.replace("B-X", "O")), strict=True):
        path.write_text(each)
    options = ReadOptions(layers={"label": 3}, token=2, token_id=1)
    both = [source_of(path, options) for path in paths]
    found = []

    for passages in zip(*(source.passages() for source in both), strict=True):
        found.append(ParallelRows([passages]).parts[0].documents(both))

    (own, other), (second, _) = found
    for path, document in zip(paths, (own, other), strict=True):
        assert (document.id, document.file) == ("d", str(path))
        assert document.tokens == ["", "", "c", "d", "e"]
        assert document.token_ids == ["", "", "3", "4", "5"]
        assert document.sentences is not None
        assert [tuple(each)[:3] for each in document.sentences] == [(2, 3, None), (3, 5, "s3")]
        assert document.metadata["year"] == "1"
        assert document.lines is not None
        assert [document.lines[position] for position in (2, 4)] == [7, 11]
        assert not document.layers
    assert other.tokens is own.tokens
    assert second.tokens == ["f"]
    assert isinstance(second.id, MissingId)
    assert not isinstance(own.id, MissingId)


@pytest.mark.parametrize(
    ("own", "other", "is_one"),
    [
        ("1 a B-X\n", "1 a O\n", True),
        ("1 a B-X\n", "2 a O\n", False),
        ("1 a B-X\n", "1 b O\n", False),
        ("1 a B-X\n2 b O\n", "1 a O\n3 b O\n", False),
    ],
)
def test_passages_have_one_text_if_their_tokens_and_ids_are_the_same(
    tmp_path: Path, own: str, other: str, is_one: bool
) -> None:
    for turned in (False, True):
        texts = [other, own] if turned else [own, other]
        files = sources(tmp_path, *texts, layers={"label": 3}, token=2, token_id=1)

        (passages,) = zip(*(file.passages() for file in files), strict=True)

        assert ParallelRows([passages]).have_one_text() is is_one


def test_token_ids_are_compared_only_where_both_sides_have_them(tmp_path: Path) -> None:
    with_ids = source_of(write(tmp_path / "g.conll", "1 a B-X\n"), ReadOptions(token=2, token_id=1))
    without = source_of(write(tmp_path / "p.conll", "a O\n"), ReadOptions())

    for pair in ([with_ids, without], [without, with_ids]):
        (passages,) = zip(*(file.passages() for file in pair), strict=True)
        rows = ParallelRows([passages])

        assert rows.have_one_text()
        ids = [document.token_ids for document in rows.parts[0].documents(pair)]
        assert ids == ([["1"], None] if pair[0] is with_ids else [None, ["1"]])


def test_a_tag_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    files = sources(tmp_path, "a X-Y\n", "a O\n")
    clusters = Clusters(files, all_spans)
    (passages,) = zip(*(file.passages() for file in files), strict=True)

    with pytest.raises(IrregularRows, match="'X-Y' is not a tag"):
        list(clusters.found(ParallelRows([passages])))


def test_a_line_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    files = sources(tmp_path, "a O\nb O\n", "a O\nb O O\n")
    (passages,) = zip(*(file.passages() for file in files), strict=True)

    with pytest.raises(IrregularRows, match=r"^a line does not fit$"):
        ParallelRows([passages])
