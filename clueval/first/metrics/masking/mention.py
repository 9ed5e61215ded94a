"""Mentions: the gold spans of a document that need masking, with class, label, entity and words.

The class of a mention is its own label in the layer of the classes, or its feature of that name; elsewhere
the riskiest label of the spans of that layer that it overlaps, else ``_``. The entity is its feature, or the
label of the layer of entities in its place; else mentions with the same label and the same case-folded words
are one entity.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from clueval.core.span import NO_LABEL, Span
from clueval.first.metrics.masking.text import MaskedText
from clueval.first.metrics.masking.weights import Range, Ranges, union_of
from clueval.spans.document import Document
from clueval.spans.flat import by_position
from clueval.spans.limits import require_short_mentions

CLASS_LAYER = "risk"
CLASS_FEATURE = "identifier_type"
"""Where the classes are if the settings do not say: this layer or, in documents without it, this feature."""

Risk = Callable[[str], tuple[int, str]]
"""The sort key of a class: riskiest first."""


class Mention(NamedTuple):
    """A gold span that needs masking; `ranges` are its positions.

    `entity` is a number, the same for mentions of one entity that were read together; `words` are those that count.
    `has_id`: the entity comes from the annotation, not from the words. `counted`: no
    filter excludes it. `harmless`: a reviewer has decided that what can be read of it may stay.
    """

    ranges: Ranges
    kind: str
    label: str
    entity: int
    words: tuple[str, ...]
    has_id: bool
    counted: bool
    harmless: bool = False

    @property
    def start(self) -> int:
        return self.ranges[0][0]

    @property
    def end(self) -> int:
        return self.ranges[-1][1]


def risk_by(order: Sequence[str]) -> Risk:
    """Return the sort key of classes: those of `order` first, then by name, ``_`` last.

    >>> sorted(["_", "b", "low", "a", "high"], key=risk_by(["high", "low"]))
    ['high', 'low', 'a', 'b', '_']
    """
    places = {name: place for place, name in enumerate(order)}

    def risk(kind: str) -> tuple[int, str]:
        return (len(places) + 1, "") if kind == NO_LABEL else (places.get(kind, len(places)), kind)

    return risk


@dataclass(frozen=True, slots=True)
class MentionReader:
    """Reads the mentions of one document.

    `class_layer` is the layer or feature of the classes (None: see `CLASS_LAYER`), `entity` that of the
    entities; spans whose class or label is in `keep` need no mask.
    """

    document: Document
    text: MaskedText
    class_layer: str | None
    risk: Risk
    entity: str
    keep: Collection[str]

    def read(self, spans: Sequence[Span], counted: Sequence[bool] | None) -> Iterator[Mention]:
        """Yield the mentions among the spans of a layer, in the order of the spans.

        Raises `LimitError` if they have too many words together.
        """
        text, names = self.text, class_names(self.document.layers, self.class_layer)
        unions = list(self._unions(names[0]))
        numbers: dict[Hashable, int] = {}
        mentioned = 0
        entities = OverlappedLabels(self.document.layers, self.entity)
        known: dict[int, tuple[str, str | None, str | None]] = {}  # by labels, which spans share
        for number, span in enumerate(spans):
            own = None if span.features else known.get(id(span.labels))
            if own is None:
                own = span.label, own_class(span, names), entities.own_label(span)
                if not span.features:
                    known[id(span.labels)] = own
            label, kind, entity = own
            ranges = text.ranges_of(span, self.document)
            if kind is None:
                kind = _riskiest(unions, ranges) if unions else NO_LABEL
            if kind in self.keep or label in self.keep:
                continue
            entity = entities.label_in_place(span) if entity is None else entity
            mentioned += sum([len(text.words_in(*one)) for one in ranges])
            require_short_mentions(mentioned, len(text.spelled), self.document)
            words = text.strings_of(ranges)
            key = (label, tuple(map(str.casefold, words))) if entity is None else (entity,)
            is_counted = counted is None or counted[number]
            entity_number = numbers.setdefault(key, len(numbers))
            yield Mention(ranges, kind, label, entity_number, words, entity is not None, is_counted)

    def _unions(self, layer: str) -> Iterator[tuple[str, list[Range]]]:
        """Yield the classes in a layer, riskiest first, with all the positions that are of this class."""
        by_class: dict[str, list[Range]] = {}
        for span in self.document.layers.get(layer, ()):
            by_class.setdefault(span.label, []).extend(self.text.ranges_of(span, self.document))
        for kind in sorted(by_class, key=self.risk):
            yield kind, union_of(by_class[kind])


def class_names(layers: Container[str], class_layer: str | None) -> list[str]:
    """Return the names under which a span of a document may have a class of its own, that of the layer first."""
    if class_layer is not None:
        return [class_layer]
    return [CLASS_LAYER] if CLASS_LAYER in layers else [CLASS_LAYER, CLASS_FEATURE]


def own_class(span: Span, names: Iterable[str]) -> str | None:
    """Return the class that a span itself has, as a label or a feature with one of the names."""
    labels, features = span.by_layer, span.features
    for name in names:
        own = labels.get(name) or features.get(name)
        if own is not None and own != "":
            return str(own)
    return None


def _riskiest(unions: Iterable[tuple[str, list[Range]]], ranges: Ranges) -> str:
    return next((kind for kind, union in unions if _share(union, ranges)), NO_LABEL)


def _share(union: Sequence[Range], ranges: Ranges) -> bool:
    """Return whether the ranges share a position with a union of ranges."""
    for start, end in ranges:
        place = bisect_right(union, start, key=lambda one: one[1])
        if start < end and place < len(union) and union[place][0] < end:
            return True
    return False


class OverlappedLabels:
    """Labels that spans have in a feature, in a layer of their own, or in a layer of the document in their place."""

    def __init__(self, layers: Mapping[str, Sequence[Span]], name: str) -> None:
        self._name = name
        spans = layers.get(name, ())
        self._same = {(span.start, span.end): span.label for span in reversed(spans)}
        self._spans = sorted(spans, key=by_position)
        self._reach = list(accumulate((span.end for span in self._spans), max))

    def own_label(self, span: Span) -> str | None:
        """Return the label that the span itself has, None if it has none."""
        own = span.features.get(self._name)
        if own is None or own == "":
            own = span.by_layer.get(self._name)
        return None if own is None else str(own)

    def label_in_place(self, span: Span) -> str | None:
        """Return the label of the layer in the place of a span, None if it has none there."""
        if not self._spans:
            return None
        if (span.start, span.end) in self._same:
            return self._same[span.start, span.end]
        first = bisect_right(self._reach, span.start)  # the first span that ends after the start
        overlaps = first < len(self._spans) and self._spans[first].overlaps(span)
        return self._spans[first].label if overlaps else None
