"""``clueval convert``: one format into another."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from clueval.cli import options as common
from clueval.cli.forms import put_result
from clueval.cli.outputs import Inputs, refuse_to_overwrite
from clueval.cli.parser import Command
from clueval.cli.printing import remark
from clueval.exceptions import FileError, UsageError
from clueval.formats.spans_table import header, row
from clueval.reading.layers import layer_names
from clueval.reading.source import read
from clueval.spans.document import Document
from clueval.transforms.characters import to_characters
from clueval.writing import whole_file

USAGE = "FILE --to FORMAT"
DESCRIPTION = """\
Convert the spans of a file or folder.

--to ltf writes loio's tagging format, <body>..<e>..</e>..</body>: one file for each document, one layer and one
label (--label), positions in characters (tokens are joined by blanks). --to spans writes one table of all spans
of all layers: document, start, end_inclusive, the layers, and with --token-id the ids of the first and the last
token."""
EPILOG = """\
examples:
  clueval convert gold.vrt --layer entity=2 --label person --to ltf -o gold/     (a folder: one file a document)
  clueval convert gold.xml --input ltf --to spans"""


def add_arguments(parser: Command) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="file or folder")
    parser.add_argument(
        "--to",
        choices=("ltf", "spans"),
        metavar="FORMAT",
        required=True,
        help="the format to write: ltf, spans",
    )
    parser.add_argument(
        "-o",
        "--output-file",
        metavar="PATH",
        help="where to write: a file, or a folder if it ends in / (default: stdout)",
    )
    parser.add_argument("--label", metavar="LABEL", help="write only spans with this label (ltf holds one)")
    common.add_reading(parser, sides=1)


def run(options: argparse.Namespace) -> int:
    documents = read(options.file, common.single_layers(options), **common.reading(options))
    if options.label is not None:
        documents = (_with_label(document, options.label) for document in documents)
    path = None if options.output_file is None else Path(options.output_file)
    inputs = refuse_to_overwrite([options.file, common.text_of(options)], [path])
    if options.to == "spans":
        require_one_file(options.file)
        with_ids = "token_id" in common.reading(options)
        put_result(_spans(documents, layer_names(common.single_layers(options)), with_ids), path)
    elif path is not None and (path.is_dir() or options.output_file.endswith("/")):
        path.mkdir(exist_ok=True)
        _write_each(documents, path, inputs)
    else:
        put_result(_single(documents), path)
    return 0


def require_one_file(path: Path) -> None:
    """Raise `UsageError` for a folder: positions of a table are counted over one file."""
    if path.is_dir():
        raise UsageError(
            f"{path} is a folder", advice="a table of spans belongs to one file: take file by file"
        )


def _spans(documents: Iterator[Document], layers: list[str], with_ids: bool) -> Iterator[str]:
    """The header and a line for each span; of a file without documents the header with these layers."""
    number = -1
    for number, document in enumerate(documents):
        if number == 0:
            layers = list(document.layers)
            yield header(layers, with_ids)
        spans = [span for layer in layers for span in document.layers.get(layer, ())]
        for span in sorted(spans, key=lambda span: (span.start, span.end)):
            yield row(document, span, layers, with_ids)
    if number < 0:
        yield header(layers, with_ids)


def _with_label(document: Document, label: str) -> Document:
    """The document with the spans of that label alone."""
    layers = {
        layer: [span for span in spans if span.label == label] for layer, spans in document.layers.items()
    }
    return replace(document, layers=layers)


def _ltf(document: Document) -> str:
    from clueval.formats.ltf import write_ltf

    if len(document.layers) != 1:
        raise UsageError(
            f"the tagging format holds one layer, not {len(document.layers)}", advice="name one with --layer"
        )
    return write_ltf(to_characters(document), next(iter(document.layers)))


def _single(documents: Iterator[Document]) -> Iterator[str]:
    """The one document; where there is none, one without text, since an empty file is none of the format."""
    number = -1
    for number, document in enumerate(documents):
        if number:
            raise UsageError("there are several documents", advice="name a folder with -o, as in -o folder/")
        yield _ltf(document).removesuffix("\n")
    if number < 0:
        yield "<body></body>"


def _write_each(documents: Iterator[Document], folder: Path, inputs: Inputs) -> None:
    """One file for each document, called by its id."""
    written: set[str] = set()
    for document in documents:
        name = "".join(c if c.isalnum() or c in "-_." else "_" for c in document.id).lstrip(".") or "_"
        if name in written:
            raise FileError(
                f"two documents would be called {name}.xml", file=str(folder), document=document.id
            )
        written.add(name)
        path = folder / f"{name}.xml"
        inputs.refuse(path)
        with whole_file(path) as output:
            output.write(_ltf(document))
    remark(f"wrote {len(written)} file{'s' * (len(written) != 1)} to {folder}")
