"""Spans: ranges of positions with labels.

A span is a **half-open** range ``[start, end)`` of positions in a document. A position is the number of a
token (a *corpus position*: XML tags and blank lines are not counted) or of a Unicode code point, depending on
`Document.unit`. A span of zero length, ``start == end``, lies between two positions. Two spans overlap if
``a.start < b.end and b.start < a.end``; spans that touch do not overlap.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from operator import attrgetter, index
from typing import Any, NoReturn

from clueval.files.errors import SpanError, described

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
