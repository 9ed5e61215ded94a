"""Projection: moves predicted spans to the gold text if the two texts differ.

The texts are aligned (`alignment`), and a predicted span becomes the span of the gold
characters in the same columns, from its first character to its last. Then it can be scored like any other
span, whatever the noise or the tokens of its file. The rules for its edges:

* **Characters that the prediction lost.** If a span begins or ends where a word of the predicted text begins
  or ends, and gold has characters just outside the span that have no predicted counterpart, the edge moves to
  the nearest edge of a word among these characters: a span over "Hugon" becomes a span over "Hugone". Words
  are separated by white space.
* **Tokens.** If gold positions are tokens, a span gets the tokens of which it covers **more than half** the
  characters. So a token never belongs to two spans that do not overlap.
* **Spans of zero length.** A span of zero length is placed before the next gold character or, if gold
  positions are tokens, before the token that begins next.

A span none of whose characters has a counterpart, or that covers no token by more than half, is not projected
but returned unchanged in a separate list. Spans that do not overlap do not overlap after projection. Equal
texts give equal spans.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from operator import ge
from typing import ClassVar, NamedTuple

from clueval.core.alignment import MAX_CELLS, Alignment, align
from clueval.core.document import Document, Pair
from clueval.core.merging import with_merged
from clueval.core.span import MERGED, NOTHING, Span, joined_ranges
from clueval.transforms.changes import EachPair, empty, require_same_id
from clueval.transforms.characters import TextPositions

_WORD = re.compile(r"\S+")

Range = tuple[int, int]


class Projection(NamedTuple):
    """The predicted document on the gold text, and the spans by layer that could not be projected, unchanged."""

    document: Document
    lost: Mapping[str, Sequence[Span]]

    @property
    def unprojected(self) -> list[Span]:
        """The spans of all layers that could not be projected."""
        return list(chain.from_iterable(self.lost.values()))


def project(
    gold: Document, predicted: Document, *, max_cells: int = MAX_CELLS, limit: str = "max_cells"
) -> Projection:
    """Return the spans of the predicted document projected onto the text of the gold document.

    The new document has the text, tokens, positions, id and metadata of `gold`, and the layers, with their
    spans in the same order, and the file of `predicted`. It has the tags of `predicted` if the tokens of both
    are the same, and otherwise no tags. The spans keep their labels, features, ids and lines. Costs the
    alignment, and O(log n) for each span.

    Raises `UsageError` for a document without a text or texts that are too long to be aligned (`max_cells` is
    the greatest product of their lengths, `limit` its name in the error), `MissingExtra` if rapidfuzz is not installed.

    >>> gold = Document("g", {}, text="Hugone Montiniaci domino", unit="character")
    >>> spans = [Span(0, 16, "PER"), Span(17, 19, "X")]
    >>> predicted = Document("p", {"label": spans}, text="Hugon Montiniaei xy domino", unit="character")
    >>> projection = project(gold, predicted)
    >>> [gold.text_of(span) for span in projection.document.layers["label"]]
    ['Hugone Montiniaci']
    >>> [predicted.text_of(span) for span in projection.unprojected]
    ['xy']
    """
    gold_positions, predicted_positions = TextPositions.of(gold), TextPositions.of(predicted)
    gold_text = _GoldText(
        gold_positions,
        align(
            gold_positions.text, predicted_positions.text, max_cells=max_cells, limit=limit, document=gold.id
        ),
    )
    layers: dict[str, list[Span]] = {}
    lost: dict[str, list[Span]] = {}
    for layer, spans in predicted.layers.items():
        layers[layer] = []
        for span in spans:
            moved = _span_on_gold(span, predicted_positions, gold_text)
            if moved is None:
                lost.setdefault(layer, []).append(span)
            else:
                layers[layer].append(moved)
    same_tokens = gold.tokens is not None and gold.tokens == predicted.tokens
    document = replace(
        gold,
        layers=layers,
        tags=predicted.tags if same_tokens else NOTHING,
        ordered=predicted.ordered,
        lines=None,
        file=predicted.file,
    )
    return Projection(document, lost)


def _span_on_gold(span: Span, characters: TextPositions, gold_text: _GoldText) -> Span | None:
    """Return the span on gold, or None; a span with gaps is projected only if each of its parts can be."""
    parts = span.fragments
    if span.tokens is not None:
        parts = joined_ranges(((token, token + 1) for token in span.tokens), ge)
    ranges = [gold_text.place(*characters.range_between(*part)) for part in parts]
    places = [place for place in ranges if place is not None]
    if not places or len(places) < len(ranges):
        return None
    start, end = min(start for start, _ in places), max(end for _, end in places)
    if span.tokens is None:
        return replace(
            span, start=start, end=end, parts=None if span.parts is None else joined_ranges(places)
        )
    tokens = frozenset(position for place in places for position in range(*place))
    return replace(span, start=start, end=end, tokens=tokens if len(tokens) < end - start else None)


class _GoldText:
    """The gold text, onto which ranges of predicted characters are projected."""

    def __init__(self, characters: TextPositions, alignment: Alignment) -> None:
        self._characters, self._alignment = characters, alignment
        words = [match.span() for match in _WORD.finditer(alignment.gold)]
        self._word_starts = [start for start, _ in words]
        self._word_ends = [end for _, end in words]

    def place(self, start: int, end: int) -> Range | None:
        """Return the gold positions for a range of predicted characters, or None if there are none."""
        if start == end:
            here = self._characters.next_at(
                self._alignment.gold_before(self._alignment.column_of_predicted(start))
            )
            return here, here
        first = self._alignment.gold_before(self._alignment.column_of_predicted(start))
        last = self._alignment.gold_before(self._alignment.column_of_predicted(end - 1) + 1)
        if first == last:
            return None
        return self._characters.positions_of(self._start(start, first), self._end(end, last))

    def _start(self, start: int, first: int) -> int:
        """Return the gold start: `first`, or the nearest start of a word that was lost before it."""
        alignment, text = self._alignment, self._alignment.predicted
        begins_word = not text[start].isspace() and (start == 0 or text[start - 1].isspace())
        if not begins_word or alignment.gold[first].isspace():
            return first
        lowest = alignment.gold_before(alignment.column_of_predicted(start - 1) + 1) if start else 0
        nearest = self._word_starts[bisect_right(self._word_starts, first) - 1]
        return nearest if nearest >= lowest else first

    def _end(self, end: int, last: int) -> int:
        """Return the gold end: `last`, or the nearest end of a word that was lost after it."""
        alignment, text = self._alignment, self._alignment.predicted
        ends_word = not text[end - 1].isspace() and (end == len(text) or text[end].isspace())
        if not ends_word or alignment.gold[last - 1].isspace():
            return last
        highest = len(alignment.gold)
        if end < len(text):
            highest = alignment.gold_before(alignment.column_of_predicted(end))
        nearest = self._word_ends[bisect_left(self._word_ends, last)]
        return nearest if nearest <= highest else last


# The step


@dataclass(frozen=True)
class Align(EachPair):
    """A step that places predicted spans on the text of gold (`projection`), for metrics that need the same text.

    A span without a place becomes a pair beside the text, alone: it counts as spurious. If layers are merged, spans are
    merged before they are projected, since a merged span has one place.

    Attributes:
        max_cells: the greatest product of the lengths of two texts.
        merge: all layers are counted as one sequence.
        frames: the layers within which metrics count, which a span beside the text keeps.
    """

    max_cells: int = MAX_CELLS
    merge: bool = False
    frames: tuple[str, ...] = ()

    signature: ClassVar[tuple[str, str]] = ("text", "aligned")

    def of_pair(self, pair: Pair) -> Iterator[Pair]:
        if pair.beside:
            yield pair
            return
        require_same_id(pair.gold, pair.predicted)
        predicted = with_merged(pair.predicted) if self.merge else pair.predicted
        document, lost = project(pair.gold, predicted, max_cells=self.max_cells, limit="align=...")
        alone = [(layer, span) for layer, spans in lost.items() if layer not in self.frames for span in spans]
        layers = document.layers
        if self.merge:
            left_out = {id(span) for _, span in alone}
            merged = [span for span in predicted.layers[MERGED] if id(span) not in left_out]
            placed, apart = _without_clashes(layers[MERGED], merged)
            alone += [(MERGED, span) for span in apart]
            layers = _in_layers(placed, pair.predicted.layers)
        yield replace(pair, predicted=replace(document, layers=layers))
        for layer, span in alone:
            of_span = _in_layers([span], pair.predicted.layers) if self.merge else {layer: [span]}
            layers = {
                name: spans if name in self.frames else of_span.get(name, ())
                for name, spans in pair.predicted.layers.items()
            }
            beside = replace(pair.predicted, layers=layers, sentences=(), tags={})
            yield Pair(empty(pair.gold), beside, beside=True)


def _without_clashes(spans: Iterable[Span], originals: Iterable[Span]) -> tuple[list[Span], list[Span]]:
    """Return projected spans, and apart from them those that are where one with other labels is, as they were."""
    placed: dict[tuple[int, int], Span] = {}
    apart = []
    for span, before in zip(spans, originals, strict=True):
        if placed.setdefault((span.start, span.end), span).labels != span.labels:
            apart.append(before)
    return list(placed.values()), apart


def _in_layers(merged: Sequence[Span], layers: Iterable[str]) -> dict[str, list[Span]]:
    """Return the ranges of merged spans in each layer in which they have a label; merged again, they are the same."""
    return {
        layer: [
            Span(span.start, span.end, {layer: span.by_layer[layer]})
            for span in merged
            if span.by_layer[layer] is not None
        ]
        for layer in layers
    }
