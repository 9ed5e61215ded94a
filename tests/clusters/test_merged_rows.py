"""The rows of `clueval merge` are the same whether a column file is read by clusters or by documents."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from routes import FORMATS, SCHEMES, corpora, written
from sizes import handed_in
from strategies import at_most

from clueval import Document, Span, read
from clueval.clusters.merged import merged_rows, rows_of_documents
from clueval.exceptions import CluevalError
from clueval.formats.columns.layout import Sizes
from clueval.reading.source import Source

LAYERS = {"risk": 3, "entity": 2}


def _rows(path: Path, reading: dict[str, Any]) -> list[str] | str:
    try:
        return list(merged_rows(path, LAYERS, reading))
    except CluevalError as error:
        return str(error)


def _rows_of_documents(path: Path, reading: dict[str, Any]) -> list[str] | str:
    try:
        return list(rows_of_documents(read(path, LAYERS, **reading), list(LAYERS), "token_id" in reading))
    except CluevalError as error:
        return str(error)


@given(
    st.integers(0, 10**6),
    st.sampled_from(sorted(SCHEMES)),
    st.sampled_from(["vrt", "conll", "vrt, irregular", "conll, irregular"]),
    st.sampled_from([{}, {"token_id": 4}]),
    st.sampled_from(["\tB", "\tB", "\tO\tB", "\tQ", "\t", "B"]),
)
@at_most(40)
def test_merged_rows_of_clusters_are_those_of_documents(
    seed: int, scheme: str, form: str, reading: dict[str, Any], wrong: str
) -> None:
    reading = {**reading, "input": FORMATS[form].ending}
    with TemporaryDirectory() as folder:
        path = written(Path(folder), form, corpora(seed, scheme, documents=4)).gold
        text = path.read_text(encoding="utf-8")
        place = text.find("\tB", len(text) // 2)
        path.write_text(text[:place] + wrong + text[place + 2 :], encoding="utf-8")
        expected = _rows_of_documents(path, reading)
        found = _rows(path, reading)
        with handed_in(Sizes(sentences=2, rows=3, characters=30, runs=4)):
            by_small_sizes = _rows(path, reading)

    assert (found, by_small_sizes) == (expected, expected)


def test_merged_rows_of_a_column_file_need_no_documents(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("Anna\tB-PER\tO\nMay\tI-PER\tB-high\n\nist\tO\tI-low\n", encoding="utf-8")

    with patch.object(Source, "documents", side_effect=AssertionError):
        rows = list(merged_rows(tmp_path / "a", LAYERS, {"input": "conll"}))

    assert rows == ["document\tstart\tend_inclusive\trisk\tentity", "1\t0\t1\thigh\tPER", "1\t2\t2\tlow\t"]


def test_merged_rows_with_too_many_different_tags_in_a_sentence_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a\tB-A\tO\nb\tB-B\tO\nc\tB-C\tO\n\nd\tO\tO\n", encoding="utf-8")

    with patch("clueval.clusters.bag.MOST", 3):
        rows = _rows(tmp_path / "a", {"input": "conll"})

    assert (
        rows
        == f"{tmp_path / 'a'}, document '1': a sentence has more than 2 different combinations of tags (shorten it)"
    )


HEADER = "document\tstart\tend_inclusive"


@pytest.mark.parametrize(
    ("layers", "texts", "expected"),
    [
        ({}, [], [f"{HEADER}\tlabel"]),
        ({"x": "X", "y": "Y"}, [], [f"{HEADER}\tx\ty"]),
        ({}, [{"X": "AB", "Y": "BC"}, {"Y": "D"}], [f"{HEADER}\tX\tY", "0\t0\t2\tAB\tBC", "1\t3\t3\t\tD"]),
    ],
)
def test_merged_rows_of_documents_have_the_layers_of_the_first_or_those_that_are_named(
    layers: dict[str, str], texts: list[dict[str, str]], expected: list[str]
) -> None:
    """Each layer has a span, from its first letter to its last."""
    documents = [
        Document(
            str(number),
            {name: [Span(ord(of[0]) - 65, ord(of[-1]) - 64, {name: of})] for name, of in text.items()},
        )
        for number, text in enumerate(texts)
    ]

    assert list(rows_of_documents(iter(documents), list(layers), with_ids=False)) == expected


@pytest.mark.parametrize("text", ["", "-DOCSTART-\n"])
def test_merged_rows_of_a_column_file_without_tokens_are_the_header(tmp_path: Path, text: str) -> None:
    (tmp_path / "a").write_text(text)

    assert _rows(tmp_path / "a", {"input": "conll", "token_id": 4}) == [
        f"{HEADER}\trisk\tentity\tstart_id\tend_id"
    ]


def test_merged_rows_of_a_token_id_that_comes_again_are_an_error_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a O O 1\nb O O 1\n")

    assert str(_rows(tmp_path / "a", {"input": "conll", "token_id": 4})).startswith(f"{tmp_path / 'a'}:2")


@pytest.mark.parametrize(
    ("names", "text", "layers", "reading"),
    [
        (["a.conll", "b.conll"], "a O B-X\nb B-Y I-X\n", LAYERS, {}),
        (["a.conll"], "a O I-X\nb B-Y I-Y\n", LAYERS, {"invalid": "discard", "scheme": "BIO"}),
        (["a.jsonl"], '{"text": "a b", "label": [[0, 1, "X"]]}\n', None, {}),
    ],
)
def test_merged_rows_of_other_files_are_those_of_their_documents(
    tmp_path: Path, names: list[str], text: str, layers: dict[str, Any] | None, reading: dict[str, Any]
) -> None:
    for name in names:
        (tmp_path / name).write_text(text)

    found = list(merged_rows(tmp_path, layers, reading))

    assert len(found) == 1 + len(names)
    assert found == list(
        rows_of_documents(read(tmp_path, layers, **reading), list(layers or ()), with_ids=False)
    )


def test_merged_rows_of_overlapping_spans_are_an_error_that_names_the_document() -> None:
    document = Document("d7", {"x": [Span(0, 2, {"x": "A"}), Span(1, 3, {"x": "B"})]})

    with pytest.raises(CluevalError, match="document 'd7': spans"):
        list(rows_of_documents(iter([document]), [], with_ids=False))
