"""Annotations that overlap, lie within or equal a containing one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate

from clueval.core.document import Document
from clueval.core.overlap import SpanIndex
from clueval.core.span import Span, by_position
from clueval.files.errors import UsageError
from clueval.metrics.gate.pairing import touches

CONTAINMENTS = ("overlapping", "containing", "coextensive")
"""The relation of an annotation to a containing one: overlaps it, lies within it, has the same range."""


def containing_in(document: Document, layer: str) -> Sequence[Span]:
    """Return the spans of the containing layer. Raises `UsageError` if the document has no such layer."""
    if layer not in document.layers:
        raise UsageError(
            f"there is no layer {layer!r} of containing annotations",
            **document.in_errors,
            advice="Gate.containing must name a layer of both documents",
        )
    return document.layers[layer]


def require_containment(containment: str) -> None:
    """Raise `UsageError` for an unknown containment."""
    if containment not in CONTAINMENTS:
        raise UsageError(f"unknown containment {containment!r}", advice=f"one of {', '.join(CONTAINMENTS)}")


def kept_within(
    spans: Iterable[Span], containing: Sequence[Span], containment: str = "overlapping"
) -> list[Span]:
    """Return the spans that overlap, lie within, or have the same range as some span of `containing`.

    Without any containing span the result is empty. O(n log n). Raises `UsageError` for another
    `containment`.

    >>> [len(kept_within([Span(0, 4)], [Span(2, 9)], how)) for how in CONTAINMENTS]
    [1, 0, 0]
    """
    require_containment(containment)
    if containment == "overlapping":
        touching = Touching(containing)
        return [span for span in spans if touching.find(span)]
    if containment == "coextensive":
        ranges = {(span.start, span.end) for span in containing}
        return [span for span in spans if (span.start, span.end) in ranges]
    starts, reaches = _reaches(containing)
    return [span for span in spans if (n := bisect_right(starts, span.start)) and span.end <= reaches[n - 1]]


def _reaches(spans: Iterable[Span]) -> tuple[list[int], list[int]]:
    """Return the starts of spans in order and, for each, the furthest end of the spans up to it."""
    ordered = sorted(spans, key=by_position)
    return [span.start for span in ordered], list(accumulate((span.end for span in ordered), max))


def hull(span: Span) -> Span:
    """Return a span without gaps from the start to the end of a span."""
    return Span(span.start, span.end)


class Touching:
    """An index of spans that finds those which touch a given span (`clueval.metrics.gate.pairing.touches`)."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self._spans = list(spans)
        self._index = SpanIndex(list(map(hull, self._spans)))
        self._at: dict[tuple[int, int], list[int]] = {}
        for number, span in enumerate(self._spans):
            self._at.setdefault((span.start, span.end), []).append(number)

    def overlapping(self, span: Span) -> list[int]:
        """Return the numbers of the spans whose range overlaps that of `span` or equals it, ascending."""
        return self._found(span, (span.start, span.end))

    def touching(self, span: Span) -> list[int]:
        """Return the numbers of the spans whose range touches that of `span`, ascending."""
        return self._found(span, (span.start, span.start) if len(span) else None)

    def find(self, span: Span) -> list[int]:
        """Return the numbers of the spans that touch `span`, ascending."""
        return [number for number in self.touching(span) if touches(span, self._spans[number])]

    def _found(self, span: Span, also: tuple[int, int] | None) -> list[int]:
        """Return the numbers of the spans whose range overlaps that of `span`, or is one other, ascending."""
        return sorted({*self._index.overlapping(hull(span)), *(self._at.get(also, ()) if also else ())})
