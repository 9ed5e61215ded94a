"""A table of spans in tab-separated values, as `clueval.formats.spans_table` reads it."""

from __future__ import annotations

from collections.abc import Sequence

from clueval.exceptions import UsageError
from clueval.formats.spans_table import RESERVED
from clueval.reports.tsv import cell
from clueval.spans import Document, Span


def header(layers: Sequence[str], with_ids: bool) -> str:
    """The first line; `with_ids` adds the ids of the first and the last token."""
    for layer in layers:
        if layer in RESERVED or cell(layer) != layer:
            raise UsageError(
                f"{layer!r} cannot be the name of a layer in a table of spans", advice="name it differently"
            )
    ids = ["start_id", "end_id"] if with_ids else []
    return "\t".join(["document", "start", "end_inclusive", *map(cell, layers), *ids])


def row(document: Document, span: Span, layers: Sequence[str], with_ids: bool) -> str:
    """A span in one line; its end is the last position, a layer without a label is empty."""
    labels = [span.by_layer.get(layer) or "" for layer in layers]
    ids = []
    if with_ids and document.token_ids is not None:
        ids = [document.token_ids[position - document.start] for position in (span.start, span.end - 1)]
    return "\t".join([cell(document.id), str(span.start), str(span.end - 1), *map(cell, labels), *ids])
