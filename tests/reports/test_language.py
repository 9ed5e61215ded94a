"""Pages and sentences in another language: every text is in the catalogue, and nothing else is translated."""

from __future__ import annotations

import ast
import html
import re
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from browser import Browser, in_browser

import clueval
import clueval.metrics.gate
from clueval import Document, Span
from clueval.files.errors import UsageError
from clueval.metrics import METRICS
from clueval.reports.language import language, numeral, phrase, speaking

PACKAGE = Path(clueval.__file__).parent
TEMPLATES = PACKAGE / "reports" / "templates"
GERMAN = tomllib.loads((PACKAGE / "reports" / "languages" / "de.toml").read_text(encoding="utf-8"))


PLACE_OF_TEXT = {"phrase": 0, "Remark": 0, "titled": 1, "named": 0}
"""The functions that take a text, or a list of them, and which of their arguments it is."""


def constants(value: ast.expr) -> Iterator[str]:
    """The texts of an argument; of a condition, both."""
    if isinstance(value, ast.IfExp):
        yield from (*constants(value.body), *constants(value.orelse))
    elif isinstance(value, ast.List):
        yield from (text for each in value.elts for text in constants(each) if text)
    elif isinstance(value, ast.Constant) and isinstance(value.value, str):
        yield value.value


@cache
def in_code() -> tuple[dict[str, str], set[str]]:
    """The texts that code has translated, each with the path of a module that has it; and all strings of code."""
    translated: dict[str, str] = {}
    strings: set[str] = set()
    for path in PACKAGE.rglob("*.py"):
        if "second" in path.relative_to(PACKAGE).parts:  # it has a catalogue of its own
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                strings.add(node.value)
            elif (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in PLACE_OF_TEXT
            ):
                argument = node.args[PLACE_OF_TEXT[node.func.id]]
                translated |= dict.fromkeys(constants(argument), str(path))
    return translated, strings


@cache
def written() -> dict[str, str]:
    """Each text of code, of templates and of scripts, with the file that has it."""
    jinja = pytest.importorskip("jinja2")
    found = dict(in_code()[0])
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


class Marked(dict[str, str]):
    """A catalogue that has every text, with other letters, so that what is not translated is seen.

    It keeps the texts that it was asked for.
    """

    def __init__(self) -> None:
        super().__init__()
        self.asked: set[str] = set()

    def __contains__(self, text: object) -> bool:
        return True

    def __getitem__(self, text: str) -> str:
        parts = re.split(r"(\{\w+\}|<[^>]*>|&\w+;)", text)
        return "".join(part if n % 2 else re.sub("[A-Za-z]", "ж", part) for n, part in enumerate(parts))

    def get(self, text: str, other: object = None) -> str:  # type: ignore[override]
        self.asked.add(text)
        return self[text]


@pytest.fixture
def marked(monkeypatch: pytest.MonkeyPatch) -> Marked:
    catalogue = Marked()
    monkeypatch.setattr(clueval.reports.language, "CATALOGUES", ("xx",))
    monkeypatch.setattr(
        clueval.reports.language, "_catalogue", lambda spoken: catalogue if spoken == "xx" else {}
    )
    return catalogue


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
TWO = documents((0, 2, "Α"), (3, 5, "Β"), (6, 7, "Γ"), (8, 9, "Α"))
READ = documents((0, 2, "Α"), (3, 4, "Α"), (5, 6, "Β"), words=["αα", "βλ", *WORDS[2:]])


def decided(folder: Path) -> str:
    path = folder / "decisions.tsv"
    path.write_text(
        "document\tlayer\tstart\tend_inclusive\tfingerprint\tchoice\tcomment\treviewer\ttime\n"
        "1\t*\t0\t1\t000000000000\tgold\tκ\tρ\t2026-11-24T01:02:03Z\n9\t*\t0\t1\t0\tgold\t\tρ\t\n",
        encoding="utf-8",
    )
    return str(path)


PAGES: dict[str, Callable[[Path, Path], object]] = {}


KEPT = {
    *METRICS,
    *("F1", "P", "R", *(f"{rate}{level}" for rate in "PR" for level in range(1, 5))),
    *("CLUEval", "FairEval", "GATE", "MUC", "clueval", "conlleval", "loio", "seqeval", "tab"),
    *("TP", "FP", "FN", "LE", "BE", "BES", "BEL", "BEO", "LBE"),
    *(
        "A",
        "B",
        "old",
        "new",
        "id",
        "reviewed",
        "JavaScript",
        "gate_lenient",
        "invalid",
        "AP",
        "Infinity",
        "f1",
    ),
}
"""What is the same in all languages: names of metrics, programs, figures and systems."""


SCORES = {"comparison": {"p", "precision", "recall"}}
"""The names of scores on a page."""


def seen(page: str) -> set[str]:
    """The words with Latin letters that a page shows or has for screen readers, without those that are kept."""
    shown = re.sub(
        r"(?s)<(script|style|code|title)\b.*?</\1>|U\+[0-9A-F]{4,6}|Nov 24, 2026, [\d:]+\s[AP]M UTC",
        " ",
        page,
    )
    texts = re.findall(r'(?:aria-label|title|placeholder)="([^"]*)"', shown)
    words = re.findall(
        r"[A-Za-z][A-Za-z_]*\d?", html.unescape(" ".join([re.sub("<[^>]*>", " ", shown), *texts]))
    )
    return {word for word in words if word not in KEPT}


@pytest.mark.few(4)
@pytest.mark.parametrize("name", PAGES)
def test_page_has_no_text_outside_the_catalogue(name: str, tmp_path: Path, marked: Marked) -> None:
    pytest.importorskip("jinja2")
    page = tmp_path / "page.html"
    PAGES[name](page, tmp_path)

    assert seen(page.read_text(encoding="utf-8")) - SCORES.get(name, set()) == set()
    assert {text for text in marked.asked if re.search("[A-Za-z]{2}", text)} - {*GERMAN, *KEPT} == set()


WITH_SCRIPT = []


@in_browser
@pytest.mark.parametrize("name", WITH_SCRIPT)
def test_script_has_no_text_outside_the_catalogue(
    name: str, browser: Browser, tmp_path: Path, marked: Marked
) -> None:
    page = tmp_path / "page.html"
    PAGES[name](page, tmp_path)
    browser.open(page)
    browser.run("document.querySelectorAll('noscript').forEach((each) => each.remove())")

    assert browser.complaints == []
    assert seen(browser.run("document.documentElement.outerHTML")) == set()
    assert browser.run("document.querySelectorAll('.card').length") > 1


def test_sentences_of_masking_and_agree_are_german(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    report = clueval.masking(GOLD, ONE)
    found = clueval.agree({"α": GOLD, "β": ONE})

    assert "2 Dokumente, 20 Positionen" in report.render(lang="de")
    assert "haben ungeschützte Stellen" in report.render(lang="de")
    assert "geben Sie" in found.render(lang="de")
    assert report.render("json", lang="de") == report.render("json")
    assert found.render("tsv", lang="de") == found.render("tsv")
