"""Reads the mentions and the masks of documents as runs of their tokens."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, pairwise
from operator import add, sub
from typing import Any

from clueval.metrics.masking.flags import Flags
from clueval.metrics.masking.mention import OverlappedLabels, Risk, class_names, own_class
from clueval.metrics.masking.token_spans import NotTokens, TokenMasks, TokenMentions, TokenSpans
from clueval.metrics.masking.token_text import TokenText
from clueval.spans.span import NO_LABEL, Span

LONGEST = 64
"""A mention of more tokens is counted in the plain way, since mentions may lie in each other."""


class EntityNumbers(dict[str, int]):
    """The numbers of entities, from 0, by what tells them apart."""

    def __missing__(self, key: str) -> int:
        number = self[key] = len(self)
        return number


def masks_of(spans: TokenSpans, is_mask: Callable[[Span], bool]) -> TokenMasks:
    """Return the masks by position. Raises `NotTokens` for masks that overlap."""
    labels = {key: span.label for key, span in spans.samples.items() if is_mask(span)}
    if spans.are_flat and len(labels) == len(spans.samples):
        of_key = list(map(labels.__getitem__, spans.keys))
        return TokenMasks(list(spans.starts), list(spans.ends), of_key, list(spans.flags))
    columns = zip(spans.starts, spans.ends, spans.keys, spans.flags, strict=True)
    found = [(start, end, labels[key], of) for start, end, key, of in columns if key in labels]
    found.sort()
    if any(end > following for (_, end, *_), (following, *_) in pairwise(found)):
        raise NotTokens
    if any(start == end for start, end, *_ in found):
        raise NotTokens
    return TokenMasks(*([*column] for column in zip(*found, strict=True))) if found else TokenMasks()


@dataclass(frozen=True, slots=True)
class TokenReader:
    """Reads the mentions of documents; the settings are those of `clueval.metrics.masking.mention.MentionReader`.

    `layers` are those of gold, whose positions count from `base`. `entities` may be those of mentions before these.
    """

    layers: Mapping[str, Sequence[Span]]
    base: int
    text: TokenText
    class_layer: str | None
    risk: Risk
    entity: str
    keep: Collection[str]
    entities: EntityNumbers

    def read(self, spans: TokenSpans) -> TokenMentions:
        """Return the mentions among spans. Raises `NotTokens` for those that only the plain way can count."""
        tokens = self.text.tokens
        groups: Sequence[tuple[str, str]] = self._groups(spans)
        needs_mask = [kind not in self.keep and label not in self.keep for kind, label in groups]
        columns = spans.starts, spans.ends, groups, self._owners(spans), spans.flags
        starts, ends, groups, owners, flags = (list[Any](compress(column, needs_mask)) for column in columns)
        if max(map(sub, ends, starts), default=0) > LONGEST:
            raise NotTokens
        words = [
            (tokens[start],) if end - start == 1 else self.text.words_of(start, end)
            for start, end in zip(starts, ends, strict=True)
        ]
        entities = list(map(self.entities.__getitem__, _entity_keys(groups, owners, words)))
        ids = sum(own is not None for own in compress(owners, flags))
        return TokenMentions(starts, ends, groups, entities, words, flags, ids)

    def _groups(self, spans: TokenSpans) -> list[tuple[str, str]]:
        """Return the class and the label of each span."""
        names, areas = class_names(self.layers, self.class_layer), self._areas()
        of_class: dict[Hashable, tuple[str, str]] = {}
        for key, span in spans.samples.items():
            kind = own_class(span, names) or (None if areas else NO_LABEL)
            if kind is not None:
                of_class[key] = kind, span.label
        return [
            of_class.get(key) or (area_of(areas, start, end), spans.samples[key].label)
            for start, end, key in zip(spans.starts, spans.ends, spans.keys, strict=True)
        ]

    def _owners(self, spans: TokenSpans) -> list[str | None]:
        """Return the entity that the annotation gives each span, None if it gives none."""
        ids = OverlappedLabels(self.layers, self.entity)
        by_key = {key: ids.own_label(span) for key, span in spans.samples.items()}
        found = list(map(by_key.__getitem__, spans.keys))
        if self.entity not in self.layers:
            return found
        rows = zip(spans.starts, spans.ends, found, strict=True)
        return [
            ids.label_in_place(Span(start + self.base, end + self.base)) if own is None else own
            for start, end, own in rows
        ]

    def _areas(self) -> Mapping[str, bytes]:
        """Return for each class in the layer of the classes, riskiest first, which tokens have it."""
        name = class_names(self.layers, self.class_layer)[0]
        by_class: dict[str, list[tuple[int, int]]] = {}
        for span in self.layers.get(name, ()):
            if span.tokens is not None or span.parts is not None:
                raise NotTokens
            place = span.start - self.base, span.end - self.base
            by_class.setdefault(span.label, []).append(place)
        length = len(self.text.tokens)
        return {kind: Flags.at(by_class[kind], length).bytes for kind in sorted(by_class, key=self.risk)}


def area_of(areas: Mapping[str, bytes], start: int, end: int) -> str:
    """Return the first class that a token of a run has."""
    for kind, tokens in areas.items():
        if tokens.find(1, start, end) >= 0:
            return kind
    return NO_LABEL


def _entity_keys(
    groups: Iterable[tuple[str, str]], owners: Sequence[str | None], words: Sequence[tuple[str, ...]]
) -> Iterator[str]:
    """Return what tells the entities of mentions apart: the label and the case-folded words, or the name.

    One string needs less memory than several. Raises `NotTokens` for a mention without words, or with a line end.
    """
    joined = list(map("\n".join, words))
    if not all(words) or sum(map(len, words)) != "\n".join(joined).count("\n") + bool(words):
        raise NotTokens
    labels = [label for _, label in groups]
    before = {label: f"{len(label)}\n{label}\n" for label in set(labels)}
    keys = map(add, map(before.__getitem__, labels), map(str.casefold, joined))
    if owners.count(None) == len(owners):
        return keys
    return (key if own is None else f"\n{own}" for key, own in zip(keys, owners, strict=True))
