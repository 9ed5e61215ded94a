"""Cases where they stand: the spans of documents, at their own positions; and sentences as places of a text.

Errors, comparisons of systems and of annotators, and messages about a case begin with them; numbers need keys only.
"""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, repeat
from operator import attrgetter
from typing import Any, NamedTuple

from clueval.core.case import (
    Case,
    Flags,
    Keys,
    Sides,
    Where,
    order_in_key,
    sources_by_sequence,
    which_count,
)
from clueval.core.document import Document, Pair, Row, Text
from clueval.core.metric import Metric, Tally, require_countable
from clueval.core.span import NOTHING, Span, components
from clueval.files.errors import CluevalError

_Entry = tuple[int, int, int, int]
"""The start, the end, the side and the number of a span."""


class Located:
    """A case where it stands: spans at their own positions. `first` is the first start of the case.

    Spans are made when they are asked for.
    """

    __slots__ = ("_members", "_of_sides", "_reads", "_rows", "_spans_and_flags", "first", "sequence")

    def __init__(
        self,
        sequence: str,
        members: Sequence[_Entry],
        of_sides: Sequence[_Side],
        rows: Sequence[Sequence[Row]] | None,
        reads: Sequence[str],
    ) -> None:
        self.sequence, self.first = sequence, members[0][0]
        self._members, self._of_sides, self._rows, self._reads = members, of_sides, rows, reads
        self._spans_and_flags: tuple[Sides, Flags] | None = None

    @property
    def sides(self) -> Sides:
        """The spans of each side, in the order of a key."""
        return self._made()[0]

    @property
    def counted(self) -> Flags:
        """Of each side, which of its spans count; None: all."""
        return self._made()[1]

    def _made(self) -> tuple[Sides, Flags]:
        if self._spans_and_flags is None:
            numbers: list[list[int]] = [[] for _ in self._of_sides]
            for _, _, side, number in self._members:
                numbers[side].append(number)
            made = map(_Side.spans_and_flags, self._of_sides, numbers, repeat(self._reads))
            spans, flags = zip(*made, strict=True)
            self._spans_and_flags = spans, flags
        return self._spans_and_flags

    @property
    def key(self) -> tuple[object, ...]:
        """What the spans and flags are from the first position on: cases with equal keys differ in their place only.

        Ids, features and lines of spans are no part of it.
        """
        first, rows = self.first, self._rows
        if rows is not None:
            return self.sequence, *[
                (start - first, end - first, side, rows[side][number][2])
                for start, end, side, number in self._members
            ]
        sides, counted = self._made()
        return (
            self.sequence,
            counted,
            *[tuple([_key(span, first) for span in spans or ()]) for spans in sides],
        )


def _key(span: Span, first: int) -> tuple[object, ...]:
    tokens = span.tokens and (first, span.tokens)
    return span.start - first, span.end - first, span.parts, tokens, *span.by_layer.items()


class EqualCases(NamedTuple):
    """The cases of a sequence of one text that have two spans of one piece, on the first two sides, with one range and
    labels.

    `spans` returns the spans of the first side; few need them.
    """

    sequence: str
    spans: Callable[[], Sequence[Span]]


def located(
    documents: Sequence[Document | None],
    layers: Sequence[str],
    *,
    merge: bool = False,
    where: Where = NOTHING,
    reads: Collection[str] = (),
    equal: list[EqualCases] | None = None,
) -> Iterator[Located]:
    """Yield each case of one text with the spans of the documents, of which each stands for a side, as in `keys_of`.

    Cases come by sequence, then by position; the spans of a side are in the order of a key that holds `reads`. Cases of
    two spans of one piece that have the same range and labels on the first two sides, which are most, are put into
    `equal`, if that is given, and left out.
    """
    groups = [(documents, layers)]
    return located_together(groups, merge=merge, where=where, reads=reads, equal=equal)


