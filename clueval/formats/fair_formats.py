"""The formats of FairEval: CoNLL-2000 files, and span files. Each sentence is a document, with the ids "1", "2", ....

CoNLL-2000 files: one token per line with its part of speech and its chunk tags, which may be stacked.

The three columns are separated by blanks: form, part of speech, tags. Tags are BIO, from the outermost span
to the innermost, separated by pipes: ``I-S|B-NP`` begins an NP inside an S. The position of a tag in this
list is its depth. A ``B-`` ends all spans of its depth or deeper and begins a span; fewer tags end the deeper
spans; ``O``, ``_`` or an empty column ends all spans. Sentences are separated by blank lines.

Positions count from 0. The spans of a sentence are in the order in which they end, as in FairEval, because the order
decides between equally similar spans. A token without tags and the end of the sentence end all spans, the outermost
first. Another token ends, the innermost first, the spans that are deeper than its tags; then its tags end spans from
left to right: a ``B-`` at depth 0 the outermost first, a deeper one the innermost first.

Like FairEval, clueval removes punctuation (`ignore_punct`): a token whose part of speech is punctuation
belongs to no span, and a span that begins or ends with such tokens becomes shorter. A span of only such
tokens is removed. (FairEval's program removes only one of several such tokens from the end of a span.)

FairEval's span files: one span per line, sentences separated by blank lines.

The four columns are separated by tabs: label, first token, last token, and the comma-separated tokens of the
span. Tokens count from 1 in each sentence, and the last token is included; documents have half-open positions
from 0. Listed tokens outside the range from the first to the last are ignored; if none is left, or the list has no
digit (``-``), all tokens of the range belong to the span. A sentence without spans has a placeholder with the label
``NONE`` or ``EMPTY``, which is not read as a span.

The spans of a sentence are in the order of the file. The files contain no text, so the documents have none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from operator import methodcaller
from typing import Any, NamedTuple

from clueval.core.span import DEFAULT_LAYER, PLACEHOLDERS, Frozen, Span
from clueval.files.errors import FormatError, TagError
from clueval.formats.flat_rows import FlatSpans, ReadRow
from clueval.formats.json_rows import RowForm, RowReader, row_format
from clueval.formats.recognition import Beginning, Sign
from clueval.spans.document import Document
from clueval.tagging.decoder import decode

PUNCTUATION = frozenset(["$.", "$,", "$(", "PUNCT", "PUNKT", "KOMMA", "COMMA", "KLAMMER", *'.,:("“”„‟‘’‚‛)'])
"""Parts of speech for punctuation: STTS, UPOS, PTB and related tag sets."""

_SHORT = 120
"""Longer tags and lines are not cached, so that the caches stay small."""
_OUTSIDE = ("O", "_", "")
_BLANKS = re.compile(r"[ \t]+")


class _Open(NamedTuple):
    """An open span: its label, its positions so far, and the line of its first token."""

    label: str
    tokens: list[int]
    line: int


def sentence_of_tokens(
    sentence: tuple[int, list[str]],
    number: int,
    *,
    file: str,
    ignore_punct: bool = True,
    invalid: str = "conlleval",
) -> Document:
    """Return a sentence, given as the number of its first line and its lines, as a document.

    An ``I-`` that continues no span (there is no open span at its depth, or its label is different) begins a
    span, as in conlleval, and is counted in `Document.repaired`; if `invalid` is ``"error"``, it is an error.

    Raises `FormatError` with file and line for a line without three columns, `TagError` for invalid tags.

    >>> lines = ["Ruhr-Universität NE B-ORG", "Bochum NE I-ORG|B-LOC"]
    >>> document = sentence_of_tokens((1, lines), 1, file="gold.conll")
    >>> [(span.start, span.end, span.label) for span in document.layers["label"]]
    [(0, 2, 'ORG'), (1, 2, 'LOC')]
    """
    first, texts = sentence
    rows = [_token_columns(text, line, file) for line, text in enumerate(texts, first)]
    stack = _Stack()
    for position, (_, _, tags) in enumerate(rows):
        line = first + position
        try:
            repaired = stack.step(position, tags.strip(), line)
        except TagError as error:
            raise TagError(error.problem, file=file, line=line, advice=error.advice) from None
        if repaired and invalid == "error":
            raise TagError(
                f"an I- in {tags!r} continues no span", file=file, line=line, advice="begin a span with B-"
            )
    stack.end(0)
    ignored = {i for i, row in enumerate(rows) if row[1] in PUNCTUATION} if ignore_punct else set()
    spans = [_span(one, ignored) for one in stack.ended if one.label not in PLACEHOLDERS]
    return Document(
        str(number),
        {DEFAULT_LAYER: [span for span in spans if span is not None]},
        tokens=[row[0] for row in rows],
        repaired=stack.repaired,
        lines=list(range(first, first + len(texts))),
        file=file,
        ordered=True,
    )


def _token_columns(text: str, line: int, file: str) -> Sequence[str]:
    fields = text.split(" ")
    if len(fields) != 3 or not fields[1]:
        fields = _BLANKS.split(text)  # tabs, or several blanks
    if len(fields) == 3 and fields[0]:
        return fields
    problem = f"{len(fields)} columns instead of 3" if len(fields) != 3 else "a token without form"
    advice = "expected: form, part of speech, tags, separated by blanks"
    raise FormatError(problem, file=file, line=line, advice=advice)


class _Stack:
    """The open spans of a sentence by depth, and the ended spans in the order in which they ended."""

    __slots__ = ("_open", "ended", "repaired")

    def __init__(self) -> None:
        self._open: list[_Open] = []
        self.ended: list[_Open] = []
        self.repaired = 0

    def step(self, position: int, text: str, line: int) -> bool:
        """Read the tags of the next token; return whether one was repaired. Raises `TagError`."""
        tags = text.split("|")
        while tags and tags[-1] in _OUTSIDE:
            tags.pop()
        before = self.repaired
        self.end(len(tags))
        for depth, tag in enumerate(tags):
            kind, _, label = tag.partition("-")
            if kind not in ("B", "I") or not label:
                raise TagError(f"{tag!r} in {text!r} is not a tag", advice="expected B-LABEL, I-LABEL or O")
            goes_on = kind == "I" and depth < len(self._open) and self._open[depth].label == label
            if not goes_on:
                self.repaired += kind == "I"
                self.end(depth)
                self._open.append(_Open(label, [], line))
            self._open[depth].tokens.append(position)
        return self.repaired > before

    def end(self, depth: int) -> None:
        """End the open spans of `depth` or deeper: the innermost first, at depth 0 the outermost first."""
        ending = self._open[depth:]
        self.ended.extend(reversed(ending) if depth else ending)
        del self._open[depth:]


def _span(one: _Open, ignored: set[int]) -> Span | None:
    """Return the span without the positions that are ignored; None if no position remains."""
    tokens = [position for position in one.tokens if position not in ignored] if ignored else one.tokens
    if not tokens:
        return None
    start, end = tokens[0], tokens[-1] + 1
    holes = len(tokens) < end - start
    return Span(start, end, one.label, tokens=frozenset(tokens) if holes else None, line=one.line)


def _token_rows(sentence: Any, reader: RowReader) -> Iterator[ReadRow]:
    document = partial(
        sentence_of_tokens,
        sentence,
        reader.number,
        file=reader.file or "",
        ignore_punct=reader.options.ignore_punct is not False,
        invalid=reader.options.invalid or "conlleval",
    )
    yield ReadRow(str(reader.number), document, partial(_flat_tokens, sentence))


def _flat_tokens(sentence: tuple[int, list[str]]) -> FlatSpans | None:
    """Return the spans of a sentence; None if tags are stacked or repaired, or a span has punctuation."""
    _, lines = sentence
    joined = " ".join(lines)
    fields = joined.split(" ")
    if "\t" in joined or "" in fields or set(map(_count_blanks, lines)) != {2}:
        return None
    tags = ["O" if tag == "_" else tag for tag in fields[2::3]]
    if max(map(len, tags)) > _SHORT or not all(map(_continues, ["O", *tags], tags)):
        return None
    parts = fields[1::3]
    if not PUNCTUATION.isdisjoint(parts) and any(
        tag != "O" and part in PUNCTUATION for part, tag in zip(parts, tags, strict=True)
    ):
        return None
    return FlatSpans(fields[::3], list(decode(tags)))


_count_blanks = methodcaller("count", " ")


@lru_cache(maxsize=1 << 12)
def _continues(before: str, tag: str) -> bool:
    """Return whether a tag is O, or a single one that is not repaired, of a span that is counted."""
    kind, _, label = tag.partition("-")
    if tag == "O" or "|" in tag:
        return tag == "O"
    is_label = label == label.strip() != "" and label not in PLACEHOLDERS
    return is_label and (kind == "B" or (kind == "I" and before in (tag, f"B-{label}")))


TOKENS = RowForm(_token_rows, values=lambda opened: enumerate(opened.sentences(), 1))

FORMAT = row_format(
    TOKENS,
    of_sentences=True,
    name="conll2000",
    holds="form, part of speech and stacked tags (`I-S|B-NP`), as FairEval reads them",
    options=frozenset({"ignore_punct"}),
    ordered=True,
    treatments=("conlleval", "error"),
    scheme="BIO",
)


_COLUMNS = "label, first token, last token and tokens, separated by tabs"
_SHOWN = 20
_DIGIT = re.compile("[0-9]")


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
    return Document(str(number), {DEFAULT_LAYER: spans}, file=file, ordered=True)


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
    listed = fields[3] if _DIGIT.search(fields[3]) else ""
    tokens = {_index("token", index) for index in listed.split(",") if index.strip()}
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


def _span_rows(sentence: Any, reader: RowReader) -> Iterator[ReadRow]:
    document = partial(sentence_of_spans, sentence, reader.number, file=reader.file or "")
    yield ReadRow(str(reader.number), document, partial(_flat_spans, sentence))


def _flat_spans(sentence: tuple[int, list[str]]) -> FlatSpans | None:
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


SPANS = RowForm(_span_rows, values=lambda opened: enumerate(opened.sentences(), 1))


_INDICES = re.compile(r"[^\t]*\t[0-9]+\t[0-9]+\t[0-9, ]*")
"""The fourth field tells it from lines of a token, its offsets and its tag."""


def _has_indices(beginning: Beginning) -> bool:
    line = beginning.first_line.removeprefix("\ufeff").rstrip("\r")
    return _INDICES.fullmatch(line) is not None


FORMAT_OF_SPANS = row_format(
    SPANS,
    of_sentences=True,
    name="fair-spans",
    holds="FairEval's span files: label, first and last token, all tokens; no text",
    signs=(Sign("four fields, two of them numbers", _has_indices),),
    has_text=False,
    options=frozenset({"ignore_punct"}),
    ordered=True,
)
