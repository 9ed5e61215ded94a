"""The names of the columns of a table of spans, which are the same in files, data frames and dictionaries.

A bare end (`BARE_ENDS`) does not say which position it is. In memory, it is exclusive. In a file, it is the last
position if positions count tokens, as in the tables of CLUEval and FairEval, and exclusive if they count characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

STARTS = ("start", "start_offset", "start_char", "start_pos", "start_position", "begin", "von")

END_INCLUSIVE = "end_inclusive"
"""The last position of a span."""

BARE_ENDS = ("end", "stop", "bis")

ENDS = ("end", "end_exclusive", "end_offset", "end_char", "end_pos", "end_position", "stop", "bis")
"""The ends that are exclusive in memory; in files, all but `BARE_ENDS` are."""

DOCUMENTS = ("document", "doc", "document_id", "doc_id", "docid", "file", "sentence", "sent_id", "dok")
"""The id of the document; without such a column, it is under ``id``."""

SAY_WHICH_END = "name the column end_inclusive if it has the last position of each span, else end_exclusive"

_FRAGMENTS = re.compile(r"[0-9]{1,18}-[0-9]{1,18}(;[0-9]{1,18}-[0-9]{1,18})*")

_NUMBERS_OF_ROWS = re.compile(r"(Unnamed: \d+)?")


def is_number_of_row(name: str) -> bool:
    """Return whether a column has the index of pandas, which has no name, or had none in a file.

    >>> is_number_of_row(""), is_number_of_row("Unnamed: 0"), is_number_of_row("label")
    (True, True, False)
    """
    return _NUMBERS_OF_ROWS.fullmatch(name) is not None


def usual(name: str, known: Iterable[str]) -> str:
    """Return the known name that `name` is, perhaps with a capital; any other name unchanged.

    >>> usual("Start", STARTS), usual("Label", STARTS)
    ('start', 'Label')
    """
    small = name[:1].lower() + name[1:]
    return small if small in known else name


def fragments_in(cell: str) -> list[tuple[int, int]] | None:
    """Return the ranges of a discontinuous span, whose ends are inclusive in a cell; None for another text.

    >>> fragments_in("0-2;7-8"), fragments_in("0:2")
    ([(0, 3), (7, 9)], None)
    """
    if not _FRAGMENTS.fullmatch(cell):
        return None
    pairs = (part.split("-") for part in cell.split(";"))
    return sorted((int(first), int(last) + 1) for first, last in pairs)


def ends_in(names: Iterable[str]) -> list[str]:
    """Return the names of ends.

    >>> ends_in(["start", "end_inclusive", "bis", "label"])
    ['end_inclusive', 'bis']
    """
    return [name for name in names if name == END_INCLUSIVE or name in ENDS]
