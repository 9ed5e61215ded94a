"""From tokens to characters and back: a range of characters gets the tokens of which it covers more than half."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, count
from operator import add, sub

from clueval.core.ranges import joined_ranges
from clueval.core.span import Frozen, Span
from clueval.files.errors import UsageError
from clueval.spans.document import Document


def are_unknown(tokens: Sequence[str]) -> bool:
    """Return whether there are tokens and all of them are empty, as in documents that were made of lists of tags."""
    return len(tokens) > 0 and not any(tokens)


def has_characters(document: Document) -> bool:
    """Return whether a document has a text, or tokens that make one."""
    if document.unit == "character":
        return document.text is not None
    return document.tokens is not None and not are_unknown(document.tokens)


def tokens_in(text: str, tokens: Iterable[str]) -> list[tuple[int, int]]:
    """Return the ranges of tokens in a text, one after the other; none if they do not all stand in it.

    >>> tokens_in("in Ulm.", ["in", "Ulm", "."])
    [(0, 2), (3, 6), (6, 7)]
    """
    found, place = [], 0
    for token in tokens:
        start = text.find(token, place)
        if start < 0:
            return []
        place = start + len(token)
        found.append((start, place))
    return found


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
        return Characters.of(document).placed(document)
    return Characters(document.text, document.start, *_places(document)).placed(document)


def _places(document: Document) -> tuple[list[int], list[int]]:
    """Return where each token starts and ends in the text of its document."""
    text, starts, ends = document.text or "", [], [0]
    for token in document.tokens or ():
        starts.append(text.find(token, ends[-1]))
        if starts[-1] < 0 or text[ends[-1] : starts[-1]].strip():
            raise UsageError(f"token {len(starts)} does not follow in the text of its document")
        ends.append(starts[-1] + len(token))
    return starts, ends[1:]


@dataclass(frozen=True, slots=True)
class Characters:
    """The text of a document of either unit, and where each of its tokens starts and ends in it (half-open).

    `starts` and `ends` are None if the unit of the document is the character. `offset` is the first position of the
    document.

    >>> tokens = Characters("Ada sang", 0, [0, 4], [3, 8])
    >>> tokens.positions_of(0, 5), tokens.positions_of(4, 7), tokens.positions_of(4, 6)
    ((0, 1), (1, 2), None)
    """

    text: str
    offset: int = 0
    starts: Sequence[int] | None = None
    ends: Sequence[int] | None = None

    @classmethod
    def of(cls, document: Document) -> Characters:
        """Return the text of `document`; tokens are joined by single blanks. Raises `UsageError` if it has none.

        >>> Characters.of(Document("d", {}, tokens=["Anna", "Weiß"], start=10)).range_of(Span(11, 12))
        (5, 9)
        """
        if not has_characters(document):
            raise UsageError(
                "the document has no text to align",
                **document.in_errors,
                advice="use a format that has the text",
            )
        if document.unit == "character":
            return cls(document.text or "", document.start)
        tokens = document.tokens or ()
        # Each token begins one blank after the one before it ends.
        lengths = list(map(len, tokens))
        ends = array("q", map(add, accumulate(lengths), count()))
        starts = array("q", map(sub, ends, lengths))
        return cls(" ".join(tokens), document.start, starts, ends)

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
        found = joined_ranges([each for each in ranges if each is not None])
        if None in ranges:
            return None
        return on_ranges(span, found)

    @property
    def first(self) -> int:
        """The number of the first character: the first position of a document whose positions are characters."""
        return self.offset if self.starts is None else 0

    def range_of(self, span: Span) -> tuple[int, int]:
        """Return the range of characters that a span covers, half-open, including the blanks inside it."""
        return self.range_between(span.start, span.end)

    def range_between(self, start: int, end: int) -> tuple[int, int]:
        """Return the range of characters between two positions of the document, half-open."""
        first, last = start - self.offset, end - self.offset
        if self.starts is None or self.ends is None:
            return first, last
        if first < last:
            return self.starts[first], self.ends[last - 1]
        here = self.starts[first] if first < len(self.starts) else len(self.text)
        return here, here

    def placed(self, document: Document) -> Document:
        """Return a document, whose tokens these are, with positions in the characters of this text, from 0."""
        return document.placed(
            self.range_between,
            text=self.text,
            unit="character",
            start=0,
            tokens=None,
            token_ids=None,
            tags=Frozen(),
            transitions=None,
            lines=None,
        )


def _covers(start: int, end: int, own: int, own_end: int) -> bool:
    return 2 * (min(end, own_end) - max(start, own)) > own_end - own


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
    kept = [part for part in ranges if part[0] < part[1]] or ranges[:1]
    return span if tuple(kept) == span.fragments else on_ranges(span, kept)


def on_ranges(span: Span, ranges: Sequence[tuple[int, int]]) -> Span:
    """Return the span on these ranges, in order, in place of its own.

    >>> on_ranges(Span(0, 9, "A"), [(2, 3), (5, 7)]).fragments
    ((2, 3), (5, 7))
    """
    parts = ranges if len(ranges) > 1 else None
    return Span(ranges[0][0], ranges[-1][1], span.labels, span.features, None, span.id, span.line, parts)
