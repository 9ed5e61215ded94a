"""Pages and sentences in another language: every text is in the catalogue, and nothing else is translated."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import clueval
from clueval.exceptions import UsageError
from clueval.reports.language import language, numeral, phrase, speaking

PACKAGE = Path(clueval.__file__).parent
TEMPLATES = PACKAGE / "reports" / "templates"
GERMAN = tomllib.loads((PACKAGE / "reports" / "languages" / "de.toml").read_text(encoding="utf-8"))


def calls(tree: ast.AST) -> Iterator[str]:
    """The texts that code gives to `phrase`; of a condition, both."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "phrase":
            parts = (
                [node.args[0]]
                if not isinstance(node.args[0], ast.IfExp)
                else [node.args[0].body, node.args[0].orelse]
            )
            yield from (part.value for part in parts if isinstance(part, ast.Constant))


@cache
def written() -> dict[str, str]:
    """Each text of code, of templates and of scripts, with the file that has it."""
    jinja = pytest.importorskip("jinja2")
    found: dict[str, str] = {}
    for path in PACKAGE.rglob("*.py"):
        found |= dict.fromkeys(calls(ast.parse(path.read_text(encoding="utf-8"))), path.name)
    for path in TEMPLATES.glob("*.html"):
        tree = jinja.Environment().parse(path.read_text(encoding="utf-8"))
        for node in tree.find_all(jinja.nodes.Call):
            if getattr(node.node, "name", "") == "phrase" and isinstance(node.args[0], jinja.nodes.Const):
                found[node.args[0].value] = path.name
    for path in TEMPLATES.glob("*.js"):
        found |= dict.fromkeys(
            re.findall(r'\bphrase\("([^"]*)"', path.read_text(encoding="utf-8")), path.name
        )
    return found


def test_every_text_is_in_the_catalogue() -> None:
    assert {text: file for text, file in written().items() if text not in GERMAN} == {}


def test_every_text_of_the_catalogue_is_used() -> None:
    folders = (path for path in PACKAGE.rglob("*") if path.suffix in (".py", ".html", ".js"))
    sources = "\n".join(path.read_text(encoding="utf-8") for path in folders)

    assert [text for text in GERMAN if text not in written() and f'"{text}"' not in sources] == MADE


MADE = ["only A", "only B", "A is right", "B is right"]
"""Texts that are put together: the states of errors of two systems, which are called A and B."""


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
    with speaking(tag):
        assert phrase("{n} document|{n} documents", n=1) == "1 Dokument"
        assert phrase("{n} document|{n} documents", n=0) == "0 Dokumente"
        assert phrase("{n} document|{n} documents", n=12_345) == "12.345 Dokumente"
        assert numeral(-1234.5, ",.2f") == "-1.234,50"
    assert phrase("{n} document|{n} documents", n=12_345) == "12,345 documents"


def test_language_without_a_catalogue_has_english_texts() -> None:
    for tag in ("", "fr", "xx", "en-GB"):
        with speaking(tag):
            assert phrase("{n} error|{n} errors", n=2) == "2 errors"


@pytest.mark.parametrize("tag", ["../x", "de.toml", "de/../de", "d", "de\n", "de_AT", 3])
def test_what_is_no_language_is_refused(tag: str) -> None:
    with pytest.raises(UsageError, match="is not a language such as de or de-AT"):
        language(tag)
    with pytest.raises(UsageError), speaking("de", tag):
        pass
    assert phrase("Errors") == "Errors"
