"""The guide: Markdown pages, which lie next to this file, as text for a terminal and as a small website.

The name of a file is ``PREFIX-NAME.md``; the prefix is the section (`SECTIONS`). The first line of a page is
its title, the first paragraph says what the page is for. Every code block of a page runs in the tests.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from math import log, log2

from clueval.files.errors import UsageError
from clueval.files.names import nearest

SECTIONS = {
    "start": "Start",
    "tutorial": "Tutorials",
    "howto": "How to",
    "concept": "Concepts",
    "from": "Coming from",
    "reference": "Reference",
    "extend": "Extending",
}
"""The titles of the sections, by the prefix of their pages, in the order of the contents."""

FIRST = (
    *("start-install", "start-files", "start-lists", "tutorial-errors"),
    *("concept-spans", "concept-tags", "concept-which-f1", "concept-levels"),
)
"""The pages that come before the others of their section, because these use their words. The others come by name."""

Parts = Mapping[str, Callable[[], Iterable[tuple[str, Iterable[str]]]]]
"""Functions that return sections, each a title and lines, for the line of a page with ``<!-- clueval: NAME -->``."""

_SAMPLES = "*`clueval samples samples` writes the files of the examples.*"
"""A line for every page that uses samples."""

_PART = re.compile(r"^.*<!-- clueval: (\w+) -->$", re.MULTILINE)
_FILE = re.compile(r"^```(\w+) file=(.+)$", re.MULTILINE)
_LINK = re.compile(r"\[([^]\n]+)\]\(([a-z0-9-]+)\.md\)")


SIMILAR = 0.7
"""How similar a word must be that is looked for instead of one that no page has."""

SIMILAR_WORDS = "similar"
"""The name of the list of pages where no page has any word that is looked for."""

SHOWN = 10
"""How many pages `found_pages` lists."""

_WORDS = re.compile(r"^<!-- words: (.*) -->$", re.MULTILINE)
"""The line of a page with other words by which it is found, such as those of another language."""

_CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_ANY_LINK = re.compile(r"\[([^]\n]+)\]\([^)\n]+\)")
_SIGNS = re.compile(r"^[\s#>|*-]+|`|\*\*|(?<![/'\w])\*(?=[\w`])|(?<=\w)\*(?![./\w])|\s*\|$|\s*<!--.*-->")
_LONGEST = 110
"""How long the line of a page may be before it is cut around the word."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the guide: its name, without the ending of the file, and its text in Markdown."""

    name: str
    text: str

    @property
    def section(self) -> str:
        """The prefix of the name, a key of `SECTIONS`."""
        return self.name.partition("-")[0]

    @property
    def title(self) -> str:
        """The first line, without its ``#``."""
        return self.text.partition("\n")[0].removeprefix("# ")

    @property
    def summary(self) -> str:
        """The first paragraph, which says what the page is for, in one line."""
        return " ".join(self.text.partition("\n")[2].strip().partition("\n\n")[0].split())

    @property
    def plain_summary(self) -> str:
        """The summary without the signs of Markdown."""
        return self.summary.replace("`", "").replace("*", "")

    @property
    def words(self) -> str:
        """Other words by which the page is found."""
        return " ".join(_WORDS.findall(self.text))

    @property
    def shown_text(self) -> str:
        """The text below the title without marks of Markdown, in one line; the search looks in it."""
        text = re.sub(r"\]\([^)]*\)|[`*#\[|]", "", _WORDS.sub("", self.text).partition("\n")[2])
        return " ".join(text.split())

    def completed(self, parts: Parts) -> Page:
        """Return the page with the parts that are made from the program itself, and with the names of its files."""
        text = _FILE.sub(r"File `\2`:\n\n```\1", self.text)
        if "samples/" in text and "clueval samples" not in text:
            title, summary, rest = text.split("\n\n", 2)
            text = "\n\n".join([title, summary, _SAMPLES, rest])

        def sections(line: re.Match[str]) -> str:
            made = ((title, "\n".join(lines).strip()) for title, lines in parts[line[1]]())
            return "\n".join(f"## {title}\n\n```text\n{body}\n```\n" for title, body in made)

        return replace(self, text=_PART.sub(sections, text))

    def for_terminal(self) -> str:
        """Return the text with a command instead of each link to another page."""
        return _LINK.sub(r"\1 (`clueval guide \2`)", _WORDS.sub("", self.text))


@cache
def all_pages() -> Mapping[str, Page]:
    """Return the pages by name, in the order of the contents."""
    pages = [
        Page(file.name.removesuffix(".md"), file.read_text(encoding="utf-8"))
        for file in files("clueval.guide").iterdir()
        if file.name.endswith(".md")
    ]
    sections, later = list(SECTIONS), len(FIRST)

    def place(page: Page) -> tuple[int, int, str]:
        first = FIRST.index(page.name) if page.name in FIRST else later
        return sections.index(page.section), first, page.name

    return {page.name: page for page in sorted(pages, key=place)}


