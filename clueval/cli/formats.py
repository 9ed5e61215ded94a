"""``clueval formats``: what is read and written, from the records of the formats."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Iterator
from importlib import import_module

from clueval.cli import options as common
from clueval.cli.printing import put
from clueval.formats import FORMATS, all_formats, format_named
from clueval.formats.format import Format

USAGE = "[NAME]"
DESCRIPTION = """\
List the formats: how each is recognised, what it holds, whether it is read and written. With NAME, describe one
format and the options that it reads."""
EPILOG = """\
example:
  clueval formats gate-xml"""

_HEADER = ("format", "recognised by", "use", "holds")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name",
        nargs="?",
        metavar="NAME",
        choices=FORMATS,
        help=f"the format to describe: {', '.join(FORMATS)} (default: list all)",
    )


def run(options: argparse.Namespace) -> int:
    for line in _table() if options.name is None else _described(format_named(options.name)):
        put(line)
    return 0


def _table() -> Iterator[str]:
    """The formats in columns; the last one is as wide as it is."""
    rows = [_HEADER, *((form.name, form.recognised_by, _use(form), form.holds) for form in all_formats())]
    widths = [max(map(len, column)) for column in list(zip(*rows, strict=True))[:-1]]
    for *cells, last in rows:
        yield "  ".join([*(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)), last])


def _use(form: Format) -> str:
    extra = [] if form.extra is None else [f"extra {form.extra}"]
    return ", ".join([*form.uses, *extra])


def _described(form: Format) -> Iterator[str]:
    yield f"{form.name}: {form.holds}"
    yield f"Recognised by: {form.recognised_by}. Use: {_use(form)}."
    yield ""
    yield inspect.getdoc(import_module(FORMATS[form.name])) or ""
    parser = argparse.ArgumentParser(add_help=False)
    common.add_reading(parser)
    reads = [action for action in parser._actions if _field(action) in form.reads]
    if reads:
        yield ""
        yield "options:"
    for action in reads:
        yield f"  {action.option_strings[0]} {action.metavar or ''}".rstrip()
        yield f"      {action.help}"


def _field(action: argparse.Action) -> str:
    """The field of `Reading` that an option sets, or ``layers``."""
    return {"ignore_punctuation": "ignore_punct", "layer": "layers"}.get(action.dest, action.dest)
