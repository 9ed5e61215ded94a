"""From tokens to characters: converts the positions of a document to code points."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate

from clueval.exceptions import UsageError
from clueval.spans.document import Document, Sentence
from clueval.spans.span import Frozen, Span


def to_characters(document: Document) -> Document:
    """Return the document with positions in code points of its tokens, joined by single blanks, from 0.

    A span becomes the range from the first character of its first token to the last character of its last
    token; a span of zero length is placed before its token. A document that counts characters already is
    returned unchanged. Raises `UsageError` for a document without text.

    >>> tokens = Document("d", {"x": [Span(1, 3, {"x": "PER"})]}, tokens=["Frau", "Anna", "Weiß"])
    >>> document = to_characters(tokens)
    >>> document.text, document.layers["x"][0].start, document.layers["x"][0].end
    ('Frau Anna Weiß', 5, 14)
    """
    if document.unit == "character":
        return document
    if document.tokens is None:
        raise UsageError(
            "a document without text cannot be converted to character positions",
            file=document.file,
            document=document.id,
        )
    lengths = [len(token) for token in document.tokens]
    starts = list(accumulate((length + 1 for length in lengths), initial=0))
    ends = [start + length for start, length in zip(starts, lengths, strict=False)]

    def moved(start: int, end: int) -> tuple[int, int]:
        first, last = start - document.start, end - document.start - 1
        return starts[first], ends[last] if last >= first else starts[first]

    def spans(old: Iterator[Span]) -> list[Span]:
        new = []
        for span in old:
            tokens = (
                None
                if span.tokens is None
                else frozenset(_characters(span.tokens, document.start, starts, ends))
            )
            new.append(replace(span.placed(moved), tokens=tokens))
        return new

    return Document(
        document.id,
        Frozen({layer: spans(iter(old)) for layer, old in document.layers.items()}),
        text=" ".join(document.tokens),
        unit="character",
        sentences=[Sentence(*moved(start, end), name) for start, end, name in document.sentences],
        metadata=document.metadata,
        repaired=document.repaired,
        file=document.file,
    )


def _characters(tokens: frozenset[int], first: int, starts: list[int], ends: list[int]) -> Iterator[int]:
    for token in tokens:
        yield from range(starts[token - first], ends[token - first])
