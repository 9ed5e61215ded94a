"""Both sides of documents as tokens and flat layers, for metrics that need no more of them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

from clueval.spans.flat import Flat


class TokenPair(NamedTuple):
    """The tokens of consecutive documents and, by layer, the spans of both sides, made from tags (`Flat.of_tags`).

    Positions are indices of `tokens`. At the indices `borders` are no tokens but ends of sentences, which no span
    crosses. Document n, whose id is `ids[n]`, begins where the one before it ends, and ends at `ends[n]`.

    A long document may come in parts, each of them a pair; the last one has `ended`. `held` is the same object for all
    of them: what metrics hold of the document until its end. It is None if documents are whole.
    """

    tokens: Sequence[str]
    borders: Sequence[int]
    ends: Sequence[int]
    ids: Sequence[str]
    gold: Mapping[str, Flat]
    predicted: Mapping[str, Flat]
    held: dict[Hashable, Any] | None = None
    ended: bool = True

    def document(self, number: int) -> TokenPair:
        """Return one of the documents alone."""
        first, past = self.ends[number - 1] if number else 0, self.ends[number]
        borders = self.borders[bisect_left(self.borders, first) : bisect_left(self.borders, past)]
        gold, predicted = (
            {layer: _between(layer, spans, first, past) for layer, spans in layers.items()}
            for layers in (self.gold, self.predicted)
        )
        return TokenPair(
            self.tokens[first:past],
            [border - first for border in borders],
            [past - first],
            [self.ids[number]],
            gold,
            predicted,
        )


def _between(layer: str, spans: Flat, first: int, past: int) -> Flat:
    """Return the spans in a range of positions, which are counted from its start."""
    found = spans[bisect_left(spans.starts, first) : bisect_left(spans.starts, past)]
    starts, ends = [span.start - first for span in found], [span.end - first for span in found]
    return Flat.of_tags(layer, starts, ends, [span.label for span in found])
