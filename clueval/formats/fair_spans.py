"""FairEval's span files: one span per line, sentences separated by blank lines.

The four columns are separated by tabs: label, first token, last token, and the comma-separated tokens of the
span. Tokens count from 1 in each sentence, and the last token is included; documents have half-open positions
from 0. Listed tokens outside the range from the first to the last are ignored; if none is left, all tokens of
the range belong to the span. A sentence without spans has a placeholder with the label ``NONE`` or ``EMPTY``,
which is not read as a span.

Each sentence is a document, with the ids "1", "2", ...; its spans are in the order of the file. The files
contain no text, so the documents have none.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any, NamedTuple

from clueval.exceptions import FormatError
from clueval.formats.flat_rows import FlatSpans, ReadRow
from clueval.formats.format import Format
from clueval.formats.json_rows import RowForm, RowReader, rows_reader
from clueval.formats.recognition import Beginning, Sign
from clueval.spans.document import Document
from clueval.spans.span import DEFAULT_LAYER, PLACEHOLDERS, Frozen, Span

_COLUMNS = "label, first token, last token and tokens, separated by tabs"
_SHOWN = 20
_SHORT = 120
"""Longer lines are not cached, so that the cache stays small."""


class SpanLine(NamedTuple):
    """The content of a line, with half-open positions; `tokens` is None for all tokens of the range."""

    label: str
    labels: Frozen
    start: int
    end: int
    tokens: frozenset[int] | None


def is_span_line(line: str) -> bool:
    """Return whether a line has the four tab-separated columns of a span file.

    >>> is_span_line("PER\\t6\\t7\\t6, 7"), is_span_line("Haus NN B-NP")
    (True, False)
    """
    return line.count("\t") == 3


def sentence_of_spans(sentence: tuple[int, list[str]], number: int, *, file: str) -> Document:
    """Return a sentence, given as the number of its first line and its lines, as a document.

    Raises `FormatError` with file and line for a line without exactly four columns, without label, with
    indices that are not whole numbers or below 1, or with a first token after the last.

    >>> sentence_of_spans((1, ["PER\\t6\\t7\\t6, 7"]), 1, file="gold.csv").layers["label"]
    [Span(start=5, end=7, labels={'label': 'PER'}, id=None)]
    """
    spans = []
    first, texts = sentence
    for line, text in enumerate(texts, first):
        found = span_line(text, line, file=file)
        if found.label not in PLACEHOLDERS:
            spans.append(Span(found.start, found.end, found.labels, tokens=found.tokens, line=line))
    return Document(str(number), {DEFAULT_LAYER: spans}, file=file)


def span_line(text: str, line: int, *, file: str) -> SpanLine:
    """Return the content of a line of a span file, also of a placeholder. Raises as `sentence_of_spans`."""
    try:
        return _cached(text) if len(text) <= _SHORT else _parsed(text)
    except FormatError as error:
        raise FormatError(error.problem, file=file, line=line, advice=error.advice) from None


def _parsed(text: str) -> SpanLine:
    fields = text.split("\t")
    if len(fields) != 4:
        raise FormatError(f"{len(fields)} tab-separated columns instead of 4", advice=f"expected {_COLUMNS}")
    label = fields[0].strip()
    if not label:
        raise FormatError("a span without label", advice=f"expected {_COLUMNS}")
    begin, end = _index("first token", fields[1]), _index("last token", fields[2])
    if begin < 1:
        raise FormatError(f"the first token is {begin}", advice="tokens count from 1")
    if begin > end:
        raise FormatError(f"the first token, {begin}, comes after the last, {end}")
    tokens = {_index("token", index) for index in fields[3].split(",") if index.strip()}
    inside = frozenset(token - 1 for token in tokens if begin <= token <= end)
    whole = not inside or len(inside) == end - begin + 1
    return SpanLine(label, Frozen({DEFAULT_LAYER: label}), begin - 1, end, None if whole else inside)


_cached = lru_cache(maxsize=1 << 14)(
    _parsed
)  # positions are small and labels few, so most lines are repeated


def _index(what: str, text: str) -> int:
    digits = text.strip()
    if digits.removeprefix("-").isdecimal() and digits.isascii() and len(digits) <= _SHOWN:
        return int(digits)
    shown = digits if len(digits) <= _SHOWN else digits[:_SHOWN] + "..."
    raise FormatError(f"the {what} is {shown!r}, not a whole number", advice=f"expected {_COLUMNS}")


def _rows(sentence: Any, reader: RowReader) -> Iterator[ReadRow]:
    document = partial(sentence_of_spans, sentence, reader.number, file=reader.file or "")
    yield ReadRow(str(reader.number), document, partial(_flat, sentence))


def _flat(sentence: tuple[int, list[str]]) -> FlatSpans | None:
    """Return the spans of a sentence; None if a line cannot be read, or a span has holes."""
    first, texts = sentence
    spans = []
    try:
        for line, text in enumerate(texts, first):
            found = span_line(text, line, file="")
            if found.label not in PLACEHOLDERS:
                if found.tokens is not None:
                    return None
                spans.append((found.start, found.end, found.label))
    except FormatError:
        return None
    return FlatSpans("", spans)


FORM = RowForm(_rows, values=lambda opened: enumerate(opened.sentences(), 1))


def _has_indices(beginning: Beginning) -> bool:
    line = beginning.first_line
    return is_span_line(line) and all(value.isdigit() for value in line.split("\t")[1:3])


FORMAT = Format(
    name="fair-spans",
    holds="FairEval's span files: label, first and last token, all tokens; no text",
    signs=(Sign("four fields, two of them numbers", _has_indices),),
    read=rows_reader(FORM),
    sentences=FORM,
    has_text=False,
    options=frozenset({"ignore_punct"}),
)
