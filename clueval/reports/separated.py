"""Rows as comma- or tab-separated values: a header and one line for each row, nothing else.

Rates are fractions; a value that does not apply or is undefined is empty.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import StringIO

from clueval.textfiles import cell


def render(header: Sequence[str], rows: Iterable[Mapping[str, object]], form: str) -> str:
    """Return rows as ``csv`` or ``tsv``."""
    if form == "tsv":
        return "\n".join("\t".join(line) for line in _cells(header, rows))
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows(_cells(header, rows))
    return text.getvalue().removesuffix("\n")


def _cells(header: Sequence[str], rows: Iterable[Mapping[str, object]]) -> Iterator[list[str]]:
    """Yield the header and the cells of each row; no cell is a formula."""
    yield list(header)
    for row in rows:
        yield [_written(row[name]) for name in header]


def _written(value: object) -> str:
    if value is None:
        return ""
    return guarded(value) if isinstance(value, str) else str(value)


def guarded(text: str) -> str:
    """Return a cell that a spreadsheet does not run: text that could begin a formula gets an apostrophe
    before it.

    >>> guarded("=1+1"), guarded("PER")
    ("'=1+1", 'PER')
    """
    text = cell(text)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text
