"""The text of a place, and the spans of both sides as bars above and below it.

The text is cut into pieces where any span begins or ends. A bar covers consecutive pieces of text and has a lane:
bars of one side that overlap (nested or crossing spans of several layers) have different lanes, the longer one
nearer to the text.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from heapq import heappop, heappush
from itertools import chain, pairwise
from operator import attrgetter
from typing import NamedTuple

from clueval.findings.context import Context
from clueval.findings.places import ErrorPlace
from clueval.findings.systems import SharedPlace
from clueval.findings.table import GAP, Finding


class Bar(NamedTuple):
    """A span: it covers the pieces from `first` to before `last`.

    `row` is 0 for gold and 1 for predicted, or the number of the system from 1 on.
    """

    row: int
    labels: Mapping[str, str | None]
    start: int
    end: int
    first: int
    last: int
    lane: int


class Drawing(NamedTuple):
    """The pieces of the text, the bars, and for each error of the place the numbers of its bars."""

    pieces: tuple[str, ...]
    bars: tuple[Bar, ...]
    own: tuple[tuple[int, ...], ...]
    cut_before: bool
    cut_after: bool

    def over(self) -> Iterator[list[int]]:
        """Yield for each piece the numbers of the bars over it, in their order."""
        begin: dict[int, list[int]] = {}
        for number, bar in enumerate(self.bars):
            begin.setdefault(bar.first, []).append(number)
        found: list[int] = []
        for piece in range(len(self.pieces)):
            found = sorted([n for n in found if piece < self.bars[n].last] + begin.get(piece, []))
            yield found


class _Marked(NamedTuple):
    """A span that a finding shows; `end` is exclusive. `layers` makes spans of several layers different."""

    row: int
    start: int
    end: int
    layers: tuple[tuple[str, str | None], ...]


def drawn(place: ErrorPlace) -> Drawing:
    """Return the drawing of a place. Costs O(n) for the contexts of its findings together.

    >>> from clueval.findings.choice import findings
    >>> from clueval.findings.places import places
    >>> from clueval.spans.document import Document
    >>> from clueval.core.span import Span
    >>> tokens = ["Frau", "Anna", "Weiß", "wohnt"]
    >>> gold = Document("d", {"label": [Span(0, 2, "PER")]}, tokens=tokens)
    >>> predicted = Document("d", {"label": [Span(1, 3, "PER")]}, tokens=tokens)
    >>> (place,) = places(findings(gold, predicted))
    >>> drawn(place).pieces
    ('Frau ', 'Anna ', 'Weiß ', 'wohnt')
    >>> [(bar.row, bar.first, bar.last) for bar in drawn(place).bars]
    [(0, 0, 2), (1, 1, 3)]
    """
    own = list(_own(place))
    marked = sorted({*chain.from_iterable(own), *_others(place)}, key=_order)
    contexts = sorted([finding.context for finding in place.findings], key=_start)
    pieces = _pieces(contexts, marked)
    bars = tuple(_bars(marked, pieces))
    numbers = {each: number for number, each in enumerate(marked)}
    last = max(contexts, key=_end)
    return Drawing(
        tuple([text for _, _, text in pieces]),
        bars,
        tuple([tuple([numbers[each] for each in marks]) for marks in own]),
        contexts[0].cut_before,
        last.cut_after,
    )


_start: Callable[[Context], int] = attrgetter("start")


def _end(context: Context) -> int:
    return context.start + sum(context.lengths)


def _own(place: ErrorPlace) -> Iterator[Sequence[_Marked]]:
    """Yield the spans of each error of a place; one, or two if both systems have the same wrong span."""
    if isinstance(place, SharedPlace):
        for error in place.errors:
            found = [_of_finding(each, system) for system, each in enumerate(error.by, 1) if each is not None]
            yield list(dict.fromkeys(found))
    else:
        for finding in place.findings:
            yield [_of_finding(finding, 1)]


def _of_finding(finding: Finding, system: int) -> _Marked:
    row = system if finding.side == "predicted" else 0
    return _Marked(row, finding.start, finding.end + 1, tuple(finding.labels.items()))


def _others(place: ErrorPlace) -> Iterator[_Marked]:
    """Yield the other spans to be drawn: those of the other side, as far as the contexts show them."""
    if isinstance(place, SharedPlace):
        for row, span in place.spans:
            yield _Marked(row, span.start, span.end, tuple(span.by_layer.items()))
        return
    for finding in place.findings:
        row = 0 if finding.side == "predicted" else 1
        context = finding.context
        ranges: dict[int, tuple[int, int]] = {}
        start = context.start
        for (_, _, numbers), length in zip(context.pieces, context.lengths, strict=True):
            end = start + length
            for number in numbers:
                ranges[number] = (ranges[number][0] if number in ranges else start, end)
            start = end
        for number, (start, end) in ranges.items():
            yield _Marked(row, start, end, tuple(finding.other_labels[number].items()))


def _order(marked: _Marked) -> tuple[int, int, int, str]:
    """Longer spans come first, so that they get the lane next to the text."""
    return marked.start, -marked.end, marked.row, _as_text(marked.layers)


_as_text = lru_cache(maxsize=1 << 10)(repr)


_Pieces = list[tuple[int, int, str]]


def _pieces(contexts: Iterable[Context], marked: Iterable[_Marked]) -> _Pieces:
    """Return the pieces of the text: start, end and text. A span of zero length has an empty piece."""
    ends = sorted({each.start for each in marked} | {each.end for each in marked})
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
        cuts = [reach, *ends[bisect_right(ends, reach) : bisect_left(ends, stop)], stop]
        for start, end in pairwise(cuts):
            text = context.joiner.join(units[start - context.start : end - context.start])
            pieces.append((start, end, text + context.joiner))
    if pieces and pieces[-1][2].endswith(" ") and any(context.tokens for context in contexts):
        pieces[-1] = (*pieces[-1][:2], pieces[-1][2][:-1])
    return sorted([*pieces, *((point, point, "") for point in points)]) if points else pieces


def _bars(marked: Iterable[_Marked], pieces: _Pieces) -> list[Bar]:
    ranges = [(start, end) for start, end, _ in pieces]
    bars = []
    lanes = defaultdict[int, _Lanes](_Lanes)
    for row, start, end, layers in marked:
        first = bisect_left(ranges, (start, start + (start < end)))
        last = first + 1 if start == end else bisect_left(ranges, (end, end))
        lane = lanes[row].take(first, last)
        bars.append(Bar(row, dict(layers), start, end - 1, first, last, lane))
    if 2 not in lanes:
        return bars
    above = max(lanes[1].number, 1)  # the second system is below the first, also where that has no span
    return [bar._replace(lane=bar.lane + above) if bar.row == 2 else bar for bar in bars]


class _Lanes:
    """The lanes of one row; bars come by their first piece."""

    def __init__(self) -> None:
        self.number = 0
        self._free: list[int] = []
        self._taken: list[tuple[int, int]] = []  # a heap of the lanes in use, by the piece where they end

    def take(self, first: int, last: int) -> int:
        """Return the lowest lane that is free at the piece `first`; it is then taken up to before `last`."""
        while self._taken and self._taken[0][0] <= first:
            heappush(self._free, heappop(self._taken)[1])
        if not self._free:
            heappush(self._free, self.number)
            self.number += 1
        lane = heappop(self._free)
        heappush(self._taken, (last, lane))
        return lane
