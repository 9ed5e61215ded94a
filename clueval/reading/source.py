"""The documents of a file of any format, and of rows in memory; a `Source` is a file with what belongs to it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from clueval.core.document import Document, MissingId
from clueval.core.span import DEFAULT_LAYER, Span
from clueval.files.errors import FileError, FormatError, UsageError
from clueval.files.opening import FileProgress, Progress, whole_lines
from clueval.formats.form import NAMES, Form, all_forms, form_by_name, form_of, form_of_rows, forms_named
from clueval.formats.input_file import Head, InputFile, Numbered
from clueval.formats.options import ANSWER_FORMATS, EVERY_SET, USUAL_READING, FormatOptions, sets_error
from clueval.formats.recognition import SCALARS, as_json, is_running_text

if TYPE_CHECKING:
    from clueval.core.bag import Read
    from clueval.formats.column_format import ColumnFormat
    from clueval.formats.dialect import Dialect

FOR_ALL = ("input", "max_line", "max_sentence", "max_document")
"""The options that every format reads."""


def is_dialect(form: Form) -> TypeGuard[Dialect]:
    """Return whether a format is one of rows of JSON that are described by their keys."""
    return form.kind == "rows"


def is_column_format(form: Form) -> TypeGuard[ColumnFormat]:
    """Return whether a format is one of columns."""
    return form.kind == "columns"


def head_of(file: InputFile, *, is_one_text: bool = False) -> Head:
    """Return the beginning of a file. `is_one_text` says whether its lines are one text."""
    return Head(file.path.name, file.beginning(), file.first_row, is_one_text)


def form_of_file(file: InputFile, name: str | None = None, *, is_one_text: bool = False) -> Form:
    """Return the description of the format of a file by its beginning; `name` is that of the format if it is known.

    Raises the errors of `clueval.formats.form.form_of`.
    """
    try:
        return form_of(head_of(file, is_one_text=is_one_text), name)
    except FormatError as error:
        error.file = file.name
        raise


def read_file(file: InputFile, options: FormatOptions, form: Form) -> Iterator[Document]:
    """Yield the documents of a file; memory holds one of them.

    Raises `FormatError` and `SpanError` with file and line for what cannot be read, and `UsageError` for options that
    do not apply.
    """
    require_options(form, options, file.name)
    documents: Iterator[Document] = _reader(form).documents_of_file(form, file, options)
    return documents


def read_rows(
    rows: Iterable[Numbered],
    options: FormatOptions,
    *,
    name: str | None = None,
    passed_over: Counter[str] | None = None,
) -> Iterator[Document]:
    """Yield the documents of numbered rows in memory, as `read_file` does for the same rows in a file.

    The format is the one with this name, or else that of the first row that is no empty list. `passed_over` counts what
    is not read, by kind. Raises the errors of `read_file`, with the number of the row as the line, and `UsageError` for
    a format whose documents are no rows.
    """
    numbered_rows = (
        (
            number,
            row if type(row) is dict and _TYPES_OF_JSON.issuperset(map(type, row.values())) else as_json(row),
        )
        for number, row in rows
    )
    beginning: list[Numbered] = []
    for numbered_row in numbered_rows:
        beginning.append(numbered_row)
        if not isinstance(numbered_row[1], list) or numbered_row[1]:
            break
    form = form_of_rows(beginning[-1][1] if beginning else None, name)
    require_options(form, options, None)
    counted = Counter[str]() if passed_over is None else passed_over
    every_row = chain(beginning, numbered_rows)
    documents: Iterator[Document] = _reader(form).documents_of_rows(form, every_row, options, counted)
    return documents


_TYPES_OF_JSON = SCALARS | {list, dict}
"""The types of values in rows that are read as they are, with what is in their lists."""


def _reader(form: Form) -> Any:
    """Return the module that reads a format."""
    return import_module(f"clueval.formats.{form.kind}")


def require_options(form: Form, options: FormatOptions, file: str | None) -> None:
    """Raise `UsageError` for layers of a format without sources, and for a treatment of tags that it does not have."""
    if options.layers is not None and "layers" not in form.options:
        problem = f"the format {form.name} has no columns to name as layers"
        advice = f"name no layer; its only layer is called {DEFAULT_LAYER!r}"
        raise UsageError(problem, file=file, advice=advice)
    if options.invalid is not None and form.invalid and options.invalid not in form.invalid:
        problem = f"the format {form.name} cannot treat ill-formed tags as {options.invalid!r}"
        raise UsageError(problem, file=file, advice=" or ".join(form.invalid))


def form_at(path: Path, options: FormatOptions, *, is_one_text: bool = False) -> Form:
    """Return the format of a file: that which the options name, or that which its name or its beginning tells.

    `is_one_text` says whether lines of a token and a tag are one text. Raises `FormatError`.
    """
    form = form_by_name(path.name, options.format)  # many small files need not be opened for it
    if form is None:
        form = form_of_file(InputFile(path, options.limits), options.format, is_one_text=is_one_text)
    return form


def options_of(form: Form) -> frozenset[str]:
    """Return the names of the options that apply to a format."""
    if not is_dialect(form) or form.name not in NAMES:
        return form.options
    return frozenset[str]().union(*(dialect.options for dialect in forms_named(form.name)))


def treatment_of(form: Form, invalid: str | None) -> str | None:
    """Return the treatment of ill-formed tags in files of a format; None if they have no tags."""
    usual = form.invalid[0] if form.invalid else "conlleval"
    return (invalid or usual) if "invalid" in options_of(form) else None


def need_placing(gold: Form, predicted: Form) -> bool:
    """Return whether two formats may write the same text differently, so that documents are placed on one text.

    Texts in one format, the tokens of two column formats, and those that are taken from gold, must be equal.
    """
    alike = gold.name == predicted.name or gold.lacks_tokens or predicted.lacks_tokens
    return not (alike or (gold.has_columns and predicted.has_columns))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Source:
    """A file, how it is read, and, if there are several files, its name."""

    file: InputFile  # the file, with what was not read of it, once its documents are
    form: Form  # its format, and the options of its side
    options: FormatOptions
    name: str | None = None  # the name that its documents get; None: it is the only file
    # gold and the files beside it, which have the tokens of a file of tags alone, and the text of a table
    sides: tuple[Source, ...] = ()
    # whether these are the files of the other side, of which all have texts
    in_turn: bool = False
    # ``SET:TYPE``, annotations of another set that become a further layer of that name
    within: str | None = None

    @property
    def path(self) -> Path:
        return self.file.path

    def documents(self) -> Iterator[Document]:
        """Yield the documents of the file; memory holds one, unless its format is held as a whole."""
        file = self.file
        if self.form.is_table or self.form.lacks_tokens:
            file = replace(file, texts=self._texts)
        documents: Iterator[Document]
        if self.within is not None and self.options.annotation_set is not None:
            all_sets = replace(self.options, annotation_set=EVERY_SET)
            documents = map(self._with_frame, read_file(file, all_sets, self.form))
        else:
            documents = read_file(file, self.options, self.form)
        return documents if self.name is None else map(self.named, documents)

    def again(self, progress: FileProgress | None = None) -> Source:
        """Return the same file with counts of its own; a `progress` that the file has gets the bytes of a read once."""
        return replace(self, file=InputFile(self.path, self.file.limits, progress))

    def see(self, read: Read, side: str) -> None:
        """Note a file that was read: its format, the sources of its layers, and what was not read of it."""
        treatment = treatment_of(self.form, self.options.invalid)
        if treatment is not None:
            read.treatments.add(treatment)
        read.add_file(side, self.form.name, self.file.sources, self.file.passed_over)
        if self.form.scheme:
            read.settle_layer((side, self.file.name, DEFAULT_LAYER), self.form.scheme, 0)
        for layer, number in self.file.repaired.items():
            read.settle_layer((side, self.file.name, layer), None, number)

    def sets(self) -> list[str]:
        """Return the names of the annotation sets of the file, in the order of their first occurrence."""
        file, form = self.again().file, self.form
        sets: list[str] = _reader(form).sets_of_file(form, file) if form.has_sets else []
        return sets

    def require_both_sides(self) -> None:
        """Raise `UsageError` unless a file of this format can hold gold and predicted in two columns."""
        if self.form.has_columns:
            return
        sets = self.sets() if self.form.has_sets else []
        if len(sets) > 1:
            raise UsageError(
                f"which annotation sets are gold and predicted? The file has {', '.join(map(repr, sets))}",
                file=self.file.name,
                advice="give PREDICTED, too, or name both with gold_set and predicted_set",
            )
        raise UsageError(
            f"a file of the format {self.form.name} cannot hold gold and predicted",
            file=self.file.name,
            advice="give PREDICTED, too",
        )

    def _with_frame(self, document: Document) -> Document:
        """Return a document of all annotation sets with that which is read, and annotations of another as a layer."""
        set_read = self.options.annotation_set
        name, colon, kind = (self.within or "").rpartition(":")
        if not colon or not kind:
            raise UsageError(
                f"{self.within!r} does not select containing annotations",
                advice="write it SET:TYPE, as in Key:Section",
            )
        for set_name in (set_read, name):
            if set_name not in document.layers:
                raise sets_error(f"there is no annotation set {set_name!r}", document.file, document.layers)
        layers = {
            DEFAULT_LAYER: _labelled(document.layers[str(set_read)], DEFAULT_LAYER),
            str(self.within): [
                span for span in _labelled(document.layers[name], str(self.within)) if span.label == kind
            ],
        }
        return replace(document, layers=layers, tags={})

    # Names

    def is_nameless(self, document: Document) -> bool:
        """Return whether a document has the name of its file for an id; rows with inline tags have their own."""
        in_rows = self.form.name == "inline" and document.id not in (self.file.stem, self.name)
        return self.form.is_one_document and not in_rows

    def named(self, document: Document) -> Document:
        """Return a document with the name of its file before its id, or in its place."""
        if self.form.name == "brat":
            folder, slash, _ = (self.name or "").rpartition("/")
            return replace(document, id=f"{folder}{slash}{document.id}") if slash else document
        is_missing = isinstance(document.id, MissingId)
        if self.is_nameless(document) or self.form.name == "bdoc":
            is_named = document.id == self.name and not is_missing  # as in a folder without others in it
            return document if is_named else replace(document, id=self.name or "")
        if is_column_format(self.form) and is_missing and document.id == "1":
            return replace(document, id=MissingId(self.name or ""))
        return replace(document, id=type(document.id)(f"{self.name}:{document.id}"))

    # Texts

    @property
    def lacks_text(self) -> bool:
        """Whether the file is a table of spans, no text is named, and there is none next to it."""
        return self.form.is_table and self.options.text is None and not self.file.beside(".vrt").exists

    def has_text_of(self, other: Source) -> bool:
        """Return whether the file is a table of spans whose text is that of `other`."""
        text = self.options.text
        is_named = self.form.is_table and text is not None and Path(text).absolute() == other.path.absolute()
        return self.lacks_text or is_named

    def _texts(self) -> Iterable[Document]:
        """Return the documents of the text that belongs to a table of spans or to tags alone, without layers."""
        if self.lacks_text:
            with_text = [
                source
                for number, source in enumerate(self.sides)
                if not (source.lacks_text or (number and source.form.name in ANSWER_FORMATS))
            ]
            if not with_text:
                return self._without_text()
            chosen = with_text[: None if self.in_turn else 1]
            return chain.from_iterable(map(without_spans, chosen))
        if self.form.lacks_tokens and self.options.text is None:
            gold = self.sides[0] if self.sides else self
            if gold.form.lacks_tokens:
                raise FormatError(
                    "has tags, and no tokens",
                    file=self.file.name,
                    advice="score it as PREDICTED, beside a GOLD with tokens, or name the file with the tokens with "
                    "text=...",
                )
            return (replace(document, layers={}, tags={}) for document in gold.again().documents())
        path = self.options.text
        file = self.file.beside(".vrt") if path is None else self.file.at(Path(path))
        if not file.exists:
            raise FileError(
                f"the text file {file.name} of this table of spans does not exist",
                file=self.file.name,
                advice="put a .vrt file with the same name next to the table, or name the text with text=...: VRT or "
                "CoNLL, or a text or JSON rows if positions are characters",
            )
        return texts_of(file, self.options, self.name)

    def _without_text(self) -> Iterator[Document]:
        """Yield the documents that tables of spans name, those of gold first, without texts."""
        from clueval.formats.tables import documents_in  # other formats do not need it

        tables = (*self.sides, self) if self.in_turn else self.sides or (self,)
        ids = [documents_in(table.again().file, table.options) for table in tables]
        if all(table_ids is None for table_ids in ids):
            yield Document(MissingId("1"), {})
            return
        for source, table_ids in zip(tables, ids, strict=True):
            if table_ids is None:
                raise UsageError(
                    "the table has no column 'document', and the other side has one",
                    file=source.file.name,
                    advice="give both sides the same columns",
                )
            if ids[0] and table_ids and set(table_ids).isdisjoint(ids[0]):
                raise UsageError(
                    f"no document is on both sides: one has {ids[0][0]!r}, the other {table_ids[0]!r}",
                    file=source.file.name,
                    advice="use the same ids on both sides",
                )
        for name in dict.fromkeys(name for table_ids in ids for name in table_ids or ()):
            yield Document(name, {})


def _labelled(spans: Sequence[Span], layer: str) -> list[Span]:
    return [replace(span, labels={layer: span.label}) for span in spans]


def without_spans(source: Source) -> Iterator[Document]:
    """Yield the documents of a file without their layers and tags, with the ids of the file."""
    for document in replace(source.again(), name=None).documents():
        yield replace(document, layers={}, tags={})


def beside(*sources: Source) -> tuple[Source, ...]:
    """Return gold and the files beside it; a file that has no tokens or no text gets those of the others."""
    return tuple(
        replace(source, sides=sources)
        if source.lacks_text or (number and source.form.lacks_tokens)
        else source
        for number, source in enumerate(sources)
    )


def texts_of(file: InputFile, options: FormatOptions, name: str | None = None) -> Iterator[Document]:
    """Yield the documents of a file without layers: tokens of VRT or CoNLL, texts of JSON rows, or one plain text.

    A file that is not recognised is read as rows if it is JSON, as a text in characters if it is running text, else as
    CoNLL, whose lines may be tokens alone. Raises `FileError` for another format.
    """
    head = head_of(file)
    try:
        form = form_of(head)
    except FormatError:
        form = form_of(head, "doccano" if head.is_json else "conll")
    if is_column_format(form) and form.name == "conll" and is_running_text(head.lines):
        return iter([Document(file.stem, {}, text=file.text(), unit="character", file=file.name)])
    if not (is_column_format(form) or is_dialect(form)):
        raise FileError(
            "has neither tokens nor rows of texts",
            file=file.name,
            advice="use VRT, CoNLL or JSON such as doccano's",
        )
    layers: dict[str, int | str] | None = {} if is_column_format(form) else None
    plain = replace(options, input=None, row=None, text=None, layers=layers)
    source = Source(file, form, plain, name)
    return (replace(document, layers={}, tags={}) for document in source.documents())


def source_of(
    path: Path,
    options: FormatOptions,
    *,
    name: str | None = None,
    progress: Progress | None = None,
    form: Form | None = None,
) -> Source:
    """Return a file with its format, which is recognised if `options.format` and `form` are None.

    Raises `UsageError` for an annotation set or a treatment of tags that its format does not have.
    """
    file = InputFile(path, options.limits, None if progress is None else FileProgress(progress))
    form = form or form_at(path, options)
    if options.annotation_set is not None and not form.has_sets:
        raise UsageError(
            f"the format {form.name} has no annotation sets, so {options.annotation_set!r} cannot be selected",
            file=str(path),
            advice=f"formats with annotation sets: {', '.join(formats_that_read('annotation_set'))}",
        )
    if form.name == "vrt":
        for option in ("document_tag", "sentence_tag"):
            tag = getattr(options, option)
            if tag != getattr(USUAL_READING, option) and not _has_element(path, tag, options.max_line):
                raise FormatError(
                    f"there is no element <{tag}>", file=str(path), advice=f"check Reading.{option}"
                )
    return Source(file, form, options, name)


def _has_element(path: Path, tag: str, max_line: int) -> bool:
    """Return whether a file has an element; yes for a file without tokens."""
    element = re.compile(rb"^<%s[\s/>]" % re.escape(tag.encode()), re.MULTILINE)
    has_tokens = False
    for data in whole_lines(path, max_line=max_line):
        if element.search(data):
            return True
        has_tokens = has_tokens or re.search(rb"^[^<\s]", data, re.MULTILINE) is not None
    return not has_tokens


def formats_that_read(option: str) -> list[str]:
    """Return the names of the formats that read `option`, a field of `Reading` or ``layers``."""
    return sorted({form.name for form in all_forms() if option in (*options_of(form), *FOR_ALL)})


def idle_option(name: str, value: Any, forms: Sequence[str], file: str | None) -> UsageError:
    """Return the error for an option that applies to none of these formats."""
    value = str(value) if isinstance(value, Path) else list(value) if isinstance(value, tuple) else value
    filters = "; where='label=PER' counts only spans with this label" * (name == "labels")
    return UsageError(
        f"Reading.{name}={value!r} does not apply to the format {' or '.join(forms)}",
        file=file,
        advice=f"remove it; it applies to {', '.join(formats_that_read(name)) or 'JSON rows'}{filters}",
    )
