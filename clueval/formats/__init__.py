"""The file formats. Each is one module with a record, ``FORMAT``, which says all that is peculiar to it.

Read `format` (the record), `recognition` (how formats are recognised), `opened` (what a format reads from), then any
format. `columns` is what the formats of one token per line share: they deliver raw passages, the others documents.
Formats never import each other, and know neither a second file nor a metric.

A new format is one module, one line in `FORMATS` and, unless it has to be named, one in `ORDER` or `ENDINGS`.
"""

from __future__ import annotations

from importlib import import_module

from clueval.exceptions import FormatError, UsageError
from clueval.formats.format import Format
from clueval.formats.recognition import Beginning

FORMATS = {
    "vrt": "clueval.formats.vrt",
    "conll": "clueval.formats.conll",
    "spans": "clueval.formats.spans_table",
    "conll2000": "clueval.formats.conll2000",
    "fair-spans": "clueval.formats.fair_spans",
    "ltf": "clueval.formats.ltf",
    "nerval": "clueval.formats.nerval",
    "gate-xml": "clueval.formats.gate_xml",
    "bdoc": "clueval.formats.bdoc",
}
"""Every format by its name, with the module that has its record and is imported when it is needed."""

ORDER = ["ltf", "gate-xml", "bdoc", "vrt", "spans", "fair-spans", "nerval", "conll"]
"""The formats that are recognised, in the order in which their signs are looked for: the first that has one it is."""


ENDINGS = {".vrt": "vrt", ".vert": "vrt"}
"""The endings of names, before ``.gz``, that decide before any sign is looked for. The records have them, too."""


def format_named(name: str) -> Format:
    """The record of a format. Raises `UsageError` for an unknown name."""
    if name not in FORMATS:
        raise UsageError(f"unknown format {name!r}", advice=f"one of {', '.join(FORMATS)}")
    record: Format = import_module(FORMATS[name]).FORMAT
    return record


def all_formats() -> list[Format]:
    """The records of all formats."""
    return [format_named(name) for name in FORMATS]


def format_of(beginning: Beginning, file: str) -> Format:
    """The format of a file that begins like this. Raises `FormatError` that says what was looked for."""
    if beginning.ending in ENDINGS:
        return format_named(ENDINGS[beginning.ending])
    for form in map(format_named, ORDER):
        if form.has(beginning):
            return form
    looked_for = "; ".join(f"{form.name}: {form.recognised_by}" for form in map(format_named, ORDER))
    raise FormatError(
        "the format is not recognised",
        file=file,
        line=1,
        advice=f"name it with --input; looked for {looked_for}",
    )
