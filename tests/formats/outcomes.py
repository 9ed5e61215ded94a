"""What files and rows are read as."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from clueval.core.document import Document
from clueval.files.errors import CluevalError


def contents(document: Document) -> tuple[Any, ...]:
    """Return what a document holds."""
    return (
        document.id,
        document.text,
        None if document.tokens is None else list(document.tokens),
        document.unit,
        document.ordered,
        dict(document.metadata),
        [tuple(sentence) for sentence in document.sentences],
        {
            layer: [
                (span.start, span.end, dict(span.labels), dict(span.features), span.parts, span.id, span.line)
                for span in spans
            ]
            for layer, spans in document.layers.items()
        },
        {layer: list(tags) for layer, tags in document.tags.items()},
    )


def outcome(documents: Callable[[], Iterable[Document]]) -> Any:
    """Return the contents of the documents, or type, sentence and line of the error."""
    try:
        return [contents(document) for document in documents()]
    except CluevalError as error:
        return type(error), error.problem, error.line
