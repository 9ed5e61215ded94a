"""Reads the mentions and the masks of a document as runs of its tokens."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from clueval.metrics.masking.exposure import REPLACEMENT
from clueval.metrics.masking.flags import Flags
from clueval.metrics.masking.masked_words import Surface
from clueval.metrics.masking.mention import OverlappedLabels, Risk, class_names, own_class
from clueval.metrics.masking.token_counts import TokenMask, TokenMention
from clueval.metrics.masking.token_text import TokenText
from clueval.spans.document import Document
from clueval.spans.span import NO_LABEL, Span

LONGEST = 64
"""A mention of more tokens is counted in the plain way, since mentions may lie in each other."""


class NotTokens(Exception):
    """A span is no run of tokens that sums over tokens can count."""


def masks_of(
    document: Document,
    spans: Sequence[Span],
    counted: Sequence[bool] | None,
    is_mask: Callable[[Span], bool],
) -> list[TokenMask]:
    """Return the masks by position. Raises `NotTokens` for spans with gaps, and for masks that overlap."""
    base = document.start
    kinds: dict[int, tuple[str, bool]] = {}
    found = []
    for number, span in enumerate(spans):
        if span.tokens is not None or span.parts is not None or REPLACEMENT in span.features:
            raise NotTokens
        kind = None if span.features else kinds.get(id(span.labels))
        if kind is None:
            kind = span.label, is_mask(span)
            if not span.features:
                kinds[id(span.labels)] = kind
        if kind[1]:
            is_counted = counted is None or counted[number]
            found.append(TokenMask(span.start - base, span.end - base, kind[0], is_counted))
    found.sort()
    last = 0
    for mask in found:
        if mask.start < last or mask.start == mask.end:
            raise NotTokens
        last = mask.end
    return found


@dataclass(frozen=True, slots=True)
class TokenReader:
    """Reads the mentions of one document; the settings are those of `clueval.metrics.masking.mention.MentionReader`."""

    document: Document
    text: TokenText
    class_layer: str | None
    risk: Risk
    entity: str
    keep: Collection[str]

    def read(self, spans: Sequence[Span], counted: Sequence[bool] | None) -> list[TokenMention]:
        """Return the mentions among spans. Raises `NotTokens` for those that only the plain way can count."""
        base, areas = self.document.start, self._areas()
        ids = OverlappedLabels(self.document, self.entity)
        entities: dict[tuple[str, tuple[str, ...]], Surface] = {}
        mentions = []
        for number, (span, (label, kind, own)) in enumerate(
            zip(spans, self._annotated(spans, ids), strict=True)
        ):
            start, end = span.start - base, span.end - base
            kind = kind or area_of(areas, start, end)
            if kind in self.keep or label in self.keep:
                continue
            words = self._words(span, start, end)
            own = own if own is not None else ids.label_in_place(span)
            if own is not None:
                entity: Surface = (own,)
            else:
                known = entities.get((label, words))
                entity = known or entities.setdefault((label, words), (label, *map(str.casefold, words)))
            is_counted = counted is None or counted[number]
            mentions.append(TokenMention(start, end, kind, label, entity, own is not None, words, is_counted))
        return mentions

    def _annotated(
        self, spans: Sequence[Span], ids: OverlappedLabels
    ) -> Iterator[tuple[str, str | None, str | None]]:
        """Yield for each span its label, its own class and its own entity; spans may share their labels."""
        names = class_names(self.document, self.class_layer)
        known: dict[int, tuple[str, str | None, str | None]] = {}
        for span in spans:
            found = None if span.features else known.get(id(span.labels))
            if found is None:
                found = span.label, own_class(span, names), ids.own_label(span)
                if not span.features:
                    known[id(span.labels)] = found
            yield found

    def _words(self, span: Span, start: int, end: int) -> tuple[str, ...]:
        if end - start > LONGEST or span.tokens is not None or span.parts is not None:
            raise NotTokens
        words = self.text.words_of(start, end)
        if not words:
            raise NotTokens
        return words

    def _areas(self) -> Mapping[str, bytes]:
        """Return for each class in the layer of the classes, riskiest first, which tokens have it."""
        name = class_names(self.document, self.class_layer)[0]
        by_class: dict[str, list[tuple[int, int]]] = {}
        for span in self.document.layers.get(name, ()):
            if span.tokens is not None or span.parts is not None:
                raise NotTokens
            place = span.start - self.document.start, span.end - self.document.start
            by_class.setdefault(span.label, []).append(place)
        length = len(self.text.tokens)
        return {kind: Flags.at(by_class[kind], length).bytes for kind in sorted(by_class, key=self.risk)}


def area_of(areas: Mapping[str, bytes], start: int, end: int) -> str:
    """Return the first class that a token of a run has."""
    for kind, tokens in areas.items():
        if tokens.find(1, start, end) >= 0:
            return kind
    return NO_LABEL
