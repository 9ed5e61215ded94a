"""The page of findings in a real browser."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from browser import Browser, in_browser, select

pytest.importorskip("jinja2")

from clueval.cli import main
from clueval.evaluation.run import score
from clueval.findings.choice import Choice, expected, metrics_of, reports_of
from clueval.spans.filters import parse_where
from clueval.studies.errors import errors

pytestmark = in_browser

SAMPLE = Path(__file__).parents[2] / "clueval" / "samples" / "german"
LAYERS = {"entity": 2, "risk": 3}


Page = Callable[..., tuple[Path, dict[str, Any]]]


@pytest.fixture
def page(tmp_path: Path) -> Page:
    def write(gold: Path, predicted: Path, choice: Choice, **options: Any) -> tuple[Path, dict[str, Any]]:
        where = {key: sorted(values) for key, values in choice.where.conditions}
        result = score(
            gold, predicted, metrics=metrics_of(choice), merge=choice.merge, where=where, **options
        )
        path = tmp_path / "page.html"
        errors(gold, predicted, choice, **options).write_page(path)
        return path, result.to_dict()

    return write


def sample_page(page: Page, choice: Choice) -> tuple[Path, dict[str, Any]]:
    return page(SAMPLE / "gold.vrt", SAMPLE / "predicted.vrt", choice, layers=LAYERS, token_id=4)


def cards(browser: Browser) -> int:
    browser.run("while (!document.getElementById('more').hidden) document.getElementById('more').click()")
    return int(browser.run("document.querySelectorAll('.card').length"))


def listed(browser: Browser) -> int:
    """The number of errors in the cards that fit the filters, which the page must also say."""
    places = cards(browser)
    errors = int(browser.run("document.querySelectorAll('.error:not(.off)').length"))
    said = browser.run("document.querySelector('#count b').textContent")
    assert said == f"{places:,} place{'s' * (places != 1)}, {errors:,} error{'s' * (errors != 1)}"
    return errors


def test_the_page_opens_without_complaint_and_asks_the_network_for_nothing(
    browser: Browser, page: Page
) -> None:
    path, _ = sample_page(page, Choice(1, "entity"))

    for width, dark in ((1280, False), (390, True)):
        browser.open(path, width=width, dark=dark)

        assert browser.complaints == []
        assert browser.requests == [path.as_uri()]
        assert browser.run("document.documentElement.scrollWidth") <= width


CHOICES = [
    *(Choice(), Choice(merge=True), Choice(where=parse_where("risk=high"))),
    *(Choice(1), Choice(2), Choice(3, "entity"), Choice(1, "risk", merge=True)),
]


@pytest.mark.parametrize("choice", CHOICES)
def test_the_page_lists_as_many_errors_as_the_scores_count(
    browser: Browser, page: Page, choice: Choice
) -> None:
    path, report = sample_page(page, choice)
    counts = [expected(sequence, choice) for sequence in reports_of(report["metrics"], choice).values()]

    browser.open(path)

    for side in ("gold", "predicted"):
        select(browser, "f-side", side)
        assert listed(browser) == sum(count[side] for count in counts)


LONG = [pytest.param(each, marks=pytest.mark.long) for each in (Choice(merge=True), Choice(3, "entity"))]


@pytest.mark.parametrize("choice", [Choice(), Choice(1, "entity"), *LONG])
def test_a_click_on_a_cell_lists_exactly_what_it_counts(browser: Browser, page: Page, choice: Choice) -> None:
    path, _ = sample_page(page, choice)
    browser.open(path)
    buttons = browser.run("document.querySelectorAll('.heat button').length")
    assert buttons > 10

    for number in range(buttons):
        browser.run(f"document.querySelectorAll('.heat button')[{number}].click()")
        counted = browser.run(f"document.querySelectorAll('.heat button')[{number}].textContent")
        assert listed(browser) == int(counted)

    browser.run(f"document.querySelectorAll('.heat button')[{buttons - 1}].click()")
    assert browser.run("document.querySelectorAll('.heat button[aria-pressed=true]').length") == 0


def test_text_of_the_corpus_has_its_language(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    sides = [str(SAMPLE / f"{side}.vrt") for side in ("gold", "predicted")]
    assert main(["errors", *sides, "--layer", "entity=2", "--html", str(path), "--lang", "de-AT", "-q"]) == 0
    assert path.read_text(encoding="utf-8").count('lang="de-AT"') > 50

    browser.open(path)

    texts = browser.run(
        "[...document.querySelectorAll('.sentence, .error bdi:not(.label)')].map((e) => e.lang)"
    )
    assert len(texts) > 50
    assert set(texts) == {"de-AT"}
    assert browser.run("document.documentElement.lang") == "de"


def test_filters_narrow_the_list_and_reset_widens_it(browser: Browser, page: Page) -> None:
    path, _ = sample_page(page, Choice(1))
    browser.open(path)
    everything = listed(browser)

    select(browser, "f-reason", "missed")
    missed = listed(browser)
    assert 0 < missed < everything
    assert browser.run(
        "[...document.querySelectorAll('.error:not(.off) .what')].every((w) => w.textContent === 'missed')"
    )

    browser.run("document.getElementById('reset').click()")
    assert listed(browser) == everything

    browser.run(
        "(() => { const f = document.getElementById('f-text'); f.value = 'wiesenbrück';"
        " f.dispatchEvent(new Event('input')); })()"
    )
    browser.wait_for(f"document.querySelectorAll('.error').length < {everything}")
    assert 0 < listed(browser) < everything


def test_an_address_leads_to_its_card_whatever_the_filters_hide(browser: Browser, page: Page) -> None:
    path, _ = sample_page(page, Choice(1))
    browser.open(path)
    anchor = browser.run("document.getElementById('list').lastElementChild.id")
    select(browser, "f-class", "tiling")

    browser.run(f"void (location.hash = {json.dumps(anchor)})")

    browser.wait_for(f"document.getElementById({json.dumps(anchor)}) !== null")
    browser.wait_for(
        f"Math.abs(document.getElementById({json.dumps(anchor)}).getBoundingClientRect().top) < 900"
    )


@pytest.mark.parametrize("filters", ["", "f:reason=missed&at="])
def test_a_link_opens_the_page_at_its_card(
    browser: Browser, page: Page, tmp_path: Path, filters: str
) -> None:
    path, _ = sample_page(page, Choice(1))
    browser.open(path)
    select(browser, "f-reason", "missed")
    anchor = browser.run("document.getElementById('list').lastElementChild.id")
    copy = tmp_path / "copy.html"
    copy.write_bytes(path.read_bytes())

    browser.open(copy, fragment=f"#{filters}{anchor}")

    assert browser.run("document.querySelector('.card.current').id") == anchor
    assert browser.run("document.getElementById('f-reason').value") == ("missed" if filters else "")


def test_filters_and_the_place_at_hand_are_in_the_address(browser: Browser, page: Page) -> None:
    path, _ = sample_page(page, Choice(1))
    browser.open(path)
    select(browser, "f-side", "gold")
    select(browser, "f-reason", "missed")
    errors = listed(browser)
    for key in "jjk":
        browser.run(f"document.dispatchEvent(new KeyboardEvent('keydown', {{key: '{key}'}}))")
    current = browser.run("document.querySelector('.card.current').id")
    address = browser.run("location.href")
    assert current == browser.run("document.querySelector('.card').id")

    browser.open(path)
    browser.run(f"void (location.href = {json.dumps(address)})")

    browser.wait_for("document.querySelector('.card.current') !== null")
    assert listed(browser) == errors
    assert browser.run("document.getElementById('f-side').value") == "gold"
    assert browser.run("document.querySelector('.card.current').id") == current
    assert browser.complaints == []


def test_cards_of_the_script_are_those_of_the_template(browser: Browser, page: Page) -> None:
    path, _ = sample_page(page, Choice(1, "entity"))
    browser.open(path)
    browser.run("while (!document.getElementById('more').hidden) document.getElementById('more').click()")

    same = browser.run(
        """(async () => {
          const there = new DOMParser().parseFromString(document.documentElement.outerHTML, "text/html");
          const text = (card) => [card.id, ...card.querySelectorAll(".place, .sentence, .error")].map(
            (each) => typeof each === "string" ? each : each.textContent.replace(/\\s+/g, " ").trim());
          return [...there.querySelectorAll(".card")].map(text);
        })()"""
    )

    assert same == template_cards(path)


def template_cards(path: Path) -> list[list[str]]:
    """The id, the place, the text and the errors of each card that the file has for browsers without a script."""
    found = []
    for card in re.findall(
        r'<li class="card" id="([^"]*)">(.*?)</ul>', path.read_text(encoding="utf-8"), re.DOTALL
    ):
        parts = re.findall(
            r'<a class="place"[^>]*>(.*?)</a>|<p class="sentence"[^>]*>(.*?)</p>|<li class="error">(.*?)</li>',
            card[1],
            re.DOTALL,
        )
        texts = [html.unescape(re.sub(r"<[^>]*>", "", "".join(part))) for part in parts]
        found.append([html.unescape(card[0]), *(" ".join(text.split()) for text in texts)])
    return found


MARKUP = [
    "<script>window.broken=1</script>",
    "</script><script>window.broken=1</script>",
    "<!--<script>",
    "<img/src=x/onerror=window.broken=1>",
    "\"'&amp;`${window.broken=1}",
    "{{7*7}}{%raw%}",
    "]]>",
    "\u202eevil\u2066",
    "\x1b[31m\x07",
]
"""Texts that break a page which does not escape them."""

HOSTILE = [
    *MARKUP,
    "👩\u200d👩\u200d👧",
    "a\u2028b",
    "x" * 50_000,
]


def test_hostile_text_is_shown_as_text(browser: Browser, page: Page, tmp_path: Path) -> None:
    label = "<b>onclick=window.broken=1"
    for side, tag in (("gold", f"B-{label}"), ("predicted", "O")):
        lines = [f"{token}\t{tag}" for token in HOSTILE]
        text = "".join(f"{line}\n\n" for line in lines)
        (tmp_path / f"{side}.conll").write_text(text, encoding="utf-8", newline="\n")
    path, _ = page(tmp_path / "gold.conll", tmp_path / "predicted.conll", Choice(1), input="conll")

    browser.open(path)

    assert browser.complaints == []
    assert browser.run("typeof window.broken") == "undefined"
    assert browser.run("document.scripts.length") == 3
    assert cards(browser) == len(HOSTILE)
    shown = browser.run("[...document.querySelectorAll('.card .sentence')].map((s) => s.textContent)")
    assert shown[0] == label + HOSTILE[0]
    assert "U+202E" in shown[7]
    assert shown[9] == label + "👩\u200d👩\u200d👧"
    assert len(shown[11]) >= 50_000
    assert browser.run("document.documentElement.scrollWidth") <= 1280


@pytest.mark.long
def test_ten_thousand_findings_stay_usable(browser: Browser, page: Page, tmp_path: Path) -> None:
    for side in ("gold", "predicted"):
        with (tmp_path / f"{side}.conll").open("w", encoding="utf-8") as file:
            for number in range(10_000):
                label = ("PER", "LOC", "ORG")[number % 3]
                words = [f"w{number * 7 % 997}" for number in range(number, number + 20)]
                tag = f"B-{label}" if side == "gold" else "O"
                file.write(f"Name{number}\t{tag}\n" + "".join(f"{word}\tO\n" for word in words) + "\n")
    path, _ = page(tmp_path / "gold.conll", tmp_path / "predicted.conll", Choice(1))

    browser.open(path)

    assert path.stat().st_size < 8_000_000
    assert "10,000 places" in browser.run("document.getElementById('count').textContent")
    assert browser.run("document.querySelectorAll('.card').length") < 500
    select(browser, "f-label", '["label","LOC"]')
    assert "3,333" in browser.run("document.getElementById('count').textContent")
    browser.run(
        "(() => { const f = document.getElementById('f-text'); f.value = 'name4999';"
        " f.dispatchEvent(new Event('input')); })()"
    )
    browser.wait_for("document.getElementById('count').textContent.startsWith('1 place, 1 error of')")
