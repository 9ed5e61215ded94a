"""Decisions on the pages in a browser: the store, files, several reviewers, and what curate makes of them."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from browser import Browser, download, give, in_browser, select

pytest.importorskip("jinja2")

from clueval import Document, Span, agree, curate, errors
from clueval.findings.decisions import COLUMNS, read_decisions

pytestmark = in_browser

TEXT = ["Ada", "met", "Paris", "in", "Ulm"]

Spans = tuple[tuple[int, int, str], ...]

ANNA: Spans = ((0, 1, "PER"), (2, 3, "LOC"), (4, 5, "ORG"))


def document(spans: Spans) -> list[Document]:
    return [Document("<d&1>", {"label": [Span(*span) for span in spans]}, tokens=TEXT)]


def agreement_page(path: Path, anna: Spans = ANNA, bob: Spans = ()) -> Path:
    study = agree({"anna": document(anna), "bob": document(bob)})
    study.write(path)
    return path


def error_page(path: Path, gold: Spans = ANNA, predicted: Spans = ()) -> Path:
    errors(document(gold), document(predicted)).write_page(path)
    return path


PAGES = {"agreement": agreement_page, "errors": error_page}

FIRST = {"agreement": "anna", "errors": "predicted"}
"""The first choice of each page."""

CARD = "document.querySelectorAll('.card')"


def opened(browser: Browser, page: Path, store: dict[str, str] | None = None) -> None:
    """Open a page in a browser that keeps nothing but `store`."""
    browser.open(page)
    for _ in range(5):  # what one page stores may reach the process of the next one late
        browser.run(f"localStorage.clear(); Object.assign(localStorage, {json.dumps(store or {})})")
        browser.open(page)
        if kept(browser).keys() >= (store or {}).keys():
            break


def kept(browser: Browser) -> dict[str, str]:
    found: dict[str, str] = browser.run("({...localStorage})")
    return found


def click(browser: Browser, card: int, choice: int) -> None:
    browser.run(f"{CARD}[{card}].querySelectorAll('.reading input')[{choice}].click()")


def checked(browser: Browser) -> list[int]:
    """The number of the choice that is checked on each card, or -1."""
    found: list[int] = browser.run(
        f"[...{CARD}].map((card) => [...card.querySelectorAll('.reading input')].findIndex((each) => each.checked))"
    )
    return found


def said(browser: Browser) -> str:
    text: str = browser.run("document.getElementById('decided').textContent")
    return text


def remarks(browser: Browser, card: int) -> str:
    text: str = browser.run(f"{CARD}[{card}].querySelector('.said').textContent")
    return text


def call(browser: Browser, name: str) -> None:
    browser.run(
        f"(() => {{ const e = document.getElementById('reviewer'); e.value = '{name}';"
        " e.dispatchEvent(new Event('change')); })()"
    )


def comment(browser: Browser, card: int, text: str) -> None:
    browser.run(
        f"(() => {{ const e = {CARD}[{card}].querySelector('.comment'); e.value = {json.dumps(text)};"
        " e.dispatchEvent(new Event('input')); })()"
    )


def line(at: int, choice: str, reviewer: str = "", **more: Any) -> dict[str, Any]:
    """A line about the place of one token on the page of errors, at which only gold has a span."""
    from clueval.findings.decisions import fingerprint

    label = {span[0]: span[2] for span in ANNA}[at]
    spans = fingerprint([("gold", ((at, at + 1),), label)])
    values = ["<d&1>", "label", at, at, spans, choice, "", reviewer, "2026-01-01T00:00:00Z"]
    return dict(zip(COLUMNS, values, strict=True)) | more


def written(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", PAGES)
def test_decisions_are_there_when_the_page_is_opened_again(
    browser: Browser, tmp_path: Path, kind: str
) -> None:
    page = PAGES[kind](tmp_path / "a.html")
    opened(browser, page)
    assert said(browser) == "0 of 3 places decided"

    call(browser, "Ada")
    click(browser, 0, 0)
    comment(browser, 1, "<b>hm</b>")
    before = kept(browser)
    browser.open(page)
    for _ in range(5):  # what one page stores may reach the process of the next one late
        if kept(browser) == before:
            break
        browser.open(page)

    assert said(browser) == "1 of 3 places decided"
    assert checked(browser) == [0, -1, -1]
    assert browser.run(f"{CARD}[1].querySelector('.comment').value") == "<b>hm</b>"
    assert browser.run("document.getElementById('reviewer').value") == "Ada"
    click(browser, 0, 0)
    assert said(browser) == "0 of 3 places decided"
    assert browser.complaints == []


@pytest.mark.parametrize("kind", ["agreement", "errors"])
@pytest.mark.parametrize(
    ("changed", "expected", "counts"),
    [
        pytest.param((ANNA, ()), [0, 0, -1], "2 of 3 places decided", id="same"),
        pytest.param((ANNA[1:], ()), [0, -1], "1 of 2 places decided; 1 lost", id="one place fewer"),
        pytest.param(
            (ANNA, ((1, 2, "X"),)), [0, -1, 0, -1], "2 of 4 places decided", id="one place more, between"
        ),
        pytest.param(
            (ANNA, ((0, 1, "LOC"),)), [-1, 0, -1], "1 of 3 places decided; 1 stale", id="other spans there"
        ),
        pytest.param(
            (ANNA, ((0, 2, "PER"),)), [-1, 0, -1], "1 of 3 places decided; 1 lost", id="another range"
        ),
    ],
)
def test_a_page_written_again_has_its_decisions_at_their_places_only(
    browser: Browser,
    tmp_path: Path,
    kind: str,
    changed: tuple[Spans, Spans],
    expected: list[int],
    counts: str,
) -> None:
    opened(browser, PAGES[kind](tmp_path / "first.html"))
    for card in (0, 1):
        click(browser, card, 0)
    before = kept(browser)
    again = PAGES[kind](tmp_path / "again.html", *changed)

    opened(browser, again, before)

    assert checked(browser) == expected
    assert said(browser) == counts
    if "stale" in counts:
        assert remarks(browser, 0).startswith(f"stale: {FIRST[kind]} (no name, 20")
    if "lost" in counts:
        assert "<d&1> label 0–0" in browser.run("document.getElementById('lost').textContent")
    click(browser, len(expected) - 1, 0)
    assert len(json.loads(next(iter(kept(browser).values())))) == 3


NAMES: Spans = ((0, 4, "PER"), (5, 9, "PER"), (10, 14, "PER"))


@pytest.mark.parametrize("form", ["tsv", "json"])
@pytest.mark.parametrize("kind", PAGES)
def test_exported_decisions_can_be_read_and_imported(
    browser: Browser, tmp_path: Path, kind: str, form: str
) -> None:
    page = PAGES[kind](tmp_path / "a.html")
    opened(browser, page)
    call(browser, "=Ada")
    texts = ["=1+1", "'-x", '<b>"quoted"</b>\u202e']
    for card, text in enumerate(texts):
        click(browser, card, 0)
        comment(browser, card, text)
    file = download(browser, form, tmp_path)
    opened(browser, page)

    give(browser, file, file)

    assert said(browser) == "3 of 3 places decided; 0 lines imported"
    assert [remarks(browser, card).endswith(f"=Ada: {text}") for card, text in enumerate(texts)] == [
        True,
        True,
        False,  # a character that steers text is shown by its number
    ]
    places = read_decisions(file)._places
    assert [key[2:] for key in places] == [(0, 1), (2, 3), (4, 5)]
    assert [lines[0].comment for lines in places.values()] == texts
    assert {lines[0].reviewer for lines in places.values()} == {"=Ada"}
    if form == "tsv":
        table = file.read_text(encoding="utf-8").splitlines()
        rows = list(csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE))
        assert tuple(rows[0]) == COLUMNS
        assert rows[0]["comment"] == "'=1+1"


@pytest.mark.parametrize("kind", PAGES)
def test_a_page_without_places_opens_without_complaint(browser: Browser, tmp_path: Path, kind: str) -> None:
    browser.open(PAGES[kind](tmp_path / "a.html", ANNA, ANNA))

    assert browser.run("document.querySelectorAll('.card').length") == 0
    assert browser.complaints == []


@pytest.mark.parametrize("kind", PAGES)
def test_decisions_in_a_sandboxed_frame_are_exported_and_imported_and_the_page_says_that_it_keeps_none(
    browser: Browser, tmp_path: Path, kind: str
) -> None:
    inner = json.dumps(PAGES[kind](tmp_path / "a.html").read_text(encoding="utf-8")).replace("/", "\\/")
    frame = "<iframe sandbox='allow-scripts allow-downloads allow-modals'></iframe>"
    blob = f"URL.createObjectURL(new Blob([{inner}], {{type: 'text/html'}}))"
    outer = tmp_path / "outer.html"
    outer.write_text(f"{frame}<script>document.querySelector('iframe').src = {blob}</script>", "utf-8")
    notice = "; this page does not keep them: export them"
    browser.open(outer)
    with browser.in_frame():
        assert said(browser) == "0 of 3 places decided" + notice
        call(browser, "Ada")
        click(browser, 0, 0)
        assert said(browser) == "1 of 3 places decided" + notice
        file = download(browser, "tsv", tmp_path)

    browser.open(outer)
    with browser.in_frame():
        give(browser, file)

        assert said(browser) == f"1 of 3 places decided{notice}; 1 line imported"
        assert checked(browser) == [0, -1, -1]
        assert " (Ada, " in remarks(browser, 0)
        browser.run("confirm = () => true; document.getElementById('forget').click()")
        assert said(browser) == "0 of 3 places decided" + notice
    assert browser.complaints == []


def test_decisions_of_the_agreement_page_are_what_curate_keeps(browser: Browser, tmp_path: Path) -> None:
    sources = {"anna": document(ANNA), "bob": document(((0, 2, "ORG"),))}
    page = agreement_page(tmp_path / "a.html", ANNA, ((0, 2, "ORG"),))
    opened(browser, page)
    for card, choice in ((0, 1), (1, 0), (2, 2)):
        click(browser, card, choice)

    (curated,) = curate(sources, decisions=download(browser, "tsv", tmp_path))

    found = [(span.start, span.end, span.label) for span in curated.document.layers["label"]]
    assert found == [(0, 2, "ORG"), (2, 3, "LOC")]
    assert curated.undecided == ()


def test_a_page_written_with_decisions_has_them(browser: Browser, tmp_path: Path) -> None:
    file = written(tmp_path / "d.json", line(0, "gold", "Ada"), line(2, "none", "Eve", comment="<i>why</i>"))
    page = tmp_path / "a.html"
    errors(document(ANNA), document(()), decisions=file).write_page(page)
    opened(browser, page)

    assert said(browser) == "2 of 3 places decided"
    assert checked(browser) == [1, 3, -1]
    tables = browser.run(
        "[...document.querySelectorAll('#findings .scores')].map((table) => table.innerText)"
    )
    assert [" ".join(text.split()) for text in tables] == [
        "Decisions: whose the errors are errors number the system's (gold is right) 1 gold's (the prediction is right)"
        " 0 gold's (both are right) 0 of both (neither is right) 1 unclear 0 not decided 1",
        "label: with gold corrected, in % scores P R F1 gold gold as it is 0.00 0.00 0.00 3"
        " gold corrected 0.00 0.00 0.00 2",
    ]
    click(browser, 2, 0)
    assert len(json.loads(kept(browser)["clueval decisions errors.html Errors"])) == 3
    assert browser.complaints == []


def test_two_reviewers_conflict_until_one_choice_is_confirmed(browser: Browser, tmp_path: Path) -> None:
    page = error_page(tmp_path / "a.html")
    ada = written(tmp_path / "ada.json", line(0, "gold", "Ada", comment="sure"), line(2, "gold", "Ada"))
    eve = written(
        tmp_path / "eve.json", line(0, "none", "Eve", extra="kept", comment="no"), line(2, "gold", "Eve")
    )
    seen = []
    for order in ((ada, eve), (eve, ada)):
        opened(browser, page)
        give(browser, *order)
        seen.append((said(browser)[: len("1 of 3 places decided; 1 in conflict")], kept(browser)))
    assert seen[0] == seen[1]
    assert seen[0][0] == "1 of 3 places decided; 1 in conflict"
    assert remarks(browser, 0) == (
        "conflict: gold (Ada, 2026-01-01T00:00:00Z) “sure”; none (Eve, 2026-01-01T00:00:00Z) “no”;"
        " choose one to confirm it"
    )
    select(browser, "f-done", "conflict")
    assert browser.run(f"{CARD}.length") == 1
    select(browser, "f-done", "")
    select(browser, "f-by", "Eve")
    assert browser.run(f"{CARD}.length") == 2
    select(browser, "f-by", "")

    call(browser, "Carl")
    click(browser, 0, 1)

    assert said(browser).startswith("2 of 3 places decided")
    lines = json.loads(kept(browser)["clueval decisions errors.html Errors"])
    assert [(each["reviewer"], each.get("confirmed"), each.get("extra")) for each in lines[:3]] == [
        ("Ada", None, None),
        ("Eve", None, "kept"),
        ("Carl", "yes", None),
    ]
    assert remarks(browser, 0) == "Ada: sureEve: no"
    decisions = read_decisions(download(browser, "tsv", tmp_path))
    assert decisions.at("<d&1>", "label", 0, 1, lines[0]["fingerprint"]).holds == "gold"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([line(0, "Gold")], "line 1: the choice “Gold” is unknown here"),
        ([line(0, "gold", start="x")], "line 1: start is no position"),
        ([{"a": 1}], "line 1 has no document"),
        (["a"], "line 1 has no document"),
    ],
)
def test_a_file_with_a_wrong_line_is_not_imported(
    browser: Browser, tmp_path: Path, rows: list[Any], message: str
) -> None:
    opened(browser, error_page(tmp_path / "a.html"))

    give(browser, written(tmp_path / "other.json", *rows))

    assert said(browser) == f"0 of 3 places decided; nothing was imported: {message}"
    assert browser.complaints == []


@pytest.mark.parametrize("text", ["no JSON", "[1]", '[["a", null], {"document": 1}]', "{}"])
def test_a_page_opens_with_anything_in_the_store(browser: Browser, tmp_path: Path, text: str) -> None:
    page = error_page(tmp_path / "a.html")

    opened(browser, page, {"clueval decisions errors.html Errors": text})

    assert said(browser) == "0 of 3 places decided"
    assert browser.complaints == []


def test_what_another_page_of_the_same_sides_adds_is_kept(browser: Browser, tmp_path: Path) -> None:
    page = error_page(tmp_path / "a.html")
    opened(browser, page)
    added = json.dumps(json.dumps([line(2, "none", "Eve")]))
    browser.run(f"localStorage.setItem('clueval decisions errors.html Errors', {added})")

    click(browser, 0, 0)

    assert said(browser).startswith("2 of 3 places decided")


def test_all_is_forgotten_only_after_a_question(browser: Browser, tmp_path: Path) -> None:
    opened(browser, error_page(tmp_path / "a.html"))
    click(browser, 0, 0)
    for answer, expected in (("false", "1 of 3"), ("true", "0 of 3")):
        browser.run(f"window.confirm = () => {answer}; document.getElementById('forget').click()")
        assert said(browser).startswith(expected)


def test_keys_choose_in_the_order_shown_and_say_what_cannot_be_chosen(
    browser: Browser, tmp_path: Path
) -> None:
    opened(browser, agreement_page(tmp_path / "a.html"))
    for key in "j3j1j2":
        browser.press(key)

    assert checked(browser) == [2, 0, -1]
    assert said(browser) == "2 of 3 places decided; bob has nothing here"
    browser.press("c")
    assert browser.run("document.activeElement.className") == "comment"
    browser.press("Escape")
    assert browser.run(f"document.activeElement === {CARD}[2]")


def test_the_order_of_places_is_in_the_address(browser: Browser, tmp_path: Path) -> None:
    def numbers() -> list[int]:
        script = f"[...{CARD}].map((card) => card.querySelectorAll('.error').length)"
        return list(browser.run(script))

    opened(browser, error_page(tmp_path / "a.html", ANNA, ((2, 4, "LOC"),)))
    assert numbers() == [1, 2, 1]

    select(browser, "f-sort", "most")

    assert numbers() == [2, 1, 1]
    assert browser.run("location.hash") == "#f:sort=most"
    browser.run("document.getElementById('reset').click()")
    assert numbers() == [1, 2, 1]
    browser.run("location.hash = '#f:sort=worst'")
    browser.wait_for("document.querySelector('.card .what').textContent === 'missed'")
