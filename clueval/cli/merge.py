"""``clueval merge``: several layers of one file as one sequence of spans."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from clueval.cli import options as common
from clueval.cli.convert import require_one_file
from clueval.cli.forms import add_output, put_result
from clueval.cli.outputs import refuse_to_overwrite, require_writable
from clueval.cli.parser import Command
from clueval.formats.spans_table import header, row
from clueval.reading.layers import layer_names
from clueval.reading.source import read
from clueval.spans.document import Document
from clueval.spans.merging import merge_layers

USAGE = "FILE"
DESCRIPTION = """\
Merge the layers of a file into one sequence of spans that carry a label for each layer.

Spans that overlap, of any layers, become one span from the least start to the greatest end; in each layer
it has the label that covers most positions of it, or none. The result is a table of spans that clueval reads:
document, start, end_inclusive (corpus positions, the last one included), the layers, and the token ids if there
are any."""
EPILOG = """\
example:
  clueval merge gold.vrt --layer entity=2 --layer risk=3 --token-id 4 -o merged.tsv
  clueval score merged.tsv other.tsv --text gold.vrt --merge"""


def add_arguments(parser: Command) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="the file with the layers")
    add_output(parser)
    common.add_reading(parser, sides=1)


def run(options: argparse.Namespace) -> int:
    require_one_file(options.file)
    refuse_to_overwrite([options.file, common.text_of(options)], [options.output_file])
    require_writable([options.output_file])
    layers = common.single_layers(options)
    documents = read(options.file, layers, **common.reading(options))
    with_ids = "token_id" in common.reading(options)
    put_result(_lines(documents, list(layers or ()), with_ids), options.output_file)
    return 0


def _lines(documents: Iterator[Document], layers: list[str], with_ids: bool) -> Iterator[str]:
    """The header and a line for each merged span. `with_ids`: whether token ids are asked for."""
    number = -1
    for number, document in enumerate(documents):
        if number == 0:
            layers = layers or list(document.layers)
            yield header(layers, with_ids)
        for span in merge_layers(
            {layer: document.layers.get(layer, ()) for layer in layers}, document=document.id
        ):
            yield row(document, span, layers, with_ids)
    if number < 0:
        yield header(layers or layer_names(None), with_ids)
