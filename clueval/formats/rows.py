"""Rows of JSON: the engine that reads every dialect, from files and from memory.

A row becomes a document by the description of its dialect (`clueval.formats.dialect`). The line of an error is the
number of its row.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from operator import itemgetter
from typing import Any, NamedTuple, NoReturn

from clueval.core.document import GROUP, Details, Document, Layers, MissingId, Row, Sentence
from clueval.core.span import DEFAULT_LAYER, NO_LABEL, NOTHING, Frozen, Ranges, Span
from clueval.core.tags import OUTSIDE, decode_tags, is_tag
from clueval.files.errors import (
    CluevalError,
    FormatError,
    SpanError,
    TagError,
    UsageError,
    described,
    warn,
    with_noun,
)
from clueval.formats.dialect import (
    SCALAR,
    Dialect,
    RowInput,
    advice_on_keys,
    either,
    first_key,
    first_value,
    hidden_keys,
    keys_of,
    keys_of_no_features,
    paths,
    scalars,
    with_paths,
)
from clueval.formats.form import is_row
from clueval.formats.input_file import InputFile, Numbered, SeenTags, schemes_of
from clueval.formats.options import EVERY_SET, FormatOptions, sets_error
from clueval.formats.recognition import keys_of_tags
from clueval.formats.span_forms import (
    ALTERNATIVES,
    LABELS,
    TOKENS_OF_PIPELINE,
    as_whole,
    fragments_of,
    is_span,
    is_token_of_pipeline,
    members_of,
    spans_of,
)


class _RowKeys(NamedTuple):
    """The keys of rows that have the same keys: their text or tokens, tags or spans by layer, and the others.

    The spans of a layer are under None if such rows have none. `beside` are further keys that could hold the spans.
    """

    content: str | None
    layers: Mapping[str, str | None]
    ids: tuple[str, ...]
    metadata: tuple[str, ...]
    rest: tuple[str, ...]
    not_read: tuple[str, ...]
    beside: tuple[str, ...]


class _SpanKeys(NamedTuple):
    """The keys of objects of spans that have the same keys; empty: they have none."""

    start: str
    end: str
    label: str
    features: tuple[str, ...]
    has_fragments: bool
    has_details: bool


class _RowsOfTags(Mapping[str, "list[Row]"]):
    """The spans of tags by layer, which are decoded when they are asked for; what is no tag was refused before."""

    def __init__(self, tags: Mapping[str, list[str]], sentences: Sequence[Sentence]) -> None:
        self._tags, self._sentences = tags, sentences
        self._rows: dict[str, list[Row]] = {}

    def __getitem__(self, layer: str) -> list[Row]:
        if layer not in self._rows:
            self._rows[layer] = _decoded(self._tags[layer], self._sentences, None, "conlleval")
        return self._rows[layer]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tags)

    def __len__(self) -> int:
        return len(self._tags)


def _decoded(
    tags: Sequence[str], sentences: Sequence[Sentence], scheme: str | None, invalid: str
) -> list[Row]:
    """Return the spans of tags, sentence by sentence. Raises `TagError`."""
    if not sentences:
        return list(decode_tags(tags, scheme, invalid))
    return [
        (first + start, first + end, label)
        for first, last, _ in sentences
        for start, end, label in decode_tags(tags[first:last], scheme, invalid)
    ]


_MOST_SHAPES = 1000
"""The number of combinations of keys that are remembered."""


class RowReader(RowInput):
    """Reads the rows of one input by the description of their dialect."""

    def __init__(
        self,
        dialect: Dialect,
        options: FormatOptions,
        file: str | None,
        passed_over: Counter[str],
    ) -> None:
        super().__init__(options, file, passed_over)
        self.dialect = dialect
        sources = () if options.layers is None or dialect.source_is != "key" else options.layers.values()
        self._paths = paths(dialect.text, dialect.tokens, dialect.id, dialect.spans, *map(str, sources))
        self._span_paths = paths(dialect.start, dialect.ends, dialect.label)
        self._not_metadata = hidden_keys(dialect)
        self._no_features = keys_of_no_features(dialect)
        self._control = dialect.control if options.layers is not None else ""
        # whether the features of a span are an object
        self._has_objects = dialect.features not in ("", "*") and "|" not in dialect.features
        self._sources: Mapping[str, str] = {}  # of layers, once they are asked for
        # of the current row
        self._text: str | None = None
        self._tokens: list[str] | None = None
        self._id = ""
        self._within: tuple[int, int] | None = None  # the range in which all spans so far lie
        self._keys_of_row = lru_cache(_MOST_SHAPES)(self._new_row_keys)
        self._keys_of_span = lru_cache(_MOST_SHAPES)(self._new_span_keys)
        self._tag_names: dict[str, Mapping[int, str]] = {}
        self._seen_tags = SeenTags(file)
        self.schemes: Mapping[str, str | None] = {}  # of all tags, by layer, if they are read before
        self.seen_sets: dict[str, None] = {}
        self.is_set_seen = False  # whether a row has the annotation set that is read
        self.rest: Iterator[Document] = iter(())  # the documents of a row with several that are not read yet

    @property
    def needs_schemes(self) -> bool:
        """Whether the tags of all rows tell the schemes without which none is read."""
        return bool(self.dialect.tags) and self.options.needs_scheme

    def documents(self, row: Any) -> Iterable[Document]:
        """Return the documents of a row: one, unless it is passed over or has several."""
        if self.dialect.plain is None:
            return (self._document(row),)
        try:
            rows = list(self.dialect.plain(row, self))
        except CluevalError:
            raise
        # a ValueError is that of a numpy array, which has no truth value
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            difference = f"no key {error}" if isinstance(error, KeyError) else "another form"
            self.refuse(
                f"the row has {difference}, unlike those of {self.dialect.name}",
                f"expected: {self.dialect.holds}",
            )
        self.rest = map(self._document, rows)
        return self.rest

    def _document(self, value: Any) -> Document:
        dialect = self.dialect
        row = self.mapping(value)
        if self._paths:
            row = with_paths(row, self._paths)
        keys = self._keys_of_row(tuple(row))
        self._tokens = self._text = None
        if keys.content is not None and dialect.tokens:
            self._tokens = self.listed(row[keys.content], repr(keys.content))
            if not {*map(type, self._tokens)} <= {str} and not all(isinstance(t, str) for t in self._tokens):
                self.refuse("a token is not a text")
        elif keys.content is not None:
            self._text = row[keys.content]
            if not isinstance(self._text, str):
                self.refuse(f"{keys.content!r} is not a text")
        for key in keys.not_read:
            self.passed_over[key] += len(self.listed(row[key], repr(key)))
        for key in keys.beside:
            self._pass_over(key, row[key])
        self._id = self._id_in(row, keys.ids)
        tags: Mapping[str, list[str]] = NOTHING
        sentences: Sequence[Sentence] = ()
        if dialect.tags:
            if dialect.plain is not None:
                sentences = row.get("sentences", ())
            tags = Frozen({layer: self._tags(row, str(key), layer) for layer, key in keys.layers.items()})
            layers: Mapping[str, Sequence[Span]] = self._layers_of_tags(tags, sentences)
        else:
            layers = self._layers(row, keys.layers)
        metadata = scalars({key: row[key] for key in keys.rest}) if keys.rest else NOTHING
        for key in keys.metadata:
            if (item := row[key]) is not None:
                metadata = {**metadata, **scalars(item if isinstance(item, dict) else {key: item})}
        return Document(
            self._id,
            layers,
            tokens=self._tokens,
            text=self._text,
            unit="token" if dialect.tokens else "character",
            metadata=Frozen(metadata) if metadata else NOTHING,
            sentences=sentences,
            tags=tags,
            file=self.file,
            ordered=dialect.ordered,
        )

    def _new_row_keys(self, row: tuple[str, ...]) -> _RowKeys:
        """Return how rows with these keys are read."""
        dialect = self.dialect
        content = None
        if dialect.tokens:
            content = self._required(row, "tokens", dialect.tokens)
        elif not dialect.without_text or first_key(row, dialect.text) is not None:
            content = self._required(row, "text", dialect.text)
        ids, metadata, not_read = (
            tuple(key for key in keys_of(keys) if key in row)
            for keys in (dialect.id, dialect.metadata, dialect.passed_over)
        )
        layers = self._keys_of_tags(row) if dialect.tags else self._keys_of_spans(row)
        hidden = self._not_metadata.union(layers.values() if dialect.tags else ())
        rest = tuple(key for key in row if key not in hidden) if dialect.rest else ()
        beside: tuple[str, ...] = ()
        if self.options.layers is None and "spans" not in dialect.required:  # the user names none
            others = self._not_metadata.difference(keys_of(dialect.spans)).union(layers.values())
            beside = tuple(key for key in row if key not in others)
        return _RowKeys(content, layers, ids, metadata, rest, not_read, beside)

    def _pass_over(self, key: str, items: Any) -> None:
        """Count the tags of the tokens, or the spans, under a key that is not read, and warn of the first."""
        if not isinstance(items, list) or not items:
            return
        dialect, number, what = self.dialect, 0, "spans"
        if len(items) == len(self._tokens or ()) and self._are_tags(items):
            number, what = len(items), "tags"
        elif self._is_labelled_span(items[0]):
            number = sum(map(self._is_labelled_span, items))
        if not number:
            return
        if key not in self.passed_over and key not in keys_of(dialect.sources):
            content = "tokens" if dialect.tokens else "text"
            named = (
                f"layers={ {'entity': key} }" if dialect.tags == "*" else f"row='{content}=KEY,spans={key}'"
            )
            warn(f"{key!r} holds {what}, too, which are not read; {named} reads them")
        self.passed_over[key] += number

    def _are_tags(self, values: Sequence[Any]) -> bool:
        kinds = {*map(type, values)}
        return all(map(is_tag, {*values})) if kinds == {str} else kinds == {int} and bool(self.options.names)

    def _is_labelled_span(self, item: Any) -> bool:
        if isinstance(item, dict):
            has_label = any(key in item for key in ("label", "type", *keys_of(self.dialect.label)))
        else:
            has_label = isinstance(item, list | tuple) and len(item) == 3 and isinstance(item[2], str)
        return has_label and is_span(item)

    def _required(self, row: Collection[str], what: str, keys: str) -> str:
        """Return the first of some keys that a row has, of which it needs one."""
        key = first_key(row, keys)
        if key is None:
            self._refuse_without(row, what, keys)
        return key

    def _refuse_without(self, row: Collection[str], what: str, keys: str) -> NoReturn:
        advice = advice_on_keys(self.dialect, row, keys)
        if what == "spans":
            advice = advice or "no spans are written []"
        self.refuse(f"the row has no {what}: no key {either(keys)}", advice)

    def _id_in(self, row: Mapping[str, Any], keys: Iterable[str]) -> str:
        for key in keys:
            if (value := row[key]) is not None:
                return value if isinstance(value, str) else self.scalar(as_whole(value), "the id of the row")
        if "id" in self.dialect.required:
            self._refuse_without(row, "id", self.dialect.id)
        return MissingId(self.number)

    def sources(self) -> Mapping[str, str]:
        """Return the source of each layer. Raises `UsageError` for a source that the dialect does not have."""
        allowed, layers = keys_of(self.dialect.sources), self.options.layers
        if layers is None:
            return {DEFAULT_LAYER: allowed[0] if allowed else ""}
        for layer, source in layers.items():
            if isinstance(source, int) or (allowed and source not in allowed):
                raise UsageError(
                    f"layer {layer!r} has no source {source!r} in this format",
                    file=self.file,
                    advice=f"its sources: {', '.join(allowed)}" if allowed else "name a source by its key",
                )
        return {layer: str(source) for layer, source in layers.items()}

    # Tags

    def _keys_of_tags(self, row: Collection[str]) -> Mapping[str, str]:
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

    def _tags(self, row: Mapping[str, Any], key: str, layer: str) -> list[str]:
        if key not in row:
            self.refuse(f"the row has no key {key!r}")
        values, tokens = self.listed(row[key], repr(key)), len(self._tokens or ())
        if len(values) != tokens:
            self.refuse(f"{key!r} has {with_noun(len(values), 'values')} for {with_noun(tokens, 'tokens')}")
        if not {*map(type, values)} <= {str}:
            values = [self._tag(value, key) for value in values]
        if self.options.scheme is None:
            self._seen_tags.see(layer, values)
        return values

    def _tag(self, value: Any, key: str) -> str:
        if isinstance(value, str):
            return value
        if value is None or value == -100:  # which training ignores
            self.passed_over["ignored positions"] += 1
            return OUTSIDE
        if type(value) is not int:
            self.refuse(f"{key!r} has a value that is neither a tag nor a number")
        if self.options.names is None:
            self.refuse(
                f"the tags of {key!r} are numbers without names",
                "give names=[...], the tags in the order of their numbers, or names='FILE': a JSON list of tags, a "
                "config.json with id2label, or dataset_info.json",
            )
        if key not in self._tag_names:
            from clueval.formats.tag_lists import names_of_tags  # most tags are text

            self._tag_names[key] = names_of_tags(self.options.names, key)
        if value not in self._tag_names[key]:
            self.refuse(f"the number {value} of {key!r} has no name", "check names=...")
        return self._tag_names[key][value]

    def _layers_of_tags(self, tags: Mapping[str, list[str]], sentences: Sequence[Sentence]) -> Layers:
        invalid = self.options.invalid or "conlleval"
        within = 0, len(self._tokens or ())
        if self.options.scheme is None and self.options.repairs:  # `SeenTags` has refused what is no tag
            return Layers({}, _RowsOfTags(tags, sentences), self.number, within=within)
        try:
            rows = {
                layer: _decoded(values, sentences, self.options.scheme or self.schemes.get(layer), invalid)
                for layer, values in tags.items()
            }
        except TagError as error:
            error.file, error.line, error.document = self.file, self.number, self._id
            raise
        return Layers({}, rows, self.number, within=within)

    # Spans

    def _keys_of_spans(self, row: Collection[str]) -> Mapping[str, str | None]:
        dialect = self.dialect
        self._sources = self._sources or self.sources()
        are_keys = dialect.source_is == "key" and self.options.layers is not None
        keys_by_layer = {
            layer: source if are_keys else dialect.spans for layer, source in self._sources.items()
        }
        return {
            layer: first_key(row, keys) if dialect.optional else self._required(row, "spans", keys)
            for layer, keys in keys_by_layer.items()
        }

    def _layers(self, row: Mapping[str, Any], keys: Mapping[str, str | None]) -> Mapping[str, Sequence[Span]]:
        """Return the spans of each layer, which are made when they are asked for, unless they have gaps or groups."""
        ordered, content = self.dialect.ordered, self._tokens if self._text is None else self._text
        in_points = self.options.offsets in (None, "points")
        self._within = (0, len(content)) if in_points and content is not None else None
        rows: dict[str, list[Row]] = {}
        details: dict[str, list[Details]] = {}
        spans: dict[str, list[Span]] = {}
        for layer, key in keys.items():
            rows[layer] = []
            if key is None:
                continue
            items, groups = self._items(row[key], key, self._sources[layer])
            layer_rows, layer_details, ranges = self._spans(items, groups, layer, self._sources[layer])
            if ranges:
                layer_spans = [
                    (ranges.get(number) or (span[:2],), span[2], layer_details[number])
                    for number, span in enumerate(layer_rows)
                ]
                spans[layer] = spans_of(layer, layer_spans, ordered=ordered)
                continue
            rows[layer] = layer_rows if ordered else sorted(layer_rows, key=itemgetter(0, 1))
            if layer_details and rows[layer] != layer_rows:
                order = sorted(range(len(layer_rows)), key=lambda number: layer_rows[number][:2])
                layer_details = [layer_details[number] for number in order]
            if layer_details:
                details[layer] = layer_details
        layers = Layers({}, rows, self.number, details, self._within)
        return {layer: spans.get(layer) or layers[layer] for layer in keys} if spans else layers

    def _items(self, items: Any, key: str, source: str) -> tuple[list[Any], Mapping[int, Mapping[str, Any]]]:
        """Return the spans of a source and of the annotation set that is read, and the features of groups by number."""
        items = items if type(items) is list else self.listed(items, repr(key))
        if self._control:
            items = [item for item in items if type(item) is not dict or item.get(self._control) == source]
        if self.set is not None and (of_span := self.dialect.of_span):
            owners = [first_value(item, of_span) if type(item) is dict else None for item in items]
            pairs = zip(items, owners, strict=True)
            items = [item for item, owner in pairs if owner is None or str(owner) == self.set]
        if self._span_paths or any(
            type(item) is dict and (ALTERNATIVES in item or "entity" in item) for item in items
        ):
            return self._members(items)
        return items, {}

    def _spans(
        self, items: list[Any], groups: Mapping[int, Mapping[str, Any]], layer: str, source: str
    ) -> tuple[list[Row], list[Details], Mapping[int, Ranges]]:
        """Return the spans of a layer, what they have besides, and the ranges of those with gaps or in groups.

        The loop takes most of the time of reading, so it is one body.
        """
        dialect, in_points = self.dialect, self.options.offsets in (None, "points")
        text = self._text
        limit = sys.maxsize if self._within is None else self._within[1]
        nothing: Details = NOTHING, None, self.number
        more = bool(dialect.end_inclusive)
        rows: list[Row] = []
        details: list[Details] = []
        ranges: dict[int, Ranges] = {}
        references: dict[int, Any] = {}  # by the number of the span, where it is not the text at its position
        label_keys = source if dialect.source_is == "label" else dialect.label
        has_details, names = False, None
        for item in items:
            span_details, fragments, reference = nothing, None, None
            if type(item) is dict:
                if item.keys() != names:
                    names, keys = item.keys(), self._keys_of_span(label_keys, *item)
                    start_key, end_key, label_key, _, has_fragments, keys_have_details = keys
                start, end, label = item.get(start_key), item.get(end_key), item.get(label_key)
                reference = item.get(dialect.reference)
                if has_fragments and (fragments := self._fragments(item)) is not None:
                    start, end = fragments[0][0], fragments[-1][1] - more
                if keys_have_details or groups:
                    group = groups.get(len(rows), NOTHING)
                    has_details, span_details = True, self._details(item, keys, group)
            else:
                start_key, end_key, names = "start", "end", None
                start, end, label = item if type(item) is list and len(item) == 3 else self._listed_span(item)
            if type(start) is not int or type(end) is not int:
                start, end = self.whole(start, start_key), self.whole(end, end_key)
            if type(label) is not str or not label:
                label = self._label(label)
            end += more
            if not 0 <= start < end <= limit:
                self._within = None
                self._require_place(start, end, layer, label)
            if (
                reference is not None
                and text is not None
                and (fragments or not in_points or reference != text[start:end])
            ):
                references[len(rows)] = reference
            if fragments or (span_details is not nothing and GROUP in span_details[0]):
                has_details, ranges[len(rows)] = True, fragments or ((start, end),)
            rows.append((start, end, label))
            details.append(span_details)
        if references or not in_points:
            rows = self._in_points(rows, ranges, references)
        return rows, details if has_details else [], ranges

    def _members(self, items: Iterable[Any]) -> tuple[list[Any], Mapping[int, Mapping[str, Any]]]:
        """Return spans with the values of paths, after each its alternatives, and the features of groups by number."""
        members: list[Any] = []
        groups: dict[int, Mapping[str, Any]] = {}
        label_keys = (*LABELS, *keys_of(self.dialect.label))
        for number, item in enumerate(items):
            if type(item) is not dict:
                members.append(item)
                continue
            if is_token_of_pipeline(item):
                self.refuse(f"the row has {TOKENS_OF_PIPELINE[0]}", TOKENS_OF_PIPELINE[1])
            try:
                for member, group in members_of(item, str(number), label_keys):
                    groups |= {len(members): group} if group else {}
                    members.append(with_paths(member, self._span_paths))
            except ValueError as error:
                self.refuse(str(error), 'as in "alternatives": [{"start": 0, "end": 2}]')
        return members, groups

    def _listed_span(self, item: Any) -> Sequence[Any]:
        """Return the start, the end and the label of a list of these; the label may be missing."""
        if isinstance(item, str):
            self.refuse(
                "the labels have no positions", "this is a classification of texts, which has no spans"
            )
        if not isinstance(item, list | tuple):
            self.refuse("a span is neither a list nor an object")
        if len(item) not in (2, 3):
            self.refuse("a span is not [start, end, label]")
        return item if len(item) == 3 else (*item, None)

    def _require_place(self, start: int, end: int, layer: str, label: str) -> None:
        """Raise `SpanError` for positions outside the tokens, and for such that no text has."""
        if self._tokens is not None:
            length = len(self._tokens)
            problem = f"a span from token {start} to {end - 1} is not within the {length} tokens, from 0"
            raise SpanError(problem, line=self.number, document=self._id, advice=self.dialect.advice)
        Span(start, end, {layer: label}, line=self.number)

    def _details(self, item: Mapping[str, Any], keys: _SpanKeys, group: Mapping[str, Any]) -> Details:
        """Return the features of a span and of its group, its id and its line."""
        features: Mapping[str, Any] = NOTHING
        if keys.features:
            features = {key: item[key] for key in keys.features if isinstance(item[key], SCALAR)}
            if type(of_object := item.get("features")) is dict:  # as `Document.to_dict` writes them
                features = {
                    key: value for key, value in of_object.items() if isinstance(value, SCALAR)
                } | features
        elif self._has_objects:
            features = item.get(self.dialect.features) or NOTHING
            if not isinstance(features, Mapping):
                raise SpanError(f"features must be a dictionary, not {described(features)}")
        identifier = item.get(self.dialect.span_id)
        if not isinstance(identifier, int | str) or identifier == "":
            identifier = None
        return {**features, **group} if group else features, identifier, self.number

    def _new_span_keys(self, label_keys: str, *item: str) -> _SpanKeys:
        """Return how objects with these keys are read."""
        dialect = self.dialect
        key_groups = (dialect.start, dialect.ends, label_keys)
        start, end, label = (first_key(item, keys) or keys_of(keys)[0] for keys in key_groups)
        required = {"start": start, "end": end} if dialect.required and "fragments" not in item else {}
        if "label" in dialect.required:
            required = {"label": label, **required}
        for what, key in required.items():
            if key not in item:
                missing = label_keys if what == "label" else key
                advice = advice_on_keys(dialect, item, missing)
                self.refuse(f"a span has no {what}: no key {either(missing)}", advice)
        features: tuple[str, ...] = ()
        if dialect.features == "*":
            features = tuple(key for key in item if key not in self._no_features and key != label)
        elif "|" in dialect.features:
            features = tuple(key for key in keys_of(dialect.features) if key in item)
        has_details = bool(features) or not {dialect.span_id, dialect.features}.isdisjoint(item)
        return _SpanKeys(start, end, label, features, "fragments" in item, has_details)

    def _fragments(self, item: Mapping[str, Any]) -> Ranges | None:
        try:
            fragments = fragments_of(item)
        except ValueError as error:
            self.refuse(str(error), 'as in "fragments": [[0, 3], [7, 9]]')
        return None if fragments is None else Span.of_fragments(fragments, line=self.number).fragments

    def _label(self, label: Any) -> str:
        if isinstance(label, str):
            return label or NO_LABEL
        is_missing = label is None or label != label  # NaN, of a table
        return NO_LABEL if is_missing else self.scalar(label, "a label") or NO_LABEL

    def _in_points(
        self, rows: list[Row], ranges: dict[int, Ranges], references: Mapping[int, Any]
    ) -> list[Row]:
        """Return spans in code points, after comparing their texts with the text at their positions."""
        unit, text = self.options.offsets, self._text
        if text is None:
            if rows and not self.dialect.tokens:
                self.refuse(f"positions in {unit} need the text, which the row does not have")
            return rows
        from clueval.formats.reference import (
            FileMention,
            fits,
            in_points,
        )  # most texts are where they must be

        mentions = []
        for number, (start, end, _) in enumerate(rows):
            reference = references.get(number)
            if not isinstance(reference, str | int | float | None) or type(reference) is bool:
                self.refuse("the text of a span is not a text")
            span_ranges = tuple(ranges.get(number) or ((start, end),))
            mentions.append(FileMention(span_ranges, reference, self.number, f"span [{start},{end})"))
        if unit is None and self.dialect.utf16 and not text.isascii():
            is_wide = not fits(text, mentions, "points") and fits(text, mentions, "utf16")
            unit = "utf16" if is_wide else None
        places = in_points(text, mentions, unit, file=self.file, document=self._id)
        if unit in (None, "points"):
            return rows
        ranges |= {number: places[number] for number in ranges}
        return [(place[0][0], place[-1][1], label) for place, (_, _, label) in zip(places, rows, strict=True)]


# Files and rows in memory, of the annotation set that is read, or with a layer for every set


def documents_of_file(form: Dialect, file: InputFile, options: FormatOptions) -> Iterator[Document]:
    """Yield the documents of a file."""
    yield from _documents(*_rows_of_file(form, file, options))


def _rows_of_file(
    form: Dialect, file: InputFile, options: FormatOptions
) -> tuple[Iterator[Numbered], RowReader]:
    """Return the rows of a file and their reader, which knows the schemes of all tags if it needs them."""
    reader = RowReader(form, options, file.name, file.passed_over)
    if reader.needs_schemes:
        again, lenient = replace(file, passed_over=Counter(), progress=None), replace(options, invalid=None)
        items = documents_and_errors(form, again, lenient)  # the errors are raised where the spans are read
        reader.schemes = schemes_of((item for item in items if isinstance(item, Document)), file.name)
    return file.rows(empty_is_row=is_row(form, [])), reader


def documents_and_errors(
    form: Dialect, file: InputFile, options: FormatOptions
) -> Iterator[Document | CluevalError]:
    """Yield the documents of a file, and in place of one that cannot be read, its error."""
    rows, reader = _rows_of_file(form, file, options)
    before = -1
    while before < reader.number:  # otherwise there was no further row
        before = reader.number
        try:
            yield from _documents(rows, reader)
            return
        except (FormatError, SpanError) as error:
            yield error
        yield from _rest_of_row(reader)


def _rest_of_row(reader: RowReader) -> Iterator[Document | CluevalError]:
    """Yield the documents of a row that are left after one that cannot be read, and the errors of others."""
    while True:
        try:
            yield from reader.rest
            return
        except (FormatError, SpanError) as error:
            error.file, error.line = error.file or reader.file, error.line or reader.number
            yield error


def documents_of_rows(
    form: Dialect, rows: Iterable[Numbered], options: FormatOptions, passed_over: Counter[str]
) -> Iterator[Document]:
    """Yield the documents of numbered rows in memory; holds all rows if their tags tell how these are read."""
    reader = RowReader(form, options, None, passed_over)
    if reader.needs_schemes:
        rows, lenient = list(rows), replace(options, invalid=None)
        reader.schemes = schemes_of(documents_of_rows(form, rows, lenient, Counter()), None)
    yield from _documents(iter(rows), reader)


def sets_of_file(form: Dialect, file: InputFile) -> list[str]:
    """Return the names of the annotation sets of a file, in the order of their first occurrence."""
    return list(dict.fromkeys(names[0] for _, row in file.rows() for names in _sets_of(form, row)))


def _documents(rows: Iterator[Numbered], reader: RowReader) -> Iterator[Document]:
    """Yield the documents of numbered rows.

    Raises `FormatError` and `SpanError` with the number of the row, and `UsageError` for several annotation sets of
    which none is named.
    """
    if reader.dialect.values is not None:
        rows = reader.dialect.values(rows, reader)
    if reader.options.annotation_set == EVERY_SET and reader.dialect.has_sets:
        documents = _with_every_set(rows, reader)
    else:
        documents = _documents_of_set(rows, reader)
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
    if (annotator := first_value(row, dialect.annotator)) is not None:
        return [(str(annotator),)]
    items = row.get(first_key(row, dialect.spans)) if dialect.of_span else None
    if not isinstance(items, list):
        return []
    owners = [first_value(item, dialect.of_span) for item in items if isinstance(item, dict)]
    return [(str(owner),) for owner in owners if owner is not None]


def _documents_of_set(numbered: Iterator[Numbered], reader: RowReader) -> Iterator[Document]:
    """Yield the documents of the set that is read. Raises `UsageError` for several of which none is named."""
    dialect, annotation_set = reader.dialect, reader.options.annotation_set
    sets = reader.seen_sets
    no_such_set = f"there is no annotation set {annotation_set!r}"
    if annotation_set not in (None, EVERY_SET) and not dialect.has_sets:
        raise sets_error(no_such_set, reader.file, sets)
    for reader.number, row in numbered:
        if dialect.has_sets:
            names = _sets_of(dialect, row)
            for set_names in names:
                sets.setdefault(set_names[0])
            if annotation_set is None and len(sets) > 1:
                for _, later in numbered:
                    sets |= dict.fromkeys(set_names[0] for set_names in _sets_of(dialect, later))
                raise sets_error("the file has several annotation sets, but none is named", reader.file, sets)
            if annotation_set is not None and not any(annotation_set in set_names for set_names in names):
                continue
            reader.set = names[0][0] if annotation_set is None and names else annotation_set
        reader.is_set_seen = True
        yield from reader.documents(row)
    if annotation_set is not None and dialect.has_sets and not reader.is_set_seen and reader.number:
        raise sets_error(no_such_set, reader.file, sets)
    for layer, source in (reader.options.layers or {}).items():
        if reader.offered and source not in reader.offered:
            problem = f"no row has {source!r}, the source of layer {layer!r}"
            raise UsageError(problem, file=reader.file, advice=f"the rows have {', '.join(reader.offered)}")


def _with_every_set(numbered: Iterator[Numbered], reader: RowReader) -> Iterator[Document]:
    """Yield the documents by first occurrence, each with a layer for every annotation set that has it; holds all."""
    if len(reader.options.layers or {}) > 1:
        problem = "several layers are named, and each annotation set is a layer"
        raise UsageError(problem, advice="name one layer")
    documents: dict[str, Document] = {}
    layers: dict[str, dict[str, Sequence[Span]]] = {}
    for reader.number, row in numbered:
        sets = dict.fromkeys(names[0] for names in _sets_of(reader.dialect, row))
        for name in sets or {DEFAULT_LAYER: None}:
            reader.set = name
            for document in reader.documents(row):
                before = documents.setdefault(document.id, document)
                document_layers = layers.setdefault(document.id, {})
                if before.text != document.text or name in document_layers:
                    difference = (
                        "another text" if before.text != document.text else f"the annotation set {name!r}"
                    )
                    reader.refuse(f"the document has {difference} in a row before", document=document.id)
                (document_layers[name],) = document.layers.values()
    for identifier, document in documents.items():
        yield replace(document, layers=layers[identifier])
