"""Repaired tags: counted by the scheme of the file as a whole, however its documents come."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from corpora import write

from clueval import Accumulator, read, score
from clueval.exceptions import TagError

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


def test_repaired_tags_of_some_documents_are_those_of_these_documents(path: Path) -> None:
    gold, predicted = list(read(path))[1:2], list(read(path))[1:2]

    assert score(gold, predicted).repaired_tags == {"gold": 1, "predicted": 1}


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


def test_repaired_tags_of_a_named_scheme_need_no_whole_file(path: Path) -> None:
    assert [document.repaired for document in read(path, scheme="BIO")] == [1, 1, 1]


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
