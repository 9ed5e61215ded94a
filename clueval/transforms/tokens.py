"""Tokens for texts: those of another document, or the words and single marks of the text."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from operator import ge

from clueval.core.characters import Characters
from clueval.core.document import Document, Sentence
from clueval.core.ranges import joined_ranges
from clueval.core.span import Span, name_of
from clueval.files.errors import UsageError
from clueval.transforms.characters import to_characters
from clueval.transforms.placing import WORD_OR_MARK, token_places

WITHIN = "spans within tokens"
"""What is counted if spans that do not begin and end with a token are left out."""


def to_tokens(
    document: Document, tokens: Document | None = None, dropped: Counter[str] | None = None
) -> Document:
    """Return the document with positions in tokens: those of `tokens`, or the words and single marks of its text.

    A document with tokens is returned unchanged, unless `tokens` are others. A span that does not begin and end with
    a token is left out and counted in `dropped`. Raises `UsageError` for a document with neither and, without
    `dropped`, for such a span, and `TextMismatch` for tokens that are not those of the text.

    >>> text = Document("d", {"x": [Span(4, 8, {"x": "PER"})]}, text="Hi, Anna!", unit="character")
    >>> document = to_tokens(text)
    >>> document.tokens, document.layers["x"][0].start, document.layers["x"][0].end
    (['Hi', ',', 'Anna', '!'], 2, 3)
    """
    if document.unit == "token" and document.tokens is not None:
        if tokens is None or list(tokens.tokens or ()) == list(document.tokens):
            return document
        document = to_characters(document)
    if document.unit == "token" or document.text is None:
        raise UsageError(
            "a document without text has no tokens",
            **document.in_errors,
            advice="use a format that has the text",
        )
    if tokens is None:
        found = [match.span() for match in WORD_OR_MARK.finditer(document.text)]
        starts, ends = [start for start, _ in found], [end for _, end in found]
    else:
        starts, ends = token_places(tokens, document.text)
    places = _TokenPlaces(document, starts, ends, 0 if tokens is None else tokens.start)
    if tokens is None:
        sentences = [Sentence(*places.of(each.start, each.end), each.id) for each in document.sentences]
        words: Sequence[str] = [document.text[start:end] for start, end in zip(starts, ends, strict=True)]
    else:
        sentences, words = list(tokens.sentences), tokens.tokens or ()
    return Document(
        document.id,
        {layer: places.spans(spans, dropped) for layer, spans in document.layers.items()},
        tokens=words,
        start=places.first,
        token_ids=None if tokens is None else tokens.token_ids,
        sentences=sentences,
        metadata=document.metadata,
        file=document.file,
    )


def with_tokens_of(tokens: Document, document: Document) -> Document:
    """Return a document of characters with other tokens, and with their sentences if it has none."""
    text = document.text or ""
    starts, ends = token_places(tokens, text)
    sentences = document.sentences
    if not sentences:
        place = Characters(text, tokens.start, starts, ends).range_between
        sentences = [Sentence(*place(each.start, each.end)) for each in tokens.sentences]
    words = [text[start:end] for start, end in zip(starts, ends, strict=True)]
    return replace(document, tokens=words, sentences=sentences)


class _TokenPlaces:
    """Converts positions of characters to positions of tokens, of which the first is `first`."""

    def __init__(self, document: Document, starts: Sequence[int], ends: Sequence[int], first: int) -> None:
        self.first = first
        self._document, self._starts, self._ends = document, starts, ends
        self._known_starts, self._known_ends = set(starts), set(ends)

    def of(self, start: int, end: int) -> tuple[int, int]:
        """Return the tokens that begin and end in a range of characters."""
        shift = self._document.start
        begin = bisect_left(self._starts, start - shift)
        return begin + self.first, max(begin, bisect_right(self._ends, end - shift)) + self.first

    def spans(self, spans: Sequence[Span], dropped: Counter[str] | None) -> list[Span]:
        """Return the spans with positions of tokens; one that is within tokens is counted, or refused."""
        kept = []
        for span in spans:
            if self._fits(span):
                place = self.of(span.start, span.start)[0]
                empty = span.start == span.end
                kept.append(replace(span, start=place, end=place) if empty else self._placed(span))
            elif dropped is not None:
                dropped[WITHIN] += 1
            else:
                raise UsageError(
                    f"span {name_of(span)} does not begin and end with a token",
                    **self._document.in_errors,
                    advice="tokens are words and single marks without tokens=...; lossy=True leaves out such spans",
                )
        return kept

    def _placed(self, span: Span) -> Span:
        """Return the span at its tokens, without gaps that have no token."""
        placed = span.placed(self.of)
        if placed.parts is None:
            return placed
        parts = joined_ranges(placed.parts, ge)
        return replace(placed, parts=parts if len(parts) > 1 else None)

    def _fits(self, span: Span) -> bool:
        shift = self._document.start
        return all(
            start == end or (start - shift in self._known_starts and end - shift in self._known_ends)
            for start, end in span.fragments
        )
