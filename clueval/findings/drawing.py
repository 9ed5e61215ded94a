"""The text of a place, and the spans of both sides as bars above and below it.

The text is cut into pieces where any span begins or ends. A bar covers consecutive pieces of text and has a lane:
bars of one side that overlap (nested or crossing spans of several layers) have different lanes, the longer one
nearer to the text.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from clueval.findings.context import Context
from clueval.findings.places import ErrorPlace
from clueval.findings.table import Finding, SideName

GAP = " … "
"""Stands for the text between two contexts of a place that is too long to be shown."""


class Bar(NamedTuple):
    """A span of one side: it covers the pieces from `first` to before `last`."""

    side: SideName
    labels: Mapping[str, str | None]
    start: int
    end: int
    first: int
    last: int
    lane: int


class Drawing(NamedTuple):
    """The pieces of the text, the bars, and for each finding of the place the number of its bar."""

    pieces: tuple[str, ...]
    bars: tuple[Bar, ...]
    own: tuple[int, ...]
    cut_before: bool
    cut_after: bool


class _Marked(NamedTuple):
    """A span that a finding shows; `end` is exclusive. `layers` makes spans of several layers different."""

    side: SideName
    start: int
    end: int
    layers: tuple[tuple[str, str | None], ...]


def drawn(place: ErrorPlace) -> Drawing:
    """Return the drawing of a place. Costs O(n) for the contexts of its findings together.

    >>> from clueval.findings.choice import findings
    >>> from clueval.findings.places import places
    >>> from clueval.spans.document import Document
    >>> from clueval.spans.span import Span
    >>> tokens = ["Frau", "Anna", "Weiß", "wohnt"]
    >>> gold = Document("d", {"label": [Span(0, 2, "PER")]}, tokens=tokens)
    >>> predicted = Document("d", {"label": [Span(1, 3, "PER")]}, tokens=tokens)
    >>> (place,) = places(findings(gold, predicted))
    >>> drawn(place).pieces
    ('Frau ', 'Anna ', 'Weiß ', 'wohnt')
    >>> [(bar.side, bar.first, bar.last) for bar in drawn(place).bars]
    [('gold', 0, 2), ('predicted', 1, 3)]
    """
    own = [_own(finding) for finding in place.findings]
    marked = sorted({*own, *(each for finding in place.findings for each in _others(finding))}, key=_order)
    contexts = sorted((finding.context for finding in place.findings), key=lambda context: context.start)
    pieces = _pieces(contexts, marked)
    bars = tuple(_bars(marked, pieces))
    numbers = {each: number for number, each in enumerate(marked)}
    last = max(contexts, key=lambda context: context.start + sum(context.lengths))
    return Drawing(
        tuple(text for _, _, text in pieces),
        bars,
        tuple(numbers[each] for each in own),
        contexts[0].cut_before,
        last.cut_after,
    )


def _own(finding: Finding) -> _Marked:
    side: SideName = finding.side or "gold"
    return _Marked(side, finding.start, finding.end + 1, tuple(finding.labels.items()))


def _others(finding: Finding) -> Iterator[_Marked]:
    """Yield the spans of the other side, as far as the context shows them."""
    side: SideName = "gold" if finding.side == "predicted" else "predicted"
    context = finding.context
    starts = list(accumulate(context.lengths, initial=context.start))
    ranges: dict[int, tuple[int, int]] = {}
    for piece, (start, end) in zip(context.pieces, pairwise(starts), strict=True):
        for number in piece.others:
            ranges[number] = (ranges.get(number, (start, end))[0], end)
    for number, (start, end) in ranges.items():
        yield _Marked(side, start, end, tuple(finding.other_labels[number].items()))


def _order(marked: _Marked) -> tuple[int, int, bool, str]:
    """Longer spans come first, so that they get the lane next to the text."""
    return marked.start, -marked.end, marked.side == "predicted", repr(marked.layers)


_Pieces = list[tuple[int, int, str]]


def _pieces(contexts: Iterable[Context], marked: Iterable[_Marked]) -> _Pieces:
    """Return the pieces of the text: start, end and text. A span of zero length has an empty piece."""
    ends = {position for each in marked for position in (each.start, each.end)}
    points = {each.start for each in marked if each.start == each.end}
    pieces: _Pieces = []
    for context in contexts:
        units: Sequence[str] = context.tokens or "".join(piece.text for piece in context.pieces)
        reach = pieces[-1][1] if pieces else context.start
        if context.start > reach:
            pieces.append((reach, context.start, GAP))
            reach = context.start
        stop = context.start + len(units)
        if stop <= reach:
            continue  # other contexts show all of it
        cuts = sorted({reach, stop, *(position for position in ends if reach < position < stop)})
        for start, end in pairwise(cuts):
            text = context.joiner.join(units[start - context.start : end - context.start])
            pieces.append((start, end, text + context.joiner))
    if pieces and pieces[-1][2].endswith(" ") and any(context.tokens for context in contexts):
        pieces[-1] = (*pieces[-1][:2], pieces[-1][2][:-1])
    return sorted([*pieces, *((point, point, "") for point in points)])


def _bars(marked: Iterable[_Marked], pieces: _Pieces) -> Iterator[Bar]:
    ranges = [(start, end) for start, end, _ in pieces]
    lanes: dict[SideName, list[int]] = {"gold": [], "predicted": []}
    for each in marked:
        is_point = each.start == each.end
        first = bisect_left(ranges, (each.start, each.start + (not is_point)))
        last = first + 1 if is_point else bisect_left(ranges, (each.end, each.end))
        ends = lanes[each.side]
        lane = next((number for number, end in enumerate(ends) if end <= first), len(ends))
        ends[lane : lane + 1] = [last]
        yield Bar(each.side, dict(each.layers), each.start, each.end - 1, first, last, lane)
