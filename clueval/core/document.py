"""Documents: the spans of a text in their layers, with its sentences, tokens and metadata; and pairs of them.

A document holds its layers as spans, or as rows ``(start, end, label)``, of which spans are made when they are asked
for (`Layers`): readers of plain rows need no spans to count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, ClassVar, Literal, NamedTuple, TypedDict

from clueval.core.span import MERGED, NOTHING, Ranges, Span, labels_in, name_of
from clueval.files.errors import LimitError, SpanError, UsageError, described, with_noun

Unit = Literal["token", "character"]

ID = "document"
"""The key for the id of a document in break-downs and filters."""

Row = tuple[int, int, str]
"""Start, end and label of a span."""


class Sentence(NamedTuple):
    """The range ``[start, end)`` of a sentence, and its id in the file (None if it has none).

    >>> Document("d", {}, tokens=["It", "rained"], sentences=[Sentence(0, 2)]).sentences[0].end
    2
    """

    start: int
    end: int
    id: str | None = None


Details = tuple[Mapping[str, Any], str | int | None, int | None]
"""What a span has besides its row: its features, its id, and its line in the file."""


class Layers(Mapping[str, Sequence[Span]]):
    """The spans of a document by layer. A layer may be given as rows; its spans are made when they are asked for.

    `rows` may be a mapping that makes the rows of a layer when they are looked up. `line` is the line of these spans in
    their file, if they stand on the same one; of layers in `details`, each span has its own, and features and an id.
    `within` is a range of positions in which all rows lie, as the reader has checked. Spans with gaps or in a group are
    not given as rows.

    >>> layers = Layers({}, rows={"entity": [(0, 2, "PER")]})
    >>> layers["entity"][0].labels, layers.rows("entity")
    ({'entity': 'PER'}, [(0, 2, 'PER')])
    """

    __slots__ = ("_details", "_line", "_rows", "_spans", "_within")

    def __init__(
        self,
        spans: Mapping[str, Sequence[Span]],
        rows: Mapping[str, Sequence[Row]] = NOTHING,
        line: int | None = None,
        details: Mapping[str, Sequence[Details]] = NOTHING,
        within: tuple[int, int] | None = None,
    ) -> None:
        self._spans: dict[str, Sequence[Span]] = dict(spans)
        self._rows = rows
        self._line = line
        self._details = details
        self._within = within

    def __getitem__(self, layer: str) -> Sequence[Span]:
        if layer not in self._spans:
            rows, details = self._rows[layer], self._details.get(layer)
            if details:
                self._spans[layer] = [
                    Span(start, end, labels_in(layer, label), features, id=identifier, line=line)
                    for (start, end, label), (features, identifier, line) in zip(rows, details, strict=True)
                ]
            else:
                self._spans[layer] = self.spans_of(layer, rows)
        return self._spans[layer]

    def spans_of(self, layer: str, rows: Iterable[Row]) -> list[Span]:
        """Return the spans of rows of a layer."""
        line = self._line
        return [Span(start, end, labels_in(layer, label), line=line) for start, end, label in rows]

    def __iter__(self) -> Iterator[str]:
        yield from self._rows
        yield from [layer for layer in self._spans if layer not in self._rows]

    def __len__(self) -> int:
        return len({*self._rows, *self._spans}) if self._spans else len(self._rows)

    def __contains__(self, layer: object) -> bool:
        return layer in self._rows or layer in self._spans

    def __repr__(self) -> str:
        return repr(dict(self))

    def __hash__(self) -> int:
        return hash(frozenset((layer, tuple(spans)) for layer, spans in self.items()))

    def rows(self, layer: str) -> Sequence[Row] | None:
        """Return the rows of a layer that was given so, or None."""
        return self._rows.get(layer)

    def details(self, layer: str) -> Sequence[Details]:
        """Return what the spans of a layer of rows have besides; empty if they have no more than their line."""
        return self._details.get(layer, ())

    def placed(self, new_range: Callable[[int, int], tuple[int, int]]) -> Layers:
        """Return the layers at other positions: `new_range` takes a range. Rows stay rows."""
        return Layers(
            {
                layer: [span.placed(new_range) for span in spans]
                for layer, spans in self._spans.items()
                if layer not in self._rows
            },
            {
                layer: [(*new_range(start, end), label) for start, end, label in rows]
                for layer, rows in self._rows.items()
            },
            self._line,
            self._details,
        )

    def are_rows_within(self, start: int, end: int) -> bool:
        """Return whether all layers are rows, and all rows lie in a range of positions."""
        if self._within == (start, end):
            return True
        for rows in self._rows.values():
            for first, last, _ in rows:
                if not start <= first <= last <= end:
                    return False
        return not self._spans


class _Place(TypedDict):
    file: str | None
    document: str


GROUP = "group"
"""The feature that members of a group share."""

OPTIONAL = "optional"
"""The feature of a group that may be left out."""

MENTION = "mention"
"""The feature of a span with its text, whose place in the text of gold is not known."""

OFFSETS = "offsets"
"""The feature with the start and the end that an answer gives for a mention; -1 for what is no number."""

UNPLACED = "unplaced"
"""The metadata of a predicted document with the number of its spans that are a text without a place."""

UNPARSABLE = "unparsable"
"""The metadata of a document with the number of what could not be read in an answer."""

NO_ANSWER = "no answer"
"""The metadata of a document that stands for an answer that is missing."""

BY_ID = "custom_id"
"""The metadata of an answer of a batch with its id, by which alone it is found."""

UNANNOTATED = "unannotated"
"""The metadata of a document that has no annotation, which is something else than an annotation without spans."""

REPLACEMENT, PARTS = "replacement", "parts"
"""The features of a span with the placeholder that stands for it in a redacted text, and those of its parts: start, end
and placeholder of each, if several placeholders in a row stand for it."""

PLACEHOLDERS, REPLACED_WORDS = "placeholders", "replaced_words"
FROM_THE_RIGHT, UNCERTAIN, INITIALS, SHOWN = "from_the_right", "uncertain", "shown_initials", "shown"
"""The metadata of a document that was recovered from a redacted text: how many placeholders it has, how many words were
replaced by others, and three lists of ranges of characters, as in ``5-9 22-29``: what is masked in its second reading,
where no reading has its placeholders between words, and single letters that placeholders have, too. The last is JSON:
what stands there in place of the original, as start and end in the original, and text."""


_TYPES: dict[str, tuple[type, str]] = {
    "id": (str, "text"),
    "layers": (Mapping, "a dictionary"),
    "tokens": (Sequence, "a list"),
    "text": (str, "text"),
    "unit": (str, "text"),
    "start": (int, "a whole number"),
    "token_ids": (Sequence, "a list"),
    "metadata": (Mapping, "a dictionary"),
}
"""The types of the fields of a document that are checked, and their names."""


@dataclass(frozen=True, slots=True)
class Document:
    """One document of one side: its text, and its spans by layer.

    Positions count from `start`, the first position of the document (tokens are counted over a whole file),
    so token ``p`` is ``tokens[p - start]``. `unit` says what a position is: the number of a token of
    `tokens`, or of a code point of `text`; with a text and without tokens, it is always ``character``. A document
    may come without its text; its spans are then not checked against it. `lines` holds the line number of each token,
    `file` the path of the file; both are ignored when documents are compared. If the only label of a span belongs to
    another layer than the one that lists the span, as the label of a plain string does, it becomes a label of that
    layer; spans of the layer `MERGED` keep the labels of their layers, even if there is only one.

    `tags` are the tags of each layer as they were written. `metadata` is what the file says of the document, as texts;
    numbers become texts. `ordered` says that the order of the spans of a layer counts, as it does in some formats;
    otherwise no number depends on it.

    Raises `SpanError` for spans outside the text and for token ids whose number is not that of the tokens.

    >>> document = Document("letter", {"name": [Span(0, 1, "PER")]}, tokens=["Ada", "slept"])
    >>> document.layers["name"][0].label, document.unit
    ('PER', 'token')
    """

    id: str
    layers: Mapping[str, Sequence[Span]]
    tokens: Sequence[str] | None = None
    text: str | None = None
    unit: Unit = "token"
    start: int = 0
    token_ids: Sequence[str] | None = None
    sentences: Sequence[Sentence] = ()
    metadata: Mapping[str, str] = NOTHING
    tags: Mapping[str, Sequence[str]] = field(default=NOTHING, repr=False)
    lines: Sequence[int] | None = field(default=None, compare=False, repr=False)
    file: str | None = field(default=None, compare=False)
    ordered: bool = field(default=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.unit, str) or self.unit not in ("token", "character"):
            self._require_types()
            raise SpanError(f"unit must be 'token' or 'character', not {self.unit!r}", document=self.id)
        if type(self.layers) is not Layers:  # a reader gives `Layers`, and fields that it has made itself
            self._require_types()
            if self.text is not None and self.tokens is None:
                object.__setattr__(self, "unit", "character")
            named = {
                name: spans if name == MERGED else in_layer(name, spans)
                for name, spans in self.layers.items()
            }
            object.__setattr__(self, "layers", Layers(named))
        if self.metadata and not {*map(type, chain(self.metadata, self.metadata.values()))} <= {str}:
            object.__setattr__(self, "metadata", dict(self._metadata_as_texts()))
        if self.token_ids is not None and len(self.token_ids) != len(self.tokens or ()):
            problem = f"{with_noun(len(self.token_ids), 'token ids')} for {with_noun(len(self.tokens or ()), 'tokens')}"
            raise SpanError(problem, **self.in_errors)
        end = self.end
        if end is not None and not self.layers.are_rows_within(self.start, end):  # type: ignore[attr-defined]
            for layer, span in [(layer, span) for layer, spans in self.layers.items() for span in spans]:
                if span.start < self.start or span.end > end:
                    lies = "lies in a document without text"
                    if end > self.start:
                        lies = f"lies outside the text, which has the positions {self.start} to {end - 1}"
                    problem = f"span {name_of(span)} of layer {layer!r} {lies}"
                    raise SpanError(problem, **self.in_errors, line=span.line)

    def _require_types(self) -> None:
        for name, (kind, says) in _TYPES.items():
            value = getattr(self, name)
            if value is None and name in ("tokens", "text", "token_ids"):
                continue
            if not isinstance(value, kind) or (kind is not str and isinstance(value, str | bool)):
                raise SpanError(f"{name} must be {says}, not {described(value)}")
        for layer, spans in self.layers.items():
            if not isinstance(spans, Sequence) or isinstance(spans, str):
                raise SpanError(f"the spans of layer {layer!r} must be a list, not {described(spans)}")
            if spans and not isinstance(spans[0], Span):
                raise SpanError(
                    f"layer {layer!r} must have spans, not {described(spans[0])}",
                    advice="write Span(start, end, label)",
                )

    def _metadata_as_texts(self) -> Iterator[tuple[str, str]]:
        """Yield metadata as rows of JSON have it: numbers and truth values are texts, and None is no value."""
        values: Mapping[Any, Any] = self.metadata
        for key, given in values.items():
            value: Any = given.item() if getattr(given, "shape", None) == () else given  # of NumPy
            if isinstance(value, str):
                yield str(key), value
            elif isinstance(value, int | float):
                from json import dumps  # few values are numbers

                yield str(key), dumps(value)
            elif value is not None:
                problem = f"metadata {str(key)!r} must be text or a number, not {described(value)}"
                raise SpanError(problem, **self.in_errors)

    @property
    def in_errors(self) -> _Place:
        """The fields of an error that say which document it is in."""
        return {"file": self.file, "document": self.id}

    @property
    def end(self) -> int | None:
        """The position after the last one, or None if the document has no text."""
        text = self.tokens if self.unit == "token" else self.text
        return None if text is None else self.start + len(text)

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Document:
        """Return the document that `to_dict` has written as a dictionary; see `clueval.core.dictionaries`."""
        from clueval.core.dictionaries import fields_of  # few documents are written so

        fields = fields_of(value)
        fields["sentences"] = [Sentence(*sentence) for sentence in fields["sentences"]] or ()
        return cls(**fields)

    def to_dict(self) -> dict[str, Any]:
        """Return the document as plain dictionaries, lists, strings and numbers; `from_dict` reads it."""
        from clueval.core.dictionaries import dictionary_of  # likewise

        return dictionary_of(self)

    def rows_in(self, layer: str) -> Sequence[Row] | None:
        """Return the spans of a layer as rows ``(start, end, label)`` if that is all they have, or None."""
        return None if self.details_in(layer) else self.ranges_in(layer)

    def ranges_in(self, layer: str) -> Sequence[Row] | None:
        """Return the spans of a layer as rows, or None; `details_in` has their features, ids and lines."""
        return self.layers.rows(layer)  # type: ignore[attr-defined,no-any-return]  # they are `Layers`

    def details_in(self, layer: str) -> Sequence[Details]:
        """Return what the spans of a layer of rows have besides; empty if they have no more than their line."""
        return self.layers.details(layer)  # type: ignore[attr-defined,no-any-return]  # as above

    def marks_in(self, layer: str) -> Iterable[tuple[Ranges, str]]:
        """Return the ranges and the label of each span of a layer."""
        rows = self.ranges_in(layer)
        if rows is None:
            return [(span.fragments, span.label) for span in self.layers.get(layer, ())]
        return [(((start, end),), label) for start, end, label in rows]

    def placed(self, new_range: Callable[[int, int], tuple[int, int]], **changes: Any) -> Document:
        """Return the document with spans and sentences at other positions: `new_range` takes a range.

        `changes` are new values of other fields.
        """
        layers = self.layers.placed(new_range)  # type: ignore[attr-defined]  # they are `Layers`
        sentences = [Sentence(*new_range(start, end), name) for start, end, name in self.sentences]
        return replace(self, layers=layers, sentences=sentences, **changes)

    def from_position(self, start: int) -> Document:
        """Return the document with another first position."""
        by = start - self.start
        return self.placed(lambda first, last: (first + by, last + by), start=start) if by else self

    def text_of(self, span: Span) -> str:
        """Return the text that a span covers, tokens joined by blanks; empty if the document has no text.

        >>> Document("d", {}, tokens=["Frau", "Anna", "Weiß"], start=10).text_of(Span(11, 13))
        'Anna Weiß'
        """
        return self.text_between(span.start, span.end)

    def text_between(self, start: int, end: int) -> str:
        """Return the text of the positions ``[start, end)``, as `text_of` does."""
        first = self.start
        if self.unit == "character":
            return (self.text or "")[start - first : end - first]
        return " ".join((self.tokens or ())[start - first : end - first])


def in_layer(layer: str, spans: Sequence[Span]) -> Sequence[Span]:
    """Return the spans with their labels in `layer`: the only label of a span is put under this name.

    A span that has a label in `layer` already, or labels in several layers, is returned unchanged.
    """
    if all(layer in span.by_layer or len(span.by_layer) != 1 for span in spans):
        return spans
    return [
        span
        if layer in span.by_layer or len(span.by_layer) != 1
        else replace(span, labels={layer: next(iter(span.by_layer.values()))})
        for span in spans
    ]


Notes = Mapping[tuple[str, ...], int]
"""How often a step changed what, by the name of the step and of what it changed."""


@dataclass(frozen=True, slots=True)
class Pair:
    """The two documents of one text: what a step changes and cases are made of.

    `notes` say how often each step changed what, as in ``{("labels", "gold", "renamed"): 3}``. A pair that stands
    `beside` its text has spans without a place in the text, such as those that could not be aligned: its documents have
    a text of their own, or none, and it counts no document and no positions.
    """

    gold: Document
    predicted: Document
    notes: Notes = field(default_factory=dict)
    beside: bool = False

    @property
    def sides(self) -> tuple[Document, Document]:
        return self.gold, self.predicted

    @property
    def first(self) -> Document:
        """The document whose id, metadata and sentences are those of the text."""
        return self.gold

    @property
    def positions(self) -> int:
        """The number of positions of the text; 0 if neither side has its text, and beside the text."""
        return 0 if self.beside else positions_of(self.sides)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Group:
    """The documents that several sides have of one text, such as annotators; None for a side that lacks it.

    Raises `ValueError` if no side has it.
    """

    sides: tuple[Document | None, ...]
    notes: Notes = field(default_factory=dict)
    beside: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not any(side is not None for side in self.sides):
            raise ValueError("no side has the text")

    @property
    def first(self) -> Document:
        """The document of the first side that has one: its id, metadata and sentences are those of the text."""
        return next(side for side in self.sides if side is not None)

    @property
    def positions(self) -> int:
        """The number of positions of the text; 0 if no side has its text."""
        return positions_of(self.sides)


Text = Pair | Group


def positions_of(documents: Sequence[Document | None]) -> int:
    """Return the number of positions of a text, of which some documents may be missing or without their text."""
    lengths = [
        document.end - document.start for document in documents if document and document.end is not None
    ]
    return lengths[0] if lengths else 0


class MissingId(str):
    """The number of a document in its file, in place of an id; it is equal to the same text.

    >>> MissingId("1") == "1", same_id(MissingId("1"), "57"), same_id("1", "57")
    (True, True, False)
    """

    __slots__ = ()


def metadata_with_id(document: Document) -> Mapping[str, str]:
    """Return the metadata of a document and, as `ID`, its id, which counts before metadata of that name."""
    return {**document.metadata, ID: document.id}


def same_id(one: object, other: object) -> bool:
    """Return whether two ids are equal, or one of them is not given."""
    return one == other or isinstance(one, MissingId) or isinstance(other, MissingId)


def are_of_different_documents(one: str, other: str) -> bool:
    """Return whether two ids that are given differ; one may be the number of a row where the other is a name.

    >>> are_of_different_documents("a", "b"), are_of_different_documents("a", "1")
    (True, False)
    """
    return one != other and one.isdecimal() == other.isdecimal()


def with_positions(document: Document) -> Document:
    """Return the document. Raises `UsageError` for an answer of a language model, which has mentions and no text."""
    if document.text is None and document.tokens is None:
        for span in chain.from_iterable(document.layers.values()):
            if MENTION in span.features:
                raise no_positions(**document.in_errors)
    return document


def no_positions(**place: Any) -> UsageError:
    """Return the error for answers of a language model where positions are needed."""
    return UsageError(
        "mentions have no positions",
        **place,
        advice="give the answers to score, compare, errors, profile or conventions with input='mentions', which looks "
        "for them in the text of gold",
    )


MAX_COVERED = 50_000_000
"""The most positions that the spans of a document have together, where their texts are compared or written."""


def require_short_texts(positions: int, document: Document) -> None:
    """Raise `LimitError` for too many positions of spans of a document whose texts are needed."""
    if positions > MAX_COVERED:
        raise LimitError(
            f"the texts of the spans have together more than {MAX_COVERED:,} positions",
            **document.in_errors,
            advice="leave out spans that many others overlap or equal",
        )
