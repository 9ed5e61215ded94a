"""``clueval convert``: writes the spans of a file in another format."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from clueval.cli import options as common
from clueval.cli.outputs import Inputs, refuse_to_overwrite
from clueval.cli.parser import Command
from clueval.cli.printing import put, remark, wrote
from clueval.exceptions import FileError, UsageError
from clueval.formats import all_formats, format_named
from clueval.formats.fitting import fitted
from clueval.formats.format import Format, Writer
from clueval.reading.layers import layer_names
from clueval.reading.options import ReadOptions
from clueval.reading.source import read, texts_of
from clueval.spans.document import Document
from clueval.transforms.characters import to_characters
from clueval.writing import whole_bytes, whole_file

Pieces = Callable[[Iterator[Document]], Iterator[str]]

USAGE = "FILE --to FORMAT"
DESCRIPTION = """\
Convert the spans of a file or folder into another format.

--to ltf writes loio's tagging format, <body>..<e>..</e>..</body>: one file for each document, with the spans of
one layer and one label (--label); tokens are joined by blanks. --to spans writes one table of the spans of all
layers, with the columns document, start, end_inclusive, the layers and, with --token-id, the ids of the first and
the last token. --to brat writes two files for each document, X.ann and X.txt, into a folder; --to doccano, spacy-json,
token-rows and tab write JSON. --to conll writes columns with BIO tags, --to inline a text with tags for each
document, --to docbin a file of spaCy. What a format cannot hold is an error, unless --lossy leaves it out."""
EPILOG = """\
examples:
  clueval convert gold.vrt --layer entity=2 --label person --to ltf -o gold/   (one file per document)
  clueval convert gold.xml --input ltf --to spans"""


def add_arguments(parser: Command) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="file or folder")
    names = [form.name for form in all_formats() if form.write is not None]
    parser.add_argument(
        "--to",
        choices=names,
        metavar="FORMAT",
        required=True,
        help=f"the format to write: {', '.join(names)}",
    )
    parser.add_argument(
        "-o",
        "--output-file",
        metavar="PATH",
        help="where to write: a file, or a folder if it ends in / (default: stdout)",
    )
    parser.add_argument(
        "--lossy",
        action="store_true",
        help="leave out what the format cannot hold (features, gaps, overlap, zero length, layers, metadata); count it",
    )
    parser.add_argument("--label", metavar="LABEL", help="write only spans with this label (ltf holds one)")
    parser.add_argument(
        "--tokens",
        type=Path,
        metavar="FILE",
        help="a VRT or CoNLL file with the tokens of texts, for formats with tokens (default: words and single marks)",
    )
    common.add_reading(parser, sides=1)


def run(options: argparse.Namespace) -> int:
    form = format_named(options.to)
    layers = common.single_layers(options)
    documents = read(options.file, layers, **common.reading(options))
    if options.label is not None:
        documents = (_with_label(document, options.label) for document in documents)
    path = None if options.output_file is None else Path(options.output_file)
    inputs = refuse_to_overwrite([options.file, options.tokens, common.text_of(options)], [path])
    if form.write is not None and form.write.unit is None:
        documents = _of_one_file(documents, options.file)
    if options.tokens is not None and (form.write is None or form.write.unit == "character" or form.single):
        raise UsageError(f"--tokens is for formats with tokens, not for {form.name}", advice="remove it")
    in_folder = path is not None and (path.is_dir() or options.output_file.endswith("/"))
    put_documents(
        documents,
        form,
        path,
        inputs,
        layers=layer_names(layers),
        with_ids="token_id" in common.reading(options),
        in_folder=in_folder,
        lossy=options.lossy,
        tokens=None if options.tokens is None else texts_of(options.tokens, ReadOptions()),
    )
    return 0


def put_documents(
    documents: Iterator[Document],
    form: Format,
    path: Path | None,
    inputs: Inputs,
    *,
    layers: Sequence[str],
    with_ids: bool,
    in_folder: bool,
    lossy: bool = False,
    tokens: Iterator[Document] | None = None,
) -> None:
    """Write documents in a format: to standard output, to a file, or to files of a folder.

    `tokens` are documents with the tokens of the texts of `documents`, in the same order.
    """
    assert form.write is not None
    dropped: Counter[str] = Counter()
    counted = dropped if lossy else None
    if form.write.unit == "character":
        documents = map(to_characters, documents)
    elif form.write.unit == "token" or tokens is not None:
        documents = _with_tokens(documents, tokens, counted)
    if form.write.holds is not None:
        documents = map(partial(fitted, form=form, dropped=counted), documents)
    write = partial(_content, form.write, list(layers), with_ids)
    if form.write.data is not None:
        _put_bytes(form.write.data(documents, list(layers)), path)
    elif not form.single:
        _put(write(documents), path)
    elif path is not None and in_folder:
        path.mkdir(exist_ok=True)
        _write_each(documents, path, write, form.write, inputs)
    elif form.write.beside:
        raise UsageError(
            f"the format {form.name} has several files for a document",
            advice="name a folder, as in -o folder/",
        )
    else:
        _put(write(_only(documents)), path)
    if dropped:
        remark(f"left out: {', '.join(f'{number} {kind}' for kind, number in dropped.items())}")


def _content(
    writer: Writer, layers: list[str], with_ids: bool, documents: Iterator[Document]
) -> Iterator[str]:
    """Yield the text of a file, piece by piece, with its line ends."""
    for line in writer.lines(documents, layers=layers, with_ids=with_ids):
        yield f"{line}\n" if writer.ends_lines else line


def _put(pieces: Iterator[str], path: Path | None) -> None:
    """Write text to standard output, or to a file, which is then complete or not written at all."""
    if path is None:
        for piece in pieces:
            put(piece, end="")
        return
    with whole_file(path) as output:
        output.writelines(pieces)
    wrote(path)


def _put_bytes(data: bytes, path: Path | None) -> None:
    """Write a binary file. Raises `UsageError` without a path."""
    if path is None:
        raise UsageError("this format is binary", advice="name a file with -o")
    with whole_bytes(path) as output:
        output.write(data)
    wrote(path)


def _with_tokens(
    documents: Iterator[Document], tokens: Iterator[Document] | None, dropped: Counter[str] | None
) -> Iterator[Document]:
    """Yield the documents with positions in `tokens`, or in words and single marks of their texts.

    The first time that a text is split, a line says so.
    """
    from clueval.transforms.tokens import to_tokens

    said = tokens is not None
    for document in documents:
        own = None if tokens is None else next(tokens, None)
        if tokens is not None and own is None:
            raise UsageError("the file of --tokens has fewer documents", document=document.id)
        if document.unit == "character" and not said:
            remark("texts without tokens are split into words and single marks")
            said = True
        yield to_tokens(document, own, dropped)
    if tokens is not None and (more := next(tokens, None)) is not None:
        raise UsageError("the file of --tokens has more documents", file=more.file, document=more.id)


def _of_one_file(documents: Iterator[Document], path: Path) -> Iterator[Document]:
    """Yield the documents. Raises `UsageError` for tokens of several files, which are counted over one file."""
    for document in documents:
        if document.unit == "token" and path.is_dir():
            require_one_file(path)
        yield document


def require_one_file(path: Path) -> None:
    """Raise `UsageError` for a folder: positions of tokens in a table are counted over one file."""
    if path.is_dir():
        raise UsageError(
            f"{path} is a folder", advice="convert its files one by one: a table of spans belongs to one file"
        )


def _with_label(document: Document, label: str) -> Document:
    """Return the document with only the spans of this label."""
    layers = {
        layer: [span for span in spans if span.label == label] for layer, spans in document.layers.items()
    }
    return replace(document, layers=layers)


def _only(documents: Iterator[Document]) -> Iterator[Document]:
    """Yield the only document. Raises `UsageError` for a second one."""
    for number, document in enumerate(documents):
        if number:
            raise UsageError("there are several documents", advice="name a folder with -o, as in -o folder/")
        yield document


def _write_each(
    documents: Iterator[Document], folder: Path, write: Pieces, writer: Writer, inputs: Inputs
) -> None:
    """Write a file for each document, named after its id."""
    written: set[str] = set()
    for document in documents:
        stem = "".join(c if c.isalnum() or c in "-_." else "_" for c in document.id).lstrip(".") or "_"
        name = f"{stem}{writer.ending}"
        if name in written:
            raise FileError(
                f"two documents would have the file name {name}", file=str(folder), document=document.id
            )
        written.add(name)
        path = folder / name
        inputs.refuse(path)
        with whole_file(path) as output:
            output.writelines(write(iter([document])))
        for ending, content in writer.beside.items():
            inputs.refuse(folder / f"{stem}{ending}")
            with whole_file(folder / f"{stem}{ending}") as output:
                output.write(content(document))
    remark(f"wrote {len(written)} file{'s' * (len(written) != 1)} to {folder}")
