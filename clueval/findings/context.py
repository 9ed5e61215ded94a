"""The text around a span, cut into pieces by the sides that have marked it.

A context is the sentence of a span, or several sentences if the span or one that overlaps it crosses a
border; in a document without sentences it is the line (characters) or the document (tokens). With a window it
is that number of positions on each side, and sentences are ignored. No context reaches further than `REACH`
from the span unless a wider window is set, because a document may be a single sentence. `Context` records
where the text was cut.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from operator import itemgetter
from typing import Literal, NamedTuple

from clueval.core.span import Span
from clueval.spans.document import Document, Sentence, Unit

Mark = Literal["both", "own", "other", "neither"]
"""Which side has marked a piece: both, only the side of the span itself, only the other side, or neither."""

REACH: dict[Unit, int] = {"token": 300, "character": 2000}
"""The number of positions shown at most before and after a span, unless a wider window is set."""


class Piece(NamedTuple):
    """A stretch of text with the same mark; `others` are the numbers of the other side's spans that contain
    it.

    The text is empty at a span of zero length.
    """

    text: str
    mark: Mark
    others: tuple[int, ...] = ()


_piece: Callable[[tuple[str, Mark, tuple[int, ...]]], Piece] = partial(tuple.__new__, Piece)
"""Makes a piece in half the time."""


class Context(NamedTuple):
    """The pieces in order, the text that joins them (a blank between tokens), and whether the text is cut.

    `start` is the position of the first piece, `lengths` are the numbers of positions of all pieces, and `tokens`
    the tokens of the context, if the positions are tokens.
    """

    pieces: tuple[Piece, ...] = ()
    joiner: str = " "
    cut_before: bool = False
    cut_after: bool = False
    start: int = 0
    lengths: tuple[int, ...] = ()
    tokens: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Return the context as it is written in the document.

        >>> Context((Piece("Frau", "neither"), Piece("Weiß", "own"))).text
        'Frau Weiß'
        """
        return self.joiner.join(piece.text for piece in self.pieces if piece.text)


class Contexts:
    """Finds the contexts of the spans of one document. O(n) to create for n sentences."""

    __slots__ = (
        "_document",
        "_end",
        "_has_ids",
        "_joiner",
        "_reach",
        "_sentences",
        "_start",
        "_starts",
        "_units",
        "_window",
    )

    def __init__(
        self, document: Document, sentences: Sequence[Sentence] = (), window: int | None = None
    ) -> None:
        self._document = document
        self._start, self._end = document.start, document.end
        of_tokens = document.unit == "token"
        self._joiner = " " if of_tokens else ""
        self._units: Sequence[str] = (document.tokens if of_tokens else document.text) or ()
        self._window = window
        self._reach = max(REACH[document.unit], window or 0)
        self._sentences = sentences
        self._starts = [sentence.start for sentence in sentences]
        self._has_ids = any(sentence.id is not None for sentence in sentences)

    def sentence_ids(self, start: int, end: int) -> tuple[str, ...]:
        """Return the ids of the sentences in which a range lies, without those that the file does not give."""
        if not self._has_ids:
            return ()
        first = max(bisect_right(self._starts, start) - 1, 0)
        last = max(bisect_left(self._starts, end), first + 1)
        return tuple(
            [
                id_
                for begins, ends, id_ in self._sentences[first:last]
                if id_ is not None and begins < max(end, start + 1) and start < ends
            ]
        )

    def around(self, span: Span, others: Sequence[Span], by: int = 0) -> Context:
        """Return the context of a span and of all spans that overlap it, which must be sorted by position.

        The positions of these spans are moved by `by`.
        """
        if self._end is None:
            return Context()
        hull_start, hull_end = span.start, span.end
        for other in others:
            if other.start < hull_start:
                hull_start = other.start
            if other.end > hull_end:
                hull_end = other.end
        least, greatest = self._bounds(hull_start + by, hull_end + by)
        least, greatest = max(least, self._start), min(greatest, self._end)
        start, end = max(least, span.start + by - self._reach), min(greatest, span.end + by + self._reach)
        if self._window is not None:
            least, greatest = self._start, self._end
        first, past = start - by, end - by
        pieces = _pieces_of_two(first, past, span, others) or list(_pieces(first, past, span, others))
        joiner, units = self._joiner, self._units[start - self._start : end - self._start]
        return Context(
            tuple(
                [_piece((joiner.join(units[a - first : b - first]), mark, of)) for a, b, mark, of in pieces]
            ),
            joiner,
            start > least,
            end < greatest,
            start,
            tuple([b - a for a, b, _, _ in pieces]),
            () if isinstance(units, str) else tuple(units),
        )

    def _bounds(self, start: int, end: int) -> tuple[int, int]:
        """Return the start and end of the context of a range, before it is limited by `REACH`."""
        if self._window is not None:
            return start - self._window, end + self._window
        if self._sentences:
            number = bisect_right(self._starts, start)
            if 0 < number < len(self._starts) and end <= self._starts[number]:
                first, last, _ = self._sentences[number - 1]
                if start < last and end <= last:  # nearly always: all of it is in one sentence
                    return first, last
            return self._sentence_start(start), self._sentence_end(max(start, end - 1))
        document = self._document
        if document.unit == "character" and document.text is not None:
            return self._line(document.text, start, end)
        return self._start, self._start if self._end is None else self._end

    def _sentence_start(self, position: int) -> int:
        """Return the start of the sentence at a position, or the end of the one before if it is in none."""
        number = bisect_right(self._starts, position) - 1
        if number < 0:
            return self._start
        sentence = self._sentences[number]
        return sentence.start if position < sentence.end else sentence.end

    def _sentence_end(self, position: int) -> int:
        """Return the end of the sentence at a position, or the start of the next if it is in none."""
        number = bisect_right(self._starts, position) - 1
        if number >= 0 and position < self._sentences[number].end:
            return self._sentences[number].end
        if number + 1 < len(self._sentences):
            return self._sentences[number + 1].start
        return self._start if self._end is None else self._end

    def _line(self, text: str, start: int, end: int) -> tuple[int, int]:
        """Return the start and end of the lines of a range, searched within `REACH` only."""
        shift = self._start
        start, end = start - shift, end - shift
        before = text.rfind("\n", max(start - self._reach, 0), start)
        after = text.find("\n", end, end + self._reach)
        far_before, far_after = max(start - self._reach - 1, 0), end + self._reach + 1
        return (
            (before + 1 if before >= 0 else far_before) + shift,
            (after if after >= 0 else far_after) + shift,
        )


