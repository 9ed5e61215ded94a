"""How ill-formed tags are treated: each format says what it can, and the signature what was done."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from corpora import write

from clueval import read, score
from clueval.cli import main
from clueval.exceptions import TagError, UsageError
from clueval.findings.stream import errors
from clueval.formats import all_formats, format_named

ILL_FORMED = "Anna B-PER\nUlm I-LOC\n"
STACKED = "Anna NE B-PER\nUlm NE I-LOC\n"


def treatment(path: Path, **options: Any) -> str:
    return score(path, path, **options).signature.choices["invalid"]


def test_treatments_of_a_format_are_those_of_its_reader() -> None:
    treatments = {form.name: form.treatments for form in all_formats() if form.treatments}

    assert treatments == {
        "vrt": ("conlleval", "discard", "error"),
        "conll": ("conlleval", "discard", "error"),
        "conll2000": ("conlleval", "error"),
        "nerval": ("discard", "error"),
        "token-rows": ("conlleval", "discard", "error"),
        "conllu": ("conlleval", "discard", "error"),
    }


def test_signature_of_nerval_files_says_that_ill_formed_tags_were_discarded(tmp_path: Path) -> None:
    path = write(tmp_path / "a.bio", ILL_FORMED)

    result = score(path, path, input="nerval")

    # Ulm continues no span of its label, so that it is in none
    assert result.metrics["levels"]["label"]["classes"]["gold"]["exact"] == 1
    assert result.repaired_tags == {"gold": 1, "predicted": 1}
    assert result.signature.choices["invalid"] == "discard"
    assert treatment(path, input="nerval", invalid="discard") == "discard"


def test_nerval_files_refuse_a_treatment_that_they_do_not_have(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "a.bio", ILL_FORMED)

    for refused in (
        lambda: score(path, path, input="nerval", invalid="conlleval"),
        lambda: list(read(path, input="nerval", invalid="conlleval")),
        lambda: list(errors(path, path, input="nerval", invalid="conlleval")),
    ):
        with pytest.raises(UsageError, match="nerval cannot treat ill-formed tags as 'conlleval'"):
            refused()
    with pytest.raises(TagError):
        score(path, path, input="nerval", invalid="error")
    assert main(["score", str(path), str(path), "--metric", "noisy", "--invalid", "conlleval"]) == 2
    assert "discard or error" in capsys.readouterr().err


def test_stacked_tags_do_not_support_discard(tmp_path: Path) -> None:
    path = write(tmp_path / "a.conll", STACKED)

    assert treatment(path, input="conll2000") == "conlleval"
    with pytest.raises(UsageError, match="conll2000 cannot treat"):
        score(path, path, input="conll2000", invalid="discard")


@pytest.mark.parametrize("route", [{}, {"by": "document"}, {"unit": "character"}, {"pair_by": "id"}])
def test_signature_of_column_files_says_how_they_were_read_on_every_route(
    tmp_path: Path, route: dict[str, Any]
) -> None:
    path = write(tmp_path / "a.conll", "Anna B-PER\nUlm B-LOC\n")

    assert treatment(path, **route) == "conlleval"
    for invalid in format_named("conll").treatments:
        assert treatment(path, invalid=invalid, **route) == invalid


def test_signature_of_files_without_tags_says_that_none_were_treated(tmp_path: Path) -> None:
    path = write(tmp_path / "a.xml", "<body>Anna <e>Ulm</e></body>")

    assert treatment(path, metrics="partial") == "none"


def test_signature_of_sides_in_different_formats_has_the_treatments_of_both(tmp_path: Path) -> None:
    gold = write(tmp_path / "gold.vrt", "<text>\nAnna\tB-PER\n</text>\n")
    predicted = write(tmp_path / "predicted.bio", "Anna B-PER\n")

    result = score(gold, predicted, metrics="noisy")

    assert result.signature.choices["invalid"] == "conlleval+discard"
