"""What files and rows are read as, and the outcomes of hand-made files that are recorded in `outcomes.json`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from clueval.core.document import Document
from clueval.files.errors import CluevalError

RECORD = Path(__file__).with_name("outcomes.json")
"""A line for each test: the outcomes of its files in order, each the documents or the error."""


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


def as_json(found: Any, folder: str) -> Any:
    """Return an outcome as JSON has it, without the folder of the files."""
    return json.loads(json.dumps(found, default=lambda kind: kind.__name__).replace(folder, "."))


def recorded() -> dict[str, list[Any]]:
    return json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}


def record(outcomes: dict[str, list[Any]]) -> None:
    lines = [
        f"{json.dumps(name)}: {json.dumps(found, ensure_ascii=False)}"
        for name, found in sorted(outcomes.items())
    ]
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
