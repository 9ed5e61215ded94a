"""Documents as readers give them, as documents of `clueval.core`, and what was read of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clueval.core.document import Document, Layers, in_layer
from clueval.core.read import Read
from clueval.core.span import DEFAULT_LAYER, MERGED, SIDES, Span
from clueval.formats.columns.documents import FileTags, Transitions
from clueval.reading.source import Source
from clueval.spans.document import Document as ReadDocument
from clueval.spans.flat import Flat


def core_document(given: ReadDocument) -> Document:
    """Return a document of a reader as one of `clueval.core`; spans that were made of tags become rows.

    In an ordered document, spans with numbers as ids, as in GATE's formats, are in the order of these in each place.
    """
    layers = _layers(given.layers)
    if given.ordered:
        layers = Layers({name: _by_id(spans) for name, spans in layers.items()})
    return Document(
        given.id,
        layers,
        given.tokens,
        given.text,
        given.unit,
        given.start,
        given.token_ids,
        given.sentences,
        given.metadata,
        given.tags,
        given.lines,
        given.file,
        given.ordered,
    )


def _layers(layers: Mapping[str, Sequence[Span]]) -> Layers:
    flat = {name: spans for name, spans in layers.items() if isinstance(spans, Flat)}
    if len(flat) < len(layers) or not all(spans.are_of_tags(name) for name, spans in flat.items()):
        return Layers(
            {name: in_layer(name, spans) if name == MERGED else list(spans) for name, spans in layers.items()}
        )
    return Layers({}, {name: spans.rows() for name, spans in flat.items()})


def _by_id(spans: Sequence[Span]) -> Sequence[Span]:
    if not all(isinstance(span.id, int) for span in spans):
        return spans
    return sorted(spans, key=lambda span: (span.start, span.end, span.id))


class Readers:
    """What was read, as far as a document of `clueval.core` does not say it.

    Attributes:
        read: the formats, files, sources, treatments and tags of both sides.
    """

    def __init__(self) -> None:
        self.read = Read()
        self._sources: list[tuple[str, Source]] = []
        self._tags: dict[tuple[str, str | None], FileTags] = {}

    def see(self, source: Source, number: int) -> None:
        """Take note of a file that is going to be read, which has this number in its group; other golds come last."""
        if source.treatment is not None:
            self.read.treatments.add(source.treatment)
        if number < len(SIDES):
            side = SIDES[number]
            self.read.formats.setdefault(side, set()).add(source.format)
            self.read.files[side] += 1
            if source.form.scheme is not None:
                self.read.settle_layer((side, str(source.path), DEFAULT_LAYER), source.form.scheme, 0)
            self._sources.append((side, source))

    def document(self, side: str, given: ReadDocument) -> Document:
        """Return a document of a side as one of `clueval.core`."""
        found = given.transitions
        if isinstance(found, Transitions):
            self._see_tags(side, given.file, found.file)
            columns = {} if found.file.layout is None else found.file.layout.columns
            for layer in [layer for layer in found.neighbours if layer in columns]:
                self.read.sources.setdefault((side, layer), set()).add(columns[layer])
        elif given.repaired:
            self.read.settle_layer((side, given.file, next(iter(given.layers), "")), None, given.repaired)
        return core_document(given)

    def _see_tags(self, side: str, path: str | None, tags: FileTags) -> None:
        """Take note of the file of a document, whose scheme follows from all documents, also those not counted."""
        if (side, path) not in self._tags:
            for of in [of for of, each in self._tags.items() if each.ended]:
                self._settle(*of)
            self._tags[side, path] = tags

    def _settle(self, side: str, path: str | None) -> None:
        for layer, decoder in self._tags.pop((side, path)).decoders.items():
            scheme = decoder.scheme()
            if scheme is not None:
                self.read.settle_layer((side, path, layer), scheme, 0)

    def end(self) -> Read:
        """Return what was read, now that all of it was."""
        for of in list(self._tags):
            self._settle(*of)
        for side, source in self._sources:
            for kind, number in source.passed_over.items():
                self.read.passed_over[side, kind] += number
        return self.read
