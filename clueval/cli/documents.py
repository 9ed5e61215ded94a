"""The commands ``convert``, ``merge`` and ``samples``: files of spans, read and written."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator
from importlib.resources import files as resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated

from clueval.cli.declared import Input, Keywords, OneOf, OutputFolder
from clueval.cli.options import READING_ONE
from clueval.cli.outputs import (
    DOCUMENTS,
    LINES,
    DocumentOutput,
    put_documents,
    put_result,
    writable_names,
)
from clueval.cli.printing import remark, remarking, say
from clueval.files.errors import FileError
from clueval.files.writing import errors_of, make_folder, whole_bytes
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


def convert(
    file: Input,
    *,
    to: Annotated[str, OneOf(writable_names)],
    output: DocumentOutput = DOCUMENTS,
    label: str | None = None,
    tokens: Input | None = None,
    reading: Keywords = READING_ONE,
) -> int:
    """Convert the spans of a file or folder into another format.

    --to ltf writes loio's tagging format, <body>..<e>..</e>..</body>: one file for each document, with the spans of
    one layer and one label (--label); tokens are joined by blanks. --to spans writes one table of the spans of all
    layers, with the columns document, start, end_inclusive, the layers and, with --token-id, the ids of the first and
    the last token. --to brat writes two files for each document, X.ann and X.txt, into a folder; --to doccano,
    spacy-json, token-rows and w2ner write JSON. --to conll writes columns with BIO tags, --to inline a text with tags
    for each document, --to docbin a file of spaCy. --to webanno and --to label-studio write files for these tools,
    and print what a project needs for them. What a format cannot hold is an error, unless --lossy leaves it out. --to
    tab writes the positions of predictions only, as the Text Anonymization Benchmark reads them: no labels, no texts.

    usage: FILE --to FORMAT

    arguments:
        file FILE: file or folder
    output:
        to FORMAT: the format to write
        label LABEL: write only spans with this label (ltf holds one)
        tokens FILE: a VRT or CoNLL file with the tokens of texts, for formats with tokens (default: words and single
            marks)

    examples:
        clueval convert gold.vrt --layer entity=2 --label person --to ltf --lossy -o gold/   (one file per document)
        clueval convert gold.xml --input ltf --to spans
    """
    writer = output.writer(to)
    passed_over = Counter[str]()
    documents = documents_of(file, FormatOptions(**reading), passed_over)
    conversion = Conversion(
        to,
        writer,
        layer_names(reading["layers"]),
        "token_id" in reading,
        output.lossy,
        passed_over,
        remark,
        token_documents(tokens, to, writer),
        output.path,
    )
    with remarking(passed_over):
        put_documents(conversion, with_label(of_one_file(documents, file, writer), label))
    return 0


def merge(file: Input, *, output: Path | None = LINES, reading: Keywords = READING_ONE) -> int:
    """Merge the layers of a file into one sequence of spans with a label for each layer.

    Overlapping spans of any layers become one span from the smallest start to the greatest end. In each layer, its
    label is the one that covers most of its positions; without a span in the layer, it has none. The result is a
    table of spans, which clueval can read, with the columns document, start, end_inclusive (corpus positions), the
    layers and, with --token-id, the token ids.

    usage: FILE

    arguments:
        file FILE: the file with the layers

    example:
        clueval merge gold.vrt --layer entity=2 --layer risk=3 --token-id 4 -o merged.tsv
        clueval score merged.tsv other.tsv --text gold.vrt --merge
    """
    require_one_file(file)
    passed_over = Counter[str]()
    documents = documents_of(file, FormatOptions(**reading), passed_over)
    with remarking(passed_over):
        put_result(merged_lines(documents, list(reading["layers"] or ()), "token_id" in reading), output)
    return 0


def samples(folder: OutputFolder) -> int:
    """Write the sample corpora that the examples of the guide use: German court decisions and English texts with gold
    and predicted spans, all invented, and a small file of each of many formats.

    usage: FOLDER

    arguments:
        folder FOLDER: the folder to write: a new one, or an empty one

    example:
        clueval samples samples
    """
    if str(folder) == "-":
        raise FileError("cannot be written: it is no folder", file="-", advice="name a folder")
    content = dict(_sample_files(resources("clueval") / "samples", folder))
    with errors_of(folder):
        is_empty = not folder.is_dir() or not any(folder.iterdir())
        is_complete = not is_empty and all(
            path.is_file() and path.read_bytes() == data for path, data in content.items()
        )
    if not is_empty and not is_complete:
        raise FileError(
            "cannot be written: the folder is not empty", file=str(folder), advice="name a new folder"
        )
    if is_empty:
        make_folder(folder)
        for path, text in content.items():
            with errors_of(path):
                path.parent.mkdir(parents=True, exist_ok=True)
            with whole_bytes(path) as file:
                file.write(text)
    german = shlex.quote(str(folder / "german"))
    say(
        f"The samples {'were written to' if is_empty else 'are already in'} {folder}; README.md describes them"
    )
    say(f"Example: clueval score {german}/gold.vrt {german}/predicted.vrt --layer entity=2")
    return 0


def _sample_files(folder: Traversable, target: Path) -> Iterator[tuple[Path, bytes]]:
    """Yield the path and the content of every file below a folder of the package."""
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _sample_files(entry, target / entry.name)
        else:
            yield target / entry.name, entry.read_bytes()
