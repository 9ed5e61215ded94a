"""Sentences and numbers in another language: their values, their marks, and what is no language."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import clueval
from clueval import Document, Span
from clueval.files.errors import UsageError
from clueval.reports.language import current_language, in_language, language_of_corpus, numeral, phrase

PACKAGE = Path(clueval.__file__).parent
GERMAN = tomllib.loads((PACKAGE / "reports" / "languages" / "de.toml").read_text(encoding="utf-8"))


def test_values_and_plural_forms_are_the_same_in_both_languages() -> None:
    def parts(text: str) -> tuple[int, list[list[str]]]:
        forms = text.split("|") if "{n}" in text else [text]
        return len(forms), [sorted(set(re.findall(r"\{\w+\}", form))) for form in forms]

    assert [text for text, german in GERMAN.items() if parts(text) != parts(german)] == []


def test_markup_is_the_same_in_both_languages() -> None:
    def tags(text: str) -> list[str]:
        return sorted(re.findall(r"<[^>]*>", text))

    assert [text for text, german in GERMAN.items() if tags(text) != tags(german)] == []


@pytest.mark.parametrize("tag", ["de", "DE", "de-AT"])
def test_language_has_its_texts_and_numbers(tag: str) -> None:
    with in_language(tag):
        assert phrase("{n} document|{n} documents", n=1) == "1 Dokument"
        assert phrase("{n} document|{n} documents", n=0) == "0 Dokumente"
        assert phrase("{n} document|{n} documents", n=12_345) == "12.345 Dokumente"
        assert numeral(-1234.5, ",.2f") == "-1.234,50"
    assert phrase("{n} document|{n} documents", n=12_345) == "12,345 documents"


def test_language_of_the_corpus_is_that_of_the_page_if_none_is_given() -> None:
    with in_language("de", "fr"):
        assert (current_language(), language_of_corpus()) == ("de", "fr")
        with in_language("fr"):
            assert (current_language(), language_of_corpus()) == ("en", "fr")
        assert (current_language(), language_of_corpus()) == ("de", "fr")


def test_language_without_a_catalogue_has_english_texts() -> None:
    for tag in ("", "fr", "xx", "en-GB"):
        with in_language(tag):
            assert phrase("{n} error|{n} errors", n=2) == "2 errors"


@pytest.mark.parametrize("tag", ["../x", "de.toml", "de/../de", "d", "de\n", "de_AT"])
def test_what_is_no_language_is_refused(tag: str) -> None:
    for tags in ((tag,), ("de", tag)):
        with pytest.raises(UsageError, match="is not a language such as de or de-AT"), in_language(*tags):
            pass
    assert phrase("Errors") == "Errors"


WORDS = ["αα", "ββ", "γγ", "δδ", "εε", "ζζ", "ηη", "θθ", "ιι", "κκ"]


def documents(*spans: tuple[int, int, str], words: list[str] = WORDS) -> list[Document]:
    """Two documents without a Latin letter; the first has these spans."""
    first = [Span(start, end, {"Ω": label}, {"Π": 0.5}) for start, end, label in spans]
    listed = [first, [Span(0, 1, {"Ω": "Α"}, {"Π": 0.9})]]
    return [
        Document(str(number), {"Ω": own}, tokens=words, metadata={"Μ": "Ν"})
        for number, own in enumerate(listed, 1)
    ]


GOLD = documents((0, 2, "Α"), (3, 4, "Α"), (5, 6, "Β"), (6, 7, "Γ"), (8, 9, "Α"))
ONE = documents((0, 1, "Α"), (3, 4, "Β"), (4, 5, "Β"), (7, 8, "Γ"), (8, 9, "Α"))


def test_sentences_of_masking_and_agree_are_german() -> None:
    report = clueval.masking(GOLD, ONE)
    found = clueval.agree({"α": GOLD, "β": ONE})

    assert "2 Dokumente, 20 Positionen" in report.render(lang="de")
    assert "haben ungeschützte Stellen" in report.render(lang="de")
    assert "geben Sie" in found.render(lang="de")
    assert report.render("json", lang="de") == report.render("json")
    assert found.render("tsv", lang="de") == found.render("tsv")
