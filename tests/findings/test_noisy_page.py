"""The page of the metric `noisy`: its data are the report's, and in a real browser it shows them.

The tests in a browser are skipped where no Chromium is found.
"""

from __future__ import annotations

import doctest
import json
import re
import sys
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest

pytest.importorskip("jinja2")
pytest.importorskip("rapidfuzz")

from browser import Browser, in_browser, select
from test_page import MARKUP

from clueval.core.span import Span
from clueval.evaluation.result import Result
from clueval.evaluation.signature import Signature
from clueval.files.errors import MissingExtra
from clueval.findings.noisy import write_page
from clueval.first.metrics.counting import Tally
from clueval.first.metrics.metric import Side
from clueval.first.metrics.noisy import Explanation, Noisy
from clueval.reports import page as html
from clueval.spans.document import Document

Marked = list[tuple[str, str | None]]
"""A text in pieces, each with its label or None."""

TOLKIEN: tuple[Marked, Marked] = (
    [
        ("Tolkien", "PER"),
        (" was a ", None),
        ("writer", "OCC"),
        (" in ", None),
        ("Oxford", "LOC"),
        (" .", None),
    ],
    [
        ("Tolkieene", "PER"),
        (" xas ", None),
        ("wrxxxr", "OCC"),
        (" in ", None),
        ("Oxfrod", None),
        (" ,.", None),
    ],
)
HAMBURG: tuple[Marked, Marked] = (
    [("Hamburg", "LOC"), (" und ", None), ("Kiel", "LOC")],
    [("Hamburg", "LOC"), (" und ", None), ("Kie1", "LOC")],
)


class Found(NamedTuple):
    """What a page is made of."""

    report: dict[str, Any]
    explained: list[tuple[str, Explanation]]


def side(name: str, pieces: Marked) -> Side:
    text, spans = "", []
    for piece, label in pieces:
        if label is not None:
            spans.append(Span(len(text), len(text) + len(piece), label))
        text += piece
    return Side(spans, document=Document(name, {}, text=text, unit="character"))


def found(*pairs: tuple[Marked, Marked], **settings: Any) -> Found:
    """The pairs of gold and predicted texts, scored and explained; the documents are ``1.bio``, ``2.bio`` …"""
    metric, total, explained = Noisy(**settings), Tally(), []
    for number, (gold, predicted) in enumerate(pairs, 1):
        name = f"{number}.bio"
        own, other = side(name, gold), side(name, predicted)
        total += metric.count(own, other)
        explained += [(name, one) for one in metric.explain(own, other)]
    report = {"noisy": {"label": metric.scores(total, ["label"])}}
    signature = Signature({"metrics": "noisy", "unit": "character"})
    return Found(
        Result(len(pairs), 0, {"gold": 0, "predicted": 0}, report, signature).to_dict(),
        explained,
    )


Rows = list[dict[str, Any]]


def rows_of(page: Path) -> Rows:
    """The data of a page: a dictionary for each gold span."""
    names = ["label", "layer", "gold", "predicted", "matched", "distance", "length", "rate", "pieces"]
    text = re.findall(r'<script type="application/json" id="data">\n(.*?)</script>', page.read_text(), re.S)
    rows, document = [], None
    for kind, *fields in map(json.loads, text[0].splitlines()):
        if kind == "d":
            (document,) = fields
        else:
            rows.append({"document": document, **dict(zip([*names, "opposite"], fields, strict=True))})
    return rows


def texts_of(row: dict[str, Any]) -> tuple[str, str]:
    pairs = [(piece, piece) if isinstance(piece, str) else piece for piece in row["pieces"]]
    return "".join(own for own, _ in pairs), "".join(other for _, other in pairs)


