"""The pages of the guide: their names, titles and sections, their contents, one page by its name, and the search."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from itertools import pairwise
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

Parts = Mapping[str, Callable[[], str]]
"""Functions that return Markdown. Each replaces the line of a page that ends in ``<!-- clueval: NAME -->``."""

_SAMPLES = "*`clueval samples samples` writes the files of the examples.*"
"""A line for every page that uses samples."""

_PART = re.compile(r"^.*<!-- clueval: (\w+) -->$", re.MULTILINE)
_FILE = re.compile(r"^```(\w+) file=(.+)$", re.MULTILINE)
_LINK = re.compile(r"\[([^]\n]+)\]\(([a-z0-9-]+)\.md\)")


SIMILAR = 0.6
"""How similar a word must be that is looked for instead of one that no page has."""

SHOWN = 10
"""How many pages `found_pages` lists."""

_WORDS = re.compile(r"^<!-- words: (.*) -->$", re.MULTILINE)
"""The line of a page with other words by which it is found, such as those of another language."""

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
        return replace(self, text=_PART.sub(lambda line: parts[line[1]](), text))

    def for_terminal(self) -> str:
        """Return the text with a command instead of each link to another page."""
        return _LINK.sub(r"\1 (`clueval guide \2`)", _WORDS.sub("", self.text))


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
    """Return a list of the pages with these words, or words that begin with them, the best first (`_Searched.points`).

    Spelling is compared as `_plain` leaves it. A word that no page has is replaced by the most similar one of all.
    Raises `UsageError`, with the nearest name of a page, if no word is found.
    """
    pages = [_Searched.of(page.completed(parts)) for page in all_pages().values()]
    wanted = _wanted(" ".join(words), pages)
    weights = {word: log(1 + len(pages) / number) for word, number in wanted.items()}
    ranked = sorted(pages, key=lambda page: -page.points(weights))
    found = [each.page for each in ranked if each.points(weights)]
    if not found:
        raise _nothing(" ".join(words))
    return Page("search", "\n".join(_listed(found, list(map(_begins, wanted)), " ".join(words))))


@dataclass(frozen=True, slots=True)
class _Searched:
    """A page with its texts as they are searched: `_plain`."""

    page: Page
    heading: str
    summary: str
    text: str

    @classmethod
    def of(cls, page: Page) -> _Searched:
        heading = f"{page.name} {page.title} {page.words}"
        return cls(page, _plain(heading), _plain(page.plain_summary), _plain(f"{heading} {page.shown_text}"))

    def points(self, weights: Mapping[str, float]) -> float:
        """Return how well the page fits: words in its heading count most; words that many pages have count little.

        A page of the reference, which has many words, counts half.
        """
        points = 0.0
        for word, weight in weights.items():
            begins = _begins(word)
            often = min(len(begins.findall(self.text)), 7)
            place = 8 * bool(begins.search(self.heading)) + 3 * bool(begins.search(self.summary))
            points += weight * (place + log2(1 + often))
        return points / 2 if self.page.section == "reference" else points


def _plain(text: str) -> str:
    """Return a text in small letters, with one spelling for British and American words."""
    return text.lower().replace("z", "s").replace("ll", "l").replace("our", "or")


@cache
def _begins(word: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){word}")


def _wanted(query: str, pages: Sequence[_Searched]) -> dict[str, int]:
    """Return the words to look for, in the singular, and how many pages have each."""
    wanted = {}
    every = {word for page in pages for word in re.findall(r"\w{4,}", page.text)}
    for asked in re.findall(r"\w+", _plain(query)):
        word = asked.removesuffix("s") if len(asked) > 3 else asked
        number = _pages_with(word, pages)
        if not number and every:
            word = max(sorted(every), key=lambda other: _similarity(asked, other))
            number = _pages_with(word, pages) if _similarity(asked, word) >= SIMILAR else 0
        if number:
            wanted[word] = number
    return wanted


def _pages_with(word: str, pages: Sequence[_Searched]) -> int:
    return sum(bool(_begins(word).search(page.text)) for page in pages)


def _similarity(word: str, other: str) -> float:
    """Return the share of pairs of adjacent letters that two words have in common (Dice)."""
    pairs, others = ({a + b for a, b in pairwise(each)} for each in (word, other))
    return 2 * len(pairs & others) / max(len(pairs) + len(others), 1)


def _nothing(words: str) -> UsageError:
    names = {
        name: page.name for page in all_pages().values() for name in (page.name, page.name.partition("-")[2])
    }
    near = nearest(words, names, 0.5)
    question = f"; did you mean {names[near]}?" if near else ""
    return UsageError(
        f"no page of the guide has {words!r} in its name, title or text{question}",
        advice="try another word, or the beginning of one; clueval guide lists all pages",
    )


def _listed(found: Sequence[Page], wanted: Sequence[re.Pattern[str]], words: str) -> Iterator[str]:
    yield f"No page has the name {words!r}. Pages with these words or similar ones, the best first:"
    yield ""
    for page in found[:SHOWN]:
        yield f"- [{page.title}]({page.name}.md): {_line(page, wanted)}"
    if len(found) > SHOWN:
        yield ""
        yield f"{len(found) - SHOWN} more have a word of these."


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