def page_named(name: str) -> Page | None:
    """Return a page by its name, its name without the prefix, or a word that only its name has; None: there is none."""
    pages = all_pages()
    named = [page for page in pages.values() if page.name.partition("-")[2] == name]
    named = named or [page for page in pages.values() if name in page.name.split("-")[1:]]
    return pages.get(name) or (named[0] if len(named) == 1 else None)


def contents() -> Page:
    """Return the table of contents: the pages of each section, with their summaries."""
    lines = [
        "# The guide of clueval",
        "",
        "How to score labelled spans, and what each number means. `clueval guide PAGE` shows a page.",
    ]
    for prefix, title in SECTIONS.items():
        listed = [page for page in all_pages().values() if page.section == prefix]
        if listed:
            lines.append(f"\n## {title}\n")
            lines += [f"- [{page.title}]({page.name}.md): {page.summary}" for page in listed]
    return Page("index", "\n".join(lines))


# --- the search


def found_pages(words: Sequence[str], parts: Parts) -> Page:
    """Return a list of the pages with these words, or words that begin with them, the best first.

    A word in the heading of a page counts most; one that many pages have counts little; a page of the reference, which
    has many words, counts half. Spelling is compared as `_plain` leaves it. A word that no page has is replaced by the
    most similar one of all; if no page has any of the words, the name of the list is `SIMILAR_WORDS`. Raises
    `UsageError`, with the nearest name of a page, if no similar word is found, either.
    """
    query = " ".join(words)
    pages = [page.completed(parts) for page in all_pages().values()]
    headings = [_plain(f"{page.name} {page.title} {page.words}") for page in pages]
    summaries = [_plain(page.plain_summary) for page in pages]
    texts = [f"{heading} {_plain(page.shown_text)}" for heading, page in zip(headings, pages, strict=True)]
    text_words = {token for text in texts for token in re.findall(r"\w{4,}", text)}
    weights: dict[re.Pattern[str], float] = {}
    name, what = SIMILAR_WORDS, "similar words"
    for word in re.findall(r"\w+", _plain(query)):
        pattern = re.compile(rf"(?<!\w){word.removesuffix('s') if len(word) > 3 else word}")
        number = sum(bool(pattern.search(text)) for text in texts)
        if number:
            name, what = "search", "these words or similar ones"
        if not number and (similar := nearest(word, text_words, SIMILAR)):
            pattern = re.compile(rf"(?<!\w){similar}")
            number = sum(bool(pattern.search(text)) for text in texts)
        if number:
            weights[pattern] = log(1 + len(pages) / number)
    points = []
    for page, heading, summary, text in zip(pages, headings, summaries, texts, strict=True):
        points_of_page = 0.0
        for pattern, weight in weights.items():
            place = 8 * bool(pattern.search(heading)) + 3 * bool(pattern.search(summary))
            points_of_page += weight * (place + log2(1 + min(len(pattern.findall(text)), 7)))
        points.append(points_of_page / 2 if page.section == "reference" else points_of_page)
    ranked = sorted(range(len(pages)), key=lambda number: -points[number])
    matching = [pages[number] for number in ranked if points[number]]
    if not matching:
        names = {name: page.name for page in pages for name in (page.name, page.name.partition("-")[2])}
        near = nearest(query, names, 0.5)
        question = f"; did you mean {names[near]}?" if near else ""
        raise UsageError(
            f"no page of the guide has {query!r} in its name, title or text{question}",
            advice="try another word, or the beginning of one; clueval guide lists all pages",
        )
    lines = [f"No page has the name {query!r}. Pages with {what}, the best first:", ""]
    lines += [f"- [{page.title}]({page.name}.md): {_line(page, list(weights))}" for page in matching[:SHOWN]]
    if len(matching) > SHOWN:
        lines += ["", f"{len(matching) - SHOWN} more have a word of these."]
    return Page(name, "\n".join(lines))


def _plain(text: str) -> str:
    """Return a text in small letters, with one spelling for British and American words."""
    return text.lower().replace("z", "s").replace("ll", "l").replace("our", "or")


def _line(page: Page, wanted: Sequence[re.Pattern[str]]) -> str:
    """Return the first line below the title with most of the words, cut and without Markdown's signs.

    Code is looked at last.
    """
    text = _WORDS.sub("", page.text).partition("\n")[2]
    lines = [
        _SIGNS.sub("", _ANY_LINK.sub(r"\1", line)) for line in f"{_CODE.sub('', text)}\n{text}".splitlines()
    ]
    line = max(lines, key=lambda line: sum(bool(word.search(_plain(line))) for word in wanted))
    hits = [hit.start() for hit in (word.search(_plain(line)) for word in wanted) if hit is not None]
    if not hits:
        line = page.plain_summary
    if len(line) <= _LONGEST or not hits:
        return line
    start = max(0, min(min(hits) - _LONGEST // 3, len(line) - _LONGEST))
    end = start + _LONGEST
    return f"{'…' * (start > 0)}{line[start:end].strip()}{'…' * (end < len(line))}"
