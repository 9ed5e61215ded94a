"""The page in a browser: it opens, filters, obeys keys, keeps decisions and exports them, on a phone and a desktop."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from browser import FOUND_BY_AXE, LOADED, Browser, download, give, in_browser, select

from clueval.cli import main
from clueval.metrics.fair import Fair
from clueval.reports.place import Facet, Line, Mark, MarkedText, Place
from clueval.reports.report import Report
from clueval.reports.table import Dot, Find, Table
from clueval.studies.decisions import read_decisions
from clueval.studies.errors.report import Errors
from clueval.studies.errors.search import Choice
from clueval.studies.errors.two_systems import Diff
from tests.readings import pairs_in_files
from tests.reports.test_report_forms import HOSTILE, hostile_view
from tests.reports.views import GOLD, LAYERS, PREDICTED, View, errors_view, two_systems_view

pytestmark = [in_browser, pytest.mark.filterwarnings("ignore::clueval.files.errors.CluevalWarning")]

LIST = "document.querySelectorAll('.card')"
COUNT = "document.getElementById('count').textContent"
DECIDED = "document.getElementById('decided').textContent"
CURRENT = "document.querySelector('.card.current')?.id"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A page of errors and one of two systems, in English and in German."""
    folder = tmp_path_factory.mktemp("pages")
    views: dict[str, Report] = {"errors": errors_view(), "two": two_systems_view(folder)}
    for name, view in views.items():
        view.write(folder / f"{name}.html", text_lang="de")
        view.write(folder / f"{name}-de.html", lang="de")
    return {path.stem: path for path in folder.glob("*.html")}


def fresh(browser: Browser, page: Path, **how: Any) -> None:
    """Open a page without decisions of an earlier test."""
    again(browser, page, **how)
    browser.run("localStorage.clear()")
    browser.open(page, **how)


def again(browser: Browser, page: Path, **how: Any) -> None:
    """Open a page that may be the open one, in which another address is no other page."""
    browser("Page.navigate", url="about:blank")
    browser.wait_for("location.href === 'about:blank'")
    browser.open(page, **how)


def click(browser: Browser, selector: str) -> None:
    browser.run(f"document.querySelector({json.dumps(selector)}).click()")


def keys(browser: Browser, text: str) -> None:
    for key in text:
        press(browser, key)


def press(browser: Browser, key: str) -> None:
    browser.run(
        "document.activeElement.dispatchEvent(new KeyboardEvent('keydown',"
        f" {{ key: {json.dumps(key)}, bubbles: true, cancelable: true }}))"
    )


def test_a_page_of_500_labels_begins_with_its_list(browser: Browser, tmp_path: Path) -> None:
    rows = [[f"label {n}", n] for n in range(500)]
    listed = [
        Place(("d", "x", n, n + 1), "f", [], [Line("missed", [f"label {n}"], None, f"label {n}")])
        for n in range(500)
    ]
    facets = [Facet("label", "Label", True)]
    View(shown_tables=[Table("labels", ["label", "spans"], rows)], listed=listed, facets=facets).write(
        tmp_path / "x.html"
    )
    fresh(browser, tmp_path / "x.html", width=1400)

    assert browser.run(f"{LIST}[0].getBoundingClientRect().top + scrollY") < 900
    assert browser.run("byId('f-label').options.length") == 501
    browser.run("document.querySelector('.wide').scrollTo(0, 1e6)")
    assert browser.run("document.querySelector('thead').getBoundingClientRect().top > 0")  # the head stays


@pytest.mark.parametrize("name", ["errors", "two", "errors-de", "two-de"])
def test_list_begins_on_the_first_screen(browser: Browser, pages: dict[str, Path], name: str) -> None:
    fresh(browser, pages[name], width=1400)

    assert browser.run(f"{LIST}.length") == 50
    assert browser.run(f"{LIST}[0].getBoundingClientRect().top + scrollY") < 900
    assert browser.run("byId('filters').offsetHeight < 2 * byId('f-text').offsetHeight")  # one row


