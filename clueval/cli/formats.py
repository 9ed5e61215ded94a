"""``clueval formats``: lists and describes the formats, from their records."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Iterator
from importlib import import_module
from textwrap import wrap

from clueval.cli.parser import Command, CommandParser
from clueval.cli.printing import put
from clueval.formats import FORMATS, all_formats, format_named
from clueval.formats.format import Format
from clueval.options import Option, options_of
from clueval.reading.options import Reading

USAGE = "[NAME]"
DESCRIPTION = """\
List the formats: how each is recognised, what it contains, and whether it can be read and written. With NAME,
describe one format and the options that apply to it."""
EPILOG = """\
example:
  clueval formats gate-xml"""

_LAYER = Option(
    "--layer",
    "NAME=SOURCE",
    "a layer and its source: a column, or a name that the format has; can be repeated",
)

_INDENT, _WIDTH = "    ", 100


def add_arguments(parser: CommandParser) -> None:
    parser.add_argument(
        "name",
        nargs="?",
        metavar="NAME",
        choices=FORMATS,
        help=f"the format to describe: {', '.join(FORMATS)} (default: list all)",
    )


def run(options: argparse.Namespace) -> int:
    for line in _list() if options.name is None else described(format_named(options.name)):
        put(line)
    return 0


def _list() -> Iterator[str]:
    """Yield the formats, each with what it holds and how it is recognised, in lines that fit on a screen."""
    width = max(map(len, FORMATS))
    for form in all_formats():
        yield f"{form.name.ljust(width)}  {_use(form)}"
        for text in (form.holds, f"recognised by: {form.recognised_by}"):
            yield from wrap(
                text, _WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT, break_on_hyphens=False
            )


def _use(form: Format) -> str:
    extra = [] if form.extra is None else [f"extra {form.extra}"]
    return ", ".join([*form.uses, *extra])


def described(form: Format) -> Iterator[str]:
    """Yield the description of a format, then its options."""
    yield f"{form.name}: {form.holds}"
    yield f"Recognised by: {form.recognised_by}. Use: {_use(form)}."
    yield ""
    yield inspect.getdoc(import_module(FORMATS[form.name])) or ""
    reads = [
        *([_LAYER] if "layers" in form.reads else []),
        *(declared for field, declared in options_of(Reading) if field.name in form.reads),
    ]
    if reads:
        yield ""
        yield "options:"
    for declared in reads:
        yield f"  {declared.flag} {declared.metavar or ''}".rstrip()
        yield f"      {declared.help}"


COMMAND = Command(USAGE, DESCRIPTION, EPILOG, add_arguments, run)
