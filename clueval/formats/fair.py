"""The formats of FairEval: CoNLL-2000 files, and span files. Each sentence is a document, with the ids "1", "2", ....

The rules of the format stand in ``formats.md``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from clueval.core.document import Document
from clueval.core.span import DEFAULT_LAYER, PLACEHOLDERS, Frozen, Span
from clueval.files.errors import FormatError, TagError
from clueval.formats.documents import FileFormat
from clueval.formats.input_file import InputFile
from clueval.formats.options import FormatOptions

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


def _sentence_of_tokens(
    first: int, texts: Sequence[str], number: int, file: InputFile, options: FormatOptions
) -> Document:
    """Return a sentence as a document, given the number of its first line and its lines.

    An ``I-`` that continues no span (there is no open span at its depth, or its label is different) begins a
    span, as in conlleval, and is counted; if ``invalid`` is ``"error"``, it is an error.

    Raises `FormatError` with file and line for a line without three columns, `TagError` for invalid tags.
    """
    rows = [_token_columns(text, line, file.name) for line, text in enumerate(texts, first)]
    stack = _Stack()
    for line, (position, (_, _, tags)) in enumerate(enumerate(rows), first):
        try:
            repaired = stack.step(position, tags.strip(), line)
        except TagError as error:
            raise TagError(error.problem, file=file.name, line=line, advice=error.advice) from None
        if repaired and options.invalid == "error":
            raise TagError(
                f"an I- in {tags!r} continues no span",
                file=file.name,
                line=line,
                advice="begin a span with B-",
            )
    stack.end(0)
    file.repaired[DEFAULT_LAYER] += stack.repaired
    ignored = {i for i, row in enumerate(rows) if options.ignore_punct is not False and row[1] in PUNCTUATION}
    spans = [_span(ended, ignored) for ended in stack.ended if ended.label not in PLACEHOLDERS]
    return Document(
        str(number),
        {DEFAULT_LAYER: [span for span in spans if span is not None]},
        tokens=[row[0] for row in rows],
        lines=range(first, first + len(texts)),
        file=file.name,
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


def _read_tokens(file: InputFile, options: FormatOptions) -> Iterator[Document]:
    for number, (first, texts) in enumerate(file.sentences(), 1):
        yield _sentence_of_tokens(first, texts, number, file, options)


CONLL2000 = FileFormat(
    name="conll2000",
    holds="form, part of speech and stacked tags (`I-S|B-NP`), as FairEval reads them",
    read=_read_tokens,
    options=frozenset({"ignore_punct", "invalid"}),
    scheme="BIO",
    invalid=("conlleval", "error"),
)


_COLUMNS = "label, first token, last token and tokens, separated by tabs"
_SHOWN = 20
_DIGIT = re.compile("[0-9]")


class _SpanLine(NamedTuple):
    """The content of a line, with half-open positions; `tokens` is None for all tokens of the range."""

    label: str
    labels: Frozen
    start: int
    end: int
    tokens: frozenset[int] | None


def _sentence_of_spans(first: int, texts: Sequence[str], number: int, file: str) -> Document:
    """Return a sentence as a document, given the number of its first line and its lines.

    Raises `FormatError` with file and line for a line without exactly four columns, without label, with
    indices that are not whole numbers or below 1, or with a first token after the last.
    """
    spans = []
    for line, text in enumerate(texts, first):
        try:
            found = _cached(text) if len(text) <= _SHORT else _parsed(text)
        except FormatError as error:
            raise FormatError(error.problem, file=file, line=line, advice=error.advice) from None
        if found.label not in PLACEHOLDERS:
            spans.append(Span(found.start, found.end, found.labels, tokens=found.tokens, line=line))
    return Document(str(number), {DEFAULT_LAYER: spans}, file=file, ordered=True)


def _parsed(text: str) -> _SpanLine:
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
    return _SpanLine(label, Frozen({DEFAULT_LAYER: label}), begin - 1, end, None if whole else inside)


_cached = lru_cache(maxsize=1 << 14)(_parsed)
"""Positions are small and labels few, so most lines are repeated."""


def _index(what: str, text: str) -> int:
    digits = text.strip()
    if digits.removeprefix("-").isdecimal() and digits.isascii() and len(digits) <= _SHOWN:
        return int(digits)
    shown = digits if len(digits) <= _SHOWN else digits[:_SHOWN] + "..."
    raise FormatError(f"the {what} is {shown!r}, not a whole number", advice=f"expected {_COLUMNS}")


def _read_spans(file: InputFile, options: FormatOptions) -> Iterator[Document]:
    for number, (first, texts) in enumerate(file.sentences(), 1):
        yield _sentence_of_spans(first, texts, number, file.name)


FAIR_SPANS = FileFormat(
    name="fair-spans",
    holds="FairEval's span files: label, first and last token, all tokens; no text",
    read=_read_spans,
    options=frozenset({"ignore_punct"}),
)


def sentences_of(file: InputFile, options: FormatOptions) -> Iterator[Document]:
    """Yield the sentences of a file in which the first line of each tells its format, as in FairEval. Holds one."""
    for number, (first, texts) in enumerate(file.sentences(), 1):
        if texts[0].count("\t") == 3:
            yield _sentence_of_spans(first, texts, number, file.name)
        else:
            yield _sentence_of_tokens(first, texts, number, file, options)
