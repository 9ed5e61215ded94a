"""Counting matches: how many spans of either side have which class and were found as what.

The numbers of `clueval.matching.match_spans`, without a match for each span.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import compress
from typing import NamedTuple

from clueval.chunks import Chunks
from clueval.classes import KINDS, Classes, Kind, classify
from clueval.index import Flat
from clueval.matching import Labels, joined_labels, most
from clueval.metric import Side
from clueval.spans import Frozen

_NOTHING = Frozen()


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
        found = _joined_names(own, other, classes)
        numbers: dict[Kind, int] = {}
        rows = []
        for (label, kind, joined), number in Counter(
            zip(own.labels, classes.kinds, found, strict=True)
        ).items():
            numbers[KINDS[kind]] = numbers.get(KINDS[kind], 0) + number
            rows.append(Found(own.layer, label, KINDS[kind], joined, number))
        yield name, numbers, rows


def _joined_names(own: Chunks, other: Chunks, classes: Classes) -> list[str | None]:
    """What `joined_labels` makes of the partners of each; those of a tiling or an overlap touch one another."""
    labels, firsts, ends = other.labels, classes.firsts, other.ends
    found = list(map([*labels, None].__getitem__, firsts))  # the last one is number -1
    for number, past in classes.pasts.items():
        first = firsts[number]
        if past - first > 2:
            found[number] = _most_inside(own, number, other, first, past)
        elif labels[first] != labels[first + 1] and 2 * ends[first] < own.starts[number] + own.ends[number]:
            found[number] = labels[first + 1]
    return found


def _most_inside(own: Chunks, number: int, other: Chunks, first: int, past: int) -> str:
    """The label with most positions inside a chunk that others cover; ties go to the earliest."""
    labels = other.labels[first:past]
    starts, ends = other.starts[first:past], other.ends[first:past]
    starts[0], ends[-1] = own.starts[number], own.ends[number]
    positions = dict.fromkeys(labels, 0)
    for label, start, end in zip(labels, starts, ends, strict=True):
        positions[label] += end - start
    return most(positions)  # type: ignore[return-value]  # there are some


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
