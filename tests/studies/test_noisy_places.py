"""Noisy texts, place by place: every gold span with its counterpart."""

from __future__ import annotations

from clueval.core.document import Document, Pair
from clueval.core.span import Span
from clueval.reports.page import page
from clueval.studies.noisy import NoisyErrors

OWN = Document(
    "1", {"x": [Span(0, 7, "PER"), Span(14, 20, "OCC")]}, text="Tolkien was a writer .", unit="character"
)
OTHER = Document("1", {"x": [Span(0, 9, "PER")]}, text="Tolkieene xas writear ,.", unit="character")


def test_what_differs_is_marked_in_both_texts() -> None:
    report = NoisyErrors([Pair(OWN, OTHER)])
    first, second_place = report

    assert [text.text for text in first.texts] == ["Tolkien", "Tolkieene"]
    assert sum(mark.end - mark.start for mark in first.texts[1].marks) == 2
    assert first.lines[0].note == "matched distance 2 / 7 = 28.57 %"
    assert second_place.lines[0].words == "no counterpart"
    assert report.verdict() == "1 of 2 gold spans matched"


def test_page_and_text_have_the_numbers_by_label() -> None:
    report = NoisyErrors([Pair(OWN, OTHER)])

    assert "x: gold spans by label" in report.render()
    assert "kein Gegenstück" in page(report, lang="de")
