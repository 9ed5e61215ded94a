"""The case of masking that is worked by hand: `Ö` and the second `Weiß` can be read, two leaks."""

from __future__ import annotations

from collections.abc import Iterable

from clueval import Document, Span
from clueval.core.document import Sentence

TEXT = "Frau Weiß klagt gegen Karl Öz. Weiß wohnt in Köln."
GOLD = [(5, 9, "e1", "high"), (22, 29, "e2", "high"), (31, 35, "e1", "high"), (45, 49, "e3", "medium")]
MASKED = [(0, 9), (22, 26), (28, 30), (45, 49)]


def gold_document(id: str = "d", layer: str = "label", **kinds: str) -> Document:
    """The mentions with their entities and classes; `kinds` has other classes of entities."""
    spans = [
        Span(start, end, "PER", {"entity_id": entity, "identifier_type": kinds.get(entity, kind)})
        for start, end, entity, kind in GOLD
    ]
    sentences = [Sentence(0, 30), Sentence(31, 50)]
    return Document(id, {layer: spans}, text=TEXT, unit="character", sentences=sentences)


def masked_document(
    masked: Iterable[tuple[int, int]] = MASKED, id: str = "d", layer: str = "label", label: str = "MASK"
) -> Document:
    return Document(id, {layer: [Span(*one, label) for one in masked]}, text=TEXT, unit="character")
