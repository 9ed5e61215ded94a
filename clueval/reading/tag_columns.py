"""The columns of a file that look like tags, and the single file that holds gold and predicted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from clueval.exceptions import CluevalError, UsageError
from clueval.reading.read_options import ReadOptions
from clueval.reading.source import Source, source_of
from clueval.tagging.schemes import OUTSIDE, is_tag

ENOUGH = 2000
"""The number of lines that are examined."""


def tag_columns(source: Source, lines: int = ENOUGH) -> list[int]:
    """Return the columns, from 1, whose values are all tags and not all O, in the first lines of a column file.

    Returns none for a file that cannot be read, because reading it raises the error.
    """
    seen: list[set[str]] = []
    try:
        for passage in source.passages(lambda _: None):
            for _, _, fields in passage.rows() if passage.layout is not None else ():
                seen = seen or [set() for _ in fields]
                for values, value in zip(seen, fields, strict=False):
                    values.add(value)
                lines -= 1
                if not lines:
                    return _of_values(seen)
    except CluevalError:
        return []
    return _of_values(seen)


def _of_values(seen: Iterable[set[str]]) -> list[int]:
    return [
        column
        for column, values in enumerate(seen, 1)
        if values != {OUTSIDE} and values and all(map(is_tag, values))
    ]


def listed(columns: Iterable[int]) -> str:
    """Return columns in words.

    >>> listed([2, 3, 4])
    '2, 3 and 4'
    """
    *others, last = map(str, columns)
    return f"{', '.join(others)} and {last}" if others else last


def require_two_tag_columns(paths: Iterable[Path], options: ReadOptions) -> None:
    """Raise `UsageError` for a single file with more than two columns of tags, of which none is named as a layer."""
    for path in paths:
        source = source_of(path, replace(options, layers=None))
        if not source.form.has_columns:
            continue
        found = tag_columns(source)
        if len(found) > 2:
            raise UsageError(
                f"columns {listed(found)} hold tags, so gold and predicted are not known",
                file=str(path),
                advice=f"name both, as in layers={ {'label': (found[0], found[1])} }",
            )
