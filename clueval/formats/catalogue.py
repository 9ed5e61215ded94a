"""The formats by name: how documents are written in each, and what ``clueval formats`` prints of it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from clueval.files.errors import UsageError
from clueval.formats.column_writing import CONLL_WRITER
from clueval.formats.dialect import Dialect, described
from clueval.formats.documents import FileFormat
from clueval.formats.form import NAMES, Form, entries_named, forms_named
from clueval.formats.label_studio import WRITTEN_AS
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
    if as_ is not None and name != "label-studio":
        raise UsageError(f"as_={as_!r} does not apply to the format {name}", advice="remove it")
    if types is not None and name not in ("webanno", "xmi", "uima-json"):
        raise UsageError(f"types={types!r} does not apply to the format {name}", advice="remove it")
    if as_ is not None:
        if as_ not in WRITTEN_AS:
            raise UsageError(f"spans cannot be written as {as_!r}", advice=" or ".join(WRITTEN_AS))
        return row_writer(WRITTEN_AS[as_])
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


class FormatEntry(NamedTuple):
    """A format.

    Attributes:
        name: the name of the format, as in ``--input``.
        uses: what clueval does with its files: ``read``, ``write``, ``add sets``.
        holds: what its files hold, by description.
        recognised_by: how files are recognised, by description; none: only if the format is named.
        options: the options that apply to it.
        rows: how rows are described on the command line, ``text=text,spans=label``, by description where keys tell.
        extra: the extra of clueval that must be installed.
        details: an example of its files, and rules, as ``formats.md`` has them.
    """

    name: str
    uses: tuple[str, ...]
    holds: tuple[str, ...]
    recognised_by: tuple[str, ...]
    options: tuple[str, ...]
    rows: tuple[str, ...]
    extra: str
    details: str


def catalogue() -> list[FormatEntry]:
    """Return all formats by name.

    >>> next(entry.recognised_by for entry in catalogue() if entry.name == "brat")
    ('`.ann`, `.a1`',)
    """
    writable = written_names()
    return [_entry(name, is_written=name in writable) for name in sorted(NAMES)]


def _entry(name: str, *, is_written: bool) -> FormatEntry:
    entries = entries_named(name)
    forms = [entry.form for entry in entries]
    files = [form for form in forms if isinstance(form, FileFormat)]
    uses = {"read": True, "write": is_written, "add sets": any(form.adds_sets for form in files)}
    rows = [described(form) for form in forms if isinstance(form, Dialect)]
    return FormatEntry(
        name,
        tuple(use for use, has in uses.items() if has),
        tuple(form.holds for form in forms),
        tuple(filter(None, (entry.recognised_by for entry in entries))),
        tuple(sorted({option for form in forms for option in form.options})),
        tuple(filter(None, rows)),
        forms[0].extra,
        details()[name],
    )


@cache
def details() -> dict[str, str]:
    """Return the sections of ``formats.md`` by the names of formats; a section may be about several."""
    text = Path(__file__).with_name("formats.md").read_text(encoding="utf-8")
    sections = (section.partition("\n") for section in text.removeprefix("# ").split("\n# "))
    return {name: body.strip() for names, _, body in sections for name in names.split(", ")}
