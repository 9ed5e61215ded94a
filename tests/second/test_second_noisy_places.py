"""Noisy texts, place by place: every gold span with its counterpart, as the first edition lists them."""

from __future__ import annotations

from random import Random

from clueval.core.document import Document, Pair
from clueval.core.span import Span
from clueval.files.errors import UsageError
from clueval.findings.noisy import explained, explanation_rows
from clueval.first.metrics.noisy import Noisy as FirstNoisy
from clueval.metrics.noisy import Noisy
from clueval.second.reports.page import page
from clueval.second.studies.noisy import NoisyErrors
from tests.second.compare import second
from tests.second.test_second_noisy import draw

OWN = Document(
    "1", {"x": [Span(0, 7, "PER"), Span(14, 20, "OCC")]}, text="Tolkien was a writer .", unit="character"
)
OTHER = Document("1", {"x": [Span(0, 9, "PER")]}, text="Tolkieene xas writear ,.", unit="character")


def test_rows_equal_the_first_edition_on_random_texts() -> None:
    random = Random(7)
    compared = 0
    for _ in range(60):
        made = draw(random)
        report = NoisyErrors(
            [Pair(*map(second, sides)) for sides in zip(made.gold, made.predicted, strict=True)], Noisy(0.2)
        )
        try:
            rows = report.rows()
            first = [
                each
                for sides in zip(made.gold, made.predicted, strict=True)
                for each in explained(*sides, FirstNoisy(0.2))
            ]
        except UsageError:
            continue
        header, *lines = [line.split("\t") for line in explanation_rows(first)]
        names = [name for name in header if name not in ("gold_text", "predicted_text", "opposite")]
        for row, line in zip(rows, lines, strict=True):
            own = {name: "" if row[name] is None else str(row[name]) for name in names}
            assert own == {name: cell for name, cell in zip(header, line, strict=True) if name in names}
            compared += 1
    assert compared > 100


def test_what_differs_is_marked_in_both_texts() -> None:
    report = NoisyErrors([Pair(OWN, OTHER)])
    first, second_place = report

    assert [text.text for text in first.texts] == ["Tolkien", "Tolkieene"]
    assert sum(mark.end - mark.start for mark in first.texts[1].marks) == 2
    assert first.lines[0].note == "distance 2 / 7 = 28.57 %"
    assert second_place.lines[0].words == "no counterpart"
    assert report.verdict() == "1 of 2 gold spans matched"


def test_page_and_text_have_the_numbers_by_label() -> None:
    report = NoisyErrors([Pair(OWN, OTHER)])

    assert "x: gold spans by label" in report.render()
    assert "kein Gegenstück" in page(report, lang="de")
