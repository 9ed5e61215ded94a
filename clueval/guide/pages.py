"""The pages of the guide: their names, titles and sections, their contents, and one page by its name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

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
    *("start-install", "start-lists", "start-files", "tutorial-tagger", "tutorial-errors"),
    *("concept-spans", "concept-tags", "concept-metrics", "concept-which-f1", "concept-levels"),
)
"""The pages that come before the others of their section, because these use their words. The others come by name."""

Parts = Mapping[str, Callable[[], str]]
"""Functions that return Markdown. Each replaces the line of a page that ends in ``<!-- clueval: NAME -->``."""

_PART = re.compile(r"^.*<!-- clueval: (\w+) -->$", re.MULTILINE)
_FILE = re.compile(r"^```(\w+) file=(.+)$", re.MULTILINE)
_LINK = re.compile(r"\[([^]\n]+)\]\(([a-z0-9-]+)\.md\)")


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

    def completed(self, parts: Parts) -> Page:
        """Return the page with the parts that are made from the program itself, and with the names of its files."""
        text = _FILE.sub(r"File `\2`:\n\n```\1", self.text)
        return replace(self, text=_PART.sub(lambda line: parts[line[1]](), text))

    def for_terminal(self) -> str:
        """Return the text with a command instead of each link to another page."""
        return _LINK.sub(r"\1 (`clueval guide \2`)", self.text)


@cache
def all_pages() -> Mapping[str, Page]:
    """Return the pages by name, in the order of the contents."""
    found = [
        Page(file.name.removesuffix(".md"), file.read_text(encoding="utf-8"))
        for file in files("clueval.guide").iterdir()
        if file.name.endswith(".md")
    ]
    sections, later = list(SECTIONS), len(FIRST)

    def place(page: Page) -> tuple[int, int, str]:
        first = FIRST.index(page.name) if page.name in FIRST else later
        return sections.index(page.section), first, page.name

    return {page.name: page for page in sorted(found, key=place)}


def page_named(name: str) -> Page | None:
    """Return a page by its name, or by its name without the prefix; None: there is none."""
    pages = all_pages()
    return pages.get(name) or next(
        (page for page in pages.values() if page.name.partition("-")[2] == name), None
    )


def contents() -> Page:
    """Return the table of contents: the pages of each section, with their summaries."""
    return Page("index", "\n".join(_contents()))


def _contents() -> Iterator[str]:
    yield "# The guide of clueval"
    yield ""
    yield "How to score labelled spans, and what each number means. `clueval guide PAGE` shows a page."
    for prefix, title in SECTIONS.items():
        listed = [page for page in all_pages().values() if page.section == prefix]
        if listed:
            yield f"\n## {title}\n"
            yield from (f"- [{page.title}]({page.name}.md): {page.summary}" for page in listed)