def located_together(
    groups: Sequence[tuple[Sequence[Document | None], Sequence[str]]],
    *,
    merge: bool = False,
    where: Where = NOTHING,
    reads: Collection[str] = (),
    equal: list[EqualCases] | None = None,
) -> Iterator[Located]:
    """Yield each case of one text as `located` does, with the spans of all groups of documents, one after the other.

    The groups have the same layers, unless these are merged, which is done in each group by itself.
    """
    names = sorted(reads)
    documents = [document for of_group, _ in groups for document in of_group]
    sources_of_groups = [sources_by_sequence(*group, merge) for group in groups]
    for of_groups in zip(*sources_of_groups, strict=True):
        sequence = of_groups[0][0]
        sources = chain.from_iterable(of_group[1] for of_group in of_groups)
        sides = [_Side(sequence, *each, where) for each in zip(documents, sources, strict=True)]
        rows = [side.plain_rows for side in sides if side.plain_rows is not None]
        entries = sorted(chain.from_iterable(side.entries(number) for number, side in enumerate(sides)))
        equal_numbers: list[int] = []  # of the first side
        for members in components(entries, touching=True):
            if equal is not None and len(members) == 2:
                (start, end, one, number), (other_start, other_end, other, other_number) = members
                are_of_both = start == other_start and end == other_end and one == 0 and other == 1
                if are_of_both and sides[0].is_equal(number, sides[1], other_number):
                    equal_numbers.append(number)
                    continue
            yield Located(sequence, members, sides, None if len(rows) < len(sides) else rows, names)
        if equal is not None:
            equal.append(EqualCases(sequence, partial(sides[0].spans, equal_numbers)))


class _Side:
    """The spans of a side in a sequence; those of a layer of rows are made when they are asked for."""

    def __init__(
        self, sequence: str, document: Document | None, source: Document | None, where: Where
    ) -> None:
        self._sequence, self._document = sequence, document
        self._rows = None if source is None else source.rows_in(sequence)
        self._spans: Sequence[Span] = ()
        self._flags: list[bool] | None = None
        if source is not None and (self._rows is None or where):
            self._rows, self._spans = None, source.layers.get(sequence, ())
        if document is not None and where:
            self._flags = which_count(self._spans, document, where)

    @property
    def plain_rows(self) -> Sequence[Row] | None:
        """The rows, if all spans are rows, whose order does not count."""
        return None if self._document is None or self._document.ordered else self._rows

    def entries(self, side: int) -> list[_Entry]:
        """Return the start, the end, the side and the number of each span."""
        if self._rows is not None:
            return [(start, end, side, number) for number, (start, end, _) in enumerate(self._rows)]
        return [(span.start, span.end, side, number) for number, span in enumerate(self._spans)]

    def is_equal(self, number: int, other: _Side, other_number: int) -> bool:
        """Return whether a span and one of another side with the same range have the same labels and one piece."""
        if self._rows is not None and other._rows is not None:
            return self._rows[number][2] == other._rows[other_number][2]
        (span,), (other_span,) = self.spans([number]), other.spans([other_number])
        return span.labels == other_span.labels and span.parts is None and other_span.parts is None

    def spans(self, numbers: Sequence[int]) -> Sequence[Span]:
        """Return the spans with these numbers."""
        if self._rows is None:
            return [self._spans[number] for number in numbers]
        assert self._document is not None  # it has the rows
        rows = [self._rows[number] for number in numbers]
        return self._document.layers.spans_of(self._sequence, rows)  # type: ignore[attr-defined,no-any-return]

    def spans_and_flags(
        self, numbers: Sequence[int], reads: Sequence[str]
    ) -> tuple[tuple[Span, ...] | None, tuple[bool, ...] | None]:
        """Return the spans of a case, in the order of a key that holds `reads`, and which of them count."""
        if self._document is None:
            return None, None
        if self._document.ordered:
            numbers = sorted(numbers)
        spans = self.spans(numbers) if numbers else ()
        if len(spans) > 1 and not self._document.ordered:
            numbered = sorted(
                zip(spans, numbers, strict=True),
                key=lambda each: order_in_key(each[0], self._sequence, reads),
            )
            spans, numbers = zip(*numbered, strict=True)
        flags = self._flags
        return tuple(spans), None if flags is None else tuple([flags[number] for number in numbers])


def count_in_place(metrics: Sequence[Metric], case: Located, pair: Text) -> list[Tally]:
    """Return what metrics count in a case where it stands; an error names the document."""
    plain_case = Case(case.sides, case.counted)
    try:
        for metric in metrics:
            require_countable(metric, plain_case)
        return [metric.count(plain_case) for metric in metrics]
    except CluevalError as error:
        document = document_of_error(metrics, case.sides, case.counted, pair)
        error.document, error.file = document.id, error.file or document.file
        raise error from None


