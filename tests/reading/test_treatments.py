"""How ill-formed tags are treated: each format says what it can, and the signature what was done."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from corpora import write

from clueval import Accumulator, errors, read, score
from clueval.cli import main
from clueval.files.errors import TagError, UsageError

ILL_FORMED = "Anna B-PER\nUlm I-LOC\n"
STACKED = "Anna NE B-PER\nUlm NE I-LOC\n"


def treatment(path: Path, **options: Any) -> str:
    return score(path, path, **options).signature.choices["invalid"]


def test_signature_of_nerval_files_says_that_ill_formed_tags_were_discarded(tmp_path: Path) -> None:
    path = write(tmp_path / "a.bio", ILL_FORMED)

    result = score(path, path, input="nerval")

    # Ulm continues no span of its label, so that it is in none
    assert result.metrics["levels"]["label"]["classes"]["gold"]["exact"] == 1
    assert result.repaired_tags == {"gold": 1, "predicted": 1}
    assert result.signature.choices["invalid"] == "discard"
    assert treatment(path, input="nerval", invalid="discard") == "discard"


@pytest.mark.parametrize("route", [{}, {"by": "document"}, {"unit": "character"}, {"pair_by": "id"}])
def test_signature_of_column_files_says_how_they_were_read_on_every_route(
    tmp_path: Path, route: dict[str, Any]
) -> None:
    path = write(tmp_path / "a.conll", "Anna B-PER\nUlm B-LOC\n")

    assert treatment(path, **route) == "conlleval"
    for invalid in ("conlleval", "discard", "error"):
        assert treatment(path, invalid=invalid, **route) == invalid


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


def test_signature_of_files_without_tags_says_that_none_were_treated(tmp_path: Path) -> None:
    path = write(tmp_path / "a.xml", "<body>Anna <e>Ulm</e></body>")

    assert treatment(path, metrics="partial") == "none"


def test_signature_of_sides_in_different_formats_has_the_treatments_of_both(tmp_path: Path) -> None:
    gold = write(tmp_path / "gold.vrt", "<text>\nAnna\tB-PER\n</text>\n")
    predicted = write(tmp_path / "predicted.bio", "Anna B-PER\n")

    result = score(gold, predicted, metrics="noisy")

    assert result.signature.choices["invalid"] == "conlleval+discard"


# Repaired tags: counted by the scheme of the file as a whole, however its documents come


# alone, the first document has the scheme IO and the second IOB1, in which nothing is ill-formed
IN_PARTS = "-DOCSTART-\n\na I-X\nb I-X\n\n-DOCSTART-\n\nc I-X\nd B-X\n\n-DOCSTART-\n\ne B-X\nf O\ng I-X\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(tmp_path / "a.conll", IN_PARTS)


def test_repaired_tags_are_counted_by_the_scheme_of_the_whole_file_on_every_route(path: Path) -> None:
    # e/B-X begins a span after nothing, so the file is BIO: a, c and g are I after O
    expected = {"gold": 3, "predicted": 3}

    assert score(path, path).repaired_tags == expected
    assert score(path, path, by="document").repaired_tags == expected
    assert score(path, path, unit="character").repaired_tags == expected
    assert score(path, path, where=["label=X"]).repaired_tags == expected
    assert score(path, path, pair_by="id").repaired_tags == expected
    assert score(list(read(path)), list(read(path))).repaired_tags == expected
    assert score(read(path), read(path)).repaired_tags == expected


def test_repaired_tags_of_some_documents_are_counted_by_the_scheme_of_these_documents(path: Path) -> None:
    gold, predicted = list(read(path))[1:2], list(read(path))[1:2]

    assert score(gold, predicted).repaired_tags == {"gold": 0, "predicted": 0}


def test_repaired_tags_of_several_files_are_counted_by_the_scheme_of_each(tmp_path: Path) -> None:
    for side in ("gold", "predicted"):
        (tmp_path / side).mkdir()
        write(tmp_path / side / "a.conll", "a I-X\nb I-X\n")  # IO: nothing is ill-formed
        write(tmp_path / side / "b.conll", "a B-X\nb O\nc I-X\n")  # BIO: c is
    sides = tmp_path / "gold", tmp_path / "predicted"

    assert score(*sides).repaired_tags == {"gold": 1, "predicted": 1}
    assert score(*sides, unit="character").repaired_tags == {"gold": 1, "predicted": 1}
    assert score(*map(read, sides)).repaired_tags == {"gold": 1, "predicted": 1}


def test_repaired_tags_are_the_same_in_an_accumulator(path: Path) -> None:
    scores = Accumulator(["exact"])
    scores.update(list(read(path)), list(read(path)))

    assert scores.compute().repaired_tags == {"gold": 3, "predicted": 3}


def test_repaired_tags_of_a_named_scheme_are_counted_by_it_in_each_file(tmp_path: Path) -> None:
    parts = [
        write(tmp_path / f"{n}.conll", part) for n, part in enumerate(IN_PARTS.split("-DOCSTART-\n\n")[1:])
    ]

    for options in ({}, {"unit": "character"}, {"by": "document"}):
        found = [score(part, part, scheme="BIO", **options).repaired_tags for part in parts]
        assert found == [{"gold": 1, "predicted": 1}] * 3


@pytest.mark.parametrize("route", [{}, {"by": "document"}, {"unit": "character"}])
def test_ill_formed_tags_are_discarded_by_the_scheme_of_the_whole_file(
    path: Path, route: dict[str, Any]
) -> None:
    result = score(path, path, metrics=["exact"], invalid="discard", **route)

    # well-formed in BIO are d/B-X and e/B-X alone
    assert result.metrics["exact"]["label"]["micro"]["gold"] == 2
    assert [len(document.layers["label"]) for document in read(path, invalid="discard")] == [0, 1, 1]


def test_ill_formed_tags_are_discarded_by_the_scheme_of_each_side(tmp_path: Path) -> None:
    gold = write(tmp_path / "g.conll", "a B-X\nb O\nc I-X\n")  # BIO: one span
    predicted = write(tmp_path / "p.conll", "a I-X\nb O\nc I-X\n")  # IO: two spans

    for documents in (False, True):
        sides = (list(read(path, invalid="discard")) for path in (gold, predicted))
        result = (
            score(*sides, metrics=["exact"])
            if documents
            else score(gold, predicted, metrics=["exact"], invalid="discard")
        )
        micro = result.metrics["exact"]["label"]["micro"]
        assert (micro["gold"], micro["predicted"], micro["tp_gold"]) == (1, 2, 1)


def test_ill_formed_tags_are_refused_with_their_line_by_the_scheme_of_the_whole_file(path: Path) -> None:
    for route in ({}, {"unit": "character"}):
        with pytest.raises(TagError, match=r"a\.conll:3"):
            score(path, path, invalid="error", **route)


def test_tags_of_two_schemes_are_an_error_that_names_the_file(tmp_path: Path) -> None:
    path = write(tmp_path / "a.conll", "a S-X\n\nb U-X\n")

    with pytest.raises(TagError, match=r"a\.conll.*BIOES"):
        score(path, path, invalid="discard")


def test_filter_on_a_layer_counts_documents_without_tokens_on_every_route(tmp_path: Path) -> None:
    path = write(tmp_path / "a.conll", "-DOCSTART-\n\n-DOCSTART-\n\na B-X\n\n-DOCSTART-\n")

    for where in ([], ["label=X"]):
        assert score(path, path, where=where).documents == 3
        assert score(path, path, where=where, unit="character").documents == 3
        assert score(path, path, where=where, layers={"label": 2}).documents == 3
        assert score(list(read(path)), list(read(path)), where=where).documents == 3
