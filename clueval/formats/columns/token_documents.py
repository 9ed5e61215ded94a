"""Building documents token by token, for formats whose lines are no table of tokens and tags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from clueval.formats.text_pieces import joined
from clueval.limits import document_too_long
from clueval.spans.document import Document, Sentence
from clueval.spans.span import Frozen, Span


class OpenSpan(NamedTuple):
    """A span that has begun: its first token, its label, its line and further facts that its format needs."""

    start: int
    label: str
    line: int
    more: str | None = None


class TokenDocument:
    """The tokens, sentences and spans of one document so far. `most` is the limit for its tokens."""

    def __init__(
        self, identifier: str, start: int, layers: Sequence[str], file: str, most: int, line: int
    ) -> None:
        self.id, self.start, self._file, self._most, self._line = identifier, start, file, most, line
        self.tokens: list[str] = []
        self.metadata: dict[str, str] = {}
        self.layers: dict[str, list[Span]] = {layer: [] for layer in layers}
        self.sentences: list[Sentence] = []
        self._lines: list[int] = []
        self._sentence = start
        self.sentence_id: str | None = None
        self.spaces: list[str] = []
        """What follows each token in the text: a blank, or nothing."""

    @property
    def end(self) -> int:
        """The position after the last token so far."""
        return self.start + len(self.tokens)

    def add(self, token: str, line: int, space: str = " ") -> None:
        """Add a token of this line. Raises `FormatError` if the document has too many."""
        if len(self.tokens) == self._most:
            raise document_too_long(self._file, self._line, self._most)
        self.tokens.append(token)
        self._lines.append(line)
        self.spaces.append(space)

    def line_of(self, position: int) -> int:
        """Return the line of the token at a position."""
        return self._lines[position - self.start]

    def add_span(self, layer: str, begun: OpenSpan, end: int) -> None:
        """Add a span that ends before the position `end`."""
        self.layers[layer].append(Span(begun.start, end, Frozen({layer: begun.label}), line=begun.line))

    def end_sentence(self) -> None:
        """End the current sentence, if it has tokens."""
        if self.end > self._sentence:
            self.sentences.append(Sentence(self._sentence, self.end, self.sentence_id))
            self._sentence = self.end
        self.sentence_id = None

    def finished(self, **more: Any) -> Document:
        """Return the document, its spans in order of position; `more` are further fields."""
        self.end_sentence()
        layers: Mapping[str, list[Span]] = {
            layer: sorted(spans, key=lambda span: (span.start, -span.end))
            for layer, spans in self.layers.items()
        }
        return Document(
            self.id,
            Frozen(layers),
            tokens=self.tokens,
            text=joined(self.tokens, self.spaces),
            start=self.start,
            sentences=self.sentences,
            metadata=Frozen(self.metadata),
            lines=self._lines,
            file=self._file,
            **more,
        )
