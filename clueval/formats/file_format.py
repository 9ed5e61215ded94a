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


@dataclass(frozen=True, kw_only=True)
class FileFormat(Form):
    """A format with a reader of its own.

    Attributes:
        name, holds: the name of the format, and what its files hold.
        read: yields the documents of a file.
        rows: yields the documents of numbered values in memory, counting what is passed over; the text is the name of
            their file in errors.
        single: whether a file holds one document, whose id is the name of the file.
        group: the endings of further files that belong to a file.
        sets: returns the names of the annotation sets of a file, of which one is read; None: it has no sets.
        options: the options that apply to it; without ``layers`` it has the default layer alone.
        scheme: the scheme of its tags, if all files have the same.
        invalid: the treatments of ill-formed tags, of which the first is the usual one; none if there are no tags.
        needs_texts: whether documents take their text or tokens from another file, ``InputFile.texts``.
        extra: the extra of clueval that must be installed.
        adds_sets: whether annotation sets can be added to a file, by a function of its module.
        writer: returns how documents are written, given the types of layers; None: they are only read.
    """

    name: str
    holds: str
    read: Callable[[InputFile, FormatOptions], Iterator[Document]]
    rows: (
        Callable[[Iterable[Numbered], FormatOptions, Counter[str], str | None], Iterator[Document]] | None
    ) = None
    single: bool = False
    group: tuple[str, ...] = ()
    sets: Callable[[InputFile], list[str]] | None = None
    options: frozenset[str] = frozenset({"layers"})
    scheme: str | None = None
    invalid: tuple[str, ...] = ()
    needs_texts: bool = False
    extra: str = ""
    adds_sets: bool = False
    writer: Callable[[Mapping[str, str]], Writer] | None = None

    @property
    def has_sets(self) -> bool:
        return self.sets is not None

    @property
    def lacks_tokens(self) -> bool:
        return self.needs_texts and bool(self.invalid)

    @property
    def is_table(self) -> bool:
        return self.needs_texts and not self.invalid

    @property
    def is_one_document(self) -> bool:
        return self.single

    @property
    def has_rows(self) -> bool:
        return self.rows is not None


def documents_of_file(form: FileFormat, file: InputFile, options: FormatOptions) -> Iterator[Document]:
    """Yield the documents of a file."""
    return form.read(file, options)


def documents_of_rows(
    form: FileFormat, rows: Iterable[Numbered], options: FormatOptions, passed_over: Counter[str]
) -> Iterator[Document]:
    """Yield the documents of rows in memory."""
    assert form.rows is not None
    return form.rows(rows, options, passed_over, None)


def sets_of_file(form: FileFormat, file: InputFile) -> list[str]:
    """Return the names of the annotation sets of a file."""
    return [] if form.sets is None else form.sets(file)


def only_layer(options: FormatOptions, file: str | None) -> str:
    """Return the name of the only layer; its source does not matter. Raises `UsageError` for several layers."""
    layers = options.layers or {DEFAULT_LAYER: ""}
    if len(layers) > 1:
        raise UsageError(
            f"the format has one layer, not {' and '.join(layers)}", file=file, advice="name one layer"
        )
    (name,) = layers
    return name
