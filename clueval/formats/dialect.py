"""Dialects: descriptions of rows of JSON, by the keys of a row and of its spans.

A key is a name, or a path such as ``data.text`` or ``points.0.start``. Several keys are separated by ``|``; the first
that a row has is used. Users describe their own rows in the same way (`described_rows`):

    text=response,spans=labels,label=label_type,start=start,end=end
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, ClassVar, Literal, NoReturn

from clueval.files.errors import FormatError
from clueval.formats.form import Form, Kind
from clueval.formats.input_file import Numbered
from clueval.formats.options import DESCRIBED, FormatOptions, described_keys
from clueval.formats.recognition import as_json
from clueval.formats.span_forms import as_whole


class RowInput:
    """The input whose rows are read.

    Attributes:
        options, file: its options, and the name of its file in errors; None: rows in memory.
        number: the number of the current row.
        set: the annotation set that is read; None: the rows have no sets.
        passed_over: how often the rows have what is not read, by kind in the plural.
        offered: the sources of layers that rows had so far, if each may have others.
    """

    def __init__(self, options: FormatOptions, file: str | None, passed_over: Counter[str]) -> None:
        self.options, self.file, self.passed_over = options, file, passed_over
        self.number = 0
        self.set: str | None = None
        self.offered: dict[str, None] = {}

    def refuse(self, problem: str, advice: str | None = None, document: str | None = None) -> NoReturn:
        """Raise `FormatError` with the number of the row."""
        raise FormatError(problem, file=self.file, line=self.number, document=document, advice=advice)

    def mapping(self, value: object, what: str = "the row") -> dict[str, Any]:
        """Return a value that must be an object."""
        if not isinstance(value, dict):
            self.refuse(f"{what} is not an object", "each value of this format is an object with keys")
        return value

    def listed(self, value: Any, what: str) -> list[Any]:
        """Return a list, also one that a text holds, or a tuple or an array within a list; None is an empty list."""
        if type(value) is list:
            return value
        value = self.value_in(value, what) if isinstance(value, str) else as_json(value)
        if not isinstance(value, list | None):
            self.refuse(f"{what} is not a list")
        return value or []

    def objects(self, value: Any, what: str, each: str) -> list[dict[str, Any]]:
        """Return a list that must have objects."""
        items = self.listed(value, what)
        if not {*map(type, items)} <= {dict}:
            items = [self.mapping(item, each) for item in items]
        return items

    def value_in(self, text: str, what: str) -> Any:
        """Return the value that a text holds, in JSON or as a literal of Python."""
        from clueval.formats.json_values import literal_in  # columns do not need it

        try:
            return literal_in(text)
        except ValueError as error:
            self.refuse(f"{what} is a text that cannot be read as a list: {error}", "write a list in JSON")

    def whole(self, value: Any, key: str) -> int:
        """Return a position, which may be written 3.0."""
        if type(value := as_whole(value)) is int:
            return value
        shown = "missing" if value is None else f"{repr(value)[:40]}, not a whole number"
        return self.refuse(f"the {key} of a span is {shown}")

    def scalar(self, value: object, what: str) -> str:
        """Return a number or a truth value as a text."""
        if isinstance(value, list | tuple | dict):
            self.refuse(f"{what} is a list or an object, not a text")
        return str(value)


Sets = Callable[[Any], Iterable[tuple[str, ...]]]
"""Returns the annotation sets of a row, each with all names by which it may be selected; the first is listed."""


def names_under(key: str, row: Any) -> list[tuple[str, ...]]:
    """Return the annotation sets of a row that has them by name under a key."""
    sets = row.get(key) if isinstance(row, dict) else None
    return [(str(name),) for name in sets] if isinstance(sets, dict) else []


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Dialect(Form):
    """How the rows of a JSON format are read and written.

    Attributes:
        text, tokens, id, spans, tags: the keys of a row.
        start, end, label, span_id: the keys of a span that is an object; others are lists of start, end and label.
        end_inclusive: the key of the last position of a span, in place of `end`.
        reference: the key of the text of a span, which is compared with the text at its positions.
        features: ``*``: the texts, numbers and truth values of a span are features, except those under its keys and
            under `noted`; several keys: those under these; one key: that of an object of features.
        noted: keys of what a program notes about a span.
        metadata: keys with metadata: an object, or a value of its own.
        rest: whether the other texts, numbers and truth values of a row, but `not_metadata`, are metadata.
        not_metadata: keys of a row that are not read.
        annotator, of_span: the keys of the annotator, in a row and in a span; each is an annotation set.
        sets: returns the annotation sets of a row, if these keys do not tell them.
        passed_over: keys of lists that are not read, but counted.
        sources: the sources that a layer may have; none: whatever the rows have.
        source_is: what a source is: one name for all spans, the key of their labels, the key of a list of spans or
            tags in the row, or what a span has under the key `control`.
        control: the key of the source of a span.
        optional: whether a row without `spans` has no spans.
        without_text: whether rows may come without their text.
        required: ``id``, ``label``: attributes whose keys may not be missing, as they may in other formats.
        ordered: whether the order of the spans counts.
        utf16: whether positions are UTF-16 units where only these fit the texts of all spans.
        advice: what to do about a span that is not within the tokens.
        values: returns the rows in another order or form, before any is read.
        plain: returns rows with these keys for a row that is built otherwise; none to pass over it.
        written: returns the row that is written for one with these keys: the opposite of `plain`.
        takes: further options that `plain` reads.
        lists: whether spans are written as lists.
        gaps: whether spans with gaps can be written.
        array: whether all rows are written as one array.
        joined: returns the only value that is written for all rows.
        hints: lines for people, given the labels of layers: what another program needs before it can read the rows.
    """

    text: str = ""
    tokens: str = ""
    id: str = "id"
    spans: str = ""
    tags: str = ""
    start: str = "start"
    end: str = "end"
    end_inclusive: str = ""
    label: str = "label"
    span_id: str = ""
    reference: str = ""
    features: str = ""
    noted: str = ""
    metadata: str = "meta"
    rest: bool = False
    not_metadata: str = ""
    annotator: str = ""
    of_span: str = ""
    sets: Sets | None = None
    passed_over: str = ""
    sources: str = "label"
    source_is: Literal["name", "label", "key", "control"] = "name"
    control: str = ""
    optional: bool = False
    without_text: bool = False
    required: frozenset[str] = frozenset()
    ordered: bool = False
    utf16: bool = False
    advice: str | None = None
    values: Callable[[Iterator[Numbered], RowInput], Iterator[Numbered]] | None = None
    plain: Callable[[Any, RowInput], Iterable[Any]] | None = None
    written: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    takes: str = ""
    lists: bool = False
    gaps: bool = False
    array: bool = False
    joined: Callable[[Iterable[dict[str, Any]]], Any] | None = None
    hints: Callable[[Mapping[str, Iterable[str]]], Iterator[str]] | None = None
    kind: ClassVar[Kind] = "rows"

    @property
    def ends(self) -> str:
        """The keys of the end of a span."""
        return self.end_inclusive or self.end

    @property
    def is_written(self) -> bool:
        """Whether rows of the dialect can be written."""
        is_plain = self.plain is None and self.values is None
        return is_plain or self.written is not None or self.joined is not None

    def __post_init__(self) -> None:
        has_sets = bool(self.annotator or self.of_span or self.sets)
        uses = {
            "layers": True,
            "row": self.name == "row",
            "offsets": bool(self.text),
            "annotation_set": has_sets,
            "names": self.tags == "*",
            "scheme": bool(self.tags),
            "invalid": bool(self.tags),
        }
        options = {*keys_of(self.takes), *(name for name, is_used in uses.items() if is_used)}
        self.derive(
            options=frozenset(options), has_sets=has_sets, has_rows=True, counts_tokens=bool(self.tokens)
        )

    def has_spans(self, row: Any) -> bool:
        return isinstance(row, dict) and first_key(row, self.spans) is not None


@cache
def keys_of(keys: str) -> tuple[str, ...]:
    """Return the keys of a description.

    >>> keys_of("text|data"), keys_of("")
    (('text', 'data'), ())
    """
    return tuple(keys.split("|")) if keys else ()


# Descriptions of users


def described_rows(description: str | Mapping[str, str]) -> Dialect:
    """Return the dialect of a description, ``text=response,spans=labels`` or a mapping.

    A row must have all keys that it names. Raises `UsageError` for a description with a mistake.

    >>> described_rows("text=response,spans=labels,label=label_type").spans
    'labels'
    """
    names = described_keys(description)
    return Dialect(
        name="row",
        holds="rows that the description names",
        features="*",
        rest=True,
        without_text=not names.keys() & {"text", "tokens"},
        required=frozenset(names),
        **names,  # type: ignore[arg-type]  # its keys are those of DESCRIBED
    )


def described(dialect: Dialect) -> str | None:
    """Return a dialect as a description that reads its texts and spans, or None if keys do not tell where they are.

    It has no key of ids, because a row need not have one, but must have each key of a description.

    >>> described(Dialect(name="d", text="text|data", spans="label", start="start_offset"))
    'text=text|data,spans=label,start=start_offset'
    """
    if dialect.plain is not None or dialect.values is not None or not dialect.spans:
        return None
    usual = {field.name: field.default for field in fields(Dialect)}
    pairs = ((key, getattr(dialect, key)) for key in DESCRIBED if key != "id")
    return ",".join(f"{key}={value}" for key, value in pairs if value and value != usual[key])


# The keys of a row

SCALAR = (str, int, float)
"""The types of values that are features and metadata."""


def first_key(row: Collection[str], keys: str) -> str | None:
    """Return the first of several keys that a row has, or None."""
    for key in keys_of(keys):
        if key in row:
            return key
    return None


def advice_on_keys(dialect: Dialect, row: Collection[str], keys: str) -> str | None:
    """Return what to do about a row or a span that has none of `keys`, if a user described its keys."""
    if not dialect.required:
        return None
    from clueval.files.names import nearest  # only for a message

    near = next(filter(None, (nearest(key, row) for key in keys_of(keys))), None)
    question = "" if near is None else f"did you mean {near}? "
    return f"{question}It has {', '.join(map(repr, list(row)[:20])) or 'no keys'}; correct the description of rows"


def first_value(row: Mapping[str, Any], keys: str) -> Any:
    """Return the first value under one of several keys that is not None, or None."""
    for key in keys_of(keys):
        if (value := row.get(key)) is not None:
            return value
    return None


def either(keys: str) -> str:
    """Return keys in words."""
    return " or ".join(map(repr, keys_of(keys)))


def paths(*keys: str) -> tuple[str, ...]:
    """Return those of several keys that are paths."""
    return tuple(key for group in keys for key in keys_of(group) if "." in key)


def with_paths(row: Mapping[str, Any], paths: Iterable[str]) -> dict[str, Any]:
    """Return an object with the values of these paths under the paths as keys, as far as it has them.

    >>> with_paths({"data": {"text": "Ada"}}, ["data.text", "data.id"])["data.text"]
    'Ada'
    """
    flat_row = dict(row)
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
            flat_row.setdefault(path, value)
    return flat_row


def hidden_keys(dialect: Dialect) -> frozenset[str]:
    """Return the keys of a row that are not metadata."""
    keys = (dialect.text, dialect.tokens, dialect.id, dialect.spans, dialect.metadata, dialect.passed_over)
    return frozenset(
        key for group in (*keys, dialect.annotator, dialect.not_metadata) for key in keys_of(group)
    )


def keys_of_no_features(dialect: Dialect) -> frozenset[str]:
    """Return the keys of a span that are no features, besides its label."""
    keys = (dialect.start, dialect.end, dialect.end_inclusive, dialect.span_id, dialect.reference)
    every = (*keys, dialect.of_span, dialect.noted, "optional|fragments")
    return frozenset(key for group in every for key in keys_of(group))


def scalars(values: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts, numbers and truth values of an object, as texts."""
    return {
        str(key): value if type(value) is str else json.dumps(value)
        for key, value in values.items()
        if isinstance(value, SCALAR)
    }
