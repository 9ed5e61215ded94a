"""Mentions: the gold spans of a document that need masking, with class, label, entity and words.

The class of a mention is its own label in the layer of the classes, or its feature of that name; elsewhere
the riskiest label of the spans of that layer that it overlaps, else ``_``. The entity is its feature, or the
label of the layer of entities in its place; else mentions with the same label and the same case-folded words
are one entity.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from sys import intern
from typing import NamedTuple

from clueval.core.document import Document
from clueval.core.overlap import Regions
from clueval.core.span import NO_LABEL, Ranges, Span, by_position
from clueval.files.limits import MAX_MENTIONED, require_short_mentions
from clueval.metrics.masking.text import MaskedText, Range

CLASS_LAYER = "risk"
CLASS_FEATURE = "identifier_type"
"""Where the classes are if the settings do not say: this layer or, in documents without it, this feature."""

Risk = Callable[[str], tuple[int, str]]
"""The sort key of a class: riskiest first."""


class Mention(NamedTuple):
    """A gold span that needs masking, with positions of the text.

    `entity` is a number, the same for mentions of one entity that were read together; `words` are those that count.
    `has_id`: the entity comes from the annotation, not from the words. `counted`: no
    filter excludes it. `harmless`: a reviewer has decided that what can be read of it may stay.
    """

    span: Span
    kind: str
    label: str
    entity: int
    words: tuple[str, ...]
    has_id: bool
    counted: bool
    harmless: bool = False

    @property
    def ranges(self) -> Ranges:
        return self.span.fragments


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
        text, layers = self.text, self.document.layers
        names = class_names(layers, self.class_layer)
        regions = list(self._regions(names[0]))
        numbers: dict[tuple[str, ...], int] = {}
        mentioned, of_document = 0, len(text.spelled)
        of_entities = layers.get(self.entity, ())
        entity_in_place = _labels_in_place(of_entities) if of_entities else None
        special = {*names, self.entity}
        for number, span in enumerate(spans):
            label, kind, entity = span.label, None, None
            if span.features or not special.isdisjoint(span.by_layer):
                kind, entity = _own_class(span, names), span.features.get(self.entity)
                if entity is None or entity == "":
                    entity = span.by_layer.get(self.entity)
            placed = text.placed(span, self.document)
            if kind is None:
                kind = NO_LABEL
                if regions and placed.start < placed.end:
                    kind = next((name for name, where in regions if where.touch(placed)), NO_LABEL)
            if kind in self.keep or label in self.keep:
                continue
            if entity is not None:
                entity = str(entity)
            elif entity_in_place is not None:
                entity = entity_in_place(span)
            ranges = placed.fragments
            for place in ranges:
                mentioned += len(text.words_in(*place))
            if mentioned > MAX_MENTIONED:
                require_short_mentions(mentioned, of_document, **self.document.in_errors)
            words = text.strings_of(ranges)
            # equal words are kept once
            key = (label, *[intern(word.casefold()) for word in words]) if entity is None else (entity,)
            is_counted = counted is None or counted[number]
            entity_number = numbers.setdefault(key, len(numbers))
            yield Mention(placed, kind, label, entity_number, words, entity is not None, is_counted)

    def _regions(self, layer: str) -> Iterator[tuple[str, Regions]]:
        """Yield the classes in a layer, riskiest first, with all the positions that are of this class."""
        by_class: dict[str, list[Range]] = {}
        for span in self.document.layers.get(layer, ()):
            by_class.setdefault(span.label, []).extend(self.text.placed(span, self.document).fragments)
        for kind in sorted(by_class, key=self.risk):
            yield kind, Regions(by_class[kind])


def class_names(layers: Container[str], class_layer: str | None) -> list[str]:
    """Return the names under which a span of a document may have a class of its own, that of the layer first."""
    if class_layer is not None:
        return [class_layer]
    return [CLASS_LAYER] if CLASS_LAYER in layers else [CLASS_LAYER, CLASS_FEATURE]


def _own_class(span: Span, names: Iterable[str]) -> str | None:
    """Return the class that a span itself has, as a label or a feature with one of the names."""
    for name in names:
        value = span.by_layer.get(name) or span.features.get(name)
        if value is not None and value != "":
            return str(value)
    return None


def _labels_in_place(spans: Sequence[Span]) -> Callable[[Span], str | None]:
    """Return the function that gives the label of these spans in the place of a span, None if there is none.

    It is that of the first span with the same range, else of the first that overlaps it.
    """
    same = {by_position(span): span.label for span in reversed(spans)}
    ordered = sorted(spans, key=by_position)
    reach = list(accumulate((span.end for span in ordered), max))

    def label(span: Span) -> str | None:
        if by_position(span) in same:
            return same[by_position(span)]
        first = bisect_right(reach, span.start)  # the first span that ends after the start
        overlaps = first < len(ordered) and ordered[first].overlaps(span)
        return ordered[first].label if overlaps else None

    return label
