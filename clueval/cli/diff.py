"""``clueval diff``: which errors are new, fixed or changed?"""

from __future__ import annotations

import argparse

from clueval.cli.declared import (
    REPORT_WITH_TEXTS,
    Inputs,
    OptionGroup,
    declared,
    fields,
    preparing,
    reading,
    shown_option,
)
from clueval.cli.errors import add_choice, chosen_errors
from clueval.cli.outputs import prints_text, put_report
from clueval.cli.parser import CommandParser
from clueval.cli.printing import complain, remark
from clueval.files.overwriting import input_path
from clueval.files.writing import named_together
from clueval.results.options import Counting
from clueval.studies.compared import diff
from clueval.studies.systems import Diff


def _add_paths(parser: CommandParser) -> None:
    for name, what in (("gold", "gold"), ("old", "the old run"), ("new", "the new run")):
        parser.add_argument(name, type=input_path, metavar=name.upper(), help=f"file or folder of {what}")


def _put(found: Diff, options: argparse.Namespace) -> int:
    """Write the diff; the exit code is 1 if there must be no new error, but there are some."""
    with named_together():  # a folder that is read may be that of the outputs
        put_report(found, options)
        verdict = found.verdict()
    if not prints_text(options):
        remark(verdict)
    if options.fail_on_new and found.new:
        complain(f"clueval diff: {found.new:,} new error{'s' * (found.new != 1)}")
        return 1
    return 0


DIFF_COMMAND = declared(
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
  clueval diff gold.conll old.conll new.conll -o diff.html""",
    [
        OptionGroup(add_choice, chosen_errors),
        shown_option(
            "gates", "--fail-on-new", action="store_true", help="exit with 1 if there is a new error"
        ),
        REPORT_WITH_TEXTS,
        preparing(without=["any_of"]),
        reading(),
        fields(Counting, "reading", ["pair_by"]),
    ],
    inputs=Inputs(_add_paths, ("gold", "old", "new")),
    put=_put,
)