def document_of_error(metrics: Sequence[Metric], sides: Sides, counted: Flags, pair: Text) -> Document:
    """Return the document of the first side whose spans cannot be counted, or of the side with the most spans."""
    for number, document in enumerate(pair.sides):
        spans = tuple(of_side if side == number else None for side, of_side in enumerate(sides))
        try:
            for metric in metrics:
                require_countable(metric, Case(spans, counted))
        except CluevalError:
            return document or pair.first
    _, document = max(zip(sides, pair.sides, strict=True), key=lambda side: len(side[0] or ()))
    return document or pair.first


# Sentences as places


class TextPart(NamedTuple):
    """A part of a text: the number, from 1, of its first sentence, its number of positions, and what starts in it.

    Spans belong to it that start at `start` or later and before `stop`: all of them, if there is one part.
    """

    number: int
    positions: int
    start: int = 0
    stop: int = sys.maxsize


class TextParts(list[TextPart]):
    """The parts of a text, given its pairs; one part if there are no sentences, or no text.

    A text is cut at the ends of sentences that no span of any side and layer crosses. What metrics count in the parts
    adds up to what they count in the whole, because no case reaches over a cut. A part of a document is a document.
    Finding them costs O(n log n) for n spans and sentences.
    """

    def __init__(self, texts: Sequence[Text]) -> None:
        super().__init__(_parts_of(texts))

    def at(self, position: int) -> TextPart:
        """Return the part to which what starts at a position belongs."""
        return self[bisect_right(self, position, key=_start) - 1]

    def cut_keys(self, by_sequence: Sequence[Keys]) -> Iterator[list[Keys]]:
        """Yield the keys of each part, by sequence."""
        for _, _, start, stop in self:
            cut = []
            for sequence, keys, ranges, others in by_sequence:
                first, past = bisect_left(ranges, (start,)), bisect_left(ranges, (stop,))
                low, high = bisect_left(others, start), bisect_left(others, stop)
                cut.append(Keys(sequence, keys[first:past], ranges[first:past], others[low:high]))
            yield cut

    def cut_pair(self, pair: Pair) -> Iterator[Pair]:
        """Yield the part of a pair in each part."""
        for gold, predicted in zip(*map(self._cut, pair.sides), strict=True):
            yield replace(pair, gold=gold, predicted=predicted)

    def _cut(self, document: Document) -> Iterator[Document]:
        """Yield the part of a document in each part, without sentences."""
        layers: list[dict[str, list[Span]]] = [{name: [] for name in document.layers} for _ in self]
        for name, spans in document.layers.items():
            for span in spans:
                layers[bisect_right(self, span.start, key=_start) - 1][name].append(span)
        for part, of_part in zip(self, layers, strict=True):
            first, past = max(0, part.start - document.start), part.stop - document.start
            changes: dict[str, Any] = dict.fromkeys(("text", "tokens", "token_ids", "lines"))
            changes["tags"] = NOTHING
            if document.unit == "character":
                changes["text"] = None if document.text is None else document.text[first:past]
            else:
                changes["tags"] = {name: tags[first:past] for name, tags in document.tags.items()}
                for name in ("tokens", "token_ids", "lines"):
                    values = getattr(document, name)
                    changes[name] = None if values is None else values[first:past]
            yield replace(document, layers=of_part, start=document.start + first, sentences=(), **changes)


_start = attrgetter("start")


def _parts_of(texts: Sequence[Text]) -> list[TextPart]:
    sides = [side for text in texts if not text.beside for side in text.sides if side is not None]
    first = next((side for side in sides if side.end is not None), None)
    if first is None or first.end is None:
        return [TextPart(1, 0)]
    ends = [sentence.end for sentence in first.sentences]
    ranges = sorted(_ranges(sides))
    cuts, reach, number = [first.start], 0, 0
    for end in sorted({end for end in ends if first.start < end < first.end}):
        while number < len(ranges) and ranges[number][0] < end:
            reach = max(reach, ranges[number][1])
            number += 1
        if reach <= end:  # no range crosses this end
            cuts.append(end)
    parts = [
        TextPart(bisect_left(ends, cut + 1) + 1, stop - cut, cut, stop)
        for cut, stop in zip(cuts, [*cuts[1:], first.end], strict=True)
    ]
    parts[0] = parts[0]._replace(start=0)
    parts[-1] = parts[-1]._replace(stop=sys.maxsize)
    return parts


def _ranges(documents: Sequence[Document]) -> Iterator[tuple[int, int]]:
    for document in documents:
        for layer in document.layers:
            rows = document.ranges_in(layer)
            if rows is None:
                yield from ((span.start, span.end) for span in document.layers[layer])
            else:
                yield from ((start, end) for start, end, _ in rows)
