"""Flat sequences: spans by position, none of which overlaps or equals another, kept as columns.

Comparing two sequences takes numbers, not spans. So starts and ends stand in lists of their own, since a loop over
integers is many times faster than one over spans; labels and spans are made when they are asked for. A sequence is
made of spans, or of the columns that decoded tags give.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import compress, islice, pairwise
from operator import attrgetter, eq, le
from typing import overload

from clueval.exceptions import OverlapError
from clueval.spans.span import Frozen, Labels, Span, name_of

by_position: Callable[[Span], tuple[int, int]] = attrgetter("start", "end")
"""The order of spans: by start, then by end."""

_labels: Callable[[Span], Labels] = attrgetter("labels")


def clash(spans: Iterable[Span]) -> tuple[Span, Span] | None:
    """The first two neighbours that overlap or are equal, in spans ordered by position, or None.

    >>> clash([Span(0, 2), Span(2, 4), Span(3, 5)])
    (Span(start=2, end=4, labels={}, id=None), Span(start=3, end=5, labels={}, id=None))
    """
    for span, following in pairwise(spans):
        if following.start < span.end or (following.end == span.start == span.end):
            return span, following
    return None


@dataclass(frozen=True, slots=True, eq=False)
class Flat(Sequence[Span]):
    """Spans of one sequence by position, none of which overlaps or equals another.

    `order` has the number that each span had where they were given. Make one with `of` or `of_tags`.
    """

    starts: list[int]
    ends: list[int]
    order: Sequence[int]
    _given: Sequence[Span] | None = None
    _layer: str = ""
    _names: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, spans: Iterable[Span], document: str | None = None) -> Flat:
        """The spans by position. Raises `OverlapError`, naming both, if two of them overlap or are equal.

        >>> Flat.of([Span(2, 4), Span(0, 2)]).order
        [1, 0]
        """
        if isinstance(spans, Flat):
            return spans
        given = spans if isinstance(spans, list) else list(spans)
        flat = cls([span.start for span in given], [span.end for span in given], range(len(given)), given)
        if flat._is_flat():
            return flat
        order = sorted(range(len(given)), key=[*zip(flat.starts, flat.ends, strict=True)].__getitem__)
        ordered = [given[number] for number in order]
        if (overlap := clash(ordered)) is not None:
            first, second = overlap
            raise OverlapError(
                f"spans {name_of(first)} and {name_of(second)} of one sequence overlap",
                document=document,
                line=second.line,
                advice="spans of one sequence must not overlap",
            )
        return cls([span.start for span in ordered], [span.end for span in ordered], order, ordered)

    @classmethod
    def of_tags(cls, layer: str, starts: list[int], ends: list[int], labels: list[str]) -> Flat:
        """The spans of one layer that decoded tags stand for; they come by position and never overlap.

        >>> Flat.of_tags("entity", [0, 4], [2, 5], ["PER", "LOC"])[1]
        Span(start=4, end=5, labels={'entity': 'LOC'}, id=None)
        """
        return cls(starts, ends, range(len(starts)), None, layer, labels)

    @property
    def spans(self) -> Sequence[Span]:
        """The spans themselves."""
        return list(self) if self._given is None else self._given

    def keyed_labels(self) -> tuple[list[Hashable], dict[Hashable, Labels]]:
        """A key for the labels of each span, and the labels by key; equal labels may have several keys.

        The keys are good as long as the labels are held. To count keys is much faster than to count labels.
        """
        if self._given is None:
            return self._names, {name: Frozen({self._layer: name}) for name in set(self._names)}  # type: ignore[return-value]  # strings can be hashed
        labels: list[Labels] = list(map(_labels, self._given))
        keys = list(map(id, labels))
        return keys, dict(zip(keys, labels, strict=True))  # type: ignore[return-value]  # as can integers

    def labels_in(self, layer: str) -> Iterable[str | None]:
        """The label of each span in a layer: under the layer's name, or the only one that the span has."""
        return self._names if self._given is None else (label_in(layer, span) for span in self._given)

    def __len__(self) -> int:
        return len(self.starts)

    def __iter__(self) -> Iterator[Span]:
        if self._given is not None:
            return iter(self._given)
        known = {name: Frozen({self._layer: name}) for name in set(self._names)}
        return map(Span, self.starts, self.ends, map(known.__getitem__, self._names))

    @overload
    def __getitem__(self, number: int) -> Span: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[Span]: ...
    def __getitem__(self, number: int | slice) -> Span | Sequence[Span]:
        if self._given is not None:
            return self._given[number]
        if isinstance(number, slice):
            return list(map(self.__getitem__, range(len(self))[number]))
        return Span(self.starts[number], self.ends[number], Frozen({self._layer: self._names[number]}))

    def compared(self, other: Flat) -> tuple[list[str], Flat, Flat]:
        """The labels of spans from tags that are in both sequences, and the other spans of either.

        >>> one = Flat.of_tags("l", [0, 4], [2, 5], ["A", "A"])
        >>> labels, left, right = one.compared(Flat.of_tags("l", [0, 4], [2, 6], ["A", "A"]))
        >>> labels, left.ends, right.ends
        (['A'], [5], [6])
        """
        few, many = (self, other) if len(self) < len(other) else (other, self)
        starts = set(few.starts).intersection(many.starts)
        equal = set(self._beginning(starts)).intersection(other._beginning(starts)) if starts else set()
        if not equal:
            return [], self, other
        starts = {start for start, _, _ in equal}
        return [label for _, _, label in equal], self._without(starts), other._without(starts)

    def _beginning(self, starts: Container[int]) -> Iterator[tuple[int, int, str]]:
        """Those that begin at one of these positions."""
        return compress(
            zip(self.starts, self.ends, self._names, strict=True), map(starts.__contains__, self.starts)
        )

    def _without(self, starts: Container[int]) -> Flat:
        """Those that begin elsewhere."""
        keep = [start not in starts for start in self.starts]
        columns = (list(compress(column, keep)) for column in (self.starts, self.ends, self._names))
        return Flat.of_tags(self._layer, *columns)  # type: ignore[arg-type]  # two lists of int, one of str

    def _is_flat(self) -> bool:
        """Whether each span ends before the next begins; of zero length, two may begin where they end."""
        starts, ends = self.starts, self.ends
        return all(map(le, ends, islice(starts, 1, None))) and not any(map(eq, starts, islice(ends, 1, None)))


def label_in(layer: str, span: Span) -> str | None:
    """The label of a span in a layer: under the layer's name, or the only one that the span has."""
    labels = span.by_layer
    return labels.get(layer) if layer in labels or len(labels) != 1 else next(iter(labels.values()))


def in_order_and_flat(spans: Iterable[Span], document: str | None = None) -> list[Span]:
    """The spans by position. Raises `OverlapError`, naming both, if two of them overlap or are equal."""
    return list(Flat.of(spans, document))
