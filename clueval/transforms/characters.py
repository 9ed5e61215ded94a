"""From tokens to characters and back: a range of characters gets the tokens of which it covers more than half.

`InCharacters` is the step of the option ``unit="character"``.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from clueval.core.alignment import Characters, has_characters
from clueval.core.count import UNIT
from clueval.core.document import Document, Pair
from clueval.core.span import NOTHING, Span, joined_ranges
from clueval.files.errors import UsageError
from clueval.transforms.changes import EachPair


@dataclass(frozen=True)
class InCharacters(EachPair):
    """A step that converts the positions of all documents to characters (`to_characters`); it comes last."""

    signature: ClassVar[tuple[str, str]] = (UNIT, "character")

    def of_pair(self, pair: Pair) -> Iterator[Pair]:
        yield replace(pair, gold=_characters_of(pair.gold), predicted=_characters_of(pair.predicted))


def _characters_of(document: Document) -> Document:
    """Return a document in characters; one that has neither spans nor a text, beside a text, needs none."""
    if document.end is None and not any(document.layers.values()):
        return replace(document, unit="character", start=0)
    return to_characters(document)


def to_characters(document: Document) -> Document:
    """Return the document with positions in code points of its text, from 0; without one, blanks join its tokens.

    A span becomes the range from the first character of its first token to the last character of its last
    token; a span of zero length is placed before its token. A document that counts characters already is
    returned unchanged. Raises `UsageError` for a document without text.

    >>> tokens = Document("d", {"x": [Span(1, 3, {"x": "PER"})]}, tokens=["Frau", "Anna", "Weiß"])
    >>> document = to_characters(tokens)
    >>> document.text, document.layers["x"][0].start, document.layers["x"][0].end
    ('Frau Anna Weiß', 5, 14)
    """
    if document.unit == "character":
        return document
    if not has_characters(document):
        raise UsageError(
            "a document without text cannot be converted to character positions",
            **document.in_errors,
            advice="use a format that has the text",
        )
    if document.text is None:
        return TextPositions.of(document).placed(document)
    return TextPositions(document.text, document.start, *_places(document)).placed(document)


def _places(document: Document) -> tuple[list[int], list[int]]:
    """Return where each token starts and ends in the text of its document."""
    text, starts, ends = document.text or "", [], [0]
    for token in document.tokens or ():
        starts.append(text.find(token, ends[-1]))
        if starts[-1] < 0 or text[ends[-1] : starts[-1]].strip():
            raise UsageError(f"token {len(starts)} does not follow in the text of its document")
        ends.append(starts[-1] + len(token))
    return starts, ends[1:]


class TextPositions(Characters):
    """The text of a document, and from ranges of its characters back to positions.

    >>> tokens = TextPositions("Ada sang", 0, [0, 4], [3, 8])
    >>> tokens.positions_of(0, 5), tokens.positions_of(4, 7), tokens.positions_of(4, 6)
    ((0, 1), (1, 2), None)
    """

    __slots__ = ()

    def positions_of(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the positions for a range of characters: of tokens, those with more than half their characters in it.

        None if there is no such token.
        """
        if self.starts is None or self.ends is None:
            return self.offset + start, self.offset + end
        first, past = bisect_right(self.ends, start), bisect_left(self.starts, end)
        if first < past and not _covers(start, end, self.starts[first], self.ends[first]):
            first += 1
        if first < past and not _covers(start, end, self.starts[past - 1], self.ends[past - 1]):
            past -= 1
        return (self.offset + first, self.offset + past) if first < past else None

    def next_at(self, place: int) -> int:
        """Return the first position that begins at or after a character."""
        return self.offset + (place if self.starts is None else bisect_left(self.starts, place))

    def span(self, span: Span) -> Span | None:
        """Return a span of characters with positions of tokens; None if one of its parts gets no token."""
        if span.start == span.end:
            here = self.next_at(span.start)
            return on_ranges(span, [(here, here)])
        ranges = [self.positions_of(*part) for part in span.fragments]
        places = joined_ranges([place for place in ranges if place is not None])
        if None in ranges:
            return None
        return on_ranges(span, places)

    @property
    def first(self) -> int:
        """The number of the first character: the first position of a document whose positions are characters."""
        return self.offset if self.starts is None else 0

    def placed(self, document: Document) -> Document:
        """Return a document, whose tokens these are, with positions in the characters of this text, from 0."""
        return document.placed(
            self.range_between,
            text=self.text,
            unit="character",
            start=0,
            tokens=None,
            token_ids=None,
            tags=NOTHING,
            lines=None,
        )


def _covers(start: int, end: int, token_start: int, token_end: int) -> bool:
    return 2 * (min(end, token_end) - max(start, token_start)) > token_end - token_start


def without_blanks(span: Span, text: str, first: int = 0) -> Span:
    """Return the span of a text, which begins at position `first`, without white space at the edges of its fragments.

    >>> without_blanks(Span(0, 6, "A"), " Ada  sang").fragments
    ((1, 4),)
    """
    ranges = []
    for start, end in span.fragments:
        while start < end and text[start - first].isspace():
            start += 1
        while end > start and text[end - first - 1].isspace():
            end -= 1
        ranges.append((start, end))
    fragments = [part for part in ranges if part[0] < part[1]] or ranges[:1]
    return span if tuple(fragments) == span.fragments else on_ranges(span, fragments)


def on_ranges(span: Span, ranges: Sequence[tuple[int, int]]) -> Span:
    """Return the span on these ranges, in order, in place of its own.

    >>> on_ranges(Span(0, 9, "A"), [(2, 3), (5, 7)]).fragments
    ((2, 3), (5, 7))
    """
    parts = tuple(ranges) if len(ranges) > 1 else None
    return Span(ranges[0][0], ranges[-1][1], span.labels, span.features, None, span.id, span.line, parts)
