"""The five match classes of CLUEval.

Each span of one side is classified by how the spans of the other side lie over it::

    the span         |==========|
    other side       |----------|        1 exact
                  |-------------|        2 superset: one span covers it
                     |---||-----|        3 tiling: adjacent spans cover it exactly
                   |--------||----|      4 overlap: adjacent spans cover it and stick out
                     everything else     5 missed

Recall comes from ``match_spans(gold, predicted)``, precision from ``match_spans(predicted, gold)``. *Level n*
counts the classes 1 to n as true positives. Exact matches are taken out of both sides first. Spans of one side
must not overlap one another. A span of zero length is matched exactly, or covered from both sides.

Source: the CLUEval algorithm, "match.spans".
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import compress
from typing import Literal, NamedTuple, get_args

from clueval.chunks import Chunks
from clueval.index import Flat
from clueval.metric import Side
from clueval.spans import Frozen, Span, making_many

Kind = Literal["exact", "superset", "tiling", "overlap", "missed"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""The classes in the order of their levels; `missed` is no match at any level."""

LEVELS = (1, 2, 3, 4)

Labels = Mapping[str, str | None]
"""The labels of a span, or those that it was found as, by layer."""

_NOTHING = Frozen()


@dataclass(frozen=True, slots=True, init=False)
class Match:
    """How one span was found by the other side.

    `partners` are the spans of the other side that make the class, by position: one for exact and superset,
    the adjacent spans for tiling and overlap, none for missed (even if something overlaps the span). `labels`
    are the labels of the partners joined: in each layer the label with most positions inside the span.
    """

    span: Span
    kind: Kind
    partners: tuple[Span, ...] = ()
    labels: Labels = _NOTHING

    def __init__(  # written out for the same reason as that of `Span`
        self,
        span: Span,
        kind: Kind,
        partners: tuple[Span, ...] = (),
        labels: Labels = _NOTHING,
    ) -> None:
        _set_span(self, span)
        _set_kind(self, kind)
        _set_partners(self, partners)
        _set_labels(self, labels)

    @property
    def level(self) -> int | None:
        """The lowest level at which this is a true positive, or None if it is missed."""
        return None if self.kind == "missed" else KINDS.index(self.kind) + 1


_set_span, _set_kind, _set_partners, _set_labels = (
    Match.__dict__[each.name].__set__ for each in fields(Match)
)


def match_spans(
    gold: Iterable[Span], predicted: Iterable[Span], *, document: str | None = None
) -> list[Match]:
    """Classify every gold span by the predicted spans; one `Match` per gold span, in the given order.

    Called the other way round it classifies the predicted spans. Labels are not compared: a match has the
    labels that were found. `document` is named in errors. Costs O(n log n), and O(n) for spans that come by
    position.

    Raises `OverlapError` if two spans of one side overlap.

    >>> gold = [Span(0, 4, "PER"), Span(6, 8, "LOC")]
    >>> predicted = [Span(0, 1, "LOC"), Span(1, 4, "PER")]
    >>> [(match.kind, dict(match.labels)) for match in match_spans(gold, predicted)]
    [('tiling', {'label': 'PER'}), ('missed', {})]
    """
    own, other = Flat.of(gold, document), Flat.of(predicted, document)
    with making_many(len(own.spans)):
        matches = list(_matches(own, other, classify(own, other)[0]))
    if isinstance(own.order, range):
        return matches
    given = dict(zip(own.order, matches, strict=True))
    return [given[number] for number in range(len(matches))]


def _matches(own: Flat, other: Flat, classes: Classes) -> Iterator[Match]:
    """The matches of the spans of one side, by position."""
    kinds, firsts, pasts = classes
    for number, (span, kind, first) in enumerate(zip(own.spans, kinds, firsts, strict=True)):
        if kind == _MISSED:
            yield Match(span, "missed")
        elif number in pasts:
            partners = tuple(other.spans[first : pasts[number]])
            yield Match(span, KINDS[kind], partners, joined_labels(span, partners))
        else:
            partner = other.spans[first]
            yield Match(span, KINDS[kind], (partner,), partner.by_layer)


