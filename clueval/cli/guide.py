"""``clueval guide``: shows a page of the guide, or writes all pages as a small website."""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import clueval
from clueval import exceptions
from clueval.cli.commands import COMMANDS, command_parser
from clueval.cli.formats import described as described_format
from clueval.cli.metrics import described as described_metric
from clueval.cli.outputs import require_page
from clueval.cli.parser import Command, CommandParser
from clueval.cli.printing import put, put_painted, wrote
from clueval.exceptions import UsageError
from clueval.formats import all_formats
from clueval.guide.pages import Page, contents, found_pages, page_named
from clueval.metrics import METRICS

USAGE = "[PAGE | WORD ...]"
DESCRIPTION = """\
Show a page of the guide: how to score, what each number means, and how to change from another program. If no page has
this name, list the pages that have these words in their title or text. Without PAGE, list all pages."""
EPILOG = """\
examples:
  clueval guide which-f1
  clueval guide redacted
  clueval guide --html guide/"""


def add_arguments(parser: CommandParser) -> None:
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
    from clueval.guide.pages import write_site

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


def _commands() -> str:
    """Every command with its whole help, topics included."""
    return _sections((f"clueval {name}", _help(name)) for name in COMMANDS)


def _help(command: str) -> str:
    parser = command_parser(command)
    return "\n".join([parser.format_help(), *map(parser.format_topic, parser.topics)])


def _metrics() -> str:
    """Every metric with its definition and its settings."""
    return _sections((name, "\n".join(described_metric(name))) for name in METRICS)


def _formats() -> str:
    """Every format with its signs, its description and its options."""
    return _sections((form.name, "\n".join(described_format(form))) for form in all_formats())


def _functions() -> str:
    """Every public name with its signature and its description."""
    names = (name for name in clueval.__all__ if not name.startswith("_"))
    return _sections(
        (f"clueval.{name}", "\n".join(_described(name, getattr(clueval, name)))) for name in names
    )


def _errors() -> str:
    """Every class of errors with its description."""
    return _sections(
        (name, inspect.getdoc(kind) or "")
        for name, kind in vars(exceptions).items()
        if inspect.isclass(kind) and issubclass(kind, exceptions.CluevalError | exceptions.CluevalWarning)
    )


PARTS = {
    "commands": _commands,
    "metrics": _metrics,
    "formats": _formats,
    "functions": _functions,
    "errors": _errors,
}
"""The functions that return the parts of the reference that are made from the program, in Markdown."""


def _sections(sections: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"## {title}\n\n```text\n{text.strip()}\n```\n" for title, text in sections)


def _described(name: str, what: Any) -> Iterator[str]:
    """Yield the signature and the docstring of a function, or of a class and its public methods."""
    yield _called(name, what)
    yield from _indented(what)
    if not inspect.isclass(what) or issubclass(what, Exception):
        return
    for method, member in vars(what).items():
        if not method.startswith("_") and inspect.getdoc(member) and not inspect.isclass(member):
            yield ""
            yield f"    {_called(method, getattr(member, '__func__', member))}"
            yield from (f"    {line}" for line in _indented(member))


def _called(name: str, what: Any) -> str:
    """Return a name with its parameters, or alone if it is not called."""
    if not callable(what) or (inspect.isclass(what) and issubclass(what, Warning)):
        return name
    parameters = [
        each for each in inspect.signature(what).parameters.values() if each.name not in ("self", "cls")
    ]
    return f"{name}({', '.join(str(each.replace(annotation=each.empty)) for each in parameters)})"


def _indented(what: Any) -> Iterator[str]:
    for line in (inspect.getdoc(what) or "").splitlines():
        yield f"    {line}".rstrip()


COMMAND = Command(USAGE, DESCRIPTION, EPILOG, add_arguments, run)
