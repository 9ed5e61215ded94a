from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from itertools import groupby, product
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
from clueval.files.errors import CluevalError
from clueval.formats.columns.layout import Sizes
from clueval.reading.source import Source
from clueval.second.formats.column_input import Layout
from clueval.second.reading.byte_rows import BOTH, TagCharacters, find_hunks, fits, is_plain
from clueval.second.reading.clusters import RowCharacters


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


@pytest.mark.parametrize(("entities", "label"), [(True, "<"), (False, "&lt;")])
def test_tags_of_one_or_both_sides_become_the_character_of_their_row(entities: bool, label: str) -> None:
    rows = RowCharacters(4)
    characters = TagCharacters(rows, "\t", has_entities=entities)

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


# The rows of `clueval merge` are the same whether a column file is read by clusters or by documents


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
