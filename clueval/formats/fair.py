"""The formats of FairEval: CoNLL-2000 files, and span files. Each sentence is a document, with the ids "1", "2", ....

The rules of the format stand in ``formats.md``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from clueval.core.document import Document
from clueval.core.span import DEFAULT_LAYER, NO_SPAN_LABELS, Frozen, Span
from clueval.files.errors import FormatError, TagError, with_noun
from clueval.formats.documents import FileFormat
from clueval.formats.input_file import InputFile
from clueval.formats.options import FormatOptions

PUNCTUATION = frozenset(["$.", "$,", "$(", "PUNCT", "PUNKT", "KOMMA", "COMMA", "KLAMMER", *'.,:("“”„‟‘’‚‛)'])
"""Parts of speech for punctuation: STTS, UPOS, PTB and related tag sets."""

_BLANKS = re.compile(r"[ \t]+")


def sentence_of(
    first: int, texts: Sequence[str], number: int, file: InputFile, options: FormatOptions
) -> Document:
    """Return a sentence of a file, given its lines, of which the first tells their format, as in FairEval."""
    if are_spans(texts):
        return _sentence_of_spans(first, texts, number, file)
    return _sentence_of_tokens(first, texts, number, file, options)


def are_spans(texts: Sequence[str]) -> bool:
    """Return whether the lines of a sentence are spans; otherwise they are tokens."""
    return texts[0].count("\t") == 3


# Tokens with stacked tags


class _Open(NamedTuple):
    """An open span: its label, its positions so far, and the line of its first token."""

    label: str
    tokens: list[int]
    line: int


def _sentence_of_tokens(
    first: int, texts: Sequence[str], number: int, file: InputFile, options: FormatOptions
) -> Document:
    """Return a sentence as a document; an ``I-`` that continues no span begins one, as in conlleval."""
    rows = [_token_columns(text, line, file.name) for line, text in enumerate(texts, first)]
    stack: list[_Open] = []  # the open spans by depth
    ended: list[_Open] = []  # in the order in which they ended
    repaired = 0

    def end(depth: int) -> None:
        """End the open spans of `depth` or deeper: the innermost first, at depth 0 the outermost first."""
        ended.extend(reversed(stack[depth:]) if depth else stack)
        del stack[depth:]

    for line, (position, (_, _, tags)) in enumerate(enumerate(rows), first):
        nested_tags = tags.strip().split("|")
        while nested_tags and nested_tags[-1] in ("O", "_", ""):
            nested_tags.pop()
        end(len(nested_tags))
        for depth, tag in enumerate(nested_tags):
            kind, _, label = tag.partition("-")
            if kind not in ("B", "I") or not label:
                problem, advice = (
                    f"{tag!r} in {tags.strip()!r} is not a tag",
                    "expected B-LABEL, I-LABEL or O",
                )
                raise TagError(problem, file=file.name, line=line, advice=advice)
            if kind == "B" or depth >= len(stack) or stack[depth].label != label:
                repaired += kind == "I"
                if kind == "I" and options.invalid == "error":
                    problem = f"an I- in {tags!r} continues no span"
                    raise TagError(problem, file=file.name, line=line, advice="begin a span with B-")
                end(depth)
                stack.append(_Open(label, [], line))
            stack[depth].tokens.append(position)
    end(0)
    file.repaired[DEFAULT_LAYER] += repaired
    ignored = {i for i, row in enumerate(rows) if options.ignore_punct is not False and row[1] in PUNCTUATION}
    spans = (_span(span, ignored) for span in ended if span.label not in NO_SPAN_LABELS)
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
    problem = (
        f"{with_noun(len(fields), 'columns')} instead of 3" if len(fields) != 3 else "a token without form"
    )
    advice = "expected: form, part of speech, tags, separated by blanks"
    raise FormatError(problem, file=file, line=line, advice=advice)


def _span(span: _Open, ignored: set[int]) -> Span | None:
    """Return the span without the positions that are ignored; None if no position remains."""
    tokens = [position for position in span.tokens if position not in ignored] if ignored else span.tokens
    if not tokens:
        return None
    start, end = tokens[0], tokens[-1] + 1
    has_holes = len(tokens) < end - start
    return Span(start, end, span.label, tokens=frozenset(tokens) if has_holes else None, line=span.line)


CONLL2000 = FileFormat(
    name="conll2000",
    holds="form, part of speech and stacked tags (`I-S|B-NP`), as FairEval reads them",
    read=lambda file, options: (
        _sentence_of_tokens(first, texts, number, file, options)
        for number, (first, texts) in enumerate(file.sentences(), 1)
    ),
    options=frozenset({"ignore_punct", "invalid"}),
    scheme="BIO",
    invalid=("conlleval", "error"),
)

# Spans

_COLUMNS = "label, first token, last token and tokens, separated by tabs"
_SHOWN = 20
_DIGIT = re.compile("[0-9]")


def _sentence_of_spans(first: int, texts: Sequence[str], number: int, file: InputFile) -> Document:
    return Document(str(number), {DEFAULT_LAYER: spans_of(first, texts, file)}, file=file.name, ordered=True)


def spans_of(first: int, texts: Sequence[str], file: InputFile) -> list[Span]:
    """Return the spans of a sentence, given the number of its first line and its lines.

    Raises `FormatError` with file and line for a line without exactly four columns, without label, with
    indices that are not whole numbers or below 1, or with a first token after the last.
    """
    spans = []
    for line, text in enumerate(texts, first):
        try:
            start, end, labels, tokens = _parsed(text)
        except FormatError as error:
            raise FormatError(error.problem, file=file.name, line=line, advice=error.advice) from None
        if labels[DEFAULT_LAYER] not in NO_SPAN_LABELS:
            spans.append(Span(start, end, labels, tokens=tokens, line=line))
    return spans


def _parsed(text: str) -> tuple[int, int, Frozen, frozenset[int] | None]:
    """Return the range of a line, half-open, its labels, and its tokens; None for all tokens of the range."""
    fields = text.split("\t")
    advice = f"expected {_COLUMNS}"
    if len(fields) != 4:
        raise FormatError(f"{with_noun(len(fields), 'tab-separated columns')} instead of 4", advice=advice)
    label = fields[0].strip()
    if not label:
        raise FormatError("a span without label", advice=advice)
    begin, end = _index("first token", fields[1]), _index("last token", fields[2])
    if begin < 1:
        raise FormatError(f"the first token is {begin}", advice="tokens count from 1")
    if begin > end:
        raise FormatError(f"the first token, {begin}, comes after the last, {end}")
    listed = fields[3] if _DIGIT.search(fields[3]) else ""
    tokens = {_index("token", index) for index in listed.split(",") if index.strip()}
    inside = frozenset(token - 1 for token in tokens if begin <= token <= end)
    is_whole = not inside or len(inside) == end - begin + 1
    return begin - 1, end, Frozen({DEFAULT_LAYER: label}), None if is_whole else inside


def _index(what: str, text: str) -> int:
    digits = text.strip()
    if digits.removeprefix("-").isdecimal() and digits.isascii() and len(digits) <= _SHOWN:
        return int(digits)
    shown = digits if len(digits) <= _SHOWN else digits[:_SHOWN] + "..."
    raise FormatError(f"the {what} is {shown!r}, not a whole number", advice=f"expected {_COLUMNS}")


FAIR_SPANS = FileFormat(
    name="fair-spans",
    holds="FairEval's span files: label, first and last token, all tokens; no text",
    read=lambda file, options: (
        _sentence_of_spans(first, texts, number, file)
        for number, (first, texts) in enumerate(file.sentences(), 1)
    ),
    options=frozenset({"ignore_punct"}),
)
