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

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from operator import itemgetter, ne
from typing import Any, NamedTuple

from clueval.core.document import Document, Row
from clueval.core.matching import with_merged
from clueval.core.overlap import SpanIndex, components, overlaps_between
from clueval.core.span import MERGED, NOTHING, Frozen, Span

Key = tuple[Any, ...]
"""A case as plain values; see the module."""

Where = Mapping[str, frozenset[str]]
"""The labels that count, by layer."""

Sides = tuple[tuple[Span, ...] | None, ...]
"""The spans of each side; None for a side that lacks the document."""

TOKENS = "tokens"
"""What a metric names in `Metric.reads` if it reads the positions of a span (`Span.tokens`)."""

BOTH = 0b11
"""The sides that are present in a key of gold and predicted."""


HEAD = 3
"""The number of values of a key before its spans."""


def presence(sides: Iterable[object]) -> int:
    """Return the sides that are present as keys have them: bit n is set unless side n is None.

    >>> presence(["gold", None, "third"])
    5
    """
    return sum(1 << number for number, side in enumerate(sides) if side is not None)


def same_key(present: int = BOTH) -> Key:
    """Return the key of a position outside all spans that has the same tag on all sides."""
    return 1, 1, present


def other_key(present: int = BOTH) -> Key:
    """Return the key of a position outside all spans whose tags, as they were written, differ."""
    return 1, 0, present


