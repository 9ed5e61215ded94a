"""The page of a masking report: what it shows, in which order, and what it must not show."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from browser import Browser, in_browser

import clueval
from clueval import Document, MaskingReport, Span
from clueval.findings.decisions import COLUMNS, fingerprint
from clueval.studies.masking.leak import NO_EXCERPT
from clueval.studies.masking.page import render

pytest.importorskip("jinja2")

TEXT = "Frau <Weiß> klagt gegen Karl Öz. <Weiß> wohnt in Köln bei <Weiß>."
GOLD = [(5, 11, "e1", "high"), (24, 31, "e2", "high"), (33, 39, "e1", "high"), (49, 53, "e3", "low")]
MASKED = [(5, 11), (12, 17), (24, 28)]


def report(text: str = TEXT, **settings: Any) -> MaskingReport:
    gold = [Span(s, e, "PER", {"entity_id": entity, "identifier_type": kind}) for s, e, entity, kind in GOLD]
    return clueval.masking(
        [Document("d", {"x": gold}, text=text, unit="character")],
        [Document("d", {"x": [Span(*one, "M") for one in MASKED]}, text=text, unit="character")],
        **settings,
    )


def page(found: MaskingReport, *, text: bool = True) -> str:
    return render(found, title=found._title, store=found._title, text=text)


def test_the_sections_stand_in_the_order_in_which_they_are_needed() -> None:
    titles = re.findall(r"<h2[^>]*>(.*?)</h2>", page(report(conventions="tab")))

    assert titles == [
        "By class, riskiest first",
        "1 document to review, riskiest first",
        "3 leaks, riskiest first",
        "Masked without need",
        "Replacements that differ",
        "As other programs count",
        "All figures",
        "Record of the examination",
    ]


def test_the_page_begins_with_the_sentence_on_documents() -> None:
    found = page(report())

    assert found.index("1 of 1 document leaks") < min(
        map(found.index, ("By class, riskiest", "metrics:masking"))
    )
    assert 'class="verdict bad"' in found


def test_text_never_becomes_markup() -> None:
    found = page(report())

    assert "<Weiß>" not in found
    assert "&lt;Weiß&gt;" in found


def test_exposed_text_is_marked_and_masked_text_is_grey() -> None:
    found = page(report())

    assert re.search(r'<span class="masked own[^>]*>Karl</span>', found)
    assert re.search(r'<span class="exposed own[^>]*>Öz</span>', found)


def test_leaks_show_the_other_places_of_their_entity_with_links() -> None:
    gold = [Span(0, 4, "A", {"entity_id": "1"}), Span(5, 9, "A", {"entity_id": "1"})]
    text = "Anna Anna"
    found = page(
        clueval.masking(
            [Document("d", {"x": gold}, text=text, unit="character")],
            [Document("d", {"x": []}, text=text, unit="character")],
        )
    )

    anchors = {"at:d:x:0-3", "at:d:x:5-8"}
    assert (
        set(re.findall(r'href="#(at:[^"]+)"', found)) == set(re.findall(r'id="(at:[^"]+)"', found)) == anchors
    )
    assert "masked in 0 of 2 places" in found
    assert all(found.count(f'href="#{each}">characters') == 1 for each in anchors)


def test_without_text_the_page_has_positions_only() -> None:
    found = page(report(), text=False)

    for word in ("Weiß", "Karl", "Köln", "klagt"):
        assert word not in found
    assert "exposed: 29 to 31" in found


def test_needless_masks_are_listed_by_frequency() -> None:
    assert "<bdi>klagt</bdi> <span>1 ×</span>" in page(report())


def test_the_page_loads_nothing() -> None:
    found = page(report())

    assert not re.search(r"<(link|script|img|iframe)[^>]* (src|href)=\"(?!data:)", found)
    assert "http" not in found.replace("http-equiv", "")


def test_leaks_with_the_same_range_are_one_place() -> None:
    gold = [Span(0, 4, "PER", {"identifier_type": "low"}), Span(0, 4, "ORG", {"identifier_type": "high"})]
    found = page(
        clueval.masking(
            [Document("d", {"x": gold}, text="Anna", unit="character")],
            [Document("d", {"x": []}, text="Anna", unit="character")],
        )
    )

    assert found.count('<li class="card leak"') == 1
    assert re.findall(r'<span class="what"><bdi>(\w+)</bdi>', found) == ["high", "low"]
    (line,) = found.partition('id="data">')[2].partition("</script>")[0].split("\n")[1:-1]
    assert json.loads(line)[2] == fingerprint([("gold", ((0, 4),), "PER"), ("gold", ((0, 4),), "ORG")])


def test_places_beyond_those_with_a_context_show_their_own_text(monkeypatch: pytest.MonkeyPatch) -> None:
    found = report()
    bare = replace(found, leaks=[replace(leak, excerpt=NO_EXCERPT, siblings=()) for leak in found.leaks])

    assert re.search(r'<span class="exposed own[^>]*>&lt;Weiß&gt;</span></p>', page(bare))


def test_figures_as_reviewed_and_decisions_are_on_the_page(tmp_path: Path) -> None:
    spans = fingerprint([("gold", ((24, 31),), "PER"), ("predicted", ((24, 28),), "M")])
    values = ("d", "x", 24, 30, spans, "harmless", "<i>no</i>", "<b>Ada</b>", "")
    path = tmp_path / "d.json"
    path.write_text(json.dumps([dict(zip(COLUMNS, values, strict=True))]), encoding="utf-8")

    found = page(report(decisions=str(path)))

    assert "As reviewed, 1 of 1 document leaks" in found
    assert "<h3><bdi>x, as reviewed</bdi></h3>" in found
    assert "reviewed, x: classes" in found
    assert "decision: harmless, &lt;b&gt;Ada&lt;/b&gt;, &lt;i&gt;no&lt;/i&gt;" in found
    assert (
        'The leaks above were examined: <span id="signed">1 of 4 places decided (1 harmless), 3 not decided; '
        "reviewers: &lt;b&gt;Ada&lt;/b&gt;</span>"
    ) in found
    assert "<i>no" not in found
    assert "2 leaks, riskiest first</h2>" in found
    assert "The last place is set apart: it was decided to be harmless" in found
    assert re.findall(r'<li class="card leak" id="([^"]+)"', found)[-1] == "at:d:x:24-30"


def test_a_corpus_without_a_leak_says_so() -> None:
    document = Document("d", {"x": [Span(0, 4, "PER")]}, text="Anna", unit="character")
    found = page(clueval.masking([document], [document]))

    assert 'class="verdict good"' in found
    assert "No mention can be read." in found
    assert (
        "0 of 1 document leaks; if these are a random sample, under 95 % of all do (95 % confidence)."
        in found
    )


def test_the_page_is_written_whole(tmp_path: Path) -> None:
    report().write_page(tmp_path / "p.html", text=False)

    assert (tmp_path / "p.html").read_text(encoding="utf-8") == page(report(), text=False)


def test_mentions_without_a_class_are_called_so() -> None:
    gold = Document("d", {"x": [Span(0, 3, "PER")]}, text="Ada geht.", unit="character")

    found = page(clueval.masking([gold], [Document("d", {"x": []}, text=gold.text, unit="character")]))

    assert '<span class="what"><bdi>no class</bdi></span>' in found


@in_browser
def test_the_other_places_of_an_entity_are_printed(browser: Browser, tmp_path: Path) -> None:
    report().write_page(tmp_path / "page.html")
    browser.open(tmp_path / "page.html")
    is_shown = "document.querySelector('.siblings').checkVisibility()"
    on_screen = browser.run(is_shown)

    browser("Emulation.setEmulatedMedia", media="print")
    printed = browser.run(is_shown)
    browser("Emulation.setEmulatedMedia", media="")

    assert (on_screen, printed) == (False, True)
