"""The web pages of errors, differences, comparisons, agreement and conventions from Python: those of the commands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import clueval
from clueval import CluevalError
from clueval.cli import main

pytest.importorskip("jinja2")

GERMAN = Path(__file__).parents[2] / "clueval" / "samples" / "german"
GOLD, PREDICTED = GERMAN / "gold.vrt", GERMAN / "predicted.vrt"
LAYERS = {"entity": 2}
OF_COMMAND = ["--layer", "entity=2"]
TITLE = "Errors: gold.vrt and predicted.vrt"
TITLE_OF_TWO = "Errors: gold.vrt, predicted.vrt, gold.vrt"


def page_of(command: str, *arguments: str | Path, folder: Path) -> str:
    path = folder / "command.html"
    flag = "-o" if command in ("compare", "conventions") else "--html"
    assert main([command, *map(str, arguments), "-q", flag, str(path)]) == 0
    return path.read_text(encoding="utf-8")


def page_from(write_page: Callable[..., None], folder: Path, **options: Any) -> str:
    path = folder / "python.html"
    write_page(str(path), **options)
    return path.read_text(encoding="utf-8")


def test_errors_are_an_iterator_and_a_page(tmp_path: Path) -> None:
    found = clueval.errors(
        GOLD, PREDICTED, layers=LAYERS, level=1, labelled="entity", where="domain=Mietrecht"
    )
    by_command = [*OF_COMMAND, "--level", "1", "--labelled", "entity", "--where", "domain=Mietrecht"]

    assert next(found).document == next(iter(clueval.errors(GOLD, PREDICTED, layers=LAYERS))).document
    assert page_from(found.write_page, tmp_path, title=TITLE, text_lang="de") == page_of(
        "errors", GOLD, PREDICTED, *by_command, "--text-lang", "de", folder=tmp_path
    )


def test_errors_of_two_systems_are_a_page(tmp_path: Path) -> None:
    found = clueval.errors(GOLD, PREDICTED, layers=LAYERS)

    assert page_from(found.write_page, tmp_path, second=GOLD, title=TITLE_OF_TWO) == page_of(
        "errors", GOLD, PREDICTED, GOLD, *OF_COMMAND, folder=tmp_path
    )


def test_differences_are_a_page(tmp_path: Path) -> None:
    found = clueval.diff(GOLD, PREDICTED, GOLD, layers=LAYERS)

    assert page_from(found.write_page, tmp_path, title=TITLE_OF_TWO) == page_of(
        "diff", GOLD, PREDICTED, GOLD, *OF_COMMAND, folder=tmp_path
    )


def test_comparison_is_a_page(tmp_path: Path) -> None:
    saved = [tmp_path / "a.clueval", tmp_path / "b.clueval"]
    for path, side in zip(saved, (PREDICTED, GOLD), strict=True):
        clueval.score(GOLD, side, layers=LAYERS, metrics="exact", resample_by="document").save(path)
    found = clueval.compare(*saved, details=True, names=["a", "b"])

    assert page_from(found.write, tmp_path) == page_of("compare", *saved, folder=tmp_path)


def test_agreement_is_a_page(tmp_path: Path) -> None:
    agreed = clueval.agree({"gold.vrt": GOLD, "predicted.vrt": PREDICTED}, layers=LAYERS)

    assert page_from(agreed.write_page, tmp_path) == page_of(
        "agree", GOLD, PREDICTED, *OF_COMMAND, folder=tmp_path
    )


def test_lists_in_memory_are_pages(tmp_path: Path) -> None:
    gold, one, two = [["B-PER", "O"]], [["O", "B-PER"]], [["B-LOC", "O"]]

    assert "PER" in page_from(clueval.errors(gold, one).write_page, tmp_path)
    assert "PER" in page_from(clueval.errors(gold, one).write_page, tmp_path, second=two)
    assert "PER" in page_from(clueval.diff(gold, one, two).write_page, tmp_path)


def test_page_of_what_can_be_read_only_once_is_refused(tmp_path: Path) -> None:
    tags = [["B-PER", "O"]]
    path = tmp_path / "page.html"

    with pytest.raises(CluevalError, match="predicted can be read only once"):
        clueval.errors(tags, iter(tags)).write_page(path)
    with pytest.raises(CluevalError, match="gold has both sides"):
        clueval.errors(GOLD, None, layers={"a": (2, 3)}).write_page(path, second=GOLD)
    with pytest.raises(CluevalError, match=r"any_of does not apply to the page of two systems"):
        clueval.errors(GOLD, GOLD, layers=LAYERS, any_of=[PREDICTED]).write_page(path, second=GOLD)
    assert not path.exists()


def test_page_with_a_wrong_path_or_language_is_refused() -> None:
    found: Any = clueval.errors([["B-PER"]], [["O"]])

    with pytest.raises(CluevalError, match="path must be"):
        found.write_page(5)
    with pytest.raises(CluevalError, match="lang must be"):
        found.write_page("x.html", lang=3)
    with pytest.raises(CluevalError, match="cannot be written"):
        found.write_page("/no/such/folder/x.html")
