"""The columns of many sentences: tokens and flat layers, without spans and line numbers.

For counts that need no documents. A border, an O in every column, follows each sentence and has a position, so that
no column must be rebuilt without it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, chain, compress, count
from operator import ne
from sys import intern
from typing import NamedTuple

from clueval.formats.columns.columns import tables
from clueval.formats.columns.layout import Layout
from clueval.spans.flat import Flat
from clueval.tagging.decoder import Decoder
from clueval.tagging.transitions import Neighbours, Seams

MANY = 100_000
"""Among more tokens, equal tokens and tags are one object, which takes time and saves memory."""


class FlatLayer(NamedTuple):
    """The tags of a layer with their borders, their pairs of adjacent tags, and the spans that they mean."""

    tags: list[str]
    neighbours: Neighbours
    spans: Flat

    @classmethod
    def of(cls, layer: str, tags: list[str], decoder: Decoder) -> FlatLayer:
        """Return the layer with these tags, which the decoder counts."""
        seams = Seams(tags)
        decoder.accept(tags, seams.neighbours)
        return cls(tags, seams.neighbours, decoder.columns(layer, tags, seams))


class FlatColumns(NamedTuple):
    """The columns of sentences; positions are indices of `tokens`, and `borders` are those of the borders.

    `token_ids` is empty if the layout has none.
    """

    tokens: list[str]
    token_ids: list[str]
    borders: list[int]
    layers: dict[str, FlatLayer]

    @property
    def spans(self) -> dict[str, Flat]:
        """The spans of each layer."""
        return {name: layer.spans for name, layer in self.layers.items()}

    @classmethod
    def of(
        cls, sentences: Sequence[str], layout: Layout | None, decoders: Mapping[str, Decoder]
    ) -> FlatColumns:
        """Return the columns; of many tokens, equal ones are one object.

        Raises `ValueError` for an irregular line, and `BadTag`.
        """
        tokens: list[str] = []
        token_ids: list[str] = []
        tags: dict[str, list[str]] = {layer: [] for layer in decoders}
        borders = [past - 1 for past in accumulate(text.count("\n") + 1 for text in sentences)]
        are_many = bool(borders) and borders[-1] > MANY
        for table in tables(sentences, layout) if layout is not None else ():
            tokens += map(intern, table.tokens()) if are_many else table.tokens()
            token_ids += table.token_ids() or ()
            for layer, column in table.tags().items():
                tags[layer] += map(intern, column) if are_many else column
        layers = {layer: FlatLayer.of(layer, tags[layer], decoder) for layer, decoder in decoders.items()}
        return cls(tokens, token_ids, borders, layers)


def changed_columns(
    own: FlatColumns,
    sides: tuple[Sequence[str], Sequence[str]],
    layout: Layout | None,
    decoders: Mapping[str, Decoder],
) -> FlatColumns | None:
    """Return the columns of the second side, whose first side has the columns `own`; the layout is the same.

    Only sentences that differ are parsed, unless most do. None if the second side has other tokens or ids. Raises as
    `FlatColumns.of` does.
    """
    if len(sides[0]) != len(sides[1]):
        return None
    differing = list(compress(count(), map(ne, *sides)))
    if 2 * len(differing) > len(sides[0]):
        other = FlatColumns.of(sides[1], layout, decoders)
        return other if other[:3] == own[:3] else None
    changed = FlatColumns.of([sides[1][number] for number in differing], layout, decoders)
    starts = [0, *(border + 1 for border in own.borders)]
    places = [slice(starts[number], starts[number + 1]) for number in differing]
    if changed.borders != [past - 1 for past in accumulate(one.stop - one.start for one in places)]:
        return None
    if changed.tokens != _at(own.tokens, places) or changed.token_ids != _at(own.token_ids, places):
        return None
    layers = {
        name: _with_changes(name, own.layers[name], layer, places, decoders[name])
        for name, layer in changed.layers.items()
    }
    return own._replace(layers=layers)


def _with_changes(
    name: str, own: FlatLayer, changed: FlatLayer, places: Sequence[slice], decoder: Decoder
) -> FlatLayer:
    """Return the spans of a layer with those of `changed` at some places; the decoder counts the other tags."""
    before = Seams(_at(own.tags, places)).neighbours
    decoder.accept(own.tags, own.neighbours - before)
    is_same = bytearray(b"\x01") * len(own.tags)
    for place in places:
        is_same[place] = bytes(place.stop - place.start)
    position = list(chain.from_iterable(range(one.start, one.stop) for one in places))
    same = list(map(is_same.__getitem__, own.spans.starts))
    starts = [*compress(own.spans.starts, same), *map(position.__getitem__, changed.spans.starts)]
    ends = [*compress(own.spans.ends, same), *map(position.__getitem__, changed.spans.ends)]
    labels = (*compress(own.spans.labels_in(name), same), *changed.spans.labels_in(name))
    by_start = dict(zip(starts, map(str, labels), strict=True))
    starts.sort()
    ends.sort()  # spans do not overlap
    return own._replace(spans=Flat.of_tags(name, starts, ends, list(map(by_start.__getitem__, starts))))


def _at(column: Sequence[str], places: Sequence[slice]) -> list[str]:
    return list(chain.from_iterable(column[place] for place in places)) if column else []
