"""Tags that a format finds token by token: they are decoded when a document ends, as those of column files are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from clueval.exceptions import TagError
from clueval.formats.columns.documents import FileTags, Transitions
from clueval.formats.columns.token_documents import TokenDocument
from clueval.spans.span import Frozen, Span
from clueval.tagging.decoder import BadTag, Decoder
from clueval.tagging.schemes import OUTSIDE
from clueval.tagging.transitions import Neighbours, Seams


class TagColumns:
    """The tags of the layers of one file; those of the current document, with an O after each sentence."""

    def __init__(self, decoders: Mapping[str, Decoder], file: str) -> None:
        self.file_tags = FileTags(decoders)
        self._file = file
        self._tags: dict[str, list[str]] = {layer: [] for layer in decoders}
        self._places: list[
            int | None
        ] = []  # the position of the token of each tag; None for an O after a sentence

    def add(self, position: int, tags: Iterable[tuple[str, str]]) -> None:
        """Add the tag of each layer for the token at a position."""
        self._places.append(position)
        for layer, tag in tags:
            self._tags[layer].append(tag)

    def end_sentence(self) -> None:
        """End the current sentence: no span continues after it."""
        if self._places and self._places[-1] is not None:
            self._places.append(None)
            for tags in self._tags.values():
                tags.append(OUTSIDE)

    def finish(self, document: TokenDocument) -> dict[str, Any]:
        """Add the spans to the document and return further fields of it. Raises `TagError` with the line."""
        self.end_sentence()
        neighbours: dict[str, Neighbours] = {}
        repaired = 0
        for layer, tags in self._tags.items():
            decoder = self.file_tags.decoders[layer]
            found = Seams(tags).neighbours if tags else Counter()
            try:
                decoder.accept(tags, found)
                chunks = list(decoder.chunks(tags, found))
            except BadTag as error:
                raise self._located(error, tags, document, layer) from None
            repaired += decoder.repaired(found)
            neighbours[layer] = found
            for start, end, label in chunks:
                first, last = self._places[start], self._places[end - 1]
                assert first is not None
                assert last is not None
                labels = Frozen({layer: label})
                document.layers[layer].append(Span(first, last + 1, labels, line=document.line_of(first)))
        return {
            "tags": Frozen({layer: self._without_borders(tags) for layer, tags in self._tags.items()}),
            "repaired": repaired,
            "transitions": Transitions(self.file_tags, neighbours),
        }

    def clear(self) -> None:
        """Begin the next document."""
        self._places = []
        self._tags = {layer: [] for layer in self._tags}

    def _without_borders(self, tags: list[str]) -> list[str]:
        return [tag for tag, place in zip(tags, self._places, strict=True) if place is not None]

    def _located(self, error: BadTag, tags: list[str], document: TokenDocument, layer: str) -> TagError:
        index = tags.index(error.tag) if error.tag in tags else min(error.index, len(tags) - 1)
        places = [place for place in self._places[: index + 1] if place is not None]
        return TagError(
            error.problem,
            file=self._file,
            line=document.line_of(places[-1]) if places else None,
            document=document.id,
            advice=error.advice or f"layer {layer!r}; invalid=... sets the treatment of ill-formed tags",
        )
