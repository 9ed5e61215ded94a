"""What is read of two files while they are counted without documents, and what is known at their end."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import NamedTuple

from clueval.formats.columns.layout import Layout
from clueval.spans.compared import SIDES, Compared
from clueval.spans.span import DEFAULT_LAYER
from clueval.tagging.decoder import Decoder


class FileEnd(NamedTuple):
    """The results of reading two files that are complete only at their end.

    Attributes:
        layouts: of the token lines of each file; None if it has none.
        decoders: by side and layer; they have counted the pairs of adjacent tags.
        more_repaired: repaired tags of each side that no decoder has counted.
        more_spans: spans of each side that no decoder has counted.
    """

    layouts: tuple[Layout | None, Layout | None]
    decoders: Mapping[tuple[str, str], Decoder]
    more_repaired: tuple[int, int] = (0, 0)
    more_spans: tuple[int, int] | None = None

    def schemes(self) -> dict[tuple[str, str], str | None]:
        """The scheme of each side and layer, named or detected; None if no tag determines it.

        Raises `TagError` for tags of two schemes.
        """
        return {place: decoder.scheme() for place, decoder in self.decoders.items()}

    def spans(self) -> dict[tuple[str, str], tuple[int | None, int]]:
        """The column, from 1, or None, and the number of spans of each side and layer."""
        columns = {
            (side, layer): column
            for side, layout in zip(SIDES, self.layouts, strict=True)
            for layer, column in (layout.columns.items() if layout is not None else ())
        }
        found = {place: (columns.get(place), decoder.spans()) for place, decoder in self.decoders.items()}
        for side, spans in zip(SIDES, self.more_spans or (), strict=False):
            found[side, DEFAULT_LAYER] = None, spans
        return found

    def repaired(self) -> dict[str, int]:
        """The number of repaired tags of each side. Raises `TagError` as `schemes` does."""
        numbers = dict(zip(SIDES, self.more_repaired, strict=True))
        for (side, _), decoder in self.decoders.items():
            numbers[side] += decoder.repaired()
        return numbers


class FileReading:
    """An iterator of `Compared` over two files, to be used once; when it has ended, `end` is set.

    Raises a `CluevalError` for input that is wrong or unusual.
    """

    end: FileEnd

    def __init__(
        self,
        items: Generator[Compared, None, FileEnd],
        layers: Sequence[str],
    ) -> None:
        self._items, self.layers = items, layers

    def __iter__(self) -> Iterator[Compared]:
        self.end = yield from self._items
