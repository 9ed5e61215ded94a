"""Inputs: what a result says was read of each side."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from corpora import write

from clueval import Accumulator, compare, read, score
from clueval.exceptions import UsageError

# column 2 is BIO with one ill-formed tag (d), column 3 BIOES; spans: a-b, d; a, c-d
GOLD = "a\tB-X\tS-Y\nb\tI-X\tO\n\nc\tO\tB-Y\nd\tI-X\tE-Y\n\n"
# spans: a-b; none
PREDICTED = "a\tB-X\tO\nb\tI-X\tO\n\nc\tO\tO\nd\tO\tO\n\n"
LAYERS = {"one": 2, "two": -1}


def layer(source: Any, scheme: str | None, spans: int) -> dict[str, Any]:
    return {"source": source, "scheme": scheme, "spans": spans}


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    return write(tmp_path / "gold.conll", GOLD), write(tmp_path / "predicted.conll", PREDICTED)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"merge": True},
        {"by": "document"},
        {"unit": "character"},
        {"where": ["one=X"]},
        {"where": ["document=1"]},
        {"pair_by": "id"},
    ],
    ids=str,
)
def test_inputs_have_the_columns_schemes_and_spans_of_two_layers(
    files: tuple[Path, Path], options: dict[str, Any]
) -> None:
    result = score(*files, metrics="exact", layers=LAYERS, **options)

    assert result.inputs == {
        "gold": {
            "format": "conll",
            "files": 1,
            "layers": {"one": layer(2, "BIO", 2), "two": layer(3, "BIOES", 2)},
        },
        "predicted": {
            "format": "conll",
            "files": 1,
            "layers": {"one": layer(2, "BIO", 1), "two": layer(3, None, 0)},
        },
    }
    assert result.signature.choices["scheme"] == "BIO+BIOES:BIO"


@pytest.mark.parametrize("options", [{}, {"by": "document"}, {"merge": True}], ids=str)
def test_inputs_count_the_spans_that_were_decoded(files: tuple[Path, Path], options: dict[str, Any]) -> None:
    result = score(*files, metrics="exact", layers={"one": 2}, invalid="discard", **options)

    assert result.inputs["gold"]["layers"] == {"one": layer(2, "BIO", 1)}  # d begins no span of BIO


def test_inputs_of_a_folder_name_the_schemes_and_columns_of_all_files(tmp_path: Path) -> None:
    for side in ("gold", "predicted"):
        (tmp_path / side).mkdir()
        write(tmp_path / side / "a.conll", "a B-X\nb I-X\n")
        write(tmp_path / side / "b.conll", "a NE S-X\nb NE O\n")
    sides = tmp_path / "gold", tmp_path / "predicted"
    expected = {"format": "conll", "files": 2, "layers": {"label": layer("2+3", "BIO+BIOES", 2)}}

    for options in ({}, {"by": "document"}, {"jobs": 2, "executor": ThreadPoolExecutor(1)}):
        result = score(*sides, metrics="exact", **options)
        assert result.inputs == {"gold": expected, "predicted": expected}
        assert result.signature.choices["scheme"] == "BIO+BIOES"


def test_inputs_that_are_documents_have_no_files_columns_and_schemes(files: tuple[Path, Path]) -> None:
    expected = {
        "format": "documents",
        "files": 0,
        "layers": {"one": layer(None, None, 2), "two": layer(None, None, 2)},
    }
    gold = list(read(files[0], LAYERS))
    result = score(gold, gold)
    scores = Accumulator()
    scores.update(gold, gold)

    assert result.inputs["gold"] == scores.compute().inputs["gold"] == expected
    assert result.signature.choices["scheme"] == "documents"


def test_inputs_of_files_without_tags_have_no_scheme(tmp_path: Path) -> None:
    path = write(tmp_path / "spans.csv", "PER\t1\t2\t1, 2\n")
    result = score(path, path, metrics="fair")

    assert result.inputs["gold"] == {
        "format": "fair-spans",
        "files": 1,
        "layers": {"label": layer(None, None, 1)},
    }
    assert result.signature.choices["scheme"] == "none"


def test_inputs_of_results_are_added(files: tuple[Path, Path]) -> None:
    one, other = (score(file, file, metrics="exact", layers={"x": 2}) for file in files)

    both = one.add(other)

    assert both.inputs["gold"] == {"format": "conll", "files": 2, "layers": {"x": layer(2, "BIO", 3)}}
    assert both.signature == one.signature


def test_inputs_with_different_predicted_schemes_can_be_compared_with_different_gold_schemes_not(
    tmp_path: Path,
) -> None:
    tags = {"bio": "a B-X\nb I-X\n\nc O\n", "bioes": "a B-X\nb E-X\n\nc O\n"}
    paths = {name: write(tmp_path / name, text) for name, text in tags.items()}
    same, predicted, gold = (
        score(paths[own], paths[other], metrics="exact", input="conll", resample_by="sentence")
        for own, other in (("bio", "bio"), ("bio", "bioes"), ("bioes", "bio"))
    )

    assert compare(same, predicted, scores=["exact.label.token_accuracy"]).units == 2
    with pytest.raises(UsageError, match="scheme is BIO and BIOES:BIO"):
        compare(same, gold)
