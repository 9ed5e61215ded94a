"""Reads files and merges the layers of their documents, as documents or as the rows of `clueval merge`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Unpack

from clueval.core.document import Document
from clueval.core.matching import merged_spans, with_merged
from clueval.files.arguments import checked_call
from clueval.formats.options import Reading, ReadingOptions
from clueval.formats.tables import header_line, span_lines
from clueval.reading.options import LayerSource, layer_names
from clueval.reading.read import documents_of, options_for_one_side

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
    return map(with_merged, documents_of(file, options_for_one_side("merge", layers, reading, options)))


def merged_lines(documents: Iterator[Document], layers: Sequence[str], with_ids: bool) -> Iterator[str]:
    """Yield the header of a table and a line for each merged span of documents; `with_ids` adds the token ids."""
    first = next(documents, None)
    names = list(layers) or (layer_names(None) if first is None else list(first.layers))
    yield header_line(names, with_ids)
    for document in () if first is None else chain([first], documents):
        of_layers = {layer: document.layers.get(layer, ()) for layer in names}
        spans = merged_spans(of_layers, document.id, document.file)
        yield from span_lines(document, spans, names, with_ids)
