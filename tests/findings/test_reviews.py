"""Ticks, comments and the order of places on the page of errors."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from browser import Browser, in_browser, select

pytest.importorskip("jinja2")

from clueval.cli import main

pytestmark = in_browser

SAMPLE = Path(__file__).parents[2] / "clueval" / "samples" / "german"
OPTIONS = ["--layer", "entity=2", "--layer", "risk=3", "--level", "1", "-q"]


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "page.html"
    sides = [str(SAMPLE / f"{side}.vrt") for side in ("gold", "predicted")]
    assert main(["errors", *sides, *OPTIONS, "--html", str(path)]) == 0
    return path


@pytest.fixture
def opened(browser: Browser, page: Path) -> Browser:
    forget(browser, page)
    return browser


def forget(browser: Browser, page: Path) -> None:
    """Open the page without ticks and comments; the browser may forget them a moment later."""

    def is_empty() -> bool:
        browser.open(page)
        browser.run("localStorage.clear()")
        return said(browser) == "0 of 63 places reviewed, 0 comments"

    browser.wait_until(is_empty, "forgotten")


def note(browser: Browser, number: int, comment: str) -> str:
    """Tick a card and comment on it; return its id."""
    found: str = browser.run(
        f"""(() => {{
          const card = document.querySelectorAll(".card")[{number}], field = card.querySelector(".comment");
          card.querySelector("[type=checkbox]").click();
          field.value = {json.dumps(comment)};
          field.dispatchEvent(new Event("input"));
          return card.id;
        }})()"""
    )
    return found


def download(browser: Browser, button: str, folder: Path, name: str) -> Path:
    browser("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
    browser.run(f"document.getElementById('{button}').click()")
    browser.wait_until(lambda: (folder / name).exists() and (folder / name).stat().st_size > 0)
    return folder / name


def give(browser: Browser, file: Path) -> None:
    """Choose a file in the field for imports."""
    answer = browser("Runtime.evaluate", expression="document.getElementById('import')")
    browser("DOM.setFileInputFiles", files=[str(file)], objectId=answer["result"]["objectId"])
    browser.wait_for("document.getElementById('reviewed').textContent.includes(';')")


def said(browser: Browser) -> str:
    text: str = browser.run("document.getElementById('reviewed').textContent")
    return text


def test_ticks_and_comments_are_there_when_the_page_is_opened_again(opened: Browser, page: Path) -> None:
    anchor = note(opened, 1, "Grenze prüfen")

    def is_kept() -> bool:  # the browser may keep them a moment later
        opened.open(page)
        return said(opened) == "1 of 63 places reviewed, 1 comment"

    opened.wait_until(is_kept, "kept")
    card = f"document.getElementById({json.dumps(anchor)})"
    assert opened.run(f"{card}.querySelector('.comment').value") == "Grenze prüfen"
    assert opened.run(f"{card}.querySelector('[type=checkbox]').checked && {card}.classList.contains('done')")


@pytest.mark.parametrize("form", ["tsv", "json"])
def test_exported_reviews_can_be_imported(opened: Browser, page: Path, tmp_path: Path, form: str) -> None:
    texts = ["=1+1", "'-x", '<b>"quoted"</b>']
    anchors = [note(opened, number, text) for number, text in enumerate(texts)]
    file = download(opened, f"export-{form}", tmp_path, f"reviews.{form}")
    forget(opened, page)

    give(opened, file)

    assert said(opened) == "3 of 63 places reviewed, 3 comments; 3 imported"
    for anchor, text in zip(anchors, texts, strict=True):
        assert (
            opened.run(f"document.getElementById({json.dumps(anchor)}).querySelector('.comment').value")
            == text
        )
    if form == "tsv":
        lines = file.read_text(encoding="utf-8").splitlines()
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
        assert [(row["id"], row["reviewed"]) for row in rows] == [(anchor, "yes") for anchor in anchors]
        assert rows[0]["comment"] == "'=1+1"


def test_a_file_of_something_else_is_not_imported(opened: Browser, tmp_path: Path) -> None:
    (tmp_path / "other.tsv").write_text("a\tb\n1\t2\n")

    give(opened, tmp_path / "other.tsv")

    assert "the file is not a table or list that this page exports" in said(opened)
    assert opened.complaints == []


def test_reviewed_places_can_be_filtered(opened: Browser) -> None:
    note(opened, 0, "")
    note(opened, 2, "x")
    counts = []

    for value in ("open", "done", "comment"):
        select(opened, "f-seen", value)
        counts.append(opened.run("document.querySelector('#count b').textContent").split(",")[0])

    assert counts == ["61 places", "2 places", "1 place"]


def test_keys_tick_the_place_at_hand_and_go_to_its_comment(opened: Browser) -> None:
    for key in "jjr":
        opened.press(key)
    assert said(opened) == "1 of 63 places reviewed, 0 comments"

    opened.press("c")

    assert opened.run("document.activeElement.className") == "comment"
    assert opened.run("document.activeElement.closest('.card') === document.querySelectorAll('.card')[1]")


def test_the_order_is_in_the_address(opened: Browser, page: Path) -> None:
    def numbers() -> list[int]:
        script = (
            "[...document.querySelectorAll('.card')].map((card) => card.querySelectorAll('.error').length)"
        )
        return list(opened.run(script))

    assert numbers() != sorted(numbers(), reverse=True)

    select(opened, "f-sort", "most")

    assert numbers() == sorted(numbers(), reverse=True)
    assert opened.run("location.hash") == "#f:sort=most"
    opened.run("document.getElementById('reset').click()")
    assert numbers() != sorted(numbers(), reverse=True)
    opened.run("location.hash = '#f:sort=worst'")
    opened.wait_for("document.querySelector('.card .what').textContent === 'missed'")