NUMBERS = (
    "[...document.querySelectorAll('td .shares button, td > button')].map((b) => {"
    " b.click(); const n = Number((b.ariaLabel ?? b.textContent).replaceAll(',', '').match(/\\d+/)[0]);"
    " const lines = found.flatMap((place) => place.values.filter(fits)).length; b.click(); return [n, lines]; })"
)


def test_every_segment_label_and_number_lists_its_places(browser: Browser, pages: dict[str, Path]) -> None:
    fresh(browser, pages["errors"])
    numbers = browser.run(NUMBERS)

    assert len(numbers) > 40
    assert [n for n, _ in numbers] == [lines for _, lines in numbers]
    assert browser.run(COUNT) == "72 of 72 places"


CHOICES = {
    "level": Choice(merge=True, level=3, labelled="entity"),
    "gold": Choice(sides=("gold",), reasons=frozenset(["missed", "boundary"])),
    "fair": Choice(fair=Fair()),
}


@pytest.mark.parametrize("name", [*CHOICES, "diff"])
def test_numbers_of_tables_are_those_of_the_lines_that_they_list(
    browser: Browser, tmp_path: Path, name: str
) -> None:
    pairs = list(pairs_in_files(GOLD, PREDICTED, LAYERS))
    fixed = [(pair, replace(pair, predicted=pair.gold)) for pair in pairs]
    report: Report = Diff(fixed) if name == "diff" else Errors([[pair] for pair in pairs], CHOICES[name])
    report.write(tmp_path / "page.html")
    fresh(browser, tmp_path / "page.html")
    numbers = browser.run(NUMBERS)

    assert numbers
    assert [n for n, _ in numbers] == [lines for _, lines in numbers]


def test_filters_stand_in_chips_and_in_the_address(browser: Browser, pages: dict[str, Path]) -> None:
    fresh(browser, pages["errors"])
    select(browser, "f-reason", "label")
    select(browser, "f-layer", "entity")
    count, address = browser.run(COUNT), browser.run("location.hash")
    again(browser, pages["errors"], fragment=address)

    assert browser.run(COUNT) == count == "4 of 72 places"
    assert browser.run("[...document.querySelectorAll('#chips button')].map((b) => b.textContent)") == [
        "Reason: label ×",
        "Layer: entity ×",
    ]
    click(browser, "#chips button")
    assert browser.run("document.getElementById('f-reason').value") == ""
    browser.run("search.value = 'TIEDGEN'; search.dispatchEvent(new Event('input'))")
    assert browser.run("found.length > 0 && found.every((place) => place.searched().includes('tiedgen'))")


def test_address_restores_the_place_and_open_tables(browser: Browser, pages: dict[str, Path]) -> None:
    fresh(browser, pages["errors"])
    browser.run("document.querySelectorAll('details.table')[2].open = true")
    keys(browser, "jjj")
    browser.wait_for("location.hash.includes('open=0%2C1%2C2')")
    place, address = browser.run(CURRENT), browser.run("location.hash")
    again(browser, pages["errors"], fragment=address)

    assert browser.run(CURRENT) == place == browser.run("places[2].anchor")
    assert browser.run("[...document.querySelectorAll('details.table')].map((t) => t.open)") == [True] * 3 + [
        False
    ]


def test_keys_decide_and_the_export_is_read_back(
    browser: Browser, pages: dict[str, Path], tmp_path: Path
) -> None:
    fresh(browser, pages["errors"])
    browser.run("byId('reviewer').value = '\"ada'; byId('reviewer').dispatchEvent(new Event('change'))")
    keys(browser, "j1j2j33j4")
    press(browser, "Backspace")
    keys(browser, "kc")
    browser.run(
        "document.activeElement.value = '=look'; document.activeElement.dispatchEvent(new Event('change'))"
    )
    exported = download(browser, tmp_path)
    decisions = read_decisions(exported)
    found = [decisions.at(each) for each in errors_view().listed[:4]]

    assert browser.run(DECIDED).startswith("3 of 72 places decided")
    assert [each.holds for each in found] == ["predicted", "gold", "both", ""]
    assert (found[2].comment, found[2].reviewer) == ("=look", '"ada')
    assert '\'=look\t"""ada"\t' in exported.read_text(encoding="utf-8")


