"""``clueval merge``: merges several layers of one file into one sequence of spans."""

from __future__ import annotations

import argparse

from clueval.cli import options as common
from clueval.cli.outputs import add_output, check_outputs, put_result
from clueval.cli.parser import Command, CommandParser
from clueval.cli.printing import remarking_passed_over
from clueval.clusters.merged import merged_rows
from clueval.compat.convert import require_one_file
from clueval.overwriting import input_path

USAGE = "FILE"
DESCRIPTION = """\
Merge the layers of a file into one sequence of spans with a label for each layer.

Overlapping spans of any layers become one span from the smallest start to the greatest end. In each layer, its
label is the one that covers most of its positions; without a span in the layer, it has none. The result is a
table of spans, which clueval can read, with the columns document, start, end_inclusive (corpus positions), the
layers and, with --token-id, the token ids."""
EPILOG = """\
example:
  clueval merge gold.vrt --layer entity=2 --layer risk=3 --token-id 4 -o merged.tsv
  clueval score merged.tsv other.tsv --text gold.vrt --merge"""


def add_arguments(parser: CommandParser) -> None:
    parser.add_argument("file", type=input_path, metavar="FILE", help="the file with the layers")
    add_output(parser)
    common.add_reading(parser, sides=1)


@remarking_passed_over()
def run(options: argparse.Namespace) -> int:
    require_one_file(options.file)
    check_outputs([options.output_file])
    layers = common.single_layers(options)
    put_result(merged_rows(options.file, layers, common.reading(options)), options.output_file)
    return 0


COMMAND = Command(USAGE, DESCRIPTION, EPILOG, add_arguments, run)
