"""Both sides of documents as tokens and flat layers, for metrics that need no more of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from clueval.spans.flat import Flat


class TokenPair(NamedTuple):
    """The tokens of consecutive documents and, by layer, the spans of both sides, made from tags (`Flat.of_tags`).

    Positions are indices of `tokens`. At the indices `borders` are no tokens but ends of sentences, which no span
    crosses. Document n begins where the one before it ends, and ends at `ends[n]`.
    """

    tokens: Sequence[str]
    borders: Sequence[int]
    ends: Sequence[int]
    gold: Mapping[str, Flat]
    predicted: Mapping[str, Flat]