class TestWithoutABrowser:
    def test_the_data_of_the_page_agree_with_the_report(self, tmp_path: Path) -> None:
        report, explained = found(TOLKIEN, HAMBURG)
        write_page(tmp_path / "page.html", report, explained)
        rows = rows_of(tmp_path / "page.html")
        per_label = report["metrics"]["noisy"]["label"]["per_label"]

        assert [row["document"] for row in rows] == ["1.bio"] * 3 + ["2.bio"] * 2
        assert Counter(row["label"] for row in rows) == {label: n["gold"] for label, n in per_label.items()}
        assert sum(row["matched"] for row in rows) == report["metrics"]["noisy"]["label"]["ALL"]["matched"]
        assert [(row["gold"], row["predicted"]) for row in rows[:3]] == [
            ([0, 7], [0, 9]),
            ([14, 20], [14, 20]),
            ([24, 30], None),
        ]

    def test_the_texts_stand_in_pieces_that_show_the_distance(self, tmp_path: Path) -> None:
        report, explained = found(TOLKIEN, HAMBURG)
        write_page(tmp_path / "page.html", report, explained)
        rows = rows_of(tmp_path / "page.html")

        assert rows[0]["pieces"] == ["Tolkie", ["", "e"], "n", ["", "e"]]
        for row, (_, one) in zip(rows, explained, strict=True):
            marked = sum(max(map(len, piece)) for piece in row["pieces"] if not isinstance(piece, str))
            assert texts_of(row) == (
                one.gold_text,
                one.opposite if one.predicted is None else one.predicted_text,
            )
            assert row["length"] == len(one.gold_text)
            assert row["rate"] == one.error_rate
            assert one.predicted is None or marked == row["distance"] == one.distance

    def test_a_span_without_a_counterpart_stands_above_what_is_opposite(self, tmp_path: Path) -> None:
        report, explained = found(TOLKIEN)
        write_page(tmp_path / "page.html", report, explained)

        assert texts_of(rows_of(tmp_path / "page.html")[2]) == ("Oxford", "Oxfrod")

    def test_page_contains_the_scores_and_the_signature(self, tmp_path: Path) -> None:
        report, explained = found(TOLKIEN, HAMBURG)
        group = {"documents": 1, "tokens": 0, "metrics": found(HAMBURG).report["metrics"]}
        write_page(tmp_path / "page.html", {**report, "by": {"year": {"1<2": group}}}, explained)
        text = (tmp_path / "page.html").read_text()

        assert "metrics:noisy|unit:character" in text
        assert (
            "<bdi>ALL</bdi></th><td>4</td><td>3</td><td>75.00</td><td>60.00</td><td>66.67</td><td>5</td>"
            in text
        )
        assert "year 1&lt;2: noisy, label" in text

    def test_without_jinja_the_error_names_the_extra(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "jinja2", None)

        with pytest.raises(MissingExtra, match=r"clueval\[report\]"):
            write_page(tmp_path / "page.html", *found(TOLKIEN))

    def test_the_same_findings_give_the_same_bytes(self, tmp_path: Path) -> None:
        for name in ("one.html", "two.html"):
            write_page(tmp_path / name, *found(TOLKIEN, HAMBURG))

        assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()

    def test_docstrings_of_the_page_module_are_true(self) -> None:
        failed, tried = doctest.testmod(html)

        assert (failed, tried > 0) == (0, True)

    def test_hostile_text_ends_no_element_and_is_all_there(self, tmp_path: Path) -> None:
        pairs: list[tuple[Marked, Marked]] = [([(text, "<b>")], [(text + "?", "<b>")]) for text in HOSTILE]
        write_page(
            tmp_path / "page.html", *found(*pairs, threshold=1), title="<script>window.broken=1</script>"
        )
        text = (tmp_path / "page.html").read_text()

        assert text.count("<script") == text.count("</script>") == 2
        assert "<b>" not in text.partition('<h2 id="scores-title">')[2].partition("</section>")[0]
        assert [texts_of(row)[0] for row in rows_of(tmp_path / "page.html")] == HOSTILE


HOSTILE = [
    *MARKUP,
    "a\u2028b",
    "\ud800",
    "x" * 20_000,
]


Write = Callable[..., Path]


@pytest.fixture
def page(tmp_path: Path) -> Write:
    def write(*pairs: tuple[Marked, Marked], **settings: Any) -> Path:
        write_page(tmp_path / "page.html", *found(*pairs, **settings))
        return tmp_path / "page.html"

    return write