def test_exported_decisions_go_back_into_the_command_and_its_page(
    browser: Browser, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, again = tmp_path / "page.html", tmp_path / "again.html"
    command = ["errors", str(GOLD), str(PREDICTED), "--layer", "entity=2", "--layer", "risk=3"]
    assert main([*command, "-o", str(page)]) == 0
    fresh(browser, page)
    keys(browser, "j2")
    keys(browser, "jj1")
    exported = download(browser, tmp_path)

    assert main([*command, "--decisions", str(exported), "-o", str(again)]) == 0
    assert "decisions: 2 used, 0 stale, 0 lost, 0 in conflict" in capsys.readouterr().err
    fresh(browser, again)
    assert browser.run(DECIDED).startswith("2 of 72 places decided")


@pytest.mark.parametrize("mark", ["\t", ",", ";"])
def test_decisions_that_a_spreadsheet_has_saved_are_imported(
    browser: Browser, pages: dict[str, Path], tmp_path: Path, mark: str
) -> None:
    comments = ['"a", b' if mark == "\t" else '"a", b;\nc', "'=sum"]
    view = errors_view()
    lines = [line(view, n, comment=comment, choice="Gold ") for n, comment in enumerate(comments)]
    with (tmp_path / "x.csv").open("w", encoding="utf-8-sig", newline="") as file:
        rows = csv.DictWriter(file, list(lines[0]), delimiter=mark)
        rows.writeheader()
        rows.writerows(lines)
    fresh(browser, pages["errors"])
    give(browser, tmp_path / "x.csv")

    assert browser.run(DECIDED) == "2 of 72 places decided; 2 lines imported"
    assert browser.run("lines.map((each) => each.comment)") == [comments[0], "=sum"]


def line(view: View, number: int, **change: str) -> dict[str, str | int]:
    place = view.listed[number]
    rest = {"choice": "gold", "comment": "", "reviewer": "bob", "time": "2026-01-01T00:00:00Z"}
    return {**place.key, **rest, **change}


def test_stale_lost_and_conflicting_decisions_are_counted_and_never_applied(
    browser: Browser, tmp_path: Path
) -> None:
    view = errors_view()
    view.decision_lines = [
        line(view, 0, fingerprint="000000000000"),
        line(view, 1, document="elsewhere"),
        line(view, 2),
        line(view, 2, reviewer="carl", choice="both"),
        line(view, 3),
    ]
    view.write(tmp_path / "given.html")
    fresh(browser, tmp_path / "given.html")

    assert browser.run(DECIDED) == "1 of 72 places decided; 1 stale; 1 in conflict; 1 lost"
    assert browser.run("places.slice(0, 4).map((place) => stateOf(place).choice)") == ["", "", "", "gold"]
    keys(browser, "jjj3")
    assert browser.run("[...lines].filter((each) => each.confirmed).map((each) => each.choice)") == ["both"]
    assert browser.run("stateOf(places[2]).state") == "decided"
    select(browser, "f-done", "stale")
    assert browser.run(COUNT) == "1 of 72 places"


def test_decisions_about_other_words_are_stale_and_stay_with_their_files(
    browser: Browser, tmp_path: Path
) -> None:
    pages = {}
    for batch, name in (("first", "Ada Smith"), ("second", "Tom Clark")):
        folder = tmp_path / batch
        folder.mkdir()
        for side, spans in (("gold", [[10, 19, "PER"]]), ("predicted", [])):
            text = json.dumps({"text": f"Yesterday {name} went home 😀.", "label": spans})
            (folder / f"{side}.jsonl").write_text(text, encoding="utf-8")
        pages[batch] = folder / "errors.html"
        assert (
            main(["errors", f"{folder}/gold.jsonl", f"{folder}/predicted.jsonl", "-o", str(pages[batch])])
            == 0
        )
    fresh(browser, pages["first"])
    keys(browser, "j1")
    again(browser, pages["second"])
    exported = download(browser, tmp_path)

    assert browser.run(DECIDED) == "0 of 1 place decided; 1 stale"
    assert len(exported.read_text(encoding="utf-8").splitlines()) == 1
    keys(browser, "j2")
    assert browser.run("[stateOf(places[0]).choice, lines.length]") == ["gold", 2]
    folder = pages["first"].parent
    narrow = ["--window", "2", "-o", str(pages["first"])]
    assert main(["errors", f"{folder}/gold.jsonl", f"{folder}/predicted.jsonl", *narrow]) == 0
    again(browser, pages["first"])
    exported.unlink()
    download(browser, tmp_path)
    assert browser.run("stateOf(places[0]).choice") == "predicted"
    rows = csv.DictReader(exported.read_text(encoding="utf-8").splitlines(), delimiter="\t")
    assert [(each["choice"], "words_digest" in each) for each in rows] == [("predicted", False)]
    give(browser, exported)
    assert browser.run(DECIDED) == "1 of 1 place decided; 0 lines imported"
    fresh(browser, pages["first"])
    give(browser, exported)
    again(browser, pages["second"])
    assert browser.run(DECIDED) == "0 of 1 place decided; 1 stale"


def test_keys_say_where_the_list_ends_and_begin_anew_where_a_filter_has_dropped_the_place(
    browser: Browser, pages: dict[str, Path]
) -> None:
    fresh(browser, pages["errors"])
    select(browser, "f-done", "undecided")
    browser.run("bring(places.at(-1))")
    keys(browser, "j")
    assert browser.run(DECIDED).endswith("; this is the last place")
    keys(browser, "2j")

    assert browser.run(COUNT) == "71 of 72 places"
    assert browser.run(CURRENT) == browser.run("places[0].anchor")
    keys(browser, "k")
    assert browser.run(DECIDED).endswith("; this is the first place")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a\tb\n1\t2\n", "nothing was imported: the file has no decisions: it has no column document"),
        ("[1, null]", "nothing was imported: line 1: start is no position"),
        ("[", "nothing was imported: the file has no decisions"),
        ("", "nothing was imported: the file has no decisions"),
        ("Grüße", "nothing was imported: not UTF-8: save the file as plain text in UTF-8"),
        ('document,start\na,"1\n', "nothing was imported: line 2: quotation marks are wrong"),
    ],
)
def test_import_of_another_file_is_refused_in_a_sentence(
    browser: Browser, pages: dict[str, Path], tmp_path: Path, text: str, said: str
) -> None:
    (tmp_path / "x.tsv").write_text(text, encoding="cp1252")
    fresh(browser, pages["errors"])
    answer = browser("Runtime.evaluate", expression="document.getElementById('import')")
    browser("DOM.setFileInputFiles", files=[str(tmp_path / "x.tsv")], objectId=answer["result"]["objectId"])
    browser.wait_for(f"{DECIDED}.includes('import')")

    assert said in browser.run(DECIDED)
    assert browser.run("lines.length") == 0


