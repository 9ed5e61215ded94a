"""Spans and documents as values, and the pure algorithms on them.

Read `span`, `document`, `flat`, `index`, `components`, `match_classes`, `matching`, `merging`, in this
order; then `filters`. This package does not deal with files, tags or metrics.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clueval.spans.document import Document, Sentence, Unit, in_layer
    from clueval.spans.span import DEFAULT_LAYER, MERGED, NO_LABEL, Frozen, Labels, Span, making_many, name_of

_MODULES = {
    "DEFAULT_LAYER": "span",
    "Document": "document",
    "Frozen": "span",
    "Labels": "span",
    "MERGED": "span",
    "NO_LABEL": "span",
    "Sentence": "document",
    "Span": "span",
    "Unit": "document",
    "in_layer": "document",
    "making_many": "span",
    "name_of": "span",
}
"""The module that defines each name; it is imported when the name is first used."""

__all__ = [
    "DEFAULT_LAYER",
    "MERGED",
    "NO_LABEL",
    "Document",
    "Frozen",
    "Labels",
    "Sentence",
    "Span",
    "Unit",
    "in_layer",
    "making_many",
    "name_of",
]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
