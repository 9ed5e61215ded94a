"""The formats by name: how documents are written in each, and what ``clueval formats`` prints of it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from clueval.files.errors import UsageError
from clueval.formats.column_writing import CONLL_WRITER
from clueval.formats.dialect import Dialect, described
from clueval.formats.documents import FileFormat
from clueval.formats.form import NAMES, Form, entries_named, forms_named
from clueval.formats.label_studio import written_as
from clueval.formats.markup import Markup, markup_writer
from clueval.formats.row_writing import row_writer
from clueval.formats.writer import Writer


def writer_named(name: str, *, as_: str | None = None, types: Mapping[str, str] | None = None) -> Writer:
    """Return how documents are written in a format.

    `as_` is ``annotations`` or ``predictions`` for Label Studio, `types` the type and feature, ``TYPE|FEATURE``, of
    each layer for UIMA and WebAnno. Raises `UsageError` for a format that is unknown or only read, and for an option
    that does not apply to it.
    """
    forms = forms_named(name)
    if types is not None and name not in ("webanno", "xmi", "uima-json"):
        raise UsageError(f"types={types!r} does not apply to the format {name}", advice="remove it")
    if as_ is not None:
        return row_writer(written_as(name, as_))
    writer = next(filter(None, (_writer_of(form, types or {}) for form in forms)), None)
    if writer is None:
        raise UsageError(
            f"the format {name} cannot be written", advice=f"one of {', '.join(written_names())}"
        )
    return writer


def written_names() -> list[str]:
    """Return the names of the formats that can be written."""
    return [name for name in NAMES if any(_writer_of(form, {}) for form in forms_named(name))]


def _writer_of(form: Form, types: Mapping[str, str]) -> Writer | None:
    if isinstance(form, FileFormat):
        return None if form.writer is None else form.writer(types)
    if isinstance(form, Dialect):
        return row_writer(form) if form.is_written else None
    if isinstance(form, Markup):
        return None if form.label else markup_writer(form)
    return CONLL_WRITER if form.name == "conll" else None


def uses_of(name: str) -> list[str]:
    """Return what clueval does with the files of a format: ``read``, ``write``, ``add sets``, and the extra for it.

    >>> uses_of("xmi")
    ['read', 'write', 'extra uima']
    """
    forms = forms_named(name)
    uses = {
        "read": True,
        "write": any(_writer_of(form, {}) for form in forms),
        "add sets": any(isinstance(form, FileFormat) and form.adds_sets for form in forms),
        f"extra {forms[0].extra}": forms[0].extra,
    }
    return [use for use, has in uses.items() if has]


def recognised_by(name: str) -> str:
    """Return how the files of a format are recognised, in words.

    >>> recognised_by("brat")
    '`.ann`, `.a1`'
    """
    words = (entry.recognised_by for entry in entries_named(name))
    return "; ".join(filter(None, words)) or f"`--input {name}`"


def rows_of(name: str) -> list[str]:
    """Return how ``--row`` describes the rows of a format, of those descriptions whose keys tell it."""
    rows = (described(form) for form in forms_named(name) if isinstance(form, Dialect))
    return [description for description in rows if description is not None]


@cache
def details() -> dict[str, str]:
    """Return the sections of ``formats.md`` by the names of formats; a section may be about several."""
    text = Path(__file__).with_name("formats.md").read_text(encoding="utf-8")
    sections = (section.partition("\n") for section in text.removeprefix("# ").split("\n# "))
    return {name: body.strip() for names, _, body in sections for name in names.split(", ")}
