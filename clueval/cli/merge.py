"""``clueval merge``: merges several layers of one file into one sequence of spans."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from clueval.cli import options as common
from clueval.cli.forms import add_output, put_result
from clueval.cli.outputs import refuse_to_overwrite, require_writable
from clueval.cli.parser import Command
from clueval.compat.convert import require_one_file
from clueval.formats.spans_table import header, row
from clueval.reading.layers import layer_names
from clueval.reading.source import read
from clueval.spans.document import Document
from clueval.spans.merging import merge_layers

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
    """Yield the header and a line for each merged span; `with_ids` adds the token ids."""
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
