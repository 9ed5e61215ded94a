"""The documents of a file of any format, and of rows in memory; and formats with readers of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeGuard

from clueval.core.document import Document
from clueval.core.span import DEFAULT_LAYER
from clueval.files.errors import FormatError, UsageError
from clueval.formats.form import Form, form_of, form_of_rows
from clueval.formats.input_file import Head, InputFile, Numbered
from clueval.formats.options import FormatOptions

if TYPE_CHECKING:
    from clueval.formats.column_format import ColumnFormat
    from clueval.formats.dialect import Dialect
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


def is_dialect(form: Form) -> TypeGuard[Dialect]:
    """Return whether a format is one of rows of JSON that are described by their keys."""
    return form.kind == "rows"


def is_column_format(form: Form) -> TypeGuard[ColumnFormat]:
    """Return whether a format is one of columns."""
    return form.kind == "columns"


def head_of(file: InputFile, *, is_one_text: bool = False) -> Head:
    """Return the beginning of a file. `is_one_text` says whether its lines are one text."""
    return Head(file.path.name, file.beginning(), file.first_row, is_one_text)


def form_of_file(file: InputFile, name: str | None = None, *, is_one_text: bool = False) -> Form:
    """Return the description of the format of a file by its beginning; `name` is that of the format if it is known.

    Raises the errors of `clueval.formats.form.form_of`.
    """
    try:
        return form_of(head_of(file, is_one_text=is_one_text), name)
    except FormatError as error:
        error.file = file.name
        raise


def read_file(file: InputFile, options: FormatOptions, form: Form) -> Iterator[Document]:
    """Yield the documents of a file; memory holds one of them.

    Raises `FormatError` and `SpanError` with file and line for what cannot be read, and `UsageError` for options that
    do not apply.
    """
    require_options(form, options, file.name)
    if isinstance(form, FileFormat):
        return form.read(file, options)
    documents: Iterator[Document] = _reader(form).documents_of_file(form, file, options)
    return documents


def sets_of_file(file: InputFile, form: Form) -> list[str]:
    """Return the names of the annotation sets of a file, in the order of their first occurrence.

    Raises the errors of `read_file` for a file that cannot be read.
    """
    if isinstance(form, FileFormat):
        return [] if form.sets is None else form.sets(file)
    sets: list[str] = _reader(form).sets_of_file(form, file) if form.has_sets else []
    return sets


def read_rows(
    rows: Iterable[Numbered],
    options: FormatOptions,
    *,
    name: str | None = None,
    passed_over: Counter[str] | None = None,
) -> Iterator[Document]:
    """Yield the documents of numbered rows in memory, as `read_file` does for the same rows in a file.

    The format is the one with this name, or else that of the first row that is no empty list. `passed_over` counts what
    is not read, by kind. Raises the errors of `read_file`, with the number of the row as the line, and `UsageError` for
    a format whose documents are no rows.
    """
    numbered_rows = iter(rows)
    beginning: list[Numbered] = []
    for numbered_row in numbered_rows:
        beginning.append(numbered_row)
        if not isinstance(numbered_row[1], list) or numbered_row[1]:
            break
    form = form_of_rows(_as_row(beginning[-1][1]) if beginning else None, name)
    require_options(form, options, None)
    counted = Counter[str]() if passed_over is None else passed_over
    form_rows = ((number, _as_row(row)) for number, row in chain(beginning, numbered_rows))
    if isinstance(form, FileFormat):
        assert form.rows is not None
        return form.rows(form_rows, options, counted, None)
    documents: Iterator[Document] = _reader(form).documents_of_rows(form, form_rows, options, counted)
    return documents


def _reader(form: Form) -> Any:
    """Return the module that reads a format."""
    return import_module(f"clueval.formats.{form.kind}")


def _as_row(row: Any) -> Any:
    """Return a row in memory as a dictionary if it is another mapping."""
    return dict(row) if isinstance(row, Mapping) and not isinstance(row, dict) else row


def require_options(form: Form, options: FormatOptions, file: str | None) -> None:
    """Raise `UsageError` for layers of a format without sources, and for a treatment of tags that it does not have."""
    if options.layers is not None and "layers" not in form.options:
        problem = f"the format {form.name} has no columns to name as layers"
        advice = f"name no layer; its only layer is called {DEFAULT_LAYER!r}"
        raise UsageError(problem, file=file, advice=advice)
    if options.invalid is not None and form.invalid and options.invalid not in form.invalid:
        problem = f"the format {form.name} cannot treat ill-formed tags as {options.invalid!r}"
        raise UsageError(problem, file=file, advice=" or ".join(form.invalid))


def only_layer(options: FormatOptions, file: str | None) -> str:
    """Return the name of the only layer; its source does not matter. Raises `UsageError` for several layers."""
    layers = list(options.layers or [DEFAULT_LAYER])
    if len(layers) > 1:
        problem = f"the format has one layer, not {' and '.join(layers)}"
        raise UsageError(problem, file=file, advice="name one layer")
    return layers[0]
