"""Writes documents in another format."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain, count
from operator import ge
from os import PathLike, fsdecode
from pathlib import Path
from shutil import copyfileobj
from typing import Any, Unpack
from unicodedata import normalize

from clueval.arguments import checked_call, require_instance, require_kind
from clueval.core.ranges import joined_ranges
from clueval.core.span import Span, name_of
from clueval.files.errors import FileError, UsageError, warn
from clueval.files.overwriting import keeps_inputs, refuse_to_overwrite
from clueval.files.writing import errors_of, make_folder, scratch_folder, whole_bytes, whole_file
from clueval.formats import all_formats, format_named
from clueval.formats.format import IDS, Format, Uses, Writer, fitted, refuse_lost, writer_of
from clueval.reading.read_options import ReadOptions
from clueval.reading.source import PassedOver, all_passed_over, noting_passed_over, read, texts_of
from clueval.reports.table import cut_label
from clueval.second.formats.options import Reading, ReadingOptions
from clueval.second.reading.options import LayerSource, layer_names
from clueval.second.reading.paths import as_path
from clueval.spans.document import Document, MissingId, Sentence
from clueval.textfiles import is_folder
from clueval.transforms.characters import Characters, to_characters
from clueval.transforms.placing import WORD_OR_MARK, token_places

_READING = Reading()


@keeps_inputs
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
    reading: Reading = _READING,
    **options: Unpack[ReadingOptions],
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
    """
    form = writable_format(to, as_=as_, types=types)
    require_kind(label, "str | None", "label")
    if output_file is not None:
        as_path(output_file)  # refuses what is no path
    output = None if output_file is None else fsdecode(output_file)
    with noting_passed_over() as noted:
        given, names = _given(source, layers, reading, options)
        refuse_to_overwrite([output])
        conversion = Conversion(
            form,
            names,
            with_ids=options.get("token_id", reading.token_id) is not None,
            lossy=lossy,
            tokens=token_documents(tokens, form),
            noted=noted,
            output=output,
        )
        documents = list(conversion.fitted(with_label(of_one_file(given, source, form), label)))
    if output is not None:
        conversion.write(iter(documents))
    return documents


def _is_path(source: object) -> bool:
    return isinstance(source, str | PathLike)


def _given(
    source: Any, layers: Mapping[str, LayerSource] | None, reading: Reading, options: ReadingOptions
) -> tuple[Iterable[Document], Sequence[str]]:
    """Return the documents of `source`, and the names of their layers."""
    if _is_path(source):
        return read(source, layers, reading=reading, **options), layer_names(layers)
    if options or layers is not None:
        raise UsageError(
            "layers and options for reading apply to files, not to documents", advice="leave them out"
        )
    require_kind(source, "Iterable", "source")
    given = list(source)
    for number, document in enumerate(given):
        require_instance(document, Document, f"source[{number}]")
    return given, list(dict.fromkeys(name for document in given for name in document.layers))


def token_documents(path: Any, form: Format) -> Iterator[Document] | None:
    """Return the documents of a file with tokens. Raises `UsageError` for a format without tokens."""
    if path is None:
        return None
    if form.write is None or (form.write.unit == "character" and not form.write.keeps_tokens):
        raise UsageError(
            f"the format {form.name} has no tokens, so a file with tokens does not apply",
            advice="leave it out",
        )
    return _with_tokens(texts_of(as_path(path), ReadOptions()))


def _with_tokens(found: Iterable[Document]) -> Iterator[Document]:
    for document in found:
        if document.tokens is None:
            raise UsageError(
                "the file has texts without tokens", file=document.file, advice="use VRT or CoNLL"
            )
        yield document


def of_one_file(documents: Iterable[Document], source: object, form: Format) -> Iterator[Document]:
    """Yield the documents. Raises `UsageError` for tokens of a folder if the format counts them over one file."""
    for document in documents:
        counts = form.write is not None and form.write.unit is None and document.unit == "token"
        if counts and _is_path(source) and is_folder(Path(str(source))):
            require_one_file(Path(str(source)))
        yield document


