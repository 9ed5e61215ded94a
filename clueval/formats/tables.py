"""A table of pre-computed spans, TSV, CSV or a workbook (.xlsx), with a header.

The rules of the format stand in ``formats.md``.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import NamedTuple, NoReturn

from clueval.core.document import Document
from clueval.core.span import DEFAULT_LAYER, NO_LABEL, Span, by_position
from clueval.files.errors import FormatError, SpanError, UsageError, with_noun
from clueval.files.opening import cell, tsv_line
from clueval.formats.documents import FileFormat
from clueval.formats.input_file import InputFile
from clueval.formats.options import FormatOptions
from clueval.formats.reference import FileMention, fits
from clueval.formats.span_forms import BARE_ENDS, DOCUMENTS, END_INCLUSIVE, SAY_WHICH_END, STARTS, ends_in
from clueval.formats.table_columns import (
    RESERVED,
    Records,
    fragments_in,
    is_number_of_row,
    known_names,
    records_of,
)
from clueval.formats.writer import IDS, Writer, in_lines

_POSITION = re.compile(r"([0-9]{1,18})(\.0+)?")
"""A position; pandas writes whole numbers as 4.0 if some are missing."""

_FURTHEST = 10**19
"""More than any position: the end of a document without text."""

_NO_LAYERS = {
    *("document", "start", "end", "end_inclusive", "end_exclusive", "fragments"),
    *("id", "text", "start_id", "end_id"),
}
"""The names of columns that cannot be layers, even if they are named as such."""


class _Header(NamedTuple):
    """The numbers of the columns of a table, and the name of that of the end."""

    document: int | None
    start: int
    end: int
    end_name: str
    layers: Mapping[str, int]
    width: int
    fragments: int | None
    text: int | None
    score: int | None


class _SpanOfRow(NamedTuple):
    """A span, and its text in the table, which may be empty."""

    span: Span
    text: str


_Rows = defaultdict[str | None, list[_SpanOfRow]]
"""The spans of a table by document; those without a document are under None, last first."""


class _TableReader:
    """Reads one table.

    `unit` is what positions count; None: neither the table nor the other side has a text.
    """

    def __init__(self, options: FormatOptions, file: str | None, unit: str | None) -> None:
        self._options, self._file, self._unit = options, file, unit
        self._inclusive = 0  # 1 if ends are the last positions
        self._end_name = ""
        self._is_fitting = False  # whether the text of a row is that at its positions
        self._misfit: Span | None = None  # the first whose text is that of the other kind of end
        self.layers = list(options.layers or [DEFAULT_LAYER])

    def _refuse(self, line: int | None, problem: str, advice: str | None = None) -> NoReturn:
        raise FormatError(problem, file=self._file, line=line, advice=advice)

    def rows(self, records: Records) -> _Rows:
        """Return the rows of the table."""
        lines = iter(records)
        number, names = next(lines, (0, None))
        rows: _Rows = defaultdict(list)
        if names is None:
            return rows
        header = self._header(names, number)
        is_bare = header.end_name in BARE_ENDS
        if is_bare and self._unit is None:
            self._refuse(
                number,
                f"the ends under {header.end_name!r} may be inclusive or exclusive: there is neither a text nor tokens",
                f"{SAY_WHICH_END}; or name the text with text=..., or put a .vrt file with the same name next to "
                "the table",
            )
        self._end_name = header.end_name
        self._inclusive = int(header.end_name == END_INCLUSIVE or (is_bare and self._unit == "token"))
        self.layers = list(header.layers) or [DEFAULT_LAYER]
        places_of_spans = (header.start, header.end, *header.layers.values())
        for number, fields in lines:
            if len(fields) != header.width:
                problem = f"the line has {with_noun(len(fields), 'fields')}, the header has {header.width}"
                self._refuse(
                    number,
                    problem,
                    "each line needs a field for each column; fields may be empty; line ends stand in quotation marks",
                )
            document = None if header.document is None else fields[header.document]
            row_spans = rows[document]
            if document is not None and not any(fields[place] for place in places_of_spans):
                continue  # a document without spans
            span = self._span(fields, header, number)
            text = "" if header.text is None or span.parts else fields[header.text]
            row_spans.append(_SpanOfRow(span, text))
        in_rows = len(rows) > 1 and all(len(spans) == 1 for spans in rows.values())
        if in_rows and header.document is not None and known_names(names)[header.document] == "id":
            problem = "there is another id in each row, so the ids may be those of spans"
            advice = "rename the column to document if they are ids of documents, and otherwise remove it"
            self._refuse(number, problem, advice)
        if None in rows:
            rows[None].sort(key=lambda row: row.span.start, reverse=True)
        return rows

    def _header(self, header: Sequence[str], number: int) -> _Header:
        """Return the uses of the columns; ``id`` may be that of the document unless positions count tokens."""
        names = known_names(header)
        places = {name: place for place, name in enumerate(names)}
        if len(places) != len(names):
            self._refuse(number, "two columns of the header have the same name", "rename one")
        by_name = {**{name: place for place, name in enumerate(header)}, **places}
        layers = {}
        for layer, column in (self._options.layers or {}).items():
            if isinstance(column, str):
                place = by_name.get(column, -1)
            else:
                place = column - 1 if column > 0 else len(names) + column
            if not 0 <= place < len(names):
                problem = f"there is no column {column} for layer {layer!r}"
                self._refuse(number, problem, f"the columns are {', '.join(names)}")
            if names[place] in _NO_LAYERS:
                self._refuse(number, f"column {column} is {names[place]!r}, which cannot be a layer")
            layers[layer] = place
        others = [name for name, place in places.items() if place not in layers.values()]
        starts, ends = [name for name in others if name in STARTS], ends_in(others)
        documents = [name for name in others if name in DOCUMENTS]
        if not documents and self._unit != "token" and "id" in others:
            documents = ["id"]
        for use, columns in (("the start", starts), ("the end", ends), ("the document", documents)):
            if len(columns) > 1:
                problem = f"several columns of the header are for {use}: {', '.join(columns)}"
                self._refuse(number, problem, "remove all but one, or name the layers")
        if not starts or not ends:
            problem = "the header lacks a column 'start' or one column for the end"
            self._refuse(number, problem, "name the end 'end_inclusive' or 'end_exclusive'")
        if self._options.layers is None:
            layers = {
                name: places[name] for name in others if name not in RESERVED and not is_number_of_row(name)
            }
        return _Header(
            places[documents[0]] if documents else None,
            places[starts[0]],
            places[ends[0]],
            ends[0],
            layers,
            len(names),
            *(places[name] if name in others else None for name in ("fragments", "text", "score")),
        )

    def _span(self, fields: Sequence[str], header: _Header, number: int) -> Span:
        positions = []
        for value in (fields[header.start], fields[header.end]):
            match = _POSITION.fullmatch(value)
            if match is None:
                self._refuse(number, f"{value[:40]!r} is not a position", "a number from 0 on")
            positions.append(int(match[1]))
        start, end = positions[0], positions[1] + self._inclusive
        if end <= start:
            problem = f"the span from {start} to {positions[1]} covers nothing"
            if self._inclusive or end < start:
                problem = f"the span ends before it starts: {start} to {positions[1]}"
            advice = None if self._inclusive else SAY_WHICH_END
            raise SpanError(problem, file=self._file, line=number, advice=advice)
        labels = {layer: fields[place] for layer, place in header.layers.items() if fields[place]}
        if not header.layers:
            labels = {DEFAULT_LAYER: NO_LABEL}
        if not labels:
            self._refuse(number, "the span has no label in any layer")
        parts = None
        if header.fragments is not None and (value := fields[header.fragments]):
            parts = fragments_in(value)
            if parts is None:
                advice = "as in 0-2;7-8, with the last position of each"
                self._refuse(number, f"{value[:40]!r} are not fragments", advice)
        features = {}
        if header.score is not None and (value := fields[header.score]):
            try:
                features["score"] = float(value)
            except ValueError:
                advice = "if the column score is a layer, name the layers"
                self._refuse(number, f"the score {value[:40]!r} is not a number", advice)
        try:
            return Span(start, end, labels, features, line=number, parts=parts)
        except SpanError as error:
            error.file = self._file
            raise

    def compare(self, span: Span, text: str, document: Document) -> None:
        """Compare the text of the row of a span with that of its document.

        Raises `FormatError` for another text in characters. White space within and between tokens does not count, and
        what tokens are written differently is not known.
        """
        start, end = span.start - document.start, span.end - document.start
        other_end = end - 1 if self._inclusive else end + 1
        is_right = True
        if document.unit == "character" and document.text is not None:
            here, there = document.text[start:end], document.text[start:other_end]
            is_right = fits(document.text, [FileMention(((start, end),), text, None, "")], "points")
        elif document.unit == "token" and document.tokens is not None:
            text, here, there = (
                "".join("".join(pieces).split())
                for pieces in (text, document.tokens[start:end], document.tokens[start:other_end])
            )
        else:
            return
        if text == here:
            self._is_fitting = True
        elif text == there and other_end > start:
            if not is_right:
                self._refuse_end(span)
            self._misfit = self._misfit or span
        elif not is_right:
            raise FormatError(
                f"the text of the span from {span.start} to {span.end - 1} (inclusive) differs from the text at its "
                "positions",
                file=self._file,
                line=span.line,
                document=document.id,
                advice="check that text and table belong together",
            )

    def require_fitting(self) -> None:
        """Raise `FormatError` if texts fit the other kind of end, and none fits that of the table."""
        if self._misfit is not None and not self._is_fitting:
            self._refuse_end(self._misfit)

    def _refuse_end(self, span: Span) -> NoReturn:
        kind, other_kind, column = "exclusive", "an inclusive", END_INCLUSIVE
        if self._inclusive:
            kind, other_kind, column = "inclusive", "an exclusive", "end_exclusive"
        self._refuse(
            span.line,
            f"the ends under {self._end_name!r} are {kind}, but the text of the span from {span.start} to "
            f"{span.end - 1} (inclusive) is that of {other_kind} end",
            f"name the column {column} instead of {self._end_name}",
        )


def read_table(
    records: Records,
    texts: Iterable[Document],
    options: FormatOptions,
    *,
    file: str | None = None,
) -> Iterator[Document]:
    """Yield the documents of `texts` with the spans of a table.

    `texts` have texts or tokens in one unit, or none of them has. Raises `FormatError` with the line for rows that
    cannot be read, for texts of rows that differ from the text and for a bare end of a file without texts, and
    `SpanError` for spans outside the text.

    >>> text = Document("d", {}, text="Ada in Ulm", unit="character")
    >>> records = [(0, ["start", "end", "label"]), (1, ["0", "3", "PER"])]
    >>> next(read_table(records, [text], FormatOptions())).layers["label"]
    [Span(start=0, end=3, labels={'label': 'PER'}, id=None)]
    """
    documents = iter(texts)
    first = list(islice(documents, 1))
    has_text = not first or first[0].end is not None
    unit = (first[0].unit if first else "token") if has_text else None
    reader = _TableReader(options, file, unit)
    rows = reader.rows(records)
    unnamed = rows.pop(None, [])
    needs_ids, before = bool(unnamed), 0
    for document in chain(first, documents):
        if needs_ids and document.start < before:
            raise FormatError(
                "the table has no column 'document'",
                file=file,
                advice="positions are counted from 0 in each text, so each span needs the id of its text",
            )
        end = before = _FURTHEST if document.end is None else document.end
        document_rows = rows.pop(document.id, [])
        while unnamed and unnamed[-1].span.start < end:
            document_rows.append(unnamed.pop())
        by_layer: dict[str, list[Span]] = {name: [] for name in reader.layers}
        for span, row_text in document_rows:
            if span.start < document.start or span.end > end:
                advice = "positions are counted from 0 in each text"
                if document.unit != "character":
                    advice = "positions are corpus positions, counted over the whole text file; "
                    advice += "for characters, text=... names JSON rows with texts"
                raise SpanError(
                    f"the span from {span.start} to {span.end - 1} (inclusive) lies outside the document, which has "
                    f"the positions {document.start} to {end - 1}",
                    file=file,
                    line=span.line,
                    document=document.id,
                    advice=advice,
                )
            if row_text:
                reader.compare(span, row_text, document)
            for layer, label in span.by_layer.items():
                by_layer[layer].append(replace(span, labels={layer: label}))
        layers = {layer: sorted(spans, key=by_position) for layer, spans in by_layer.items()}
        yield replace(document, layers=layers, file=file)
    reader.require_fitting()
    for identifier, rest in [*rows.items(), (None, unnamed)]:
        if rest:
            missing = "positions after the end of the text"
            if identifier is not None:
                missing = f"document {identifier!r}"
            raise SpanError(
                f"the text has no {missing}",
                file=file,
                line=rest[0].span.line,
                advice="plain text is one document with the name of its file; for several, write JSON rows: "
                '{"id": "ID", "text": "TEXT", "label": []}',
            )


def documents_in(file: InputFile, options: FormatOptions) -> list[str] | None:
    """Return the ids of the documents that a table without text names; None if it has no column for them."""
    rows = _TableReader(options, file.name, None).rows(records_of(file))
    return None if None in rows else [name for name in rows if name is not None]


# Writing


def header_line(layers: Sequence[str], with_ids: bool) -> str:
    """Return the first line of a table; `with_ids` adds columns for the ids of the first and the last token.

    Raises `UsageError` for a layer whose name cannot be that of a column.
    """
    for layer in layers:
        if layer in RESERVED or cell(layer) != layer:
            problem = f"{layer!r} cannot be the name of a layer in a table of spans"
            raise UsageError(problem, advice="use another name")
    ids = ["start_id", "end_id"] if with_ids else []
    return tsv_line(["document", "start", "end_inclusive", *layers, *ids])


def span_lines(
    document: Document, spans: Iterable[Span], layers: Sequence[str], with_ids: bool
) -> Iterator[str]:
    """Yield a line for each span; its end is the last position, and a layer without a label is empty."""
    name = cell(document.id)
    token_ids = document.token_ids if with_ids else None
    for span in spans:
        layer_labels = map(span.by_layer.get, layers)
        labels = ["" if label is None else cell(label or NO_LABEL) for label in layer_labels]
        ids = []
        if token_ids is not None:
            ids = [token_ids[position - document.start] for position in (span.start, span.end - 1)]
        yield tsv_line([name, str(span.start), str(span.end - 1), *labels, *ids])


def _lines(documents: Iterable[Document], layers: Sequence[str], with_ids: bool) -> Iterator[str]:
    """Yield the header and a line for each span; without documents, only a header with `layers`."""
    is_empty = True
    ends: dict[str, int] = {}
    for document in documents:
        if is_empty:
            is_empty, layers = False, list(document.layers)
            yield header_line(layers, with_ids)
        if document.id in ends and not 0 < ends[document.id] <= document.start:
            raise UsageError(
                "two documents have this id and the same positions, which a table of spans cannot tell apart",
                **document.in_errors,
                advice="give each document an id of its own",
            )
        ends[document.id] = document.start if document.end is None else document.end
        spans = [span for layer in layers for span in document.layers.get(layer, ())]
        yield from span_lines(document, sorted(spans, key=by_position), layers, with_ids)
    if is_empty:
        yield header_line(layers, with_ids)


def _fit(document: Document, lost: Counter[str]) -> Document:
    """Return the document as cells hold it: tabs and line ends in its id and in labels are blanks."""
    layers: dict[str, list[Span]] = {}
    for layer, spans in document.layers.items():
        layers[layer] = []
        for span in spans:
            labels = {name: label and cell(label) for name, label in span.by_layer.items()}
            is_held = labels == dict(span.by_layer)
            lost["labels"] += not is_held
            layers[layer].append(span if is_held else replace(span, labels=labels))
    lost[IDS] += cell(document.id) != document.id
    return replace(document, id=cell(document.id), layers=layers) if any(lost.values()) else document


SPANS = FileFormat(
    name="spans",
    options=frozenset({"document_tag", "layers", "sentence_tag", "text", "token", "token_id"}),
    holds="a table of spans, TSV, CSV or XLSX: `document`, `start`, `end_inclusive` or `end_exclusive`, one column per "
    "layer; the text is in the `.vrt` file of the same name, in `--text` (also plain text or JSON rows), or on the "
    "other side",
    read=lambda file, options: read_table(records_of(file), file.texts(), options, file=file.name),
    is_table=True,
    writer=lambda types: Writer(
        pieces=lambda documents, layers, with_ids: in_lines(_lines(documents, layers, with_ids)),
        ending=".tsv",
        holds=frozenset({"layers", "metadata", "overlapping spans", "spans across sentences"}),
        fit=_fit,
    ),
)
