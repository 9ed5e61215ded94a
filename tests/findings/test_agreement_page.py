"""The page of `clueval agree` in a browser, from the matrix to the file of decisions that `clueval curate` reads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from browser import Browser, in_browser

from clueval import Document, Span, agree, curate
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
    for name, value in (("f-kind", "boundary"), ("f-pair", "0 2"), ("f-done", "done")):
        browser.run(
            f"{{ const e = document.getElementById('{name}'); e.value = '{value}'; "
            "e.dispatchEvent(new Event('input', {bubbles: true})); }"
        )
        shown.append(browser.run("document.querySelectorAll('.card').length"))
        browser.run("document.getElementById('filters').reset()")

    assert shown == [1, 1, 0]


def test_agreement_page_exports_the_decisions_that_curate_reads(browser: Browser, page: Path, tmp_path: Path):
    browser.open(page)
    browser.run(
        "{ const make = URL.createObjectURL; URL.createObjectURL = (blob) => make(window.exported = blob); }"
    )
    for card, choice in ((0, 1), (1, 0)):
        browser.run(f"document.querySelectorAll('.card')[{card}].querySelectorAll('input')[{choice}].click()")
    text = browser.run("window.exported.text()")
    decisions = tmp_path / "decisions.tsv"
    decisions.write_text(text)
    (curated,) = curate(SOURCES, decisions=decisions)

    assert browser.run("document.getElementById('export').href").startswith("blob:")
    assert text.split("\n")[0] == "document\tstart\tend_inclusive\tlabel"
    assert [(span.start, span.end, span.label) for span in curated.document.layers["label"]] == [
        (0, 1, "PER"),
        (3, 4, "<b>LOC</b>"),
    ]


def test_agreement_page_takes_a_choice_back_at_the_second_click(browser: Browser, page: Path):
    browser.open(page)
    browser.run("localStorage.clear()")
    browser.open(page)
    for expected in ("1 of 2 places chosen", "0 of 2 places chosen"):
        browser.run("document.querySelectorAll('.card input')[0].click()")

        assert browser.run("document.getElementById('chosen').textContent") == expected


def test_agreement_page_keeps_choices_when_it_is_opened_again(browser: Browser, page: Path):
    browser.open(page)
    browser.run("localStorage.clear()")
    browser.open(page)
    browser.run("document.querySelectorAll('.card input')[1].click()")
    browser.open(page)

    assert browser.run("document.querySelectorAll('.card input')[1].checked") is True


def test_agreement_page_is_worked_through_with_keys(browser: Browser, page: Path, tmp_path: Path):
    browser.open(page)
    browser.run("localStorage.clear()")
    browser.open(page)

    for key in ("j", "2", "j", "0", "k", "2"):
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


def written_page(path: Path, **changed: list[Document]) -> Path:
    """The page of three places, each of `anna` against nothing, or with other documents of some annotators."""
    sources = {"anna": document((0, 1, "PER"), (2, 3, "LOC"), (4, 5, "ORG")), "bob": document()} | changed
    study = agree(sources)
    write_page(path, study.to_dict(), study.disagreements())
    return path


CHECKED = """[...document.querySelectorAll('.card')].map((card) =>
  [card.querySelector('.place').textContent, [...card.querySelectorAll('input')].findIndex((each) => each.checked)])"""

TRAY = "document.getElementById('chosen').textContent"

STORE = """'clueval agree ["anna","bob"]'"""


@pytest.fixture(scope="module")
def kept(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the browser keeps of two choices on the page: anna's span at the first place, no span at the second."""
    browser.open(written_page(tmp_path_factory.mktemp("first") / "first.html"))
    for card, choice in ((0, 0), (1, 2)):
        browser.run(f"document.querySelectorAll('.card')[{card}].querySelectorAll('input')[{choice}].click()")
    found: str = browser.run(f"localStorage.getItem({STORE})")
    browser.run("localStorage.clear()")
    return found


def keep(browser: Browser, text: str) -> None:
    browser.run(f"localStorage.clear(); localStorage.setItem({STORE}, {json.dumps(text)})")


def open_with(browser: Browser, text: str, page: Path) -> None:
    """Open a page in a browser that keeps a text; the page that writes it is the same, so it is there at once."""
    browser.open(page)
    keep(browser, text)
    browser.open(page)


def keys_of(text: str) -> list[str]:
    return sorted(key for key, _ in json.loads(text))


@pytest.mark.parametrize(
    ("changed", "expected", "others"),
    [
        pytest.param({}, {"0–0": 0, "2–2": 2, "4–4": -1}, 0, id="same"),
        pytest.param(
            {"anna": document((2, 3, "LOC"), (4, 5, "ORG"))}, {"2–2": 2, "4–4": -1}, 1, id="one place fewer"
        ),
        pytest.param(
            {"bob": document((1, 2, "PER"))},
            {"0–0": 0, "1–1": -1, "2–2": 2, "4–4": -1},
            0,
            id="one place more, between the others",
        ),
        pytest.param(
            {"bob": document((0, 1, "LOC"))}, {"0–0": -1, "2–2": 2, "4–4": -1}, 1, id="other spans there"
        ),
        pytest.param(
            {"bob": document((0, 2, "PER"))}, {"0–1": -1, "2–2": 2, "4–4": -1}, 1, id="another range"
        ),
        pytest.param(
            {"anna": document((4, 5, "ORG")), "bob": document((1, 2, "LOC"))},
            {"1–1": -1, "4–4": -1},
            2,
            id="as many choices, at other places",
        ),
    ],
)
def test_agreement_page_written_again_has_its_choices_at_their_places_only(
    browser: Browser,
    tmp_path: Path,
    kept: str,
    changed: dict[str, list[Document]],
    expected: dict[str, int],
    others: int,
):
    open_with(browser, kept, written_page(tmp_path / "again.html", **changed))

    assert browser.run(CHECKED) == [[f"<d&1> {place}", choice] for place, choice in expected.items()]
    assert browser.run(TRAY) == f"{2 - others} of {len(expected)} places chosen" + (
        f"; {others} choice{'s' * (others > 1)} kept of places that are not on this page or have changed"
        if others
        else ""
    )
    browser.run("document.querySelector('.card:last-child input:enabled').click()")
    key = json.dumps(["<d&1>", "label", 4, 5], separators=(",", ":"))
    assert keys_of(browser.run(f"localStorage.getItem({STORE})")) == sorted([*keys_of(kept), key])


def test_agreement_page_keeps_what_another_page_of_the_same_annotators_adds(
    browser: Browser, tmp_path: Path, kept: str
):
    open_with(browser, "[]", written_page(tmp_path / "first.html"))
    keep(browser, kept)  # by a page that is open at the same time

    browser.run("document.querySelectorAll('.card')[2].querySelector('input').click()")

    assert browser.run(TRAY) == "3 of 3 places chosen"
    browser.run("document.querySelectorAll('.card')[2].querySelector('input').click()")
    assert browser.run(TRAY) == "2 of 3 places chosen"


@pytest.mark.parametrize("text", ["no JSON", "[1]", '[["a", null], [[], {"fingerprint": 1}]]'])
def test_agreement_page_opens_with_anything_in_the_store(browser: Browser, tmp_path: Path, text: str):
    open_with(browser, text, written_page(tmp_path / "a.html"))

    assert browser.run(TRAY).startswith("0 of 3 places chosen")
    assert browser.complaints == []
