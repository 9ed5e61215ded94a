"""Spans: ranges of positions with labels.

A span is a **half-open** range ``[start, end)`` of positions in a document. A position is the number of a
token (a *corpus position*: XML tags and blank lines are not counted) or of a Unicode code point, depending on
`Document.unit`. A span of zero length, ``start == end``, lies between two positions. Two spans overlap if
``a.start < b.end and b.start < a.end``; spans that touch do not overlap.

Two spans are linked if they overlap or are equal. A component is a set of spans that are connected by links. The
CLUEval algorithm builds the graph and its full adjacency matrix; here a sweep over the starts finds the components one
after the other. An index finds the spans that overlap a given one.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import pairwise
from operator import attrgetter, ge, gt, index, itemgetter
from typing import Any, NoReturn, TypeVar

from clueval.files.errors import LimitError, OverlapError, SpanError, described

MAX_PAIRS = 300_000
"""The most pairs of overlapping spans of a case that are compared one by one; see `PAIRS_OF_SPAN`."""

PAIRS_OF_SPAN = 100
"""A case with many spans may have this many such pairs for each of its spans, even if that is more."""

Ranged = TypeVar("Ranged", bound=tuple[Any, ...])

DEFAULT_LAYER = "label"
"""The name of a layer that neither the format nor its options name."""

SIDES = ("gold", "predicted")

MERGED = "merged"
"""The name of the layer into which several layers are merged."""

NO_LABEL = "_"
"""The label of a tag without a label (a bare ``B`` or ``I``)."""

NO_SPAN_LABELS = ("NONE", "EMPTY")
"""The labels with which FairEval marks a sentence without spans."""

Ranges = tuple[tuple[int, int], ...]
"""Half-open ranges of positions."""


class Frozen(dict[str, Any]):
    """A dictionary that cannot be changed and can therefore be hashed; equal to a dict of the same items."""

    __slots__ = ()

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError(f"{type(self).__name__} cannot be changed")

    __setitem__ = __delitem__ = update = setdefault = pop = popitem = clear = __ior__ = _refuse

    def __hash__(self) -> int:  # type: ignore[override]  # None in dict; a Frozen never changes
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)


NOTHING = Frozen()
"""No labels, no features, no metadata."""


LONG_LABEL = 1 << 10
"""The most characters of a label or tag that caches keep; a longer one empties them, so that they hold one at most."""


@lru_cache(maxsize=1 << 12)
def labels_in(layer: str, labels: str | tuple[tuple[str, str | None], ...] | None) -> Frozen:
    """Return the labels of a span by layer, given its label in this layer, or pairs of layers and labels."""
    if len(str(labels)) > LONG_LABEL:
        labels_in.cache_clear()
    return Frozen(labels if isinstance(labels, tuple) else {layer: labels})


def is_number(value: object) -> bool:
    """Return whether a value is a whole number, also one of numpy or torch, whose arrays have a shape."""
    return (
        hasattr(type(value), "__index__") and not isinstance(value, bool) and not getattr(value, "shape", ())
    )


Labels = Mapping[str, str | None]
"""Labels by layer: the labels of a span, or the joined labels of the spans that match it."""

LabelledRow = tuple[int, int, Labels]
"""The start, the end and the labels of a span."""


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range ``[start, end)`` with one label per layer.

    `labels` maps each layer to its label; a plain string is the label of the layer ``label``. A merged span
    has None in a layer that has no span there; None is not a label called "O". `features` are further
    properties of an annotation. `tokens` are the positions that belong to the span if punctuation within it does
    not (None: all positions of the range). `parts` are the ranges of a discontinuous span, in order; None if it
    is one piece. `id` and `line` are the id of the span and its line in the file; they do not enter equality.

    Raises `SpanError` for positions that are not integers, negative or reversed, and for parts that are empty,
    overlap, are not in order or do not reach from `start` to `end`.

    >>> Span(3, 5, {"entity": "PER", "risk": "high"}).label
    'PER|high'
    >>> Span(0, 2, "LOC").labels
    {'label': 'LOC'}
    """

    start: int
    end: int
    labels: Mapping[str, str | None] | str = NOTHING
    features: Mapping[str, Any] = field(default=NOTHING, repr=False)
    tokens: frozenset[int] | None = field(default=None, repr=False)
    id: str | int | None = field(default=None, compare=False)
    line: int | None = field(default=None, compare=False, repr=False)
    parts: Ranges | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        start, end, line = self.start, self.end, self.line
        if type(start) is not int or type(end) is not int:
            if not is_number(start) or not is_number(end):
                raise SpanError(f"positions must be integers, not {start!r} and {end!r}", line=line)
            start, end = index(start), index(end)
            object.__setattr__(self, "start", start)
            object.__setattr__(self, "end", end)
        if start < 0 or end < start:
            problem = "starts before position 0" if start < 0 else "ends before it starts"
            raise SpanError(f"span {_range_and_labels(start, end, self.labels)} {problem}", line=line)
        if type(self.labels) is not Frozen:
            object.__setattr__(self, "labels", _frozen_labels(self.labels))
        if type(self.features) is not Frozen:
            if not isinstance(self.features, Mapping):
                raise SpanError(f"features must be a dictionary, not {described(self.features)}")
            object.__setattr__(self, "features", Frozen(self.features))
        if self.parts is not None:
            object.__setattr__(self, "parts", _checked_parts(self.parts, start, end, line))

    @classmethod
    def of_fragments(
        cls,
        ranges: Iterable[Sequence[int]],
        labels: Mapping[str, str | None] | str = NOTHING,
        features: Mapping[str, Any] = NOTHING,
        *,
        id: str | int | None = None,
        line: int | None = None,
    ) -> Span:
        """Return the span of these ranges, in any order; `SpanError` if there is none, or two overlap.

        >>> Span.of_fragments([(7, 9), (0, 3)], "A").fragments
        ((0, 3), (7, 9))
        """
        ordered = sorted((first, last) for first, last in ranges)
        if not ordered:
            raise SpanError("a span needs at least one range", line=line)
        parts = None if len(ordered) == 1 else tuple(ordered)
        return cls(ordered[0][0], ordered[-1][1], labels, features, id=id, line=line, parts=parts)

    @property
    def fragments(self) -> Ranges:
        """The ranges of the span: `parts`, or the whole range if it is one piece."""
        return ((self.start, self.end),) if self.parts is None else self.parts

    @property
    def label(self) -> str:
        """The label; labels of several layers are joined by ``|`` in their order (``_`` for None)."""
        labels = self.labels
        if len(labels) == 1:
            (label,) = labels.values()  # type: ignore[union-attr]  # as in `by_layer`
            return NO_LABEL if label is None else label
        return "|".join(NO_LABEL if label is None else label for label in self.by_layer.values())

    @property
    def by_layer(self) -> Mapping[str, str | None]:
        """The label of each layer: `labels`, with the type that it always has, though a plain string is taken, too."""
        return self.labels  # type: ignore[return-value]  # __init__ has turned a string into a mapping

    def __len__(self) -> int:
        return self.end - self.start

    def __bool__(self) -> bool:  # a span of zero length is true, too
        return True

    def overlaps(self, other: Span) -> bool:
        """Return whether this span and `other` overlap.

        Spans that touch do not overlap, nor do two equal spans of zero length.

        >>> Span(0, 3).overlaps(Span(2, 5)), Span(0, 3).overlaps(Span(3, 5)), Span(4, 4).overlaps(Span(3, 5))
        (True, False, True)
        >>> Span.of_fragments([(0, 3), (7, 9)]).overlaps(Span(4, 6))
        False
        """
        overlap = self.start < other.end and other.start < self.end
        if not overlap or (self.parts is None and other.parts is None):
            return overlap
        return bool(intersect(self.fragments, other.fragments))

    def placed(self, new_range: Callable[[int, int], tuple[int, int]]) -> Span:
        """Return the span at other positions: `new_range` takes a range, a part, or one of the tokens.

        >>> Span.of_fragments([(0, 3), (7, 9)]).placed(lambda start, end: (start + 5, end + 5)).fragments
        ((5, 8), (12, 14))
        """
        start, end = new_range(self.start, self.end)
        parts = None if self.parts is None else tuple(new_range(*part) for part in self.parts)
        tokens = self.tokens
        if tokens is not None:
            tokens = frozenset(
                position for token in tokens for position in range(*new_range(token, token + 1))
            )
        return Span(start, end, self.labels, self.features, tokens, self.id, self.line, parts)


