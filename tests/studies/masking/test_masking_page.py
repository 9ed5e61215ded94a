"""The page of a masking report: what it shows, in which order, what it must not show; decisions in a browser."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from browser import LOADED, Browser, download, in_browser

import clueval
from clueval import Document, MaskingReport, Span
from clueval.reports.place import fingerprint
from clueval.studies.decisions import COLUMNS

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


def page(found: MaskingReport, folder: Path, **how: Any) -> str:
    found.write(folder / "page.html", **how)
    return (folder / "page.html").read_text(encoding="utf-8")


def places(page: str) -> list[Any]:
    """Return the lines of data of a page, without its settings."""
    lines = page.partition('id="data">')[2].partition("</script>")[0].strip().split("\n")
    return [json.loads(line) for line in lines[1:]]


def test_the_tables_stand_in_the_order_in_which_they_are_needed(tmp_path: Path) -> None:
    titles = re.findall(r"<summary>(.*?)</summary>", page(report(conventions="tab"), tmp_path))

    assert titles[:7] == [
        "x: classes, riskiest first, in %",
        "x: labels, in %",
        "x: what was masked, in %",
        "x: further",
        "documents to review, riskiest first",
        "masked without need, most frequent first",
        "as tab counts, in %",
    ]


def test_the_verdict_comes_first_and_the_sign_off_is_shown(tmp_path: Path) -> None:
    found = page(report(), tmp_path)

    assert '<p id="verdict">3 leaks in 1 of 1 documents: do not publish yet; 1 string leak' in found
    assert found.index("1 of 1 document leaks") < found.index("classes, riskiest first")
    assert '<section id="sign-off">' in found


def test_text_never_becomes_markup(tmp_path: Path) -> None:
    found = page(report(), tmp_path)

    assert "<Weiß>" not in found
    assert "\\u003cWeiß\\u003e" in found


def test_without_text_the_page_has_positions_only(tmp_path: Path) -> None:
    found = page(report().showing(text=False), tmp_path)

    for word in ("Weiß", "Karl", "Köln", "klagt"):
        assert word not in found
    assert "readable characters: 29–30" in found


def test_needless_masks_are_listed_by_frequency(tmp_path: Path) -> None:
    found = page(report(), tmp_path)

    assert '<th scope="row" class="text">klagt</th><td>1</td>' in found


def test_leaks_with_the_same_range_are_one_place(tmp_path: Path) -> None:
    gold = [Span(0, 4, "PER", {"identifier_type": "low"}), Span(0, 4, "ORG", {"identifier_type": "high"})]
    found = clueval.masking(
        [Document("d", {"x": gold}, text="Anna", unit="character")],
        [Document("d", {"x": []}, text="Anna", unit="character")],
    )

    ((at, spans, _, lines),) = places(page(found, tmp_path))
    assert at == ["d", "x", 0, 3]
    assert spans == fingerprint([("gold", ((0, 4),), "PER"), ("gold", ((0, 4),), "ORG")])
    assert [line[1][0] for line in lines] == ["high", "low"]


def test_figures_as_reviewed_and_decisions_are_on_the_page(tmp_path: Path) -> None:
    spans = fingerprint([("gold", ((24, 31),), "PER"), ("predicted", ((24, 28),), "M")])
    values = ("d", "x", 24, 30, spans, "harmless", "<i>no</i>", "<b>Ada</b>", "")
    path = tmp_path / "d.json"
    path.write_text(json.dumps([dict(zip(COLUMNS, values, strict=True))]), encoding="utf-8")

    found = page(report(decisions=str(path)), tmp_path)

    assert "as reviewed, 1 of 1 document leaks" in found
    assert "x, as reviewed: classes, riskiest first, in %" in found
    assert "1 of 4 places decided (1 harmless), 3 not decided; reviewers: &lt;b&gt;Ada&lt;/b&gt;" in found
    assert "<i>no" not in found
    assert places(found)[-1][0] == ["d", "x", 24, 30]


def test_mentions_without_a_class_are_called_so(tmp_path: Path) -> None:
    gold = Document("d", {"x": [Span(0, 3, "PER")]}, text="Ada geht.", unit="character")
    found = clueval.masking([gold], [Document("d", {"x": []}, text=gold.text, unit="character")])

    ((_, _, _, ((_, values, *_),)),) = places(page(found, tmp_path))
    assert values[0] == "no class"


NAMES = ((0, 4, "PER"), (5, 9, "PER"), (10, 14, "PER"))


@in_browser
def test_decisions_of_the_page_are_what_masking_counts(browser: Browser, tmp_path: Path) -> None:
    text = "Anna Bert Cora, Anna"
    gold, predicted = (
        [Document("<d&1>", {"label": [Span(*span) for span in spans]}, text=text, unit="character")]
        for spans in (NAMES, ())
    )
    clueval.masking(gold, predicted).write(tmp_path / "page.html")
    browser.open(tmp_path / "page.html")
    browser.run("localStorage.clear()")
    browser.open(tmp_path / "page.html")
    assert browser.run(LOADED)
    for key in "j2j3jj2":  # the last place is the second Anna, which is not annotated
        browser.press(key)
    assert browser.run("document.getElementById('signed').textContent").startswith("3 of 4 places decided")

    found = clueval.masking(gold, predicted, decisions=download(browser, tmp_path))

    reviewed = found.to_dict()["metrics"]["reviewed"]["label"]
    assert [leak.text for leak in found.leaks] == ["Cora"]
    assert [leak.text for leak in found.set_apart] == ["Anna", "Bert", "Anna"]
    assert (reviewed["classes"]["all"]["mentions"], reviewed["classes"]["all"]["protected"]) == (2, 1)
    assert reviewed["string_leaks"] == 0
    assert browser.complaints == []
