"""The page of `clueval agree` in a browser; its decisions are in test_decisions_page.py."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from browser import Browser, in_browser

from clueval import Document, Span, agree
from clueval.studies.annotators.page import write_page

pytestmark = in_browser

HOSTILE = "</script><script>document.title='stolen'</script>"

TEXT = ["Ada", HOSTILE, "in", "Paris", "=1+1"]


def document(*spans: tuple[int, int, str]) -> list[Document]:
    return [Document("<d&1>", {"label": [Span(*span) for span in spans]}, tokens=TEXT)]


SOURCES = {
    "anna": document((0, 2, "PER"), (3, 4, "<b>LOC</b>")),
    "bob": document((0, 1, "PER"), (3, 4, "ORG")),
    "<i>carl</i>": document((0, 2, "PER")),
}


@pytest.fixture
def page(tmp_path: Path) -> Path:
    study = agree(SOURCES)
    path = tmp_path / "agreement.html"
    write_page(path, study.to_dict(), study.disagreements())
    return path


def test_agreement_page_opens_without_complaint_at_every_width(browser: Browser, page: Path):
    for width, dark in ((1280, False), (390, True)):
        browser.open(page, width=width, dark=dark)

        assert browser.complaints == []
        assert browser.requests == [page.as_uri()]
        assert browser.run("document.documentElement.scrollWidth") <= width
        assert browser.run("document.title") == "Agreement of annotators"


def test_agreement_page_has_the_matrix_with_its_numbers(browser: Browser, page: Path):
    browser.open(page)
    cells = browser.run(
        "[...document.querySelectorAll('.heat')[0].querySelectorAll('td span')].map(e => e.textContent)"
    )

    assert cells == ["–", "0.0", "66.7", "0.0", "–", "0.0", "66.7", "0.0", "–"]


def test_agreement_page_filters_by_kind_and_by_pair(browser: Browser, page: Path):
    browser.open(page)
    shown = []
    for name, value in (("f-kind", "boundary"), ("f-pair", "0 2"), ("f-done", "decided")):
        browser.run(
            f"{{ const e = document.getElementById('{name}'); e.value = '{value}'; "
            "e.dispatchEvent(new Event('input', {bubbles: true})); }"
        )
        shown.append(browser.run("document.querySelectorAll('.card').length"))
        browser.run("document.getElementById('filters').reset()")

    assert shown == [1, 1, 0]


def test_agreement_page_is_worked_through_with_keys(browser: Browser, page: Path, tmp_path: Path):
    browser.open(page)
    browser.run("localStorage.clear()")
    browser.open(page)

    for key in ("j", "2", "j", "4", "k", "2"):
        browser.run(f"document.dispatchEvent(new KeyboardEvent('keydown', {{key: '{key}'}}))")

    chosen = "(card) => [...card.querySelectorAll('input')].findIndex((each) => each.checked)"
    # the second press of 2 has taken the choice back
    assert browser.run(f"[...document.querySelectorAll('.card')].map({chosen})") == [-1, 3]
    address = browser.run("location.hash")
    copy = tmp_path / "copy.html"
    copy.write_bytes(page.read_bytes())
    browser.open(copy, width=390, fragment=address)
    assert browser.run("document.querySelector('.card.current').id") == address[1:]
    assert browser.run("document.documentElement.scrollWidth") <= 390
    assert browser.complaints == []


def test_agreement_page_is_the_same_in_each_run(page: Path, tmp_path: Path):
    study = agree(SOURCES)
    write_page(tmp_path / "again.html", study.to_dict(), study.disagreements())

    assert (tmp_path / "again.html").read_bytes() == page.read_bytes()


def test_agreement_page_has_no_text_of_the_corpus_as_markup(page: Path):
    html = page.read_text()

    assert HOSTILE not in html
    assert "<i>carl</i>" not in html
    assert json.dumps(HOSTILE)[1:-1].replace("<", "\\u003c").replace(">", "\\u003e") in html
