"""What files and rows are read as."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clueval.core.document import Document
from clueval.files.errors import CluevalError
from clueval.files.opening import Complain, refuse
from clueval.formats.input_file import InputFile
from clueval.formats.options import FormatOptions
from clueval.reading.source import form_of_file, read_file


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


def read_as(file: InputFile, options: FormatOptions, name: str | None = None) -> Iterator[Document]:
    """Yield the documents of a file of the format with this name, or of the one that it has."""
    return read_file(file, options, form_of_file(file, name))


def outcome(documents: Callable[[], Iterable[Document]]) -> Any:
    """Return the contents of the documents, or type, sentence and line of the error."""
    try:
        return [contents(document) for document in documents()]
    except CluevalError as error:
        return type(error), error.problem, error.line


@dataclass(frozen=True)
class FileOfBlocks(InputFile):
    """A file that is read in these blocks of whole lines, each with the number of its first."""

    of_test: Sequence[tuple[int, str]] = ()

    def blocks(self, complain: Complain = refuse) -> Iterator[tuple[int, str]]:
        return iter(self.of_test)


def of_blocks(blocks: Sequence[tuple[int, str]]) -> InputFile:
    """Return a file that is read in these blocks."""
    return FileOfBlocks(Path("a"), of_test=blocks)
