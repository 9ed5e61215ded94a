"""``clueval diff``: which errors are new, fixed or changed?"""

from __future__ import annotations

import argparse
from pathlib import Path

from clueval.cli.chosen import add_choice, choice_of
from clueval.cli.declared import (
    OUTPUT_OF_SPANS,
    Inputs,
    OptionGroup,
    declared,
    fields,
    page_with_texts,
    preparing,
    reading,
    shown_option,
)
from clueval.cli.outputs import put_form
from clueval.cli.parser import CommandParser
from clueval.cli.printing import complain
from clueval.files.errors import UsageError
from clueval.files.overwriting import input_path
from clueval.second.results.options import Counting
from clueval.studies.diff import Diff, diff


def _add_paths(parser: CommandParser) -> None:
    for name, what in (("gold", "gold"), ("old", "the old run"), ("new", "the new run")):
        parser.add_argument(name, type=input_path, metavar=name.upper(), help=f"file or folder of {what}")


def _put(found: Diff, options: argparse.Namespace) -> int:
    put_form(found, options)
    return _code(found.new, options)


def _code(new: int, options: argparse.Namespace) -> int:
    """Return the exit code: 1 if there must be no new error, but there are some."""
    if options.fail_on_new and new:
        complain(f"clueval diff: {new:,} new error{'s' * (new != 1)}")
        return 1
    return 0


_DECLARED = declared(
    diff,
    "GOLD OLD NEW",
    """\
Compare the errors of two runs on the same gold: which errors of OLD are fixed in NEW, which errors of NEW are new,
which gold spans are wrong in another way.

GOLD, OLD and NEW are three files or three folders. Errors are those of clueval errors with the same options.""",
    """\
examples:
  clueval diff gold.conll old.conll new.conll
  clueval diff gold.vrt old.vrt new.vrt --layer entity=2 --labelled entity --format json
  clueval diff gold/ old/ new/ --fail-on-new
  clueval diff gold.conll old.conll new.conll --html diff.html""",
    [
        OptionGroup(add_choice, lambda options: {"choice": choice_of(options)}),
        shown_option(
            "gates", "--fail-on-new", action="store_true", help="exit with 1 if there is a new error"
        ),
        OUTPUT_OF_SPANS,
        preparing(without=["any_of"]),
        page_with_texts("write a web page instead: new, fixed and changed errors in their contexts"),
        reading(),
        fields(Counting, "reading", ["pair_by"]),
    ],
    inputs=Inputs(_add_paths, ("gold", "old", "new")),
    put=_put,
)


def run(options: argparse.Namespace) -> int:
    return _DECLARED.run(options) if options.html is None else _code(_paged(options), options)


def _paged(options: argparse.Namespace) -> int:
    """Write the page and return the number of new errors."""
    from clueval.cli.errors_of_two import write_page
    from clueval.findings.systems import CHANGES, System

    paths: list[Path] = [options.gold, options.old, options.new]
    if options.format is not None or options.output_file is not None:
        raise UsageError(
            "--html writes a web page, and --format and -o are for the other forms", advice="leave them out"
        )
    systems = [System("old", paths[1].name), System("new", paths[2].name)]
    _, counts = write_page(options, choice_of(options), paths, systems, CHANGES)
    return counts["new"]


DIFF_COMMAND = _DECLARED._replace(run=run)
