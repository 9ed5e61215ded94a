"""The writers of all formats."""

from __future__ import annotations

from collections.abc import Mapping

from clueval.files.errors import UsageError
from clueval.formats.column_writing import CONLL_WRITER
from clueval.formats.dialect import Dialect
from clueval.formats.file_format import FileFormat
from clueval.formats.form import NAMES, Form, forms_named
from clueval.formats.label_studio import WRITTEN_AS
from clueval.formats.markup import Markup, markup_writer
from clueval.formats.row_writing import row_writer
from clueval.formats.writer import Writer

_WITH_TYPES = ("webanno", "xmi", "uima-json")


def writer_named(name: str, *, as_: str | None = None, types: Mapping[str, str] | None = None) -> Writer:
    """Return how documents are written in a format.

    `as_` is ``annotations`` or ``predictions`` for Label Studio, `types` the type and feature, ``TYPE|FEATURE``, of
    each layer for UIMA and WebAnno. Raises `UsageError` for a format that is unknown or only read, and for an option
    that does not apply to it.
    """
    forms = forms_named(name)
    if as_ is not None and name != "label-studio":
        raise UsageError(f"as_={as_!r} does not apply to the format {name}", advice="remove it")
    if types is not None and name not in _WITH_TYPES:
        raise UsageError(f"types={types!r} does not apply to the format {name}", advice="remove it")
    if as_ is not None:
        if as_ not in WRITTEN_AS:
            raise UsageError(f"spans cannot be written as {as_!r}", advice=" or ".join(WRITTEN_AS))
        return row_writer(WRITTEN_AS[as_])
    found = next(filter(None, (_writer_of(form, types or {}) for form in forms)), None)
    if found is None:
        raise UsageError(
            f"the format {name} cannot be written", advice=f"one of {', '.join(written_names())}"
        )
    return found


def written_names() -> list[str]:
    """Return the names of the formats that can be written."""
    return [name for name in NAMES if any(_writer_of(form, {}) for form in forms_named(name))]


def _writer_of(form: Form, types: Mapping[str, str]) -> Writer | None:
    """Return the writer of a description, if there is one."""
    if isinstance(form, FileFormat):
        return None if form.writer is None else form.writer(types)
    if isinstance(form, Dialect):
        return row_writer(form) if form.is_written else None
    if isinstance(form, Markup):
        return None if form.label else markup_writer(form)
    return CONLL_WRITER if form.name == "conll" else None
