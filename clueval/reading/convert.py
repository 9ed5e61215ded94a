"""Writes documents in another format, and merges the layers of files: as documents or as rows of a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from os import PathLike, fsdecode
from pathlib import Path
from shutil import copyfileobj
from typing import Any

from clueval.core.bag import Read
from clueval.core.document import Document, MissingId, Unit, with_positions
from clueval.core.merging import merged_spans, with_merged
from clueval.files.errors import FileError, UsageError, cut_label, warn, with_noun
from clueval.files.opening import is_folder
from clueval.files.options import checked_call, require_instance, require_kind
from clueval.files.overwriting import refuse_to_overwrite
from clueval.files.writing import errors_of, made_folder, scratch_folder, whole_bytes, whole_file
from clueval.formats.catalogue import writer_named, written_names
from clueval.formats.form import form_by_name
from clueval.formats.input_file import InputFile
from clueval.formats.options import USUAL_READING, FormatOptions, LayerSource, Reading, layer_names
from clueval.formats.recognition import fields_of_line
from clueval.formats.tables import header_line, span_lines
from clueval.formats.writer import IDS, NAMES, FileNames, Uses, Writer, fitted, refuse_lost
from clueval.reading.paths import as_path, files_of
from clueval.reading.read import documents_of, options_for_one_side
from clueval.reading.source import form_at, is_column_format, texts_of
from clueval.transforms.characters import to_characters
from clueval.transforms.placing import to_tokens, with_tokens_of


@checked_call
def convert(
    source: str | PathLike[str] | Iterable[Document],
    to: str,
    output_file: str | PathLike[str] | None = None,
    *,
    layers: Mapping[str, LayerSource] | None = None,
    label: str | None = None,
    lossy: bool = False,
    tokens: str | PathLike[str] | None = None,
    as_: str | None = None,
    types: Mapping[str, str] | None = None,
    reading: Reading = USUAL_READING,
    **options: Any,
) -> list[Document]:
    """Convert the spans of a file or folder, or of documents, into another format.

    Args:
        source: as in `clueval.read`, or documents.
        to: the name of the format to write.
        output_file: where to write: a file, or a folder if it exists as one or ends in ``/``. None: nothing is written.
        layers, reading, options: as in `clueval.read`.
        label: write only spans with this label.
        lossy: leave out what the format cannot hold, and annotations that are not read, instead of raising an error.
        tokens: a VRT or CoNLL file with the tokens of texts, in the same order; None: words and single marks.
        as_: for Label Studio, ``annotations`` (the default) or ``predictions``.
        types: for UIMA and WebAnno, the type and the feature with the label, ``TYPE|FEATURE``, of layers by name.

    Returns the documents as the format holds them: positions in its unit, and with `lossy` without what it cannot
    hold. Raises `UsageError` for what would be lost without `lossy`, before anything is written, `FileError` for an
    output that cannot be written or that is an input, and the errors of `clueval.read`.

    >>> from clueval import Document, Span
    >>> gold = [Document("d", {"name": [Span(0, 3, "PER")]}, text="Ada slept", unit="character")]
    >>> [document] = convert(gold, "conll")
    >>> document.tokens, document.layers["name"][0].end
    (['Ada', 'slept'], 1)
    """
    require_kind(to, "str", "to")
    writer = writer_named(to, as_=as_, types=types)
    require_kind(label, "str | None", "label")
    if output_file is not None:
        as_path(output_file)  # refuses what is no path
    output = None if output_file is None else fsdecode(output_file)
    passed_over = Counter[str]()
    source_documents, names = _source_documents(
        source, layers, reading, options, passed_over, writer.unit_read
    )
    refuse_to_overwrite([output])
    conversion = Conversion(
        to,
        writer,
        names,
        with_ids=options.get("token_id", reading.token_id) is not None,
        lossy=lossy,
        tokens=token_documents(tokens, to, writer),
        passed_over=passed_over,
        output=output,
    )
    documents = list(conversion.fitted(with_label(of_one_file(source_documents, source, writer), label)))
    if output is not None:
        conversion.write(documents)
    return documents


def _source_documents(
    source: Any,
    layers: Mapping[str, LayerSource] | None,
    reading: Reading,
    options: Mapping[str, Any],
    passed_over: Counter[str],
    unit: Unit | None,
) -> tuple[Iterable[Document], Sequence[str]]:
    if isinstance(source, str | PathLike):
        format_options = options_for_one_side("convert", layers, reading, options, unit)
        return documents_of(source, format_options, passed_over), layer_names(layers)
    if options or layers is not None:
        raise UsageError(
            "layers and options for reading apply to files, not to documents", advice="leave them out"
        )
    require_kind(source, "Iterable", "source")
    documents = list(source)
    for number, document in enumerate(documents):
        require_instance(document, Document, f"source[{number}]")
    return documents, list(dict.fromkeys(name for document in documents for name in document.layers))


def token_documents(path: Any, name: str, writer: Writer) -> Iterator[Document] | None:
    """Return the documents of a file with tokens. Raises `UsageError` for a format, `name`, without tokens."""
    if path is None:
        return None
    if writer.unit == "character" and not writer.keeps_tokens:
        raise UsageError(
            f"the format {name} has no tokens, so a file with tokens does not apply", advice="leave it out"
        )
    return _with_tokens(texts_of(InputFile(as_path(path)), FormatOptions()))


def _with_tokens(documents: Iterable[Document]) -> Iterator[Document]:
    for document in documents:
        if document.tokens is None:
            raise UsageError(
                "the file has texts without tokens", file=document.file, advice="use VRT or CoNLL"
            )
        yield document


def of_one_file(documents: Iterable[Document], source: object, writer: Writer) -> Iterator[Document]:
    """Yield the documents. Raises `UsageError` for tokens of a folder if the format counts them over one file."""
    for document in documents:
        counts = writer.unit is None and document.unit == "token"
        if counts and isinstance(source, str | PathLike):
            require_one_file(Path(source))
        yield document


def require_written_ending(path: Path, name: str) -> None:
    """Raise `UsageError` for a file whose ending tells another format than `name`, a workbook or a page."""
    file = path.name.lower().removesuffix(".gz")
    form = form_by_name(file, None)
    if file.endswith((".html", ".xlsx")) or (form is not None and form.name != name):
        ending = Path(file).suffix
        advice = "give the file another ending" + "; agree and errors write pages and workbooks" * (
            form is None
        )
        raise UsageError(f"{path}: the format {name} is not written as {ending}", advice=advice)


def require_one_file(path: Path) -> None:
    """Raise `UsageError` for a folder: positions of tokens in a table are counted over one file."""
    if is_folder(path):
        raise UsageError(
            f"{path} is a folder", advice="convert its files one by one: a table of spans belongs to one file"
        )


def format_for(output: str | None, like: Path, reading: Reading) -> str:
    """Return the name of the format for spans in an output whose format was not named.

    A ``.conll`` is CoNLL, and a ``.tsv`` a table of spans. Others get the format of the file `like`, or of the first
    file of this folder, if it can be written there; else CoNLL if positions are tokens, and doccano if they are
    characters. Raises `UsageError` for the ending of another format.
    """
    ending = "" if output is None else Path(output).suffix.lower()
    if ending in (".conll", ".tsv"):
        return "conll" if ending == ".conll" else "spans"
    _, first = files_of(like)[0]
    form = form_at(first, FormatOptions.of(reading))
    name = "conll" if form.counts_tokens else "doccano"
    if form.name in written_names():
        writer = writer_named(form.name)
        in_folder = output is not None and (output.endswith("/") or is_folder(Path(output)))
        if writer.single == in_folder and writer.data is None and (in_folder or not writer.beside):
            name = form.name
    if ending in (".json", ".jsonl", ".ann", ".spacy") and name in ("conll", "spans"):
        raise UsageError(f"{output}: the result has the format {name}", advice="name the format with to=...")
    return name


def has_other_columns(path: Path, reading: Reading, read: Read) -> bool:
    """Return whether the first file has more columns than those of its tokens and of the layers that were read."""
    _, first = files_of(path)[0]
    from clueval.formats.column_format import ColumnInput  # only for columns

    options = FormatOptions.of(reading, layers={})
    form, file = form_at(first, options), InputFile(first)
    if not is_column_format(form):
        return False
    reader = ColumnInput(form, file, options)
    lines = filter(str.strip, file.beginning().split("\n"))
    tokens = (line for line in lines if not form.special.match(line) or form.is_token(reader, line))
    fields = fields_of_line(next(tokens, "").strip())
    return len(fields) > 1 + len(set().union(*read.sources.values()))


def with_label(documents: Iterable[Document], label: str | None) -> Iterator[Document]:
    """Yield the documents with only the spans of this label; None: all spans. Warns if there are only other labels."""
    if label is None:
        yield from documents
        return
    labels: set[str] = set()
    for document in documents:
        layers = {}
        for layer, spans in document.layers.items():
            layers[layer] = [span for span in spans if span.label == label]
            labels.update(span.label for span in spans)
        yield replace(document, layers=layers)
    if labels and label not in labels:
        first_labels = ", ".join(map(cut_label, sorted(labels)[:10]))
        warn(f"no span has the label {cut_label(label)!r} (labels found: {first_labels})")


@dataclass(slots=True)
class Conversion:
    """Documents on their way into a format."""

    name: str  # the name of the format, and how it is written
    writer: Writer
    layers: Sequence[str]  # the names of the layers, for a file without documents
    with_ids: bool = False  # whether token ids are written
    lossy: bool = False  # whether what is lost is left out; otherwise it is an error after the last document
    # what the formats of the documents have not read, by kind, after the last document
    passed_over: Mapping[str, int] = field(default_factory=dict)
    remark: Callable[[str], object] = len  # is called with a line for people
    # documents with the tokens of the texts, in the same order; None: words and single marks
    tokens: Iterator[Document] | None = None
    # the file or folder to write, with a slash at the end of a new folder; None: standard output, or nothing
    output: str | None = None
    # what was left out, by kind, and what the documents had
    lost: Counter[str] = field(default_factory=Counter)
    uses: Uses = field(default_factory=Uses)
    are_split: bool = False  # whether texts were split into words and single marks

    def fitted(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Yield the documents as the format holds them; `lost` counts what it cannot hold, by kind.

        Raises `UsageError` after the last document if anything is lost, unless `lossy` is true.
        """
        writer, in_folder, names = self.writer, self._is_folder, FileNames()
        losing: list[Document] = []
        layer: str | None = None
        for number, document in enumerate(self._in_unit(documents), 1):
            fitting, losses = fitted(document, writer, layer)
            if "layers" not in writer.holds:
                layer = layer or next((name for name, spans in fitting.layers.items() if spans), None)
            if not writer.keeps_ids:
                losses[IDS] += document.id != str(number) and not isinstance(document.id, MissingId)
                fitting = replace(fitting, id=MissingId(number))
            elif in_folder:  # the id is the name of the file
                identifier = document.id.removesuffix(".txt").removesuffix(writer.ending)
                name_of_file = names.of(identifier)
                losses[NAMES] += name_of_file != identifier
                fitting = replace(fitting, id=name_of_file)
            self.lost.update(losses := +losses)
            losing += [document] if losses else []
            del losing[2:]
            if writer.hints is not None or writer.of_folder is not None:
                self.uses.add(fitting)
            yield fitting
        if not self.lossy:
            passed_over = dict(sorted(self.passed_over.items()))
            refuse_lost(self.name, self.lost, passed_over, losing[0] if len(losing) == 1 else None)
        if self.are_split:  # nothing is said of it before an error about what is lost
            self.remark("texts without tokens are split into words and single marks")

    @property
    def _is_folder(self) -> bool:
        """Whether each document is written to a file of its own."""
        is_one = self.output is None or not (self.output.endswith("/") or is_folder(Path(self.output)))
        return self.writer.single and not is_one

    def _in_unit(self, documents: Iterable[Document]) -> Iterator[Document]:
        for document in map(with_positions, documents):
            tokens = None if self.tokens is None else next(self.tokens, None)
            if self.tokens is not None and tokens is None:
                raise UsageError(
                    "the file with tokens does not have this document",
                    document=document.id,
                    advice="both need the same documents in the same order",
                )
            if tokens is None and document.tokens is None:
                self.are_split |= (self.writer.unit, document.unit) == ("token", "character")
            yield self._converted(document, tokens)
        if self.tokens is not None and (more := next(self.tokens, None)) is not None:
            raise UsageError(
                "the file with tokens has more documents than the texts",
                **more.in_errors,
                advice="both need the same documents in the same order",
            )

    def _converted(self, document: Document, tokens: Document | None) -> Document:
        if self.writer.unit != "character":
            if self.writer.unit is None and tokens is None:
                return document
            return to_tokens(document, tokens, self.lost if self.lossy else None)
        converted = to_characters(document).from_position(0)
        if converted.text is None and self.writer.needs_text:
            raise UsageError(
                f"the format {self.name} cannot hold a document without text",
                **document.in_errors,
                advice="convert a file that has the text",
            )
        if not self.writer.keeps_tokens:
            return converted
        if document.unit == "token":
            return replace(converted, tokens=document.tokens)
        return converted if tokens is None else with_tokens_of(tokens, converted)

    def hints(self) -> Iterator[str]:
        """Yield lines for people about what other programs need before they read what was written."""
        return iter(()) if self.writer.hints is None else self.writer.hints(self.uses, self.layers)

    def text(self, documents: Iterable[Document]) -> Iterable[str]:
        """Return the content of one file, piece by piece. Raises `UsageError` if it needs several files."""
        if self.writer.data is not None:
            raise UsageError(f"the format {self.name} is binary", advice="name a file with -o")
        if self.writer.beside or self.writer.of_folder is not None:
            raise UsageError(
                f"the format {self.name} has several files for a document",
                advice="name a folder, as in folder/",
            )
        of_file = _single_document(documents) if self.writer.single else documents
        return self.writer.pieces(of_file, list(self.layers), self.with_ids)

    def write(self, documents: Iterable[Document]) -> None:
        """Write the documents to the output, a file, or each to a file of its own in a folder; all of it or nothing."""
        output = self.output
        assert output is not None
        path = Path(output)
        if self._is_folder:
            self._write_each(documents, path)
            return
        require_written_ending(path, self.name)
        if self.writer.data is not None:
            with whole_bytes(path) as binary:
                binary.write(self.writer.data(documents, list(self.layers)))
        elif output.endswith("/"):
            raise FileError(
                f"is a folder, and the format {self.name} writes one file",
                file=output,
                advice="name a file, or a format with a file for each document, such as brat",
            )
        else:
            with whole_file(path) as file:
                file.writelines(self.text(documents))
        self.remark(f"wrote {path}")

    def _write_each(self, documents: Iterable[Document], folder: Path) -> None:
        """Write a file for each document, named after its id, and the files that belong to it."""
        with made_folder(folder), scratch_folder(folder / "x") as scratch:
            names = list(self._write_scratch(documents, folder, scratch))
            for name in names:
                with (scratch / name).open("rb") as whole, whole_bytes(folder / name) as file:
                    copyfileobj(whole, file)
        number = sum(name.endswith(self.writer.ending) for name in names)
        self.remark(f"wrote {with_noun(number, 'files')} to {folder}")

    def _write_scratch(self, documents: Iterable[Document], folder: Path, scratch: Path) -> Iterator[str]:
        """Write the files of `folder` into another one first; yield their names."""
        for document in documents:
            pieces = self.writer.pieces([document], list(self.layers), self.with_ids)
            contents: dict[str, Iterable[str]] = {self.writer.ending: pieces}
            contents |= {ending: [content(document)] for ending, content in self.writer.beside.items()}
            for ending, file_pieces in contents.items():
                yield _write_pieces(f"{document.id}{ending}", file_pieces, folder, scratch)
        if self.writer.of_folder is not None:
            for name, content in self.writer.of_folder(self.uses, self.layers).items():
                yield _write_pieces(name, [content], folder, scratch)


