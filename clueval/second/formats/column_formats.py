"""The formats with one token per line. The first that recognises the beginning of a file is that of the file."""

from __future__ import annotations

from clueval.second.formats.columns import ColumnFormat
from clueval.second.formats.conll import CONLL, HIPE, NUMBERED
from clueval.second.formats.conll2012 import CONLL2012
from clueval.second.formats.conllu import CONLLU
from clueval.second.formats.vrt import VRT

COLUMN_FORMATS = (CONLL2012, CONLLU, VRT, HIPE, NUMBERED, CONLL)
"""All formats of columns, in the order in which they are tried."""


def column_format_of(file_name: str, text: str, name: str | None = None) -> ColumnFormat | None:
    """Return the format of a file, given its name and its first block, or None.

    `name` is that of the format if it is known.

    >>> column_format_of("a.txt", "Ada\\tB-PER\\n").name
    'conll'
    """
    known = [form for form in COLUMN_FORMATS if name in (None, form.name)]
    for form in known if name is None else ():
        if file_name.removesuffix(".gz").endswith(form.endings or "\n"):
            return form
    for form in known:
        if form.told(text):
            return form
    return known[-1] if name is not None and known else None
