"""A table of pre-computed spans, TSV or CSV with a header.

The columns are, by name: ``document`` (the id of the document), ``start``, and the end as ``end`` or
``end_inclusive`` (the last position, as corpus tools count) or ``end_exclusive`` (the position after it). All
other columns are layers, except ``id``, ``text``, ``start_id``, ``end_id`` and ``fragments``; an empty cell means no
label. ``fragments`` has the ranges of a discontinuous span, with inclusive ends, as in ``0-2;7-8``.
The text file that belongs to the table is by default the file with the same name and the ending ``.vrt`` in the same
folder. These names of columns may begin with a capital. In a VRT or CoNLL-like file, positions are corpus positions,
counted from 0 over the whole file; without a column ``document``, they determine the document. In a file of JSON rows,
such as doccano's, positions are characters (code points), or the tokens of a row, counted from 0 in each text. A plain
text is one document, in characters, with the name of its file. If the lengths of the ``text`` of the rows show an
exclusive ``end``, this is an error.

The table is held in memory; the text is read in parts. Use other formats if you can: only the positions
connect the spans with the text, so every position outside it is an error.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from clueval.exceptions import FormatError, SpanError, UsageError
from clueval.formats.format import IDS, Format, Options, Writer
from clueval.formats.opened import Opened
from clueval.formats.recognition import Sign
from clueval.spans.document import Document
from clueval.spans.span import DEFAULT_LAYER, NO_LABEL, Span
from clueval.textfiles import cell

_FRAGMENTS = re.compile(r"[0-9]{1,18}-[0-9]{1,18}(;[0-9]{1,18}-[0-9]{1,18})*")
_ENDS = {"end": 1, "end_inclusive": 1, "end_exclusive": 0}
RESERVED = {"document", "start", "id", "text", "start_id", "end_id", "fragments", *_ENDS}


class Header(NamedTuple):
    """The numbers of the columns of a table; `inclusive` is added to the end to make it half-open."""

    document: int | None
    start: int
    end: int
    inclusive: int
    layers: Mapping[str, int]
    width: int
    fragments: int | None
    text: int | None


def names_in(line: str) -> list[str]:
    """Return the names of the columns in a header. Raises `FormatError`, without file and line, if it is not CSV."""
    return _known(_split(line, _delimiter(line)))


def _known(names: Iterable[str]) -> list[str]:
    """Return the names of columns; those of `RESERVED` may begin with a capital."""
    small = {name.capitalize(): name for name in RESERVED}
    return [small.get(name, name) for name in names]


def is_table(line: str) -> bool:
    """Return whether `line` could be the header of a table of spans."""
    try:
        names = set(names_in(line))
    except FormatError:
        return False
    return "start" in names and bool(names & _ENDS.keys())


def read(
    lines: Iterable[tuple[int, str]],
    texts: Iterable[Document],
    *,
    file: str,
    layers: Mapping[str, int | str] | None = None,
) -> Iterator[Document]:
    """Yield the documents of `texts` with the spans of the table, given its numbered lines.

    `layers` maps the names of layers to their columns, by number or name (None: all columns that are not
    reserved). Raises `FormatError` with the line for rows that cannot be read, and `SpanError` for spans
    outside the text.
    """
    names, rows = _rows(lines, file, layers)
    without_document, before = bool(rows.get(None)), 0
    for document in texts:
        if document.end is None:
            raise FormatError("the text has no tokens", file=file, document=document.id)
        if without_document and document.start < before:
            raise FormatError(
                "the table has no column 'document'",
                file=file,
                advice="positions are counted from 0 in each text, so each span needs the id of its text",
            )
        before = document.end
        own = rows.pop(document.id, [])
        unnamed = rows.get(None, [])
        while unnamed and unnamed[-1].start < document.end:
            own.append(unnamed.pop())
        by_layer: dict[str, list[Span]] = {name: [] for name in names}
        for span in own:
            if span.start < document.start or span.end > document.end:
                raise SpanError(
                    f"the span from {span.start} to {span.end - 1} (inclusive) lies outside the document, which has "
                    f"the positions {document.start} to {document.end - 1}",
                    file=file,
                    line=span.line,
                    document=document.id,
                    advice="positions are counted from 0 in each text"
                    if document.unit == "character"
                    else "positions are corpus positions, counted over the whole text file; for characters, text=... "
                    "names JSON rows with texts",
                )
            for layer, label in span.by_layer.items():
                by_layer[layer].append(replace(span, labels={layer: label}))
        yield replace(
            document,
            layers={
                layer: sorted(spans, key=lambda span: (span.start, span.end))
                for layer, spans in by_layer.items()
            },
            file=file,
        )
    for document_id, left in rows.items():
        if left:
            what = (
                "positions after the end of the text" if document_id is None else f"document {document_id!r}"
            )
            raise SpanError(
                f"the text has no {what}",
                file=file,
                line=left[0].line,
                advice="plain text is one document with the name of its file; for several, write JSON rows: "
                '{"id": "ID", "text": "TEXT", "label": []}',
            )


def _rows(
    lines: Iterable[tuple[int, str]], file: str, layers: Mapping[str, int | str] | None
) -> tuple[list[str], dict[str | None, list[Span]]]:
    """Return the layers, and the spans by document; spans without a document are under None, last first."""
    numbered = iter(lines)
    header: Header | None = None
    delimiter = "\t"
    rows: defaultdict[str | None, list[Span]] = defaultdict(list)
    spare: dict[int, tuple[Span, int]] = {}
    """The first span that has so many positions more than its text has characters, and this number of characters."""
    for number, line in numbered:
        if not line.strip():
            continue
        if header is None:
            delimiter = _delimiter(line)
            header = _header(_known(_fields(line, delimiter, file, number)), file, number, layers)
            continue
        fields = _fields(line, delimiter, file, number)
        if len(fields) != header.width:
            raise FormatError(
                f"the line has {len(fields)} fields, the header has {header.width}",
                file=file,
                line=number,
                advice="each line needs a field for each column; fields may be empty",
            )
        document = None if header.document is None else fields[header.document]
        span = _span(fields, header, file, number)
        rows[document].append(span)
        text = "" if header.text is None else fields[header.text]
        if text and not span.parts:  # what joins fragments has any length
            spare.setdefault(span.end - span.start - len(text), (span, len(text)))
    if header is not None and header.inclusive and 1 in spare and 0 not in spare:
        span, length = spare[1]
        raise SpanError(
            f"the text has {length} characters, but {span.start} to {span.end - 1} (inclusive) are more",
            file=file,
            line=span.line,
            advice="name the column of the end 'end_exclusive'",
        )
    if header is None:
        return list(layers or [DEFAULT_LAYER]), rows
    rows[None].sort(key=lambda span: span.start, reverse=True)
    return list(header.layers) or [DEFAULT_LAYER], rows


def _header(names: Sequence[str], file: str, number: int, layers: Mapping[str, int | str] | None) -> Header:
    places = {name: place for place, name in enumerate(names)}
    ends = [name for name in _ENDS if name in places]
    if len(places) != len(names):
        raise FormatError(
            "two columns of the header have the same name", file=file, line=number, advice="rename one"
        )
    if "start" not in places or len(ends) != 1:
        raise FormatError(
            "the header lacks a column 'start' or one column for the end",
            file=file,
            line=number,
            advice="name the end 'end_inclusive' (or 'end') or 'end_exclusive'",
        )
    if layers is None:
        chosen = {name: place for name, place in places.items() if name not in RESERVED}
    else:
        chosen = {name: _place(column, places, len(names)) for name, column in layers.items()}
        for name, place in chosen.items():
            if 0 <= place < len(names) and names[place] in RESERVED:
                raise FormatError(
                    f"column {layers[name]} is {names[place]!r}, which cannot be a layer",
                    file=file,
                    line=number,
                )
            if not 0 <= place < len(names):
                raise FormatError(
                    f"there is no column {layers[name]} for layer {name!r}",
                    file=file,
                    line=number,
                    advice=f"the columns are {', '.join(names)}",
                )
    end = ends[0]
    return Header(
        places.get("document"),
        places["start"],
        places[end],
        _ENDS[end],
        chosen,
        len(names),
        places.get("fragments"),
        places.get("text"),
    )


def _place(column: int | str, places: Mapping[str, int], width: int) -> int:
    """Return the place of a column, given by its number or name; -1 if there is none."""
    if isinstance(column, str):
        return places.get(column, -1)
    return column - 1 if column > 0 else width + column


def _span(fields: Sequence[str], header: Header, file: str, number: int) -> Span:
    positions = []
    for place in (header.start, header.end):
        value = fields[place]
        if not (value.isascii() and value.isdigit() and len(value) <= 18):
            raise FormatError(
                f"{value[:40]!r} is not a position", file=file, line=number, advice="a number from 0 on"
            )
        positions.append(int(value))
    start, end = positions[0], positions[1] + header.inclusive
    if end <= start:
        raise SpanError(
            f"the span ends before it starts: {positions[0]} to {positions[1]}", file=file, line=number
        )
    given = "" if header.fragments is None else fields[header.fragments]
    labels = {layer: fields[place] for layer, place in header.layers.items() if fields[place]}
    if not header.layers:
        labels = {DEFAULT_LAYER: NO_LABEL}
    if not labels:
        raise FormatError("the span has no label in any layer", file=file, line=number)
    parts = _fragments(given, file, number) if given else None
    try:
        return Span(start, end, labels, line=number, parts=parts)
    except SpanError as error:
        error.file = file
        raise


def _fragments(given: str, file: str, number: int) -> list[tuple[int, int]]:
    """Return the ranges of a cell with fragments, which `Span` checks."""
    if not _FRAGMENTS.fullmatch(given):
        raise FormatError(
            f"{given[:40]!r} are not fragments",
            file=file,
            line=number,
            advice="as in 0-2;7-8, with the last position of each",
        )
    pairs = (part.split("-") for part in given.split(";"))
    return sorted((int(first), int(last) + 1) for first, last in pairs)


def _delimiter(line: str) -> str:
    return next((mark for mark in ("\t", ",", ";") if mark in line), "\t")


def _fields(line: str, delimiter: str, file: str, number: int) -> list[str]:
    try:
        return _split(line, delimiter)
    except FormatError as error:
        raise FormatError(error.problem, file=file, line=number, advice=error.advice) from None


def _split(line: str, delimiter: str) -> list[str]:
    """Return the fields of a line. Raises `FormatError`, without file and line, if it is not CSV."""
    if delimiter == "\t":
        return line.split("\t")
    import csv

    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error as error:
        if "\r" in line:
            raise FormatError(
                "a carriage return without a line feed", advice="end lines with LF or CRLF"
            ) from None
        problem = f"a field has more than {csv.field_size_limit():,} characters"
        raise FormatError(
            problem if "field larger" in str(error) else f"not CSV: {error}",
            advice="write the table with tabs between its columns, as TSV",
        ) from None


def header(layers: Sequence[str], with_ids: bool) -> str:
    """Return the first line of a table; `with_ids` adds columns for the ids of the first and the last token.

    Raises `UsageError` for a layer whose name cannot be that of a column.
    """
    for layer in layers:
        if layer in RESERVED or cell(layer) != layer:
            raise UsageError(
                f"{layer!r} cannot be the name of a layer in a table of spans", advice="use another name"
            )
    ids = ["start_id", "end_id"] if with_ids else []
    return "\t".join(["document", "start", "end_inclusive", *map(cell, layers), *ids])


def row(document: Document, span: Span, layers: Sequence[str], with_ids: bool) -> str:
    """Return the line for a span; its end is the last position, and a layer without a label is empty."""
    own = (span.by_layer.get(layer) for layer in layers)
    labels = ["" if label is None else label or NO_LABEL for label in own]
    ids = []
    if with_ids and document.token_ids is not None:
        ids = [document.token_ids[position - document.start] for position in (span.start, span.end - 1)]
    return "\t".join([cell(document.id), str(span.start), str(span.end - 1), *map(cell, labels), *ids])


def _read(opened: Opened, options: Options) -> Iterator[Document]:
    return read(opened.held_lines(), opened.texts(), file=opened.file, layers=options.layers)


def _lines(documents: Iterator[Document], layers: Sequence[str], with_ids: bool) -> Iterator[str]:
    """Yield the header and a line for each span; without documents, only a header with `layers`."""
    number = -1
    ends: dict[str, int] = {}
    for number, document in enumerate(documents):
        if number == 0:
            layers = list(document.layers)
            yield header(layers, with_ids)
        if document.id in ends and not 0 < ends[document.id] <= document.start:
            raise UsageError(
                "two documents have this id and the same positions, which a table of spans cannot tell apart",
                **document.in_errors,
                advice="give each document an id of its own",
            )
        ends[document.id] = document.start if document.end is None else document.end
        spans = [span for layer in layers for span in document.layers.get(layer, ())]
        for span in sorted(spans, key=lambda span: (span.start, span.end)):
            yield row(document, span, layers, with_ids)
    if number < 0:
        yield header(layers, with_ids)


def _fit(document: Document, lost: Counter[str]) -> Document:
    """Return the document as cells hold it: tabs and line ends in its id and in labels are blanks."""
    layers: dict[str, list[Span]] = {}
    for layer, spans in document.layers.items():
        layers[layer] = []
        for span in spans:
            own = {name: label and cell(label) for name, label in span.by_layer.items()}
            is_held = own == dict(span.by_layer)
            lost["labels"] += not is_held
            layers[layer].append(span if is_held else replace(span, labels=own))
    lost[IDS] += cell(document.id) != document.id
    return replace(document, id=cell(document.id), layers=layers) if any(lost.values()) else document


FORMAT = Format(
    name="spans",
    holds="a table of spans, TSV or CSV: `document`, `start`, `end` (inclusive), one column per layer; the text is in "
    "the `.vrt` file of the same name, or in `--text` (also plain text or JSON rows)",
    signs=(Sign("header with `start` and `end`", lambda beginning: is_table(beginning.first_line)),),
    read=_read,
    options=frozenset({"layers", "token", "token_id", "document_tag", "sentence_tag", "text"}),
    write=Writer(
        _lines,
        ".tsv",
        holds=frozenset({"layers", "metadata", "overlapping spans", "spans across sentences"}),
        fit=_fit,
    ),
)
