"""Reads the mentions and the masks of documents as runs of their tokens."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from clueval.metrics.masking.flags import Flags
from clueval.metrics.masking.mention import OverlappedLabels, Risk, class_names, own_class
from clueval.metrics.masking.token_spans import NotTokens, TokenMasks, TokenMentions, TokenSpans
from clueval.metrics.masking.token_text import TokenText
from clueval.spans.span import NO_LABEL, Span

LONGEST = 64
"""A mention of more tokens is counted in the plain way, since mentions may lie in each other."""


class EntityNumbers:
    """The numbers of entities, from 0."""

    def __init__(self) -> None:
        self._number = 0
        self._by_words: defaultdict[tuple[str, int], dict[object, int]] = defaultdict(dict)
        self._by_id: dict[object, int] = {}

    def of_id(self, name: str) -> int:
        """Return the number of the entity that the annotation names so."""
        return self._of(self._by_id, name)

    def of_words(self, label: str, words: Sequence[str]) -> int:
        """Return the number of the entity of mentions with a label and, case-folded, these words."""
        key: object = words[0].casefold()
        if len(words) > 1:  # one string needs less memory than several
            joined = "\n".join(words)
            is_told_apart = joined.count("\n") == len(words) - 1
            key = joined.casefold() if is_told_apart else tuple(map(str.casefold, words))
        return self._of(self._by_words[label, len(words)], key)

    def _of(self, numbers: dict[object, int], key: object) -> int:
        number = numbers.setdefault(key, self._number)
        self._number += number == self._number
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
        areas, ids = self._areas(), OverlappedLabels(self.layers, self.entity)
        in_place = ids.label_in_place if self.entity in self.layers else None
        annotated = self._annotated(spans, ids)
        tokens, core = self.text.tokens, self.text.core
        rows, owners = [], 0
        for start, end, key, counted in zip(spans.starts, spans.ends, spans.keys, spans.flags, strict=True):
            label, kind, own = annotated[key]
            if kind is None:
                kind = area_of(areas, start, end) if areas else NO_LABEL
            if kind in self.keep or label in self.keep:
                continue
            if end - start > LONGEST:
                raise NotTokens
            words = (tokens[start],) if core[start] and end - start == 1 else self.text.words_of(start, end)
            if not words:
                raise NotTokens
            if own is None and in_place is not None:
                own = in_place(Span(start + self.base, end + self.base))
            owners += counted and own is not None
            entity = self.entities.of_words(label, words) if own is None else self.entities.of_id(own)
            rows.append((start, end, (kind, label), entity, words, counted))
        return TokenMentions.of(rows, owners)

    def _annotated(
        self, spans: TokenSpans, ids: OverlappedLabels
    ) -> dict[object, tuple[str, str | None, str | None]]:
        """Return the label, the own class and the own entity of all spans with each key."""
        names = class_names(self.layers, self.class_layer)
        return {
            key: (span.label, own_class(span, names), ids.own_label(span))
            for key, span in spans.samples.items()
        }

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