# Classes without matches ---------------------------------------------------------------------------------


_EXACT, _SUPERSET, _TILING, _OVERLAP, _MISSED = range(len(KINDS))


class Classes(NamedTuple):
    """How the spans of one side were found; spans of either side go by their number, by position.

    `kinds` are numbers into `KINDS`. `firsts` are the first partners (-1: none), which are the only ones but
    for those spans that `pasts` has a number for: that past the last partner, of tilings and overlaps.
    """

    kinds: list[int]
    firsts: list[int]
    pasts: dict[int, int]

    def note(self, number: int, first: int, past: int, own: Flat, other: Flat) -> None:
        """Classify a span that nothing but these spans of the other side overlaps, none of which equals it."""
        _, starts, ends, _ = other
        start, end, least, greatest = own.starts[number], own.ends[number], starts[first], ends[past - 1]
        if least > start or greatest < end:
            return
        if past - first == 1:
            self.kinds[number] = _SUPERSET
        elif ends[first] == starts[first + 1] and ends[first + 1 : past - 1] == starts[first + 2 : past]:
            self.kinds[number] = _TILING if least == start and greatest == end else _OVERLAP
            self.pasts[number] = past
        else:
            return
        self.firsts[number] = first

    def note_covered(self, first: int, past: int, by: int) -> None:
        """Classify those from one number up to another, all of which one span of the other side covers."""
        self.kinds[first:past] = [_SUPERSET] * (past - first)
        self.firsts[first:past] = [by] * (past - first)


def classify(one: Flat, two: Flat) -> tuple[Classes, Classes]:
    """The classes of the spans of either side, both at once and without an object for each; O(n + m).

    A sweep along both sides. Neither has overlaps, so what is equal on both sides overlaps nothing else, and
    the rest falls into chains, in which each span overlaps the next of the other side. To follow by hand:
    [0,4) and [5,7) on one side, [0,2), [2,6) and [8,9) on the other: [0,2), [0,4), [2,6), [5,7) are a chain, in
    which the sweep takes whichever span ends next and knows by then all that overlaps it; [8,9) stands alone.

    >>> one, two = Flat.of([Span(0, 4), Span(5, 7)]), Flat.of([Span(0, 2), Span(2, 6), Span(8, 9)])
    >>> for side in classify(one, two):
    ...     print(*(KINDS[kind] for kind in side.kinds))
    overlap missed
    superset missed missed
    """
    (_, starts, ends, _), (_, other_starts, other_ends, _) = one, two
    n, m = len(starts), len(other_starts)
    classes = Classes([_MISSED] * n, [-1] * n, {})
    other_classes = Classes([_MISSED] * m, [-1] * m, {})
    kinds, firsts, _ = classes
    other_kinds, other_firsts, _ = other_classes
    i = j = 0
    while i < n and j < m:
        start, end, other_start, other_end = starts[i], ends[i], other_starts[j], other_ends[j]
        if start == other_start and end == other_end:
            kinds[i] = other_kinds[j] = _EXACT
            firsts[i], other_firsts[j] = j, i
            i += 1
            j += 1
        elif end <= other_start:
            i += 1
        elif other_end <= start:
            j += 1
        elif (i + 1 < n and starts[i + 1] < other_end) or (j + 1 < m and other_starts[j + 1] < end):
            i, j = _chain(i, j, one, two, classes, other_classes)
        else:  # a chain of two, by far the most frequent
            if other_start <= start and end <= other_end:
                kinds[i], firsts[i] = _SUPERSET, j
            elif start <= other_start and other_end <= end:
                other_kinds[j], other_firsts[j] = _SUPERSET, i
            i += 1
            j += 1
    return classes, other_classes


