"""Predicted spans without a place in the text of gold: each counts as a false positive, and none matches anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clueval.spans.document import Document
from clueval.spans.mention import MENTION
from clueval.spans.span import Span


def unplaced_document(
    lost: Mapping[str, Sequence[Span]], gold: Document, file: str | None
) -> Document | None:
    """Return a document of such spans; its text is made of the texts of the mentions, one after another.

    It has the id and the unit of gold. None if there are no spans.
    """
    if not any(lost.values()):
        return None
    words: list[str] = []
    layers: dict[str, list[Span]] = {}
    size = 0
    for layer, spans in lost.items():
        layers[layer] = []
        for span in spans:
            text = str(span.features.get(MENTION, "")).strip()
            tokens = (text.split() or [""]) if gold.unit == "token" else [text]
            length = len(tokens) if gold.unit == "token" else len(text)
            layers[layer].append(Span(size, size + length, span.labels, {MENTION: text}, line=span.line))
            words += tokens
            size += length + (gold.unit == "character")
    if gold.unit == "token":
        return Document(gold.id, layers, tokens=words, file=file)
    return Document(gold.id, layers, text="\n".join(words), unit="character", file=file)


def nothing_beside(unplaced: Document, gold: Document) -> Document:
    """Return the gold document beside which such spans are prepared and counted: it has no spans and no text."""
    return Document(gold.id, {}, unit=unplaced.unit, metadata=gold.metadata, file=gold.file)
