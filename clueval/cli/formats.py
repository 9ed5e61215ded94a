"""``clueval formats``: lists and describes the formats, from their records."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Iterator
from importlib import import_module

from clueval.cli.parser import Command
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

_HEADER = ("format", "recognised by", "use", "holds")


def add_arguments(parser: Command) -> None:
    parser.add_argument(
        "name",
        nargs="?",
        metavar="NAME",
        choices=FORMATS,
        help=f"the format to describe: {', '.join(FORMATS)} (default: list all)",
    )


def run(options: argparse.Namespace) -> int:
    for line in _table() if options.name is None else described(format_named(options.name)):
        put(line)
    return 0


def _table() -> Iterator[str]:
    """Yield the table of the formats; the last column is not padded."""
    rows = [_HEADER, *((form.name, form.recognised_by, _use(form), form.holds) for form in all_formats())]
    widths = [max(map(len, column)) for column in list(zip(*rows, strict=True))[:-1]]
    for *cells, last in rows:
        yield "  ".join([*(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)), last])


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
