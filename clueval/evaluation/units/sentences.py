"""Cutting documents at sentence ends that no span crosses, so that the pieces can be counted one by one.

>>> from clueval.spans.document import Sentence
>>> gold = Document("d", {"label": [Span(0, 1), Span(3, 5)]}, tokens=list("abcdef"),
...                 sentences=[Sentence(0, 2), Sentence(2, 4), Sentence(4, 6)])
>>> [(number, piece.start, piece.end) for number, piece, _ in pieces_of(gold, gold)]
[(1, 0, 2), (2, 2, 6)]
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from clueval.spans.document import Document
from clueval.spans.span import Frozen, Span


def pieces_of(gold: Document, predicted: Document) -> Iterator[tuple[int, Document, Document]]:
    """Yield the pieces of a pair of documents, each with the number, from 1, of its first sentence.

    A document without sentences, or without its text, is one piece.
    """
    end = gold.end
    cuts = [] if end is None else _cuts(gold, predicted, end)
    if not cuts:
        yield 1, gold, predicted
        return
    assert end is not None
    ends = [sentence.end for sentence in gold.sentences]
    starts = [gold.start, *cuts]
    layers = zip(_layers(gold, starts), _layers(predicted, starts), strict=True)
    for start, stop, (own, others) in zip(starts, [*cuts, end], layers, strict=True):
        number = bisect_left(ends, start + 1) + 1
        yield number, _part(gold, own, start, stop), _part(predicted, others, start, stop)


def _cuts(gold: Document, predicted: Document, end: int) -> list[int]:
    """The sentence ends within the text that no span of either side crosses."""
    found = sorted({sentence.end for sentence in gold.sentences if gold.start < sentence.end < end})
    spans = sorted(
        (span.start, span.end)
        for document in (gold, predicted)
        for layer in document.layers.values()
        for span in layer
    )
    free, reach, place = [], gold.start, 0
    for cut in found:
        while place < len(spans) and spans[place][0] < cut:
            reach = max(reach, spans[place][1])
            place += 1
        if reach <= cut:
            free.append(cut)
    return free


def _layers(document: Document, starts: Sequence[int]) -> list[dict[str, list[Span]]]:
    """The layers of each part of a document; a span of length 0 on a cut belongs to the part that it begins."""
    parts: list[dict[str, list[Span]]] = [{name: [] for name in document.layers} for _ in starts]
    for name, layer in document.layers.items():
        for span in layer:
            parts[bisect_right(starts, span.start) - 1][name].append(span)
    return parts


def _part(document: Document, layers: Mapping[str, Sequence[Span]], start: int, stop: int) -> Document:
    """The part of a document between two cuts, which has these layers."""
    first, last = start - document.start, stop - document.start
    in_tokens = document.unit == "token"
    return replace(
        document,
        layers=Frozen(layers),
        start=start,
        tokens=document.tokens if document.tokens is None or not in_tokens else document.tokens[first:last],
        text=document.text if document.text is None or in_tokens else document.text[first:last],
        token_ids=None if document.token_ids is None or not in_tokens else document.token_ids[first:last],
        sentences=(),
        tags=Frozen({name: tags[first:last] for name, tags in document.tags.items()})
        if in_tokens
        else Frozen(),
        lines=None if document.lines is None or not in_tokens else document.lines[first:last],
    )
