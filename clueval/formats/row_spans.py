"""The spans of a row of JSON: objects or lists, with the keys of its dialect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from clueval.core.document import Row
from clueval.core.span import NO_LABEL, NOTHING, Frozen, Span
from clueval.core.span_forms import (
    TOKENS_OF_PIPELINE,
    fragments_of,
    is_token_of_pipeline,
    members_of,
)
from clueval.files.errors import SpanError
from clueval.formats.dialect import (
    SCALAR,
    Dialect,
    RowInput,
    advice_on_keys,
    either,
    first_key,
    first_value,
    keys_of,
    keys_of_no_features,
    paths,
    with_paths,
)


class RowSpan(NamedTuple):
    """A span of a row; `reference` is its text as the row has it."""

    start: int
    end: int
    label: str
    features: Mapping[str, Any] = NOTHING
    id: int | str | None = None
    reference: Any = None
    fragments: Sequence[tuple[int, int]] | None = None


class _SpanKeys(NamedTuple):
    """The keys of objects of spans that have the same keys."""

    start: str
    end: str
    label: str
    features: tuple[str, ...]
    has_fragments: bool
    is_simple: bool


class SpanReader:
    """Reads the spans of the rows of one input."""

    def __init__(self, dialect: Dialect, rows: RowInput) -> None:
        self._dialect, self._input = dialect, rows
        self._known: dict[Any, _SpanKeys] = {}
        self._span_paths = paths(dialect.start, dialect.ends, dialect.label)
        self._no_features = keys_of_no_features(dialect)

    def spans(
        self,
        row: Mapping[str, Any],
        source: str,
        layer: str,
        text: str | None,
        tokens: list[str] | None,
        identifier: str,
    ) -> list[RowSpan] | list[Row]:
        dialect = self._dialect
        label_keys = source if dialect.source_is == "label" else dialect.label
        control = dialect.control if self._input.options.layers is not None else ""
        length = None if text is not None or tokens is None else len(tokens)
        items = self._items(row, source)
        if (rows := self._rows(items, label_keys, text, length)) is not None:
            return rows
        spans: list[RowSpan] = []
        referred = False
        for number, item in enumerate(items):
            if type(item) is dict:
                if (self._input.set is not None and dialect.of_span and self._is_of_other(item)) or (
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
        if referred or self._input.options.offsets not in (None, "points"):
            return self._in_points(text, spans, identifier)
        return spans

    def _rows(
        self, items: list[Any], label_keys: str, text: str | None, length: int | None
    ) -> list[Row] | None:
        """Return spans that need no more than their places and labels, as most do; None for others.

        It does for these what `_spans` does for all, in less than half of its time.
        """
        dialect = self._dialect
        if not items or self._span_paths or dialect.control or self._input.options.offsets:
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
        dialect = self._dialect
        named = dialect.source_is == "key" and self._input.options.layers is not None
        keys = source if named else dialect.spans
        key = first_key(row, keys)
        if key is None:
            if dialect.optional:
                return []
            advice = advice_on_keys(dialect, row, keys) or "no spans are written []"
            self._input.refuse(f"the row has no spans: no key {either(keys)}", advice)
        return self._input.listed(row[key], repr(key))

    def _members(self, item: dict[str, Any], number: int) -> list[tuple[dict[str, Any], Mapping[str, Any]]]:
        """Return the object of a span and those of its alternatives, each with the features of its group."""
        if is_token_of_pipeline(item):
            self._input.refuse(f"the row has {TOKENS_OF_PIPELINE[0]}", TOKENS_OF_PIPELINE[1])
        try:
            members = list(members_of(item, str(number)))
        except ValueError as error:
            self._input.refuse(str(error), 'as in "alternatives": [{"start": 0, "end": 2}]')
        return [
            (with_paths(member, self._span_paths) if self._span_paths else dict(member), group)
            for member, group in members
        ]

    def _of_list(self, item: Any) -> RowSpan:
        """Return the span of a list of start, end and label, which may be missing."""
        if isinstance(item, str):
            self._input.refuse(
                "the labels have no positions", "this is a classification of texts, which has no spans"
            )
        if not isinstance(item, list | tuple):
            self._input.refuse("a span is neither a list nor an object")
        if len(item) not in (2, 3):
            self._input.refuse("a span is not [start, end, label]")
        start, end = self._input.whole(item[0], "start"), self._input.whole(item[1], "end")
        return RowSpan(
            start, end + bool(self._dialect.end_inclusive), self._label(item[2] if len(item) == 3 else None)
        )

    def _of_object(
        self, item: dict[str, Any], label_keys: str, group: Mapping[str, Any], text: str | None
    ) -> RowSpan:
        """Return the span of an object."""
        shape = (label_keys, *item)
        keys = self._known.get(shape)
        if keys is None:
            keys = self._known[shape] = self._keys_of(item, label_keys)
        start, end = item.get(keys.start), item.get(keys.end)
        fragments = None
        if keys.has_fragments:
            fragments = self._fragments(item)
        if fragments:
            start, end = fragments[0][0], fragments[-1][1]
        if type(start) is not int or type(end) is not int:
            start, end = self._input.whole(start, keys.start), self._input.whole(end, keys.end)
        if self._dialect.end_inclusive and not fragments:
            end += 1
        label = item.get(keys.label)
        if type(label) is not str or not label:
            label = self._label(label)
        if keys.is_simple and not group:
            return RowSpan(start, end, label)
        features: Mapping[str, Any] = NOTHING
        if keys.features:
            features = {key: item[key] for key in keys.features if _is_feature(key, item[key])}
        elif self._dialect.features not in ("", "*"):
            features = item.get(self._dialect.features) or NOTHING
        if group:
            features = {**features, **group}
        reference = item.get(self._dialect.reference)
        if reference is not None and text is not None and self._input.options.offsets is None:
            is_there = fragments is None and 0 <= start < end and reference == text[start:end]
            reference = None if is_there else reference  # it nearly always is there
        identifier = item.get(self._dialect.span_id)
        if not isinstance(identifier, int | str) or identifier == "":
            identifier = None
        return RowSpan(start, end, label, features, identifier, reference, fragments)

    def _keys_of(self, item: Mapping[str, Any], label_keys: str) -> _SpanKeys:
        """Return how objects with these keys are read."""
        dialect = self._dialect
        start, end, label = (
            first_key(item, keys) or keys_of(keys)[0] for keys in (dialect.start, dialect.ends, label_keys)
        )
        if "label" in dialect.required and label not in item:
            advice = advice_on_keys(dialect, item, label_keys)
            self._input.refuse(f"a span has no label: no key {either(label_keys)}", advice)
        for key, keys in (("start", start), ("end", end)):
            if dialect.required and keys not in item and "fragments" not in item:
                advice = advice_on_keys(dialect, item, keys)
                self._input.refuse(f"a span has no {key}: no key {either(keys)}", advice)
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
            self._input.refuse(str(error), 'as in "fragments": [[0, 3], [7, 9]]')
        return None if fragments is None else Span.of_fragments(fragments, line=self._input.number).fragments

    def _label(self, label: Any) -> str:
        if isinstance(label, str):
            return label or NO_LABEL
        return NO_LABEL if label is None else self._input.scalar(label, "a label") or NO_LABEL

    def _require_place(self, span: RowSpan, layer: str, length: int | None, identifier: str) -> None:
        """Raise `SpanError` for reversed positions, and for positions that are not those of tokens."""
        start, end = span.start, span.end
        if length is not None and not 0 <= start < end <= length:
            raise SpanError(
                f"a span from token {start} to {end - 1} is not within the {length} tokens, from 0",
                line=self._input.number,
                document=identifier,
                advice=self._dialect.advice,
            )
        if not 0 <= start <= end:
            Span(start, end, {layer: span.label}, line=self._input.number)

    def _is_of_other(self, item: Mapping[str, Any]) -> bool:
        owner = first_value(item, self._dialect.of_span)
        return owner is not None and str(owner) != self._input.set

    def _in_points(self, text: str | None, spans: list[RowSpan], identifier: str) -> list[RowSpan]:
        """Return spans in code points, after comparing their texts with the text at their positions."""
        unit = self._input.options.offsets
        if text is None:
            if unit not in (None, "points") and not self._dialect.tokens:
                self._input.refuse(f"positions in {unit} need the text, which the row does not have")
            return spans
        from clueval.formats.reference import (
            FileMention,
            fits,
            in_points,
        )  # most texts are where they must be

        references = [span.reference for span in spans]
        if not all(
            isinstance(each, str | int | float | None) and type(each) is not bool for each in references
        ):
            self._input.refuse("the text of a span is not a text")
        mentions = [
            FileMention(
                tuple(span.fragments or ((span.start, span.end),)),
                span.reference,
                self._input.number,
                f"span [{span.start},{span.end})",
            )
            for span in spans
        ]
        if unit is None and self._dialect.utf16 and not text.isascii():
            unit = None if fits(text, mentions, "points") or not fits(text, mentions, "utf16") else "utf16"
        places = in_points(text, mentions, unit, file=self._input.file, document=identifier)
        if unit in (None, "points"):
            return spans
        return [
            span._replace(start=place[0][0], end=place[-1][1], fragments=span.fragments and place)
            for span, place in zip(spans, places, strict=True)
        ]


def _is_feature(key: str, value: Any) -> bool:
    """Return whether a value is a feature of a span; a score must be a number."""
    return isinstance(value, SCALAR) and not (key == "score" and isinstance(value, str))


def spans_of_rows(layer: str, rows: Iterable[RowSpan | Row], line: int) -> list[Span]:
    """Return the spans of a layer; `line` is the number of their row."""
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
