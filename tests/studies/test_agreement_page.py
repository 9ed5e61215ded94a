"""The page of `clueval agree` in a browser."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlencode

import pytest
from browser import Browser, in_browser

from clueval import Document, Span, agree

pytestmark = in_browser

HOSTILE = "</script><script>document.title='stolen'</script>"

TEXT = ["Ada", HOSTILE, "in", "Paris", "=1+1"]


def document(*spans: tuple[int, int, str]) -> list[Document]:
    return [Document("<d&1>", {"label": [Span(*span) for span in spans]}, tokens=TEXT)]


@pytest.fixture
def page(tmp_path: Path) -> Path:
    sources = {
        "anna": document((0, 2, "PER"), (3, 4, "<b>LOC</b>")),
        "bob": document((0, 1, "PER"), (3, 4, "ORG")),
        "<i>carl</i>": document((0, 2, "PER")),
    }
    agree(sources).write(tmp_path / "agreement.html")
    return tmp_path / "agreement.html"


def test_agreement_page_has_the_matrix_with_its_numbers(browser: Browser, page: Path) -> None:
    browser.open(page)
    cells = browser.run(
        "[...document.querySelectorAll('table')[0].querySelectorAll('td')].map(e => e.textContent)"
    )

    assert [cell for cell in cells[1:] if cell not in ("anna", "bob", "<i>carl</i>")] == [
        *("", "0.00", "66.67", "0.00", "", "0.00", "66.67", "0.00", ""),
    ]


@pytest.mark.parametrize(
    ("filters", "number"),
    [
        ({"kind": "boundary"}, 1),
        ({"pair": "anna / <i>carl</i>"}, 1),
        ({"pair": "anna / <i>carl</i>", "kind": "boundary"}, 0),
        ({"label": "ORG"}, 1),
        ({"done": "decided"}, 0),
    ],
)
def test_agreement_page_filters_places(
    browser: Browser, page: Path, filters: dict[str, str], number: int
) -> None:
    browser.open(page, fragment=f"#f:{urlencode(filters)}")

    assert browser.run("document.querySelectorAll('.card').length") == number


def test_a_number_of_the_matrix_lists_the_places_of_its_pair(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.run("document.querySelector('td button[data-find*=carl]').click()")

    assert browser.run("document.getElementById('chips').textContent").startswith(
        "Who differ: anna / <i>carl</i>"
    )
    assert browser.run("document.querySelectorAll('.card').length") == 1


def test_agreement_page_is_worked_through_with_keys(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.run("localStorage.clear()")
    browser.open(page)

    for key in ("j", "2", "j", "4", "k", "2", "Backspace"):
        browser.run(f"document.dispatchEvent(new KeyboardEvent('keydown', {{key: '{key}'}}))")

    # the same choice again changes nothing, and Backspace takes it back
    chips = browser.run("[...document.querySelectorAll('.card .chip')].map((each) => each.textContent)")
    assert [chip.partition(":")[0].strip() for chip in chips] == ["", "no span"]
