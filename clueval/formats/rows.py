"""Rows of JSON: the engine that reads every dialect, from files and from memory.

A row becomes a document by the description of its dialect (`clueval.formats.dialect`). The line of an error is the
number of its row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any, NoReturn, cast

from clueval.core.document import Document, Layers, MissingId, Row, Sentence
from clueval.core.span import DEFAULT_LAYER, Frozen, Span
from clueval.core.span_forms import in_order
from clueval.core.tags import OUTSIDE
from clueval.files.errors import CluevalError, FormatError, SpanError, TagError, UsageError
from clueval.formats.dialect import (
    Dialect,
    RowInput,
    advice_on_keys,
    either,
    first_key,
    first_value,
    hidden_keys,
    keys_of,
    paths,
    scalars,
    sources_of,
    with_paths,
)
from clueval.formats.form import is_row
from clueval.formats.input_file import InputFile, Numbered
from clueval.formats.options import EVERY_SET, FormatOptions, sets_error
from clueval.formats.recognition import keys_of_tags
from clueval.formats.row_spans import SpanReader, spans_of_rows
from clueval.formats.tag_lists import SeenTags, chunks_of, names_of_tags

_NO_TAG = -100
_PLACE = itemgetter(0, 1)


class TagReader:
    """Reads the tags of the rows of one input."""

    def __init__(self, dialect: Dialect, rows: RowInput) -> None:
        self._dialect, self._input = dialect, rows
        self._names: dict[str, Mapping[int, str]] = {}
        self._seen = SeenTags(rows.file)

    def keys_of_layers(self, row: Mapping[str, Any]) -> Mapping[str, str]:
        """Return the key of the tags of each layer."""
        if self._dialect.tags != "*":
            return dict.fromkeys(
                sources_of(self._dialect, self._input.options, self._input.file), self._dialect.tags
            )
        if self._input.options.layers is not None:
            return sources_of(self._dialect, self._input.options, self._input.file)
        keys = keys_of_tags(row)
        if len(keys) != 1:
            several = f"several keys of tags: {', '.join(keys)}"
            raise UsageError(
                f"the row has {several if keys else 'no key of tags'}",
                file=self._input.file,
                line=self._input.number,
                advice="name one, as in layers={'entity': 'ner_tags'}",
            )
        return {DEFAULT_LAYER: keys[0]}

    def tags(self, row: Mapping[str, Any], tokens: list[str]) -> dict[str, list[str]]:
        """Return the tags of each layer."""
        tags = {}
        for layer, key in self.keys_of_layers(row).items():
            if key not in row:
                self._input.refuse(f"the row has no key {key!r}")
            values = self._input.listed(row[key], repr(key))
            if len(values) != len(tokens):
                self._input.refuse(f"{key!r} has {len(values)} values for {len(tokens)} tokens")
            is_text = all(type(value) is str for value in values)
            tags[layer] = values if is_text else [self._tag(value, key) for value in values]
            if self._input.options.scheme is None:
                self._seen.see(layer, tags[layer])
        return tags

    def _tag(self, value: Any, key: str) -> str:
        if isinstance(value, str):
            return value
        if value is None or value == _NO_TAG:
            self._input.passed_over["ignored positions"] += 1
            return OUTSIDE
        if type(value) is not int:
            self._input.refuse(f"{key!r} has a value that is neither a tag nor a number")
        if self._input.options.names is None:
            self._input.refuse(
                f"the tags of {key!r} are numbers without names",
                "give names=[...], the tags in the order of their numbers, or names='FILE': a JSON list of tags, a "
                "config.json with id2label, or dataset_info.json",
            )
        if key not in self._names:
            self._names[key] = names_of_tags(self._input.options.names, key)
        if value not in self._names[key]:
            self._input.refuse(f"the number {value} of {key!r} has no name", "check names=...")
        return self._names[key][value]

    def spans(self, tags: list[str], sentences: Sequence[Sentence], identifier: str) -> list[Row]:
        """Return the spans of tags. Raises `TagError` with the number of the row."""
        invalid = self._input.options.invalid or "conlleval"
        spans = []
        try:
            for first, last, _ in sentences or (Sentence(0, len(tags)),):
                for start, end, label in chunks_of(tags[first:last], self._input.options.scheme, invalid):
                    spans.append((first + start, first + end, label))
        except TagError as error:
            error.file, error.line, error.document = self._input.file, self._input.number, identifier
            raise
        return spans


class RowReader(RowInput):
    """Reads the rows of one input by the description of their dialect."""

    def __init__(
        self,
        dialect: Dialect,
        options: FormatOptions,
        file: str | None = None,
        passed_over: Counter[str] | None = None,
    ) -> None:
        super().__init__(options, file, passed_over)
        self.dialect = dialect
        self._spans, self._tags = SpanReader(dialect, self), TagReader(dialect, self)
        sources = () if options.layers is None or dialect.source_is != "key" else options.layers.values()
        self._paths = paths(dialect.text, dialect.tokens, dialect.id, dialect.spans, *map(str, sources))
        self._not_metadata = hidden_keys(dialect)
        self._sources: Mapping[str, str] | None = None  # of layers, once they are asked for

    def documents(self, given: Any) -> Iterator[Document]:
        """Return the documents of a row: one, unless it is passed over or has several."""
        return map(self._document, self._plain(given))

    def _document(self, given: Any) -> Document:
        dialect = self.dialect
        row = self.mapping(given)
        if self._paths:
            row = with_paths(row, self._paths)
        tokens = self._tokens(row) if dialect.tokens else None
        text = None
        if tokens is None and not (dialect.without_text and first_key(row, dialect.text) is None):
            text = self._text(row)
        for key in keys_of(dialect.passed_over):
            self.passed_over[key] += len(self.listed(row[key], repr(key))) if key in row else 0
        identifier = self._id(row)
        tags: dict[str, list[str]] = {}
        sentences: Sequence[Sentence] = ()
        if dialect.tags:
            tags, sentences = self._tags.tags(row, tokens or []), row.get("sentences", ())
            spans = {layer: self._tags.spans(own, sentences, identifier) for layer, own in tags.items()}
            layers: Mapping[str, Sequence[Span]] = Layers({}, spans, self.number)
        else:
            layers = self._layers(row, text, tokens, identifier)
        return Document(
            identifier,
            layers,
            tokens=tokens,
            text=text,
            unit="token" if dialect.tokens else "character",
            metadata=Frozen(self._metadata(row)),
            sentences=sentences,
            tags=Frozen(tags),
            file=self.file,
            ordered=dialect.ordered,
        )

    def _layers(
        self, row: dict[str, Any], text: str | None, tokens: list[str] | None, identifier: str
    ) -> Mapping[str, Sequence[Span]]:
        """Return the spans of each layer; those that are places and labels only are made when they are asked for."""
        if self._sources is None:
            self._sources = sources_of(self.dialect, self.options, self.file)
        places: dict[str, list[Row]] = {}
        spans: dict[str, Sequence[Span]] = {}
        is_ordered = self.dialect.ordered
        for layer, source in self._sources.items():
            found = self._spans.spans(row, source, layer, text, tokens, identifier)
            if found and len(found[0]) > 3:
                made = spans_of_rows(layer, found, self.number)
                spans[layer] = made if is_ordered else in_order(made)
            else:
                rows = cast("list[Row]", found)
                places[layer] = rows if is_ordered else sorted(rows, key=_PLACE)
        layers = Layers({}, places, self.number)
        return {layer: spans.get(layer) or layers[layer] for layer in self._sources} if spans else layers

    def _plain(self, given: Any) -> Iterable[Any]:
        """Return the rows with the keys of the dialect."""
        if self.dialect.plain is None:
            return (given,)
        try:
            return list(self.dialect.plain(given, self))
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            what = f"no key {error}" if isinstance(error, KeyError) else "another form"
            self.refuse(
                f"the row has {what}, unlike those of {self.dialect.name}", f"expected: {self.dialect.holds}"
            )

    def _tokens(self, row: Mapping[str, Any]) -> list[str]:
        key = first_key(row, self.dialect.tokens)
        if key is None:
            self._refuse_without(row, "tokens", self.dialect.tokens)
        tokens = self.listed(row[key], repr(key))
        if not all(isinstance(token, str) for token in tokens):
            self.refuse("a token is not a text")
        return tokens

    def _text(self, row: Mapping[str, Any]) -> str:
        key = first_key(row, self.dialect.text)
        if key is None:
            self._refuse_without(row, "text", self.dialect.text)
        text = row[key]
        if not isinstance(text, str):
            self.refuse(f"{key!r} is not a text")
        return text

    def _refuse_without(self, row: Mapping[str, Any], what: str, keys: str) -> NoReturn:
        advice = advice_on_keys(self.dialect, row, keys)
        self.refuse(f"the row has no {what}: no key {either(keys)}", advice)

    def _id(self, row: Mapping[str, Any]) -> str:
        for key in keys_of(self.dialect.id):
            if (value := row.get(key)) is not None:
                return value if isinstance(value, str) else self.scalar(value, "the id of the row")
        if "id" in self.dialect.required:
            self._refuse_without(row, "id", self.dialect.id)
        return MissingId(self.number)

    def _metadata(self, row: Mapping[str, Any]) -> Mapping[str, str]:
        dialect = self.dialect
        metadata: dict[str, str] = {}
        if dialect.rest:
            used = () if not dialect.tags else self._tags.keys_of_layers(row).values()
            metadata = scalars(row, self._not_metadata.union(used))
        for key in keys_of(dialect.metadata):
            if (value := row.get(key)) is not None:
                metadata |= scalars(value if isinstance(value, dict) else {key: value})
        return metadata


# Files and rows in memory, of the annotation set that is read, or with a layer for every set


def documents_of_file(form: Dialect, file: InputFile, options: FormatOptions) -> Iterator[Document]:
    """Yield the documents of a file."""
    rows = file.rows(empty_is_row=is_row(form, []))
    return _documents(rows, RowReader(form, options, file.name, file.passed_over))


def documents_of_rows(
    form: Dialect, rows: Iterable[Numbered], options: FormatOptions, passed_over: Counter[str]
) -> Iterator[Document]:
    """Yield the documents of numbered rows in memory."""
    return _documents(iter(rows), RowReader(form, options, None, passed_over))


def sets_of_file(form: Dialect, file: InputFile) -> list[str]:
    """Return the names of the annotation sets of a file, in the order of their first occurrence."""
    return list(dict.fromkeys(names[0] for _, row in file.rows() for names in _sets_of(form, row)))


def _documents(rows: Iterator[Numbered], reader: RowReader) -> Iterator[Document]:
    """Yield the documents of numbered rows.

    Raises `FormatError` and `SpanError` with the number of the row, and `UsageError` for several annotation sets of
    which none is named.
    """
    numbered = rows
    if reader.dialect.values is not None:
        numbered = reader.dialect.values(numbered, reader)
    if reader.options.annotation_set == EVERY_SET and reader.dialect.has_sets:
        documents = _with_every_set(numbered, reader)
    else:
        documents = _of_one_set(numbered, reader)
    try:
        yield from documents
    except CluevalError as error:
        error.file = error.file or reader.file
        if error.line is None and isinstance(error, SpanError | FormatError):
            error.line = reader.number
        raise


def _sets_of(dialect: Dialect, row: Any) -> list[tuple[str, ...]]:
    """Return the annotation sets of a row, each with all names by which it may be selected; the first is listed."""
    if dialect.sets is not None:
        return list(dialect.sets(row))
    if not isinstance(row, dict):
        return []
    if (own := first_value(row, dialect.annotator)) is not None:
        return [(str(own),)]
    items = row.get(first_key(row, dialect.spans)) if dialect.of_span else None
    if not isinstance(items, list):
        return []
    owners = [first_value(item, dialect.of_span) for item in items if isinstance(item, dict)]
    return [(str(owner),) for owner in owners if owner is not None]


def _of_one_set(numbered: Iterator[Numbered], reader: RowReader) -> Iterator[Document]:
    """Yield the documents of the set that is read. Raises `UsageError` for several of which none is named."""
    dialect, wanted = reader.dialect, reader.options.annotation_set
    seen: dict[str, None] = {}
    if wanted not in (None, EVERY_SET) and not dialect.has_sets:
        raise sets_error(f"there is no annotation set {wanted!r}", reader.file, seen)
    is_found = not dialect.has_sets
    for reader.number, row in numbered:
        if dialect.has_sets:
            names = _sets_of(dialect, row)
            if names:
                seen |= dict.fromkeys(own[0] for own in names)
            if wanted is None and len(seen) > 1:
                for _, later in numbered:
                    seen |= dict.fromkeys(own[0] for own in _sets_of(dialect, later))
                raise sets_error("the file has several annotation sets, but none is named", reader.file, seen)
            if wanted is not None and not any(wanted in own for own in names):
                continue
            reader.set = wanted
            if wanted is None and names:
                reader.set = names[0][0]
        is_found = True
        yield from reader.documents(row)
    if wanted is not None and not is_found and reader.number:
        raise sets_error(f"there is no annotation set {wanted!r}", reader.file, seen)
    for layer, source in (reader.options.layers or {}).items():
        if reader.offered and source not in reader.offered:
            raise UsageError(
                f"no row has {source!r}, the source of layer {layer!r}",
                file=reader.file,
                advice=f"the rows have {', '.join(reader.offered)}",
            )


def _with_every_set(numbered: Iterator[Numbered], reader: RowReader) -> Iterator[Document]:
    """Yield the documents by first occurrence, each with a layer for every annotation set that has it; holds all."""
    if len(reader.options.layers or {}) > 1:
        raise UsageError(
            "several layers are named, and each annotation set is a layer", advice="name one layer"
        )
    found: dict[str, Document] = {}
    layers: dict[str, dict[str, Sequence[Span]]] = {}
    for reader.number, row in numbered:
        for name in dict.fromkeys(own[0] for own in _sets_of(reader.dialect, row)) or {DEFAULT_LAYER: None}:
            reader.set = name
            for document in reader.documents(row):
                known = found.setdefault(document.id, document)
                own = layers.setdefault(document.id, {})
                if known.text != document.text or name in own:
                    what = "another text" if known.text != document.text else f"the annotation set {name!r}"
                    reader.refuse(f"the document has {what} in a row before", document=document.id)
                (own[name],) = document.layers.values()
    for identifier, document in found.items():
        yield replace(document, layers=layers[identifier])
