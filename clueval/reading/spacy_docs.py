"""spaCy's ``Doc`` and ``Example`` as documents, recognised by their attributes; spaCy is not imported."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from clueval.exceptions import UsageError
from clueval.spans.document import Document
from clueval.spans.span import DEFAULT_LAYER


def is_spacy_doc(item: object) -> bool:
    """Return whether an item is a spaCy ``Doc``."""
    return hasattr(item, "ents") and hasattr(item, "text") and hasattr(item, "has_annotation")


def document_of_spacy(doc: Any, id_: str) -> Document:
    """Return a spaCy ``Doc`` as a document: the characters of its text, and its entities in the layer `label`."""
    from clueval.formats import docbin  # not needed without spaCy

    return docbin.document_of_spacy(doc, {DEFAULT_LAYER: docbin.ENTS}, None, id=id_)


def as_examples(gold: Any) -> tuple[Any, Any]:
    """Return the documents of both sides of spaCy's ``Example`` objects. Raises `UsageError` for anything else."""
    items = [gold] if _is_example(gold) else gold
    items = list(items) if isinstance(items, Iterable) else []
    if not items or not all(map(_is_example, items)):
        raise UsageError(
            "predicted is missing",
            advice="give gold and predicted; only a file, a folder or spaCy's Examples hold both sides",
        )
    return [example.reference for example in items], [example.predicted for example in items]


def _is_example(item: object) -> bool:
    return hasattr(item, "reference") and hasattr(item, "predicted")
