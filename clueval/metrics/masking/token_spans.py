"""Spans that are runs of tokens, as columns."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from clueval.metrics.masking.exposure import REPLACEMENT
from clueval.spans.flat import Flat
from clueval.spans.span import Span


class NotTokens(Exception):
    """A span is no run of tokens that sums over tokens can count."""


class TokenSpans(NamedTuple):
    """Spans as tokens of their document, numbered from 0 (half-open), and which of them are counted (None: all).

    `samples` has for each key a span with the labels and features of all spans with this key. `are_flat`: they come
    by position, and none overlaps another.
    """

    starts: Sequence[int]
    ends: Sequence[int]
    keys: Sequence[Hashable]
    samples: Mapping[Hashable, Span]
    counted: Sequence[bool] | None = None
    are_flat: bool = False

    @classmethod
    def of_tags(cls, spans: Flat) -> TokenSpans:
        """Return spans that were made from tags."""
        keys, labels = spans.keyed_labels()
        samples = {key: Span(0, 1, of) for key, of in labels.items()}
        return cls(spans.starts, spans.ends, keys, samples, are_flat=True)

    @classmethod
    def of(cls, spans: Sequence[Span], counted: Sequence[bool] | None, base: int) -> TokenSpans:
        """Return the spans of a document whose first position is `base`. Raises `NotTokens` for one with gaps."""
        samples: dict[Hashable, Span] = {}
        keys = []
        for number, span in enumerate(spans):
            if span.tokens is not None or span.parts is not None or REPLACEMENT in span.features:
                raise NotTokens
            key = ~number if span.features else id(span.labels)  # labels are shared, features are not
            if key not in samples:
                samples[key] = span
            keys.append(key)
        return cls(
            [span.start - base for span in spans], [span.end - base for span in spans], keys, samples, counted
        )

    @property
    def flags(self) -> Sequence[bool]:
        """Whether each span is counted."""
        return [True] * len(self.starts) if self.counted is None else self.counted


@dataclass(slots=True)
class TokenMasks:
    """Masks by position, none of which overlaps another: their tokens, their labels, and whether each is counted."""

    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    counted: list[bool] = field(default_factory=list)


@dataclass(slots=True)
class TokenMentions:
    """Mentions: their tokens, classes and labels, entities, words, and whether each is counted.

    Entities are numbers, which are the same for mentions of one entity of a document. `ids` is the number of
    mentions that are counted and whose entity the annotation names.
    """

    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    groups: list[tuple[str, str]] = field(default_factory=list)
    entities: list[int] = field(default_factory=list)
    words: list[tuple[str, ...]] = field(default_factory=list)
    counted: list[bool] = field(default_factory=list)
    ids: int = 0
