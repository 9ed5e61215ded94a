"""``clueval diff``: which errors are new, fixed or changed?"""

from __future__ import annotations

import argparse
from pathlib import Path

from clueval.cli import options as common
from clueval.cli import printing
from clueval.cli.chosen import add_choice, choice_of
from clueval.cli.outputs import (
    add_output,
    add_page,
    check_outputs,
    form_of,
    put_result,
)
from clueval.cli.parser import Command
from clueval.cli.progress import progress
from clueval.exceptions import UsageError
from clueval.overwriting import input_path
from clueval.reports.report import FORMS
from clueval.studies.diff import diff

USAGE = "GOLD OLD NEW"
DESCRIPTION = """\
Compare the errors of two runs on the same gold: which errors of OLD are fixed in NEW, which errors of NEW are new,
which gold spans are wrong in another way.

GOLD, OLD and NEW are three files or three folders. Errors are those of clueval errors with the same options."""
EPILOG = """\
examples:
  clueval diff gold.conll old.conll new.conll
  clueval diff gold.vrt old.vrt new.vrt --layer entity=2 --labelled entity --format json
  clueval diff gold/ old/ new/ --fail-on-new
  clueval diff gold.conll old.conll new.conll --html diff.html"""


def add_arguments(parser: Command) -> None:
    for name, what in (("gold", "gold"), ("old", "the old run"), ("new", "the new run")):
        parser.add_argument(name, type=input_path, metavar=name.upper(), help=f"file or folder of {what}")
    add_choice(parser)
    parser.group("which errors").add_argument(
        "--fail-on-new", action="store_true", help="exit with 1 if there is a new error"
    )
    add_output(parser, FORMS)
    common.add_preparing(parser, without=["by_depth", "any_of"])
    add_page(
        parser.group("output"), "write a web page instead: new, fixed and changed errors in their contexts"
    )
    common.add_reading(parser, sides=2)
    common.add_pairing(parser)


def run(options: argparse.Namespace) -> int:
    paths = [options.gold, options.old, options.new]
    check_outputs([options.output_file, options.html], options.html, options.lang)
    new = _diffed(options, paths) if options.html is None else _paged(options, paths)
    if options.fail_on_new and new:
        printing.remark(f"clueval diff: {new:,} new error{'s' * (new != 1)}")
        return 1
    return 0


def _diffed(options: argparse.Namespace, paths: list[Path]) -> int:
    """Print the differences and return the number of new errors."""
    with progress(paths) as advance:
        found = diff(
            options.gold,
            options.old,
            options.new,
            choice_of(options),
            layers=common.layers(options),
            gold_set=options.gold_set,
            predicted_set=options.predicted_set,
            preparing=common.preparing_of(options),
            progress=advance,
            pair_by=common.pairing_of(options),
            **common.reading(options),
        )
    put_result([found.render(form_of(options))], options.output_file)
    return found.new


def _paged(options: argparse.Namespace, paths: list[Path]) -> int:
    """Write the page and return the number of new errors."""
    from clueval.cli.errors_of_two import write_page
    from clueval.findings.systems import CHANGES, System

    if options.format is not None or options.output_file is not None:
        raise UsageError(
            "--html writes a web page, and --format and -o are for the other forms", advice="leave them out"
        )
    systems = [System("old", paths[1].name), System("new", paths[2].name)]
    _, counts = write_page(options, choice_of(options), paths, systems, CHANGES)
    return counts["new"]
