"""The pages of the guide: their names, titles and sections, their contents, and one page by its name.

As a small website, it has one HTML file for each page, which loads nothing, and contents with a search. Markdown
becomes HTML with markdown-it-py, which escapes any HTML in it. The search is a script of the contents page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clueval.exceptions import UsageError, extra
from clueval.reports.page import assets, environment, json_inside
from clueval.version import __version__
from clueval.writing import make_folder, whole_file

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

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
    *("concept-spans", "concept-tags", "concept-metrics", "concept-which-f1", "concept-levels"),
)
"""The pages that come before the others of their section, because these use their words. The others come by name."""

Parts = Mapping[str, Callable[[], str]]
"""Functions that return Markdown. Each replaces the line of a page that ends in ``<!-- clueval: NAME -->``."""

_SAMPLES = "*`clueval samples samples` writes the files of the examples.*"
"""A line for every page that uses samples."""

_PART = re.compile(r"^.*<!-- clueval: (\w+) -->$", re.MULTILINE)
_FILE = re.compile(r"^```(\w+) file=(.+)$", re.MULTILINE)
_LINK = re.compile(r"\[([^]\n]+)\]\(([a-z0-9-]+)\.md\)")


SHOWN = 12
"""How many pages `found_pages` lists."""
ENDING, SHORTEST = 5, 5
"""How many letters may be left out at the end of a word, and how many must stay, so that other forms are found."""

_CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_ANY_LINK = re.compile(r"\[([^]\n]+)\]\([^)\n]+\)")
_SIGNS = re.compile(r"^[\s#>|-]+|[`*]|\s*\|$|\s*<!--.*-->")
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

    def completed(self, parts: Parts) -> Page:
        """Return the page with the parts that are made from the program itself, and with the names of its files."""
        text = _FILE.sub(r"File `\2`:\n\n```\1", self.text)
        if "samples/" in text and "clueval samples" not in text:
            title, summary, rest = text.split("\n\n", 2)
            text = "\n\n".join([title, summary, _SAMPLES, rest])
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


def found_pages(words: Sequence[str], parts: Parts) -> Page:
    """Return a list of the pages that have all words, at the beginning of a word and in any case.

    A page with the words in its name or title comes first, then one with them in its first paragraph, then the others,
    those of the reference last; among equals, the page that has them most often. If no page has the words, those that
    have the longest beginnings of them, up to `ENDING` letters less. Raises `UsageError`, with the nearest name of a
    page, if there are none either.
    """
    pages = [page.completed(parts) for page in all_pages().values()]
    for less in range(ENDING + 1):
        begun = [word[: max(len(word) - less, min(len(word), SHORTEST))] for word in words]
        wanted = [re.compile(rf"(?<!\w){re.escape(word)}", re.IGNORECASE) for word in begun]
        found = [page for page in pages if _has(wanted, f"{page.name}\n{page.text}")]
        if found:
            found.sort(key=lambda page: _rank(page, wanted))
            return Page("search", "\n".join(_listed(found, wanted, " ".join(words), " ".join(begun))))
    raise _nothing(" ".join(words))


def _nothing(words: str) -> UsageError:
    names = {
        name: page.name for page in all_pages().values() for name in (page.name, page.name.partition("-")[2])
    }
    near = get_close_matches(words, names, n=1, cutoff=0.5)
    question = f"; did you mean {names[near[0]]}?" if near else ""
    return UsageError(
        f"no page of the guide has {words!r} in its name, title or text{question}",
        advice="try another word, or the beginning of one; clueval guide lists all pages",
    )


def _has(wanted: Sequence[re.Pattern[str]], text: str) -> bool:
    return all(word.search(text) for word in wanted)


def _rank(page: Page, wanted: Sequence[re.Pattern[str]]) -> tuple[bool, bool, bool, int]:
    return (
        not _has(wanted, f"{page.name} {page.title}"),
        not _has(wanted, page.summary),
        page.section == "reference",
        -sum(len(word.findall(page.text)) for word in wanted),
    )


def _listed(
    found: Sequence[Page], wanted: Sequence[re.Pattern[str]], words: str, begun: str
) -> Iterator[str]:
    number = len(found)
    have = f"{number} page{'s have' if number > 1 else ' has'}"
    if begun == words:
        yield f"No page has the name {words!r}. {have} it in the title or text:"
    else:
        yield f"No page has {words!r}. {have} a word that begins with {begun!r}:"
    yield ""
    for page in found[:SHOWN]:
        yield f"- [{page.title}]({page.name}.md): {_line(page, wanted)}"
    if number > SHOWN:
        yield ""
        yield f"{number - SHOWN} more page{'s' * (number > SHOWN + 1)}: add a word to find fewer."


def _line(page: Page, wanted: Sequence[re.Pattern[str]]) -> str:
    """Return the first line below the title with all words, or with one of them, cut and without Markdown's signs.

    Code is looked at last.
    """
    text = page.text.partition("\n")[2]
    lines = [
        _SIGNS.sub("", _ANY_LINK.sub(r"\1", line)) for line in f"{_CODE.sub('', text)}\n{text}".splitlines()
    ]
    every = (line for line in lines if _has(wanted, line))
    some = (line for line in lines if any(word.search(line) for word in wanted))
    line = next(every, None) or next(some, page.plain_summary)
    hits = [hit.start() for hit in (word.search(line) for word in wanted) if hit is not None]
    if len(line) <= _LONGEST or not hits:
        return line
    start = max(0, min(min(hits) - _LONGEST // 3, len(line) - _LONGEST))
    end = start + _LONGEST
    return f"{'…' * (start > 0)}{line[start:end].strip()}{'…' * (end < len(line))}"


def write_site(folder: Path, parts: Parts) -> int:
    """Write the guide into a folder, which is created if it does not exist; return the number of files.

    Raises `MissingExtra` without Jinja2 or markdown-it-py, `FileError` if a file cannot be written.
    """
    pages = [page.completed(parts) for page in all_pages().values()]
    written = list(_files(pages))
    make_folder(folder)
    for name, text in written:
        with whole_file(folder / name) as file:
            file.write(text)
    return len(written)


def _files(pages: Sequence[Page]) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of every file."""
    jinja, markdown = environment(), _markdown()
    from markupsafe import Markup  # comes with Jinja

    common = {**assets("guide"), "version": __version__}
    yield (
        "index.html",
        jinja.get_template("guide_contents.html").render(
            **common | assets("guide", "guide"),
            title="The guide of clueval",
            sections=[
                (title, [page for page in pages if page.section == key]) for key, title in SECTIONS.items()
            ],
            data=Markup(json_inside([_searched(page) for page in pages])),
        ),
    )
    for number, page in enumerate(pages):
        yield (
            f"{page.name}.html",
            jinja.get_template("guide_page.html").render(
                **common,
                title=page.title,
                section=SECTIONS[page.section],
                body=Markup(_html(markdown, page)),
                before=pages[number - 1] if number else None,
                after=pages[number + 1] if number + 1 < len(pages) else None,
            ),
        )


def _markdown() -> MarkdownIt:
    with extra("the guide as HTML needs the package markdown-it-py", "pip install 'clueval[report]'"):
        from markdown_it import MarkdownIt
    return MarkdownIt("commonmark", {"html": False}).enable("table")


def _html(markdown: MarkdownIt, page: Page) -> str:
    """Return a page as HTML; links to other pages lead to their HTML files."""
    tokens = markdown.parse(page.text)
    for token in tokens:
        for inner in token.children or ():
            if inner.type == "link_open":
                inner.attrSet("href", re.sub(r"^([\w-]+)\.md$", r"\1.html", str(inner.attrGet("href"))))
    found = str(markdown.renderer.render(tokens, markdown.options, {}))
    return found.replace("<pre>", '<pre tabindex="0">')  # long lines scroll, also with the keyboard


def _searched(page: Page) -> dict[str, Any]:
    """Return what the search shows and searches: the text without the signs of Markdown."""
    text = re.sub(r"\]\([^)]*\)|[`*#\[|]", "", page.text.partition("\n")[2])
    return {"name": page.name, "title": page.title, "text": " ".join(text.split())}