PLACES_OF_WORDS = """[...document.querySelectorAll('.sentence')].map((sentence) =>
  [...sentence.textContent.matchAll(/[א-ת]+|Frau|Weiß/g)].map(([word]) => {
    const walk = document.createTreeWalker(sentence, NodeFilter.SHOW_TEXT), range = document.createRange();
    for (let node; (node = walk.nextNode());) {
      const start = node.data.indexOf(word);
      if (start < 0 || node.parentElement.localName === "i") continue;
      range.setStart(node, start);
      range.setEnd(node, start + word.length);
      return Math.round(range.getBoundingClientRect().left);
    }
  }))"""


def test_marks_have_tooltips_and_do_not_move_the_text(browser: Browser, tmp_path: Path) -> None:
    texts = ("שלום עולם טוב", "Frau Anna 😀 Weiß")
    marked = [
        Place((f"d{n}", "l", 0, n), "", [MarkedText(text, marks)], [Line("x", ())])
        for n, (text, marks) in enumerate(
            (text, marks)
            for text in texts
            for marks in ([], [Mark(0, 5, 9, "a very long label", True, "token 1")])
        )
    ]
    View(listed=marked).write(tmp_path / "marks.html")
    fresh(browser, tmp_path / "marks.html")
    widths = browser.run(PLACES_OF_WORDS)

    assert widths[0] == widths[1]
    assert widths[0] == sorted(widths[0], reverse=True)
    assert widths[2] == widths[3]
    assert (
        browser.run("[...document.querySelectorAll('.piece')].map((e) => e.title)")
        == ["gold · a very long label · token 1"] * 2
    )
    assert browser.run("document.querySelectorAll('.piece')[1].lastChild.previousSibling.data") == "Anna"
    ranges = ["d0 · l · 0 (zero length)", "d1 · l · 0", "d2 · l · 0–1", "d3 · l · 0–2"]
    assert browser.run("[...document.querySelectorAll('.where')].map((e) => e.textContent)") == ranges
    browser.run("document.querySelector('.piece').focus()")
    assert browser.run("document.getElementById('tip').textContent") == "gold · a very long label · token 1"


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_inert(browser: Browser, tmp_path: Path, text: str) -> None:
    hostile_view(text).write(tmp_path / "hostile.html")
    fresh(browser, tmp_path / "hostile.html")
    keys(browser, "j?")

    assert browser.run("window.ran === undefined")
    assert browser.run(f"{LIST}.length") == 1
    assert browser.complaints == []


