"""From tokens to characters and back: a range of characters gets the tokens of which it covers more than half."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from clueval.exceptions import UsageError
from clueval.spans.document import Document, Sentence
from clueval.spans.ranges import Ranges
from clueval.spans.span import Frozen, Span


def are_unknown(tokens: Sequence[str]) -> bool:
    """Return whether there are tokens and all of them are empty, as in documents that were made of lists of tags."""
    return len(tokens) > 0 and not any(tokens)


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
    if document.tokens is None or are_unknown(document.tokens):
        raise UsageError(
            "a document without text cannot be converted to character positions",
            **document.in_errors,
            advice="use a format that has the text",
        )
    text, starts, ends = _places(document.tokens, document.text)

    def moved(start: int, end: int) -> tuple[int, int]:
        first, last = start - document.start, end - document.start - 1
        return starts[first], ends[last] if last >= first else starts[first]

    def spans(old: Iterator[Span]) -> list[Span]:
        new = []
        for span in old:
            found = span.placed(moved)
            if span.tokens is not None:
                tokens = frozenset(_characters(span.tokens, document.start, starts, ends))
                found = replace(found, tokens=tokens)
            new.append(found)
        return new

    return Document(
        document.id,
        Frozen({layer: spans(iter(old)) for layer, old in document.layers.items()}),
        text=text,
        unit="character",
        sentences=[Sentence(*moved(start, end), name) for start, end, name in document.sentences],
        metadata=document.metadata,
        repaired=document.repaired,
        file=document.file,
    )


def _places(tokens: Sequence[str], text: str | None) -> tuple[str, list[int], list[int]]:
    """Return the text, and the first position of each token and of the end, and the position after each token.

    Without a text, tokens are joined by single blanks.
    """
    if text is None:
        starts = list(accumulate((len(token) + 1 for token in tokens), initial=0))
        ends = [start + len(token) for start, token in zip(starts, tokens, strict=False)]
        return " ".join(tokens), starts, ends
    starts, ends = [], [0]
    for token in tokens:
        starts.append(text.find(token, ends[-1]))
        if starts[-1] < 0 or text[ends[-1] : starts[-1]].strip():
            raise UsageError(f"token {len(starts)} does not follow in the text of its document")
        ends.append(starts[-1] + len(token))
    return text, [*starts, len(text)], ends[1:]


def _characters(tokens: frozenset[int], first: int, starts: list[int], ends: list[int]) -> Iterator[int]:
    for token in tokens:
        yield from range(starts[token - first], ends[token - first])


@dataclass(frozen=True, slots=True)
class TokenRanges:
    """Where each token starts and ends in a text; `first` is the position of the first token.

    >>> tokens = TokenRanges([0, 4], [3, 8])
    >>> tokens.of(0, 5), tokens.of(4, 7), tokens.of(4, 6)
    ((0, 1), (1, 2), None)
    """

    starts: Sequence[int]
    ends: Sequence[int]
    first: int = 0

    def of(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the tokens of a range of characters, or None if it covers none by more than half."""
        begin, last = bisect_right(self.ends, start), bisect_left(self.starts, end)
        if begin < last and not self._covers(start, end, begin):
            begin += 1
        if begin < last and not self._covers(start, end, last - 1):
            last -= 1
        return (self.first + begin, self.first + last) if begin < last else None

    def _covers(self, start: int, end: int, token: int) -> bool:
        own, own_end = self.starts[token], self.ends[token]
        return 2 * (min(end, own_end) - max(start, own)) > own_end - own

    def next_at(self, place: int) -> int:
        """Return the first token that begins at or after a character."""
        return self.first + bisect_left(self.starts, place)

    def span(self, span: Span) -> Span | None:
        """Return a span of characters with positions of tokens; None if one of its parts gets no token."""
        if span.start == span.end:
            here = self.next_at(span.start)
            return replace(span, start=here, end=here)
        ranges = [self.of(*part) for part in span.fragments]
        found = apart([each for each in ranges if each is not None])
        if None in ranges:
            return None
        parts = None if span.parts is None else found
        return replace(span, start=found[0][0], end=found[-1][1], parts=parts, tokens=None)


def apart(ranges: Sequence[tuple[int, int]]) -> Ranges:
    """Return the ranges in order; those that overlap are joined.

    >>> apart([(3, 5), (0, 2), (4, 6)])
    ((0, 2), (3, 6))
    """
    found: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if found and start < found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((start, end))
    return tuple(found)
