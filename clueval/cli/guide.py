"""``clueval guide``: shows a page of the guide, or writes all pages as a small website."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from clueval.cli.outputs import require_page
from clueval.cli.parser import Command
from clueval.cli.printing import put, put_painted, wrote
from clueval.cli.reference import PARTS
from clueval.exceptions import UsageError
from clueval.guide.pages import Page, contents, found_pages, page_named

USAGE = "[PAGE | WORD ...]"
DESCRIPTION = """\
Show a page of the guide: how to score, what each number means, and how to change from another program. If no page has
this name, list the pages that have these words in their title or text. Without PAGE, list all pages."""
EPILOG = """\
examples:
  clueval guide which-f1
  clueval guide redacted
  clueval guide --html guide/"""


def add_arguments(parser: Command) -> None:
    parser.add_argument(
        "page",
        nargs="*",
        metavar="PAGE",
        help="the page to show, or words to search for (default: list all pages)",
    )
    parser.group("output").add_argument(
        "--html",
        type=Path,
        metavar="FOLDER",
        help="write the guide as web pages into FOLDER instead; open index.html (extra: report)",
    )


def run(options: argparse.Namespace) -> int:
    if options.html is None:
        _show(_page(options.page).for_terminal())
        return 0
    if options.page:
        raise UsageError("--html writes all pages", advice=f"remove {' '.join(options.page)}")
    require_page(options.html)
    from clueval.guide.site import write_site

    number = write_site(options.html, PARTS)
    wrote(options.html / "index.html")
    return 0 if number else 1


def _page(words: list[str]) -> Page:
    """Return the page with this name, else the pages that have these words. Raises `UsageError` if none has them."""
    if not words:
        return contents()
    page = page_named("-".join(words).lower())
    return found_pages(words, PARTS) if page is None else page.completed(PARTS)


def _show(text: str) -> None:
    """Print Markdown: with emphasis and tables on a terminal if rich is installed, otherwise as it is."""
    if sys.stdout.isatty():
        try:
            from rich.console import Console
            from rich.markdown import Markdown
        except ImportError:
            pass
        else:
            console = Console(force_terminal=True, highlight=False)
            with console.capture() as painted:
                console.print(Markdown(text, hyperlinks=False, code_theme="ansi_dark"))
            put_painted(painted.get().rstrip("\n"))
            return
    put(text.rstrip("\n"))
