"""The page of a comparison: its parts, and that no text becomes markup."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from clueval import Document, Result, Span, compare, score
from clueval.cli import main

pytest.importorskip("jinja2")

HOSTILE = "<script>alert(1)</script>"


def result(wrong: range, label: str = "A") -> Result:
    gold, predicted = [], []
    for number in range(12):
        spans = [Span(2 * n, 2 * n + 1, label if n else "B") for n in range(4)]
        gold.append(Document(f"d{number}{HOSTILE}", {"x": spans}, tokens=["w"] * 8))
        kept = spans[1:] if number in wrong else spans
        predicted.append(Document(f"d{number}{HOSTILE}", {"x": kept}, tokens=["w"] * 8))
    return score(gold, predicted, metrics="exact", resample_by="document")


def page(*, details: bool = True) -> str:
    sides = result(range(9), HOSTILE), result(range(2), HOSTILE)
    return compare(*sides, names=["old", HOSTILE], details=details).page(title="Comparison")


def test_the_page_has_values_differences_labels_and_units() -> None:
    text = page()

    assert "What the tests say" in text
    assert "Differences by label" in text
    assert "Units in which the systems differ most" in text
    assert text.count('class="zero"') == 3 + 2  # precision, recall, F1; two labels
    assert len({*re.findall(r"\bd\d+&lt;", text)}) == 7


def test_the_page_without_details_has_no_empty_sections() -> None:
    text = page(details=False)

    assert "Differences by label" not in text
    assert "differ most" not in text


def test_the_page_begins_with_the_documents_that_are_left_out() -> None:
    documents = [Document(f"d{number}", {"x": [Span(0, 1, "A")]}, tokens=["w"]) for number in range(4)]
    sides = [
        score(each, each, metrics="exact", resample_by="document") for each in (documents[:3], documents[1:])
    ]
    sentences = re.findall("<p>(.*?)</p>", compare(*sides, names=["old", "<new>"]).page())

    assert sentences[0] == (
        "Documents that not all results have with the same text are left out: old 1, &lt;new&gt; 1."
    )


def test_no_text_becomes_markup() -> None:
    text = page()

    assert "<script" not in text
    assert "&lt;script&gt;" in text
    assert "http:" not in text
    assert "https:" not in text


def test_dots_lie_within_the_axis() -> None:
    places = [float(place) for place in re.findall(r"left:([\d.]+)%", page())]

    assert places
    assert all(0 <= place <= 100 for place in places)


def test_the_command_writes_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result(range(9)).save("a.clueval")
    result(range(2)).save("b.clueval")

    assert main(["compare", "a.clueval", "b.clueval", "-o", "c.html", "-o", "c.json"]) == 0
    assert json.loads(Path("c.json").read_text(encoding="utf-8"))["systems"] == ["a", "b"]
    assert "<title>a and b</title>" in Path("c.html").read_text(encoding="utf-8")
    assert main(["compare", "a.clueval", "b.clueval", "-o", "c.html", "--format", "json"]) == 2
