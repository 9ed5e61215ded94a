"""``clueval conventions``: the same data under every convention at once."""

from __future__ import annotations

import argparse
from pathlib import Path

from clueval.cli import options as common
from clueval.cli.outputs import refuse_to_overwrite, require_page, require_writable
from clueval.cli.printing import put, wrote
from clueval.cli.progress import progress
from clueval.exceptions import UsageError
from clueval.studies.conventions import compare_conventions
from clueval.studies.conventions_report import render_markdown, render_text, write_page

USAGE = "GOLD PREDICTED"
DESCRIPTION = """\
Score predicted spans against gold under every convention that people report: conlleval, seqeval (default and
strict), CLUEval's levels, MUC, FairEval, loio, GATE. One row each, with what it counts as right.

GOLD and PREDICTED are files or folders, as for clueval score; with GOLD alone, the file has both sides."""
EPILOG = """\
examples:
  clueval conventions gold.conll predicted.conll
  clueval conventions gold.vrt predicted.vrt --layer entity=2 --layer risk=3 --output markdown
  clueval conventions both.conll --html conventions.html"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    common.add_sides(parser)
    group = parser.add_argument_group("report")
    group.add_argument(
        "--output",
        choices=("text", "json", "markdown"),
        metavar="FORM",
        help="the form of the table: text, json, markdown (default: text)",
    )
    group.add_argument(
        "--html", type=Path, metavar="FILE", help="write the table as a web page instead (extra: report)"
    )
    common.add_reading(parser, pairs=True)
    common.add_sets(parser.add_argument_group("annotation sets"))


def run(options: argparse.Namespace) -> int:
    refuse_to_overwrite([options.gold, options.predicted, options.text], [options.html])
    require_writable([options.html])
    require_page(options.html)
    if options.html is not None and options.output is not None:
        raise UsageError("--html writes a web page, and --output asks for text", advice="leave one out")
    with progress([options.gold, options.predicted]) as advance:
        table = compare_conventions(
            options.gold,
            options.predicted,
            layers=common.layers(options),
            gold_set=options.gold_set,
            predicted_set=options.predicted_set,
            progress=advance,
            **common.reading(options),
        )
    if options.html is not None:
        write_page(options.html, table.to_dict())
        wrote(options.html)
    elif options.output == "json":
        put(table.to_json())
    else:
        render = render_markdown if options.output == "markdown" else render_text
        put(render(table.to_dict()))
    return 0
