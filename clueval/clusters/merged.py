"""Reads files and merges the layers of their documents, as documents or as the rows of `clueval merge`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple, Unpack

from clueval.arguments import checked_call
from clueval.clusters.places import Clusters
from clueval.clusters.rows import ParallelRows
from clueval.files.errors import CluevalError
from clueval.formats.columns.documents import documents
from clueval.formats.columns.passages import Passage
from clueval.formats.spans_table import header, row
from clueval.options import with_fields
from clueval.reading.read_options import ReadOptions, with_columns_of_tags
from clueval.reading.same_text import DocumentIds
from clueval.reading.source import Source, read, source_of
from clueval.second.formats.options import Reading, ReadingOptions
from clueval.second.reading.options import LayerSource, layer_names
from clueval.second.reading.paths import as_path, named_files
from clueval.second.reading.spooled import spooled
from clueval.spans.document import Document
from clueval.spans.merging import merge_layers, with_merged
from clueval.textfiles import cell

_READING = Reading()


@checked_call
def merge(
    file: Any,
    layers: Mapping[str, LayerSource] | None = None,
    *,
    reading: Reading = _READING,
    **options: Unpack[ReadingOptions],
) -> Iterator[Document]:
    """Yield the documents of a file, each with all its layers merged into one, called ``merged``.

    Overlapping spans of any layers become one span from the smallest start to the greatest end, with a label for each
    layer: the one that covers most of its positions, or None. All arguments are those of `clueval.read`, and
    so are the errors; `clueval.merge_layers` merges layers that are in memory.

    >>> from io import StringIO
    >>> lines = "a B-PER O", "b I-PER B-high", "c O I-high"
    >>> [document] = merge(StringIO("\\n".join(lines)), {"entity": 2, "risk": 3})
    >>> [(span.start, span.end, dict(span.labels)) for span in document.layers["merged"]]
    [(0, 3, {'entity': 'PER', 'risk': 'high'})]
    """
    return map(with_merged, read(file, layers, reading=reading, **options))


def merged_rows(
    file: Any, layers: Mapping[str, LayerSource] | None, reading: Mapping[str, Any]
) -> Iterator[str]:
    """Yield the header and a line for each merged span; `reading` has fields of `Reading`.

    A column file is read by passages. A cluster is a run of rows between two rows that are O in every layer, so no
    merged span reaches out of it; the spans of each different cluster are merged once. Other files are read by
    documents. Raises as `read` does.
    """
    with_ids = "token_id" in reading
    options = ReadOptions.of(with_fields(Reading(), reading), layers)
    with spooled(file) as (path,):
        files = named_files(as_path(path))
        if len(files) == 1:
            options.require_use([files[0][1]])
            (options,) = with_columns_of_tags([options], [[files[0][1]]])
            source = source_of(files[0][1], options, name=files[0][0])
            if source.token_lines is not None and source.options.decoder().reads_neighbours:
                yield from _ClusterRows(source, with_ids).lines()
                return
        yield from rows_of_documents(read(path, options.layers, **reading), list(layers or ()), with_ids)


def rows_of_documents(found: Iterator[Document], layers: list[str], with_ids: bool) -> Iterator[str]:
    """Yield the header and a line for each merged span of documents; `with_ids` adds the token ids."""
    first = next(found, None)
    layers = layers or (layer_names(None) if first is None else list(first.layers))
    yield header(layers, with_ids)
    for document in () if first is None else chain([first], found):
        of_layers = {layer: document.layers.get(layer, ()) for layer in layers}
        for span in merge_layers(of_layers, document=document.id):
            yield row(document, span, layers, with_ids)


class _MergedSpan(NamedTuple):
    """A merged span within its cluster, and the cells of its labels."""

    start: int
    end: int
    labels: str


class _ClusterRows:
    """Makes the rows of a column file. Holds a passage and the different clusters; with ids, those of a document."""

    def __init__(self, source: Source, with_ids: bool) -> None:
        self._source, self._with_ids = source, with_ids
        self._layers = layer_names(source.options.layers)
        self._clusters = Clusters([source], self._merged)
        self._ids = DocumentIds(source)

    def lines(self) -> Iterator[str]:
        """Yield the header and the rows. Raises the errors of documents."""
        is_first = True
        for passage in self._source.passages():
            try:
                rows = list(self._of_passage(passage))
            except CluevalError as error:
                self._read(passage)  # raises an error that names the place
                # an error of `RowCharacters` has no place
                if error.file is None:
                    error.file, error.document = passage.file, passage.document
                raise
            if is_first:
                yield header(self._layers, self._with_ids)
                is_first = False
            yield from rows
        if is_first:
            yield header(self._layers, self._with_ids)

    def _read(self, passage: Passage) -> None:
        assert self._source.token_lines is not None
        list(documents([passage], self._source.decoders(), self._source.token_lines.sentence_id))

    def _of_passage(self, passage: Passage) -> Iterator[str]:
        rows = ParallelRows([[passage]], in_order=True)
        (columns,), document = rows.columns, cell(passage.document)
        self._ids.see(passage, columns.token_ids)
        for part, found in self._clusters.found(rows) if columns.tokens else ():
            ids = part.spread(columns.token_ids) if self._with_ids else ()
            for place, of_cluster in found:
                for start, end, labels in of_cluster:
                    ends = start + place, end + place - 1
                    own = [ids[each - passage.start] for each in ends] if ids else ()
                    yield "\t".join([document, *map(str, ends), labels, *own])

    def _merged(self, clusters: Sequence[Document]) -> Iterator[tuple[int, _MergedSpan]]:
        for span in merge_layers(clusters[0].layers):
            labels = "\t".join([cell(span.by_layer.get(layer) or "") for layer in self._layers])
            yield span.start, _MergedSpan(span.start, span.end, labels)