@dataclass(frozen=True)
class Case:
    """Spans of all sides that overlap, directly or through others; it is made once for each distinct key.

    Attributes:
        sides: the spans of each side, None for a side that lacks the document.
        counted: of each side, which of its spans count (a filter may exclude some); None: all.
        length: the number of positions from the first start to the last end; 0 if no side has a text.
        written: the number of these positions whose tags are the same as written; None: no tags were written.
    """

    sides: Sides
    counted: tuple[tuple[bool, ...] | None, ...]
    length: int = 0
    written: int | None = 0

    @cached_property
    def equal(self) -> int:
        """The number of positions with the same tag; where no tags were written, the BIO tags of the spans count."""
        return _equal(self.sides, self.length) if self.written is None else self.written

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

        They overlap the span and are in ascending order. Spans of zero length that are equal do not overlap. Raises
        `LimitError` for too many pairs.
        """
        return overlaps_between(self.gold, self.predicted)

    def counting(self, side: int) -> Iterator[tuple[int, Span]]:
        """Yield the spans of a side that count, with their numbers."""
        flags = self.counted[side]
        for number, span in enumerate(self.sides[side] or ()):
            if flags is None or flags[number]:
                yield number, span


def case_of(key: Key, sequence: str) -> Case:
    """Return the case of a key of a sequence, that is, of a layer or of the merged layers.

    >>> case = case_of((2, None, 3, (0, 2, 0, "A"), (0, 1, 1, "A")), "entity")
    >>> case.gold[0].labels, case.equal
    ({'entity': 'A'}, 1)
    """
    length, equal, present, *spans = key
    number = max(2, present.bit_length())
    sides: list[list[Span]] = [[] for _ in range(number)]
    flags: list[list[bool]] = [[] for _ in range(number)]
    known: dict[Hashable, Frozen] = {}
    values: dict[Hashable, Frozen] = {}
    for span in spans:
        start, end, side, labels = span[:4]
        if labels not in known:
            known[labels] = Frozen(
                {sequence: labels} if labels is None or isinstance(labels, str) else labels
            )
        if len(span) == 4:
            sides[side].append(Span(start, end, known[labels]))
            flags[side].append(True)
            continue
        parts, tokens, features, counts = span[4:]
        if features not in values:
            values[features] = Frozen({name: _restored(kind, value) for name, kind, value in features})
        tokens = None if tokens is None else frozenset(tokens)
        sides[side].append(Span(start, end, known[labels], values[features], tokens, parts=parts))
        flags[side].append(counts)
    made = tuple(tuple(spans) if present >> side & 1 else None for side, spans in enumerate(sides))
    counted = tuple(None if all(of) else tuple(of) for of in flags)
    return Case(made, counted, length, equal)


def _equal(sides: Sides, length: int) -> int:
    """Return the number of positions that have the same BIO tag on all sides that are present."""
    first, *others = (_bio(spans, length) for spans in sides if spans is not None)
    if all(tags == first for tags in others):
        return length
    return sum(map(_all_equal, zip(first, *others, strict=True)))


def _all_equal(tags: tuple[str, ...]) -> bool:
    return tags.count(tags[0]) == len(tags)


def _bio(spans: Sequence[Span], length: int) -> list[str]:
    """Return the BIO tags of spans; where they overlap, the last one wins, discontinuous ones over others."""
    tags = ["O"] * length
    for span in sorted(spans, key=lambda span: span.parts is not None):
        for start, end in span.fragments:
            if start < end:
                tags[start:end] = [f"B-{span.label}", *[f"I-{span.label}"] * (end - start - 1)]
    return tags


# From documents to cases


class Located(NamedTuple):
    """A case where it stands: spans at their own positions. `first` is the first start of the case.

    `counted` says of the spans of each side which count; None: all.
    """

    sequence: str
    first: int
    sides: Sides
    counted: tuple[tuple[bool, ...] | None, ...]


class EqualCase(NamedTuple):
    """A case of two spans of one piece that have the same range and labels on two sides."""

    sequence: str
    start: int
    end: int
    span: Span


class _Sequence(NamedTuple):
    """The documents of all sides in one sequence: their spans, which of them count, and the tags as written.

    There are tags only if all sides that have the text have them.
    """

    name: str
    documents: Sequence[Document | None]  # with the merged layer, if layers are merged
    sides: Sequence[Sequence[Span] | None]
    counted: Sequence[Sequence[bool] | None]
    tags: Sequence[Sequence[str]] | None


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
    ordered = [side for side, document in enumerate(documents) if document is not None and document.ordered]
    has_text = any(document is not None and document.end is not None for document in documents)
    present = presence(documents)
    start = next((document.start for document in documents if document is not None), 0)
    reads = sorted(reads)
    for sequence in _sequences(documents, layers, merge, where, as_rows=True):
        entries, plain = _entries(sequence, reads)
        # entries stay alive in the list, so no two of them have the same id
        order = {id(entry): number for number, entry in enumerate(entries)} if ordered else {}
        if plain:
            entries.sort()
        else:
            entries = _ranked(entries)
        differing = None if sequence.tags is None or not has_text else _differing(sequence.tags, start)
        keys: list[Key] = []
        ranges: list[tuple[int, int]] = []
        for members in components(entries, touching=True):
            first = members[0][0]
            last = max([member[1] for member in members])
            length, equal = (last - first, None) if has_text else (0, 0)
            if differing is not None:
                length = last - first
                equal = length - bisect_left(differing, last) + bisect_left(differing, first)
            if ordered:
                members = _in_order(members, ordered, order)
            if plain:
                spans = [(start - first, end - first, side, label) for start, end, side, label in members]
            else:
                spans = [_moved(member, first) for member in members]
            keys.append((length, equal, present, *spans))
            ranges.append((first, last))
        yield Keys(sequence.name, keys, ranges, _outside(differing or (), ranges))


def keys_of_triples(gold: Sequence[Row], predicted: Sequence[Row], *, has_text: bool = False) -> list[Key]:
    """Return the keys of one text whose spans are rows ``(start, end, label)``, in any order; as `keys_of` does.

    >>> keys_of_triples([(2, 4, "A"), (9, 10, "B")], [(9, 10, "B"), (2, 3, "A")])
    [(0, 0, 3, (0, 1, 1, 'A'), (0, 2, 0, 'A')), (0, 0, 3, (0, 1, 0, 'B'), (0, 1, 1, 'B'))]
    """
    if gold == predicted and are_flat(gold):
        if has_text:
            return [
                (end - start, None, BOTH, (0, end - start, 0, label), (0, end - start, 1, label))
                for start, end, label in gold
            ]
        return [
            (0, 0, BOTH, (0, end - start, 0, label), (0, end - start, 1, label)) for start, end, label in gold
        ]
    rows = [(start, end, 0, label) for start, end, label in gold]
    rows += [(start, end, 1, label) for start, end, label in predicted]
    rows.sort()
    keys: list[Key] = []
    for members in components(rows, touching=True):
        first = members[0][0]
        spans = [(start - first, end - first, side, label) for start, end, side, label in members]
        if has_text:
            keys.append((max([row[1] for row in spans]), None, BOTH, *spans))
        else:
            keys.append((0, 0, BOTH, *spans))
    return keys


def are_flat(rows: Sequence[Row]) -> bool:
    """Return whether rows come by position, none is empty, and none overlaps another."""
    past = 0
    for start, end, _ in rows:
        if start < past or start == end:
            return False
        past = end
    return True


_Entry = tuple[Any, ...]
"""A span of a key, at its own positions."""


def _sequences(
    documents: Sequence[Document | None],
    layers: Sequence[str],
    merge: bool,
    where: Where,
    *,
    as_rows: bool = False,
) -> Iterator[_Sequence]:
    """Yield each sequence of the documents of one text: each layer, or all of them merged.

    `as_rows`: of a layer that is given as rows, no spans are made unless a filter needs them.
    """
    sources = documents
    if merge:
        present = [document for document in documents if document is not None]
        names = [name for name in layers if any(name in document.layers for document in present)]
        sources = [None if document is None else with_merged(document, names) for document in documents]
    for name in [MERGED] if merge else layers:
        sides: list[Sequence[Span] | None] = []
        for source in sources:
            if source is None:
                sides.append(None)
            elif as_rows and not where and source.rows_in(name) is not None:
                sides.append(())
            else:
                sides.append(source.layers.get(name, ()))
        tags = [source.tags.get(name) for source in sources if source is not None]
        yield _Sequence(
            name,
            sources,
            sides,
            [
                None if not where or document is None or spans is None else counted(spans, document, where)
                for document, spans in zip(documents, sides, strict=True)
            ],
            None if None in tags else tags,  # type: ignore[arg-type]  # None is not in it
        )


def counted(spans: Sequence[Span], document: Document, where: Where) -> list[bool]:
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
                around = [of_layer[each] for each in index.overlapping(span)]
                flags[number] = not wanted.isdisjoint(_labels_of_most(span, around, layer))
    return flags


def _labels_of_most(span: Span, around: Sequence[Span], layer: str) -> set[str]:
    """Return the labels of `layer` with most positions in a span: of several, those in the earliest place."""
    positions: dict[str, int] = {}
    places: dict[str, tuple[Any, ...]] = {}
    for other in around:
        label = other.by_layer.get(layer)
        if label is not None:
            inside = min(span.end, other.end) - max(span.start, other.start)
            positions[label] = positions.get(label, 0) + inside
            place = other.start, other.end, other.fragments
            places[label] = min(place, places.get(label, place))
    most = max(positions.values(), default=0)
    commonest = {label: places[label] for label, number in positions.items() if number == most}
    earliest = min(commonest.values(), default=None)
    return {label for label, place in commonest.items() if place == earliest}


def _entries(sequence: _Sequence, reads: Collection[str]) -> tuple[list[_Entry], bool]:
    """Return the spans of all sides as entries of keys, and whether all of them are plain: have a label alone."""
    entries: list[_Entry] = []
    plain = True
    for side, (document, spans, counted) in enumerate(
        zip(sequence.documents, sequence.sides, sequence.counted, strict=True)
    ):
        rows = None if document is None or counted is not None else document.rows_in(sequence.name)
        if rows is not None:
            entries += [(start, end, side, label) for start, end, label in rows]
            continue
        for number, span in enumerate(spans or ()):
            entry = _entry(span, side, sequence.name, reads, counted is None or counted[number])
            plain = plain and len(entry) == 4 and type(entry[3]) is str
            entries.append(entry)
    return entries, plain


def _entry(span: Span, side: int, sequence: str, reads: Collection[str], counts: bool) -> _Entry:
    # `reads` is sorted
    labels: Any = span.by_layer
    labels = labels[sequence] if len(labels) == 1 and sequence in labels else tuple(labels.items())
    tokens = tuple(sorted(span.tokens)) if span.tokens is not None and TOKENS in reads else None
    features: tuple[Any, ...] = ()
    if span.features and reads:
        features = tuple([(name, *_plain(span.features[name])) for name in reads if name in span.features])
    if span.parts is None and tokens is None and not features and counts:
        return span.start, span.end, side, labels
    return span.start, span.end, side, labels, span.parts, tokens, features, counts


def _plain(value: Any) -> tuple[str, Hashable]:
    """Return the name of the type of a value, and the value as one that can be hashed; `_restored` is the inverse.

    NaN equals itself, and 0.0 does not equal -0.0.
    """
    kind = type(value)
    if kind is str or kind is int or kind is bool:
        return kind.__name__, value
    if isinstance(value, float):
        return "float", repr(value)
    if isinstance(value, Mapping):
        return "dict", tuple((_plain(key), _plain(each)) for key, each in value.items())
    if isinstance(value, set | frozenset):
        return "set", tuple(sorted(map(_plain, value), key=repr))
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "list", tuple(map(_plain, value))
    return kind.__name__, value


def _restored(kind: str, value: Any) -> Any:
    if kind == "float":
        return float(value)
    if kind == "dict":
        return {_restored(*key): _restored(*each) for key, each in value}
    if kind in ("set", "list"):
        members = [_restored(*each) for each in value]
        return frozenset(members) if kind == "set" else members
    return value


def _ranked(entries: Iterable[_Entry]) -> list[_Entry]:
    """Return entries in order; most differ in their places already."""
    ranked = []
    for _, run in groupby(sorted(entries, key=_place), key=_place):
        equal = list(run)
        ranked += equal if len(equal) == 1 else sorted(equal, key=_rank)
    return ranked


_place = itemgetter(0, 1, 2)
"""Start, end and side of an entry."""


def _rank(entry: _Entry) -> tuple[Any, ...]:
    """Return the order of an entry: start, end, side, parts, labels by layer, tokens, features, counted."""
    start, end, side, labels, *more = entry
    parts, tokens, features, counts = more or (None, None, (), True)
    pairs = labels if isinstance(labels, tuple) else (("", labels),)
    named = tuple(sorted((layer, label is not None, label or "") for layer, label in pairs))
    values = tuple((name, kind, _order_of(kind, value)) for name, kind, value in features)
    return start, end, side, parts or (), named, tokens or (), values, counts


def _order_of(kind: str, value: Any) -> Any:
    """Return what values of one type, as `_plain` makes them, are ordered by: text and numbers by themselves."""
    if kind == "float":
        number = float(value)
        return number != number, 0.0 if number != number else number, value
    return (
        value if kind in ("str", "int", "bool") else repr(_restored(kind, value) if kind != "set" else value)
    )


def _in_order(members: list[_Entry], ordered: Sequence[int], order: Mapping[int, int]) -> list[_Entry]:
    """Return the entries of a case side by side, those of a document that is ordered in its order."""
    ranks = {id(entry): number for number, entry in enumerate(members)}
    return sorted(
        members,
        key=lambda entry: (entry[2], order[id(entry)] if entry[2] in ordered else ranks[id(entry)]),
    )


def _moved(entry: _Entry, first: int) -> _Entry:
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


def _differing(tags: Sequence[Sequence[str]], start: int) -> list[int]:
    """Return the positions, from `start` on, whose tags are not the same on all sides."""
    if all(of == tags[0] for of in tags):
        return []
    if len(tags) == 2:
        return [number for number, differ in enumerate(map(ne, *tags), start) if differ]
    return [number for number, row in enumerate(zip(*tags, strict=True), start) if len(set(row)) > 1]


def _outside(positions: Sequence[int], ranges: Sequence[tuple[int, int]]) -> list[int]:
    """Return those of the positions that are in none of the ranges; both are in ascending order."""
    if not positions:
        return []
    firsts = [first for first, _ in ranges]
    outside = []
    for position in positions:
        number = bisect_right(firsts, position) - 1
        if number < 0 or ranges[number][1] <= position:
            outside.append(position)
    return outside


# From documents to cases that stay where they are


def located(
    documents: Sequence[Document | None],
    layers: Sequence[str],
    *,
    merge: bool = False,
    where: Where = NOTHING,
    reads: Collection[str] = (),
    equal: list[EqualCase] | None = None,
) -> Iterator[Located]:
    """Yield each case of one text with the spans of the documents, of which each stands for a side, as in `keys_of`.

    Cases come by sequence, then by position; the spans of a side are in the order of a key that holds `reads`. Cases of
    two spans of one piece that have the same range and labels on two sides, which are most, are put into `equal`, if
    that is given, and left out.
    """
    reads = sorted(reads)
    for sequence in _sequences(documents, layers, merge, where):
        rows = [
            (span.start, span.end, side, number)
            for side, spans in enumerate(sequence.sides)
            for number, span in enumerate(spans or ())
        ]
        rows.sort()
        for members in components(rows, touching=True):
            if equal is not None and len(members) == 2 and _are_equal(sequence, *members):
                start, end, side, number = members[0]
                equal.append(EqualCase(sequence.name, start, end, (sequence.sides[side] or ())[number]))
                continue
            numbers: list[list[int]] = [[] for _ in documents]
            for _, _, side, number in members:
                numbers[side].append(number)
            sides: list[tuple[Span, ...] | None] = []
            flags: list[tuple[bool, ...] | None] = []
            for side, (document, of) in enumerate(zip(documents, numbers, strict=True)):
                spans, counted = sequence.sides[side], sequence.counted[side]
                if document is None or spans is None:
                    sides.append(None)
                    flags.append(None)
                    continue
                if document.ordered:
                    of.sort()
                elif len(of) > 1:
                    of.sort(key=lambda n, s=spans, k=side: _rank(_entry(s[n], k, sequence.name, reads, True)))  # type: ignore[misc]
                sides.append(tuple([spans[number] for number in of]))
                flags.append(None if counted is None else tuple([counted[number] for number in of]))
            yield Located(sequence.name, members[0][0], tuple(sides), tuple(flags))


def _are_equal(sequence: _Sequence, one: tuple[int, int, int, int], other: tuple[int, int, int, int]) -> bool:
    """Return whether two spans, each by start, end, side and number, are of two sides, equal and of one piece."""
    if one[:2] != other[:2] or one[2] == other[2]:
        return False
    spans = [(sequence.sides[side] or ())[number] for _, _, side, number in (one, other)]
    return spans[0].labels == spans[1].labels and spans[0].parts is None and spans[1].parts is None
