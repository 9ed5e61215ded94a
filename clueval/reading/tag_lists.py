"""Parallel lists of tags in memory become a bag: each list is a sentence, and each sentence is a document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial, reduce
from itertools import chain, compress, repeat
from operator import ne, not_, or_
from typing import Any

from clueval.core.bag import Bag, Bounds
from clueval.core.count import EITHER, FEW_DOCUMENTS, SENTENCE, Plan, Unit
from clueval.core.span import DEFAULT_LAYER
from clueval.core.tags import OUTSIDE
from clueval.reading.clusters import ClusterCounting, TagReading
from clueval.reading.usual import Unusual

BATCH = 500
"""The number of sentences that are counted together; more would no longer fit in the processor's cache."""

Sentences = Sequence[Sequence[str]]

_LISTS = frozenset({list, tuple})
_BORDER = (OUTSIDE,)


def bag_of_tags(
    sides: Sequence[Any],
    plan: Plan,
    readings: Sequence[TagReading],
    *,
    ids: Sequence[str] | None = None,
    bounds: Bounds = Bounds(),  # noqa: B008  # it cannot be changed
) -> Bag | None:
    """Count parallel sentences, one list of tags for each, given for each side of `plan`; the layer is ``label``.

    The bag is that of `clueval.core.count.count` for the sentences as documents. `readings` say how the tags of each
    side are read; `ids` are the ids of the documents, by default their numbers from 0. Memory holds a limited number of
    clusters.

    Returns None, and documents must be counted, for sides that are no lists of lists of text (or tuples), for plans
    that need documents, for corpora without tags, and for every error: different numbers of sentences or tags, what is
    no tag, tags of two schemes, ill-formed tags that are refused or discarded where no scheme is named. Iterators are
    left as they are.
    """
    try:
        return _counted(sides, plan, readings, ids, bounds)
    except Unusual:
        return None


def _counted(
    sides: Sequence[Any],
    plan: Plan,
    readings: Sequence[TagReading],
    ids: Sequence[str] | None,
    bounds: Bounds,
) -> Bag:
    if any(type(side) not in _LISTS or len(side) != len(sides[0]) for side in sides):
        raise Unusual("no lists, or different numbers of sentences")
    if any(reading.is_late for reading in readings):
        raise Unusual("no scheme is named")
    counting = ClusterCounting(plan, [DEFAULT_LAYER], readings, [None] * len(sides), bounds)
    if counting.in_characters:
        raise Unusual("there is no text")
    number = len(sides[0])
    places = _places(counting, plan, map(str, range(number)) if ids is None else ids)
    place = counting.place_of() if places is None else None
    for start in range(0, number, BATCH):
        batch = [side[start : start + BATCH] for side in sides]
        _require_lists(batch)
        try:
            if places is None:
                _add(counting, place, batch)
            else:
                _add_to_places(counting, places[start : start + BATCH], batch)
        except (TypeError, ValueError):  # values that cannot be hashed, or compared
            _require_text(batch)
            raise
        counting.count_if_much()
    return counting.finish()


def _places(
    counting: ClusterCounting, plan: Plan, ids: Iterator[str] | Sequence[str]
) -> list[Unit | None] | None:
    """Return the place of each document; None if documents are not told apart."""
    if not counting.by_document:
        return None
    places = [counting.place_of(id_) for id_ in ids]
    are_few = sum(place is not None and not place.waits for place in places) < FEW_DOCUMENTS
    if plan.units == SENTENCE or (plan.units == EITHER and are_few):
        return [None if place is None else place._replace(sentence=1) for place in places]
    return places


def _require_lists(batch: Sequence[Any]) -> None:
    """Raise `Unusual` unless all sides have lists of the same lengths."""
    if not _LISTS.issuperset(map(type, chain.from_iterable(batch))):
        raise Unusual("a sentence that is no list")
    lengths = list(map(len, batch[0]))
    if any(list(map(len, side)) != lengths for side in batch[1:]):
        raise Unusual("sentences of different lengths")


def _require_text(batch: Sequence[Any]) -> None:
    """Raise `Unusual` unless all tags are text."""
    if not all(isinstance(tag, str) for side in batch for tags in side for tag in tags):
        raise Unusual("a tag that is no text")


def _add(counting: ClusterCounting, place: Unit | None, batch: Sequence[Sentences]) -> None:
    """Add sentences to one place; those that are equal on all sides are read once."""
    (group,) = counting.groups
    first = batch[0]
    differ = list(reduce(partial(map, or_), (map(ne, first, side) for side in batch[1:])))
    group.add(place, group.text([_joined(compress(side, differ)) for side in batch]))
    group.add(place, group.text_of_same([_joined(compress(first, map(not_, differ)))]))
    counting.add_text(place, sum(map(len, first)), len(first))


def _add_to_places(
    counting: ClusterCounting, places: Sequence[Unit | None], batch: Sequence[Sentences]
) -> None:
    """Add each sentence to its place."""
    (group,) = counting.groups
    text = group.text([_joined(side) for side in batch])
    start = 0
    for place, tags in zip(places, batch[0], strict=True):
        past = start + len(tags)
        if place is None:
            group.add(place, text[start:past])
        else:
            group.add_sentences([place], [text[start:past]])
        counting.add_text(place, len(tags), 1)
        start = past + 1


def _joined(sentences: Any) -> list[str]:
    """Return the tags of sentences, with an O after each."""
    return list(chain.from_iterable(chain.from_iterable(zip(sentences, repeat(_BORDER), strict=False))))
