"""The text of a document of either unit, and where its positions stand in it."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, count
from operator import add, sub
from typing import Self

from clueval.core.document import Document
from clueval.core.span import Span
from clueval.files.errors import UsageError


def are_unknown(tokens: Sequence[str]) -> bool:
    """Return whether there are tokens and all of them are empty, as in documents that were made of lists of tags."""
    return len(tokens) > 0 and not any(tokens)


def has_characters(document: Document) -> bool:
    """Return whether a document has a text, or tokens that make one."""
    if document.unit == "character":
        return document.text is not None
    return document.tokens is not None and not are_unknown(document.tokens)


def tokens_in(text: str, tokens: Iterable[str]) -> list[tuple[int, int]]:
    """Return the ranges of tokens in a text, one after the other; none if they do not all stand in it."""
    ranges, place = [], 0
    for token in tokens:
        start = text.find(token, place)
        if start < 0:
            return []
        place = start + len(token)
        ranges.append((start, place))
    return ranges


@dataclass(frozen=True, slots=True)
class Characters:
    """The text of a document, and where each of its tokens starts and ends in it (half-open).

    `starts` and `ends` are None if the unit of the document is the character. `offset` is the first position of the
    document.
    """

    text: str
    offset: int = 0
    starts: Sequence[int] | None = None
    ends: Sequence[int] | None = None

    @classmethod
    def of(cls, document: Document) -> Self:
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