def _frozen_labels(labels: Mapping[str, str | None] | str) -> Frozen:
    if isinstance(labels, str):
        return Frozen({DEFAULT_LAYER: labels})
    if not isinstance(labels, Mapping):
        raise SpanError(f"labels must be text or a dictionary, not {described(labels)}")
    for layer, label in labels.items():
        if not isinstance(layer, str) or not (label is None or isinstance(label, str)):
            wrong = label if isinstance(layer, str) else layer
            raise SpanError(f"layers and labels must be text, not {described(wrong)}")
    return Frozen(labels)


def _checked_parts(parts: Sequence[tuple[int, int]], start: int, end: int, line: int | None) -> Ranges | None:
    """Return the parts of a span as tuples, None for a single one."""
    ranges = tuple((first, last) for first, last in parts)
    if any(type(position) is not int for part in ranges for position in part):
        raise SpanError(f"positions must be integers, not {ranges!r}", line=line)
    span = f"span [{start},{end})"
    if not ranges or ranges[0][0] != start or ranges[-1][1] != end:
        raise SpanError(f"the parts of {span} do not reach from its start to its end", line=line)
    if len(ranges) == 1:
        return None
    for first, last in ranges:
        if first >= last:
            raise SpanError(f"the part [{first},{last}) of {span} is empty", line=line)
    for (_, before), (first, last) in pairwise(ranges):
        if first < before:
            raise SpanError(f"the part [{first},{last}) of {span} overlaps the part before it", line=line)
    return ranges