def _chain(i: int, j: int, one: Flat, two: Flat, classes: Classes, other_classes: Classes) -> tuple[int, int]:
    """Classify the chain that begins with spans i and j; the numbers of those that come after it."""
    first, other_first = j, i  # where the partners of span i, and those of span j, begin
    (_, starts, ends, _), (_, other_starts, other_ends, _) = one, two
    kinds, firsts, pasts = classes
    other_kinds, other_firsts, other_pasts = other_classes
    n, m = len(starts), len(other_starts)
    while True:
        end, other_end = ends[i], other_ends[j]
        if end < other_end:
            if first != j:  # the last of several partners sticks out
                if (
                    other_starts[first] <= starts[i]
                    and other_ends[first:j] == other_starts[first + 1 : j + 1]
                ):
                    kinds[i], firsts[i], pasts[i] = _OVERLAP, first, j + 1
            elif other_starts[j] <= starts[i]:
                past = _end_of_run(ends, i, other_end)
                classes.note_covered(i, past, j)
                i = past - 1
            i, first = i + 1, j
            if i == n or starts[i] >= other_end:
                other_classes.note(j, other_first, i, two, one)
                return i, j + 1
        elif other_end < end:
            if other_first != i:
                if (
                    starts[other_first] <= other_starts[j]
                    and ends[other_first:i] == starts[other_first + 1 : i + 1]
                ):
                    other_kinds[j], other_firsts[j], other_pasts[j] = _OVERLAP, other_first, i + 1
            elif starts[i] <= other_starts[j]:
                past = _end_of_run(other_ends, j, end)
                other_classes.note_covered(j, past, i)
                j = past - 1
            j, other_first = j + 1, i
            if j == m or other_starts[j] >= end:
                classes.note(i, first, j, one, two)
                return i + 1, j
        else:
            classes.note(i, first, j + 1, one, two)
            other_classes.note(j, other_first, i + 1, two, one)
            return i + 1, j + 1


def _end_of_run(ends: Sequence[int], first: int, before: int) -> int:
    """The number after the last span, from the first one on, that ends before a position."""
    if first + 1 == len(ends) or ends[first + 1] >= before:
        return first + 1
    return bisect_left(ends, before, first + 1)


class Found(NamedTuple):
    """So many spans of a side with this label in a layer are of this class and were found as that label."""

    layer: str
    label: str
    kind: Kind
    found: str | None
    number: int


def count_matches(gold: Side, predicted: Side) -> Iterator[tuple[str, dict[Kind, int], list[Found]]]:
    """Of each side its name, how many spans have which class, and what they were found as in their layers.

    The same numbers as from `match_spans` both ways, without a match for each span. Spans that are not to be
    counted are partners only; spans without a label in a layer are in none of its numbers. O(n log n).

    Raises `OverlapError` if two spans of one side overlap.
    """
    document = gold.document.id if gold.document is not None else None
    if isinstance(gold.spans, Chunks) and isinstance(predicted.spans, Chunks):
        yield from _count_chunks(gold.spans, predicted.spans)
        return
    golds, predicteds = Flat.of(gold.spans, document), Flat.of(predicted.spans, document)
    of_gold, of_predicted = classify(golds, predicteds)
    for name, side, own, classes, other in (
        ("gold", gold, golds, of_gold, predicteds),
        ("predicted", predicted, predicteds, of_predicted, golds),
    ):
        labels, kinds = [span.by_layer for span in own.spans], classes.kinds
        found = _found_labels(own, other, classes)
        if side.counted is not None:
            counted = [side.counted[number] for number in own.order]
            labels, kinds = list(compress(labels, counted)), list(compress(kinds, counted))
            found = list(compress(found, counted))
        numbers = {KINDS[kind]: number for kind, number in Counter(kinds).items()}
        yield name, numbers, list(_count_found(labels, kinds, found))


def _count_chunks(gold: Chunks, predicted: Chunks) -> Iterator[tuple[str, dict[Kind, int], list[Found]]]:
    """`count_matches` where all spans have one label, in one layer."""
    of_gold, of_predicted = classify(Flat.of(gold), Flat.of(predicted))
    for name, own, classes, other in (
        ("gold", gold, of_gold, predicted),
        ("predicted", predicted, of_predicted, gold),
    ):
        labels: list[str | None] = [*other.labels, None]  # the last one is number -1
        found = list(map(labels.__getitem__, classes.firsts))
        found_by_many = _joined_names(own, other, classes)
        for number, label in zip(classes.pasts, found_by_many, strict=True):
            found[number] = label
        numbers: dict[Kind, int] = {}
        rows = []
        for (label, kind, joined), number in Counter(
            zip(own.labels, classes.kinds, found, strict=True)
        ).items():
            numbers[KINDS[kind]] = numbers.get(KINDS[kind], 0) + number
            rows.append(Found(own.layer, label, KINDS[kind], joined, number))
        yield name, numbers, rows