def test_the_flag_of_a_region_is_shown_and_other_tags_are_numbers(browser: Browser, tmp_path: Path) -> None:
    tags = "".join(chr(0xE0000 + ord(letter)) for letter in "gbeng")
    flag = f"\U0001f3f4{tags}\U000e007f"
    hostile_view(f"{flag} {tags}").write(tmp_path / "flag.html")
    fresh(browser, tmp_path / "flag.html")

    shown = browser.run(f"{LIST}[0].textContent")

    assert f"{flag} U+E0067U+E0062" in shown
    assert tags not in shown.replace(flag, "")


def test_seven_thousand_places_open_and_filter(browser: Browser, tmp_path: Path) -> None:
    view = errors_view()
    view.listed = [
        place._replace(at=(f"{n}-{place.at[0]}", *place.at[1:])) for n in range(100) for place in view.listed
    ]
    view.write(tmp_path / "big.html")
    fresh(browser, tmp_path / "big.html", is_ready=LOADED)

    assert browser.run(COUNT) == "7,200 of 7,200 places"
    browser.run("window.dispatchEvent(new Event('beforeprint'))")
    assert browser.run("byId('printed').textContent") == "Printed are the first 1,000 of 7,200 places."
    browser.run("search.value = '99-a001'; search.dispatchEvent(new Event('input'))")
    assert browser.run("found.length > 0 && found.every((place) => place.at[0] === '99-a001')")


def test_search_finds_the_words_of_each_place_however_the_row_is_written(
    browser: Browser, tmp_path: Path
) -> None:
    texts = [
        *('a "b" c', "line\nΣ.", "ΟΔΟΣ", "İstanbul <b>&", "back\\slash"),
        *("𐐀𐐁 Łódź", "fingerprint", "12.5-a"),
    ]
    View(
        listed=[
            Place(("d", "x", n, n + 1), "abc", [MarkedText(text)], [Line("missed", ["value"])])
            for n, text in enumerate(texts)
        ],
        facets=[Facet("label", "Label", True)],
    ).write(tmp_path / "x.html")
    fresh(browser, tmp_path / "x.html")
    searches = [
        *("a", '"b"', "σ", "ς", "οδοσ", "οδος", "i̇stanbul", "istanbul", "<b>&", "k\\s", "𐐨𐐩", "łódź", "ŁÓDŹ"),
        *("abc", "value", "null", "12.5-a", "missed", "finger", "missed a", "d 12"),
    ]

    for text in searches:
        browser.run(f"search.value = {json.dumps(text)}; search.dispatchEvent(new Event('input'))")
        wanted = f"{json.dumps(text)}.toLowerCase().split(/\\s+/).filter(Boolean)"
        expected = f"places.filter((place) => {wanted}.every((word) => place.searched().includes(word)))"
        assert browser.run("found.map((place) => place.index)") == browser.run(
            f"{expected}.map((place) => place.index)"
        ), text
    assert browser.run("found.length") == 1


