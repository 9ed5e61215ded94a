"""From characters to tokens: splits a text into words and single marks, and converts positions to tokens."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import replace

from clueval.exceptions import UsageError
from clueval.spans.document import Document, Sentence
from clueval.spans.span import Span, name_of

_TOKEN = re.compile(r"\w+|[^\w\s]")


def to_tokens(document: Document) -> Document:
    """Return the document with positions in tokens: words and single marks of its text.

    A document with tokens is returned unchanged. Raises `UsageError` for a document without text, and for a span
    that does not begin and end with a token.

    >>> text = Document("d", {"x": [Span(4, 8, {"x": "PER"})]}, text="Hi, Anna!", unit="character")
    >>> document = to_tokens(text)
    >>> document.tokens, document.layers["x"][0].start, document.layers["x"][0].end
    (['Hi', ',', 'Anna', '!'], 2, 3)
    """
    if document.unit == "token":
        return document
    if document.text is None:
        raise UsageError("a document without text has no tokens", file=document.file, document=document.id)
    found = [match.span() for match in _TOKEN.finditer(document.text)]
    starts, ends = [start for start, _ in found], [end for _, end in found]
    first = document.start

    def placed(start: int, end: int) -> tuple[int, int]:
        return bisect_left(starts, start - first), bisect_right(ends, end - first)

    def moved(span: Span) -> Span:
        for start, end in span.fragments:
            if start < end and (start - first not in known_starts or end - first not in known_ends):
                raise UsageError(
                    f"span {name_of(span)} does not begin and end with a token",
                    file=document.file,
                    document=document.id,
                    advice="tokens are words and single marks; write a format with characters",
                )
        if span.start == span.end:
            place = bisect_left(starts, span.start - first)
            return replace(span, start=place, end=place)
        return span.placed(placed)

    known_starts, known_ends = set(starts), set(ends)
    return Document(
        document.id,
        {layer: list(map(moved, spans)) for layer, spans in document.layers.items()},
        tokens=[document.text[start:end] for start, end in found],
        sentences=[Sentence(*placed(each.start, each.end), each.id) for each in document.sentences],
        metadata=document.metadata,
        file=document.file,
    )
