"""Rows of JSON: the engine that reads every dialect, from files and from memory.

A row becomes a `Record` by the description of its dialect (`clueval.second.formats.dialect`), and a record a document.
The line of an error is the number of its row.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple, cast

from clueval.core.document import Document, Layers, MissingId, Row, Sentence
from clueval.core.span import DEFAULT_LAYER, NO_LABEL, NOTHING, Frozen, Span
from clueval.core.tags import OUTSIDE
from clueval.files.errors import CluevalError, FormatError, SpanError, TagError, UsageError
from clueval.second.formats.dialect import Dialect, Numbered, keys_of
from clueval.second.formats.options import EVERY_SET, FormatOptions, sets_error
from clueval.second.formats.reference import FileMention, fits, in_points
from clueval.second.formats.row_input import RowInput
from clueval.second.formats.span_objects import (
    TOKENS_OF_PIPELINE,
    fragments_of,
    in_order,
    is_token_of_pipeline,
    members_of,
)
from clueval.second.formats.tag_lists import chunks_of, keys_of_tags, names_of_tags

_SCALAR = (str, int, float)
_NO_TAG = -100


class RowSpan(NamedTuple):
    """A span of a row; `reference` is its text as the row has it."""

    start: int
    end: int
    label: str
    features: Mapping[str, Any] = NOTHING
    id: int | str | None = None
    reference: Any = None
    fragments: Sequence[tuple[int, int]] | None = None


class Record(NamedTuple):
    """What a row holds: a document in the plain types of its row; `number` is that of the row.

    A layer whose spans are places and labels only is a list of these (`clueval.core.document.Row`).
    """

    id: str
    text: str | None
    tokens: list[str] | None
    layers: Mapping[str, list[RowSpan] | list[Row]]
    metadata: Mapping[str, str]
    sentences: Sequence[Sentence]
    tags: Mapping[str, list[str]]
    number: int


class _SpanKeys(NamedTuple):
    """The keys of objects of spans that have the same keys."""

    start: str
    end: str
    label: str
    features: tuple[str, ...]
    has_fragments: bool
    is_simple: bool


class RowReader(RowInput):
    """Reads the rows of one input by the description of their dialect."""

    def __init__(self, dialect: Dialect, options: FormatOptions, file: str | None = None) -> None:
        super().__init__(options, file)
        self.dialect = dialect
        self._names: dict[str, Mapping[int, str]] = {}
        self._span_keys: dict[Any, _SpanKeys] = {}
        sources = () if options.layers is None or dialect.source_is != "key" else options.layers.values()
        self._paths = _paths(dialect.text, dialect.tokens, dialect.id, dialect.spans, *map(str, sources))
        self._span_paths = _paths(dialect.start, dialect.ends, dialect.label)
        self._not_metadata = _hidden_keys(dialect)
        self._no_features = _no_features(dialect)

    # From a row to a record

    def records(self, given: Any) -> Iterator[Record]:
        """Yield what a row holds: one record, unless it is passed over or has several documents."""
        for row in self._plain(given):
            dialect = self.dialect
            found = self.mapping(row)
            if self._paths:
                found = _with_paths(found, self._paths)
            tokens, text = self._tokens(found), None
            if tokens is None and not (
                dialect.without_text and not any(key in found for key in keys_of(dialect.text))
            ):
                text = self._text(found)
            for key in keys_of(dialect.passed_over):
                self.passed_over[key] += len(self.listed(found.get(key), repr(key)))
            identifier = self._id(found)
            tags: dict[str, list[str]] = {}
            sentences: Sequence[Sentence] = found.get("sentences", ()) if dialect.tags else ()
            layers: dict[str, list[RowSpan] | list[Row]]
            if dialect.tags:
                tags = self._tags(found, tokens or [])
                layers = {layer: self._of_tags(own, sentences, identifier) for layer, own in tags.items()}
            else:
                layers = {
                    layer: self._spans(found, source, layer, text, tokens, identifier)
                    for layer, source in self.sources().items()
                }
            yield Record(
                identifier, text, tokens, layers, self._metadata(found), sentences, tags, self.number
            )

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

    def _tokens(self, row: Mapping[str, Any]) -> list[str] | None:
        if not self.dialect.tokens:
            return None
        key = _first_key(row, self.dialect.tokens)
        if key is None:
            self.refuse(f"the row has no tokens: no key {_either(self.dialect.tokens)}")
        tokens = self.listed(row[key], repr(key))
        if not all(isinstance(token, str) for token in tokens):
            self.refuse("a token is not a text")
        return tokens

    def _text(self, row: Mapping[str, Any]) -> str:
        key = _first_key(row, self.dialect.text)
        if key is None:
            self.refuse(f"the row has no text: no key {_either(self.dialect.text)}")
        text = row[key]
        if not isinstance(text, str):
            self.refuse(f"{key!r} is not a text")
        return text

    def _id(self, row: Mapping[str, Any]) -> str:
        for key in keys_of(self.dialect.id):
            if (value := row.get(key)) is not None:
                return value if isinstance(value, str) else self.scalar(value, "the id of the row")
        return MissingId(self.number)

    def _metadata(self, row: Mapping[str, Any]) -> Mapping[str, str]:
        dialect = self.dialect
        metadata: dict[str, str] = {}
        if dialect.rest:
            used = () if not dialect.tags else self._keys_of_layers(row).values()
            metadata = _scalars(row, lambda key: key not in self._not_metadata and key not in used)
        for key in keys_of(dialect.metadata):
            value = row.get(key)
            metadata |= _scalars(value if isinstance(value, dict) else {key: value})
        return metadata

    def sources(self) -> Mapping[str, str]:
        """Return the source of each layer. Raises `UsageError` for a source that the dialect does not have."""
        known = keys_of(self.dialect.sources)
        layers = self.options.layers
        if layers is None:
            return {DEFAULT_LAYER: known[0] if known else ""}
        for layer, source in layers.items():
            if isinstance(source, int) or (known and source not in known):
                raise UsageError(
                    f"layer {layer!r} has no source {source!r} in this format",
                    file=self.file,
                    advice=f"its sources: {', '.join(known)}" if known else "name a source by its key",
                )
        return {layer: str(source) for layer, source in layers.items()}

    # Spans

    def _spans(
        self,
        row: Mapping[str, Any],
        source: str,
        layer: str,
        text: str | None,
        tokens: list[str] | None,
        identifier: str,
    ) -> list[RowSpan] | list[Row]:
        dialect = self.dialect
        label_keys = source if dialect.source_is == "label" else dialect.label
        control = dialect.control if self.options.layers is not None else ""
        length = None if text is not None or tokens is None else len(tokens)
        items = self._items(row, source)
        if (rows := self._rows(items, label_keys, text, length)) is not None:
            return rows
        spans: list[RowSpan] = []
        referred = False
        for number, item in enumerate(items):
            if type(item) is dict:
                if (self.set is not None and dialect.of_span and self._is_of_other(item)) or (
                    control and item.get(control) != source
                ):
                    continue
                if self._span_paths or "alternatives" in item or "entity" in item:
                    made = [
                        self._of_object(each, label_keys, group, text)
                        for each, group in self._members(item, number)
                    ]
                else:
                    made = [self._of_object(item, label_keys, NOTHING, text)]
            else:
                made = [self._of_list(item)]
            for span in made:
                referred = referred or span.reference is not None
                self._require_place(span, layer, length, identifier)
            spans += made
        if referred or self.options.offsets not in (None, "points"):
            return self._in_points(text, spans, identifier)
        return spans

    def _rows(
        self, items: list[Any], label_keys: str, text: str | None, length: int | None
    ) -> list[Row] | None:
        """Return spans that need no more than their places and labels, as most do; None for others.

        It does for these what `_spans` does for all, in less than half of its time.
        """
        dialect = self.dialect
        if not items or self._span_paths or dialect.control or self.options.offsets:
            return None if items else []
        if text is not None:
            length = len(text)
        more = bool(dialect.end_inclusive)
        reference = dialect.reference
        rows = []
        first = items[0]
        if type(first) is dict:
            start, end, label = (
                self._keys_of(first, label_keys)[:3] if "entity" not in first else ("", "", "")
            )
            keys = first.keys()
            if not keys <= {start, end, label, reference} or length is None:
                return None
            try:
                for item in items:
                    place = item[start], item[end], item[label]
                    if item.keys() != keys:
                        return None
                    rows.append(place)
                if reference in keys and text is not None:
                    for item, (begin, stop, _) in zip(items, rows, strict=True):
                        if text[begin:stop] != item[reference]:
                            return None
            except (KeyError, TypeError, AttributeError):
                return None
        elif type(first) is list and length is not None:
            rows = [tuple(item) for item in items if type(item) is list and len(item) == 3]
            if len(rows) != len(items):
                return None
        else:
            return None
        for begin, stop, name in rows:
            if type(begin) is not int or type(stop) is not int or type(name) is not str or not name:
                return None
            if not 0 <= begin < stop + more <= length:
                return None
        return [(begin, stop + 1, name) for begin, stop, name in rows] if more else rows

    def _items(self, row: Mapping[str, Any], source: str) -> list[Any]:
        dialect = self.dialect
        named = dialect.source_is == "key" and self.options.layers is not None
        keys = source if named else dialect.spans
        key = _first_key(row, keys)
        if key is None:
            if dialect.optional:
                return []
            self.refuse(f"the row has no spans: no key {_either(keys)}", "no spans are written []")
        return self.listed(row[key], repr(key))

    def _members(self, item: dict[str, Any], number: int) -> list[tuple[dict[str, Any], Mapping[str, Any]]]:
        """Return the object of a span and those of its alternatives, each with the features of its group."""
        if is_token_of_pipeline(item):
            self.refuse(f"the row has {TOKENS_OF_PIPELINE[0]}", TOKENS_OF_PIPELINE[1])
        try:
            members = list(members_of(item, str(number)))
        except ValueError as error:
            self.refuse(str(error), 'as in "alternatives": [{"start": 0, "end": 2}]')
        return [
            (_with_paths(member, self._span_paths) if self._span_paths else dict(member), group)
            for member, group in members
        ]

    def _of_list(self, item: Any) -> RowSpan:
        """Return the span of a list of start, end and label, which may be missing."""
        if isinstance(item, str):
            self.refuse(
                "the labels have no positions", "this is a classification of texts, which has no spans"
            )
        if not isinstance(item, list | tuple):
            self.refuse("a span is neither a list nor an object")
        if len(item) not in (2, 3):
            self.refuse("a span is not [start, end, label]")
        start, end = self.whole(item[0], "start"), self.whole(item[1], "end")
        return RowSpan(
            start, end + bool(self.dialect.end_inclusive), self._label(item[2] if len(item) == 3 else None)
        )

    def _of_object(
        self, item: dict[str, Any], label_keys: str, group: Mapping[str, Any], text: str | None
    ) -> RowSpan:
        """Return the span of an object."""
        shape = (label_keys, *item)
        keys = self._span_keys.get(shape)
        if keys is None:
            keys = self._span_keys[shape] = self._keys_of(item, label_keys)
        start, end = item.get(keys.start), item.get(keys.end)
        fragments = None
        if keys.has_fragments:
            fragments = self._fragments(item)
        if fragments:
            start, end = fragments[0][0], fragments[-1][1]
        if type(start) is not int or type(end) is not int:
            start, end = self.whole(start, keys.start), self.whole(end, keys.end)
        if self.dialect.end_inclusive and not fragments:
            end += 1
        label = item.get(keys.label)
        if type(label) is not str or not label:
            label = self._label(label)
        if keys.is_simple and not group:
            return RowSpan(start, end, label)
        features: Mapping[str, Any] = NOTHING
        if keys.features:
            features = {key: item[key] for key in keys.features if isinstance(item[key], _SCALAR)}
        elif self.dialect.features not in ("", "*"):
            features = item.get(self.dialect.features) or NOTHING
        if group:
            features = {**features, **group}
        reference = item.get(self.dialect.reference)
        if reference is not None and text is not None and self.options.offsets is None:
            is_there = fragments is None and 0 <= start < end and reference == text[start:end]
            reference = None if is_there else reference  # it nearly always is there
        identifier = item.get(self.dialect.span_id)
        if not isinstance(identifier, int | str) or identifier == "":
            identifier = None
        return RowSpan(start, end, label, features, identifier, reference, fragments)

    def _keys_of(self, item: Mapping[str, Any], label_keys: str) -> _SpanKeys:
        """Return how objects with these keys are read."""
        dialect = self.dialect
        start, end, label = (
            _first_key(item, keys) or keys_of(keys)[0] for keys in (dialect.start, dialect.ends, label_keys)
        )
        features: tuple[str, ...] = ()
        if dialect.features == "*":
            features = tuple(key for key in item if key not in self._no_features and key != label)
        others = {dialect.span_id, dialect.reference, dialect.features, "fragments"} - {"", "*"}
        is_simple = not features and others.isdisjoint(item)
        return _SpanKeys(
            start, end, label, features, "fragments" in item, is_simple and "alternatives" not in item
        )

    def _fragments(self, item: Mapping[str, Any]) -> Sequence[tuple[int, int]] | None:
        try:
            fragments = fragments_of(item)
        except ValueError as error:
            self.refuse(str(error), 'as in "fragments": [[0, 3], [7, 9]]')
        return None if fragments is None else Span.of_fragments(fragments, line=self.number).fragments

    def _label(self, label: Any) -> str:
        if isinstance(label, str):
            return label or NO_LABEL
        return NO_LABEL if label is None else self.scalar(label, "a label") or NO_LABEL

    def _require_place(self, span: RowSpan, layer: str, length: int | None, identifier: str) -> None:
        """Raise `SpanError` for reversed positions, and for positions that are not those of tokens."""
        start, end = span.start, span.end
        if length is not None and not 0 <= start < end <= length:
            raise SpanError(
                f"a span from token {start} to {end - 1} is not within the {length} tokens, from 0",
                line=self.number,
                document=identifier,
                advice=self.dialect.advice,
            )
        if not 0 <= start <= end:
            Span(start, end, {layer: span.label}, line=self.number)

    def _is_of_other(self, item: Mapping[str, Any]) -> bool:
        owner = _first_value(item, self.dialect.of_span)
        return owner is not None and str(owner) != self.set

    def _in_points(self, text: str | None, spans: list[RowSpan], identifier: str) -> list[RowSpan]:
        """Return spans in code points, after comparing their texts with the text at their positions."""
        unit = self.options.offsets
        if text is None:
            if unit not in (None, "points") and not self.dialect.tokens:
                self.refuse(f"positions in {unit} need the text, which the row does not have")
            return spans
        references = [span.reference for span in spans]
        if not all(
            isinstance(each, str | int | float | None) and type(each) is not bool for each in references
        ):
            self.refuse("the text of a span is not a text")
        mentions = [
            FileMention(
                tuple(span.fragments or ((span.start, span.end),)),
                span.reference,
                self.number,
                f"span [{span.start},{span.end})",
            )
            for span in spans
        ]
        if unit is None and self.dialect.utf16 and not text.isascii():
            unit = None if fits(text, mentions, "points") or not fits(text, mentions, "utf16") else "utf16"
        places = in_points(text, mentions, unit, file=self.file, document=identifier)
        if unit in (None, "points"):
            return spans
        return [
            span._replace(start=place[0][0], end=place[-1][1], fragments=span.fragments and place)
            for span, place in zip(spans, places, strict=True)
        ]

    # Tags

    def _keys_of_layers(self, row: Mapping[str, Any]) -> Mapping[str, str]:
        """Return the key of the tags of each layer."""
        if self.dialect.tags != "*":
            return dict.fromkeys(self.sources(), self.dialect.tags)
        if self.options.layers is not None:
            return self.sources()
        keys = keys_of_tags(row)
        if len(keys) != 1:
            several = f"several keys of tags: {', '.join(keys)}"
            raise UsageError(
                f"the row has {several if keys else 'no key of tags'}",
                file=self.file,
                line=self.number,
                advice="name one, as in layers={'entity': 'ner_tags'}",
            )
        return {DEFAULT_LAYER: keys[0]}

    def _tags(self, row: Mapping[str, Any], tokens: list[str]) -> dict[str, list[str]]:
        """Return the tags of each layer."""
        tags = {}
        for layer, key in self._keys_of_layers(row).items():
            if key not in row:
                self.refuse(f"the row has no key {key!r}")
            values = self.listed(row[key], repr(key))
            if len(values) != len(tokens):
                self.refuse(f"{key!r} has {len(values)} values for {len(tokens)} tokens")
            is_text = all(type(value) is str for value in values)
            tags[layer] = values if is_text else [self._tag(value, key) for value in values]
        return tags

    def _tag(self, value: Any, key: str) -> str:
        if isinstance(value, str):
            return value
        if value is None or value == _NO_TAG:
            self.passed_over["ignored positions"] += 1
            return OUTSIDE
        if type(value) is not int:
            self.refuse(f"{key!r} has a value that is neither a tag nor a number")
        if self.options.names is None:
            self.refuse(
                f"the tags of {key!r} are numbers without names",
                "give the names with names='FILE': a JSON list of tags, a config.json with id2label, or "
                "dataset_info.json",
            )
        if key not in self._names:
            self._names[key] = names_of_tags(self.options.names, key)
        if value not in self._names[key]:
            self.refuse(f"the number {value} of {key!r} has no name", "check names=...")
        return self._names[key][value]

    def _of_tags(self, tags: list[str], sentences: Sequence[Sentence], identifier: str) -> list[Row]:
        invalid = self.options.invalid or "conlleval"
        spans = []
        try:
            for first, last, _ in sentences or (Sentence(0, len(tags)),):
                for start, end, label in chunks_of(tags[first:last], self.options.scheme, invalid):
                    spans.append((first + start, first + end, label))
        except TagError as error:
            error.file, error.line, error.document = self.file, self.number, identifier
            raise
        return spans

    # From a record to a document

    def document(self, record: Record) -> Document:
        """Return the document of a record."""
        dialect = self.dialect
        made: Mapping[str, Sequence[Span]]
        if any(len(span) > 3 for spans in record.layers.values() for span in spans[:1]):
            spans = {layer: _spans_of(layer, own, record.number) for layer, own in record.layers.items()}
            made = spans if dialect.ordered else {layer: in_order(own) for layer, own in spans.items()}
        else:
            rows = cast("Mapping[str, list[Row]]", record.layers)
            if not dialect.ordered:
                rows = {layer: sorted(own, key=itemgetter(0, 1)) for layer, own in rows.items()}
            made = Layers({}, rows, record.number)
        return Document(
            record.id,
            made,
            tokens=record.tokens,
            text=record.text,
            unit="token" if dialect.tokens else "character",
            metadata=Frozen(record.metadata),
            sentences=record.sentences,
            tags=Frozen(record.tags),
            file=self.file,
            ordered=dialect.ordered,
        )


def _spans_of(layer: str, rows: Iterable[RowSpan | Row], line: int) -> list[Span]:
    labels: dict[str, Frozen] = {}
    spans = []
    for row in rows:
        start, end, label, features, identifier, _, fragments = (
            row if isinstance(row, RowSpan) else RowSpan(*row)
        )
        if label not in labels:
            labels[label] = Frozen({layer: label})
        parts = fragments if fragments and len(fragments) > 1 else None
        spans.append(Span(start, end, labels[label], features, id=identifier, line=line, parts=parts))
    return spans


def documents_of(
    rows: Iterable[Numbered], dialect: Dialect, options: FormatOptions, file: str | None = None
) -> Iterator[Document]:
    """Yield the documents of numbered rows; `file` is the name of their file in errors.

    Raises `FormatError` and `SpanError` with the number of the row, and `UsageError` for several annotation sets of
    which none is named.
    """
    return read_documents(rows, RowReader(dialect, options, file))


def read_documents(rows: Iterable[Numbered], reader: RowReader) -> Iterator[Document]:
    """Yield the documents of numbered rows, as `documents_of` does, with a reader that counts what is not read."""
    numbered = iter(rows)
    if reader.dialect.values is not None:
        numbered = reader.dialect.values(numbered, reader)
    if reader.options.annotation_set == EVERY_SET and reader.dialect.has_sets:
        records = _with_every_set(numbered, reader)
    else:
        records = _of_one_set(numbered, reader)
    try:
        for record in records:
            yield reader.document(record)
    except CluevalError as error:
        error.file = error.file or reader.file
        if error.line is None and isinstance(error, SpanError | FormatError):
            error.line = reader.number
        raise


# Annotation sets


def sets_of(dialect: Dialect, row: Any) -> list[tuple[str, ...]]:
    """Return the annotation sets of a row, each with all names by which it may be selected; the first is listed."""
    if dialect.sets is not None:
        return list(dialect.sets(row))
    if not isinstance(row, dict):
        return []
    if (own := _first_value(row, dialect.annotator)) is not None:
        return [(str(own),)]
    key = _first_key(row, dialect.spans) if dialect.of_span else None
    items = row[key] if key is not None and isinstance(row[key], list) else ()
    owners = (_first_value(item, dialect.of_span) for item in items if isinstance(item, dict))
    return [(str(owner),) for owner in owners if owner is not None]


def _of_one_set(numbered: Iterator[Numbered], reader: RowReader) -> Iterator[Record]:
    """Yield the records of the annotation set that is read. Raises `UsageError` for several of which none is named."""
    dialect, wanted = reader.dialect, reader.options.annotation_set
    seen: dict[str, None] = {}
    if wanted not in (None, EVERY_SET) and not dialect.has_sets:
        raise sets_error(f"there is no annotation set {wanted!r}", reader.file, seen)
    is_found = not dialect.has_sets
    for reader.number, row in numbered:
        if dialect.has_sets:
            names = sets_of(dialect, row)
            seen |= dict.fromkeys(own[0] for own in names)
            if wanted is None and len(seen) > 1:
                for _, later in numbered:
                    seen |= dict.fromkeys(own[0] for own in sets_of(dialect, later))
                raise sets_error("the file has several annotation sets, but none is named", reader.file, seen)
            if wanted is not None and not any(wanted in own for own in names):
                continue
            reader.set = next((own[0] for own in names), None) if wanted is None else wanted
        is_found = True
        yield from reader.records(row)
    if wanted is not None and not is_found and reader.number:
        raise sets_error(f"there is no annotation set {wanted!r}", reader.file, seen)
    for layer, source in (reader.options.layers or {}).items():
        if reader.offered and source not in reader.offered:
            raise UsageError(
                f"no row has {source!r}, the source of layer {layer!r}",
                file=reader.file,
                advice=f"the rows have {', '.join(reader.offered)}",
            )


def _with_every_set(numbered: Iterator[Numbered], reader: RowReader) -> Iterator[Record]:
    """Yield the records by first occurrence, each with a layer for every annotation set that has it; holds all."""
    if len(reader.options.layers or {}) > 1:
        raise UsageError(
            "several layers are named, and each annotation set is a layer", advice="name one layer"
        )
    found: dict[str, Record] = {}
    for reader.number, row in numbered:
        for name in dict.fromkeys(own[0] for own in sets_of(reader.dialect, row)) or {DEFAULT_LAYER: None}:
            reader.set = name
            for record in reader.records(row):
                known = found.setdefault(record.id, record._replace(layers={}))
                if known.text != record.text or name in known.layers:
                    what = "another text" if known.text != record.text else f"the annotation set {name!r}"
                    reader.refuse(f"the document has {what} in a row before", document=record.id)
                (spans,) = record.layers.values()
                found[record.id] = known._replace(layers={**known.layers, name: spans})
    yield from found.values()


# Keys


def _first_key(row: Mapping[str, Any], keys: str) -> str | None:
    if keys in row:
        return keys
    return next((key for key in keys_of(keys) if key in row), None)


def _first_value(row: Mapping[str, Any], keys: str) -> Any:
    return next((row[key] for key in keys_of(keys) if row.get(key) is not None), None)


def _either(keys: str) -> str:
    return " or ".join(map(repr, keys_of(keys)))


def _paths(*keys: str) -> tuple[str, ...]:
    return tuple(key for each in keys for key in keys_of(each) if "." in key)


def _with_paths(row: Mapping[str, Any], paths: Iterable[str]) -> dict[str, Any]:
    """Return an object with the values of these paths under the paths as keys, as far as it has them.

    >>> _with_paths({"data": {"text": "Ada"}}, ["data.text", "data.id"])["data.text"]
    'Ada'
    """
    found = dict(row)
    for path in paths:
        value: Any = row
        for name in path.split("."):
            if isinstance(value, dict) and name in value:
                value = value[name]
            elif isinstance(value, list | tuple) and name.isdecimal() and int(name) < len(value):
                value = value[int(name)]
            else:
                break
        else:
            found.setdefault(path, value)
    return found


def _hidden_keys(dialect: Dialect) -> frozenset[str]:
    """Return the keys of a row that are not metadata."""
    keys = (dialect.text, dialect.tokens, dialect.id, dialect.spans, dialect.metadata, dialect.passed_over)
    return frozenset(
        key for each in (*keys, dialect.annotator, dialect.not_metadata) for key in keys_of(each)
    )


def _no_features(dialect: Dialect) -> frozenset[str]:
    """Return the keys of a span that are no features, besides its label."""
    keys = (dialect.start, dialect.end, dialect.end_inclusive, dialect.span_id, dialect.reference)
    every = (*keys, dialect.of_span, dialect.noted, "optional|fragments")
    return frozenset(key for each in every for key in keys_of(each))


def _scalars(values: Mapping[str, Any], is_kept: Any = lambda key: True) -> dict[str, str]:
    """Return the texts, numbers and truth values of an object, as texts."""
    return {
        str(key): value if type(value) is str else json.dumps(value)
        for key, value in values.items()
        if isinstance(value, _SCALAR) and is_kept(key)
    }
