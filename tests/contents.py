"""What documents hold, as tests compare it."""

from __future__ import annotations

from clueval import Document


def spans(document: Document, layer: str = "label") -> list[tuple[int, int, str]]:
    return [(span.start, span.end, span.label) for span in document.layers[layer]]


def texts(document: Document, layer: str = "label") -> list[tuple[str, str]]:
    return [(document.text_of(span), span.label) for span in document.layers[layer]]
