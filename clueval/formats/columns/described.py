"""Columns that describe documents: the id of the document of each token, and metadata."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from clueval.exceptions import FormatError
from clueval.formats.columns.layout import Layout, fields_of
from clueval.formats.columns.markup import unescape


class DescribedLine(NamedTuple):
    """What the columns of one line say of its document; `id` is None if no column has it."""

    id: str | None
    meta: Mapping[str, str]


class DescribedLines:
    """Reads these columns; `id` and `meta` are those of the last line that was used."""

    def __init__(self) -> None:
        self.id: str | None = None
        self.meta: Mapping[str, str] = {}

    def of(self, line: str, layout: Layout) -> DescribedLine | None:
        """Return what a line says; None for a line with another number of columns, which is an error elsewhere."""
        fields = fields_of(line, layout.separator)
        if len(fields) != layout.width:
            return None
        if layout.entities and "&" in line:
            fields = list(map(unescape, fields))
        id_ = None if layout.document is None else fields[layout.document]
        return DescribedLine(id_, {name: fields[column] for name, column in layout.meta})

    def changed(self, line: DescribedLine, file: str, number: int) -> FormatError:
        """Return the error for metadata that differs from that of the line before, in the same document."""
        name = next(name for name, value in line.meta.items() if self.meta.get(name) != value)
        return FormatError(
            f"the metadata {name!r} changes from {self.meta.get(name)!r} to {line.meta[name]!r} within a document",
            file=file,
            line=number,
            advice="name the column with the ids of documents with document_column",
        )
