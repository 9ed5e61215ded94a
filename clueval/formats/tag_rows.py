"""Documents from lists of tokens and tags, and BIO tags of a document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from clueval.core.span import NO_LABEL, Frozen, Span, name_of
from clueval.files.errors import TagError, UsageError
from clueval.formats.columns.documents import FileTags, Transitions
from clueval.formats.json_rows import RowReader
from clueval.spans.document import Document, Sentence
from clueval.tagging.decoder import BadTag, Decoder, decode_tags
from clueval.tagging.schemes import OUTSIDE, Neighbours, neighbours_of


class TaggedRows:
    """The decoders of the layers of one input; ill-formed tags are counted by the scheme of all its tags."""

    def __init__(self, rows: RowReader, layers: Sequence[str]) -> None:
        self._invalid = rows.options.invalid or "conlleval"
        self._scheme = rows.options.scheme
        self._file = FileTags({layer: Decoder(self._scheme, self._invalid, rows.file) for layer in layers})

    @classmethod
    def of(cls, rows: RowReader, layers: Sequence[str]) -> TaggedRows:
        """Return the decoders of these rows, which are made once."""
        if rows.options.part is not None:
            raise UsageError("all tags of a file determine their scheme, so it is not cut", file=rows.file)
        found: TaggedRows | None = rows.known.get("decoders")
        if found is None:
            found = rows.known["decoders"] = cls(rows, layers)
        return found

    def document(
        self,
        identifier: str,
        tokens: Sequence[str],
        columns: Mapping[str, Sequence[str]],
        rows: RowReader,
        *,
        sentences: Sequence[Sentence] = (),
        metadata: Mapping[str, str] | None = None,
        text: str | None = None,
    ) -> Document:
        """Return the document of these tokens and tags. Raises `TagError` with the number of the row."""
        layers: dict[str, list[Span]] = {}
        neighbours: dict[str, Neighbours] = {}
        for layer, tags in columns.items():
            neighbours[layer] = Counter()
            layers[layer] = []
            for start, end in [(each.start, each.end) for each in sentences] or [(0, len(tags))]:
                found = neighbours_of(list(tags[start:end]))
                neighbours[layer].update(found)
                for first, last, label in self._chunks(layer, tags[start:end], found, rows, identifier):
                    labels = rows.labels(layer, label)
                    layers[layer].append(Span(start + first, start + last, labels, line=rows.number))
        return Document(
            identifier,
            Frozen(layers),
            tokens=tokens,
            text=text,
            sentences=sentences,
            metadata=Frozen(metadata or {}),
            tags=Frozen({layer: list(tags) for layer, tags in columns.items()}),
            transitions=Transitions(self._file, neighbours),
            file=rows.file,
        )

    def _chunks(
        self, layer: str, tags: Sequence[str], found: Neighbours, rows: RowReader, identifier: str
    ) -> Sequence[tuple[int, int, str]]:
        decoder = self._file.decoders[layer]
        try:
            decoder.accept(tags, found)
            if self._scheme is None and self._invalid != "conlleval":
                return decode_tags(tags, None, self._invalid)
            return list(decoder.chunks(tags, found))
        except (BadTag, TagError) as error:
            raise TagError(
                error.problem,
                file=rows.file,
                line=rows.number,
                document=identifier,
                advice=error.advice,
            ) from None


def tags_of(document: Document, layer: str) -> list[str]:
    """Return the BIO tags of a layer. Raises `UsageError` for spans that tags cannot hold."""
    tags = [OUTSIDE] * len(document.tokens or ())
    for span in document.layers.get(layer, ()):
        places = range(span.start - document.start, span.end - document.start)
        if not places or span.parts is not None or any(tags[place] != OUTSIDE for place in places):
            raise UsageError(
                f"tags cannot hold {name_of(span)}: it has no token, has gaps, or overlaps another span",
                **document.in_errors,
                advice="add lossy=True to leave out such spans",
            )
        for place in places:
            tags[place] = f"{'B' if place == places[0] else 'I'}-{span.label or NO_LABEL}"
    return tags
