"""The search of the guide: the pages that have some words in their name, title or text, the best first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from clueval.exceptions import UsageError
from clueval.guide.pages import Page, Parts, all_pages

SHOWN = 12
"""How many pages `found_pages` lists."""
ENDING, SHORTEST = 5, 5
"""How many letters may be left out at the end of a word, and how many must stay, so that other forms are found."""

_CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[([^]\n]+)\]\([^)\n]+\)")
_SIGNS = re.compile(r"^[\s#>|-]+|[`*]|\s*\|$|\s*<!--.*-->")
_LONGEST = 110
"""How long the line of a page may be before it is cut around the word."""


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
    lines = [_SIGNS.sub("", _LINK.sub(r"\1", line)) for line in f"{_CODE.sub('', text)}\n{text}".splitlines()]
    every = (line for line in lines if _has(wanted, line))
    some = (line for line in lines if any(word.search(line) for word in wanted))
    line = next(every, None) or next(some, page.plain_summary)
    hits = [hit.start() for hit in (word.search(line) for word in wanted) if hit is not None]
    if len(line) <= _LONGEST or not hits:
        return line
    start = max(0, min(min(hits) - _LONGEST // 3, len(line) - _LONGEST))
    end = start + _LONGEST
    return f"{'…' * (start > 0)}{line[start:end].strip()}{'…' * (end < len(line))}"
