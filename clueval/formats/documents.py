"""Formats with readers of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clueval.core.document import Document
from clueval.core.span import DEFAULT_LAYER
from clueval.files.errors import UsageError
from clueval.formats.form import Form
from clueval.formats.input_file import InputFile, Numbered
from clueval.formats.options import FormatOptions

if TYPE_CHECKING:
    from clueval.formats.writer import Writer

RowsReader = Callable[[Iterable[Numbered], FormatOptions, Counter[str], str | None], Iterator[Document]]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FileFormat(Form):
    """A format with a reader of its own.

    Attributes:
        read: yields the documents of a file.
        rows: yields the documents of numbered values in memory, counting what is passed over; the text is the name of
            their file in errors.
        sets: returns the names of the annotation sets of a file, of which one is read; None: it has no sets.
        adds_sets: whether annotation sets can be added to a file, by a function of its module.
        writer: returns how documents are written, given the types of layers; None: they are only read.
    """

    read: Callable[[InputFile, FormatOptions], Iterator[Document]]
    rows: RowsReader | None = None
    sets: Callable[[InputFile], list[str]] | None = None
    adds_sets: bool = False
    writer: Callable[[Mapping[str, str]], Writer] | None = None

    def __post_init__(self) -> None:
        self.derive(has_sets=self.sets is not None, has_rows=self.rows is not None)


def documents_of_file(form: FileFormat, file: InputFile, options: FormatOptions) -> Iterator[Document]:
    """Yield the documents of a file."""
    return form.read(file, options)


def documents_of_rows(
    form: FileFormat, rows: Iterable[Numbered], options: FormatOptions, passed_over: Counter[str]
) -> Iterator[Document]:
    """Yield the documents of numbered rows in memory."""
    assert form.rows is not None
    return form.rows(rows, options, passed_over, None)


def sets_of_file(form: FileFormat, file: InputFile) -> list[str]:
    """Return the names of the annotation sets of a file."""
    assert form.sets is not None
    return form.sets(file)


def only_layer(options: FormatOptions, file: str | None) -> str:
    """Return the name of the only layer; its source does not matter. Raises `UsageError` for several layers."""
    layers = list(options.layers or [DEFAULT_LAYER])
    if len(layers) > 1:
        problem = f"the format has one layer, not {' and '.join(layers)}"
        raise UsageError(problem, file=file, advice="name one layer")
    return layers[0]
