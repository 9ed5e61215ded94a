"""The documents of rows, of the annotation set that is read, or with a layer for every set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from clueval.core.document import Document
from clueval.core.span import DEFAULT_LAYER, Span
from clueval.files.errors import CluevalError, FormatError, SpanError, UsageError
from clueval.formats.dialect import Dialect, Numbered, first_key, first_value
from clueval.formats.options import EVERY_SET, sets_error
from clueval.formats.rows import RowReader


def read_documents(rows: Iterator[Numbered], reader: RowReader) -> Iterator[Document]:
    """Yield the documents of numbered rows.

    Raises `FormatError` and `SpanError` with the number of the row, and `UsageError` for several annotation sets of
    which none is named.
    """
    numbered = rows
    if reader.dialect.values is not None:
        numbered = reader.dialect.values(numbered, reader)
    if reader.options.annotation_set == EVERY_SET and reader.dialect.has_sets:
        documents = _with_every_set(numbered, reader)
    else:
        documents = _of_one_set(numbered, reader)
    try:
        yield from documents
    except CluevalError as error:
        error.file = error.file or reader.file
        if error.line is None and isinstance(error, SpanError | FormatError):
            error.line = reader.number
        raise


def sets_in(rows: Iterable[Numbered], dialect: Dialect) -> list[str]:
    """Return the names of the annotation sets of rows, in the order of their first occurrence."""
    return list(dict.fromkeys(names[0] for _, row in rows for names in sets_of(dialect, row)))


def sets_of(dialect: Dialect, row: Any) -> list[tuple[str, ...]]:
    """Return the annotation sets of a row, each with all names by which it may be selected; the first is listed."""
    if dialect.sets is not None:
        return list(dialect.sets(row))
    if not isinstance(row, dict):
        return []
    if (own := first_value(row, dialect.annotator)) is not None:
        return [(str(own),)]
    key = first_key(row, dialect.spans) if dialect.of_span else None
    items = row[key] if key is not None and isinstance(row[key], list) else ()
    owners = (first_value(item, dialect.of_span) for item in items if isinstance(item, dict))
    return [(str(owner),) for owner in owners if owner is not None]


def _of_one_set(numbered: Iterator[Numbered], reader: RowReader) -> Iterator[Document]:
    """Yield the documents of the set that is read. Raises `UsageError` for several of which none is named."""
    dialect, wanted = reader.dialect, reader.options.annotation_set
    seen: dict[str, None] = {}
    if wanted not in (None, EVERY_SET) and not dialect.has_sets:
        raise sets_error(f"there is no annotation set {wanted!r}", reader.file, seen)
    is_found = not dialect.has_sets
    for reader.number, row in numbered:
        if dialect.has_sets:
            names = sets_of(dialect, row)
            seen |= dict.fromkeys(own[0] for own in names)
            if wanted is None and len(seen) > 1:
                for _, later in numbered:
                    seen |= dict.fromkeys(own[0] for own in sets_of(dialect, later))
                raise sets_error("the file has several annotation sets, but none is named", reader.file, seen)
            if wanted is not None and not any(wanted in own for own in names):
                continue
            reader.set = next((own[0] for own in names), None) if wanted is None else wanted
        is_found = True
        yield from map(reader.document, reader.records(row))
    if wanted is not None and not is_found and reader.number:
        raise sets_error(f"there is no annotation set {wanted!r}", reader.file, seen)
    for layer, source in (reader.options.layers or {}).items():
        if reader.offered and source not in reader.offered:
            raise UsageError(
                f"no row has {source!r}, the source of layer {layer!r}",
                file=reader.file,
                advice=f"the rows have {', '.join(reader.offered)}",
            )


def _with_every_set(numbered: Iterator[Numbered], reader: RowReader) -> Iterator[Document]:
    """Yield the documents by first occurrence, each with a layer for every annotation set that has it; holds all."""
    if len(reader.options.layers or {}) > 1:
        raise UsageError(
            "several layers are named, and each annotation set is a layer", advice="name one layer"
        )
    found: dict[str, Document] = {}
    layers: dict[str, dict[str, Sequence[Span]]] = {}
    for reader.number, row in numbered:
        for name in dict.fromkeys(own[0] for own in sets_of(reader.dialect, row)) or {DEFAULT_LAYER: None}:
            reader.set = name
            for document in map(reader.document, reader.records(row)):
                known = found.setdefault(document.id, document)
                own = layers.setdefault(document.id, {})
                if known.text != document.text or name in own:
                    what = "another text" if known.text != document.text else f"the annotation set {name!r}"
                    reader.refuse(f"the document has {what} in a row before", document=document.id)
                (own[name],) = document.layers.values()
    for identifier, document in found.items():
        yield replace(document, layers=layers[identifier])
