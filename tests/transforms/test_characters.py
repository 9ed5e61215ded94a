from __future__ import annotations

from pathlib import Path

import pytest
from corpora import write

from clueval import Document, Span, read, score
from clueval.cli import main
from clueval.exceptions import UsageError
from clueval.transforms.characters import to_characters

SAMPLES = Path(__file__).parents[1] / "samples" / "german"


def test_positions_of_tokens_become_characters_of_the_joined_text() -> None:
    tokens = Document(
        "d",
        {"x": [Span(5, 7, "A"), Span(6, 6, "B"), Span(5, 8, "C", tokens=frozenset({5, 7}))]},
        tokens=["ein", "𝔛y", "z"],
        start=5,
    )

    document = to_characters(tokens)

    assert (document.text, document.unit) == ("ein 𝔛y z", "character")
    assert [(s.start, s.end) for s in document.layers["x"]] == [(0, 6), (4, 4), (0, 8)]
    assert document.layers["x"][2].tokens == frozenset({0, 1, 2, 7})
    assert document.text_of(document.layers["x"][0]) == tokens.text_of(tokens.layers["x"][0])


def test_spans_without_their_text_cannot_be_counted_in_characters() -> None:
    with pytest.raises(UsageError, match="without its text"):
        to_characters(Document("d", {}))


def test_the_unit_changes_graded_credit_and_stands_in_the_signature(tmp_path: Path) -> None:
    gold = write(tmp_path / "g.vrt", "Donaudampfschifffahrt\tB-X\nAG\tI-X\n")
    predicted = write(tmp_path / "p.vrt", "Donaudampfschifffahrt\tB-X\nAG\tO\n")

    tokens, characters = (
        score(gold, predicted, metrics="partial", unit=unit) for unit in (None, "character")
    )

    assert tokens.metrics["partial"]["label"]["micro"]["tp_gold"] == pytest.approx(0.75 * 1 / 2)
    assert characters.metrics["partial"]["label"]["micro"]["tp_gold"] == pytest.approx(0.75 * 21 / 24)
    assert "unit:token" in str(tokens.signature)
    assert "unit:character" in str(characters.signature)


def test_a_corpus_converted_to_the_tagging_format_scores_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for side in ("gold", "predicted"):
        (tmp_path / side).mkdir()
        arguments = ["--layer", "entity=2", "--label", "person", "--to", "ltf", "-o", str(tmp_path / side)]
        assert main(["convert", str(SAMPLES / f"{side}.vrt"), *arguments]) == 0
    converted = score(tmp_path / "gold", tmp_path / "predicted", metrics="partial")
    paths = [SAMPLES / f"{side}.vrt" for side in ("gold", "predicted")]
    original = score(*paths, layers={"entity": 2}, metrics="partial", unit="character")

    assert (
        converted.metrics["partial"]["label"]["micro"]
        == original.metrics["partial"]["entity"]["per_label"]["person"]
    )
    assert converted.documents == 5


def test_texts_that_differ_are_refused_with_the_first_character(tmp_path: Path) -> None:
    gold = write(tmp_path / "g.xml", "<body>a <e>b</e> c</body>")
    predicted = write(tmp_path / "p.xml", "<body>a <e>b</e> d</body>")

    with pytest.raises(ValueError, match=r"gold has the character 'c' at position 4 where .*p.xml has 'd'"):
        score(gold, predicted, metrics="partial")
    (document,) = read(gold)
    assert document.layers["label"] == [Span(2, 3, "_")]
