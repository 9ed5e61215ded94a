"""The page of a comparison: its parts, and that no text becomes markup."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from clueval import Comparison, Document, Result, Span, compare, score
from clueval.cli import main
from clueval.reports.page import page

HOSTILE = "<script>alert(1)</script>"


def result(wrong: range, label: str = "A") -> Result:
    gold, predicted = [], []
    for number in range(12):
        spans = [Span(2 * n, 2 * n + 1, label if n else "B") for n in range(4)]
        gold.append(Document(f"d{number}{HOSTILE}", {"x": spans}, tokens=["w"] * 8))
        kept = spans[1:] if number in wrong else spans
        predicted.append(Document(f"d{number}{HOSTILE}", {"x": kept}, tokens=["w"] * 8))
    return score(gold, predicted, metrics="exact", resample_by="document")


def compared() -> Comparison:
    sides = result(range(9), HOSTILE), result(range(2), HOSTILE)
    return compare(*sides, names=["old", HOSTILE])


def test_the_page_has_values_differences_labels_and_units() -> None:
    text = page(compared())

    assert "is better than old by" in text
    assert "F1 by label" in text
    assert "Units that differ most" in text
    assert text.count('<span class="dots" role="img"') == 2 * (1 + 3 + 2)  # F1, all rates, F1 of two labels
    assert len({*re.findall(r"\bd\d+&lt;", text)}) == 7


def test_the_page_names_the_documents_that_are_left_out() -> None:
    documents = [Document(f"d{number}", {"x": [Span(0, 1, "A")]}, tokens=["w"]) for number in range(4)]
    sides = [
        score(each, each, metrics="exact", resample_by="document") for each in (documents[:3], documents[1:])
    ]

    assert (
        "Documents that not all results have with the same text are left out: old 1, &lt;new&gt; 1."
    ) in page(compare(*sides, names=["old", "<new>"]))


def test_no_text_becomes_markup() -> None:
    text = page(compared())

    assert text.count("<script") == 2  # the data and the script of the page
    assert "&lt;script&gt;" in text
    assert "https:" not in text


def test_the_command_writes_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result(range(9)).save("a.clueval")
    result(range(2)).save("b.clueval")

    assert main(["compare", "a.clueval", "b.clueval", "-o", "c.html", "-o", "c.json", "--lang", "de"]) == 0
    assert json.loads(Path("c.json").read_text(encoding="utf-8"))["systems"] == ["a", "b"]
    assert "<title>a und b</title>" in Path("c.html").read_text(encoding="utf-8")
    assert main(["compare", "a.clueval", "b.clueval", "-o", "c.html", "--format", "json"]) == 2
