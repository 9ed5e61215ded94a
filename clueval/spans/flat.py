"""Flat sequences: spans by position, none of which overlaps or equals another, stored as columns.

Starts and ends are stored in separate lists, because the comparison of two sequences needs only these
numbers, and a loop over integers is many times faster than a loop over spans. Labels and spans are created on
demand. A sequence is made from spans, or from the columns that the decoding of tags returns.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise, repeat
from operator import attrgetter, eq, le
from typing import overload

from clueval.core.ranges import Ranges
from clueval.core.span import Frozen, Labels, Span, name_of
from clueval.files.errors import OverlapError

by_position: Callable[[Span], tuple[int, int]] = attrgetter("start", "end")
"""The order of spans: by start, then by end."""

_labels: Callable[[Span], Labels] = attrgetter("labels")


def clash(spans: Iterable[Span]) -> tuple[Span, Span] | None:
    """Return the first two adjacent spans that overlap or are equal, or None; `spans` must come by position.

    >>> clash([Span(0, 2), Span(2, 4), Span(3, 5)])
    (Span(start=2, end=4, labels={}, id=None), Span(start=3, end=5, labels={}, id=None))
    """
    for span, following in pairwise(spans):
        if following.start < span.end or (following.end == span.start == span.end):
            return span, following
    return None


def name_file(error: OverlapError, *sides: tuple[Iterable[Span], str | None]) -> None:
    """Add to an error the file of the first side, of spans and their file, in which spans overlap."""
    if error.file is None:
        error.file = next((file for spans, file in sides if clash(sorted(spans, key=by_position))), None)


@dataclass(frozen=True, slots=True, eq=False)
class Flat(Sequence[Span]):
    """Spans of one sequence by position, none of which overlaps or equals another.

    `order` holds for each span its index in the input. Create instances with `of` or `of_tags`.
    """

    starts: list[int]
    ends: list[int]
    order: Sequence[int]
    _given: Sequence[Span] | None = None
    _layer: str = ""
    _names: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, spans: Iterable[Span], document: str | None = None) -> Flat:
        """Sort the spans by position. Raises `OverlapError`, naming both, if two spans overlap or are equal.

        `document` is the id of the document, for the error message.

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
        """Return the spans of one layer from decoded tags, which come by position and never overlap.

        >>> Flat.of_tags("entity", [0, 4], [2, 5], ["PER", "LOC"])[1]
        Span(start=4, end=5, labels={'entity': 'LOC'}, id=None)
        """
        return cls(starts, ends, range(len(starts)), None, layer, labels)

    def are_of_tags(self, layer: str | None = None) -> bool:
        """Return whether the spans were made by `of_tags`, for this layer if it is named."""
        return self._given is None and layer in (None, self._layer)

    def lie_in(self, start: int, end: int) -> bool:
        """Return whether no span begins before `start` or ends after `end`."""
        return not self.starts or (self.starts[0] >= start and self.ends[-1] <= end)

    @property
    def spans(self) -> Sequence[Span]:
        """The spans as a sequence of `Span` objects."""
        return list(self) if self._given is None else self._given

    def keyed_labels(self) -> tuple[list[Hashable], dict[Hashable, Labels]]:
        """Return a key for the labels of each span, and the labels by key.

        Equal labels may have several keys. The keys are valid while the labels are alive. Counting keys is
        much faster than counting labels.
        """
        if self._given is None:
            return self._names, {name: Frozen({self._layer: name}) for name in set(self._names)}  # type: ignore[return-value]  # strings are hashable
        labels: list[Labels] = list(map(_labels, self._given))
        keys = list(map(id, labels))
        return keys, dict(zip(keys, labels, strict=True))  # type: ignore[return-value]  # so are integers

    def keys(self) -> Iterator[tuple[int, int, str, Ranges | None]]:
        """Return the start, the end, the label and the parts of each span, without building spans from tags."""
        if self._given is not None:
            return map(_key, self._given)
        return zip(self.starts, self.ends, self._names, repeat(None), strict=False)

    def rows(self) -> list[tuple[int, int, str]]:
        """Return the start, the end and the label of each span that was made by `of_tags`."""
        return list(zip(self.starts, self.ends, self._names, strict=True))

    def labels_in(self, layer: str) -> Iterable[str | None]:
        """Return the label of each span in `layer`: the label under this name, or the span's only label."""
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

    def _is_flat(self) -> bool:
        """Return whether each span ends where the next begins or before, and no two spans are equal.

        A span of zero length may begin where the span before it ends.
        """
        starts, ends = self.starts, self.ends
        return all(map(le, ends, islice(starts, 1, None))) and not any(map(eq, starts, islice(ends, 1, None)))


def keys_of(spans: Iterable[Span]) -> Iterator[tuple[int, int, str, Ranges | None]]:
    """Yield the start, the end, the label and the parts of each span."""
    if isinstance(spans, Flat):
        return spans.keys()
    return map(_key, spans)


def _key(span: Span) -> tuple[int, int, str, Ranges | None]:
    return span.start, span.end, span.label, span.parts


def label_in(layer: str, span: Span) -> str | None:
    """Return the label of a span in `layer`: the label under this name, or the span's only label."""
    labels = span.by_layer
    return labels.get(layer) if layer in labels or len(labels) != 1 else next(iter(labels.values()))


def in_order_and_flat(spans: Iterable[Span], document: str | None = None) -> list[Span]:
    """Return the spans by position. Raises `OverlapError`, naming both, if two spans overlap or are equal."""
    return list(Flat.of(spans, document))