def test_choice_that_is_not_possible_says_so(browser: Browser, tmp_path: Path) -> None:
    view = errors_view()
    view.listed = [view.listed[0]._replace(impossible={"both": "they overlap"})]
    view.write(tmp_path / "one.html")
    fresh(browser, tmp_path / "one.html")
    keys(browser, "j3")

    assert browser.run(DECIDED) == "0 of 1 place decided; they overlap"
    assert browser.run(
        "[...document.querySelectorAll('input[type=radio]')].map((input) => input.disabled)"
    ) == [value == "both" for value, _ in view.choices]


def test_keys_are_listed_over_the_page(browser: Browser, pages: dict[str, Path]) -> None:
    fresh(browser, pages["errors"])
    browser.run("document.querySelector('#places').scrollIntoView()")
    before = browser.run("scrollY")
    keys(browser, "?")

    assert browser.run("byId('keys').open && byId('keys').getBoundingClientRect().bottom <= innerHeight")
    assert browser.run("scrollY") == before


def test_page_without_places_is_accessible_and_has_no_list(
    browser: Browser, tmp_path: Path, axe: str
) -> None:
    dots = [[Find("base", {"label": "base"}), Dot(0.8, is_baseline=True)], ["large", Dot(0.86, 0.84, 0.88)]]
    View(shown_tables=[Table("F1", ["system", "F1"], dots)]).write(tmp_path / "none.html")
    fresh(browser, tmp_path / "none.html")
    browser.run(axe + "; 0")
    boxes = (
        "['.dotted > span', '.dots b'].map((each) => document.querySelector(each).getBoundingClientRect())"
    )
    number, dot = browser.run(f"{boxes}.map((box) => box.top + box.height / 2)")
    assert abs(number - dot) < 2  # they are on one line

    assert browser.run(FOUND_BY_AXE) == []
    assert browser.run("byId('places').hidden && byId('help').hidden")
    assert browser.run("document.querySelector('button[data-find]').disabled")  # there is no list
    assert browser.run("document.querySelector('noscript').textContent.includes('hidden')")


def test_printed_page_ends_with_the_sheet_to_sign(browser: Browser, tmp_path: Path) -> None:
    class Signed(View):
        has_sign_off = True

    view = errors_view()
    view.decision_lines = [line(view, 0)]
    values = {
        name: getattr(view, name) for name in ("facets", "choices", "store", "decision_lines", "listed")
    }
    Signed(**values).write(tmp_path / "signed.html")
    fresh(browser, tmp_path / "signed.html")

    said = "1 of 72 places decided; 71 not decided; reviewers: bob"
    assert browser.run("byId('signed').textContent") == said
    assert browser.run("document.querySelectorAll('#sign-off .line').length") == 3


def test_printed_page_has_its_places_and_no_filters(browser: Browser, pages: dict[str, Path]) -> None:
    fresh(browser, pages["errors"])
    keys(browser, "j2c")
    browser.run(
        "document.activeElement.value = 'look'; document.activeElement.dispatchEvent(new Event('change'))"
    )
    browser("Emulation.setEmulatedMedia", media="print")
    browser.run("window.dispatchEvent(new Event('beforeprint'))")

    assert "“look”" in browser.run(f"{LIST}[0].innerText")
    assert browser.run("byId('printed').hidden")
    assert browser.run(f"{LIST}.length") == 72
    assert browser.run("getComputedStyle(document.getElementById('filters')).display") == "none"
    browser("Emulation.setEmulatedMedia", media="")


def test_page_has_its_numbers_without_a_script(browser: Browser, pages: dict[str, Path]) -> None:
    browser("Emulation.setScriptExecutionDisabled", value=True)
    loaded = "document.readyState === 'complete' && location.href.endsWith('errors.html')"

    try:
        browser.open(pages["errors"], width=390, is_ready=loaded)
        cells = browser.run("document.querySelectorAll('#tables td').length")
        noted = browser.run("document.querySelector('noscript').innerText")
        filters = browser.run("document.getElementById('filters').offsetHeight")
        width = browser.run("document.documentElement.scrollWidth")
    finally:
        browser("Emulation.setScriptExecutionDisabled", value=False)

    assert cells > 10
    assert "The list of places needs JavaScript" in noted
    assert filters == 0
    assert width <= 390