def require_one_file(path: Path) -> None:
    """Raise `UsageError` for a folder: positions of tokens in a table are counted over one file."""
    if is_folder(path):
        raise UsageError(
            f"{path} is a folder", advice="convert its files one by one: a table of spans belongs to one file"
        )


def writable_format(name: str, *, as_: str | None = None, types: Mapping[str, str] | None = None) -> Format:
    """Return the record of a format, whose writer has these options.

    Raises `UsageError` for a format that is unknown or is only read, and for an option that does not apply to it.
    """
    require_kind(name, "str", "to")
    form = format_named(name)
    writer = writer_of(form, as_=as_, types=types)
    if writer is None:
        known = ", ".join(each.name for each in all_formats() if each.write is not None)
        raise UsageError(f"the format {name} cannot be written", advice=f"one of {known}")
    return replace(form, write=writer)


def table_format(output: str | None, advice: str) -> str:
    """Return the name of the format for spans in a file whose format was not named: conll or spans, by its ending.

    Raises `UsageError` for the ending of something else.
    """
    ending = "" if output is None else Path(output).suffix.lower()
    if ending in (".json", ".jsonl", ".ann", ".spacy", *_NO_FORMAT):
        raise UsageError(f"{output}: the result is a table of spans", advice=advice)
    return "conll" if ending == ".conll" else "spans"


_NO_FORMAT = (".html", ".xlsx")


def refuse_ending(output: str) -> None:
    """Raise `UsageError` for a file whose ending is that of no format."""
    ending = Path(output).suffix.lower()
    if ending in _NO_FORMAT:
        raise UsageError(f"{output}: no format is written as {ending}", advice="give the file another ending")


def with_label(documents: Iterable[Document], label: str | None) -> Iterator[Document]:
    """Yield the documents with only the spans of this label; None: all spans. Warns if there are only other labels."""
    if label is None:
        yield from documents
        return
    found: set[str] = set()
    for document in documents:
        layers = {}
        for layer, spans in document.layers.items():
            layers[layer] = [span for span in spans if span.label == label]
            found.update(span.label for span in spans)
        yield replace(document, layers=layers)
    if found and label not in found:
        some = ", ".join(map(cut_label, sorted(found)[:10]))
        warn(f"no span has the label {cut_label(label)!r} (labels found: {some})")


