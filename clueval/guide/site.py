"""The guide as a small website: one HTML file for each page, which loads nothing, and contents with a search.

Markdown becomes HTML with markdown-it-py, which escapes any HTML in it. The search is a script of the contents page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clueval.exceptions import MissingExtra
from clueval.guide.pages import SECTIONS, Page, Parts, all_pages
from clueval.reports.page import assets, environment, json_inside
from clueval.version import __version__
from clueval.writing import make_folder, whole_file

if TYPE_CHECKING:
    from markdown_it import MarkdownIt


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
    try:
        from markdown_it import MarkdownIt
    except ImportError:
        raise MissingExtra(
            "the guide as HTML needs the package markdown-it-py", advice="pip install 'clueval[report]'"
        ) from None
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
