"""The table of merged spans: its header, its lines, and the errors of files."""

from __future__ import annotations

from pathlib import Path

import pytest

from clueval import Document, Span
from clueval.cli import main
from clueval.files.errors import CluevalError
from clueval.reading.convert import merged_lines

LAYERS = ("--layer", "risk=3", "--layer", "entity=2", "--token-id", "4")

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

    assert list(merged_lines(iter(documents), list(layers), with_ids=False)) == expected


@pytest.mark.parametrize("text", ["", "-DOCSTART-\n"])
def test_merged_rows_of_a_column_file_without_tokens_are_the_header(
    tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a").write_text(text)

    assert main(["merge", str(tmp_path / "a"), *LAYERS, "--input", "conll"]) == 0
    assert capsys.readouterr().out == f"{HEADER}\trisk\tentity\tstart_id\tend_id\n"


def test_merged_rows_of_a_token_id_that_comes_again_are_an_error_with_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a").write_text("a O O 1\nb O O 1\n")

    assert main(["merge", str(tmp_path / "a"), *LAYERS, "--input", "conll"]) == 2
    assert capsys.readouterr().err.startswith(f"clueval merge: {tmp_path / 'a'}:2")


def test_merged_rows_of_overlapping_spans_are_an_error_that_names_the_document() -> None:
    document = Document("d7", {"x": [Span(0, 2, {"x": "A"}), Span(1, 3, {"x": "B"})]})

    with pytest.raises(CluevalError, match="document 'd7': spans"):
        list(merged_lines(iter([document]), [], with_ids=False))
