"""A table of pre-computed spans, TSV, CSV or a workbook (.xlsx), with a header.

The rules of the format stand in ``formats.md``.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import NamedTuple

from clueval.core.document import Document
from clueval.core.span import DEFAULT_LAYER, NO_LABEL, Span
from clueval.core.span_forms import BARE_ENDS, END_INCLUSIVE, SAY_WHICH_END
from clueval.files.errors import FormatError, SpanError, UsageError
from clueval.files.opening import cell
from clueval.formats.file_format import FileFormat
from clueval.formats.input_file import InputFile
from clueval.formats.options import FormatOptions
from clueval.formats.reference import FileMention, fits
from clueval.formats.table_columns import (
    RESERVED,
    Header,
    Records,
    fragments_in,
    header_of,
    known_names,
    records_of,
)
from clueval.formats.writer import IDS, Writer, in_lines

_POSITION = re.compile(r"([0-9]{1,18})(\.0+)?")
"""A position; pandas writes whole numbers as 4.0 if some are missing."""


class _SpanOfRow(NamedTuple):
    """A span, and its text in the table, which may be empty."""

    span: Span
    text: str


@dataclass(slots=True)
class _Ends:
    """How the ends of a table are read, and whether the texts of its rows fit.

    Attributes:
        unit: what positions count; None: neither the table nor the other side has a text.
        name: the name of the column.
        inclusive: 1 if it has the last position of each span, else 0.
        fitting: whether the text of a row is that at its positions.
        other: the first row whose text is that of the other kind of end.
        in_memory: whether a bare end is exclusive.
    """

    unit: str | None
    in_memory: bool = False
    name: str = ""
    inclusive: int = 0
    fitting: bool = False
    other: Span | None = None

    def choose(self, name: str, file: str | None, line: int) -> None:
        """Take the column of the ends. Raises `FormatError` for a bare end if it is not known what positions count."""
        self.name = name
        is_bare = name in BARE_ENDS and not self.in_memory
        if is_bare and self.unit is None:
            raise FormatError(
                f"the ends under {name!r} may be inclusive or exclusive: there is neither a text nor tokens",
                file=file,
                line=line,
                advice=f"{SAY_WHICH_END}; or name the text with text=..., or put a .vrt file with the same name next "
                "to the table",
            )
        self.inclusive = int(name == END_INCLUSIVE or (is_bare and self.unit == "token"))

    def compare(self, row: _SpanOfRow, document: Document, file: str | None) -> None:
        """Compare the text of a row with that of its document.

        Raises `FormatError` for another text in characters. White space within and between tokens does not count, and
        what tokens are written differently is not known.
        """
        start, end = row.span.start - document.start, row.span.end - document.start
        other = end - 1 if self.inclusive else end + 1
        if document.unit == "character" and document.text is not None:
            text, own = document.text, row.text
            found, instead = text[start:end], text[start:other]
            mention = FileMention(((start, end),), own, None, "")
            is_right = fits(text, [mention], "points")
        elif document.unit == "token" and document.tokens is not None:
            own, found, instead = (
                "".join("".join(pieces).split())
                for pieces in (row.text, document.tokens[start:end], document.tokens[start:other])
            )
            is_right = True
        else:
            return
        if own == found:
            self.fitting = True
        elif own == instead and other > start and is_right:
            self.other = self.other or row.span
        elif own == instead and other > start:
            raise self._which(row.span, file)
        elif not is_right:
            raise FormatError(
                f"the text of the span from {row.span.start} to {row.span.end - 1} (inclusive) differs from the text "
                "at its positions",
                file=file,
                line=row.span.line,
                document=document.id,
                advice="check that text and table belong together",
            )

    def require_fitting(self, file: str | None) -> None:
        """Raise `FormatError` if texts fit the other kind of end, and none fits that of the table."""
        if self.other is not None and not self.fitting:
            raise self._which(self.other, file)

    def _which(self, span: Span, file: str | None) -> FormatError:
        kind, meant = ("inclusive", "end_exclusive") if self.inclusive else ("exclusive", END_INCLUSIVE)
        return FormatError(
            f"the ends under {self.name!r} are {kind}, but the text of the span from {span.start} to {span.end - 1} "
            f"(inclusive) is that of {'an exclusive' if self.inclusive else 'an inclusive'} end",
            file=file,
            line=span.line,
            advice=f"name the column {meant} instead of {self.name}",
        )


_FURTHEST = 10**19
"""More than any position: the end of a document without text."""


def read_table(
    records: Records,
    texts: Iterable[Document],
    options: FormatOptions,
    *,
    file: str | None = None,
    in_memory: bool = False,
) -> Iterator[Document]:
    """Yield the documents of `texts` with the spans of a table.

    `texts` have texts or tokens in one unit, or none of them has. Every end of a table in memory is exclusive, except
    ``end_inclusive``. Raises `FormatError` with the line for rows that cannot be read, for texts of rows that differ
    from the text and for a bare end of a file without texts, and `SpanError` for spans outside the text.

    >>> text = Document("d", {}, text="Ada in Ulm", unit="character")
    >>> records = [(0, ["start", "end", "label"]), (1, ["0", "3", "PER"])]
    >>> next(read_table(records, [text], FormatOptions(), in_memory=True)).layers["label"]
    [Span(start=0, end=3, labels={'label': 'PER'}, id=None)]
    """
    waiting = iter(texts)
    first = list(islice(waiting, 1))
    has_text = not first or first[0].end is not None
    ends = _Ends((first[0].unit if first else "token") if has_text else None, in_memory)
    names, rows = _rows(records, options, file, ends)
    without_document, before = bool(rows.get(None)), 0
    for document in chain(first, waiting):
        if without_document and document.start < before:
            raise FormatError(
                "the table has no column 'document'",
                file=file,
                advice="positions are counted from 0 in each text, so each span needs the id of its text",
            )
        end = before = _FURTHEST if document.end is None else document.end
        own = rows.pop(document.id, [])
        unnamed = rows.get(None, [])
        while unnamed and unnamed[-1].span.start < end:
            own.append(unnamed.pop())
        by_layer: dict[str, list[Span]] = {name: [] for name in names}
        for row in own:
            span = row.span
            if span.start < document.start or span.end > end:
                raise SpanError(
                    f"the span from {span.start} to {span.end - 1} (inclusive) lies outside the document, which has "
                    f"the positions {document.start} to {end - 1}",
                    file=file,
                    line=span.line,
                    document=document.id,
                    advice="positions are counted from 0 in each text"
                    if document.unit == "character"
                    else "positions are corpus positions, counted over the whole text file; for characters, text=... "
                    "names JSON rows with texts",
                )
            if row.text:
                ends.compare(row, document, file)
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
    ends.require_fitting(file)
    for document_id, left in rows.items():
        if left:
            what = (
                "positions after the end of the text" if document_id is None else f"document {document_id!r}"
            )
            raise SpanError(
                f"the text has no {what}",
                file=file,
                line=left[0].span.line,
                advice="plain text is one document with the name of its file; for several, write JSON rows: "
                '{"id": "ID", "text": "TEXT", "label": []}',
            )


def documents_in(file: InputFile, options: FormatOptions) -> list[str] | None:
    """Return the ids of the documents that a table without text names; None if it has no column for them."""
    _, rows = _rows(records_of(file), options, file.name, _Ends(None))
    return None if None in rows else [name for name in rows if name is not None]


def _rows(
    records: Records, options: FormatOptions, file: str | None, ends: _Ends
) -> tuple[list[str], dict[str | None, list[_SpanOfRow]]]:
    """Return the layers, and the rows by document; rows without a document are under None, last first."""
    numbered = iter(records)
    number, names = next(numbered, (0, None))
    rows: defaultdict[str | None, list[_SpanOfRow]] = defaultdict(list)
    if names is None:
        return list(options.layers or [DEFAULT_LAYER]), rows
    header = header_of(names, options.layers, file, number, with_id=ends.unit != "token")
    ends.choose(header.end_name, file, number)
    for number, fields in numbered:
        if len(fields) != header.width:
            raise FormatError(
                f"the line has {len(fields)} fields, the header has {header.width}",
                file=file,
                line=number,
                advice="each line needs a field for each column; fields may be empty",
            )
        document = None if header.document is None else fields[header.document]
        own = rows[document]
        if document is not None and _is_empty(fields, header):
            continue
        span = _span(fields, header, ends.inclusive, file, number)
        text = "" if header.text is None or span.parts else fields[header.text]
        own.append(_SpanOfRow(span, text))
    in_rows = len(rows) > 1 and all(len(own) == 1 for own in rows.values())
    if in_rows and header.document is not None and known_names(names)[header.document] == "id":
        raise FormatError(
            "there is another id in each row, so the ids may be those of spans",
            file=file,
            line=number,
            advice="rename the column to document if they are ids of documents, and otherwise remove it",
        )
    rows_without = rows.get(None)
    if rows_without is not None:
        rows_without.sort(key=lambda row: row.span.start, reverse=True)
    return list(header.layers) or [DEFAULT_LAYER], rows


def _is_empty(fields: Sequence[str], header: Header) -> bool:
    """Return whether a row has neither positions nor labels: its document has no spans."""
    return not any(fields[place] for place in (header.start, header.end, *header.layers.values()))


def _span(fields: Sequence[str], header: Header, inclusive: int, file: str | None, number: int) -> Span:
    positions = []
    for place in (header.start, header.end):
        value = fields[place]
        found = _POSITION.fullmatch(value)
        if found is None:
            raise FormatError(
                f"{value[:40]!r} is not a position", file=file, line=number, advice="a number from 0 on"
            )
        positions.append(int(found[1]))
    start, end = positions[0], positions[1] + inclusive
    if end <= start:
        raise SpanError(
            f"the span ends before it starts: {positions[0]} to {positions[1]}"
            if inclusive or end < start
            else f"the span from {start} to {positions[1]} covers nothing",
            file=file,
            line=number,
            advice=None if inclusive else SAY_WHICH_END,
        )
    given = "" if header.fragments is None else fields[header.fragments]
    labels = {layer: fields[place] for layer, place in header.layers.items() if fields[place]}
    if not header.layers:
        labels = {DEFAULT_LAYER: NO_LABEL}
    if not labels:
        raise FormatError("the span has no label in any layer", file=file, line=number)
    parts = _fragments(given, file, number) if given else None
    features = _score(fields, header, file, number)
    try:
        return Span(start, end, labels, features, line=number, parts=parts)
    except SpanError as error:
        error.file = file
        raise


def _score(fields: Sequence[str], header: Header, file: str | None, number: int) -> dict[str, float]:
    """Return the score of a span as its feature; nothing if the cell is empty."""
    value = "" if header.score is None else fields[header.score]
    if not value:
        return {}
    try:
        return {"score": float(value)}
    except ValueError:
        raise FormatError(
            f"the score {value[:40]!r} is not a number",
            file=file,
            line=number,
            advice="if the column score is a layer, name the layers",
        ) from None


def _fragments(given: str, file: str | None, number: int) -> list[tuple[int, int]]:
    """Return the ranges of a cell with fragments, which `Span` checks."""
    found = fragments_in(given)
    if found is None:
        raise FormatError(
            f"{given[:40]!r} are not fragments",
            file=file,
            line=number,
            advice="as in 0-2;7-8, with the last position of each",
        )
    return found


def header_line(layers: Sequence[str], with_ids: bool) -> str:
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


def span_lines(
    document: Document, spans: Iterable[Span], layers: Sequence[str], with_ids: bool
) -> Iterator[str]:
    """Yield a line for each span; its end is the last position, and a layer without a label is empty."""
    name = cell(document.id)
    token_ids = document.token_ids if with_ids else None
    for span in spans:
        own = map(span.by_layer.get, layers)
        labels = ["" if label is None else cell(label or NO_LABEL) for label in own]
        ids = []
        if token_ids is not None:
            ids = [token_ids[position - document.start] for position in (span.start, span.end - 1)]
        yield "\t".join([name, str(span.start), str(span.end - 1), *labels, *ids])


def _lines(documents: Iterable[Document], layers: Sequence[str], with_ids: bool) -> Iterator[str]:
    """Yield the header and a line for each span; without documents, only a header with `layers`."""
    number = -1
    ends: dict[str, int] = {}
    for number, document in enumerate(documents):
        if number == 0:
            layers = list(document.layers)
            yield header_line(layers, with_ids)
        if document.id in ends and not 0 < ends[document.id] <= document.start:
            raise UsageError(
                "two documents have this id and the same positions, which a table of spans cannot tell apart",
                **document.in_errors,
                advice="give each document an id of its own",
            )
        ends[document.id] = document.start if document.end is None else document.end
        spans = [span for layer in layers for span in document.layers.get(layer, ())]
        spans.sort(key=lambda span: (span.start, span.end))
        yield from span_lines(document, spans, layers, with_ids)
    if number < 0:
        yield header_line(layers, with_ids)


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


SPANS = FileFormat(
    name="spans",
    options=frozenset({"document_tag", "layers", "sentence_tag", "text", "token", "token_id"}),
    holds="a table of spans, TSV, CSV or XLSX: `document`, `start`, `end_inclusive` or `end_exclusive`, one column per "
    "layer; the text is in the `.vrt` file of the same name, in `--text` (also plain text or JSON rows), or on the "
    "other side",
    read=lambda file, options: read_table(records_of(file), file.texts(), options, file=file.name),
    needs_texts=True,
    writer=lambda types: Writer(
        pieces=lambda documents, layers, with_ids: in_lines(_lines(documents, layers, with_ids)),
        ending=".tsv",
        holds=frozenset({"layers", "metadata", "overlapping spans", "spans across sentences"}),
        fit=_fit,
    ),
)