def _write_pieces(name: str, pieces: Iterable[str], folder: Path, scratch: Path) -> str:
    with errors_of(folder / name), (scratch / name).open("w", encoding="utf-8", newline="") as file:
        file.writelines(pieces)
    return name


def _single_document(documents: Iterable[Document]) -> Iterator[Document]:
    for number, document in enumerate(documents):
        if number:
            raise UsageError(
                "the format holds one document, and there are several",
                advice="name a folder, as in folder/",
            )
        yield document


# Merged layers


@checked_call
def merge(
    file: Any,
    layers: Mapping[str, LayerSource] | None = None,
    *,
    reading: Reading = USUAL_READING,
    **options: Any,
) -> Iterator[Document]:
    """Yield the documents of a file, each with all its layers merged into one, called ``merged``.

    Overlapping spans of any layers become one span from the smallest start to the greatest end, with a label for each
    layer: the one that covers most of its positions, or None. All arguments are those of `clueval.read`, and
    so are the errors; `clueval.merge_layers` merges layers that are in memory.

    >>> from io import StringIO
    >>> lines = "a B-PER O", "b I-PER B-high", "c O I-high"
    >>> [document] = merge(StringIO("\\n".join(lines)), {"entity": 2, "risk": 3})
    >>> [(span.start, span.end, dict(span.labels)) for span in document.layers["merged"]]
    [(0, 3, {'entity': 'PER', 'risk': 'high'})]
    """
    documents = documents_of(file, options_for_one_side("merge", layers, reading, options))
    return (with_merged(with_positions(document)) for document in documents)


def merged_lines(documents: Iterator[Document], layers: Sequence[str], with_ids: bool) -> Iterator[str]:
    """Yield the header of a table and a line for each merged span of documents; `with_ids` adds the token ids."""
    first = next(documents, None)
    names = list(layers) or (layer_names(None) if first is None else list(first.layers))
    yield header_line(names, with_ids)
    for document in map(with_positions, () if first is None else chain([first], documents)):
        spans = merged_spans(document.layers, names, document.id, document.file)
        yield from span_lines(document, spans, names, with_ids)
