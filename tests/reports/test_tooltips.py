"""Every mark of a span on a page has a tooltip with its side, layer, label and range; of an error also why."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from browser import Browser, in_browser

import clueval
from clueval.cli import main

pytest.importorskip("jinja2")

GOLD = """\
<text id="d">
Frau	O	w1
Anna	B-PER	w2
Weiß	I-PER	w3
aus	O	w4
Ulm	B-LOC	w5
</text>
"""
PREDICTED = GOLD.replace("Anna	B-PER", "Anna	O").replace("Weiß	I-PER", "Weiß	B-PER")
OTHER = GOLD.replace("Ulm	B-LOC", "Ulm	O")
OPTIONS = {"layers": {"entity": 2}, "token_id": 3}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in (("g", GOLD), ("p", PREDICTED), ("o", OTHER)):
        (tmp_path / f"{name}.vrt").write_text(text, encoding="utf-8")
    return tmp_path


def tooltips(page: Path) -> list[str]:
    """The tooltips of the marks that the page shows without its script."""
    text = page.read_text(encoding="utf-8")
    listed = text[text.index('id="list"') :]
    return [html.unescape(title) for title in re.findall(r'<(?:span|mark|bdi)[^>]* title="([^"]*)"', listed)]


def test_marks_of_errors_say_side_layer_label_range_ids_reason_and_class(files: Path) -> None:
    clueval.errors("g.vrt", "p.vrt", **OPTIONS).write_page("page.html")
    found = tooltips(files / "page.html")

    gold = "gold · entity PER · token 1–2 · id w2–w3 · boundary (partial)"
    predicted = "predicted · entity PER · token 2 · id w3 · boundary (superset)"
    assert found == [gold, f"{gold} | {predicted}"]


def test_marks_of_two_systems_name_the_system(files: Path) -> None:
    clueval.diff("g.vrt", "p.vrt", "o.vrt", **OPTIONS).write_page("page.html")
    found = "\n".join(tooltips(files / "page.html"))

    assert "gold · entity PER" in found
    assert re.search(r"predicted \S+ · entity PER", found)


def test_marks_of_noisy_texts_say_side_label_range_and_result(files: Path) -> None:
    line = "errors g.vrt p.vrt --metric noisy --layer entity=2 --html page.html -q"
    assert main(line.split()) == 0
    found = tooltips(files / "page.html")

    assert any(title.startswith("gold · entity PER · [") for title in found)
    assert any(title.startswith("predicted · entity ") and "matched" in title for title in found)


HOSTILE = '"><script>alert(1)</script>'


@pytest.mark.parametrize("kind", ["errors", "diff"])
def test_labels_in_tooltips_are_escaped(files: Path, kind: str) -> None:
    for name in "gpo":
        path = files / f"{name}.vrt"
        text = path.read_text(encoding="utf-8").replace("-PER", f"-{HOSTILE}")
        path.write_text(text, encoding="utf-8")
    sides = ["g.vrt", "p.vrt", "o.vrt"] if kind == "diff" else ["g.vrt", "p.vrt"]

    getattr(clueval, kind)(*sides, layers={"entity": 2}).write_page("page.html")
    text = (files / "page.html").read_text(encoding="utf-8")
    assert "<script>alert" not in text
    assert any(HOSTILE in title for title in tooltips(files / "page.html"))


TITLES = "[...document.querySelectorAll('#list .card .word, #list .card mark, #list .card .own')].map((e) => e.title)"


@in_browser
@pytest.mark.parametrize("kind", ["errors", "diff"])
def test_the_script_gives_the_same_tooltips_and_shows_them_on_focus(
    files: Path, browser: Browser, kind: str
) -> None:
    sides = ["g.vrt", "p.vrt", "o.vrt"] if kind == "diff" else ["g.vrt", "p.vrt"]
    getattr(clueval, kind)(*sides, layers={"entity": 2}).write_page("page.html")

    browser.open(files / "page.html", width=1000)
    found = browser.run(TITLES)
    shown = browser.run(
        "(() => { document.dispatchEvent(new KeyboardEvent('keydown', { key: 'Tab' }));"
        " const mark = document.querySelector('#list .tip'); mark.focus({ focusVisible: true });"
        " return [mark.title, getComputedStyle(mark, '::after').content]; })()"
    )

    assert found
    assert set(found) <= set(tooltips(files / "page.html"))
    assert shown[1] == f'"{shown[0]}"'
