"""Reads files and merges the layers of their documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Unpack

from clueval.exceptions import checked_call
from clueval.reading.keywords import ReadingOptions
from clueval.reading.layers import LayerSource
from clueval.reading.options import Reading
from clueval.reading.source import read
from clueval.spans.document import Document
from clueval.spans.merging import with_merged

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
