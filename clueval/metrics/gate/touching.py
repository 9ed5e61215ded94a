"""Which annotations touch one another, as GATE's annotation sets answer it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable

from clueval.spans.span import Span


def touches(one: Span, other: Span) -> bool:
    """Return whether GATE returns `other` when it is asked for the annotations that overlap `one`.

    This is the same as `Span.overlaps`, except that a span of zero length at the start of a span with a
    length also touches it.

    >>> touches(Span(3, 5), Span(3, 3)), touches(Span(3, 5), Span(5, 5)), touches(Span(3, 3), Span(3, 5))
    (True, False, False)
    """
    touching = other.start < one.start < other.end or one.start <= other.start < one.end
    if not touching or (one.parts is None and other.parts is None):
        return touching
    return any(
        last_start < start < last_end or start <= last_start < end
        for start, end in one.fragments
        for last_start, last_end in other.fragments
    )


class Touching:
    """An index that tests whether any of its spans touches a given span; each test costs O(log n).

    Where spans are discontinuous, a test looks at all spans.

    The touching spans are those that start before the end of the given span, minus those that end before or
    at its start (except spans of zero length at its start).
    """

    __slots__ = ("_ends", "_has_gaps", "_listed", "_points", "_starts")

    def __init__(self, spans: Iterable[Span]) -> None:
        listed = list(spans)
        self._listed = listed
        self._has_gaps = any(span.parts is not None for span in listed)
        self._starts = sorted(span.start for span in listed)
        self._ends = sorted(span.end for span in listed)
        self._points = Counter(span.start for span in listed if span.start == span.end)

    def any(self, span: Span) -> bool:
        """Return whether `touches` is true for the span and any of these."""
        if self._has_gaps or span.parts is not None:
            return any(touches(span, other) for other in self._listed)
        before = bisect_right(self._ends, span.start) - self._points[span.start]
        return bisect_left(self._starts, span.end) > before