_start = itemgetter(0)

_Piece = tuple[int, int, Mark, tuple[int, ...]]
"""The start, the end, the mark and the spans of a piece."""


_Marked = tuple[Mark, tuple[int, ...]]
_NEITHER: _Marked = "neither", ()
_OWN: _Marked = "own", ()
_OTHER: _Marked = "other", (0,)
_BOTH: _Marked = "both", (0,)


def _pieces_of_two(start: int, end: int, span: Span, others: Sequence[Span]) -> list[_Piece]:
    """Return what `_pieces` yields, faster, for a span with at most one other; nothing if it takes the sweep.

    The other span divides the span, or is divided by it, at two places: before the first and after the second are the
    parts that only one of them has.
    """
    first, last = span.start, span.end
    pieces: list[_Piece]
    if not others and first < last and span.parts is None:
        pieces = [(start, first, *_NEITHER), (first, last, *_OWN), (last, end, *_NEITHER)]
    elif len(others) == 1 and span.parts is None and others[0].parts is None:
        other_first, other_last = max(others[0].start, start), min(others[0].end, end)
        a, b, before = (first, other_first, _OWN) if first < other_first else (other_first, first, _OTHER)
        c, d, after = (other_last, last, _OWN) if other_last < last else (last, other_last, _OTHER)
        if b >= c:
            return []
        pieces = [(start, a, *_NEITHER), (a, b, *before), (b, c, *_BOTH), (c, d, *after), (d, end, *_NEITHER)]
    else:
        return []
    return [piece for piece in pieces if piece[0] < piece[1]]


def _pieces(start: int, end: int, span: Span, others: Sequence[Span]) -> Iterator[_Piece]:
    """Yield the start, the end, the mark and the spans of each piece between two positions: a sweep over the starts
    and ends of all spans there."""
    cuts = {start, end}
    points: dict[int, list[int]] = {}
    for number, each in enumerate((span, *others), -1):
        if start < each.start < end:
            cuts.add(each.start)
        if start < each.end < end:
            cuts.add(each.end)
        if each.parts is not None:
            cuts.update(place for part in each.parts for place in part if start < place < end)
        if each.start == each.end:
            points.setdefault(each.start, []).append(number)
    waiting, active = 0, list[int]()
    ordered = sorted(cuts)
    for here, following in pairwise([*ordered, ordered[-1]]):
        if here in points:
            inside = [n for n in active if others[n].start < here < others[n].end]
            at_point = points[here]
            is_own = -1 in at_point or span.start < here < span.end
            numbers = (*inside, *(n for n in at_point if n >= 0))
            yield here, here, _mark(is_own, numbers), numbers
        while waiting < len(others) and others[waiting].start <= here:
            active.append(waiting)
            waiting += 1
        if active:
            active = [n for n in active if others[n].end > here]
        if here < following:
            numbers = tuple([n for n in active if others[n].parts is None or covers(others[n], here)])
            yield here, following, _mark(covers(span, here), numbers), numbers


def _mark(is_own: bool, others: Sequence[int]) -> Mark:
    """Return the mark of a piece that belongs to the span itself or not, and to these spans of the other side."""
    if is_own:
        return "both" if others else "own"
    return "other" if others else "neither"


def covers(span: Span, position: int) -> bool:
    """Return whether a position belongs to a span; one in a gap of a discontinuous span does not."""
    if span.parts is None:
        return span.start <= position < span.end
    number = bisect_right(span.parts, position, key=_start) - 1
    return number >= 0 and position < span.parts[number][1]
