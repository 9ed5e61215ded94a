"""From ranges of characters to tokens: a range gets the tokens of which it covers more than half the characters."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from clueval.spans.parts import Ranges
from clueval.spans.span import Span


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
