"""Sources: files with their formats and options, from which passages or documents are read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from clueval.arguments import checked_call, refuse_unknown, require_instance
from clueval.core.span import DEFAULT_LAYER
from clueval.files.errors import FileError, FormatError, UsageError
from clueval.formats import format_named
from clueval.formats.columns.layout import ColumnOptions, Sources
from clueval.formats.columns.passages import Passage, TokenLines
from clueval.formats.conll import is_running_text
from clueval.formats.format import EVERY_SET, SELECT_SETS, Format
from clueval.formats.recognition import Beginning
from clueval.options import field_names, with_fields
from clueval.reading.paths import as_path, named_files
from clueval.reading.read_options import ReadOptions, with_columns_of_tags
from clueval.second.formats.options import Reading
from clueval.second.reading.options import ANSWER_FORMATS, LayerSource, layer_names, require_layers
from clueval.second.reading.spooled import spooled
from clueval.spans.document import Document, MissingId, Unit
from clueval.tagging.decoder import Decoder
from clueval.textfiles import Complain, Progress, beginning_of, is_file, refuse, whole_lines

if TYPE_CHECKING:
    from clueval.formats.flat_rows import ReadRow, TaggedRow
    from clueval.formats.opened import Opened
    from clueval.second.formats.options import ReadingOptions

_READING = Reading()

PassedOver = list[tuple[Path, Counter[str]]]
"""Files, each with what its format does not read, by kind; the counts grow while a file is read."""

_noted: ContextVar[PassedOver | None] = ContextVar("_noted", default=None)


@contextmanager
def noting_passed_over() -> Iterator[PassedOver]:
    """Return a list that gets every file that is opened in this context; at its end, so does that of an outer one."""
    found: PassedOver = []
    token = _noted.set(found)
    try:
        yield found
    finally:
        _noted.reset(token)
        if (outer := _noted.get()) is not None:
            outer += found


def all_passed_over(noted: PassedOver) -> Counter[str]:
    """Return the numbers of what was not read, by kind in alphabetical order; files may have been read repeatedly."""
    of_files: dict[Path, Counter[str]] = {}
    for path, numbers in noted:
        of_files[path] = of_files.get(path, Counter()) | numbers
    return Counter(dict(sorted(sum(of_files.values(), Counter()).items())))


@dataclass(frozen=True, slots=True)
class Source:
    """One file to read: its path, its format, its options and, if there are several files, its name.

    Sources that share `read` get several annotation sets from a document that is read once. `passed_over` counts,
    while documents are read, what the format does not read, by kind. `sides` are gold and the files beside it, which
    have the tokens of a file of tags alone and the text of a table of spans. With `in_turn`, they are the files of the
    other side, of which all have texts.
    """

    path: Path
    format: str
    options: ReadOptions
    name: str | None = None
    progress: Progress | None = field(default=None, compare=False)
    read: dict[Path, Document] | None = field(default=None, compare=False, repr=False)
    sides: tuple[Source, ...] = field(default=(), compare=False, repr=False)
    in_turn: bool = field(default=False, compare=False, repr=False)
    passed_over: Counter[str] = field(default_factory=Counter, compare=False, repr=False)
    _found: list[Sources] = field(default_factory=list, compare=False, repr=False)

    @property
    def form(self) -> Format:
        """The record of the format."""
        return format_named(self.format)

    @property
    def token_lines(self) -> TokenLines | None:
        """The reader of a column format whose spans end with their sentence; None for files read as documents only."""
        has_long_spans = self.options.named is not None and self.options.named.is_hipe
        return None if has_long_spans or self.in_brackets else self.form.token_lines

    @property
    def in_brackets(self) -> bool:
        """Whether layers are brackets, whose spans may nest."""
        sources = self._sources()
        return sources is not None and bool(sources.in_brackets)

    def _sources(self) -> Sources | None:
        """The sources of the layers, if its format makes lines."""
        lines = self.form.token_lines
        if lines is None or lines.sources is None:
            return None
        if not self._found:  # kept, because a file may be read to find them
            opened = replace(self, progress=None, passed_over=Counter())._opened()
            self._found.append(lines.sources(opened, self.options.layers))
        return self._found[0]

    @property
    def treatment(self) -> str | None:
        """The treatment of ill-formed tags in this file; None if its format has no tags."""
        return self.form.treatment(self.options.invalid)

    def columns(self) -> ColumnOptions:
        """The options for its columns, in which layers in brackets have none."""
        sources = self._sources()
        if sources is None:
            return self.options.columns()
        layers = [layer for layer in sources.of if layer not in sources.in_brackets]
        columns = {layer: number for number, layer in enumerate(layers, 2)}
        plain = replace(self.options, layers=None).columns()
        return plain._replace(layers=columns, token=1, sources=sources)

    def passages(self, complain: Complain = refuse) -> Iterator[Passage]:
        """Yield the raw passages of a column format."""
        assert self.form.token_lines is not None
        return self.form.token_lines.passages(
            self.path,
            self.columns(),
            name=self.name,
            progress=self.progress,
            complain=complain,
            passed_over=self.passed_over,
        )

    def decoders(self, passages: Iterable[Passage] | None = None) -> dict[str, Decoder]:
        """Return a decoder for each layer with tags of a column format; `passages` are those to decode, by default all.

        To discard or refuse ill-formed tags, the scheme must be known. If it is not named, the file is read once
        more to recognise it. Raises `TagError` for tags of two schemes.
        """
        options = self.options
        sources = self._sources()
        in_brackets = () if sources is None else sources.in_brackets
        names = [name for name in layer_names(options.layers) if name not in in_brackets]
        if options.scheme is not None or options.reads_leniently:
            return {name: options.decoder(str(self.path)) for name in names}
        from clueval.formats.columns.documents import recognised_schemes  # most files need none

        every = replace(self, progress=None).passages() if passages is None else passages
        schemes = recognised_schemes(every, names, str(self.path))
        return {
            name: replace(options, scheme=scheme).decoder(str(self.path)) for name, scheme in schemes.items()
        }

    def require_both_sides(self) -> None:
        """Raise `UsageError` unless a file of this format can hold gold and predicted in two columns."""
        if not self.form.has_columns:
            sets = self.sets() if self.form.has_sets else []
            if len(sets) > 1:
                raise UsageError(
                    f"which annotation sets are gold and predicted? The file has {', '.join(map(repr, sets))}",
                    file=str(self.path),
                    advice="give PREDICTED, too, or name both with gold_set and predicted_set",
                )
            raise UsageError(
                f"a file of the format {self.format} cannot hold gold and predicted",
                file=str(self.path),
                advice="give PREDICTED, too",
            )

    def documents(self) -> Iterator[Document]:
        """Yield the documents of the file; memory holds one."""
        form = self.form
        if form.token_lines is not None:
            from clueval.formats.columns.documents import documents

            most, sources = self.options.max_document, self._sources()
            decoders = self.decoders()
            layers = decoders if sources is None else sources.of
            return documents(self.passages(), decoders, form.token_lines.sentence_id, most, layers)
        assert form.read is not None
        if "layers" not in form.options and self.options.layers is not None:
            raise UsageError(
                f"the format {form.name} has no columns to name as layers",
                file=str(self.path),
                advice=f"name no layer; its only layer is called {DEFAULT_LAYER!r}",
            )
        if form.sets:
            return iter([self._named(self._of_set())])
        return map(self._named, form.read(self._opened(), self.options))

    def rows(self) -> Iterator[ReadRow] | None:
        """Return the rows of a format that has rows, some of which may be flat.

        Returns None for other formats, and for other layers than the usual one.
        """
        form, options = self.form, self.options
        if options.layers is not None and list(options.layers.values()) != [form.default_source]:
            return None
        if options.offsets not in (None, "points") or options.annotation_set == EVERY_SET:
            return None
        from clueval.formats.flat_rows import ReadRow  # column formats do not need it

        if form.flat is not None:
            flat, name = partial(form.flat, self._opened()), self._name_in_folder(self.path.stem)
            return iter([ReadRow(name, lambda: next(self.documents()), flat)])
        if (of_rows := form.rows or form.sentences) is None:
            return None
        from clueval.formats.json_rows import RowReader, rows_of  # other formats do not need it

        opened = self._opened()
        reader = RowReader(self.options, opened.file, self.passed_over)
        found = rows_of(of_rows.values(opened), of_rows, reader)
        return found if self.name is None else map(self._named_row, found)

    def tagged_rows(self) -> Iterator[TaggedRow | None]:
        """Yield the rows of a format of tokens and tags; None for each row that must be read as a document."""
        from clueval.formats.json_rows import RowReader  # other formats do not need it

        form, opened = self.form.rows, self._opened()
        reader = RowReader(self.options, opened.file)
        for reader.number, row in form.values(opened):
            yield form.tagged(row, reader)

    def _opened(self) -> Opened:
        from clueval.formats.opened import Opened  # column formats do not need it

        options = self.options
        limits = options.max_line, options.max_sentence
        return Opened(
            self.path,
            *limits,
            self.progress,
            self._texts,
            options.sizes.block,
            self.passed_over,
            options.part,
        )

    def sets(self) -> list[str]:
        """Return the names of the annotation sets of the file; the default set, ``""``, only if it has spans."""
        form = self.form
        if form.set_names is not None:
            return form.set_names(self._opened())
        if not form.sets:
            return []
        assert form.read is not None
        (document,) = form.read(self._opened(), self.options)
        return [name for name, spans in document.layers.items() if name or spans]

    def _of_set(self) -> Document:
        document = self.read.get(self.path) if self.read is not None else None
        if document is None:
            assert self.form.read is not None
            (document,) = self.form.read(self._opened(), self.options)
            if self.read is not None:
                self.read[self.path] = document
        return wanted_set(document, self.options.annotation_set, self.options.containing)

    def _named_row(self, row: ReadRow) -> ReadRow:
        named = type(row.id)(f"{self.name}:{row.id}")
        return row._replace(id=named, document=lambda: self._named(row.document()))

    def _named(self, document: Document) -> Document:
        """Return the document; if there are several files, the name of its file is put before its id."""
        if self.name is None or self.form.token_lines is not None:
            return document
        if self.form.group:
            return replace(document, id=self._name_in_folder(document.id))
        in_rows = self.format == "inline" and document.id != self._opened().stem
        alone = self.form.single and not in_rows
        return replace(document, id=self.name if alone else type(document.id)(f"{self.name}:{document.id}"))

    def _name_in_folder(self, name: str) -> str:
        """Return the name of a document without ending, because several files belong together."""
        folder, slash, _ = (self.name or "").rpartition("/")
        return f"{folder}{slash}{name}"

    @property
    def lacks_text(self) -> bool:
        """Whether the file is a table of spans, no text is named, and there is none next to it."""
        named = self.options.text_path is not None
        return self.form.shares_text and not named and not is_file(self._opened().beside(".vrt"))

    def has_text_of(self, other: Source) -> bool:
        """Return whether the file is a table of spans whose text is that of `other`."""
        text = self.options.text_path
        is_named = self.form.shares_text and text is not None and text.absolute() == other.path.absolute()
        return self.lacks_text or is_named

    def without_spans(self) -> Iterator[Document]:
        """Yield the documents without their layers and tags, with the ids of the file."""
        alone = replace(self, name=None, progress=None)
        for document in alone.documents():
            yield replace(document, layers={}, tags={}, repaired=0, transitions=None)

    def _texts(self) -> Iterator[Document]:
        """Yield the documents of the text that belongs to a table of spans or to tags alone, without layers."""
        if self.lacks_text:
            with_text = [
                each
                for number, each in enumerate(self.sides)
                if not (each.lacks_text or (number and each.format in ANSWER_FORMATS))
            ]
            if not with_text:
                return self._without_text()
            return chain.from_iterable(
                each.without_spans() for each in with_text[: None if self.in_turn else 1]
            )
        if self.form.lacks_tokens and self.options.text_path is None:
            gold = self.sides[0] if self.sides else self
            if gold.form.lacks_tokens:
                raise FormatError(
                    "has a tag on each line, and no tokens",
                    file=str(self.path),
                    advice="score it as PREDICTED, beside a GOLD with tokens, or name the file with the tokens with "
                    "text=...",
                )
            return (replace(document, layers={}, tags={}) for document in gold.documents())
        path = self.options.text_path or self._opened().beside(".vrt")
        if not is_file(path):
            raise FileError(
                f"the text file {path} of this table of spans does not exist",
                file=str(self.path),
                advice="put a .vrt file with the same name next to the table, or name the text with text=...: VRT or "
                "CoNLL, or a text or JSON rows if positions are characters",
            )
        return texts_of(path, self.options, self.name)

    def _without_text(self) -> Iterator[Document]:
        """Yield the documents that tables of spans name, those of gold first, without texts."""
        from clueval.formats.spans_table import documents_in  # other formats do not need it

        tables = (*self.sides, self) if self.in_turn else self.sides or (self,)
        ids = [documents_in(each._opened(), each.options.layers) for each in tables]
        if all(own is None for own in ids):
            yield Document(MissingId("1"), {})
            return
        for source, own in zip(tables, ids, strict=True):
            if own is None:
                raise UsageError(
                    "the table has no column 'document', and the other side has one",
                    file=str(source.path),
                    advice="give both sides the same columns",
                )
            if ids[0] and own and set(own).isdisjoint(ids[0]):
                raise UsageError(
                    f"no document is on both sides: one has {ids[0][0]!r}, the other {own[0]!r}",
                    file=str(source.path),
                    advice="use the same ids on both sides",
                )
        for name in dict.fromkeys(name for own in ids for name in own or ()):
            yield Document(name, {})


def beside(*sides: Source) -> tuple[Source, ...]:
    """Return gold and the files beside it; a file that has no tokens or no text gets those of the others."""
    alone = tuple(replace(each, progress=None) for each in sides)
    return tuple(
        replace(each, sides=alone) if each.lacks_text or (number and each.form.lacks_tokens) else each
        for number, each in enumerate(sides)
    )


def chosen_set(
    document: Document, name: str, types: Collection[str] = (), *, layer: str = DEFAULT_LAYER
) -> Document:
    """Return the document with the annotation set `name` as its only layer, called `layer`.

    Only annotations of the given `types` are kept; without types, all are. Formats with named annotation sets
    hold each set as a layer; the default set is called ``""``. Raises `UsageError` for a set that the document
    does not have.

    >>> from clueval import Document, Span
    >>> document = Document("d", {"Key": [Span(0, 1, {"Key": "A"}), Span(1, 2, {"Key": "B"})]})
    >>> [span.labels for span in chosen_set(document, "Key", ["B"]).layers["label"]]
    [{'label': 'B'}]
    """
    if name not in document.layers:
        known = ", ".join(repr(known) for known in document.layers) or "none"
        raise UsageError(
            f"the document has no annotation set {name!r}", **document.in_errors, advice=f"its sets: {known}"
        )
    chosen = [
        replace(span, labels={layer: span.label})
        for span in document.layers[name]
        if not types or span.label in types
    ]
    return replace(document, layers={layer: chosen}, tags={})


def wanted_set(document: Document, name: str | None, containing: str | None) -> Document:
    """Return the document with the annotation set `name` and, if `containing` is given, a layer of that name.

    `EVERY_SET` selects all sets, as they are. `containing` is ``SET:TYPE`` and selects the annotations of its
    layer. Raises `UsageError` if `name` is None and for a set that the document does not have.
    """
    if name is None:
        sets = (
            ", ".join(repr(known) if known else "'' (the default set)" for known in document.layers) or "none"
        )
        raise UsageError(
            "the file has annotation sets, but none is selected for one side",
            file=document.file,
            advice=f"its sets: {sets}; {SELECT_SETS}",
        )
    if name == EVERY_SET:
        return document
    chosen = chosen_set(document, name)
    if containing is None:
        return chosen
    set_name, colon, kind = containing.rpartition(":")
    if not colon or not kind:
        raise UsageError(
            f"{containing!r} does not select containing annotations",
            advice="write it SET:TYPE, as in Key:Section",
        )
    within = chosen_set(document, set_name, (kind,), layer=containing).layers[containing]
    return replace(chosen, layers={**chosen.layers, containing: within})


def texts_of(path: Path, options: ReadOptions, name: str | None = None) -> Iterator[Document]:
    """Yield the documents of a file without layers: tokens of VRT or CoNLL, texts of JSON rows, or one plain text.

    A file that is not recognised is read as rows if it is JSON, as a text in characters if it is running text, else as
    CoNLL, whose lines may be tokens alone. Raises `FileError` for another format.
    """
    plain = replace(options, input=None, text=None, layers=None)
    beginning = Beginning(path.name, beginning_of(path))
    try:
        source = source_of(path, plain, name=name)
    except FormatError:
        is_json = beginning.first_line.lstrip().startswith(('{"', "[{"))  # says which key is missing
        source = source_of(path, replace(plain, input="doccano" if is_json else "conll"), name=name)
    lines = source.form.token_lines if source.form.has_columns else None
    if lines is None and source.form.rows is not None:
        return (replace(document, layers={}) for document in source.documents())
    if lines is None:
        raise FileError(
            "has neither tokens nor rows of texts",
            file=str(path),
            advice="use VRT, CoNLL or JSON such as doccano's",
        )
    if source.format == "conll" and is_running_text(beginning):
        opened = source._opened()
        text = opened.text()
        return iter([Document(opened.stem, {}, text=text, unit="character", file=opened.file)])
    from clueval.formats.columns.documents import documents

    columns = source.options.columns()._replace(layers={})
    return documents(lines.passages(path, columns, name=name), {}, lines.sentence_id, options.max_document)


def source_of(
    path: Path,
    options: ReadOptions,
    *,
    name: str | None = None,
    progress: Progress | None = None,
    read: dict[Path, Document] | None = None,
) -> Source:
    """Return a file with its format, which is recognised by its beginning if `options.input` is None."""
    form = options.format_at(path)
    if options.annotation_set is not None and not form.has_sets:
        from clueval.second.reading.source import formats_that_read  # only for a message

        raise UsageError(
            f"the format {form.name} has no annotation sets, so {options.annotation_set!r} cannot be selected",
            file=str(path),
            advice=f"formats with annotation sets: {', '.join(formats_that_read('annotation_set'))}",
        )
    try:
        form.treatment(options.invalid)
    except UsageError as error:
        error.file = str(path)
        raise
    if form.name == "vrt":
        require_elements(path, options)
    source = Source(path, form.name, options.with_names(form, path), name, progress, read)
    if (noted := _noted.get()) is not None:
        noted.append((path, source.passed_over))
    return source


_TOKEN = re.compile(rb"^[^<\s]", re.MULTILINE)


def require_elements(path: Path, options: ReadOptions) -> None:
    """Raise `FormatError` if a file with tokens lacks an element that `options` name, unless that is the default.

    Reads the file up to the first such element.
    """
    for name in ("document_tag", "sentence_tag"):
        tag = getattr(options, name)
        if tag != getattr(Reading(), name) and not _has_element(path, tag, options.max_line):
            raise FormatError(
                f"there is no element <{tag}>",
                file=str(path),
                advice=f"check Reading.{name}",
            )


def _has_element(path: Path, tag: str, max_line: int) -> bool:
    """Return whether a file has an element; yes for a file without tokens."""
    element = re.compile(rb"^<%s[\s/>]" % re.escape(tag.encode()), re.MULTILINE)
    has_tokens = False
    for data in whole_lines(path, max_line=max_line):
        if element.search(data):
            return True
        has_tokens = has_tokens or _TOKEN.search(data) is not None
    return not has_tokens


@checked_call
def read(
    path: Any,
    layers: Mapping[str, LayerSource] | None = None,
    *,
    reading: Reading = _READING,
    unit: Unit | None = None,
    **options: Unpack[ReadingOptions],
) -> Iterator[Document]:
    """Yield the documents of a file, or of all files below a folder, one at a time.

    Args:
        path: a file (``.gz`` files are read, too), a folder, an archive, a pattern or an
            open file.
        layers: the name and column of each layer; columns count from 1, or from -1 at the end; formats with
            named sources take their names. None: the last column or the usual source, called ``label``; if the last
            column holds no tags, the columns that do (`clueval.reading.read_options.with_columns_of_tags`); for a table
            of spans, every column without positions.
        reading: how files are read.
        unit: the unit of positions, for DocBin, which has both; None: ``character``.
        options: any field of `clueval.second.formats.options.Reading` by its own name, as in ``token_id=4``.

    Raises `CluevalError` for invalid input, with file and line, and `UsageError` for an option that does not
    exist or does not apply to the formats of these files.
    """
    refuse_unknown(options, ["layers", *field_names(Reading)], "read")
    require_instance(reading, Reading, "reading")
    require_layers(layers)
    if layers is not None and not all(isinstance(source, int | str) for source in layers.values()):
        raise UsageError("read has one side, so each layer has one column", advice="layers={'entity': 2}")
    return _documents(path, ReadOptions.of(with_fields(reading, options), layers, unit=unit))


def _documents(given: Any, options: ReadOptions) -> Iterator[Document]:
    with spooled(given) as (path,):
        files = named_files(as_path(path))
        options.require_use(file for _, file in files)
        (options,) = with_columns_of_tags([options], [[file for _, file in files]])
        for name, file in files:
            yield from source_of(file, options, name=name).documents()