def name_of(span: Span) -> str:
    """Return the text for a span in error messages: ``[start,end)`` and its labels."""
    return _range_and_labels(span.start, span.end, span.labels)


def _range_and_labels(start: int, end: int, labels: Mapping[str, str | None] | str) -> str:
    values = (labels,) if isinstance(labels, str) else labels.values()
    joined = "|".join([NO_LABEL if label is None else str(label) for label in values]) if labels else ""
    return f"[{start},{end})" + (f" {joined!r}" if joined else "")


by_position: Callable[[Span], tuple[int, int]] = attrgetter("start", "end")
"""The order of spans: by start, then by end."""


def positions_in(ranges: Iterable[tuple[int, int]]) -> int:
    """Return the number of positions in disjoint ranges."""
    return sum([end - start for start, end in ranges])


def intersect(one: Sequence[tuple[int, int]], other: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the positions in both, each of which has sorted, disjoint ranges.

    Costs O(k log n + m) for k ranges of the side with fewer, n of the other, and m that are returned.

    >>> intersect([(0, 4), (6, 9)], [(2, 7)])
    [(2, 4), (6, 7)]
    """
    few, many = (one, other) if len(one) < len(other) else (other, one)
    shared = []
    for start, end in few:
        i = bisect_left(many, (start,))  # the first range that starts here or later
        if i and many[i - 1][1] > start:
            i -= 1
        while i < len(many) and many[i][0] < end:
            shared.append((max(start, many[i][0]), min(end, many[i][1])))
            i += 1
    return shared


# Which spans overlap


def components(rows: Iterable[Ranged], *, touching: bool = False) -> Iterator[list[Ranged]]:
    """Yield the overlap components of rows that begin with a start and an end; `rows` must come by position.

    In this order a component is a run of rows: a row that is not linked to the one with the greatest end so far begins
    at or after the end of every earlier row, and so do all later rows. With `touching`, a row of zero length is also
    linked to the rows that begin at its position.

    >>> list(components([(0, 3, "a"), (2, 5, "b"), (5, 6, "c")]))
    [[(0, 3, 'a'), (2, 5, 'b')], [(5, 6, 'c')]]
    >>> list(components([(1, 3), (3, 3), (3, 5)])), list(components([(1, 3), (3, 3), (3, 5)], touching=True))
    ([[(1, 3)], [(3, 3)], [(3, 5)]], [[(1, 3)], [(3, 3), (3, 5)]])
    """
    run: list[Ranged] = []
    begin = reach = -1  # the last row with the greatest end so far
    for row in rows:
        start, end = row[0], row[1]
        if start >= reach and (start > begin or (end > reach and not touching)) and run:
            yield run
            run = []
        if end >= reach:
            begin, reach = start, end
        run.append(row)
    if run:
        yield run


def _fragments(spans: Sequence[Span]) -> list[tuple[int, int, int]]:
    """Return the ranges of spans with the numbers of the spans, by position."""
    return sorted((start, end, number) for number, span in enumerate(spans) for start, end in span.fragments)


def shared_positions(one: Span, other: Span) -> int:
    """Return the number of positions that two spans share; those of discontinuous spans are in their fragments."""
    if one.parts is None and other.parts is None:
        return max(0, min(one.end, other.end) - max(one.start, other.start))
    return positions_in(intersect(one.fragments, other.fragments))


def first_clash(spans: Sequence[Span]) -> tuple[Span, Span] | None:
    """Return the first two spans that overlap or are equal, or None."""
    for span, following in pairwise(sorted(spans, key=by_position)):
        if following.start < span.end or (following.end == span.start == span.end):
            return span, following
    return None


def require_flat(
    spans: Sequence[Span],
    document: str | None = None,
    file: str | None = None,
    advice: str = "spans of one sequence must not overlap",
) -> None:
    """Raise `OverlapError` for the first two spans of one sequence that overlap or are equal."""
    clash = first_clash(spans)
    if clash is not None:
        problem = f"spans {name_of(clash[0])} and {name_of(clash[1])} of one sequence overlap"
        raise OverlapError(problem, file=file, document=document, line=clash[1].line, advice=advice)


class SpanIndex:
    """Finds the neighbours of a given span in a sequence of spans (`are_neighbours`), by their numbers.

    Fragments that overlap the next one, by position, stand in an interval tree (package intervaltree), which finds
    those that hold the first position of the query; those that begin later, and all disjoint ones, are found by
    bisection. Building costs O(n log n) for n fragments; each fragment of a query costs O(log n + k) for k results.

    >>> index = SpanIndex([Span(0, 3), Span(2, 6), Span(8, 9)])
    >>> index.near(Span(1, 8))
    [0, 1]
    """

    __slots__ = ("_disjoint_rows", "_ends", "_overlapping_rows", "_points", "_tree")

    def __init__(self, spans: Sequence[Span]) -> None:
        rows = _fragments(spans)
        self._points: dict[int, list[int]] = {}  # the numbers of spans of zero length, by position
        for start, end, number in rows:
            if start == end:
                self._points.setdefault(start, []).append(number)
        reaches = [row[1] > following[0] for row, following in pairwise(rows)] + [False] * bool(rows)
        self._disjoint_rows = [row for row, overlaps in zip(rows, reaches, strict=True) if not overlaps]
        self._ends = [end for _, end, _ in self._disjoint_rows]
        self._overlapping_rows = [row for row, overlaps in zip(rows, reaches, strict=True) if overlaps]
        self._tree: Any = None
        if self._overlapping_rows:
            from intervaltree import Interval, IntervalTree  # few corpora have spans of one side that overlap

            of_range: dict[tuple[int, int], list[int]] = {}  # a tree has equal ranges once
            for start, end, number in self._overlapping_rows:
                of_range.setdefault((start, end), []).append(number)
            self._tree = IntervalTree(Interval(*range_, tuple(equal)) for range_, equal in of_range.items())

    def near(self, span: Span) -> list[int]:
        """Return the numbers of the neighbours of `span`, in ascending order."""
        numbers = [*self._points.get(span.start, ())] if span.start == span.end else []
        for start, end in span.fragments:
            first = bisect_right(self._ends, start)
            numbers += [
                row[2] for row in self._disjoint_rows[first : bisect_left(self._disjoint_rows, (end,))]
            ]
            if self._tree is not None:
                for node in self._tree.at(start):
                    if node.begin < end:
                        numbers += node.data
                first = bisect_left(self._overlapping_rows, (start + 1,))
                numbers += [
                    row[2]
                    for row in self._overlapping_rows[first : bisect_left(self._overlapping_rows, (end,))]
                ]
        return sorted(set(numbers))


def are_neighbours(one: Span, other: Span) -> bool:
    """Return whether two spans overlap, or both have zero length and stand in one place."""
    return one.overlaps(other) or one.start == one.end == other.start == other.end


_FEW = 64
"""Up to this many pairs of spans, comparing all of them costs less than an index."""


def overlaps_between(one: Sequence[Span], two: Sequence[Span]) -> tuple[list[list[int]], list[list[int]]]:
    """Return for each span of each side the numbers of its neighbours on the other side, in ascending order.

    Raises `LimitError` for more than `MAX_PAIRS` pairs, or `PAIRS_OF_SPAN` for each span.

    >>> overlaps_between([Span(0, 3), Span(4, 6)], [Span(2, 5), Span(8, 9)])
    ([[0], [0]], [[0, 1], []])
    >>> overlaps_between([Span(4, 4)], [Span(4, 4), Span(4, 6), Span(3, 5)])
    ([[0, 2]], [[0], [], [0]])
    """
    around: tuple[list[list[int]], list[list[int]]] = [], [[] for _ in two]
    index = SpanIndex(two) if len(one) * len(two) > _FEW else None
    pairs = 0
    for number, span in enumerate(one):
        if index is None:
            is_near = span.overlaps if span.start < span.end else partial(are_neighbours, span)
            others = [other for other, span_of_two in enumerate(two) if is_near(span_of_two)]
        else:
            others = index.near(span)
            pairs += len(others)
            require_few_pairs(pairs, len(one) + len(two))
        around[0].append(others)
        for other in others:
            around[1][other].append(number)
    return around


def require_few_pairs(pairs: int, spans: int) -> None:
    """Raise `LimitError` for more than `MAX_PAIRS` pairs, or `PAIRS_OF_SPAN` for each of a number of spans."""
    most = max(MAX_PAIRS, PAIRS_OF_SPAN * spans)
    if pairs > most:
        raise LimitError(
            f"more than {most:,} pairs of spans overlap, too many to be compared one by one",
            advice="score the document in parts, or leave out spans that are nested or repeated",
        )


# Ranges and regions


def joined_ranges(ranges: Iterable[tuple[int, int]], join: Callable[[int, int], bool] = gt) -> Ranges:
    """Return the ranges in order; two are one if `join` is true of the end of the first and the start of the second.

    By default, these are ranges that overlap.

    >>> joined_ranges([(3, 5), (0, 2), (4, 6)])
    ((0, 2), (3, 6))
    """
    joined: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if joined and join(joined[-1][1], start):
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        else:
            joined.append((start, end))
    return tuple(joined)


class Regions:
    """The union of some half-open ranges; ranges that touch become one. A query costs O(log n).

    >>> regions = Regions([(5, 7), (7, 9), (1, 2)])
    >>> regions.positions, regions.hold(Span(6, 8)), regions.hold(Span(8, 11)), regions.touch(Span(8, 11))
    (5, True, False, True)
    """

    __slots__ = ("_ranges", "_solid")

    def __init__(self, ranges: Iterable[tuple[int, int]]) -> None:
        self._ranges = joined_ranges(ranges, ge)
        self._solid = tuple((start, end) for start, end in self._ranges if start < end)

    def __bool__(self) -> bool:
        return bool(self._ranges)

    @property
    def positions(self) -> int:
        """The number of positions."""
        return sum(end - start for start, end in self._solid)

    def hold(self, span: Span) -> bool:
        """Return whether all positions of the span are in the regions; of zero length, also at their borders."""
        return all(self._holds(start, end) for start, end in span.fragments)

    def touch(self, span: Span) -> bool:
        """Return whether any position of the span is in the regions; of zero length, also at their borders."""
        return any(
            self._holds(start, end) if start == end else intersect([(start, end)], self._solid)
            for start, end in span.fragments
        )

    def shared(self, span: Span) -> int:
        """Return the number of positions of the span that are in the regions; costs O(log n + k) for k regions."""
        return sum(end - start for start, end in intersect(span.fragments, self._solid))

    def _holds(self, start: int, end: int) -> bool:
        number = bisect_right(self._ranges, start, key=itemgetter(0)) - 1
        return number >= 0 and end <= self._ranges[number][1]
