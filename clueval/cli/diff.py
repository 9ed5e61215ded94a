"""``clueval diff``: which errors are new, fixed or changed?"""

from __future__ import annotations

import argparse
from pathlib import Path

from clueval.cli import options as common
from clueval.cli import printing
from clueval.cli.errors import add_choice, choice_of
from clueval.cli.forms import add_output, form_of, put_result
from clueval.cli.outputs import refuse_to_overwrite, require_writable
from clueval.cli.parser import Command
from clueval.cli.progress import progress
from clueval.studies.diff import diff
from clueval.studies.diff_report import FORMS

USAGE = "GOLD OLD NEW"
DESCRIPTION = """\
Compare the errors of two runs on the same gold: which errors of OLD are fixed in NEW, which errors of NEW are new,
which gold spans are wrong in another way.

GOLD, OLD and NEW are three files or three folders. Errors are those of clueval errors with the same options."""
EPILOG = """\
examples:
  clueval diff gold.conll old.conll new.conll
  clueval diff gold.vrt old.vrt new.vrt --layer entity=2 --labelled entity --format json
  clueval diff gold/ old/ new/ --fail-on-new"""


def add_arguments(parser: Command) -> None:
    for name, what in (("gold", "gold"), ("old", "the old run"), ("new", "the new run")):
        parser.add_argument(name, type=Path, metavar=name.upper(), help=f"file or folder of {what}")
    add_choice(parser)
    parser.group("which errors").add_argument(
        "--fail-on-new", action="store_true", help="exit with 1 if there is a new error"
    )
    add_output(parser, FORMS)
    common.add_preparing(parser, without=["by_depth", "any_of"])
    common.add_reading(parser, sides=2)


def run(options: argparse.Namespace) -> int:
    paths, preparing = [options.gold, options.old, options.new], common.preparing_of(options)
    refuse_to_overwrite([*paths, common.text_of(options), *preparing.files()], [options.output_file])
    require_writable([options.output_file])
    with progress(paths) as advance:
        found = diff(
            options.gold,
            options.old,
            options.new,
            choice_of(options),
            layers=common.layers(options),
            gold_set=options.gold_set,
            predicted_set=options.predicted_set,
            preparing=preparing,
            progress=advance,
            **common.reading(options),
        )
    put_result([found.render(form_of(options))], options.output_file)
    if options.fail_on_new and found.new:
        printing.remark(f"clueval diff: {found.new:,} new error{'s' * (found.new != 1)}")
        return 1
    return 0