@dataclass(slots=True)
class Conversion:
    """Documents on their way into a format.

    Attributes:
        form: the format.
        layers: the names of the layers, for a file without documents.
        with_ids: whether token ids are written.
        lossy: whether what is lost is left out; otherwise it is an error after the last document.
        noted: the files that are read, with what their formats do not read.
        remark: is called with a line for people.
        tokens: documents with the tokens of the texts, in the same order; None: words and single marks.
        output: the file or folder to write, with a slash at the end of a new folder; None: standard output, or nothing.
    """

    form: Format
    layers: Sequence[str]
    with_ids: bool = False
    lossy: bool = False
    remark: Callable[[str], object] = len
    tokens: Iterator[Document] | None = None
    noted: PassedOver = field(default_factory=list)
    output: str | None = None
    lost: Counter[str] = field(default_factory=Counter)
    uses: Uses = field(default_factory=Uses)

    @property
    def writer(self) -> Writer:
        """How the format is written."""
        assert self.form.write is not None
        return self.form.write

    def fitted(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Yield the documents as the format holds them; `lost` counts what it cannot hold, by kind.

        Raises `UsageError` after the last document if anything is lost, unless `lossy` is true.
        """
        are_split = False
        losing: list[Document] = []
        layer: str | None = None
        names: set[str] = set()
        for number, document in enumerate(documents, 1):
            are_split |= self.tokens is None and (self.writer.unit, document.unit) == ("token", "character")
            fitting, lost = fitted(self._in_unit(document), self.writer, layer)
            if self.writer.holds is not None and "layers" not in self.writer.holds:
                layer = layer or next((name for name, spans in fitting.layers.items() if spans), None)
            fitting = self._with_id(fitting, number, names, lost)
            lost = +lost
            self.lost.update(lost)
            if lost and len(losing) < 2:
                losing.append(document)
            if self.writer.hints is not None:
                self.uses.add(fitting)
            yield fitting
        if self.tokens is not None and (more := next(self.tokens, None)) is not None:
            raise UsageError(
                "the file with tokens has more documents than the texts",
                **more.in_errors,
                advice="both need the same documents in the same order",
            )
        if not self.lossy:
            place = losing[0] if len(losing) == 1 else None
            refuse_lost(self.form.name, self.lost, all_passed_over(self.noted), place)
        if are_split:
            self.remark("texts without tokens are split into words and single marks")

    @property
    def _is_folder(self) -> bool:
        """Whether each document is written to a file of its own."""
        is_one = self.output is None or not (self.output.endswith("/") or is_folder(Path(self.output)))
        return self.form.single and not is_one

    def _with_id(self, document: Document, number: int, names: set[str], lost: Counter[str]) -> Document:
        """Return the document with the id that it is read with; `lost` counts one that is not its own.

        `names` has the names of the files of a folder so far, in the form in which they must differ.
        """
        id = document.id
        if not self.writer.keeps_ids:
            lost[IDS] += id != str(number) and not isinstance(id, MissingId)
            return replace(document, id=MissingId(number))
        if not self._is_folder:
            return document
        own = id.removesuffix(".txt").removesuffix(self.writer.ending)
        name = _different(_file_name(own), names)
        names.add(_compared(name))
        lost[NAMES] += name != own
        return replace(document, id=name)

    def _in_unit(self, document: Document) -> Document:
        tokens = None if self.tokens is None else next(self.tokens, None)
        if self.tokens is not None and tokens is None:
            raise UsageError(
                "the file with tokens does not have this document",
                document=document.id,
                advice="both need the same documents in the same order",
            )
        if self.writer.unit != "character":
            if self.writer.unit is None and tokens is None:
                return document
            return to_tokens(document, tokens, self.lost if self.lossy else None)
        found = to_characters(document).from_position(0)
        if found.text is None and self.writer.needs_text:
            raise UsageError(
                f"the format {self.form.name} cannot hold a document without text",
                **document.in_errors,
                advice="convert a file that has the text",
            )
        if not self.writer.keeps_tokens:
            return found
        if document.unit == "token":
            return replace(found, tokens=document.tokens)
        return found if tokens is None else _with_tokens_of(tokens, found)

    def hints(self) -> Iterator[str]:
        """Yield lines for people about what other programs need before they read what was written."""
        return iter(()) if self.writer.hints is None else self.writer.hints(self.uses, self.layers)

    def text(self, documents: Iterator[Document]) -> Iterator[str]:
        """Yield the content of one file, piece by piece. Raises `UsageError` if it needs several files."""
        if self.writer.data is not None:
            raise UsageError(f"the format {self.form.name} is binary", advice="name a file with -o")
        if self.writer.beside or self.writer.of_folder is not None:
            raise UsageError(
                f"the format {self.form.name} has several files for a document",
                advice="name a folder, as in folder/",
            )
        for line in self.writer.lines(
            _only(documents) if self.form.single else documents, list(self.layers), self.with_ids
        ):
            yield f"{line}\n" if self.writer.ends_lines else line

    def write(self, documents: Iterator[Document]) -> None:
        """Write the documents to the output, a file, or each to a file of its own in a folder; all of it or nothing."""
        output = self.output
        assert output is not None
        refuse_ending(output)
        path = Path(output)
        if self.writer.data is not None:
            with whole_bytes(path) as binary:
                binary.write(self.writer.data(documents, list(self.layers)))
        elif self._is_folder:
            self._write_each(documents, path)
            return
        elif output.endswith("/"):
            raise FileError(
                f"is a folder, and the format {self.form.name} writes one file",
                file=output,
                advice="name a file, or a format with a file for each document, such as brat",
            )
        else:
            with whole_file(path) as file:
                file.writelines(self.text(documents))
        self.remark(f"wrote {path}")

    def _write_each(self, documents: Iterator[Document], folder: Path) -> None:
        """Write a file for each document, named after its id, and the files that belong to it."""
        is_new = not folder.exists()
        make_folder(folder)
        try:
            with scratch_folder(folder / "x") as scratch:
                names = list(self._write_scratch(documents, folder, scratch))
                for name in names:
                    with (scratch / name).open("rb") as whole, whole_bytes(folder / name) as file:
                        copyfileobj(whole, file)
        except BaseException:
            if is_new:
                with suppress(OSError):  # it has files if only some could be copied
                    folder.rmdir()
            raise
        number = sum(name.endswith(self.writer.ending) for name in names)
        self.remark(f"wrote {number} file{'s' * (number != 1)} to {folder}")

    def _write_scratch(self, documents: Iterator[Document], folder: Path, scratch: Path) -> Iterator[str]:
        """Write the files of `folder` into another one first; yield their names."""
        for document in documents:
            stem = document.id
            lines = self.writer.lines(iter([document]), list(self.layers), self.with_ids)
            end = "\n" if self.writer.ends_lines else ""
            contents: dict[str, Iterator[str]] = {self.writer.ending: (f"{line}{end}" for line in lines)}
            contents |= {ending: iter([content(document)]) for ending, content in self.writer.beside.items()}
            for ending, pieces in contents.items():
                yield _written(f"{stem}{ending}", pieces, folder, scratch)
        if self.writer.of_folder is not None:
            for name, content in self.writer.of_folder(self.uses, self.layers).items():
                yield _written(name, [content], folder, scratch)


def _written(name: str, pieces: Iterable[str], folder: Path, scratch: Path) -> str:
    """Write a file of `folder` into another one, and return its name."""
    with errors_of(folder / name), (scratch / name).open("w", encoding="utf-8", newline="") as file:
        file.writelines(pieces)
    return name


NAMES = "document ids as names of files"
"""What is lost of documents in a folder whose ids are no names of files, or not different ones on each system."""

_DEVICE = re.compile(r"(con|prn|aux|nul|com[\d¹²³]|lpt[\d¹²³])(\.|$)", re.IGNORECASE)
"""Names that mean devices on Windows, whatever follows a period."""

_LONGEST = 200
"""The greatest length of a name in bytes; systems have 255, and an ending follows."""


def _file_name(id: str) -> str:
    """Return the name, without its ending, of the file for the document with an id; it is one on each system."""
    name = "".join(c if c.isalnum() or c in "-_." else "_" for c in id).lstrip(".") or "_"
    name = f"_{name}" if _DEVICE.match(name) else name
    return name.encode()[:_LONGEST].decode(errors="ignore")


def _compared(name: str) -> str:
    """Return a name as systems compare it that do not tell A from a, or one way to write ä from the other.

    >>> _compared("A_b") == _compared("a_B")
    True
    """
    return normalize("NFC", normalize("NFC", name).casefold())


def _different(name: str, names: Collection[str]) -> str:
    """Return the name, with a number at its end if it is that of another file."""
    numbered = (f"{name}-{number}" for number in count(2))
    return next(each for each in chain([name], numbered) if _compared(each) not in names)


def _only(documents: Iterator[Document]) -> Iterator[Document]:
    """Yield the only document. Raises `UsageError` for a second one."""
    for number, document in enumerate(documents):
        if number:
            raise UsageError(
                "the format holds one document, and there are several",
                advice="name a folder, as in folder/",
            )
        yield document


WITHIN = "spans within tokens"
"""What is counted if spans that do not begin and end with a token are left out."""


def to_tokens(
    document: Document, tokens: Document | None = None, dropped: Counter[str] | None = None
) -> Document:
    """Return the document with positions in tokens: those of `tokens`, or the words and single marks of its text.

    A document with tokens is returned unchanged, unless `tokens` are others. A span that does not begin and end with
    a token is left out and counted in `dropped`. Raises `UsageError` for a document with neither and, without
    `dropped`, for such a span, and `TextMismatch` for tokens that are not those of the text.

    >>> text = Document("d", {"x": [Span(4, 8, {"x": "PER"})]}, text="Hi, Anna!", unit="character")
    >>> document = to_tokens(text)
    >>> document.tokens, document.layers["x"][0].start, document.layers["x"][0].end
    (['Hi', ',', 'Anna', '!'], 2, 3)
    """
    if document.unit == "token" and document.tokens is not None:
        if tokens is None or list(tokens.tokens or ()) == list(document.tokens):
            return document
        document = to_characters(document)
    if document.unit == "token" or document.text is None:
        raise UsageError(
            "a document without text has no tokens",
            **document.in_errors,
            advice="use a format that has the text",
        )
    if tokens is None:
        found = [match.span() for match in WORD_OR_MARK.finditer(document.text)]
        starts, ends = [start for start, _ in found], [end for _, end in found]
    else:
        starts, ends = token_places(tokens, document.text)
    places = _TokenPlaces(document, starts, ends, 0 if tokens is None else tokens.start)
    if tokens is None:
        sentences = [Sentence(*places.of(each.start, each.end), each.id) for each in document.sentences]
        words: Sequence[str] = [document.text[start:end] for start, end in zip(starts, ends, strict=True)]
    else:
        sentences, words = list(tokens.sentences), tokens.tokens or ()
    return Document(
        document.id,
        {layer: places.spans(spans, dropped) for layer, spans in document.layers.items()},
        tokens=words,
        start=places.first,
        token_ids=None if tokens is None else tokens.token_ids,
        sentences=sentences,
        metadata=document.metadata,
        file=document.file,
    )


def _with_tokens_of(tokens: Document, document: Document) -> Document:
    """Return a document of characters with other tokens, and with their sentences if it has none."""
    text = document.text or ""
    starts, ends = token_places(tokens, text)
    sentences = document.sentences
    if not sentences:
        place = Characters(text, tokens.start, starts, ends).range_between
        sentences = [Sentence(*place(each.start, each.end)) for each in tokens.sentences]
    words = [text[start:end] for start, end in zip(starts, ends, strict=True)]
    return replace(document, tokens=words, sentences=sentences)


class _TokenPlaces:
    """Converts positions of characters to positions of tokens, of which the first is `first`."""

    def __init__(self, document: Document, starts: Sequence[int], ends: Sequence[int], first: int) -> None:
        self.first = first
        self._document, self._starts, self._ends = document, starts, ends
        self._known_starts, self._known_ends = set(starts), set(ends)

    def of(self, start: int, end: int) -> tuple[int, int]:
        """Return the tokens that begin and end in a range of characters."""
        shift = self._document.start
        begin = bisect_left(self._starts, start - shift)
        return begin + self.first, max(begin, bisect_right(self._ends, end - shift)) + self.first

    def spans(self, spans: Sequence[Span], dropped: Counter[str] | None) -> list[Span]:
        """Return the spans with positions of tokens; one that is within tokens is counted, or refused."""
        kept = []
        for span in spans:
            if self._fits(span):
                place = self.of(span.start, span.start)[0]
                empty = span.start == span.end
                kept.append(replace(span, start=place, end=place) if empty else self._placed(span))
            elif dropped is not None:
                dropped[WITHIN] += 1
            else:
                raise UsageError(
                    f"span {name_of(span)} does not begin and end with a token",
                    **self._document.in_errors,
                    advice="tokens are words and single marks without tokens=...; lossy=True leaves out such spans",
                )
        return kept

    def _placed(self, span: Span) -> Span:
        """Return the span at its tokens, without gaps that have no token."""
        placed = span.placed(self.of)
        if placed.parts is None:
            return placed
        parts = joined_ranges(placed.parts, ge)
        return replace(placed, parts=parts if len(parts) > 1 else None)

    def _fits(self, span: Span) -> bool:
        shift = self._document.start
        return all(
            start == end or (start - shift in self._known_starts and end - shift in self._known_ends)
            for start, end in span.fragments
        )
