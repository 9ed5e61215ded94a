"""Documents: the spans of a text in their layers, with its sentences, tokens and metadata."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypedDict

from clueval.core.document import MissingId as MissingId
from clueval.core.document import Sentence as Sentence
from clueval.core.document import same_id as same_id
from clueval.core.span import MERGED, NOTHING, Frozen, Span, name_of
from clueval.files.errors import SpanError, described
from clueval.spans.flat import Flat

Unit = Literal["token", "character"]


def in_layer(layer: str, spans: Sequence[Span]) -> Sequence[Span]:
    """Return the spans with their labels in `layer`: the only label of a span is put under this name.

    A span that has a label in `layer` already, or labels in several layers, is returned unchanged.

    >>> in_layer("risk", [Span(0, 2, "high")])[0].labels
    {'risk': 'high'}
    """
    if isinstance(spans, Flat) and spans.are_of_tags(layer):
        return spans
    if all(layer in span.by_layer or len(span.by_layer) != 1 for span in spans):
        return spans
    return [
        span
        if layer in span.by_layer or len(span.by_layer) != 1
        else replace(span, labels={layer: next(iter(span.by_layer.values()))})
        for span in spans
    ]


_TYPES: tuple[tuple[str, type, str], ...] = (
    ("id", str, "text"),
    ("layers", Mapping, "a dictionary"),
    ("tokens", Sequence, "a list"),
    ("text", str, "text"),
    ("unit", str, "text"),
    ("start", int, "a whole number"),
    ("token_ids", Sequence, "a list"),
    ("metadata", Mapping, "a dictionary"),
)
"""The fields of a document that are checked, with their types."""


class _Place(TypedDict):
    file: str | None
    document: str


@dataclass(frozen=True, slots=True)
class Document:
    """One document of one side: its text, and its spans by layer.

    Positions count from `start`, the first position of the document (tokens are counted over a whole file),
    so token ``p`` is ``tokens[p - start]``. `unit` says what a position is: the number of a token of
    `tokens`, or of a code point of `text`. A document may come without its text; its spans are then not
    checked against it. `lines` holds the line number of each token, `file` the path of the file; both
    are ignored when documents are compared. If the only label of a span belongs to another layer than the one
    that lists the span, as the label of a plain string does, it becomes a label of that layer; spans of the
    layer `MERGED` keep the labels of their layers, even if there is only one.

    `tags` are the tags of each layer as they were written, `metadata` what the file says of the document. `repaired` is
    the number of repaired tags, by the scheme that was detected up to this point of the file. Evaluations count repairs
    by the scheme of the whole file instead, from `transitions`, the numbers of pairs of adjacent tags.

    `ordered` says that the order of the spans, or their ids, are part of the annotation, as in FairEval's and GATE's
    files; it is ignored when documents are compared. The spans of other documents are counted in an order that
    depends on neither (`clueval.spans.ordering`).

    Raises `SpanError` for spans outside the text and for token ids whose number is not that of the tokens.
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
    repaired: int = 0
    transitions: object | None = field(default=None, compare=False, repr=False)
    lines: Sequence[int] | None = field(default=None, compare=False, repr=False)
    file: str | None = field(default=None, compare=False)
    ordered: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        self._require_types()
        if self.unit not in ("token", "character"):
            raise SpanError(f"unit must be 'token' or 'character', not {self.unit!r}", document=self.id)
        if self.token_ids is not None and len(self.token_ids) != len(self.tokens or ()):
            raise SpanError(
                f"{len(self.token_ids)} token ids for {len(self.tokens or ())} tokens", **self.in_errors
            )
        object.__setattr__(
            self,
            "layers",
            Frozen({k: spans if k == MERGED else in_layer(k, spans) for k, spans in self.layers.items()}),
        )
        end = self.end
        if end is None:
            return
        for layer, spans in self.layers.items():
            if isinstance(spans, Flat) and spans.are_of_tags() and spans.lie_in(self.start, end):
                continue
            for span in spans:
                if span.start < self.start or span.end > end:
                    raise SpanError(
                        f"span {name_of(span)} of layer {layer!r} lies outside the text, "
                        f"which has the positions {self.start} to {end - 1}"
                        if end > self.start
                        else f"span {name_of(span)} of layer {layer!r} lies in a document without text",
                        **self.in_errors,
                        line=span.line,
                    )

    def _require_types(self) -> None:
        for name, kind, says in _TYPES:
            value = getattr(self, name)
            if not isinstance(value, kind) or (kind is not str and isinstance(value, str | bool)):
                if value is None and name in ("tokens", "text", "token_ids"):
                    continue
                raise SpanError(f"{name} must be {says}, not {described(value)}")
        for layer, spans in self.layers.items():
            if not isinstance(spans, Sequence) or isinstance(spans, str):
                raise SpanError(f"the spans of layer {layer!r} must be a list, not {described(spans)}")
            if spans and not isinstance(spans[0], Span):
                raise SpanError(f"layer {layer!r} must have spans, not {described(spans[0])}")

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
        """Return the document that `to_dict` has written as a dictionary; see `clueval.spans.dictionaries`."""
        from clueval.spans.dictionaries import fields_of

        return cls(**fields_of(value, Sentence))

    def to_dict(self) -> dict[str, Any]:
        """Return the document as plain dictionaries, lists, strings and numbers; `from_dict` reads it."""
        from clueval.spans.dictionaries import dictionary_of

        return dictionary_of(self)

    def placed(self, place: Callable[[int, int], tuple[int, int]], **changes: Any) -> Document:
        """Return the document with spans and sentences at other positions: `place` returns the new range for a range.

        `changes` are new values of other fields.
        """
        layers = {layer: [span.placed(place) for span in spans] for layer, spans in self.layers.items()}
        sentences = [Sentence(*place(start, end), name) for start, end, name in self.sentences]
        return replace(self, layers=Frozen(layers), sentences=sentences, **changes)

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
