"""Rows of JSON formats: one value for each document, from a file or from the caller.

A row comes from a file (a value a line, the elements of one array, or a single object) or from any iterable of
dictionaries. Errors have the number of the row as their line. A format is a function from a row to documents
and, if rows belong to annotators or models, a function from a row to the names of its annotation sets.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple, NoReturn

from clueval.core.span import DEFAULT_LAYER, NO_LABEL, Frozen, Span
from clueval.files.errors import CluevalError, FormatError, SpanError, UsageError
from clueval.files.literals import literal_in
from clueval.formats.flat_rows import ReadRow, TaggedRow
from clueval.formats.format import EVERY_SET, SELECT_SETS, Format, Lines, Options
from clueval.formats.opened import Opened
from clueval.formats.reference import FileMention, in_points
from clueval.spans.document import Document, MissingId
from clueval.spans.features import (
    TOKENS_OF_PIPELINE,
    fragments_of,
    in_order,
    is_token_of_pipeline,
    members_of,
)

Row = Mapping[str, Any]


@dataclass(slots=True)
class RowReader:
    """What is known while the rows of one input are read.

    `number` is that of the current row, `set` the selected annotation set, and `known` what a format has made once
    for all rows. `offered` has the sources of layers so far, if every row may have other ones.
    """

    options: Options
    file: str | None = None
    passed_over: Counter[str] = field(default_factory=Counter)
    number: int = 0
    set: str | None = None
    known: dict[str, Any] = field(default_factory=dict)
    offered: dict[str, None] = field(default_factory=dict)
    _labels: dict[tuple[str, str], Frozen] = field(default_factory=dict)

    def refuse(self, problem: str, advice: str | None = None, document: str | None = None) -> NoReturn:
        """Raise `FormatError` with the number of the row."""
        raise FormatError(problem, file=self.file, line=self.number, document=document, advice=advice)

    def mapping(self, value: object, what: str = "the row") -> dict[str, Any]:
        """Return a value that must be an object."""
        if not isinstance(value, dict):
            self.refuse(f"{what} is not an object", "each value of this format is an object with keys")
        return value

    def listed(self, value: object, what: str) -> list[Any]:
        """Return a value that must be a list, or a text that holds one (`clueval.files.literals`).

        An array of another library becomes a list, None an empty one.
        """
        if value is None:
            return []
        if isinstance(value, str):
            value = self.held(value, what)
        if hasattr(value, "tolist"):
            value = value.tolist()
        if isinstance(value, tuple):
            value = list(value)
        if not isinstance(value, list):
            self.refuse(f"{what} is not a list")
        return value

    def items(self, row: Row, key: str, what: str = "spans") -> list[Any]:
        """Return the list under a key that the row must have."""
        if key not in row:
            self.refuse(f"the row has no key {key!r}", f"no {what} are written []")
        return self.listed(row[key], f"{key!r}")

    def tokens(self, row: Row, key: str) -> list[str]:
        """Return the tokens under a key."""
        found = self.listed(row.get(key), f"{key!r}")
        if not all(isinstance(token, str) for token in found):
            self.refuse("a token is not a text")
        return found

    def held(self, value: str, what: str) -> Any:
        """Return the value that a text holds. Raises `FormatError` for anything but a literal."""
        try:
            return literal_in(value)
        except ValueError as error:
            self.refuse(f"{what} is a text that cannot be read as a list: {error}", "write a list in JSON")

    def text(self, row: Row, *keys: str) -> str:
        """Return the text under the first of the keys that the row has."""
        for key in keys:
            if key in row:
                value = row[key]
                if not isinstance(value, str):
                    self.refuse(f"{key!r} is not a text")
                return value
        return self.refuse(f"the row has no text: no key {' or '.join(map(repr, keys))}")

    def id(self, row: Row, *keys: str) -> str:
        """Return the id under the first of the keys that the row has; without one, the number of the row."""
        for key in keys:
            if (value := row.get(key)) is not None:
                return value if isinstance(value, str) else self._scalar(value, "the id of the row")
        return MissingId(self.number)

    def _scalar(self, value: object, what: str) -> str:
        """Return a number or a truth value as a text. Raises `FormatError` for lists and objects."""
        if isinstance(value, list | tuple | dict):
            self.refuse(f"{what} is a list or an object, not a text")
        return str(value)

    def labels(self, layer: str, label: object) -> Frozen:
        """Return the labels of a span; without a label, it is `NO_LABEL`."""
        name = label if isinstance(label, str) else "" if label is None else self._scalar(label, "a label")
        name = name or NO_LABEL
        known = self._labels.get((layer, name))
        if known is None:
            known = self._labels[layer, name] = Frozen({layer: name})
        return known

    def sources(self, default: str, known: Iterable[str] | None = None) -> dict[str, str]:
        """Return the source of each layer. Raises `UsageError` for a column, and for one that is not `known`."""
        if self.options.layers is None:
            return {DEFAULT_LAYER: default}
        for layer, source in self.options.layers.items():
            if isinstance(source, int) or (known is not None and source not in known):
                raise UsageError(
                    f"layer {layer!r} has no source {source!r} in this format",
                    file=self.file,
                    advice=f"its sources: {', '.join(known)}"
                    if known is not None
                    else "name a source by its key",
                )
        return {layer: str(source) for layer, source in self.options.layers.items()}

    def require_offered(self) -> None:
        """Raise `UsageError` for a source of a layer that no row has, if rows have others."""
        for layer, source in (self.options.layers or {}).items():
            if self.offered and source not in self.offered:
                raise UsageError(
                    f"no row has {source!r}, the source of layer {layer!r}",
                    file=self.file,
                    advice=f"the rows have {', '.join(self.offered)}",
                )

    def members(self, items: Sequence[Any]) -> Iterator[tuple[Any, dict[str, Any]]]:
        """Yield all items and, after an object, its ``alternatives``; each with the features of its group."""
        for number, item in enumerate(items):
            try:
                yield from members_of(item, str(number)) if isinstance(item, dict) else [(item, {})]
            except ValueError as error:
                self.refuse(str(error), 'as in "alternatives": [{"start": 0, "end": 2}]')

    def span(self, item: object, keys: tuple[str, str], layer: str, label: object, **more: Any) -> Span:
        """Return the span of an object with its positions under `keys`, or with ``fragments``; in code points."""
        if isinstance(item, dict) and is_token_of_pipeline(item):
            self.refuse(f"the row has {TOKENS_OF_PIPELINE[0]}", TOKENS_OF_PIPELINE[1])
        try:
            fragments = fragments_of(item) if isinstance(item, dict) else None
        except ValueError as error:
            self.refuse(str(error), 'as in "fragments": [[0, 3], [7, 9]]')
        try:
            if fragments is not None:
                return Span.of_fragments(fragments, self.labels(layer, label), line=self.number, **more)
            start, end = self.positions(item, keys)
            return Span(start, end, self.labels(layer, label), line=self.number, **more)
        except SpanError as error:
            error.file = self.file
            raise

    def positions(self, item: object, keys: tuple[str, str]) -> tuple[int, int]:
        """Return the start and the end of an object. Raises `FormatError` for other values than whole numbers."""
        if not isinstance(item, dict):
            self.refuse("a span is not an object")
        start, end = item.get(keys[0]), item.get(keys[1])
        if type(start) is int and type(end) is int:
            return start, end
        return self.whole(start, keys[0]), self.whole(end, keys[1])

    def whole(self, value: object, name: str) -> int:
        """Return a position, which may be written 3.0. Raises `FormatError` for other values."""
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        if isinstance(value, float) and value.is_integer():
            return int(value)
        shown = "missing" if value is None else f"{repr(value)[:40]}, not a whole number"
        return self.refuse(f"the {name} of a span is {shown}")

    def checked(
        self,
        text: str,
        spans: list[Span],
        references: list[Any],
        document: str,
        unit: str | None = None,
    ) -> list[Span]:
        """Return the spans in code points, after comparing their texts with the text at their positions.

        The text of a span may be a number, as if the text had been read as one.
        `unit` is that of the positions; None: the one that the options name.
        """
        unit = unit or self.options.offsets
        if unit in (None, "points") and all(reference is None for reference in references):
            return spans
        if not all(
            isinstance(each, str | int | float | None) and type(each) is not bool for each in references
        ):
            self.refuse("the text of a span is not a text")
        mentions = [
            FileMention(span.fragments, reference, span.line, f"span [{span.start},{span.end})")
            for span, reference in zip(spans, references, strict=True)
        ]
        found = in_points(text, mentions, unit, file=self.file, document=document)
        if unit in (None, "points"):
            return spans
        return [
            Span.of_fragments(ranges, span.labels, span.features, id=span.id, line=span.line)
            for span, ranges in zip(spans, found, strict=True)
        ]

    def document(
        self,
        identifier: str,
        text: str | None,
        layers: Mapping[str, list[Span]],
        metadata: Mapping[str, str] | None = None,
    ) -> Document:
        """Return a document with positions in characters."""
        return Document(
            identifier,
            Frozen({layer: in_order(spans) for layer, spans in layers.items()}),
            text=text,
            unit="character",
            metadata=Frozen(metadata or {}),
            file=self.file,
        )


def scalars(values: object, without: Iterable[str] = ()) -> dict[str, str]:
    """Return the values of an object that are texts, numbers or truth values, as texts.

    >>> scalars({"a": 1, "b": "x", "c": [2], "d": None, "e": True}, without=["b"])
    {'a': '1', 'e': 'true'}
    """
    if not isinstance(values, dict):
        return {}
    left_out = set(without)
    return {
        str(key): value if isinstance(value, str) else json.dumps(value)
        for key, value in values.items()
        if isinstance(value, str | int | float) and key not in left_out
    }


def json_lines(row_of: Callable[[Document, Sequence[str]], Row], *, array: bool = False) -> Lines:
    """Return the function that yields a line of JSON for each document; an empty array if there is none.

    With `array`, the lines together are one array.
    """

    def lines(documents: Iterator[Document], *_: object) -> Iterator[str]:
        before = "["
        for document in documents:
            row = json.dumps(row_of(document, list(document.layers)), ensure_ascii=False)
            yield f"{before}{row}" if array else row
            before = ","
        if array or before == "[":
            yield "[]" if before == "[" else "]"

    return lines


class RowForm(NamedTuple):
    """How the rows of a format are read: what a row holds, and the names of its annotation sets.

    `other_names` returns all names by which the sets of a row may be selected, if there are others than those.
    `tagged` returns a row as tokens with tags, or None. `values` returns the rows of a file. With `independent`, rows
    can be read without those before them.
    """

    read: Callable[[Any, RowReader], Iterable[Document | ReadRow]]
    sets: Callable[[Any], Iterable[str]] | None = None
    other_names: Callable[[Any], Iterable[str]] | None = None
    values: Callable[[Opened], Iterator[tuple[int, Any]]] = Opened.values
    tagged: Callable[[Any, RowReader], TaggedRow | None] | None = None
    independent: bool = True


def documents_of(values: Iterable[tuple[int, Any]], form: RowForm, rows: RowReader) -> Iterator[Document]:
    """Yield the documents of numbered rows. Raises `UsageError` for several annotation sets of which none is named."""
    if rows.options.annotation_set == EVERY_SET and form.sets is not None:
        return _with_every_set(iter(values), form, form.sets, rows)
    return (_document(row, rows, rows.number) for row in _chosen_rows(values, form, rows))


def rows_of(values: Iterable[tuple[int, Any]], form: RowForm, rows: RowReader) -> Iterator[ReadRow]:
    """Yield what numbered rows hold. Raises as `documents_of`."""
    for row in _chosen_rows(values, form, rows):
        document = partial(_document, row, rows, rows.number)
        if isinstance(row, Document):
            yield ReadRow(row.id, document)
        else:
            yield ReadRow(row.id, document, row.flat, row.metadata)


def _chosen_rows(
    values: Iterable[tuple[int, Any]], form: RowForm, rows: RowReader
) -> Iterator[Document | ReadRow]:
    """Yield what numbered rows hold, of the annotation set that is read."""
    seen: dict[str, None] = {}
    found, numbered = False, iter(values)
    for rows.number, row in numbered:
        if form.sets is not None and not _is_chosen(row, form, form.sets, rows, seen, numbered):
            continue
        found = True
        yield from _read(row, form, rows)
    if form.sets is not None and rows.options.annotation_set is not None and not found and rows.number:
        raise _sets_error(f"there is no annotation set {rows.options.annotation_set!r}", rows, seen)
    rows.require_offered()


def _is_chosen(
    row: Any,
    form: RowForm,
    sets: Callable[[Any], Iterable[str]],
    rows: RowReader,
    seen: dict[str, None],
    further: Iterable[tuple[int, Any]],
) -> bool:
    """Return whether a row belongs to the annotation set that is read, which becomes that of the reader.

    Raises `UsageError` if there are several sets, none of which is named, after reading all `further` rows. `seen` gets
    the names of the sets.
    """
    own, wanted = list(sets(row)), rows.options.annotation_set
    seen.update(dict.fromkeys(own))
    if seen and wanted is None and rows.options.part is not None:
        raise UsageError("a part of a file may have other annotation sets than the rest", file=rows.file)
    if wanted is None and len(seen) > 1:
        for _, later in further:
            seen |= dict.fromkeys(sets(later))
        raise _sets_error("the file has several annotation sets, but none is named", rows, seen)
    if wanted is not None and wanted not in (form.other_names or sets)(row):
        return False
    rows.set = wanted if wanted is not None else next(iter(own), None)
    return True


def _read(row: Any, form: RowForm, rows: RowReader) -> Iterator[Document | ReadRow]:
    try:
        yield from form.read(row, rows)
    except CluevalError as error:
        raise _placed(error, rows, rows.number) from None


def _document(row: Document | ReadRow, rows: RowReader, number: int) -> Document:
    if isinstance(row, Document):
        return row
    rows.number = number
    try:
        return row.document()
    except CluevalError as error:
        raise _placed(error, rows, number) from None


def _placed(error: CluevalError, rows: RowReader, number: int) -> CluevalError:
    """Return the error with its file and, for an error of its row, the number of the row."""
    error.file = error.file or rows.file
    if error.line is None and isinstance(error, SpanError | FormatError):
        error.line = number
    return error


def _with_every_set(
    values: Iterable[tuple[int, Any]], form: RowForm, sets: Callable[[Any], Iterable[str]], rows: RowReader
) -> Iterator[Document]:
    """Yield the documents by first occurrence, each with a layer for every annotation set that has it; holds all."""
    found: dict[str, Document] = {}
    for rows.number, row in values:
        for rows.set in list(sets(row)) or [DEFAULT_LAYER]:
            for each in _read(row, form, rows):
                document = _document(each, rows, rows.number)
                if len(document.layers) > 1:
                    raise UsageError(
                        "several layers are named, and each annotation set is a layer",
                        advice="name one layer",
                    )
                known = found.setdefault(document.id, replace(document, layers={}))
                if known.text != document.text or rows.set in known.layers:
                    what = (
                        "another text" if known.text != document.text else f"the annotation set {rows.set!r}"
                    )
                    rows.refuse(f"the document has {what} in a row before", document=document.id)
                spans = [
                    replace(span, labels=rows.labels(rows.set, span.label))
                    for of_layer in document.layers.values()
                    for span in of_layer
                ]
                found[document.id] = replace(known, layers={**known.layers, rows.set: spans})
    yield from found.values()


def _sets_error(problem: str, rows: RowReader, seen: Iterable[str]) -> UsageError:
    names = ", ".join(map(repr, seen)) or "none"
    return UsageError(
        problem,
        file=rows.file,
        advice=f"its sets: {names}; {SELECT_SETS}",
    )


def row_format(form: RowForm, *, of_sentences: bool = False, **fields: Any) -> Format:
    """Return the record of a format of rows, or `of_sentences`, with the fields that do not follow from its form."""

    def read(opened: Opened, options: Options) -> Iterator[Document]:
        return documents_of(form.values(opened), form, RowReader(options, opened.file, opened.passed_over))

    if (sets := form.sets) is not None:
        fields |= {"chooses": True, "set_names": partial(_names_of_sets, sets)}
    fields["sentences" if of_sentences else "rows"] = form
    return Format(read=read, **fields)


def _names_of_sets(sets: Callable[[Any], Iterable[str]], opened: Opened) -> list[str]:
    """Return the annotation sets of a file, in the order in which they occur."""
    return list(dict.fromkeys(name for _, row in opened.values() for name in sets(row)))
