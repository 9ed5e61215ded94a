"""``clueval convert`` and ``clueval merge``: the spans of a file in another format, or merged into one sequence."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable
from tempfile import TemporaryFile

from clueval.cli import options as common
from clueval.cli.outputs import (
    add_documents_output,
    add_output,
    put_result,
    writer_of,
)
from clueval.cli.parser import Command, CommandParser
from clueval.cli.printing import put, remark, remarking
from clueval.core.document import Document
from clueval.files.errors import in_words
from clueval.files.overwriting import input_path
from clueval.formats.options import FormatOptions
from clueval.reading.convert import (
    Conversion,
    merged_lines,
    of_one_file,
    require_one_file,
    token_documents,
    with_label,
)
from clueval.reading.options import layer_names
from clueval.reading.read import documents_of

USAGE = "FILE --to FORMAT"
DESCRIPTION = """\
Convert the spans of a file or folder into another format.

--to ltf writes loio's tagging format, <body>..<e>..</e>..</body>: one file for each document, with the spans of
one layer and one label (--label); tokens are joined by blanks. --to spans writes one table of the spans of all
layers, with the columns document, start, end_inclusive, the layers and, with --token-id, the ids of the first and
the last token. --to brat writes two files for each document, X.ann and X.txt, into a folder; --to doccano, spacy-json,
token-rows and w2ner write JSON. --to conll writes columns with BIO tags, --to inline a text with tags for each
document, --to docbin a file of spaCy. --to webanno and --to label-studio write files for these tools, and print what
a project needs for them. What a format cannot hold is an error, unless --lossy leaves it out. --to tab
writes the positions of predictions only, as the Text Anonymization Benchmark reads them: no labels, no texts."""
EPILOG = """\
examples:
  clueval convert gold.vrt --layer entity=2 --label person --to ltf --lossy -o gold/   (one file per document)
  clueval convert gold.xml --input ltf --to spans"""


def add_arguments(parser: CommandParser) -> None:
    parser.add_argument("file", type=input_path, metavar="FILE", help="file or folder")
    add_documents_output(parser, required=True)
    parser.add_argument("--label", metavar="LABEL", help="write only spans with this label (ltf holds one)")
    parser.add_argument(
        "--tokens",
        type=input_path,
        metavar="FILE",
        help="a VRT or CoNLL file with the tokens of texts, for formats with tokens (default: words and single marks)",
    )
    common.add_reading(parser, sides=1)


def run(options: argparse.Namespace) -> int:
    writer = writer_of(options, options.to)
    layers, reading = common.single_layers(options), common.reading(options)
    passed_over = Counter[str]()
    documents = documents_of(options.file, FormatOptions(layers=layers, **reading), passed_over)
    conversion = Conversion(
        options.to,
        writer,
        layer_names(layers),
        "token_id" in reading,
        options.lossy,
        passed_over,
        remark,
        token_documents(options.tokens, options.to, writer),
        options.output_file,
    )
    with remarking(passed_over):
        put_documents(conversion, with_label(of_one_file(documents, options.file, writer), options.label))
    return 0


def put_documents(conversion: Conversion, documents: Iterable[Document]) -> None:
    """Write documents in a format: to standard output, to a file, or to files of a folder; all or nothing."""
    fitting = conversion.fitted(documents)
    if conversion.output is None:
        with TemporaryFile("w+", encoding="utf-8", errors="surrogatepass", newline="") as whole:
            whole.writelines(conversion.text(fitting))
            whole.seek(0)
            for line in whole:
                put(line, end="")
    else:
        conversion.write(fitting)
    if conversion.lost:
        remark(f"left out: {in_words(conversion.lost)}")
    for line in conversion.hints():
        remark(line)


CONVERT_COMMAND = Command(USAGE, DESCRIPTION, EPILOG, add_arguments, run)


def _add_file_with_layers(parser: CommandParser) -> None:
    parser.add_argument("file", type=input_path, metavar="FILE", help="the file with the layers")
    add_output(parser)
    common.add_reading(parser, sides=1)


def _merge(options: argparse.Namespace) -> int:
    require_one_file(options.file)
    layers, reading = common.single_layers(options), common.reading(options)
    passed_over = Counter[str]()
    documents = documents_of(options.file, FormatOptions(layers=layers, **reading), passed_over)
    with remarking(passed_over):
        put_result(merged_lines(documents, list(layers or ()), "token_id" in reading), options.output_file)
    return 0


MERGE_COMMAND = Command(
    "FILE",
    """\
Merge the layers of a file into one sequence of spans with a label for each layer.

Overlapping spans of any layers become one span from the smallest start to the greatest end. In each layer, its
label is the one that covers most of its positions; without a span in the layer, it has none. The result is a
table of spans, which clueval can read, with the columns document, start, end_inclusive (corpus positions), the
layers and, with --token-id, the token ids.""",
    """\
example:
  clueval merge gold.vrt --layer entity=2 --layer risk=3 --token-id 4 -o merged.tsv
  clueval score merged.tsv other.tsv --text gold.vrt --merge""",
    _add_file_with_layers,
    _merge,
)