def count(browser: Browser) -> str:
    return str(browser.run("document.getElementById('count').textContent"))


def search(browser: Browser, words: str, cards: int) -> None:
    browser.run(
        f"(() => {{ const f = document.getElementById('f-text'); f.value = {json.dumps(words)};"
        " f.dispatchEvent(new Event('input')); })()"
    )
    browser.wait_for(f"document.querySelectorAll('.card').length === {cards}")


def columns(browser: Browser, card: int = 0) -> list[list[str]]:
    """The columns of a card: gold, sign, predicted."""
    read = "[...column.children].map((cell) => cell.textContent)"
    found: list[list[str]] = browser.run(
        f"[...document.querySelectorAll('.card')[{card}].querySelectorAll('.column')].map((column) => {read})"
    )
    return found


@in_browser
class TestInABrowser:
    @pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
    def test_page_opens_without_complaint_and_asks_the_network_for_nothing(
        self, browser: Browser, page: Write, width: int, dark: bool
    ) -> None:
        path = page(TOLKIEN, HAMBURG)

        browser.open(path, width=width, dark=dark)

        assert browser.complaints == []
        assert browser.requests == [path.as_uri()]
        assert browser.run("document.documentElement.scrollWidth") <= width

    def test_filters_list_what_the_scores_count(self, browser: Browser, page: Write) -> None:
        browser.open(page(TOLKIEN, HAMBURG))
        assert count(browser) == "5 gold spans: 3 matched, 1 not matched, 1 no counterpart"

        for number, words in enumerate(["matched", "not matched", "no counterpart"]):
            select(browser, "f-result", str(number))
            heads = browser.run("[...document.querySelectorAll('.head .result')].map((e) => e.textContent)")
            assert heads == [f"{'✓✗○'[number]} {words}"] * (3 if number == 0 else 1)
        select(browser, "f-label", "0")
        assert count(browser) == "1 of 5 gold spans: 0 matched, 0 not matched, 1 no counterpart"

        browser.run("document.getElementById('reset').click()")
        assert count(browser).startswith("5 gold spans")

    @pytest.mark.parametrize(
        ("words", "cards"), [("KIE1", 1), ("oxfrod", 1), ("2.bio loc", 2), ("nowhere", 0)]
    )
    def test_free_text_finds_both_texts_labels_and_documents(
        self, browser: Browser, page: Write, words: str, cards: int
    ) -> None:
        browser.open(page(TOLKIEN, HAMBURG))

        search(browser, words, cards)

        assert count(browser).startswith(f"{cards} of 5")

    def test_the_texts_stand_one_above_the_other_and_signs_mark_what_differs(
        self, browser: Browser, page: Write
    ) -> None:
        browser.open(page(TOLKIEN, ([("Kiel a", "LOC")], [("Kie1a", "LOC")])))

        assert ["".join(row) for row in zip(*columns(browser), strict=True)] == ["Tolkien", "++", "Tolkieene"]
        assert columns(browser)[6:] == [["", "+", "e"], ["n", "", "n"], ["", "+", "e"]]
        assert columns(browser, 3)[3:] == [["l", "≠", "1"], ["␣", "−", ""], ["a", "", "a"]]
        assert "distance 2 / 7 = 28.57 %" in browser.run("document.querySelector('.card').textContent")

    def test_a_character_stands_over_its_partner_in_any_script(self, browser: Browser, page: Write) -> None:
        pairs = (
            ("Zürich", "Zu\u0308rich"),
            ("東京都庁", "東京部厅"),
            ("नमस्ते", "नमस्त"),
            ("👩\u200d👩\u200d👧 Wien", "👩\u200d👩\u200d👧 Wlen"),
        )
        browser.open(page(*(([(own, "LOC")], [(other, "LOC")]) for own, other in pairs)))

        tops = "[...c.children].filter((_, i) => i !== 1).map((e) => Math.round(e.getBoundingClientRect().x))"
        places = browser.run(f"[...document.querySelectorAll('.column')].map((c) => {tops})")
        assert all(own == other for own, other in places)
        assert columns(browser, 0)[1:3] == [["", "+", "u"], ["ü", "≠", "◌\u0308"]]
        assert browser.run("document.querySelector('.column.replaced').title") == "U+00FC → U+0308"
        assert [own for own, _, _ in columns(browser, 1)] == list("東京都庁")
        assert columns(browser, 3)[0] == ["👩\u200d👩\u200d👧", "", "👩\u200d👩\u200d👧"]

    def test_columns_run_from_right_to_left_where_the_script_does(
        self, browser: Browser, page: Write
    ) -> None:
        browser.open(page(([("שלום", "LOC")], [("שלוס", "LOC")]), HAMBURG))
        x = "[...document.querySelectorAll('.card')[{}].querySelectorAll('.column')].map((c) => c.offsetLeft)"

        right_to_left, left_to_right = (browser.run(x.format(card)) for card in (0, 1))

        assert all(one > following for one, following in pairwise(right_to_left))
        assert all(one < following for one, following in pairwise(left_to_right))

    def test_long_texts_wrap_in_blocks_and_go_on_when_asked(self, browser: Browser, page: Write) -> None:
        browser.open(page(([("abc " * 600, "LOC")], [("abd " * 600, "LOC")])), width=390)
        assert len(columns(browser)) == 1000
        assert browser.run("document.documentElement.scrollWidth") <= 390

        browser.run("document.querySelector('.longer').click(); document.querySelector('.longer').click()")

        assert len(columns(browser)) == 2400
        assert browser.run("document.querySelector('.longer').hidden")

    def test_hostile_text_is_shown_as_text(self, browser: Browser, page: Write) -> None:
        label = "<b>onclick=window.broken=1"
        browser.open(page(*(([(text, label)], [(text + "?", label)]) for text in HOSTILE), threshold=1))
        spoken = browser.run(
            "[...document.querySelectorAll('.card')].map((c) => c.querySelector('p bdi').textContent)"
        )

        assert browser.complaints == []
        assert browser.run("typeof window.broken") == "undefined"
        assert browser.run("document.scripts.length") == 2
        assert spoken[:7] == HOSTILE[:7]
        assert spoken[7:11] == ["U+202EevilU+2066", "U+001B[31mU+0007", "aU+2028b", "U+D800"]
        assert spoken[11] == HOSTILE[11]
        assert "".join(own for own, _, _ in columns(browser)) == HOSTILE[0]
        assert browser.run("document.querySelector('.head .label').textContent") == label
        assert browser.run("document.documentElement.scrollWidth") <= 1280

    def test_a_script_that_came_into_the_page_would_not_run(self, browser: Browser, page: Write) -> None:
        path = page(HAMBURG)
        text = path.read_text()
        path.write_text(text.replace("</body>", "<script>window.broken=1</script></body>"))

        browser.open(path)

        assert browser.run("typeof window.broken") == "undefined"
        assert "Content Security Policy" in browser.complaints[0]

    @pytest.mark.long
    def test_ten_thousand_spans_stay_usable(self, browser: Browser, page: Write) -> None:
        gold: Marked = [(f"Name{n} ", ("PER", "LOC", "ORG")[n % 3]) for n in range(500)]
        predicted: Marked = [(f"Nane{n} ", ("PER", "LOC", "ORG")[n % 3]) for n in range(500)]
        path = page(*[(gold, predicted)] * 20)

        browser.open(path)

        assert path.stat().st_size < 2_000_000
        assert count(browser).startswith("10,000 gold spans: 10,000 matched")
        assert browser.run("document.querySelectorAll('.card').length") < 500
        select(browser, "f-label", "0")
        assert count(browser).startswith("3,340 of 10,000")
        search(browser, "name499 20.bio", 1)

    def test_a_corpus_without_spans_has_a_page(self, browser: Browser, page: Write) -> None:
        browser.open(page(([("nothing", None)], [("nothing", None)])))

        assert browser.complaints == []
        assert count(browser) == "0 gold spans: 0 matched, 0 not matched, 0 no counterpart"
