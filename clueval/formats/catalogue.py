"""What ``clueval formats`` prints of each format, made of the descriptions."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

from clueval.formats.dialect import Dialect, described
from clueval.formats.file_format import FileFormat
from clueval.formats.form import NAMES, entries_named
from clueval.formats.writing import written_names


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
    written = written_names()
    return [_entry(name, is_written=name in written) for name in sorted(NAMES)]


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
