"""Cases: the unit of counting. A corpus is a bag of cases.

A case has the spans of all sides, in one layer, that overlap, directly or through others; nothing reaches out of it, so
the counts of a corpus are the sum of the counts of its cases. (A span of zero length is with its equals, and with the
spans that begin at its position, because GATE asks whether it touches them.) Positions count from the first start of
the case, so that equal cases at different places are one::

    gold        [2,4) A          [9,10) B        two cases:  [0,2) A with [0,1) A;  [0,1) B with [0,1) B
    predicted   [2,3) A          [9,10) B

What readers and bags count is the **key** of a case, a plain tuple, hashed in C:

    (positions, positions with equal tags, sides that are present, span, span, ...)

The positions are 0 if no side has a text. Those with equal tags are None where no tags were written: then they are
counted in the BIO tags of the spans.
The sides that are present are a number whose bit n is set if side n has the document. A span is

    (start, end, side, label)
    (start, end, side, labels, parts, tokens, features, counted)

the short form if it has one label, in the layer of the key, and nothing else that is read. Features are those that a
metric of the plan names, as (name, name of the type, value), because 1, 1.0 and True are equal in Python; what lists
and dictionaries hold has its types, too, and numbers with a fraction are as they are written. A key never
has a score, an id, a line, a file or a text. Spans are sorted by all that the key holds of them, so the order of a
document does not matter; a document that is `ordered` keeps its order, side by side.

Positions outside all spans are cases, too: those with equal tags (`same_key`), and the others (`other_key`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from itertools import compress, count, pairwise, repeat
from operator import attrgetter, ne
from typing import Any, NamedTuple

from clueval.core.document import Document, Row
from clueval.core.span import (
    MERGED,
    NOTHING,
    Frozen,
    LabelledRow,
    Ranges,
    Span,
    SpanIndex,
    components,
    labels_in,
    overlaps_between,
)

Key = tuple[Any, ...]
"""A case as plain values; see the module."""

Where = Mapping[str, frozenset[str]]
"""The labels that count, by layer."""

_Entry = tuple[Any, ...]
"""A span of a key, at its own positions."""

Sides = tuple[tuple[Span, ...] | None, ...]
"""The spans of each side; None for a side that lacks the document."""

Flags = tuple[tuple[bool, ...] | None, ...]
"""Of each side, which of its spans count (a filter may exclude some); None: all."""

LabelledRange = tuple[int, int, str, Ranges | None]
"""The start, the end, the label and the parts of a span: what makes it equal to others."""

labelled_range: Callable[[Span], LabelledRange] = attrgetter("start", "end", "label", "parts")

TOKENS = "tokens"
"""What a metric names in `Metric.reads` if it reads the positions of a span (`Span.tokens`)."""

BOTH = 0b11
"""The sides that are present in a key of gold and predicted."""

HEAD = 3
"""The number of values of a key before its spans."""


def presence(sides: Iterable[object]) -> int:
    """Return the sides that are present as keys have them: bit n is set unless side n is None."""
    return sum(1 << number for number, side in enumerate(sides) if side is not None)


def same_key(present: int = BOTH) -> Key:
    """Return the key of a position outside all spans that has the same tag on all sides."""
    return 1, 1, present


def other_key(present: int = BOTH) -> Key:
    """Return the key of a position outside all spans whose tags, as they were written, differ."""
    return 1, 0, present


@dataclass(eq=False)
class Case:
    """Spans of all sides that overlap, directly or through others; it is made once for each distinct key.

    Attributes:
        sides: the spans of each side, None for a side that lacks the document.
        counted: of each side, which of its spans count; None: all.
        length: the number of positions from the first start to the last end; 0 if no side has a text.
        written: at how many of these positions the tags, as the files have them, are equal; None: no tags were written.
    """

    sides: Sides
    counted: Flags
    length: int = 0
    written: int | None = 0

    @property
    def equal(self) -> int:
        """The number of positions with the same tag; where no tags were written, the BIO tags of the spans count."""
        if self.written is not None:
            return self.written
        tags = [_bio(spans, self.length) for spans in self.sides if spans is not None]
        if all(of_side == tags[0] for of_side in tags):
            return self.length
        return sum(here.count(here[0]) == len(here) for here in zip(*tags, strict=True))

    @property
    def gold(self) -> tuple[Span, ...]:
        """The spans of the first side."""
        return self.sides[0] or ()

    @property
    def predicted(self) -> tuple[Span, ...]:
        """The spans of the second side."""
        return self.sides[1] or ()

    @cached_property
    def around(self) -> tuple[list[list[int]], list[list[int]]]:
        """The neighbours of each span: ``around[side][number]`` has the numbers of the other side's spans.

        They overlap the span, or all have zero length and stand in one place; they are in ascending order. Raises
        `LimitError` for too many pairs.
        """
        return overlaps_between(self.gold, self.predicted)

    def labelled_ranges(self) -> list[list[LabelledRange]]:
        """Return the start, the end, the label and the parts of each span of each side."""
        return [list(map(labelled_range, spans or ())) for spans in self.sides]

    def labelled_rows(self) -> list[list[LabelledRow]]:
        """Return the start, the end and the labels by layer of each span of each side."""
        return [[(span.start, span.end, span.by_layer) for span in spans or ()] for spans in self.sides]

    def counting(self, side: int) -> Iterator[tuple[int, Span]]:
        """Yield the spans of a side that count, with their numbers."""
        flags = self.counted[side]
        for number, span in enumerate(self.sides[side] or ()):
            if flags is None or flags[number]:
                yield number, span


def _bio(spans: Sequence[Span], length: int) -> list[str]:
    """Return the BIO tags of spans; where they overlap, the last one wins, discontinuous ones over others.

    O(n log n) for n spans, and O(1) for each position.
    """
    tags = ["O"] * length
    ranges = [
        (start, end, span.label)
        for span in sorted(spans, key=lambda span: span.parts is not None)
        for start, end in span.fragments
        if start < end
    ]
    coming = sorted(((start, -number) for number, (start, _, _) in enumerate(ranges)), reverse=True)
    here: list[int] = []  # the ranges that hold a position, the last one first
    for edge, after in pairwise(sorted({edge for start, end, _ in ranges for edge in (start, end)})):
        while coming and coming[-1][0] == edge:
            heappush(here, coming.pop()[1])
        while here and ranges[-here[0]][1] <= edge:
            heappop(here)
        if here:
            start, _, label = ranges[-here[0]]
            tags[edge:after] = [f"I-{label}"] * (after - edge)
            if start == edge:
                tags[edge] = f"B-{label}"
    return tags


class CaseOfKey(Case):
    """The case of a key of a sequence, that is, of a layer or of the merged layers.

    Its spans are made when they are asked for: `exact` and `levels` take half the time.

    >>> case = CaseOfKey((2, None, 3, (0, 2, 0, "A"), (0, 1, 1, "A")), "entity")
    >>> case.gold[0].labels, case.equal
    ({'entity': 'A'}, 1)
    """

    def __init__(self, key: Key, sequence: str) -> None:
        self.length, self.written, self._present, *self._entries = key
        self._sequence = sequence
        self._is_plain = {(len(entry), type(entry[3])) for entry in self._entries} <= {(4, str)}
        self.counted = (None,) * max(2, self._present.bit_length())
        if not self._is_plain:
            flags = [
                [len(entry) == 4 or entry[7] for entry in self._entries if entry[2] == side]
                for side in range(len(self.counted))
            ]
            self.counted = tuple([None if all(of_side) else tuple(of_side) for of_side in flags])

    @cached_property
    def sides(self) -> Sides:  # type: ignore[override]  # a case has no setter of its sides
        sides: list[list[Span]] = [[] for _ in self.counted]
        for start, end, side, labels, *more in self._entries:
            of_sequence = labels_in(self._sequence, labels)
            if more:
                parts, tokens, features, _ = more
                values = Frozen({name: _from_hashable(kind, value) for name, kind, value in features})
                tokens = None if tokens is None else frozenset(tokens)
                sides[side].append(Span(start, end, of_sequence, values, tokens, parts=parts))
            else:
                sides[side].append(Span(start, end, of_sequence))
        return tuple([tuple(s) if self._present >> n & 1 else None for n, s in enumerate(sides)])

    def labelled_ranges(self) -> list[list[LabelledRange]]:
        if not self._is_plain:
            return super().labelled_ranges()
        ranges: list[list[LabelledRange]] = [[] for _ in self.counted]
        for start, end, side, label in self._entries:
            ranges[side].append((start, end, label, None))
        return ranges

    def labelled_rows(self) -> list[list[LabelledRow]]:
        rows: list[list[LabelledRow]] = [[] for _ in self.counted]
        for start, end, side, labels, *_ in self._entries:
            rows[side].append((start, end, labels_in(self._sequence, labels)))
        return rows


# From documents to cases


class Keys(NamedTuple):
    """The keys of the cases of one text in one sequence, in the order of their positions.

    `ranges` has the first start and the last end of each case, `others` the positions outside all spans whose tags, as
    they were written, differ. The rest of the positions of the text have the same tags.
    """

    sequence: str
    keys: list[Key]
    ranges: list[tuple[int, int]]
    others: list[int]


def keys_of(
    documents: Sequence[Document | None],
    layers: Sequence[str],
    *,
    merge: bool = False,
    where: Where = NOTHING,
    reads: Collection[str] = (),
) -> Iterator[Keys]:
    """Yield the keys of one text for each sequence. Costs O(n log n) for n spans.

    Args:
        documents: one for each side, None for a side that lacks the text.
        layers: the layers to count; with `merge`, all of them as one sequence.
        where: the labels that count, by layer; other spans still take part in cases.
        reads: the features of spans that the key holds, and `TOKENS`.

    Raises `OverlapError` for layers that cannot be merged, `UsageError` for a feature that is no plain value.
    """
    present_documents = [document for document in documents if document is not None]
    has_text = any(document.end is not None for document in present_documents)
    ordered = {side for side, document in enumerate(documents) if document is not None and document.ordered}
    present = presence(documents)
    for sequence, sources in sources_by_sequence(documents, layers, merge):
        entries = _entries(sequence, documents, sources, where, sorted(reads))
        differing = _differing_positions(sequence, sources, present_documents[0].start) if has_text else None
        is_plain = {*map(len, entries)} <= {4} and {type(entry[3]) for entry in entries} <= {str}
        ranked = sorted(entries, key=None if is_plain else _rank)
        order: dict[int, int] = {}  # by the ids of the entries, which stay alive in the lists
        if ordered:
            order = {id(entry): number for number, entry in enumerate(ranked)}
            order |= {id(entry): number for number, entry in enumerate(entries) if entry[2] in ordered}
        keys, ranges = _keys_and_ranges(
            ranked, present, differing, has_text=has_text, is_plain=is_plain, order=order
        )
        yield Keys(sequence, keys, ranges, _positions_outside(differing, keys, ranges))


def _keys_and_ranges(
    entries: Iterable[_Entry],
    present: int,
    differing: Sequence[int] | None,
    *,
    has_text: bool,
    is_plain: bool = True,
    order: Mapping[int, int] | None = None,
) -> tuple[list[Key], list[tuple[int, int]]]:
    """Return the keys of cases and their ranges, given entries by position.

    `order` has the place of each entry in the key by its id, if it is not that of `entries`.
    """
    keys: list[Key] = []
    ranges: list[tuple[int, int]] = []
    length, equal = 0, 0 if not has_text else None
    for members in components(entries, touching=True):
        first = last = members[0][0]
        if order:
            members.sort(key=lambda entry: (entry[2], order[id(entry)]))
        spans: list[_Entry] = []
        if is_plain:
            for start, end, side, label in members:
                spans.append((start - first, end - first, side, label))
                if end > last:
                    last = end
        else:
            spans += [_from_case_start(entry, first) for entry in members]
            last += max([span[1] for span in spans])
        ranges.append((first, last))
        if has_text:
            length = last - first
            if differing is not None:
                equal = length - bisect_left(differing, last) + bisect_left(differing, first)
        keys.append((length, equal, present, *spans))
    return keys, ranges


def keys_of_triples(gold: Sequence[Row], predicted: Sequence[Row], *, has_text: bool = False) -> list[Key]:
    """Return the keys of rows ``(start, end, label)`` of one text as `keys_of` does.

    >>> keys_of_triples([(2, 4, "A"), (9, 10, "B")], [(9, 10, "B"), (2, 3, "A")])
    [(0, 0, 3, (0, 1, 1, 'A'), (0, 2, 0, 'A')), (0, 0, 3, (0, 1, 0, 'B'), (0, 1, 1, 'B'))]
    """
    rows: list[_Entry] = [(start, end, 0, label) for start, end, label in gold]
    rows += [(start, end, 1, label) for start, end, label in predicted]
    return _keys_and_ranges(sorted(rows), BOTH, None, has_text=has_text)[0]


def are_flat(rows: Sequence[Row]) -> bool:
    """Return whether rows come by position, none is empty, and none overlaps another."""
    past = 0
    for start, end, _ in rows:
        if start < past or start == end:
            return False
        past = end
    return True


def sources_by_sequence(
    documents: Sequence[Document | None], layers: Sequence[str], merge: bool
) -> list[tuple[str, Sequence[Document | None]]]:
    """Return the sequences of one text, each with the documents that have its spans."""
    if not merge:
        return [(layer, documents) for layer in layers]
    from clueval.core.merging import with_merged  # most corpora are not merged

    present = [document for document in documents if document is not None]
    names = [name for name in layers if any(name in document.layers for document in present)]
    merged = [None if document is None else with_merged(document, names) for document in documents]
    return [(MERGED, merged)]


def which_count(spans: Sequence[Span], document: Document, where: Where) -> list[bool]:
    """Return which spans count: those that have one of the labels that count in each layer of a filter.

    A span of another layer has the label of the spans of the named layer, of its own side, that has most positions in
    it; the earliest of several, and all labels of the spans that stand in this earliest place.
    """
    flags = [True] * len(spans)
    for layer, wanted in where.items():
        of_layer = document.layers.get(layer, ())
        index = SpanIndex(of_layer)
        for number, span in enumerate(spans):
            if layer in span.by_layer:
                flags[number] &= span.by_layer[layer] in wanted
            elif flags[number]:
                around = [of_layer[neighbour] for neighbour in index.near(span)]
                flags[number] = not wanted.isdisjoint(_labels_of_most(span, around, layer))
    return flags


def _labels_of_most(span: Span, around: Sequence[Span], layer: str) -> set[str]:
    """Return the labels of `layer` with most positions in a span: of several, those in the earliest place."""
    positions: dict[str, int] = {}
    earliest: dict[str, tuple[Any, ...]] = {}
    for neighbour in around:
        label = neighbour.by_layer.get(layer)
        if label is not None:
            inside = min(span.end, neighbour.end) - max(span.start, neighbour.start)
            positions[label] = positions.get(label, 0) + inside
            ranges = neighbour.start, neighbour.end, neighbour.fragments
            earliest[label] = min(ranges, earliest.get(label, ranges))
    ranks = {label: (-number, earliest[label]) for label, number in positions.items()}
    best = min(ranks.values(), default=None)
    return {label for label, rank in ranks.items() if rank == best}


def _entries(
    sequence: str,
    documents: Sequence[Document | None],
    sources: Sequence[Document | None],
    where: Where,
    reads: Sequence[str],
) -> list[_Entry]:
    """Return the spans of all sides; no `Span` is made of rows unless a filter needs it."""
    entries: list[_Entry] = []
    for side, (document, source) in enumerate(zip(documents, sources, strict=True)):
        if document is None or source is None:
            continue
        rows = source.rows_in(sequence) if reads else source.ranges_in(sequence)
        if rows is not None and not where:
            entries += [(start, end, side, label) for start, end, label in rows]
            continue
        spans = source.layers.get(sequence, ())
        flags = which_count(spans, document, where) if where else repeat(True)
        entries += [
            _entry(span, side, sequence, reads, flag) for span, flag in zip(spans, flags, strict=False)
        ]
    return entries


def _entry(span: Span, side: int, sequence: str, reads: Sequence[str], counts: bool) -> _Entry:
    labels: Any = span.by_layer
    labels = labels[sequence] if len(labels) == 1 and sequence in labels else tuple(labels.items())
    tokens = tuple(sorted(span.tokens)) if span.tokens is not None and TOKENS in reads else None
    features: tuple[Any, ...] = ()
    if span.features and reads:
        features = tuple(
            [(name, *_as_hashable(span.features[name])) for name in reads if name in span.features]
        )
    if span.parts is None and tokens is None and not features and counts:
        return span.start, span.end, side, labels
    return span.start, span.end, side, labels, span.parts, tokens, features, counts


def _from_case_start(entry: _Entry, first: int) -> _Entry:
    """Return an entry whose positions count from the start of its case."""
    start, end, side, labels, *more = entry
    if not more:
        return start - first, end - first, side, labels
    parts, tokens, features, counts = more
    if parts is not None:
        parts = tuple((begin - first, past - first) for begin, past in parts)
    if tokens is not None:
        tokens = tuple(token - first for token in tokens)
    return start - first, end - first, side, labels, parts, tokens, features, counts


def _as_hashable(value: Any) -> tuple[str, Hashable]:
    """Return the name of the type of a value, and the value as one that can be hashed; `_from_hashable` is the inverse.

    NaN equals itself, and 0.0 does not equal -0.0.
    """
    kind = type(value)
    if kind is str or kind is int or kind is bool:
        return kind.__name__, value
    if isinstance(value, float):
        return "float", repr(value)
    if isinstance(value, Mapping):
        return "dict", tuple((_as_hashable(key), _as_hashable(each)) for key, each in value.items())
    if isinstance(value, set | frozenset):
        return "set", tuple(sorted(map(_as_hashable, value), key=repr))
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "list", tuple(map(_as_hashable, value))
    return kind.__name__, value


def _from_hashable(kind: str, value: Any) -> Any:
    if kind == "float":
        return float(value)
    if kind == "dict":
        return {_from_hashable(*key): _from_hashable(*each) for key, each in value}
    if kind in ("set", "list"):
        members = [_from_hashable(*each) for each in value]
        return frozenset(members) if kind == "set" else members
    return value


def order_in_key(span: Span, sequence: str, reads: Sequence[str]) -> tuple[Any, ...]:
    """Return the order of a span of one side in a key that holds these features."""
    return _rank(_entry(span, 0, sequence, reads, True))


def _rank(entry: _Entry) -> tuple[Any, ...]:
    """Return the order of an entry: start, end, side, parts, labels by layer, tokens, features, counted."""
    start, end, side, labels, *more = entry
    parts, tokens, features, counts = more or (None, None, (), True)
    pairs = labels if isinstance(labels, tuple) else (("", labels),)
    named = tuple(sorted((layer, label is not None, label or "") for layer, label in pairs))
    values = tuple((name, kind, _order_of(kind, value)) for name, kind, value in features)
    return start, end, side, parts or (), named, tokens or (), values, counts


def _order_of(kind: str, value: Any) -> Any:
    """Return what values of one type, as `_as_hashable` makes them, are ordered by: text and numbers by themselves."""
    if kind == "float":
        number = float(value)
        return number != number, 0.0 if number != number else number, value
    if kind in ("str", "int", "bool"):
        return value
    return repr(value if kind == "set" else _from_hashable(kind, value))


def _differing_positions(sequence: str, sources: Sequence[Document | None], start: int) -> list[int] | None:
    """Return the positions, from `start` on, whose tags are not the same on all sides; None if a side has no tags."""
    columns = [source.tags.get(sequence) for source in sources if source is not None]
    tags = [column for column in columns if column is not None]
    if len(tags) < len(columns):
        return None
    if all(column == tags[0] for column in tags):
        return []
    if len(tags) == 2:
        return list(compress(count(start), map(ne, *tags)))
    return [number for number, row in enumerate(zip(*tags, strict=True), start) if len(set(row)) > 1]


def _positions_outside(
    differing: Sequence[int] | None, keys: Iterable[Key], ranges: Sequence[tuple[int, int]]
) -> list[int]:
    """Return the positions with different tags that are in no case, given the keys of the cases and their ranges."""
    outside: list[int] = []
    if not differing or sum([key[0] - key[1] for key in keys]) == len(differing):  # nearly always
        return outside
    number = 0
    for position in differing:
        while number < len(ranges) and ranges[number][1] <= position:
            number += 1
        if number == len(ranges) or position < ranges[number][0]:
            outside.append(position)
    return outside
