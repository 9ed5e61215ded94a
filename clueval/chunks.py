"""Chunks: the spans of one layer that tags stand for, as columns.

A large text has as many spans as a metric needs only numbers of. So they are kept as three lists, and a `Span` is
made where one is asked for.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import overload

from clueval.spans import Frozen, Span


@dataclass(frozen=True, slots=True)
class Chunks(Sequence[Span]):
    """Spans of one layer by position, none of which overlaps another.

    >>> chunks = Chunks("entity", [0, 4], [2, 5], ["PER", "LOC"])
    >>> chunks[1]
    Span(start=4, end=5, labels={'entity': 'LOC'}, id=None)
    """

    layer: str
    starts: list[int]
    ends: list[int]
    labels: list[str]

    def __len__(self) -> int:
        return len(self.starts)

    def __iter__(self) -> Iterator[Span]:
        known = {label: Frozen({self.layer: label}) for label in set(self.labels)}
        return map(Span, self.starts, self.ends, map(known.__getitem__, self.labels))

    @overload
    def __getitem__(self, number: int) -> Span: ...
    @overload
    def __getitem__(self, number: slice) -> Chunks: ...
    def __getitem__(self, number: int | slice) -> Span | Chunks:
        if isinstance(number, slice):
            return Chunks(self.layer, self.starts[number], self.ends[number], self.labels[number])
        return Span(self.starts[number], self.ends[number], Frozen({self.layer: self.labels[number]}))

    def compared(self, other: Chunks) -> tuple[list[str], Chunks, Chunks]:
        """The labels of those that are in both, and the others of either side.

        >>> one, two = Chunks("l", [0, 4], [2, 5], ["A", "A"]), Chunks("l", [0, 4], [2, 6], ["A", "A"])
        >>> labels, left, right = one.compared(two)
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
            zip(self.starts, self.ends, self.labels, strict=True), map(starts.__contains__, self.starts)
        )

    def _without(self, starts: Container[int]) -> Chunks:
        """Those that begin elsewhere."""
        keep = [start not in starts for start in self.starts]
        return Chunks(
            self.layer,
            list(compress(self.starts, keep)),
            list(compress(self.ends, keep)),
            list(compress(self.labels, keep)),
        )