def _joined_names(own: Chunks, other: Chunks, classes: Classes) -> Iterator[str]:
    """What `joined_labels` makes of those that several of the other side cover, one touching the next."""
    labels, firsts = other.labels, classes.firsts
    for number, past in classes.pasts.items():
        first = firsts[number]
        if past - first > 2:
            names = labels[first:past]
            starts, ends = other.starts[first:past], other.ends[first:past]
            starts[0], ends[-1] = own.starts[number], own.ends[number]
            positions = dict.fromkeys(names, 0)
            for name, start, end in zip(names, starts, ends, strict=True):
                positions[name] += end - start
            yield max(positions, key=positions.__getitem__)
        elif labels[first] == labels[first + 1]:
            yield labels[first]
        else:
            before_middle = 2 * other.ends[first] < own.starts[number] + own.ends[number]
            yield labels[first + 1] if before_middle else labels[first]


def _found_labels(own: Flat, other: Flat, classes: Classes) -> list[Labels]:
    """The joined labels of each span's partners."""
    labels = [*(span.by_layer for span in other.spans), _NOTHING]  # the last one is number -1
    found = [labels[first] for first in classes.firsts]
    for number, past in classes.pasts.items():
        partners = other.spans[classes.firsts[number] : past]
        found[number] = joined_labels(own.spans[number], partners)
    return found


def _count_found(labels: Sequence[Labels], kinds: Sequence[int], found: Sequence[Labels]) -> Iterator[Found]:
    """Count what spans with these labels were found as: layer by layer, as far as the spans have the same."""
    if len(set(map(tuple, labels))) > 1:
        alike: dict[tuple[str, ...], list[int]] = {}
        for number, layers in enumerate(map(tuple, labels)):
            alike.setdefault(layers, []).append(number)
        for group in alike.values():
            yield from _count_found(
                [labels[n] for n in group], [kinds[n] for n in group], [found[n] for n in group]
            )
        return
    for layer in labels[0] if labels else ():
        entries = zip([of[layer] for of in labels], kinds, [of.get(layer) for of in found], strict=True)
        for (label, kind, other), number in Counter(entries).items():
            if label is not None:
                yield Found(layer, label, KINDS[kind], other, number)


# Joined labels -------------------------------------------------------------------------------------------


def joined_labels(span: Span, partners: Sequence[Span]) -> Frozen:
    """In each layer the label of the partners with most positions inside `span`; ties go to the earliest.

    `partners` come by position. A partner without a label in a layer has no say in it; a layer in which no
    partner has one is None.

    >>> joined_labels(Span(2, 8), [Span(0, 4, "A"), Span(4, 6, "B"), Span(6, 9, "B")])
    {'label': 'B'}
    """
    first = partners[0].by_layer
    if all(partner.labels == first for partner in partners):
        return Frozen(first)
    positions: dict[str, dict[str, int]] = {}
    for partner in partners:
        inside = _shared(span, partner)
        for layer, label in partner.by_layer.items():
            of_layer = positions.setdefault(layer, {})
            if label is not None:
                of_layer[label] = of_layer.get(label, 0) + inside
    return Frozen({layer: most(of_layer) for layer, of_layer in positions.items()})


def _shared(one: Span, other: Span) -> int:
    """How many positions two overlapping spans share."""
    start, end, other_start, other_end = one.start, one.end, other.start, other.end
    return (end if end < other_end else other_end) - (start if start > other_start else other_start)


def most(positions: Mapping[str, int]) -> str | None:
    """The label with most positions; of equals the first, and labels were entered by position."""
    return max(positions, key=positions.__getitem__, default=None)
